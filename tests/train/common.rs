//! A small run, and the command that makes it.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// A run of seconds whose learner hardly ever waits.
pub const CONFIG: &str = r#"
board = "6x6"
[limits]
positions = 3000
[net]
blocks = 1
channels = 8
[search]
simulations = 8
solve_empties = 8
[selfplay]
games_per_actor = 16
[replay]
min_positions = 500
ratio = 0.1
ratio_max = 1000
[learner]
batch = 64
steps_per_publish = 1
[evaluation]
every_minutes = 0
"#;

/// `outflank train` in a run directory.
pub fn train(run: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_outflank"))
        .args(["train", "--quiet", "--run-dir"])
        .arg(run)
        .args(arguments)
        .output()
        .expect("the program runs")
}

pub fn succeeds(output: &Output) {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// What `run.json` says.
pub fn manifest(run: &Path) -> serde_json::Value {
    let text = fs::read_to_string(run.join("run.json")).expect("the state of the run");
    serde_json::from_str(&text).expect("JSON")
}

/// A counter of the run's summary.
pub fn count(run: &Path, key: &str) -> f64 {
    let manifest = manifest(run);
    manifest["summary"][key].as_f64().unwrap_or_else(|| panic!("{key} in {manifest}"))
}
