//! A small run, and the command that makes it.

use std::fs;
use std::path::{Path, PathBuf};
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

/// A run that has ended, in a folder that goes with it.
pub struct Ended {
    pub folder: tempfile::TempDir,
    pub path: PathBuf,
}

impl Ended {
    pub fn new(more: &[&str]) -> Ended {
        let folder = tempfile::tempdir().expect("a folder");
        let (config, path) = (folder.path().join("small.toml"), folder.path().join("run"));
        fs::write(&config, CONFIG).expect("a file");
        let first = [&[config.to_str().expect("a path")], more].concat();
        succeeds(&train(&path, &first));
        Ended { folder, path }
    }

    /// One that has learnt for a step or two.
    pub fn small() -> Ended {
        Ended::new(&["--set", "limits.positions=1000"])
    }

    pub fn resume(&self, more: &[&str]) -> Output {
        train(&self.path, &[&["--resume"], more].concat())
    }

    /// Goes on for so many positions more than the run has: under load it may end with many more
    /// than its limit.
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

/// It ends with an error that says so.
pub fn refused(output: &Output, expected: &str) {
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains(expected), "{said}");
}

/// Changes a JSON file of a run, as if a version without checksums had written it.
pub fn edit_json(path: &Path, edit: impl FnOnce(&mut serde_json::Value)) {
    let text = fs::read_to_string(path).expect("a file");
    let mut value: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    edit(&mut value);
    value.as_object_mut().expect("an object").remove("crc32");
    fs::write(path, value.to_string()).expect("a file");
}
