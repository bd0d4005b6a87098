//! A run that is killed many times loses no stored game, counts no game twice, and continues to
//! train. A run that is stopped ends soon and with a saved state.

use std::collections::HashSet;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use outflank::model::weights::Weights;
use outflank::store::checkpoint;
use outflank::store::games;
use outflank::train::seeds::{Purpose, stream};
use rand::RngExt;

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

/// How often the run is killed.
const KILLS: usize = 20;

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

struct Stored {
    ids: HashSet<u64>,
    steps: u64,
}

fn stored(dir: &Path) -> Stored {
    let mut ids = HashSet::new();
    let mut damaged = 0;
    for record in games::read_all(&dir.join("games")).expect("a folder of games") {
        match record {
            Ok(record) => assert!(ids.insert(record.id), "game {} is stored twice", record.id),
            // The record that was being written at the kill.
            Err(_) => damaged += 1,
        }
    }
    assert!(damaged <= 1, "{damaged} damaged records");
    let newest = checkpoint::list(&dir.join("checkpoints")).expect("a folder").pop();
    Stored { ids, steps: newest.map_or(0, |(step, _)| step) }
}

#[test]
fn a_run_survives_being_killed() {
    let folder = tempfile::tempdir().expect("a folder");
    let config = folder.path().join("kill.toml");
    fs::write(&config, CONFIG).expect("a file");
    let dir = folder.path().join("run");
    let (config, run) = (config.to_str().expect("a path"), dir.to_str().expect("a path"));
    let mut random = stream(1, Purpose::Game, 0);

    let mut before = Stored { ids: HashSet::new(), steps: 0 };
    for kill in 0..KILLS {
        let mut arguments = vec![config, "--run-dir", run];
        if kill > 0 {
            arguments.push("--resume");
        }
        let mut child = outflank(&arguments).spawn().expect("the program");
        wait_for_games(&dir, &mut child);
        std::thread::sleep(Duration::from_millis(random.random_range(0..400)));
        child.kill().expect("a child");
        child.wait().expect("a child");
        let after = stored(&dir);
        assert!(after.ids.is_superset(&before.ids), "kill {kill} lost games");
        assert!(after.steps >= before.steps, "kill {kill} lost training steps");
        before = after;
    }
    assert!(before.steps > 0, "no checkpoint in {KILLS} starts");

    // Without a kill, the run continues to a higher limit.
    let more = format!("limits.games={}", before.ids.len() + 200);
    let arguments = [config, "--run-dir", run, "--resume", "--set", &more];
    assert!(outflank(&arguments).status().expect("the program").success());
    let after = stored(&dir);
    assert!(after.ids.is_superset(&before.ids));
    let manifest = manifest(&dir);
    assert_eq!(manifest["state"], "finished");
    assert_eq!(manifest["summary"]["games"], after.ids.len(), "each game counts once");
    assert!(manifest["summary"]["steps"].as_u64() > Some(before.steps));
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
    assert_eq!(manifest["summary"]["games"], stored(&dir).ids.len());
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

/// The lines on standard error that an interrupted run may leave there.
const DOCUMENTED: [&str; 5] = [
    "run directory: ",
    "curves: tensorboard ",
    "stopping; a second Ctrl-C ends at once",
    "evaluate its newest model with: ",
    "continue with: ",
];

/// The start of another such line, after a start that was killed while it wrote a game.
const INCOMPLETE_GAME: &str = " WARN removed an incomplete game of ";

/// The learner, the actor and libtorch's threads are all running when the process exits.
#[test]
fn a_second_interrupt_ends_a_run_at_once_and_silently() {
    let folder = tempfile::tempdir().expect("a folder");
    let config = folder.path().join("twice.toml");
    fs::write(&config, CONFIG).expect("a file");
    let dir = folder.path().join("run");
    let (config, run) = (config.to_str().expect("a path"), dir.to_str().expect("a path"));
    let mut random = stream(2, Purpose::Game, 0);
    let mut arguments = vec![config, "--run-dir", run, "--quiet"];
    let mut ended_at_once = 0;
    for round in 0..12 {
        let mut command = outflank(&arguments);
        let mut child = command.stderr(Stdio::piped()).spawn().expect("the program");
        wait_for_games(&dir, &mut child);
        std::thread::sleep(Duration::from_millis(random.random_range(0..300)));
        signal(&child, "-INT");
        std::thread::sleep(Duration::from_millis(random.random_range(0..12)));
        // It may already have ended after the first interrupt.
        let _ = Command::new("kill").args(["-TERM", &child.id().to_string()]).status();
        let code = ends(&mut child);
        let mut message = String::new();
        let stderr = child.stderr.as_mut().expect("a pipe");
        std::io::Read::read_to_string(stderr, &mut message).expect("text");
        assert!(matches!(code, Some(0 | 130)), "round {round}: {code:?}: {message}");
        for line in message.lines() {
            let documented = DOCUMENTED.iter().any(|start| line.starts_with(start));
            let is_incomplete_game = line.starts_with(INCOMPLETE_GAME);
            assert!(documented || is_incomplete_game, "round {round}: {line}");
        }
        ended_at_once += u32::from(code == Some(130));
        arguments = vec![config, "--run-dir", run, "--quiet", "--resume"];
    }
    assert!(ended_at_once > 0, "no second interrupt came in time");
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
    assert!(stored(&dir).ids.len() > 60, "{} games", stored(&dir).ids.len());
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
