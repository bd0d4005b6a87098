//! Ratings during a run: each rated net is kept, the last net is always rated, and each net has its
//! own name.

use std::collections::HashSet;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use outflank::arena::ladder::Ladder;
use outflank::players::contestant::Origin;
use outflank::players::models::LoadedModel;
use outflank::store::checkpoint;

use crate::common::{CONFIG, count, edit_json, manifest, succeeds, train};

/// Evaluations as often as possible, with one game per colour.
const EVALUATION: &str = r#"
[checkpoint]
every_minutes = 0.0001
keep_last = 3
keep_every_minutes = 0
[evaluation]
every_minutes = 0.0001
games = 2
simulations = 4
opponents = ["random", "greedy"]
earlier_nets = 1
"#;

fn config(folder: &Path) -> String {
    let path = folder.join("rated.toml");
    let own = CONFIG.split("[evaluation]").next().expect("the rest");
    fs::write(&path, format!("{own}{EVALUATION}")).expect("a file");
    path.to_str().expect("a path").to_owned()
}

/// The nets in a run's ladder with their names, sorted by step.
fn nets(run: &Path) -> Vec<(String, Origin)> {
    let ladder = Ladder::open_read_only(&run.join("ladder.jsonl")).expect("a ladder");
    let players = ladder.players.into_values();
    let mut nets: Vec<_> = players.filter_map(|line| Some((line.name, line.origin?))).collect();
    nets.sort_by_key(|(name, origin)| (origin.step, name.clone()));
    nets
}

#[test]
fn the_last_net_is_rated_and_rated_nets_are_kept() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = folder.path().join("run");
    let limits = ["--set", "limits.positions=0", "--set", "limits.steps=40"];
    let output = train(&run, &[&[&*config(folder.path())], &limits[..]].concat());
    succeeds(&output);
    let (rating, error) = (count(&run, "rating"), count(&run, "rating_error"));
    let stdout = String::from_utf8_lossy(&output.stdout);
    let wanted = format!(", rating {rating:.0} +- {:.0}\n", 1.96 * error);
    assert!(stdout.ends_with(&wanted), "{stdout} for {wanted}");
    let curves = fs::read_to_string(run.join("metrics.jsonl")).expect("curves");
    let lines = curves.lines().map(|line| serde_json::from_str(line).expect("JSON"));
    let mut rated = lines.filter(|line: &serde_json::Value| line["values"]["rating/net"].is_f64());
    let last = rated.next_back().expect("a rating");
    assert_eq!(last["values"]["rating/net"], rating);

    let nets = nets(&run);
    assert_eq!(nets.last().map(|(name, net)| (&**name, net.step)), Some(("run@40", 40)));
    assert!(nets.len() > 1, "{nets:?}");
    assert!(last["values"]["score/earlier_nets"].is_f64(), "{last}");
    let checkpoints = run.join("checkpoints");
    for (name, net) in &nets {
        let kept = LoadedModel::read(&checkpoint::path(&checkpoints, net.step)).expect("a net");
        assert_eq!(net.net.as_deref(), Some(kept.weights_checksum()), "{name}");
    }
    let all = checkpoint::list(&checkpoints).expect("checkpoints");
    let with_learner = all.iter().filter(|(_, path)| path.join("learner.safetensors").exists());
    assert_eq!(with_learner.count(), 3);
}

/// The run is resumed from an older checkpoint and trains another net of the same step.
#[test]
fn two_nets_of_the_same_step_have_different_names() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = folder.path().join("run");
    let limits = ["--set", "limits.positions=0", "--set", "limits.steps=40"];
    succeeds(&train(&run, &[&[&*config(folder.path())], &limits[..]].concat()));
    fs::remove_dir_all(run.join("checkpoints/step-00000040")).expect("a checkpoint");
    // With the same games and batches it could be the same net.
    succeeds(&train(&run, &["--resume", "--set", "learner.batch=32"]));
    assert_eq!(count(&run, "steps"), 40.0);
    let nets = nets(&run);
    let last: Vec<_> = nets.iter().filter(|(_, net)| net.step == 40).collect();
    assert_eq!(last.iter().map(|(name, _)| &**name).collect::<Vec<_>>(), ["run@40", "run@40/2"]);
    let different: HashSet<_> = nets.iter().map(|(_, net)| &net.net).collect();
    assert_eq!(different.len(), nets.len(), "{nets:?}");
}

/// The counters that must not grow after a limit is reached.
fn counts(run: &Path) -> [f64; 3] {
    ["games", "positions", "steps"].map(|key| count(run, key))
}

