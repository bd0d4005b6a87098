//! Matches against external engines with errors of all kinds, run as programs: the match continues,
//! one interrupt ends it, and no process of an engine is left.

#![cfg(target_os = "linux")]

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A variable in the environment of the program under test, which all of its children inherit.
const CASE: &str = "OUTFLANK_TEST_CASE";

/// An engine of a few lines of shell. It creates the file `ready` just before its error.
struct Engine {
    name: &'static str,
    script: String,
    /// A part of the reason of at least one of its forfeits.
    reason: &'static str,
}

/// A script that runs `begin`, then serves the NBoard protocol and runs `on_go` instead of a move.
fn serving(begin: &str, on_go: &str) -> String {
    format!(
        "{begin}\nwhile read -r word rest; do case \"$word\" in\n ping) echo \"pong $rest\";;\n \
         go) {on_go};;\n quit) exit 0;;\nesac; done\n"
    )
}

fn engines() -> [Engine; 10] {
    let engine = |name, script: String, reason| Engine { name, script, reason };
    let no_answer = "no answer within 2 s";
    [
        engine("hangs", ": > ready; exec sleep 1000".into(), no_answer),
        engine(
            "fills its own input",
            // The move is legal for black at the start. Later input finds a full pipe.
            serving(
                "",
                "yes > /proc/$$/fd/0 & sleep 0.3; echo '=== F5'; : > ready; exec sleep 1000",
            ),
            no_answer,
        ),
        engine("dies", serving("", ": > ready; exit 3"), "exit status: 3"),
        engine("floods", serving("", ": > ready; yes status nonsense"), "over 1048576 bytes"),
        engine(
            "forks",
            serving("for i in 1 2 3 4 5; do sleep 1000 & done; : > ready", "sleep 1000"),
            no_answer,
        ),
        engine(
            "starts others in sessions of their own",
            serving("setsid sleep 1000 & (setsid sleep 1000 &); : > ready", "exit 0"),
            no_answer,
        ),
        engine(
            "ignores signals",
            "trap '' TERM INT HUP; : > ready; while :; do sleep 1; done".into(),
            no_answer,
        ),
        engine(
            "closes its input",
            serving("", "exec 0<&-; echo '=== F5'; : > ready; exec sleep 1000"),
            "its input",
        ),
        engine("closes its output", "exec 1>&-; : > ready; exec sleep 1000".into(), "its output"),
        engine("answers late", serving("", ": > ready; sleep 5; echo '=== F5'"), no_answer),
    ]
}

