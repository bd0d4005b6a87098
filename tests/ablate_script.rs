//! `scripts/ablate.sh` as a user runs it: two tiny rows, interrupted and continued.
#![cfg(unix)]

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

/// The configuration of a run that takes some seconds.
const CONFIG: &str = r#"
board = "6x6"
[net]
blocks = 1
channels = 8
[search]
simulations = 4
solve_empties = 6
[selfplay]
games_per_actor = 8
[replay]
min_positions = 100
[learner]
batch = 32
steps_per_publish = 4
"#;

fn script(folder: &Path, arguments: &[&str]) -> Command {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/ablate.sh");
    let mut command = Command::new(path);
    command.current_dir(folder).env("OUTFLANK", env!("CARGO_BIN_EXE_outflank"));
    command.args(["--base", "tiny.toml", "--out", "out", "--minutes", "0.04", "--games", "4"]);
    command.args(["--simulations", "2"]).args(arguments).stdin(Stdio::null());
    command
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("tiny.toml"), CONFIG).expect("a file");
    folder
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Waits until the `run.json` of a run has this `state`.
fn wait_for(run: &Path, state: &str, child: &mut Child) {
    let start = Instant::now();
    let is = || {
        let text = fs::read(run.join("run.json")).unwrap_or_default();
        serde_json::from_slice::<Value>(&text).is_ok_and(|found| found["state"] == state)
    };
    while !is() {
        assert!(start.elapsed() < Duration::from_secs(120), "{} never {state}", run.display());
        assert!(child.try_wait().expect("a child").is_none(), "the script ended by itself");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn an_interrupted_ablation_continues_where_it_stopped() {
    let folder = folder();
    let rows = ["--rows", "no-ema,no-owner-head"];
    let mut first = script(folder.path(), &rows);
    let mut child = first.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("bash runs");
    let run = |name: &str| folder.path().join("out/runs").join(name);
    wait_for(&run("no-ema-s1"), "running", &mut child);
    // SIGHUP, which a closed terminal sends, must have the effect of Ctrl-C. Under nohup this test
    // inherits an ignored SIGHUP: then SIGINT is sent instead. The mask's last digit holds SIGHUP
    // in its lowest bit.
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let can_hang_up =
        ignored.is_some_and(|mask| mask.trim().ends_with(['0', '2', '4', '6', '8', 'a', 'c', 'e']));
    let signal = if can_hang_up { "-HUP" } else { "-INT" };
    let interrupt = Command::new("kill").args([signal, &child.id().to_string()]).status();
    assert!(interrupt.expect("kill").success());
    assert_eq!(child.wait().expect("a child").code(), Some(130));
    let baseline = fs::read(run("baseline-s1").join("run.json")).expect("a run");
    assert!(!run("no-owner-head-s1").exists() && run("no-ema-s1").exists());

    let second = script(folder.path(), &rows).output().expect("bash runs");
    assert!(second.status.success(), "{}", stderr(&second));
    let unchanged = fs::read(run("baseline-s1").join("run.json")).expect("a run");
    assert!(baseline == unchanged, "a finished run was started again");
    let arm: Value = serde_json::from_slice(&fs::read(run("no-ema-s1").join("run.json")).unwrap())
        .expect("JSON");
    assert_eq!(arm["starts"], 2, "the interrupted run is resumed");

    let text = fs::read_to_string(folder.path().join("out/results.jsonl")).expect("results");
    let lines: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let of = |kind: &str| lines.iter().filter(|line| line["kind"] == kind).collect::<Vec<_>>();
    let matches = of("match");
    assert_eq!((matches.len(), of("mean").len()), (2, 2));
    for found in matches {
        assert_eq!((&found["games"], &found["seed"]), (&4.into(), &1.into()));
        for side in ["arm", "baseline"] {
            assert!(found[side]["games"].as_u64() > Some(0), "{found}");
            let minutes = found[side]["minutes"].as_f64().expect("minutes");
            assert!((0.04..0.5).contains(&minutes), "{minutes} minutes of 0.04");
        }
    }
    let table = String::from_utf8(second.stdout).expect("text");
    assert!(table.contains("| no-ema | `learner.ema=0.0` | 1 |"), "{table}");
    let svg = fs::read_to_string(folder.path().join("out/results.svg")).expect("a picture");
    assert!(svg.contains("no-owner-head") && svg.ends_with("</svg>\n"));

    // All tasks are done: none starts again.
    let third = script(folder.path(), &["--rows", "no-ema"]).output().expect("bash runs");
    assert!(third.status.success() && !stderr(&third).contains("starts"), "{}", stderr(&third));
    // A call for one row keeps the results of the other.
    let kept = fs::read_to_string(folder.path().join("out/results.jsonl")).expect("results");
    assert_eq!(kept, text);
    // Runs with other options are refused in the same folder.
    let longer = [&rows[..], &["--minutes", "0.05"]].concat();
    let other = script(folder.path(), &longer).output().expect("bash runs");
    assert_eq!(other.status.code(), Some(2));
    assert!(stderr(&other).contains("0.04, not 0.05"), "{}", stderr(&other));
}

/// Each row is trained at the same time as its own baseline. Then their match is played, before the
/// next row begins.
#[test]
fn a_paired_row_is_trained_at_the_same_time_as_its_baseline() {
    if std::thread::available_parallelism().is_ok_and(|cores| cores.get() < 2) {
        // Written to stderr directly: the test runner hides what passing tests print.
        let _ = writeln!(std::io::stderr(), "SKIPPED: a pair of runs: it needs two cores");
        return;
    }
    let folder = folder();
    let rows = ["--paired", "--rows", "no-ema,no-owner-head"];
    let output = script(folder.path(), &rows).output().expect("bash runs");
    assert!(output.status.success(), "{}", stderr(&output));
    let messages = stderr(&output);
    let cores = |line: &str| line.matches(',').count() + 1;
    let events: Vec<_> = messages
        .lines()
        .filter(|line| line.contains(": starts") || line.ends_with(": done"))
        .map(|line| match line.split_once(": starts on cores ") {
            Some((task, list)) => (task, Some(cores(list))),
            None => (line.trim_end_matches(": starts"), None),
        })
        .collect();
    for (turn, row) in ["no-ema", "no-owner-head"].iter().enumerate() {
        let [arm, baseline] =
            [format!("train {row} seed 1"), format!("train baseline-{row} seed 1")];
        let of_row = &events[6 * turn..6 * (turn + 1)];
        assert_eq!([of_row[0].0, of_row[1].0], [&arm[..], &baseline[..]], "{messages}");
        for task in [arm, baseline] {
            assert!(of_row[2..4].contains(&(&format!("{task}: done")[..], None)), "{messages}");
        }
        assert_eq!(of_row[4].0, format!("match {row} seed 1"), "{messages}");
        assert_eq!(of_row[5].0, format!("match {row} seed 1: done"), "{messages}");
        // On Linux each run has half of the cores, and their match has all of them.
        if let [Some(arm), Some(baseline), Some(both)] = [0, 1, 4].map(|place| of_row[place].1) {
            assert!(arm == baseline && both == arm + baseline, "{messages}");
        }
    }
    let text = fs::read_to_string(folder.path().join("out/results.jsonl")).expect("results");
    for line in text.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON")) {
        let minutes = |side: &str| line[side]["minutes"].as_f64().expect("minutes");
        assert!(line["kind"] == "mean" || minutes("baseline") >= 0.04, "{line}");
    }
    let shared = script(folder.path(), &rows[1..]).output().expect("bash runs");
    assert_eq!(shared.status.code(), Some(2));
    assert!(stderr(&shared).contains("holds runs with --paired;"), "{}", stderr(&shared));
}

#[test]
fn a_wrong_argument_is_refused_with_what_is_allowed() {
    let folder = folder();
    for (arguments, expected) in [
        (["--rows", "no-emu"], "rows: no-endgames, "),
        (["--minutes", "0"], "allowed: a number above 0"),
        (["--minutes", "soon"], "allowed: a number above 0"),
        (["--games", "1"], "allowed: a whole number, 2 to"),
        (["--seeds", "1,x"], "--seeds `x`"),
        (["--base", "nowhere.toml"], "there is no config `nowhere.toml`"),
        (["--set", "net.blocks=0"], "allowed: a whole number, 1 to 100"),
        (["--out", "a,b"], "without commas"),
        (["--row", "no-ema"], "unknown argument `--row`"),
        (["--jobs", ""], "--jobs ``: allowed: a whole number, 1 to"),
        (["--paired", "--jobs=2"], "--jobs is not allowed"),
    ] {
        let output = script(folder.path(), &arguments).output().expect("bash runs");
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(stderr(&output).contains(expected), "{}", stderr(&output));
    }
    let mut command = script(folder.path(), &[]);
    let output = command.env("OUTFLANK", "/nowhere/outflank").output().expect("bash runs");
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("cargo build --release"), "{}", stderr(&output));
    assert!(!folder.path().join("out").exists());
}

/// The program accepts the keys of each row with the default config of the baseline.
#[test]
fn every_row_is_a_valid_configuration() {
    let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts");
    let rows = fs::read_to_string(scripts.join("ablations.txt")).expect("the rows");
    let is_row = |row: &&str| !row.is_empty() && !row.starts_with('#');
    let rows: Vec<_> = rows.lines().filter(is_row).collect();
    assert!(rows.len() >= 20, "{} rows", rows.len());
    for row in rows {
        let mut command = Command::new(env!("CARGO_BIN_EXE_outflank"));
        command.args(["config", scripts.join("../configs/cpu.toml").to_str().expect("a path")]);
        for change in row.rsplit('|').next().expect("changes").split_whitespace() {
            command.args(["--set", change]);
        }
        let output = command.output().expect("the program starts");
        assert!(output.status.success(), "{row}: {}", stderr(&output));
    }
}
