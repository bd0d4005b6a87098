//! A run that is killed and interrupted at random times. After each fault the readers of the store
//! check all its files.
//!
//! The run is tiny. It writes a checkpoint and plays matches every second, and one of its opponents is
//! an external engine. A third of the kills happen while the program starts, a third while it writes a
//! checkpoint, and the others at any time. An interrupt is SIGINT, followed by SIGINT or SIGTERM
//! 0 to 20 ms later. At the end the run trains undisturbed until it reaches a limit.
//!
//! `OUTFLANK_FAULTS=300,100,7` in the environment is a longer form: the kills, the interrupts, and the
//! seed of their times. What the program does at these times also depends on the machine.

use std::collections::{BTreeMap, HashSet};
use std::fs::{self, File};
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::{Duration, Instant};

use outflank::game::record::GameRecord;
use outflank::store::checkpoint::{self, Checkpoint};
use outflank::store::games::{self, training_positions};
use outflank::store::run_dir::{self, State};
use outflank::train::seeds::{Purpose, Random, stream};
use rand::RngExt;

use super::{CONFIG, ends, manifest, outflank, signal, wait_for_games};

/// A variable in the environment of the program, and so of the engines that it starts.
const MARK: &str = "OUTFLANK_FAULTS_OF";
/// The longest time until the next start has removed what an earlier one left half done.
const CLEANUP: Duration = Duration::from_millis(500);
/// The longest time until an engine ends after the program at the other end of its pipes.
const ENGINE_PATIENCE: Duration = Duration::from_secs(10);

/// The starts of lines that a correct run may print on standard error with `--quiet`.
const EXPECTED: [&str; 9] = [
    "run directory: ",
    "curves: tensorboard ",
    "stopping; a second Ctrl-C ends at once",
    "limits.",
    "evaluate its newest model with: ",
    "continue with",
    "INFO the last net is ",
    // After a kill.
    "WARN removed an incomplete game of ",
    // On a busy machine.
    "INFO an evaluation is skipped: the two before it are not finished",
];

/// A run directory, and what the checks have seen of it.
struct Run {
    folder: PathBuf,
    dir: PathBuf,
    random: Random,
    games: Vec<GameRecord>,
    /// The step of the newest checkpoint.
    step: Option<u64>,
    /// Games, positions, steps and starts of the last `run.json`.
    counters: [u64; 4],
}

impl Run {
    /// Starts the run, or resumes it if it exists.
    fn start(&self, more: &[&str]) -> Child {
        let config = self.folder.join("faults.toml");
        let paths = [&config, &self.dir].map(|path| path.to_str().expect("a path"));
        let mut command = outflank(&[paths[0], "--run-dir", paths[1], "--quiet"]);
        if self.dir.join("run.json").exists() {
            command.arg("--resume");
        }
        let errors = File::create(self.folder.join("stderr")).expect("a file");
        command.args(more).env(MARK, &self.folder).env_remove("OUTFLANK_LOG").stderr(errors);
        command.spawn().expect("the program")
    }

    fn starts(&self) -> u64 {
        let exists = self.dir.join("run.json").exists();
        if exists { manifest(&self.dir)["starts"].as_u64().expect("a number") } else { 0 }
    }

    /// Starts the run and waits for a game. What earlier starts left half done must be gone by then.
    fn start_and_wait(&self, fault: &str) -> Child {
        let (left, starts, begun) = (self.half_done(), self.starts(), Instant::now());
        let mut child = self.start(&[]);
        while self.starts() <= starts {
            let ended = child.try_wait().expect("a child");
            let hangs = begun.elapsed() > Duration::from_secs(120);
            assert!(ended.is_none() && !hangs, "{fault}: no start: {ended:?}: {}", self.stderr());
            std::thread::sleep(Duration::from_millis(2));
        }
        self.check_removed(&left, fault);
        wait_for_games(&self.dir, &mut child);
        child
    }

    /// Checks that files and folders which were half done are soon gone.
    fn check_removed(&self, left: &BTreeMap<PathBuf, u64>, fault: &str) {
        let begun = Instant::now();
        loop {
            let mut now = self.half_done();
            now.retain(|path, file| left.get(path) == Some(file));
            if now.is_empty() {
                return;
            }
            assert!(begun.elapsed() < CLEANUP, "{fault}: half done: {now:?}");
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Files and folders under a temporary name, and checkpoints that are half removed, with their
    /// numbers in the file system.
    fn half_done(&self) -> BTreeMap<PathBuf, u64> {
        let (mut found, mut folders) = (BTreeMap::new(), vec![self.dir.clone()]);
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                let (path, name) = (entry.path(), entry.file_name().into_string().expect("text"));
                let is_half = name.starts_with('.')
                    || name.starts_with("step-") && Checkpoint::load(&path).is_err();
                // It may have been renamed or removed in the meantime.
                if let (true, Ok(data)) = (is_half, entry.metadata()) {
                    found.insert(path.clone(), data.ino());
                }
                if path.is_dir() {
                    folders.push(path);
                }
            }
        }
        found
    }