/// A match between an engine in `folder` and a random player.
fn arena(folder: &Path, engine: &Engine, timeout: &str, games: &str) -> Command {
    fs::write(folder.join("engine.sh"), &engine.script).expect("a file");
    let player = format!("external:protocol=nboard,command=\"sh engine.sh\",timeout={timeout}");
    let mut command = Command::new(env!("CARGO_BIN_EXE_outflank"));
    command.args(["arena", &player, "random", "--games", games, "--threads", "1"]);
    command.args(["--openings", "start", "--ladder", "ladder.jsonl"]).current_dir(folder);
    command.env(CASE, folder).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// The processes of the program that was started with this [`CASE`], and of its children.
fn running(case: &Path) -> Vec<String> {
    let mark = format!("{CASE}={}", case.display()).into_bytes();
    let marked = |path: &Path| {
        let environment = fs::read(path.join("environ")).unwrap_or_default();
        environment.split(|&byte| byte == 0).any(|entry| entry == mark)
    };
    let processes = fs::read_dir("/proc").expect("a folder").flatten().map(|entry| entry.path());
    let command = |path: std::path::PathBuf| fs::read_to_string(path.join("cmdline")).ok();
    processes.filter(|path| marked(path)).filter_map(command).collect()
}

/// Fails if a process of a case still runs. Killed processes may take a moment to disappear.
fn assert_nothing_runs(case: &Path, name: &str) {
    let start = Instant::now();
    while !running(case).is_empty() {
        assert!(start.elapsed().as_secs() < 10, "an engine that {name} left {:?}", running(case));
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// The exit code of a process, which must end by itself within a minute.
fn ends(child: &mut Child, name: &str) -> Option<i32> {
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(60) {
        if let Some(status) = child.try_wait().expect("a child") {
            return status.code();
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    child.kill().expect("a child");
    panic!("an engine that {name}: the program has not ended in a minute");
}

fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill").args([name, &child.id().to_string()]).status();
    assert!(sent.expect("kill").success());
}

/// Waits for at most half a minute.
fn wait_until(what: &str, holds: impl Fn() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed().as_secs() < 30, "not in half a minute: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Plays against all engines at the same time.
fn with_each(test: impl Fn(&Path, &Engine) + Sync) {
    let engines = engines();
    std::thread::scope(|scope| {
        for engine in &engines {
            let test = &test;
            scope.spawn(move || test(tempfile::tempdir().expect("a folder").path(), engine));
        }
    });
}

#[test]
fn a_match_against_a_faulty_engine_ends_by_itself() {
    with_each(|folder, engine| {
        let mut child = arena(folder, engine, "2s", "2").spawn().expect("the program");
        assert_eq!(ends(&mut child, engine.name), Some(0), "an engine that {}", engine.name);
        let ladder = fs::read_to_string(folder.join("ladder.jsonl")).expect("a ladder");
        let forfeits: Vec<_> = ladder.lines().filter(|line| line.contains("forfeit")).collect();
        assert_eq!(forfeits.len(), 2, "an engine that {}: {ladder}", engine.name);
        let named = forfeits.iter().any(|forfeit| forfeit.contains(engine.reason));
        assert!(named, "an engine that {}: {forfeits:?}", engine.name);
        assert_nothing_runs(folder, engine.name);
    });
}

#[test]
fn one_interrupt_ends_a_match_against_a_faulty_engine() {
    with_each(|folder, engine| {
        // Longer than this test waits.
        let mut child = arena(folder, engine, "10m", "100000").spawn().expect("the program");
        wait_until(engine.name, || folder.join("ready").exists());
        // By then the match waits for the engine.
        std::thread::sleep(Duration::from_millis(300));
        signal(&child, "-INT");
        assert_eq!(ends(&mut child, engine.name), Some(130), "an engine that {}", engine.name);
        assert_nothing_runs(folder, engine.name);
        // An engine that was killed by the interrupt does not forfeit.
        let ladder = fs::read_to_string(folder.join("ladder.jsonl")).expect("a ladder");
        assert!(!ladder.contains("signal: 9"), "an engine that {}: {ladder}", engine.name);
    });
}

#[test]
fn a_program_that_serves_an_engine_ends_it_too() {
    for (command, question, signal_name, code) in
        [("gtp", "genmove b\n", "-TERM", 143), ("play", "f5\n", "-INT", 130)]
    {
        let folder = tempfile::tempdir().expect("a folder");
        let mut server = Command::new(env!("CARGO_BIN_EXE_outflank"));
        server.args([command, "external:protocol=gtp,command=\"sleep 1000\""]);
        server.env(CASE, folder.path()).stdin(Stdio::piped()).stdout(Stdio::null());
        let mut server = server.stderr(Stdio::null()).spawn().expect("the program");
        let mut stdin = server.stdin.take().expect("a pipe");
        stdin.write_all(question.as_bytes()).expect("it listens");
        wait_until(command, || running(folder.path()).iter().any(|line| line.starts_with("sleep")));
        signal(&server, signal_name);
        assert_eq!(ends(&mut server, "hangs"), Some(code), "{command}");
        assert_nothing_runs(folder.path(), "hangs");
    }
}

#[cfg(feature = "torch")]
const TRAINING: &str = r#"
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
[evaluation]
every_minutes = 0.001
games = 2
opponents = ["random", "external:protocol=gtp,command=\"sleep 1000\",timeout=10m"]
"#;

#[cfg(feature = "torch")]
#[test]
fn one_interrupt_ends_a_run_whose_opponent_hangs() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("run.toml"), TRAINING).expect("a file");
    let mut run = Command::new(env!("CARGO_BIN_EXE_outflank"));
    run.args(["train", "run.toml", "--run-dir", "run"]).current_dir(folder.path());
    run.env(CASE, folder.path()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut run = run.spawn().expect("the program");
    wait_until("an evaluation", || {
        running(folder.path()).iter().any(|line| line.starts_with("sleep"))
    });
    signal(&run, "-INT");
    assert_eq!(ends(&mut run, "hangs"), Some(0));
    assert_nothing_runs(folder.path(), "hangs");
}
