//! `OUTFLANK_LOG`: what is logged at which level.

use std::path::Path;
use std::process::Command;

const NET: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/checkpoints/6x6");
const PROGRAM: &str = env!("CARGO_BIN_EXE_outflank");

/// A run of a second.
const CONFIG: &str = r#"
board = "6x6"
[limits]
positions = 1500
[net]
blocks = 1
channels = 8
[search]
simulations = 4
solve_empties = 8
[replay]
min_positions = 500
[learner]
batch = 64
steps_per_publish = 1
[evaluation]
every_minutes = 0
"#;

/// What a command logs to standard error at a level; it must succeed.
fn logged(folder: &Path, level: &str, arguments: &[&str]) -> String {
    let mut command = Command::new(PROGRAM);
    command.current_dir(folder).args(arguments).env("OUTFLANK_LOG", level);
    let output = command.output().expect("the program starts");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    said
}

#[test]
fn debug_tells_of_nets_and_engines() {
    let folder = tempfile::tempdir().expect("a folder");
    let net = format!("net:{NET},simulations=4");
    let engine = format!("external:protocol=gtp,command=\"{PROGRAM} gtp random --shape 6x6\"");
    let arguments = ["arena", &net, &engine, "--shape", "6x6", "--games", "2", "--threads", "1"];
    let quiet = logged(folder.path(), "", &arguments);
    assert!(!quiet.contains("DEBUG") && !quiet.contains("genmove"), "{quiet}");
    let told = logged(folder.path(), "debug", &arguments);
    for part in ["6x6/net.safetensors: fingerprint ", "is computed by ", "genmove ", "from engine "]
    {
        assert!(told.contains(part), "no `{part}` in\n{told}");
    }
}

#[test]
fn debug_tells_of_a_run_and_what_it_goes_on_from() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("tiny.toml"), CONFIG).expect("writable");
    let begin = ["train", "tiny.toml", "--run-dir", "run", "--quiet"];
    let begun = logged(folder.path(), "debug", &begin);
    for part in ["goes on from net version 0", "net version 1 goes to the actors", "written in "] {
        assert!(begun.contains(part), "no `{part}` in\n{begun}");
    }
    let go_on =
        ["train", "--resume", "--run-dir", "run", "--quiet", "--set", "limits.positions=2500"];
    let quiet = logged(folder.path(), "info", &go_on);
    assert!(!quiet.contains("goes on from") && !quiet.contains("DEBUG"), "{quiet}");
}

#[test]
fn a_level_that_is_none_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let told = logged(folder.path(), "loud", &["perft", "--depth", "1"]);
    assert!(told.contains("OUTFLANK_LOG: `loud` is no level; allowed: off, error"), "{told}");
    let told = logged(folder.path(), "outflank::net=debug", &["perft", "--depth", "1"]);
    assert_eq!(told, "");
}