/// A kill after the last checkpoint: the run is not recorded as finished, but all games of its last
/// net are already in the ladder.
#[test]
fn a_resumed_finished_run_plays_no_rated_game_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = folder.path().join("run");
    succeeds(&train(&run, &[&config(folder.path()), "--set", "limits.steps=8"]));
    let ladder = |run: &Path| fs::read_to_string(run.join("ladder.jsonl")).expect("a ladder");
    let (before, rating, counted) = (ladder(&run), count(&run, "rating"), counts(&run));
    edit_json(&run.join("run.json"), |manifest| manifest["state"] = "running".into());
    let output = train(&run, &["--resume"]);
    succeeds(&output);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("the last net is being rated"), "{stderr}");
    assert_eq!(ladder(&run), before);
    assert!((count(&run, "rating") - rating).abs() < 1e-6, "{rating}");
    assert_eq!((counts(&run), &manifest(&run)["state"]), (counted, &"finished".into()));
}

/// Each resume only tries to rate the last net again.
#[test]
fn a_finished_run_that_cannot_be_rated_does_not_grow() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = folder.path().join("run");
    let config = config(folder.path());
    // The opponent exists when the run is checked, and not any more when a net is to be rated.
    let rival = folder.path().join("rival.safetensors");
    let shipped = concat!(env!("CARGO_MANIFEST_DIR"), "/checkpoints/6x6/net.safetensors");
    fs::copy(shipped, &rival).expect("a net");
    let opponents = format!("evaluation.opponents=[\"net:{}\"]", rival.display());
    let mut first = Command::new(env!("CARGO_BIN_EXE_outflank"));
    first.arg("train").arg(&config).args(["--set", "limits.steps=8", "--set", &opponents]);
    first.arg("--run-dir").arg(&run).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut first = first.spawn().expect("the program runs");
    let mut stderr = BufReader::new(first.stderr.take().expect("a pipe")).lines();
    let line = stderr.next().expect("a line").expect("text");
    assert!(line.starts_with("run directory"), "{line}");
    fs::remove_file(&rival).expect("a file");
    let rest: String = stderr.map_while(Result::ok).collect();
    assert!(first.wait().expect("it ends").success(), "{rest}");
    let counted = counts(&run);
    let output = train(&run, &["--resume"]);
    succeeds(&output);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("no more evaluations in this run"), "{stderr}");
    assert_eq!(counts(&run), counted);
    // Without opponents there is nothing to rate.
    let output = train(&run, &["--resume", "--set", "evaluation.opponents=[]"]);
    succeeds(&output);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("nothing was changed"), "{stderr}");
    assert_eq!((counts(&run), &manifest(&run)["starts"]), (counted, &2.into()));
}

#[test]
fn an_opponent_keeps_the_name_that_the_user_gave_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = folder.path().join("run");
    let opponents = "evaluation.opponents=[\"random:name=chance\"]";
    let config = config(folder.path());
    let first = [&*config, "--set", "limits.steps=8", "--set", opponents];
    succeeds(&train(&run, &first));
    let ladder = Ladder::open_read_only(&run.join("ladder.jsonl")).expect("a ladder");
    assert_eq!((ladder.label("random"), ladder.origin("random")), (Some("chance"), None));
}

/// The rating would take hours. An interrupt ends it, but the run still counts as finished.
#[cfg(unix)]
#[test]
fn an_interrupt_ends_only_the_last_rating() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = folder.path().join("run");
    let mut command = Command::new(env!("CARGO_BIN_EXE_outflank"));
    command.args(["train", "--quiet", &config(folder.path()), "--run-dir"]).arg(&run);
    for key in ["evaluation.every_minutes=9", "evaluation.games=100_000", "limits.steps=8"] {
        command.args(["--set", key]);
    }
    let mut child = command.stdout(Stdio::piped()).spawn().expect("the program");
    let start = Instant::now();
    let ladder = || fs::read_to_string(run.join("ladder.jsonl")).unwrap_or_default();
    while !ladder().contains("\"kind\":\"game\"") {
        assert!(start.elapsed() < Duration::from_secs(120), "no game in two minutes");
        std::thread::sleep(Duration::from_millis(20));
    }
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(sent.expect("kill").success());
    while child.try_wait().expect("a child").is_none() {
        assert!(start.elapsed() < Duration::from_secs(240), "it has not ended in two minutes");
        std::thread::sleep(Duration::from_millis(20));
    }
    let output = child.wait_with_output().expect("its output");
    assert_eq!(output.status.code(), Some(0));
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(stdout.starts_with("finished: ") && !stdout.contains("rating"), "{stdout}");
    assert_eq!(manifest(&run)["state"], "finished");
    let counted = counts(&run);
    succeeds(&train(&run, &["--resume", "--set", "evaluation.games=2"]));
    assert!(manifest(&run)["summary"]["rating"].is_f64(), "{}", manifest(&run));
    assert_eq!(counts(&run), counted);
}
