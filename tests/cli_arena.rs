//! Tests of the subcommands that play, run as programs.

use std::io::{BufRead, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use outflank::game::{Goal, Shape};
use outflank::model::Description;
use outflank::net::{NetSpec, TowerOptions, initial_weights};
use outflank::store::model_file::ModelFile;
use serde_json::Value;

fn outflank(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_outflank"));
    command.current_dir(folder).args(arguments);
    command
}

fn run(folder: &Path, arguments: &[&str]) -> Output {
    outflank(folder, arguments).stdin(Stdio::null()).output().expect("the program starts")
}

fn talk(folder: &Path, arguments: &[&str], input: &[u8]) -> Output {
    let mut command = outflank(folder, arguments);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    // The write fails if the program has ended.
    let _ = stdin.write_all(input);
    drop(stdin);
    child.wait_with_output().expect("the program ends")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("text")
}

fn ok(output: &Output) -> String {
    assert!(output.status.success(), "{}{}", text(&output.stdout), text(&output.stderr));
    text(&output.stdout)
}

fn objects(output: &Output) -> Vec<Value> {
    ok(output).lines().map(|line| serde_json::from_str(line).expect("one object a line")).collect()
}

/// The error messages of a command, which must end with exit code 2.
fn error_text(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stdout));
    text(&output.stderr)
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a folder")
}

/// Writes a small net with random weights.
fn write_net(folder: &Path, shape: Shape, goal: Goal) -> PathBuf {
    let options = TowerOptions { blocks: 1, channels: 8, ..TowerOptions::default() };
    let spec = NetSpec { shape, options, evaluator: None };
    let weights = initial_weights(&spec, 1);
    let description = Description { positions: 640, steps: 10, ..spec.description(goal) };
    let description = serde_json::to_value(description).expect("plain data");
    let bytes = weights.to_bytes(&std::collections::BTreeMap::new());
    let path = folder.join("net.safetensors");
    ModelFile::seal(&description, &bytes).expect("weights").write(&path).expect("writable");
    path
}

#[test]
fn arena_plays_rates_and_draws() {
    let folder = folder();
    let arguments =
        ["arena", "random", "greedy", "rollouts:simulations=20", "--games", "10", "--json"];
    let json = objects(&run(folder.path(), &[&arguments[..], &["--svg", "table.svg"]].concat()));
    let kinds: Vec<_> =
        json.iter().map(|object| object["kind"].as_str().expect("a kind")).collect();
    assert_eq!(kinds, ["match", "match", "match", "rating", "rating", "rating"]);
    for object in &json[..3] {
        assert_eq!((&object["version"], &object["games"]), (&1.into(), &10.into()));
        let games: u64 = ["black", "white"]
            .iter()
            .flat_map(|side| ["wins", "draws", "losses"].map(|key| &object[side][key]))
            .map(|count| count.as_u64().expect("a count"))
            .sum();
        assert_eq!(games, 10);
        let number = |key: &str| object[key].as_f64().expect("a number");
        assert!(number("low") <= number("score") && number("score") <= number("high"));
    }
    assert_eq!(json[3]["player"], "rollouts:simulations=20");
    let svg = std::fs::read_to_string(folder.path().join("table.svg")).expect("a picture");
    assert!(svg.contains("greedy") && svg.ends_with("</svg>\n"));
    let table = ok(&run(folder.path(), &["arena"]));
    assert!(table.contains("rollouts:simulations=20") && table.contains("rating"), "{table}");
}

