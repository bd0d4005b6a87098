//! `outflank loss` as a user runs it.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

/// A comment, a position of 8x8 near the end, and bad lines: one that is not a position, one
/// without a legal move, and one with the score of an illegal move.
const POSITIONS: &str = "\
# a comment
xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxO--xxxxO--- x;
nonsense
xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx- O;
xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxO--xxxxO--- x; a1:+4;
";

fn run(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_outflank"));
    command.current_dir(folder).arg("loss").args(arguments).stdin(Stdio::null());
    command.output().expect("the program starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("text")
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("late.obf"), POSITIONS).expect("writable");
    folder
}

#[test]
fn losses_are_reported_and_solved_scores_are_written() {
    let folder = folder();
    let arguments = ["random", "alphabeta:depth=2,solve_empties=30", "--positions", "late.obf"];
    let more = ["--write", "solved.obf", "--json"];
    let output = run(folder.path(), &[&arguments[..], &more[..]].concat());
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{stderr}");
    for line in ["line 3: ", "line 4: ", "line 5: "] {
        assert!(stderr.contains(line), "{stderr}");
    }
    let objects: Vec<Value> =
        stdout.lines().map(|line| serde_json::from_str(line).expect("an object")).collect();
    assert_eq!(objects.len(), 2);
    assert_eq!(objects[0]["positions"], 1);
    assert_eq!(objects[1]["loss"], 0.0);
    assert_eq!(objects[1]["exact_best"], 1.0);
    let solved = std::fs::read_to_string(folder.path().join("solved.obf")).expect("written");
    assert_eq!(solved.lines().count(), 1);
    assert!(solved.contains("; ") && solved.contains(':'), "{solved}");
    let again = run(folder.path(), &["random", "--positions", "solved.obf", "--json"]);
    let again: Value = serde_json::from_slice(&again.stdout).expect("an object");
    assert_eq!(again["loss"], objects[0]["loss"]);
}

#[test]
fn positions_are_taken_from_the_games_of_a_match() {
    let folder = folder();
    let mut arena = Command::new(env!("CARGO_BIN_EXE_outflank"));
    arena.current_dir(folder.path()).stdin(Stdio::null());
    arena.args(["arena", "random", "greedy", "--games", "10", "--openings", "random:6"]);
    arena.args(["--ladder", "games.jsonl"]).stdout(Stdio::null());
    assert!(arena.status().expect("it starts").success());
    let more = ["--games", "games.jsonl", "--empties", "6", "--count", "8", "--json"];
    let output = run(folder.path(), &[&["random"][..], &more[..]].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout).expect("an object");
    assert_eq!((&report["positions"], &report["source"]["empties"]), (&8.into(), &6.into()));
}

#[test]
fn wrong_arguments_and_files_are_refused() {
    let folder = folder();
    std::fs::write(folder.path().join("empty.obf"), "nonsense\n").expect("writable");
    for (arguments, message) in [
        (&["random"][..], "--positions <FILE>|--games <PATH>"),
        (&["--positions", "late.obf"], "SPEC"),
        (&["random", "--positions", "late.obf", "--games", "."], "cannot be used with"),
        (&["random", "--positions", "late.obf", "--empties", "12"], "--empties"),
        (&["random", "--positions", "late.obf", "--count", "9"], "--count"),
        (&["random", "--positions", "none.obf"], "none.obf"),
        (&["random", "--positions", "empty.obf"], "line 1"),
        (&["random", "--positions", "late.obf", "--shape", "6x6"], "36 characters"),
        (&["random", "--games", "."], "neither a run directory"),
        (&["random", "--games", "none"], "neither a run directory"),
        (&["random", "--games", "late.obf"], "is not a ladder file"),
        (&["nobody", "--positions", "late.obf"], "unknown player"),
        (&["net:none", "--positions", "late.obf"], "none"),
        (&["random", "--positions", "late.obf", "--write", "no/such/folder.obf"], "no/such"),
    ] {
        let output = run(folder.path(), arguments);
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {stderr}");
        assert!(stderr.contains(message), "{arguments:?}: {stderr}");
    }
}

/// The engine never answers, so the interrupt always comes before the end.
#[test]
fn an_interrupted_loss_ends_with_exit_code_130() {
    let folder = folder();
    let engine = "external:protocol=gtp,command=\"sh -c ': > ready; exec sleep 1000'\"";
    let mut command = Command::new(env!("CARGO_BIN_EXE_outflank"));
    command.current_dir(folder.path()).args(["loss", engine, "--positions", "late.obf"]);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let started = command.spawn().expect("it starts");
    while !folder.path().join("ready").exists() {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let pid = started.id().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().expect("it starts").success());
    let output = started.wait_with_output().expect("it ends");
    let stderr = text(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{stderr}");
    assert!(stderr.contains("stopped before all positions were judged"), "{stderr}");
    assert_eq!(text(&output.stdout), "");
}
