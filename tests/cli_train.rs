//! A training run as a user starts it.

use std::fs;
use std::process::Command;

const CONFIG: &str = r#"
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

/// The learner could make a thousand samples of each position, and must not keep the actors
/// waiting until it has.
#[test]
fn between_the_least_and_the_most_ratio_nobody_waits() {
    let folder = tempfile::tempdir().expect("a folder");
    let config = folder.path().join("band.toml");
    fs::write(&config, CONFIG).expect("a file");
    let run = folder.path().join("run");
    let output = Command::new(env!("CARGO_BIN_EXE_outflank"))
        .arg("train")
        .arg(&config)
        .arg("--run-dir")
        .arg(&run)
        .output()
        .expect("the program runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let state = fs::read_to_string(run.join("run.json")).expect("the state of the run");
    let state: serde_json::Value = serde_json::from_str(&state).expect("JSON");
    let count =
        |key: &str| state["summary"][key].as_f64().unwrap_or_else(|| panic!("{key} in {state}"));
    let (steps, positions) = (count("steps"), count("positions"));
    assert!(64.0 * steps / positions < 500.0, "{steps} steps for {positions} positions");
    // A step is due for each 640 positions after the first 500, and the learner may be two behind
    // when the run ends, as on a machine that has hardly time for it.
    let due = (positions - 500.0) / 640.0;
    assert!(steps >= due - 2.0, "{steps} steps for {positions} positions");
}
