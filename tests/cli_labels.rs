//! Tests of players' labels in tables and pictures, and of messages about ladders.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

fn outflank(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_outflank"));
    command.current_dir(folder).args(arguments).stdin(Stdio::null());
    command.output().expect("the program starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("text")
}

#[track_caller]
fn ok(output: &Output) -> String {
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stdout)
}

fn objects(output: &Output) -> Vec<Value> {
    ok(output).lines().map(|line| serde_json::from_str(line).expect("one object a line")).collect()
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a folder")
}

const NET: &str = concat!("net:", env!("CARGO_MANIFEST_DIR"), "/checkpoints/6x6,simulations=2");

/// The labels under `key` in all objects of a kind.
fn labels<'a>(objects: &'a [Value], kind: &str, key: &str) -> Vec<&'a str> {
    let of_kind = objects.iter().filter(|object| object["kind"] == kind);
    of_kind.map(|object| object[key].as_str().expect("a label")).collect()
}

#[test]
fn tables_and_pictures_show_short_labels() {
    let folder = folder();
    let common = ["--shape", "6x6", "--games", "2"];
    let play = [&["arena", NET, "random", "--svg", "table.svg"][..], &common].concat();
    let stdout = ok(&outflank(folder.path(), &play));
    assert!(stdout.starts_with("6x6 sims=2 - random\n"), "{stdout}");
    assert!(!stdout.contains("checkpoints") && !stdout.contains('#'), "{stdout}");
    let svg = std::fs::read_to_string(folder.path().join("table.svg")).expect("a picture");
    assert!(svg.contains(">6x6 sims=2</text>"), "{svg}");
    assert!(svg.contains("checkpoints/6x6"), "the whole name appears under the pointer");
    // JSON has the identity and the label.
    let found = objects(&outflank(folder.path(), &["arena", "--shape", "6x6", "--json"]));
    let net = found.iter().find(|player| player["label"] == "6x6 sims=2").expect("the net");
    assert!(net["player"].as_str().expect("a name").contains("checkpoints/6x6"));
}

#[test]
fn a_name_is_stored_in_the_ladder() {
    let folder = folder();
    let named = [format!("{NET},name=\"my net\""), "greedy:name=eater".to_owned()];
    let common = ["--shape", "6x6", "--games", "2"];
    let play = [&["arena", &named[0], &named[1], "--json"][..], &common].concat();
    let json = objects(&outflank(folder.path(), &play));
    assert_eq!(labels(&json, "match", "first_label"), ["my net"]);
    assert_eq!(labels(&json, "match", "second_label"), ["eater"]);
    assert_eq!(json[0]["second"], "greedy", "the identity has no name in it");
    // The ladder knows the name later. A specification without a name is the same player.
    let play = [&["arena", NET, "random"][..], &common].concat();
    let stdout = ok(&outflank(folder.path(), &play));
    assert!(stdout.starts_with("my net - random\n") && stdout.contains("eater"), "{stdout}");
    let look = ["arena", "--shape", "6x6", "--anchor", "my net"];
    let stdout = ok(&outflank(folder.path(), &look));
    assert!(stdout.contains("of the difference to my net"), "{stdout}");
    let renamed = [&["arena", "greedy:name=\"more\"", "random", "--json"][..], &common].concat();
    let json = objects(&outflank(folder.path(), &renamed));
    let mut found = labels(&json, "rating", "label");
    found.sort();
    assert_eq!(found, ["more", "my net", "random"]);
}

/// A ladder may have two players with the same label on different boards. Each table shows one.
#[test]
fn every_label_of_a_table_works_as_an_anchor() {
    let folder = folder();
    let common = ["rollouts:simulations=2", "--games", "2"];
    for (player, shape) in [("random:name=a", "6x6"), ("greedy:name=a", "8x8")] {
        let play = [&["arena", player, "--shape", shape][..], &common].concat();
        ok(&outflank(folder.path(), &play));
    }
    for shape in ["6x6", "8x8"] {
        let json = objects(&outflank(folder.path(), &["arena", "--shape", shape, "--json"]));
        assert!(labels(&json, "rating", "label").contains(&"a"), "{json:?}");
        let stdout = ok(&outflank(folder.path(), &["arena", "--shape", shape, "--anchor", "a"]));
        assert!(stdout.contains("of the difference to a"), "{stdout}");
    }
}

