//! `OUTFLANK_LOG`: which messages each level logs.

use std::path::Path;
use std::process::Command;

const NET: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/checkpoints/6x6");
const PROGRAM: &str = env!("CARGO_BIN_EXE_outflank");

/// The configuration of a run that takes a second.
#[cfg(feature = "torch")]
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

/// Runs a command, which must succeed, and returns what it logs to standard error at a level.
fn logged(folder: &Path, level: &str, arguments: &[&str]) -> String {
    let mut command = Command::new(PROGRAM);
    command.current_dir(folder).args(arguments).env("OUTFLANK_LOG", level);
    let output = command.output().expect("the program starts");
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{stderr}");
    stderr
}

#[test]
fn debug_logs_nets_and_engines() {
    let folder = tempfile::tempdir().expect("a folder");
    let net = format!("net:{NET},simulations=4");
    let engine = format!("external:protocol=gtp,command=\"{PROGRAM} gtp random --shape 6x6\"");
    let arguments = ["arena", &net, &engine, "--shape", "6x6", "--games", "2", "--threads", "1"];
    let quiet = logged(folder.path(), "", &arguments);
    assert!(!quiet.contains("DEBUG") && !quiet.contains("genmove"), "{quiet}");
    let log = logged(folder.path(), "debug", &arguments);
    for part in
        ["6x6/net.safetensors: fingerprint ", "a net of 4x64 runs on ", "genmove ", "from engine "]
    {
        assert!(log.contains(part), "no `{part}` in\n{log}");
    }
}

#[cfg(feature = "torch")]
#[test]
fn debug_logs_a_run_and_where_it_continues() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("tiny.toml"), CONFIG).expect("writable");
    let train = ["train", "tiny.toml", "--run-dir", "run", "--quiet"];
    let log = logged(folder.path(), "debug", &train);
    for part in
        ["continues from net version 0", "net version 1 is sent to the actors", "written in "]
    {
        assert!(log.contains(part), "no `{part}` in\n{log}");
    }
    let resume =
        ["train", "--resume", "--run-dir", "run", "--quiet", "--set", "limits.positions=2500"];
    let quiet = logged(folder.path(), "info", &resume);
    assert!(!quiet.contains("continues from") && !quiet.contains("DEBUG"), "{quiet}");
}

#[test]
fn an_unknown_level_is_named_in_a_warning() {
    let folder = tempfile::tempdir().expect("a folder");
    let log = logged(folder.path(), "loud", &["perft", "--depth", "1"]);
    assert!(log.contains("OUTFLANK_LOG: `loud` is not a level; allowed: off, error"), "{log}");
    let log = logged(folder.path(), "outflank::net=debug", &["perft", "--depth", "1"]);
    assert_eq!(log, "");
}
