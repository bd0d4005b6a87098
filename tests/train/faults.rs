//! Run directories that are damaged, edited, moved or removed, under a run or between two.

use std::fs::{self, OpenOptions};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use outflank::net::weights::{Metadata, Weights};
use outflank::store::net_file::NetFile;

use crate::common::{CONFIG, Ended, count, edit_json, manifest, refused, succeeds, train};

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Every file below a folder with its content.
fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        match path.is_dir() {
            true => found.extend(files(&path)),
            // It names the process that looked last.
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

/// A run without an end that saves several times a second.
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

    /// How it ends by itself within two minutes, and what it has said.
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

/// A test that fails leaves no run behind it.
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
fn a_run_whose_files_are_taken_away_ends_with_an_error() {
    type Harm = fn(&Path);
    let cases: [(Harm, &str, &str); 6] = [
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
    for (harm, expected, state) in cases {
        let mut run = Running::new("0.005");
        let path = run.path.clone();
        harm(&path);
        let output = run.ends();
        refused(&output, expected);
        assert!(!said(&output).contains("WARN"), "one error: {}", said(&output));
        if state.is_empty() {
            // Nothing is made anew where the run was, and what was moved can be gone on with.
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
fn without_its_lock_a_run_still_keeps_a_second_one_out() {
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
fn games_that_are_missing_are_noticed_and_nothing_is_changed() {
    let run = Ended::small();
    let segment = first_segment(&run.path);
    let games = count(&run.path, "games");
    let whole = fs::read(&segment).expect("a file");
    fs::write(&segment, &whole[..whole.len() / 2]).expect("a file");
    let before = files(&run.path);
    let output = run.resume_for(300.0, &[]);
    refused(&output, &format!("games are left of {games}"));
    assert!(files(&run.path) == before, "a refusal changes nothing");

    // What is left can be begun with, as the message says.
    let said = said(&output);
    let command = said.split_once("outflank train ").expect("a command").1;
    let other = run.folder.path().join("other");
    let limits = ["--set", "limits.positions=0", "--set", "limits.steps=1"];
    let arguments: Vec<&str> = command.split_whitespace().chain(limits).collect();
    succeeds(&train(&other, &arguments));
    assert!(count(&other, "games") > 0.0);

    fs::remove_file(&segment).expect("a file");
    refused(&run.resume_for(300.0, &[]), &format!("0 games are left of {games}"));
    fs::remove_dir_all(run.path.join("games")).expect("a folder");
    refused(&run.resume_for(300.0, &[]), &format!("0 games are left of {games}"));

    // With them the run goes on.
    fs::create_dir(run.path.join("games")).expect("a folder");
    fs::write(&segment, &whole).expect("a file");
    succeeds(&run.resume_for(300.0, &[]));
}

#[test]
fn a_run_that_has_lost_its_checkpoints_does_not_begin_anew() {
    let run = Ended::small();
    assert!(run.steps() > 0.0);
    fs::remove_dir_all(run.path.join("checkpoints")).expect("a folder");
    refused(&run.resume_for(300.0, &[]), "holds no checkpoint, but the run has learnt for");
}

#[test]
fn foreign_bytes_after_the_games_are_kept() {
    let run = Ended::small();
    let foreign = vec![b'x'; 3_000_000];
    let mut segment = OpenOptions::new().append(true).open(first_segment(&run.path)).expect("it");
    segment.write_all(&foreign).expect("a file");
    drop(segment);
    let output = run.resume_for(300.0, &[]);
    succeeds(&output);
    assert!(
        said(&output).contains("3000000 bytes that are no game; moved to"),
        "{}",
        said(&output)
    );
    let found = files(&run.path.join("games"));
    assert!(found.iter().any(|(_, content)| *content == foreign), "kept aside");
}

#[test]
fn an_altered_value_is_refused_and_named() {
    let run = Ended::small();
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

#[test]
fn an_edited_configuration_is_kept_or_replaced_as_the_message_says() {
    let run = Ended::small();
    let path = run.path.join("config.toml");
    let edited = run.text("config.toml").replace("batch = 64", "batch = 32");
    fs::write(&path, &edited).expect("a file");
    refused(&run.resume_for(300.0, &[]), "edited by hand");
    // Named by the user, a configuration takes its place.
    let config = run.folder.path().join("small.toml");
    succeeds(&run.resume_for(300.0, &[config.to_str().expect("a path")]));
    assert!(run.text("config.toml").contains("batch = 64"));
    // Without the comment it counts as it is.
    let last = edited.trim_end().rfind('\n').expect("lines");
    fs::write(&path, &edited[..=last]).expect("a file");
    succeeds(&run.resume_for(300.0, &[]));
    assert!(run.text("config.toml").contains("batch = 32"));
}

/// A run directory as a version without checksums left it.
#[test]
fn an_older_run_goes_on_and_impossible_counters_of_one_are_named() {
    let run = Ended::small();
    let state = run.newest_checkpoint().join("state.json");
    let text = run.text("config.toml");
    let last = text.trim_end().rfind('\n').expect("lines");
    fs::write(run.path.join("config.toml"), &text[..=last]).expect("a file");
    edit_json(&run.path.join("run.json"), |_| {});
    edit_json(&state, |_| {});
    let whole = fs::read(&state).expect("a file");
    type Harm = fn(&mut serde_json::Value);
    let harms: [(Harm, &str); 4] = [
        (|state| state["state"]["steps"] = u64::MAX.into(), "`steps` is 18446744073709551615"),
        (|state| state["state"]["games"] = u64::MAX.into(), "`games` is 18446744073709551615"),
        (|state| state["state"]["seconds"] = (-1.0).into(), "`seconds` is -1"),
        (|state| state["step"] = 0.into(), "`step` is 0"),
    ];
    for (harm, expected) in harms {
        edit_json(&state, harm);
        let output = run.resume_for(300.0, &[]);
        refused(&output, expected);
        assert!(said(&output).contains("state.json") && said(&output).contains("allowed: "));
        fs::write(&state, &whole).expect("a file");
    }
    succeeds(&run.resume_for(300.0, &[]));
    assert!(manifest(&run.path)["crc32"].is_u64());
    assert!(run.text("config.toml").contains("# crc32"));
}

#[test]
fn a_finished_run_says_so_and_how_to_go_on() {
    let run = Ended::small();
    let before = files(&run.path);
    let output = run.resume(&[]);
    succeeds(&output);
    let said = said(&output);
    assert!(said.contains("finished already: limits.positions = 1000 is reached"), "{said}");
    assert!(!said.contains("games/s"), "{said}");
    assert!(files(&run.path) == before, "nothing is changed");
    let advice = said.split_once("higher limit: outflank train ").expect("a command").1;
    assert!(
        advice.contains("--resume --run-dir") && advice.contains("--set limits.positions=2000")
    );
    let positions = count(&run.path, "positions");
    succeeds(&run.resume_for(300.0, &[]));
    assert!(count(&run.path, "positions") >= positions + 300.0);
}

#[test]
fn what_cannot_start_leaves_no_run_behind() {
    let folder = tempfile::tempdir().expect("a folder");
    let (config, run) = (folder.path().join("small.toml"), folder.path().join("run"));
    fs::write(&config, CONFIG).expect("a file");
    let config = config.to_str().expect("a path");
    refused(&train(&run, &[config, "--set", "device=cuda:97"]), "cuda:97");
    assert!(!run.exists());
}

/// The arrays of a file with one number of one array replaced.
fn spoilt(bytes: &[u8], number: f32) -> (String, Vec<u8>) {
    let (weights, _) = Weights::from_bytes(bytes).expect("arrays");
    let mut spoilt = Weights::default();
    let name = weights.iter().last().expect("an array").0.to_owned();
    for (other, array) in weights.iter() {
        let mut values = array.values.clone();
        if other == name {
            values[0] = number;
        }
        spoilt.insert(other, array.shape.clone(), values);
    }
    (name, spoilt.to_bytes(&Metadata::new()))
}

#[test]
fn a_net_of_no_numbers_is_refused_at_every_door() {
    let run = Ended::small();
    let config = run.folder.path().join("small.toml");
    let checkpoint = run.newest_checkpoint();
    let sound = NetFile::read(&checkpoint.join("net.safetensors")).expect("a net");
    for number in [f32::NAN, f32::INFINITY] {
        let (name, bytes) = spoilt(sound.bytes(), number);
        let net = run.folder.path().join("net.safetensors");
        NetFile::seal(sound.spec(), &bytes).expect("a net").write(&net).expect("a file");
        let net = net.to_str().expect("a path");
        let expected = format!("array `{name}` holds {number} at place 0");
        let player = format!("net:{net}");
        for arguments in [
            &["eval", net, "--against", "random", "--games", "2"][..],
            &["arena", &player, "random", "--games", "2"],
        ] {
            let mut command = Command::new(env!("CARGO_BIN_EXE_outflank"));
            let output = command.args(arguments).current_dir(run.folder.path()).output();
            let output = output.expect("the program");
            refused(&output, &expected);
            let said = said(&output);
            assert!(
                said.contains("net.safetensors") && said.matches(&expected).count() == 1,
                "{said}"
            );
        }
        let other = run.folder.path().join("other");
        let output = train(&other, &[config.to_str().expect("a path"), "--net", net]);
        refused(&output, &expected);
        assert!(!other.exists());
    }

    // Nor is one gone on with: here the newest weights, with checksums that are right.
    let file = checkpoint.join("learner.safetensors");
    let (name, bytes) = spoilt(&fs::read(&file).expect("a file"), f32::NAN);
    fs::write(&file, &bytes).expect("a file");
    edit_json(&checkpoint.join("state.json"), |state| {
        let stamp = &mut state["files"]["learner.safetensors"];
        stamp["bytes"] = bytes.len().into();
        stamp["crc32"] = crc32fast::hash(&bytes).into();
    });
    let output = run.resume_for(300.0, &[]);
    refused(&output, &format!("array `{name}` holds NaN at place 0"));
    assert!(said(&output).contains(checkpoint.to_str().expect("a path")));
}
