//! Run directories that are damaged, edited, moved or removed, during a run or before a resume.

use std::fs::{self, OpenOptions};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use outflank::model::weights::{Metadata, Weights};
use outflank::store::model_file::ModelFile;

use crate::common::{CONFIG, FinishedRun, count, edit_json, manifest, refused, succeeds, train};

fn stderr_of(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// All files below a folder with their content.
fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        match path.is_dir() {
            true => found.extend(files(&path)),
            // It has the number of the last process that locked it.
            false if path.ends_with("run.lock") => {}
            false => found.push((path.clone(), fs::read(&path).expect("a file"))),
        }
    }
    found.sort();
    found
}

fn first_segment(run: &Path) -> PathBuf {
    run.join("games/games-000001.ofg")
}

/// A run without limits, in a process of its own.
struct Running {
    folder: tempfile::TempDir,
    path: PathBuf,
    child: Child,
}

impl Running {
    fn new(checkpoint_minutes: &str) -> Running {
        let folder = tempfile::tempdir().expect("a folder");
        let (config, path) = (folder.path().join("small.toml"), folder.path().join("run"));
        fs::write(&config, CONFIG).expect("a file");
        let every = format!("checkpoint.every_minutes={checkpoint_minutes}");
        let mut command = Command::new(env!("CARGO_BIN_EXE_outflank"));
        command.arg("train").arg(&config).args(["--quiet", "--run-dir"]).arg(&path);
        command.args(["--set", "limits.positions=0", "--set", "limits.minutes=0", "--set", &every]);
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        let child = command.spawn().expect("the program");
        let mut running = Running { folder, path, child };
        running.wait_until(|run| {
            fs::metadata(first_segment(&run.path)).is_ok_and(|data| data.len() > 1_000)
        });
        running
    }

    fn wait_until(&mut self, is_so: impl Fn(&Running) -> bool) {
        let start = Instant::now();
        while !is_so(self) {
            assert!(start.elapsed() < Duration::from_secs(120), "not within two minutes");
            assert!(self.child.try_wait().expect("a child").is_none(), "it ended by itself");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// The exit status and the messages of the run, which must end by itself within two minutes.
    fn ends(&mut self) -> Output {
        let start = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("a child") {
                break status;
            }
            assert!(start.elapsed() < Duration::from_secs(120), "it has not ended in two minutes");
            std::thread::sleep(Duration::from_millis(5));
        };
        let mut stderr = Vec::new();
        let pipe = self.child.stderr.as_mut().expect("a pipe");
        pipe.read_to_end(&mut stderr).expect("its messages");
        Output { status, stdout: Vec::new(), stderr }
    }
}

/// Ends the run, also if a test fails.
impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn state_in_list(run: &Path) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_outflank"));
    let output = command.args(["runs", "--json"]).arg(run).output().expect("the program");
    succeeds(&output);
    let line: serde_json::Value = serde_json::from_slice(&output.stdout).expect("a line");
    line["state"].as_str().expect("a state").to_owned()
}

#[cfg(unix)]
#[test]
fn a_run_whose_files_are_removed_ends_with_an_error() {
    type Fault = fn(&Path);
    let cases: [(Fault, &str, &str); 6] = [
        (|run| fs::remove_dir_all(run).expect("a folder"), "run.lock", ""),
        (|run| fs::rename(run, run.with_file_name("moved")).expect("a folder"), "run.lock", ""),
        (|run| fs::remove_file(run.join("run.lock")).expect("a file"), "run.lock", "killed"),
        (|run| fs::remove_dir_all(run.join("games")).expect("a folder"), "games-000001", "failed"),
        (|run| fs::remove_file(first_segment(run)).expect("a file"), "games-000001", "failed"),
        (
            |run| {
                let segment = OpenOptions::new().write(true).open(first_segment(run));
                segment.and_then(|file| file.set_len(100)).expect("a file");
            },
            "games-000001.ofg was shortened",
            "failed",
        ),
    ];
    for (fault, expected, state) in cases {
        let mut run = Running::new("0.005");
        let path = run.path.clone();
        fault(&path);
        let output = run.ends();
        refused(&output, expected);
        assert!(!stderr_of(&output).contains("WARN"), "one error: {}", stderr_of(&output));
        if state.is_empty() {
            // No new directory is created, and a moved run can be resumed.
            assert!(!path.exists(), "{expected}");
            let moved = run.folder.path().join("moved");
            if moved.exists() {
                assert_eq!(state_in_list(&moved), "killed");
                let more = format!("limits.positions={}", count(&moved, "positions") + 1_000.0);
                succeeds(&train(&moved, &["--resume", "--set", &more]));
            }
        } else {
            assert_eq!(state_in_list(&path), state);
        }
    }
}

