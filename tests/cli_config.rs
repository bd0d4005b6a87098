//! Configurations and run directories as a user sees them. Every refusal names the place and the
//! reason, ends with exit code 2, and creates no files.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

fn outflank(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_outflank"))
        .args(args)
        .current_dir(folder)
        .output()
        .expect("the program starts")
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a folder")
}

/// Asserts a refusal: exit code 2, nothing on stdout, and each of `parts` in the message.
#[track_caller]
fn assert_refused(output: &Output, parts: &[&str]) {
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(output.stdout.is_empty(), "{}", String::from_utf8_lossy(&output.stdout));
    for part in parts {
        assert!(message.contains(part), "no `{part}` in\n{message}");
    }
}

const CONFIGS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/configs");

#[test]
fn a_resolved_configuration_resolves_to_itself() {
    let folder = folder();
    for entry in fs::read_dir(CONFIGS).expect("a folder") {
        let path = entry.expect("an entry").path();
        let first = outflank(folder.path(), &["config", path.to_str().expect("a path")]);
        assert!(first.status.success(), "{}", String::from_utf8_lossy(&first.stderr));
        fs::write(folder.path().join("resolved.toml"), &first.stdout).expect("a file");
        let second = outflank(folder.path(), &["config", "resolved.toml"]);
        assert_eq!(first.stdout, second.stdout, "{}", path.display());
    }
}

#[test]
fn all_problems_of_file_and_command_line_are_shown_at_once() {
    let folder = folder();
    let text = "sed = 3\n[search]\nsimulations = \"all\"\n[replay]\nmin_positions = 600000\n";
    fs::write(folder.path().join("bad.toml"), text).expect("a file");
    for command in ["config", "train"] {
        let output = outflank(
            folder.path(),
            &[command, "bad.toml", "--set", "learner.batch=1", "--set", "net.blocks"],
        );
        assert_refused(
            &output,
            &[
                "the configuration has 5 problems",
                "bad.toml:1:1: unknown key `sed`; did you mean `seed`?",
                "bad.toml:3:15: search.simulations = \"all\" is a string; allowed: a whole number",
                "bad.toml:5:17: replay.min_positions = 600000 contradicts replay.max_positions",
                "--set learner.batch=1: learner.batch = 1 is not allowed; allowed: a whole number",
                "--set net.blocks: not of the form key=value",
            ],
        );
        assert!(!folder.path().join("runs").exists(), "a refused run creates no files");
    }
}

#[test]
fn files_that_are_not_a_configuration_are_refused() {
    let folder = folder();
    fs::write(folder.path().join("broken.toml"), "a = [1,\n").expect("a file");
    fs::write(folder.path().join("binary.toml"), b"\xff\xfe\x00").expect("a file");
    fs::create_dir(folder.path().join("folder.toml")).expect("a folder");
    assert_refused(
        &outflank(folder.path(), &["config", "broken.toml"]),
        &["broken.toml:", "not TOML"],
    );
    assert_refused(&outflank(folder.path(), &["config", "binary.toml"]), &["binary.toml", "UTF-8"]);
    assert_refused(&outflank(folder.path(), &["config", "folder.toml"]), &["folder.toml"]);
    assert_refused(&outflank(folder.path(), &["config", "none.toml"]), &["cannot read none.toml"]);
    assert_refused(&outflank(folder.path(), &["config"]), &["<CONFIG>"]);
}

#[test]
fn the_explained_configuration_and_the_reference_are_printed() {
    let folder = folder();
    fs::write(folder.path().join("empty.toml"), "").expect("a file");
    let explained = outflank(folder.path(), &["config", "empty.toml", "--explain"]);
    assert!(explained.status.success());
    fs::write(folder.path().join("explained.toml"), &explained.stdout).expect("a file");
    let plain = outflank(folder.path(), &["config", "empty.toml"]);
    let again = outflank(folder.path(), &["config", "explained.toml"]);
    assert_eq!(plain.stdout, again.stdout);
    let reference = outflank(folder.path(), &["config", "--reference"]);
    assert!(String::from_utf8_lossy(&reference.stdout).starts_with("# Configuration\n"));
}

#[test]
#[cfg(feature = "torch")]
fn run_directories_that_cannot_be_used_are_refused() {
    let folder = folder();
    let smoke = format!("{CONFIGS}/smoke.toml");
    fs::write(folder.path().join("file"), "").expect("a file");
    fs::create_dir(folder.path().join("thesis")).expect("a folder");
    fs::write(folder.path().join("thesis/chapter.tex"), "").expect("a file");
    let train = |args: &[&str]| outflank(folder.path(), &[&["train"], args].concat());
    assert_refused(&train(&[&smoke, "--run-dir", "file/run"]), &["file/run"]);
    assert_refused(&train(&[&smoke, "--run-dir", "thesis"]), &["thesis", "holds `chapter.tex`"]);
    assert_refused(&train(&["--resume", "--run-dir", "thesis"]), &["thesis holds no run"]);
    assert_refused(&train(&["--resume", "--run-dir", "nowhere"]), &["nowhere holds no run"]);
    assert_refused(&train(&[&smoke, "--resume"]), &["no run"]);
    assert_refused(&train(&["--resume"]), &["--run-dir"]);
    assert!(!folder.path().join("runs").exists());
}