#[test]
fn two_players_with_the_same_name_are_refused() {
    let folder = folder();
    for command in [
        vec!["arena", "random:name=a", "greedy:name=a"],
        vec!["loss", "random:name=a", "greedy:name=a", "--positions", "late.obf"],
    ] {
        let line = format!("{}O--xxxxO--- x;\n", "x".repeat(53));
        std::fs::write(folder.path().join("late.obf"), line).expect("writable");
        let output = outflank(folder.path(), &command);
        assert_eq!(output.status.code(), Some(2), "{command:?}");
        let stderr = text(&output.stderr);
        assert!(stderr.contains("two players are called `a`: `random` and `greedy`"), "{stderr}");
    }
    assert_eq!(outflank(folder.path(), &["arena"]).status.code(), Some(2), "no game was played");
}

#[test]
fn the_ladder_of_the_games_is_printed() {
    let folder = folder();
    let play = ["arena", "random", "greedy", "--games", "4", "--json"];
    let stderr = text(&outflank(folder.path(), &play).stderr);
    assert_eq!(stderr.lines().next(), Some("games go to ladder.jsonl, a new ladder"));
    let other = ["arena", "random", "rollouts:simulations=2", "--games", "2"];
    let stderr = text(&outflank(folder.path(), &other).stderr);
    let wanted = "games go to ladder.jsonl, where 4 games of 2 players count already";
    assert_eq!(stderr.lines().next(), Some(wanted));
    let shape = [&play[..], &["--shape", "6x6"]].concat();
    let stderr = text(&outflank(folder.path(), &shape).stderr);
    assert!(stderr.starts_with("games go to ladder.jsonl, which has 6 games on other"), "{stderr}");
    // Without players no message is printed.
    assert_eq!(text(&outflank(folder.path(), &["arena"]).stderr), "");
    let log = std::fs::read_to_string(folder.path().join("ladder.jsonl")).expect("a ladder");
    assert!(log.contains("\"openings\":\"random:6\"") && !log.contains("random:8"), "{log}");
    let resumed = [&play[..], &["--resume", "--openings", "random:7"]].concat();
    let stderr = text(&outflank(folder.path(), &resumed).stderr);
    assert!(stderr.contains("no match of random and greedy with openings random:7"), "{stderr}");
}

/// Very long names in a ladder neither crash the program nor fill the table.
#[test]
fn very_long_names_are_shortened() {
    let folder = folder();
    let play = ["arena", "random", "greedy", "--games", "4"];
    ok(&outflank(folder.path(), &play));
    let path = folder.path().join("ladder.jsonl");
    let log = std::fs::read_to_string(&path).expect("a ladder");
    std::fs::write(&path, log.replace("greedy", &"\\u001b[31m".repeat(9_000))).expect("writable");
    let stdout = ok(&outflank(folder.path(), &["arena", "--svg", "table.svg"]));
    assert!(stdout.lines().all(|line| line.chars().count() < 200), "{stdout}");
    assert!(stdout.contains('…') && !stdout.contains('\u{1b}'), "{stdout}");
}

#[test]
fn positions_that_a_player_solves_itself_are_counted() {
    let folder = folder();
    let mut line = "x".repeat(53) + "O--xxxxO--- x;\n";
    line += &("-".repeat(20) + "xxxxxxxOxxxxxxxOxxxxxxxOxxxxxxxxxxxxxxxxxxxx x;\n");
    std::fs::write(folder.path().join("late.obf"), line).expect("writable");
    let judge = |spec: &str| {
        let output = outflank(folder.path(), &["loss", spec, "--positions", "late.obf", "--json"]);
        let object: Value = serde_json::from_str(&ok(&output)).expect("an object");
        (object["solved_itself"].as_u64(), object["positions"].as_u64(), text(&output.stderr))
    };
    let (solved, positions, stderr) = judge("alphabeta:depth=1,solve_empties=6,name=late");
    assert_eq!((solved, positions), (Some(1), Some(2)));
    assert!(stderr.contains("late solves 1 of 2 positions itself"), "{stderr}");
    assert!(
        stderr.contains("at most 6 empty squares; to measure its search use solve_empties=0"),
        "{stderr}"
    );
    assert_eq!(judge("alphabeta:depth=1"), (Some(0), Some(2), String::new()));
}