#[cfg(unix)]
#[test]
fn without_its_lock_file_a_run_still_excludes_a_second_process() {
    let mut run = Running::new("10");
    let path = run.path.clone();
    fs::remove_file(path.join("run.lock")).expect("a file");
    refused(&train(&path, &["--resume"]), "is in use by another process");
    assert_eq!(state_in_list(&path), "running");
    let sent = Command::new("kill").args(["-INT", &run.child.id().to_string()]).status();
    assert!(sent.expect("kill").success());
    refused(&run.ends(), "run.lock is gone or is another file");
}

#[test]
fn missing_games_are_detected_and_nothing_is_changed() {
    let run = FinishedRun::small();
    let segment = first_segment(&run.path);
    let games = count(&run.path, "games");
    let whole = fs::read(&segment).expect("a file");
    fs::write(&segment, &whole[..whole.len() / 2]).expect("a file");
    let before = files(&run.path);
    let output = run.resume_for(300.0, &[]);
    refused(&output, &format!("games are left of {games}"));
    assert!(files(&run.path) == before, "a refusal changes nothing");

    // The command in the message starts a new run with the remaining games.
    let message = stderr_of(&output);
    let command = message.split_once("outflank train ").expect("a command").1;
    let other = run.folder.path().join("other");
    let limits = ["--set", "limits.positions=0", "--set", "limits.steps=1"];
    let arguments: Vec<&str> = command.split_whitespace().chain(limits).collect();
    succeeds(&train(&other, &arguments));
    assert!(count(&other, "games") > 0.0);

    fs::remove_file(&segment).expect("a file");
    refused(&run.resume_for(300.0, &[]), &format!("0 games are left of {games}"));
    fs::remove_dir_all(run.path.join("games")).expect("a folder");
    refused(&run.resume_for(300.0, &[]), &format!("0 games are left of {games}"));

    // With all games back, the run continues.
    fs::create_dir(run.path.join("games")).expect("a folder");
    fs::write(&segment, &whole).expect("a file");
    succeeds(&run.resume_for(300.0, &[]));
}

#[test]
fn a_run_without_its_checkpoints_is_not_restarted() {
    let run = FinishedRun::small();
    assert!(run.steps() > 0.0);
    fs::remove_dir_all(run.path.join("checkpoints")).expect("a folder");
    refused(&run.resume_for(300.0, &[]), "holds no checkpoint, but the run has trained for");
}

#[test]
fn foreign_bytes_after_the_games_are_saved() {
    let run = FinishedRun::small();
    let foreign = vec![b'x'; 3_000_000];
    let mut segment = OpenOptions::new().append(true).open(first_segment(&run.path)).expect("it");
    segment.write_all(&foreign).expect("a file");
    drop(segment);
    let output = run.resume_for(300.0, &[]);
    succeeds(&output);
    assert!(
        stderr_of(&output).contains("3000000 bytes that are not a game; moved to"),
        "{}",
        stderr_of(&output)
    );
    let found = files(&run.path.join("games"));
    assert!(found.iter().any(|(_, content)| *content == foreign), "saved to a file");
}