#[test]
fn runs_are_listed_with_their_state() {
    let folder = folder();
    let empty = outflank(folder.path(), &["runs"]);
    assert!(empty.status.success() && empty.stdout.is_empty());
    assert_refused(&outflank(folder.path(), &["runs", "nowhere"]), &["nowhere"]);

    let runs = folder.path().join("runs");
    for (name, state) in [("one", "running"), ("two", "stopped"), ("three", "finished")] {
        let dir = runs.join(name);
        fs::create_dir_all(&dir).expect("a folder");
        let manifest = serde_json::json!({
            "version": 1, "program": "0.1.0", "seed": 7, "created": 1000, "updated": 2000,
            "starts": 2, "state": state, "summary": {
                "games": 12, "positions": 600, "steps": 34, "minutes": 61.5, "best_rating": 812.4,
            },
        });
        fs::write(dir.join("run.json"), manifest.to_string()).expect("a file");
        fs::write(dir.join("run.lock"), "1\n").expect("a file");
    }
    fs::create_dir(runs.join("four")).expect("a folder");
    fs::write(runs.join("four/run.json"), "{\"version\": 1").expect("a file");

    let output = outflank(folder.path(), &["runs", "--json"]);
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let lines: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let state = |name: &str| {
        let path = format!("runs/{name}");
        let line = lines.iter().find(|line| line["run"] == path).expect("a run");
        line["state"].as_str().expect("a state").to_string()
    };
    // Run `one` has the state "running", but no process holds its lock.
    assert_eq!(
        ["one", "two", "three", "four"].map(state),
        ["killed", "stopped", "finished", "unreadable"]
    );
    let two = lines.iter().find(|line| line["run"] == "runs/two").expect("a run");
    assert_eq!((&two["version"], &two["games"]), (&1.into(), &12.into()));
    assert_eq!((&two["steps"], &two["best_rating"]), (&34.into(), &812.4.into()));

    let table = outflank(folder.path(), &["runs"]);
    let table = String::from_utf8(table.stdout).expect("UTF-8");
    for part in ["killed (can be resumed)", "1 h 01 min", "812", "unreadable: runs/four/run.json"] {
        assert!(table.contains(part), "no `{part}` in\n{table}");
    }
}

/// A limit on the size of files simulates a full disk: a write fails in the middle.
#[cfg(all(unix, feature = "torch"))]
#[test]
fn a_full_disk_ends_the_run_and_loses_no_stored_game() {
    use outflank::store::games;

    let folder = folder();
    let script = format!(
        "trap '' XFSZ; ulimit -f 24; exec '{}' train '{CONFIGS}/smoke.toml' --run-dir run --quiet \
         --set limits.games=2000 --set replay.min_positions=100000 --set replay.max_positions=100000",
        env!("CARGO_BIN_EXE_outflank")
    );
    let output = Command::new("sh")
        .args(["-c", &script])
        .current_dir(folder.path())
        .output()
        .expect("a shell");
    assert_refused(&output, &["cannot write", "run/games/games-000001.ofg"]);
    let dir = folder.path().join("run/games");
    let before = games::totals(&dir).expect("a folder of games");
    assert!(before.games > 0 && before.skipped == 0, "{before:?}");

    // Once there is space again, the run continues.
    let more = format!("limits.games={}", before.games + 20);
    let resumed = outflank(
        folder.path(),
        &["train", "--resume", "--run-dir", "run", "--quiet", "--set", &more],
    );
    assert!(resumed.status.success(), "{}", String::from_utf8_lossy(&resumed.stderr));
    let after = games::totals(&dir).expect("a folder of games");
    assert!(after.games >= before.games + 20 && after.skipped == 0, "{before:?} {after:?}");
}

#[test]
#[cfg(feature = "torch")]
fn an_opponent_that_cannot_play_is_refused_before_the_run() {
    let folder = folder();
    let smoke = format!("{CONFIGS}/smoke.toml");
    let probcut =
        r#"evaluation.opponents=["random", "alphabeta:depth=6,eval=positional,probcut=1.5"]"#;
    for command in ["config", "train"] {
        let output = outflank(folder.path(), &[command, &smoke, "--set", probcut]);
        assert_refused(&output, &["probcut=1.5\" contradicts board = \"6x6\"", "leave it out"]);
    }
    let reversed = ["config", &smoke, "--set", "board=8x8", "--set", "goal=fewest"];
    let output = outflank(folder.path(), &[&reversed[..], &["--set", probcut]].concat());
    assert_refused(&output, &["contradicts goal = \"fewest\""]);
    for opponent in ["net:missing", "external:protocol=gtp,command=missing"] {
        let set = format!(r#"evaluation.opponents=["{opponent}"]"#);
        let output = outflank(folder.path(), &["train", &smoke, "--set", &set]);
        assert_refused(&output, &[&format!("evaluation.opponents: `{opponent}`"), "missing"]);
    }
    assert!(fs::read_dir(folder.path()).expect("a folder").next().is_none());
}
