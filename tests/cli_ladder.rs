//! Tests of ladders: `outflank train` and `outflank arena` give the same ratings from the same
//! games.

use std::path::Path;
use std::process::{Command, Output};

use outflank::arena::ladder::Ladder;
use serde_json::Value;

fn outflank(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_outflank"));
    command.current_dir(folder).args(arguments).output().expect("the program starts")
}

#[track_caller]
fn ok(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).expect("text")
}

/// The error messages of a command, which must end with exit code 2.
#[track_caller]
fn error_text(output: &Output) -> String {
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    stderr
}

fn objects(text: &str) -> Vec<Value> {
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a folder")
}

#[cfg(feature = "torch")]
const SMOKE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/configs/smoke.toml");

#[cfg(feature = "torch")]
#[test]
fn a_run_and_the_arena_give_the_same_ratings() {
    let folder = folder();
    let run = ["train", SMOKE, "--run-dir", "run", "--quiet", "--set", "limits.minutes=0.2"];
    let set = ["--set", "evaluation.opponents=[\"random\", \"greedy\", \"rollouts\"]"];
    ok(&outflank(folder.path(), &[&run[..], &set].concat()));
    let text = |name: &str| std::fs::read_to_string(folder.path().join(name)).expect("a file");
    let rated: Vec<Value> = objects(&text("run/metrics.jsonl"))
        .into_iter()
        .filter(|line| line["values"]["rating/net"].is_f64())
        .collect();
    let last = rated.last().expect("an evaluation was finished");
    // The last net is rated from all games.
    let log = text("run/ladder.jsonl");
    std::fs::write(folder.path().join("ladder.jsonl"), &log).expect("writable");
    let nets: Vec<Value> =
        objects(&log).into_iter().filter(|line| line["kind"] == "player").collect();
    assert_eq!(nets.len(), rated.len(), "every net that has played has a rating");
    let name = nets.last().expect("a net")["name"].as_str().expect("a name").to_owned();
    let json = objects(&ok(&outflank(folder.path(), &["arena", "--shape", "6x6", "--json"])));
    let own = json.iter().find(|player| player["player"] == name).expect("it is rated");
    let (wanted, found) = (&last["values"]["rating/net"], &own["rating"]);
    let apart = (wanted.as_f64().expect("a number") - found.as_f64().expect("a number")).abs();
    assert!(apart < 1e-6, "{wanted} in the run, {found} in the arena");
    assert!(last["values"]["rating/error"].as_f64().expect("a number") > 0.0);
    assert_eq!(own["zero"], "greedy");
    // The opponents have played each other, once in the whole run.
    let met = |a: &str, b: &str| {
        let player = json.iter().find(|player| player["player"] == a).expect("an anchor");
        let games = player["against"][b].as_object().expect("games");
        games.values().filter_map(Value::as_u64).sum::<u64>()
    };
    assert!((1..=2).contains(&met("random", "greedy")));
    assert!((1..=2).contains(&met("greedy", "rollouts:simulations=200")));
    curves_are_drawn_over_each_axis(folder.path());
}

#[cfg(feature = "torch")]
fn curves_are_drawn_over_each_axis(folder: &Path) {
    let draw = |ladder: &str, over: &str| {
        let curve = ["--shape", "6x6", "--curve", "curve.svg", "--over", over];
        outflank(folder, &[&["arena", "--ladder", ladder][..], &curve].concat())
    };
    let picture = || std::fs::read_to_string(folder.join("curve.svg")).expect("a picture");
    for (over, label) in
        [("steps", "learning"), ("games", "of self-play"), ("minutes", "of training")]
    {
        ok(&draw("run/ladder.jsonl", over));
        let svg = picture();
        assert!(
            svg.contains(&format!("{label} {over}")) || svg.contains(&format!("{over} {label}"))
        );
        assert!(svg.contains(">greedy 0<"), "opponents are horizontal lines");
    }
    // Ladders of earlier versions lack both values; then the run's checkpoints have them.
    let path = folder.join("run/ladder.jsonl");
    let old: String = objects(&std::fs::read_to_string(&path).expect("a ladder"))
        .iter_mut()
        .map(|line| {
            if line["kind"] == "player" {
                let player = line.as_object_mut().expect("an object");
                assert!(player.remove("games").is_some() && player.remove("minutes").is_some());
            }
            format!("{line}\n")
        })
        .collect();
    std::fs::write(&path, &old).expect("writable");
    std::fs::write(folder.join("elsewhere.jsonl"), old).expect("writable");
    ok(&draw("run/ladder.jsonl", "minutes"));
    assert!(error_text(&draw("elsewhere.jsonl", "minutes")).contains("--over steps"));
    assert!(error_text(&draw("run/ladder.jsonl", "moons")).contains("steps, positions, games"));
}

