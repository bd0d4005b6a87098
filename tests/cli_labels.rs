//! What players are called in tables and pictures, and what a ladder that is used again says.

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

/// The first label of an object, by key.
fn labels<'a>(objects: &'a [Value], kind: &str, key: &str) -> Vec<&'a str> {
    let of_kind = objects.iter().filter(|object| object["kind"] == kind);
    of_kind.map(|object| object[key].as_str().expect("a label")).collect()
}

#[test]
fn tables_and_pictures_have_short_names() {
    let folder = folder();
    let common = ["--shape", "6x6", "--games", "2"];
    let play = [&["arena", NET, "random", "--svg", "table.svg"][..], &common].concat();
    let said = ok(&outflank(folder.path(), &play));
    assert!(said.starts_with("6x6 sims=2 - random\n"), "{said}");
    assert!(!said.contains("checkpoints") && !said.contains('#'), "{said}");
    let svg = std::fs::read_to_string(folder.path().join("table.svg")).expect("a picture");
    assert!(svg.contains(">6x6 sims=2</text>"), "{svg}");
    assert!(svg.contains("checkpoints/6x6"), "the whole name is there to be pointed at");
    // Programs get the identity and the label.
    let found = objects(&outflank(folder.path(), &["arena", "--shape", "6x6", "--json"]));
    let net = found.iter().find(|player| player["label"] == "6x6 sims=2").expect("the net");
    assert!(net["player"].as_str().expect("a name").contains("checkpoints/6x6"));
}

#[test]
fn a_name_is_kept_and_found_again() {
    let folder = folder();
    let named = [format!("{NET},name=\"my net\""), "greedy:name=eater".to_owned()];
    let common = ["--shape", "6x6", "--games", "2"];
    let play = [&["arena", &named[0], &named[1], "--json"][..], &common].concat();
    let said = objects(&outflank(folder.path(), &play));
    assert_eq!(labels(&said, "match", "first_label"), ["my net"]);
    assert_eq!(labels(&said, "match", "second_label"), ["eater"]);
    assert_eq!(said[0]["second"], "greedy", "the identity has no name in it");
    // Later the name is known, with or without players, and counts as the same player.
    let play = [&["arena", NET, "random"][..], &common].concat();
    let said = ok(&outflank(folder.path(), &play));
    assert!(said.starts_with("my net - random\n") && said.contains("eater"), "{said}");
    let look = ["arena", "--shape", "6x6", "--anchor", "my net"];
    let said = ok(&outflank(folder.path(), &look));
    assert!(said.contains("of the difference to my net"), "{said}");
    let renamed = [&["arena", "greedy:name=\"more\"", "random", "--json"][..], &common].concat();
    let said = objects(&outflank(folder.path(), &renamed));
    let mut found = labels(&said, "rating", "label");
    found.sort();
    assert_eq!(found, ["more", "my net", "random"]);
}

/// Two players of one label on different boards of a ladder: each table has only one of them.
#[test]
fn a_label_of_a_table_is_known_as_an_anchor() {
    let folder = folder();
    let common = ["rollouts:simulations=2", "--games", "2"];
    for (player, shape) in [("random:name=a", "6x6"), ("greedy:name=a", "8x8")] {
        let play = [&["arena", player, "--shape", shape][..], &common].concat();
        ok(&outflank(folder.path(), &play));
    }
    for shape in ["6x6", "8x8"] {
        let said = objects(&outflank(folder.path(), &["arena", "--shape", shape, "--json"]));
        assert!(labels(&said, "rating", "label").contains(&"a"), "{said:?}");
        let said = ok(&outflank(folder.path(), &["arena", "--shape", shape, "--anchor", "a"]));
        assert!(said.contains("of the difference to a"), "{said}");
    }
}

#[test]
fn two_players_of_one_name_are_refused() {
    let folder = folder();
    for command in [
        vec!["arena", "random:name=a", "greedy:name=a"],
        vec!["loss", "random:name=a", "greedy:name=a", "--positions", "late.obf"],
    ] {
        let line = format!("{}O--xxxxO--- x;\n", "x".repeat(53));
        std::fs::write(folder.path().join("late.obf"), line).expect("writable");
        let output = outflank(folder.path(), &command);
        assert_eq!(output.status.code(), Some(2), "{command:?}");
        let said = text(&output.stderr);
        assert!(said.contains("two players are called `a`: `random` and `greedy`"), "{said}");
    }
    assert_eq!(outflank(folder.path(), &["arena"]).status.code(), Some(2), "no game was played");
}

#[test]
fn it_is_told_where_games_go() {
    let folder = folder();
    let play = ["arena", "random", "greedy", "--games", "4", "--json"];
    let said = text(&outflank(folder.path(), &play).stderr);
    assert_eq!(said.lines().next(), Some("games go to ladder.jsonl, a new ladder"));
    let other = ["arena", "random", "rollouts:simulations=2", "--games", "2"];
    let said = text(&outflank(folder.path(), &other).stderr);
    let wanted = "games go to ladder.jsonl, where 4 games of 2 players count already";
    assert_eq!(said.lines().next(), Some(wanted));
    let shape = [&play[..], &["--shape", "6x6"]].concat();
    let said = text(&outflank(folder.path(), &shape).stderr);
    assert!(said.starts_with("games go to ladder.jsonl, which has 6 games on other"), "{said}");
    // Looking adds nothing.
    assert_eq!(text(&outflank(folder.path(), &["arena"]).stderr), "");
    let log = std::fs::read_to_string(folder.path().join("ladder.jsonl")).expect("a ladder");
    assert!(log.contains("\"openings\":\"random:6\"") && !log.contains("random:8"), "{log}");
    let resumed = [&play[..], &["--resume", "--openings", "random:7"]].concat();
    let said = text(&outflank(folder.path(), &resumed).stderr);
    assert!(said.contains("no match of random and greedy with openings random:7"), "{said}");
}

/// Names from a hostile ladder, or a long path, neither end the program nor flood the table.
#[test]
fn very_long_names_are_shortened() {
    let folder = folder();
    let play = ["arena", "random", "greedy", "--games", "4"];
    ok(&outflank(folder.path(), &play));
    let path = folder.path().join("ladder.jsonl");
    let log = std::fs::read_to_string(&path).expect("a ladder");
    std::fs::write(&path, log.replace("greedy", &"\\u001b[31m".repeat(9_000))).expect("writable");
    let said = ok(&outflank(folder.path(), &["arena", "--svg", "table.svg"]));
    assert!(said.lines().all(|line| line.chars().count() < 200), "{said}");
    assert!(said.contains('…') && !said.contains('\u{1b}'), "{said}");
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
    let (solved, positions, said) = judge("alphabeta:depth=1,solve_empties=6,name=late");
    assert_eq!((solved, positions), (Some(1), Some(2)));
    assert!(said.contains("late solves 1 of 2 positions itself"), "{said}");
    assert!(said.contains("at most 6 empty squares; solve_empties=0"), "{said}");
    assert_eq!(judge("alphabeta:depth=1"), (Some(0), Some(2), String::new()));
}