#[test]
fn an_altered_value_is_refused_and_named() {
    let run = FinishedRun::small();
    let state = run.newest_checkpoint().join("state.json");
    let alter = |path: &Path, from: &str, to: &str| {
        let text = fs::read_to_string(path).expect("a file");
        let altered = text.replacen(from, to, 1);
        assert_ne!(altered, text);
        fs::write(path, altered).expect("a file");
        text
    };
    for (path, from, to, expected) in [
        (&state, "\"seconds\": ", "\"seconds\": 1", "state.json is damaged or was edited"),
        (&run.path.join("run.json"), "\"seed\": 1", "\"seed\": 2", "run.json is damaged"),
        (&run.path.join("config.toml"), "batch = 64", "batch = 65", "--set KEY=VALUE"),
    ] {
        let text = alter(path, from, to);
        refused(&run.resume_for(300.0, &[]), expected);
        fs::write(path, text).expect("a file");
    }
    alter(&run.path.join("run.json"), "\"steps\": ", "\"steps\": 1");
    assert_eq!(state_in_list(&run.path), "unreadable");
}

/// A configuration of a run without its first and its last line, which are about its checksum.
fn without_comments(text: &str) -> &str {
    let first = text.find('\n').expect("lines") + 1;
    let last = text.trim_end().rfind('\n').expect("lines");
    &text[first..=last]
}

#[test]
fn an_edited_configuration_can_be_replaced_or_kept() {
    let run = FinishedRun::small();
    let path = run.path.join("config.toml");
    let edited = run.text("config.toml").replace("batch = 64", "batch = 32");
    fs::write(&path, &edited).expect("a file");
    refused(&run.resume_for(300.0, &[]), "edited by hand");
    // A configuration file named in the command replaces it.
    let config = run.folder.path().join("small.toml");
    succeeds(&run.resume_for(300.0, &[config.to_str().expect("a path")]));
    assert!(run.text("config.toml").contains("batch = 64"));
    // A file that was cut at the end of a line has no checksum, but says that it should have one.
    let last = edited.trim_end().rfind('\n').expect("lines");
    fs::write(&path, &edited[..=last]).expect("a file");
    refused(&run.resume_for(300.0, &[]), "missing");
    // Without both comments, the edited file is read as it is.
    fs::write(&path, without_comments(&edited)).expect("a file");
    succeeds(&run.resume_for(300.0, &[]));
    assert!(run.text("config.toml").contains("batch = 32"));
}

/// A run directory as an older version without checksums wrote it.
#[test]
fn an_older_run_is_resumed_and_impossible_counters_are_named() {
    let run = FinishedRun::small();
    let state = run.newest_checkpoint().join("state.json");
    let text = run.text("config.toml");
    fs::write(run.path.join("config.toml"), without_comments(&text)).expect("a file");
    edit_json(&run.path.join("run.json"), |_| {});
    edit_json(&state, |_| {});
    let whole = fs::read(&state).expect("a file");
    type Fault = fn(&mut serde_json::Value);
    let faults: [(Fault, &str); 4] = [
        (|state| state["state"]["steps"] = u64::MAX.into(), "`steps` is 18446744073709551615"),
        (|state| state["state"]["games"] = u64::MAX.into(), "`games` is 18446744073709551615"),
        (|state| state["state"]["seconds"] = (-1.0).into(), "`seconds` is -1"),
        (|state| state["step"] = 0.into(), "`step` is 0"),
    ];
    for (fault, expected) in faults {
        edit_json(&state, fault);
        let output = run.resume_for(300.0, &[]);
        refused(&output, expected);
        assert!(
            stderr_of(&output).contains("state.json") && stderr_of(&output).contains("allowed: ")
        );
        fs::write(&state, &whole).expect("a file");
    }
    succeeds(&run.resume_for(300.0, &[]));
    assert!(manifest(&run.path)["crc32"].is_u64());
    assert!(run.text("config.toml").contains("# crc32"));
}