    fn kill(&mut self, number: usize) -> bool {
        let random = |random: &mut Random, most: f64| random.random_range(0.0..most);
        let fault = format!("kill {number}");
        let mut child;
        let pause = match number % 3 {
            0 => {
                child = self.start(&[]);
                random(&mut self.random, 0.6)
            }
            1 => {
                child = self.start_and_wait(&fault);
                random(&mut self.random, 1.5)
            }
            _ => {
                child = self.start_and_wait(&fault);
                self.wait_for_checkpoint();
                // Mostly while it is written, sometimes later, while an older one is removed.
                0.2 * random(&mut self.random, 1.0).powi(3)
            }
        };
        std::thread::sleep(Duration::from_secs_f64(pause));
        child.kill().expect("a child");
        let status = child.wait().expect("a child");
        assert_eq!(status.signal(), Some(9), "{fault}: {status}: {}", self.stderr());
        self.check(&fault, &[State::Killed]);
        !self.half_done().is_empty()
    }

    /// Waits until a new checkpoint is begun, at most half a minute.
    fn wait_for_checkpoint(&self) {
        let names = || -> HashSet<_> {
            let entries = fs::read_dir(self.dir.join("checkpoints")).expect("a folder");
            entries.flatten().map(|entry| entry.file_name()).collect()
        };
        let (before, begun) = (names(), Instant::now());
        while names().is_subset(&before) && begun.elapsed() < Duration::from_secs(30) {}
    }

    /// Returns whether the second interrupt ended the run at once.
    fn interrupt(&mut self, number: usize) -> bool {
        let [pause, delay] = [1.0, 0.02].map(|most| self.random.random_range(0.0..most));
        let second = if self.random.random() { "-INT" } else { "-TERM" };
        let fault = format!("interrupt {number}, {second} after {delay} s");
        let mut child = self.start_and_wait(&fault);
        std::thread::sleep(Duration::from_secs_f64(pause));
        signal(&child, "-INT");
        std::thread::sleep(Duration::from_secs_f64(delay));
        // It may already have ended after the first interrupt.
        let id = child.id().to_string();
        let _ = std::process::Command::new("kill").args([second, &id]).status();
        let code = ends(&mut child);
        assert!(matches!(code, Some(0 | 130)), "{fault}: {code:?}: {}", self.stderr());
        // A run that had no time to say that it stopped looks killed. The second signal may also
        // come after that, just before the normal end.
        let states = [State::Stopped, State::Killed];
        self.check(&fault, if code == Some(0) { &states[..1] } else { &states });
        code == Some(130)
    }

    fn stderr(&self) -> String {
        fs::read_to_string(self.folder.join("stderr")).expect("text")
    }

    /// Checks all files of a run that has just ended in one of these states.
    fn check(&mut self, fault: &str, states: &[State]) {
        for line in self.stderr().lines().map(str::trim_start) {
            assert!(EXPECTED.iter().any(|start| line.starts_with(start)), "{fault}: {line}");
        }
        check_engines(&self.folder, fault);
        if !self.dir.join("run.json").exists() {
            // Killed before the run was created.
            return assert!(self.games.is_empty(), "{fault}: run.json is gone");
        }
        let positions = self.check_games(fault);
        let newest = checkpoint::list(&self.dir.join("checkpoints")).expect("a folder").pop();
        let step = newest.as_ref().map(|&(step, _)| step);
        assert!(step >= self.step, "{fault}: the newest checkpoint was of step {:?}", self.step);
        self.step = step;
        let saved = newest.map(|(_, path)| Checkpoint::load(&path).expect("a whole checkpoint"));
        let saved = |name: &str| saved.as_ref().and_then(|it| it.state[name].as_u64());

        let listed = run_dir::list(&self.dir).expect("a run").remove(0).manifest.expect("run.json");
        assert!(states.contains(&listed.state), "{fault}: {}", listed.state);
        let summary = listed.summary;
        let counters = [summary.games, summary.positions, summary.steps, listed.starts.into()];
        let names = ["games", "positions", "steps", "starts"];
        let is_killed = listed.state == State::Killed;
        for (place, name) in names.into_iter().enumerate() {
            let (now, before) = (counters[place], self.counters[place]);
            assert!(now >= before, "{fault}: {name} fell from {before} to {now}");
            let stored = match name {
                "games" => self.games.len() as u64,
                "positions" => positions,
                "steps" => saved("steps").unwrap_or(0),
                _ => continue,
            };
            let most = now.max(saved(name).unwrap_or(0));
            assert!(most <= stored, "{fault}: {most} {name} are counted, {stored} are stored");
            assert!(is_killed || now == stored, "{fault}: {now} {name} of {stored}");
        }
        self.counters = counters;
        for name in ["ladder.jsonl", "metrics.jsonl"] {
            let text = fs::read_to_string(self.dir.join(name)).unwrap_or_default();
            // A kill may tear the last line. The next start ends it, so an empty one follows.
            let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
            for line in whole.lines().filter(|line| !line.is_empty()) {
                let parsed = serde_json::from_str::<serde_json::Value>(line);
                assert!(parsed.is_ok(), "{fault}: {name}: {line}");
            }
        }
    }

