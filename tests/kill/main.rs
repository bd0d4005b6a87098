//! Runs that are killed, interrupted and stopped: they lose nothing, continue, and end soon and with a
//! saved state.

mod faults;

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use outflank::model::weights::Weights;
use outflank::store::checkpoint;
use outflank::store::games;

const CONFIG: &str = r#"
board = "6x6"
seed = 5
[limits]
minutes = 0
[net]
blocks = 1
channels = 8
[search]
simulations = 8
solve_empties = 8
[selfplay]
games_per_actor = 16
[replay]
min_positions = 300
[learner]
batch = 64
steps_per_publish = 4
[checkpoint]
every_minutes = 0.005
[evaluation]
every_minutes = 0
"#;

fn outflank(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_outflank"));
    command.arg("train").args(args).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// Waits until the game files grow, so that the kill comes during training and not at the start.
fn wait_for_games(dir: &Path, child: &mut Child) {
    let bytes = || -> u64 {
        let entries = fs::read_dir(dir.join("games")).into_iter().flatten().flatten();
        entries.filter_map(|entry| entry.metadata().ok()).map(|data| data.len()).sum()
    };
    let (before, start) = (bytes(), Instant::now());
    while bytes() == before {
        assert!(start.elapsed() < Duration::from_secs(120), "no game in two minutes");
        assert!(child.try_wait().expect("a child").is_none(), "the run ended by itself");
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn manifest(dir: &Path) -> serde_json::Value {
    serde_json::from_slice(&fs::read(dir.join("run.json")).expect("a file")).expect("JSON")
}

/// The number of stored games.
fn stored(dir: &Path) -> usize {
    let games = games::read_all(&dir.join("games")).expect("a folder of games");
    games.inspect(|game| assert!(game.is_ok(), "{game:?}")).count()
}

#[test]
fn the_first_interrupt_saves_the_run_and_exits_with_0() {
    let folder = tempfile::tempdir().expect("a folder");
    let config = folder.path().join("stop.toml");
    fs::write(&config, CONFIG).expect("a file");
    let dir = folder.path().join("run");
    let (config, run) = (config.to_str().expect("a path"), dir.to_str().expect("a path"));
    let mut child = outflank(&[config, "--run-dir", run]).spawn().expect("the program");
    wait_for_games(&dir, &mut child);
    std::thread::sleep(Duration::from_millis(300));

    let second = outflank(&[config, "--run-dir", run, "--resume"]).status().expect("the program");
    assert_eq!(second.code(), Some(2), "two runs on one directory");

    signal(&child, "-INT");
    assert_eq!(ends(&mut child), Some(0));
    let manifest = manifest(&dir);
    assert_eq!(manifest["state"], "stopped");
    assert_eq!(manifest["summary"]["games"], stored(&dir));
}

/// The exit code of a process that must end by itself within two minutes.
fn ends(child: &mut Child) -> Option<i32> {
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(120) {
        if let Some(status) = child.try_wait().expect("a child") {
            return status.code();
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    child.kill().expect("a child");
    panic!("it has not ended in two minutes");
}

fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill").args([name, &child.id().to_string()]).status();
    assert!(sent.expect("kill").success());
}

fn state_of(dir: &Path) -> (String, u64) {
    let manifest = manifest(dir);
    let steps = manifest["summary"]["steps"].as_u64().expect("a number");
    (manifest["state"].as_str().expect("a word").to_owned(), steps)
}

#[test]
fn a_stop_does_not_wait_for_the_next_net() {
    let folder = tempfile::tempdir().expect("a folder");
    let config = folder.path().join("long.toml");
    // Enough steps for hours.
    let text = CONFIG.replace("steps_per_publish = 4", "steps_per_publish = 1000000");
    fs::write(&config, text).expect("a file");
    let dir = folder.path().join("run");
    let arguments = [config.to_str(), Some("--run-dir"), dir.to_str()].map(Option::unwrap);
    let mut child = outflank(&arguments).spawn().expect("the program");
    wait_for_games(&dir, &mut child);
    // By then it trains.
    std::thread::sleep(Duration::from_secs(5));
    signal(&child, "-INT");
    assert_eq!(ends(&mut child), Some(0));
    let (state, steps) = state_of(&dir);
    assert_eq!(state, "stopped");
    assert!((1..1_000_000).contains(&steps), "{steps} steps");
    let newest = checkpoint::list(&dir.join("checkpoints")).expect("a list").pop();
    assert_eq!(newest.map(|(step, _)| step), Some(steps));
}

#[test]
fn games_that_were_played_while_the_learner_failed_are_kept() {
    let folder = tempfile::tempdir().expect("a folder");
    let config = folder.path().join("diverges.toml");
    // The loss is read after a thousand steps; meanwhile the actor continues to play.
    let text =
        CONFIG.replace("steps_per_publish = 4", "steps_per_publish = 1000\nloss_limit = 1e-6");
    fs::write(&config, text).expect("a file");
    let dir = folder.path().join("run");
    let arguments = [config.to_str(), Some("--run-dir"), dir.to_str()].map(Option::unwrap);
    assert_eq!(ends(&mut outflank(&arguments).spawn().expect("the program")), Some(2));
    assert_eq!(state_of(&dir).0, "failed");
    // Training starts after about twenty games.
    assert!(stored(&dir) > 60, "{} games", stored(&dir));
}

#[test]
fn a_run_continues_after_its_standard_error_is_closed() {
    let folder = tempfile::tempdir().expect("a folder");
    let config = folder.path().join("alone.toml");
    fs::write(&config, CONFIG).expect("a file");
    let dir = folder.path().join("run");
    let arguments = [config.to_str(), Some("--run-dir"), dir.to_str()].map(Option::unwrap);
    let mut command = outflank(&arguments);
    command.args(["--set", "limits.steps=8"]).env("OUTFLANK_LOG", "trace");
    let mut child = command.stderr(Stdio::piped()).spawn().expect("the program");
    drop(child.stderr.take());
    assert_eq!(ends(&mut child), Some(0));
    assert_eq!(state_of(&dir), ("finished".into(), 8));
}

/// A program that `nohup` starts ignores the hangup signal.
#[cfg(target_os = "linux")]
#[test]
fn the_end_of_the_terminal_does_not_stop_a_run_under_nohup() {
    let folder = tempfile::tempdir().expect("a folder");
    let config = folder.path().join("nohup.toml");
    fs::write(&config, CONFIG).expect("a file");
    for (trap, limit, state) in
        [("trap '' HUP;", "limits.steps=400", "finished"), ("", "limits.steps=0", "stopped")]
    {
        let own = fs::read_to_string("/proc/self/status").expect("a status");
        let ignored = own.lines().find_map(|line| line.strip_prefix("SigIgn:")).expect("a set");
        if state == "stopped" && u64::from_str_radix(ignored.trim(), 16).expect("hex") & 1 == 1 {
            eprintln!("SKIPPED: a hangup without `nohup`: these tests run under it");
            continue;
        }
        let dir = folder.path().join(state);
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("{trap} exec \"$@\""), "sh", env!("CARGO_BIN_EXE_outflank")]);
        shell.args(["train", config.to_str().expect("a path"), "--run-dir"]).arg(&dir);
        shell.args(["--set", limit]).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = shell.spawn().expect("a shell");
        wait_for_games(&dir, &mut child);
        signal(&child, "-HUP");
        assert_eq!(ends(&mut child), Some(0));
        assert_eq!(state_of(&dir).0, state);
    }
}

/// The games and the net of a run of one actor with a fixed number of steps.
fn deterministic(folder: &Path, name: &str) -> (Vec<u8>, Weights) {
    let config = folder.join("same.toml");
    fs::write(&config, CONFIG).expect("a file");
    let dir = folder.join(name);
    let arguments =
        [config.to_str(), Some("--run-dir"), dir.to_str(), Some("--set"), Some("limits.steps=80")];
    let arguments: Vec<&str> = arguments.into_iter().flatten().collect();
    assert!(outflank(&arguments).status().expect("the program").success());
    let games = fs::read(dir.join("games/games-000001.ofg")).expect("a file");
    let (_, newest) =
        checkpoint::list(&dir.join("checkpoints")).expect("a list").pop().expect("one");
    let net = fs::read(newest.join("net.safetensors")).expect("a file");
    (games, Weights::from_bytes(&net).expect("a net").0)
}

#[test]
fn one_seed_and_one_actor_give_one_run() {
    let folder = tempfile::tempdir().expect("a folder");
    let (first_games, first_net) = deterministic(folder.path(), "first");
    let (second_games, second_net) = deterministic(folder.path(), "second");
    assert!(first_net == second_net, "the nets differ");
    // The actor may be stopped a few games later in one run than in the other.
    let common = first_games.len().min(second_games.len());
    assert!(common > 3_000, "{common} bytes of games");
    assert!(first_games[..common] == second_games[..common], "the games differ");
}