#[test]
fn ladders_are_counted_together() {
    let folder = folder();
    let common = ["--games", "4", "--json"];
    for (ladder, players) in [("a", ["random", "greedy"]), ("b", ["greedy", "alphabeta:depth=1"])] {
        let arguments = [&["arena", "--ladder", ladder][..], &players, &common].concat();
        ok(&outflank(folder.path(), &arguments));
    }
    let before = std::fs::read(folder.path().join("b")).expect("a ladder");
    let stdout = ok(&outflank(folder.path(), &["arena", "--ladder", "a", "--also", "b", "--json"]));
    let games: Vec<_> = objects(&stdout)
        .iter()
        .map(|player| (player["player"].as_str().unwrap().to_owned(), player["games"].clone()))
        .collect();
    assert_eq!(games.len(), 3);
    assert!(games.contains(&("greedy".into(), 8.into())), "{games:?}");
    assert_eq!(std::fs::read(folder.path().join("b")).expect("a ladder"), before);
    let error = error_text(&outflank(folder.path(), &["arena", "--ladder", "a", "--also", "c"]));
    assert!(error.contains("cannot read the ladder c"), "{error}");
}

/// A training run locks its ladder while it evaluates. Reading the ladder must be possible then,
/// and must not lock it.
#[test]
fn a_locked_ladder_can_be_read() {
    let folder = folder();
    let play = ["arena", "--ladder", "L", "random", "greedy", "--games", "4"];
    ok(&outflank(folder.path(), &play));
    let path = folder.path().join("L");
    let before = std::fs::read(&path).expect("a ladder");
    let held = Ladder::open(&path).expect("nobody else has it");
    let look = ["arena", "--ladder", "L", "--json", "--svg", "table.svg"];
    let stdout = ok(&outflank(folder.path(), &look));
    assert_eq!(objects(&stdout).len(), 2);
    assert!(folder.path().join("table.svg").exists());
    let error = error_text(&outflank(folder.path(), &play));
    assert!(error.contains("another process is writing to the ladder L"), "{error}");
    drop(held);
    // An incomplete last line is not changed either: another process may be writing it.
    let cut = &before[..before.len() - 9];
    std::fs::write(&path, cut).expect("writable");
    let output = outflank(folder.path(), &look[..3]);
    assert!(ok(&output).contains("greedy has rating 0"));
    assert!(String::from_utf8_lossy(&output.stderr).contains("lines that cannot be read"));
    assert_eq!(std::fs::read(&path).expect("a ladder"), cut);
}

#[test]
fn every_player_that_has_played_can_be_the_anchor() {
    let folder = folder();
    let play = ["arena", "random", "greedy", "rollouts:simulations=5", "--games", "4"];
    let stdout = ok(&outflank(folder.path(), &play));
    assert!(
        stdout.contains("greedy has rating 0") && stdout.contains("difference to the mean"),
        "{stdout}"
    );
    let stdout = ok(&outflank(folder.path(), &["arena", "--anchor", "rollouts:simulations=5"]));
    assert!(stdout.contains("difference to rollouts:simulations=5"), "{stdout}");
    let error = error_text(&outflank(folder.path(), &["arena", "--anchor", "alphabeta"]));
    assert!(error.contains("has played no game"), "{error}");
}

