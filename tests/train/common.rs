//! A small run, and the command that starts it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A run of a few seconds whose learner hardly ever waits.
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

/// Runs `outflank train` in a run directory.
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

/// The content of `run.json`.
pub fn manifest(run: &Path) -> serde_json::Value {
    let text = fs::read_to_string(run.join("run.json")).expect("the state of the run");
    serde_json::from_str(&text).expect("JSON")
}

/// A counter in `run.json`.
pub fn count(run: &Path, key: &str) -> f64 {
    let manifest = manifest(run);
    manifest["summary"][key].as_f64().unwrap_or_else(|| panic!("{key} in {manifest}"))
}

/// A finished run in a temporary folder.
pub struct FinishedRun {
    pub folder: tempfile::TempDir,
    pub path: PathBuf,
}

impl FinishedRun {
    pub fn new(more: &[&str]) -> FinishedRun {
        let folder = tempfile::tempdir().expect("a folder");
        let (config, path) = (folder.path().join("small.toml"), folder.path().join("run"));
        fs::write(&config, CONFIG).expect("a file");
        let first = [&[config.to_str().expect("a path")], more].concat();
        succeeds(&train(&path, &first));
        FinishedRun { folder, path }
    }

    /// A run with one or two training steps.
    pub fn small() -> FinishedRun {
        FinishedRun::new(&["--set", "limits.positions=1000"])
    }

    pub fn resume(&self, more: &[&str]) -> Output {
        train(&self.path, &[&["--resume"], more].concat())
    }

    /// Resumes the run for this many more positions than it has. On a busy machine the run may have
    /// ended with many more positions than its limit.
    pub fn resume_for(&self, positions: f64, more: &[&str]) -> Output {
        let limit = format!("limits.positions={}", count(&self.path, "positions") + positions);
        self.resume(&[&["--set", &limit], more].concat())
    }

    pub fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path.join(name)).expect("a file of the run")
    }

    pub fn newest_checkpoint(&self) -> PathBuf {
        self.checkpoints().pop().expect("a checkpoint")
    }

    pub fn steps(&self) -> f64 {
        count(&self.path, "steps")
    }

    pub fn checkpoints(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.path.join("checkpoints")).expect("a folder");
        let mut found: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
        found.sort();
        found
    }
}

/// Checks that the command failed with exit code 2 and this message.
pub fn refused(output: &Output, expected: &str) {
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains(expected), "{stderr}");
}

/// Changes a JSON file of a run and removes its checksum, like a file of an older version.
pub fn edit_json(path: &Path, edit: impl FnOnce(&mut serde_json::Value)) {
    let text = fs::read_to_string(path).expect("a file");
    let mut value: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    edit(&mut value);
    value.as_object_mut().expect("an object").remove("crc32");
    fs::write(path, value.to_string()).expect("a file");
}