#[test]
fn a_finished_run_is_unchanged_and_the_message_says_how_to_continue() {
    let run = FinishedRun::small();
    let before = files(&run.path);
    let output = run.resume(&[]);
    succeeds(&output);
    let message = stderr_of(&output);
    assert!(message.contains("finished already: limits.positions = 1000 is reached"), "{message}");
    assert!(!message.contains("games/s"), "{message}");
    assert!(files(&run.path) == before, "nothing is changed");
    let advice = message.split_once("higher limit: outflank train ").expect("a command").1;
    assert!(
        advice.contains("--resume --run-dir") && advice.contains("--set limits.positions=2000")
    );
    let positions = count(&run.path, "positions");
    succeeds(&run.resume_for(300.0, &[]));
    assert!(count(&run.path, "positions") >= positions + 300.0);
}

#[test]
fn a_run_that_cannot_start_creates_no_directory() {
    let folder = tempfile::tempdir().expect("a folder");
    let (config, run) = (folder.path().join("small.toml"), folder.path().join("run"));
    fs::write(&config, CONFIG).expect("a file");
    let config = config.to_str().expect("a path");
    refused(&train(&run, &[config, "--set", "device=cuda:97"]), "cuda:97");
    assert!(!run.exists());
}

/// The arrays of a file with the first number of the last array replaced, and that array's name.
fn with_number(bytes: &[u8], number: f32) -> (String, Vec<u8>) {
    let (weights, _) = Weights::from_bytes(bytes).expect("arrays");
    let mut changed = Weights::default();
    let name = weights.iter().last().expect("an array").0.to_owned();
    for (other, array) in weights.iter() {
        let mut values = array.values.clone();
        if other == name {
            values[0] = number;
        }
        changed.insert(other, array.shape.clone(), values);
    }
    (name, changed.to_bytes(&Metadata::new()))
}

#[test]
fn a_net_that_is_not_finite_is_refused_by_all_commands() {
    let run = FinishedRun::small();
    let config = run.folder.path().join("small.toml");
    let checkpoint = run.newest_checkpoint();
    let good = ModelFile::read(&checkpoint.join("net.safetensors")).expect("a net");
    for number in [f32::NAN, f32::INFINITY] {
        let (name, bytes) = with_number(good.bytes(), number);
        let net = run.folder.path().join("net.safetensors");
        ModelFile::seal(good.description(), &bytes).expect("a net").write(&net).expect("a file");
        let net = net.to_str().expect("a path");
        let expected = format!("array `{name}` holds {number} at index 0");
        let player = format!("net:{net}");
        for arguments in [
            &["eval", net, "--against", "random", "--games", "2"][..],
            &["arena", &player, "random", "--games", "2"],
        ] {
            let mut command = Command::new(env!("CARGO_BIN_EXE_outflank"));
            let output = command.args(arguments).current_dir(run.folder.path()).output();
            let output = output.expect("the program");
            refused(&output, &expected);
            let message = stderr_of(&output);
            assert!(
                message.contains("net.safetensors") && message.matches(&expected).count() == 1,
                "{message}"
            );
        }
        let other = run.folder.path().join("other");
        let output = train(&other, &[config.to_str().expect("a path"), "--net", net]);
        refused(&output, &expected);
        assert!(!other.exists());
    }

    // A resume refuses it, too: here in the learner's weights, with correct checksums.
    let file = checkpoint.join("learner.safetensors");
    let (name, bytes) = with_number(&fs::read(&file).expect("a file"), f32::NAN);
    fs::write(&file, &bytes).expect("a file");
    edit_json(&checkpoint.join("state.json"), |state| {
        let stamp = &mut state["files"]["learner.safetensors"];
        stamp["bytes"] = bytes.len().into();
        stamp["crc32"] = crc32fast::hash(&bytes).into();
    });
    let output = run.resume_for(300.0, &[]);
    refused(&output, &format!("array `{name}` holds NaN at index 0"));
    assert!(stderr_of(&output).contains(checkpoint.to_str().expect("a path")));
}