#[test]
fn deterministic_players_play_each_opening_once() {
    let folder = folder();
    let pair = ["arena", "alphabeta:depth=1", "alphabeta:depth=2", "--games", "10"];
    let output = outflank(folder.path(), &[&pair[..], &["--openings", "start"]].concat());
    let stdout = ok(&output);
    assert!(stdout.contains("2 games instead of 10"), "{stdout}");
    assert!(!String::from_utf8_lossy(&output.stderr).contains("used again"));
    // A longer match is resumed with fewer games.
    let pair = ["arena", "random", "greedy", "--openings", "start", "--ladder", "longer"];
    ok(&outflank(folder.path(), &[&pair[..], &["--games", "10"]].concat()));
    let again = [&pair[..], &["--games", "4", "--resume", "--json"]].concat();
    assert_eq!(objects(&ok(&outflank(folder.path(), &again)))[0]["games"], 4);
    // With a random player too each game counts once.
    let openings = ["arena", "random", "greedy", "--openings", "start", "--shape", "6x6"];
    let json = objects(&ok(&outflank(
        folder.path(),
        &[&openings[..], &["--games", "2000", "--json"]].concat(),
    )));
    let count = |key: &str| json[0][key].as_u64().expect("a count");
    assert_eq!(count("games") + count("repeated"), 2000);
}

#[test]
fn errors_are_found_before_the_first_game() {
    let folder = folder();
    let missing = "external:protocol=gtp,command=\"no-such-engine --gtp\"";
    for (arguments, wanted) in [
        (vec!["arena", "random", missing], "no program `no-such-engine`"),
        (vec!["play", missing], "no program `no-such-engine`"),
        (vec!["arena", "random", "greedy", "--games", "4000000000"], "1000000"),
        (
            vec!["arena", "random", "greedy", "--shape", "6x6", "--openings", "random:32"],
            "has a move left",
        ),
    ] {
        let error = error_text(&outflank(folder.path(), &arguments));
        assert!(error.contains(wanted), "{arguments:?}: {error}");
        assert!(!folder.path().join("ladder.jsonl").exists(), "{arguments:?}");
    }
}

#[test]
fn an_unknown_anchor_is_refused_before_the_match() {
    let folder = folder();
    let arguments = ["arena", "random", "greedy", "--anchor", "gredy"];
    let error = error_text(&outflank(folder.path(), &arguments));
    assert!(error.contains("`gredy` has played no game"), "{error}");
    let log = std::fs::read_to_string(folder.path().join("ladder.jsonl")).expect("a ladder");
    assert!(!log.contains("\"match\""), "{log}");
}

#[test]
fn a_crashing_engine_forfeits_with_the_reason_in_the_ladder() {
    let folder = folder();
    let engine = "external:protocol=gtp,command=\"sh -c 'exit 9'\"";
    let stdout = ok(&outflank(folder.path(), &["arena", engine, "random", "--games", "4"]));
    assert!(stdout.contains("forfeited 4 games"), "{stdout}");
    let log = std::fs::read_to_string(folder.path().join("ladder.jsonl")).expect("a ladder");
    assert_eq!(log.matches("exit status: 9").count(), 4);

    // Each player has its own reasons.
    let other = "external:protocol=gtp,command=\"sh -c 'exit 7'\"";
    let stdout = ok(&outflank(folder.path(), &["arena", engine, other, "--games", "4"]));
    let of_both: Vec<_> = stdout.lines().filter(|line| line.contains("forfeited")).collect();
    assert_eq!(of_both.len(), 2, "{stdout}");
    for (line, own) in of_both.iter().zip(["status: 9", "status: 7"]) {
        assert!(line.contains(own) && line.matches("status: ").count() == 1, "{line}");
    }
}
