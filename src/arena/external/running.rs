//! The engines that run, and how they are ended with everything that they have started.
//!
//! An engine leads a process group of its own. It also carries a mark in its environment, which its
//! children inherit. On Linux, processes in other groups and sessions are found by that mark, or
//! because they descend from the engine. Elsewhere only the engine's group is ended.

use std::process::{Child, Command};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

/// The environment variable that marks an engine and its children.
const MARK: &str = "OUTFLANK_ENGINE";
/// How often processes are looked for that appeared while others were being ended.
const ROUNDS: usize = 20;
/// Time between two such looks, in which what was killed disappears.
const PAUSE: Duration = Duration::from_millis(1);

/// A process that was started as an engine.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Engine {
    /// The process, which is also its group's number.
    leader: Pid,
    /// The entry of its environment that marks it.
    mark: String,
}

static RUNNING: Mutex<Vec<Engine>> = Mutex::new(Vec::new());
static STOPPING: AtomicBool = AtomicBool::new(false);

fn running() -> MutexGuard<'static, Vec<Engine>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether [`end_all`] was called: no engine is worth waiting for any more.
pub(super) fn stopping() -> bool {
    STOPPING.load(Ordering::Acquire)
}

/// Ends all engines that run, and lets no other start: the program is about to end.
pub fn end_all() {
    // Who sees this also sees why: the stop flag that the caller has set before.
    STOPPING.store(true, Ordering::Release);
    // An engine that is being started is in the list once the lock is free.
    end(&running());
}

/// Starts an engine; `None` after [`end_all`].
pub(super) fn start(command: &mut Command) -> std::io::Result<Option<(Child, Engine)>> {
    static STARTED: AtomicU64 = AtomicU64::new(0);
    let value = format!("{}-{}", std::process::id(), STARTED.fetch_add(1, Ordering::Relaxed));
    // A Ctrl-C at the terminal is for the match, which ends its engines itself.
    std::os::unix::process::CommandExt::process_group(command, 0);
    command.env(MARK, &value);
    let mut engines = running();
    if stopping() {
        return Ok(None);
    }
    let child = command.spawn()?;
    let engine = Engine { leader: Pid::from_child(&child), mark: format!("{MARK}={value}") };
    engines.push(engine.clone());
    Ok(Some((child, engine)))
}

impl Engine {
    /// The process.
    pub fn leader(&self) -> Pid {
        self.leader
    }

    /// Ends the engine and everything that it has started. Until [`Engine::forget`] the process
    /// must not be waited for: its number then stays its own.
    pub fn end(&self) {
        end(std::slice::from_ref(self));
    }

    /// Takes the engine, which has ended, off the list.
    pub fn forget(&self) {
        running().retain(|engine| engine != self);
    }
}

fn end(engines: &[Engine]) {
    if engines.is_empty() {
        return;
    }
    for _ in 0..ROUNDS {
        // Listed before anything is killed: a child whose parent is gone descends from nobody.
        let family = family::of(engines);
        // A process that has ended by itself in the meantime needs no kill.
        for engine in engines {
            let _ = kill_process_group(engine.leader, Signal::KILL);
        }
        for &process in &family {
            let _ = kill_process(process, Signal::KILL);
        }
        if family.is_empty() {
            return;
        }
        std::thread::sleep(PAUSE);
    }
}

#[cfg(target_os = "linux")]
mod family {
    //! All living processes of some engines, by what `/proc` says.

    use std::collections::{HashMap, HashSet};
    use std::fs;

    use super::{Engine, Pid};

    pub fn of(engines: &[Engine]) -> Vec<Pid> {
        let parents: HashMap<Pid, Pid> = processes().filter_map(alive_with_parent).collect();
        let mut found: HashSet<Pid> = engines.iter().map(|engine| engine.leader).collect();
        found.extend(parents.keys().filter(|&&process| is_marked(process, engines)));
        loop {
            let children = parents.iter().filter(|(_, parent)| found.contains(parent));
            let children: Vec<Pid> = children.map(|(&child, _)| child).collect();
            let before = found.len();
            found.extend(children);
            if found.len() == before {
                break;
            }
        }
        found.into_iter().filter(|process| parents.contains_key(process)).collect()
    }

    fn processes() -> impl Iterator<Item = Pid> {
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        entries.filter_map(|entry| Pid::from_raw(entry.file_name().to_str()?.parse().ok()?))
    }

    /// A process with its parent, unless it has ended and only waits to be noticed.
    fn alive_with_parent(process: Pid) -> Option<(Pid, Pid)> {
        let status = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
        // The program's name stands in brackets and may hold anything.
        let mut fields = status.rsplit_once(')')?.1.split_whitespace();
        let state = fields.next()?;
        let parent = Pid::from_raw(fields.next()?.parse().ok()?)?;
        (!matches!(state, "Z" | "X")).then_some((process, parent))
    }

    fn is_marked(process: Pid, engines: &[Engine]) -> bool {
        // What another user's process has in its environment cannot be read: it is no engine's.
        let environment = fs::read(format!("/proc/{process}/environ")).unwrap_or_default();
        let mut entries = environment.split(|&byte| byte == 0);
        entries.any(|entry| engines.iter().any(|engine| engine.mark.as_bytes() == entry))
    }
}

#[cfg(not(target_os = "linux"))]
mod family {
    //! Systems without `/proc`: an engine's process group is all that is known.

    use super::{Engine, Pid};

    pub fn of(_engines: &[Engine]) -> Vec<Pid> {
        Vec::new()
    }
}