    /// Checks that the games seen before are unchanged, and adds the new ones. Only the last may be
    /// torn. Returns the positions of all.
    fn check_games(&mut self, fault: &str) -> u64 {
        let (mut found, mut torn) = (Vec::new(), None);
        let folder = self.dir.join("games");
        let records = folder.exists().then(|| games::read_all(&folder).expect("a folder"));
        for record in records.into_iter().flatten() {
            assert!(torn.is_none(), "{fault}: a game behind {torn:?}");
            match record {
                Ok(record) => found.push(record),
                Err(error) => torn = Some(error),
            }
        }
        assert!(found.starts_with(&self.games), "{fault}: games are lost or changed");
        let ids: HashSet<u64> = found.iter().map(|game| game.id).collect();
        assert_eq!(ids.len(), found.len(), "{fault}: a game is stored twice");
        self.games = found;
        self.games.iter().map(|game| u64::from(training_positions(game))).sum()
    }
}

/// Checks that no engine still runs. Only Linux shows the environment of a process.
fn check_engines(folder: &Path, fault: &str) {
    let mark = format!("{MARK}={}", folder.display()).into_bytes();
    let is_marked = |process: &fs::DirEntry| {
        let variables = fs::read(process.path().join("environ")).unwrap_or_default();
        variables.split(|&byte| byte == 0).any(|variable| variable == mark)
    };
    let left = || fs::read_dir("/proc").into_iter().flatten().flatten().filter(is_marked).count();
    let begun = Instant::now();
    while left() > 0 {
        assert!(begun.elapsed() < ENGINE_PATIENCE, "{fault}: {} engines still run", left());
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn kills_and_interrupts_lose_nothing() {
    let form = std::env::var("OUTFLANK_FAULTS").unwrap_or_else(|_| "9,8,1".into());
    let numbers = form.split(',').map(|number| number.parse().expect("a number"));
    let [kills, interrupts, seed] =
        numbers.collect::<Vec<usize>>().try_into().expect("KILLS,INTERRUPTS,SEED");
    // After a failure it stays there.
    let folder = tempfile::tempdir().expect("a folder").keep();
    let program = env!("CARGO_BIN_EXE_outflank");
    let engine = format!("external:protocol=gtp,command=\"'{program}' gtp greedy --shape 6x6\"");
    let every_second = "every_minutes = 0.0167";
    let config = CONFIG
        .replace("every_minutes = 0.005", &format!("{every_second}\nkeep_last = 2"))
        .replace("every_minutes = 0\n", &format!("{every_second}\ngames = 2\nsimulations = 8\n"));
    let config = format!("{config}opponents = [\"random\", {engine:?}]\n");
    fs::write(folder.join("faults.toml"), config).expect("a file");
    let (dir, random) = (folder.join("run"), stream(seed as u64, Purpose::Game, 0));
    let mut run = Run { folder, dir, random, games: Vec::new(), step: None, counters: [0; 4] };
    println!("seed {seed}, in {}", run.folder.display());
    let half_done = (0..kills).filter(|&number| run.kill(number)).count();
    println!("{kills} kills; {half_done} left something half done");
    let at_once = (0..interrupts).filter(|&number| run.interrupt(number)).count();
    println!("{interrupts} second interrupts; {at_once} ended at once with 130, the others with 0");
    assert!(interrupts < 8 || at_once > 0, "no second interrupt came in time");

    let (left, fault) = (run.half_done(), "the last start");
    let mut last = run.start(&["--set", &format!("limits.games={}", run.games.len() + 200)]);
    assert_eq!(ends(&mut last), Some(0), "{fault}: {}", run.stderr());
    run.check_removed(&left, fault);
    run.check(fault, &[State::Finished]);
    assert!(run.half_done().is_empty(), "{fault}: {:?}", run.half_done());
    assert!(run.step > Some(0), "no checkpoint");
    println!("{} games at the end", run.games.len());
    fs::remove_dir_all(&run.folder).expect("a folder");
}