#[test]
fn arena_resumes_an_interrupted_match() {
    let (whole, cut) = (folder(), folder());
    let arguments = ["arena", "random", "rollouts:simulations=10", "--games", "12", "--json"];
    let wanted = objects(&run(whole.path(), &arguments));
    let log = std::fs::read(whole.path().join("ladder.jsonl")).expect("a ladder");
    std::fs::write(cut.path().join("ladder.jsonl"), &log[..log.len() * 2 / 3]).expect("writable");
    let resume = [&arguments[..], &["--resume"]].concat();
    let output = run(cut.path(), &resume);
    let json = objects(&output);
    // Times differ between runs, but results do not.
    assert_eq!(json, wanted);
    assert!(text(&output.stderr).contains("cannot be read"), "{}", text(&output.stderr));
    let lines = |folder: &Path| {
        let log = std::fs::read_to_string(folder.join("ladder.jsonl")).expect("a ladder");
        log.lines().filter(|line| line.contains("\"kind\":\"game\"") && line.ends_with('}')).count()
    };
    assert_eq!((lines(whole.path()), lines(cut.path())), (12, 12));
}

#[test]
fn arena_runs_a_sequential_test() {
    let folder = folder();
    let accepted = run(
        folder.path(),
        &["arena", "rollouts:simulations=30", "random", "--sprt", "0,50", "--games", "200"],
    );
    assert!(ok(&accepted).contains("accepted"));
    let arguments = ["arena", "random", "rollouts:simulations=30", "--sprt", "0,50"];
    let rejected = run(folder.path(), &[&arguments[..], &["--games", "200"]].concat());
    assert_eq!(rejected.status.code(), Some(1));
    assert!(text(&rejected.stdout).contains("rejected"));
}

/// The exit code of an interrupted match is 130, whatever it would be at the match's end.
#[test]
fn an_interrupted_match_has_its_own_exit_code() {
    let folder = folder();
    let net = write_net(folder.path(), Shape::Square6, Goal::Most);
    let net = net.to_str().expect("text");
    let rollouts = "rollouts:simulations=3000";
    for arguments in [
        vec!["arena", "random", rollouts, "--games", "1000000", "--sprt", "-900,-899"],
        // The greedy player has not played yet.
        vec!["arena", "random", rollouts, "greedy", "--games", "1000000", "--anchor", "greedy"],
        vec!["eval", net, "--against", rollouts, "--games", "1000000", "--ladder", "ladder.jsonl"],
    ] {
        let ladder = folder.path().join("ladder.jsonl");
        let mut command = outflank(folder.path(), &arguments);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let started = command.spawn().expect("it starts");
        while !std::fs::read_to_string(&ladder).is_ok_and(|log| log.contains("\"game\"")) {
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        let pid = started.id().to_string();
        assert!(Command::new("kill").args(["-INT", &pid]).status().expect("it starts").success());
        let output = started.wait_with_output().expect("it ends");
        assert_eq!(output.status.code(), Some(130), "{}", text(&output.stderr));
        assert!(text(&output.stderr).contains("stopped"));
        std::fs::remove_file(&ladder).expect("the ladder");
    }
}

/// External engines count as random players. This one is deterministic, so the same two games are
/// played again and again.
#[test]
fn repeated_games_do_not_decide_a_sequential_test() {
    let folder = folder();
    let engine = format!(
        "external:protocol=gtp,command=\"'{}' gtp alphabeta:depth=2\"",
        env!("CARGO_BIN_EXE_outflank")
    );
    let arguments = ["arena", &engine, "alphabeta:depth=1", "--openings", "start"];
    let test = ["--sprt", "0,200", "--games", "40"];
    let output = run(folder.path(), &[&arguments[..], &test].concat());
    let stdout = text(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{stdout}{}", text(&output.stderr));
    assert!(stdout.contains("38 games are repetitions of other games"), "{stdout}");
    assert!(stdout.contains("SPRT 0,200: undecided (log-likelihood ratio "), "{stdout}");
}

#[test]
fn wrong_arguments_give_exact_errors() {
    let folder = folder();
    std::fs::write(folder.path().join("notes"), "dear diary\n").expect("writable");
    std::fs::write(folder.path().join("empty"), "").expect("writable");
    for (arguments, wanted) in [
        (vec!["arena", "random"], "needs two players"),
        (vec!["arena", "random", "random"], "given twice"),
        (vec!["arena", "random", "greddy"], "random, greedy, alphabeta"),
        (vec!["arena", "random", "rollouts:sims=3"], "simulations, c_uct"),
        (vec!["arena", "random", "alphabeta:eval=discs,probcut=2"], "`discs` has no parameters"),
        (
            vec!["arena", "random", "alphabeta:probcut=2,eval=positional", "--shape", "6x6"],
            "`probcut` for 6x6",
        ),
        (
            vec!["play", "alphabeta:probcut=2,eval=positional", "--goal", "fewest"],
            "goal fewest; leave",
        ),
        (vec!["arena", "random", "greedy", "--sprt", "5,1"], "elo0 below elo1"),
        (vec!["arena", "random", "greedy", "rollouts", "--sprt", "0,9"], "exactly two"),
        (vec!["arena", "random", "greedy", "--openings", "random:0"], "random:PLIES"),
        (vec!["arena", "random", "greedy", "--openings", "nowhere.txt"], "nowhere.txt"),
        (vec!["arena", "random", "greedy", "--openings", "notes"], "line 1"),
        (
            vec!["arena", "random", "greedy", "--shape", "6x6", "--openings", "random:32"],
            "no game on board 6x6 has a move left after 32 random plies",
        ),
        (vec!["arena", "random", "greedy", "--shape", "9x9"], "8x8, 6x6"),
        (vec!["arena", "random", "greedy", "--ladder", "notes"], "is not a ladder file"),
        (vec!["arena", "random", "greedy", "--games", "0"], "0"),
        (vec!["arena", "random", "net:nowhere"], "nowhere"),
        (vec!["arena"], "no players are given, and there is no ladder"),
        (vec!["arena", "--ladder", "notes"], "is not a ladder file"),
        (vec!["arena", "--ladder", "empty"], "is not a ladder file"),
        (vec!["eval", "nowhere"], "nowhere"),
        (vec!["eval", "notes"], "notes"),
        (vec!["eval", "notes", "--table", "paper", "--games", "20"], "cannot be used with"),
        (vec!["arena", "random", "greedy", "--over", "games"], "--curve"),
        (vec!["play", "nobody"], "random, greedy"),
        (vec!["play", "random", "--load", "nowhere"], "nowhere"),
        (vec!["nboard", "nobody"], "random, greedy"),
        (vec!["gtp", "random:x=1"], "allowed: name"),
    ] {
        let error = error_text(&run(folder.path(), &arguments));
        assert!(error.contains(wanted), "{arguments:?}: {error}");
        assert!(error.matches("player `").count() <= 1, "named twice: {arguments:?}: {error}");
    }
    assert_eq!(std::fs::read(folder.path().join("notes")).expect("a file"), b"dear diary\n");
    assert_eq!(std::fs::read(folder.path().join("empty")).expect("a file"), b"");
}

#[test]
fn eval_reports_each_opponent() {
    let folder = folder();
    let net = write_net(folder.path(), Shape::Square6, Goal::Most);
    let net = net.to_str().expect("a plain path");
    let common = ["--games", "6", "--simulations", "8", "--against", "random"];
    let arguments = [&["eval", net][..], &common, &["--against", "greedy"]].concat();
    let json = objects(&run(folder.path(), &[&arguments[..], &["--json"]].concat()));
    assert_eq!(json.len(), 2);
    for (object, opponent) in json.iter().zip(["random", "greedy"]) {
        assert_eq!(object["opponent"], opponent);
        assert_eq!(object["games"], 6);
        for key in ["score", "low", "high"] {
            let share = object[key].as_f64().expect("a number");
            assert!((0.0..=1.0).contains(&share));
        }
        for side in ["black", "white"] {
            assert!(object[side]["wins"].is_u64() && object[side]["losses"].is_u64());
            assert!(object[side]["draws"].is_u64());
        }
    }
    let table = ok(&run(folder.path(), &[&arguments[..], &["--ladder", "ladder.jsonl"]].concat()));
    assert!(table.contains("black W-D-L") && table.contains("rating in the ladder"), "{table}");
    let late = error_text(&run(folder.path(), &["eval", net, "--openings", "random:32"]));
    assert!(late.contains("has a move left after 32 random plies"), "{late}");
    let spec = format!("net:{net},simulations=8");
    let curve = run(
        folder.path(),
        &["arena", &spec, "random", "--shape", "6x6", "--games", "2", "--curve", "curve.svg"],
    );
    ok(&curve);
    assert!(folder.path().join("curve.svg").exists());
}

/// With a time limit or several threads all games are legal, and the ladder has the nodes.
#[test]
fn a_net_plays_with_a_time_limit() {
    let folder = folder();
    let net = write_net(folder.path(), Shape::Square6, Goal::Most);
    let net = net.to_str().expect("a plain path");
    for keys in [
        "movetime=20ms",
        // Solving the start position would take minutes.
        "movetime=100ms,solve_empties=30,threads=2",
        "movetime=100ms,solve_empties=30,solve_leaves=30",
        "gametime=300ms,tree_reuse=false",
        "simulations=30,threads=3",
    ] {
        let spec = format!("net:{net},{keys}");
        let ladder = format!("{keys}.jsonl");
        let arguments = ["arena", &spec, "random", "--shape", "6x6", "--games", "2"];
        let json = objects(&run(
            folder.path(),
            &[&arguments[..], &["--json", "--ladder", &ladder]].concat(),
        ));
        assert_eq!((&json[0]["games"], &json[0]["forfeits"]["own"]), (&2.into(), &0.into()));
        let log = std::fs::read_to_string(folder.path().join(&ladder)).expect("a ladder");
        let games = log.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
        for game in games.filter(|line| line["kind"] == "game") {
            let nodes = game["nodes"].as_array().expect("a count for each move");
            let most = nodes.iter().filter_map(Value::as_u64).max().expect("moves");
            assert!(most >= 30, "{keys}: {game}");
            let seconds = game["seconds"].as_array().expect("a time for each move");
            assert!(seconds.iter().all(|time| time.as_f64().expect("a number") < 20.0), "{game}");
        }
    }
    let hints = ok(&talk(
        folder.path(),
        &["play", &format!("net:{net},simulations=200"), "--shape", "6x6"],
        b"hint 4\n",
    ));
    let lines = hints.lines().filter(|line| line.contains('%'));
    let replies = lines.filter(|line| line.split_whitespace().last().is_some_and(|l| l.len() >= 4));
    assert_eq!(replies.count(), 4, "each move has an expected reply: {hints}");
}

#[test]
fn a_net_plays_only_its_own_board_and_goal() {
    let folder = folder();
    let net = write_net(folder.path(), Shape::Square6, Goal::Fewest);
    let spec = format!("policy:{}", net.display());
    let error = error_text(&run(folder.path(), &["arena", &spec, "random", "--shape", "8x8"]));
    assert!(error.contains("6x6") && error.contains("8x8"), "{error}");
    let error = error_text(&run(folder.path(), &["arena", &spec, "random", "--goal", "most"]));
    assert!(error.contains("fewest") && error.contains("most"), "{error}");
    let path = net.to_str().expect("a plain path");
    let error = error_text(&run(folder.path(), &["eval", path, "--table", "paper"]));
    assert!(error.contains("8x8"), "{error}");
    std::fs::write(&net, &std::fs::read(&net).expect("a file")[..2000]).expect("writable");
    let error = error_text(&run(folder.path(), &["eval", path]));
    assert!(error.contains("net.safetensors"), "{error}");
}

#[test]
fn an_interrupted_table_is_marked_as_incomplete() {
    let folder = folder();
    let net = write_net(folder.path(), Shape::Square8, Goal::Most);
    let mut command = Command::new(env!("CARGO_BIN_EXE_outflank"));
    command.arg("eval").arg(&net).args(["--table", "paper-3", "--threads", "1"]);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut eval = command.spawn().expect("it starts");
    // The first row is complete. The next takes far longer than the signal.
    let mut stderr = BufReader::new(eval.stderr.take().expect("a pipe")).lines();
    let line = stderr.next().expect("a line").expect("text");
    assert_eq!(line, "table 3, level 1 (random): done");
    let pid = eval.id().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().expect("it starts").success());
    let output = eval.wait_with_output().expect("it ends");
    let table = String::from_utf8(output.stdout).expect("text");
    assert_eq!(output.status.code(), Some(130), "{table}");
    assert!(table.contains("level 1") && !table.contains("level 3"), "{table}");
    assert!(stderr.any(|line| line.expect("text").contains("of 4 rows are not played")));
}

/// The program plays through both protocols as an external engine. All games are legal.
#[test]
fn the_program_plays_against_itself_through_both_protocols() {
    let folder = folder();
    let binary = env!("CARGO_BIN_EXE_outflank");
    for (shape, protocol) in
        [("8x8", "nboard"), ("8x8", "gtp"), ("cross92", "nboard"), ("6x6", "gtp"), ("7x7", "gtp")]
    {
        let engine = format!(
            "external:protocol={protocol},command=\"'{binary}' {protocol} rollouts:simulations=5 --shape {shape}\""
        );
        let ladder = format!("{shape}-{protocol}.jsonl");
        let arguments =
            ["arena", &engine, "random", "--shape", shape, "--games", "6", "--ladder", &ladder];
        let json = objects(&run(folder.path(), &[&arguments[..], &["--json"]].concat()));
        assert_eq!(json[0]["games"], 6);
        assert_eq!(json[0]["forfeits"]["own"], 0, "{shape} {protocol}: {}", json[0]);
    }
}

#[test]
fn the_protocols_survive_malformed_lines() {
    let folder = folder();
    let mut input = b"\n\xff\xfe\nset game (;\nmove zz\nplay black\n".to_vec();
    input.extend(std::iter::repeat_n(b'x', 300_000));
    input.extend(b"\n1 name\nping 5\nquit\n");
    let stdout = ok(&talk(folder.path(), &["nboard", "random"], &input));
    assert!(stdout.contains("pong 5"), "{stdout}");
    let stdout = ok(&talk(folder.path(), &["gtp", "random"], &input));
    assert!(stdout.contains("=1 Outflank"), "{stdout}");
    assert!(stdout.ends_with("= \n\n"), "{stdout}");
}

#[test]
fn play_works_without_a_terminal() {
    let folder = folder();
    let input = b"f5\nhint 2\nnonsense\nundo\nsave game.txt\nd3\nsave game.txt\nquit\n";
    let stdout = ok(&talk(folder.path(), &["play", "rollouts:simulations=20"], input));
    assert!(stdout.contains("white plays"), "{stdout}");
    assert!(stdout.contains("neither a square nor a command"), "{stdout}");
    let saved = std::fs::read_to_string(folder.path().join("game.txt")).expect("a game");
    assert!(saved.starts_with("d3"), "{saved}");
    let arguments = ["play", "greedy", "--load", "game.txt", "--colour", "white"];
    let stdout = ok(&talk(folder.path(), &arguments, b""));
    assert!(stdout.contains("black plays"), "{stdout}");
    let arguments = ["play", "random", "--shape", "cross92"];
    let stdout = ok(&talk(folder.path(), &arguments, &b"go\n".repeat(100)));
    assert!(stdout.contains("wins by") || stdout.contains("a draw"), "{stdout}");
    let input = b"f5 d6 c3 a1\nf5d6 c3\nsave game.ggf\n";
    let stdout = ok(&talk(folder.path(), &["play", "greedy"], input));
    assert!(stdout.contains("move 4, a1, is not legal") && !stdout.contains('\u{1b}'), "{stdout}");
    let stdout = ok(&talk(folder.path(), &["play", "greedy", "--load", "game.ggf"], b"moves\n"));
    assert!(stdout.contains("  1  f5 d6 c3 "), "{stdout}");
}
