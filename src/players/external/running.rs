//! The list of running engines. Kills engines together with all processes that they started.
//!
//! An engine leads a process group of its own. Its environment has a mark, which its children
//! inherit. On Linux its processes in other groups and sessions are found by this mark, or as
//! descendants of the engine. On other systems only the engine's group is killed.

use std::process::{Child, Command};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

/// The environment variable that marks an engine and its children.
const MARK: &str = "OUTFLANK_ENGINE";
/// The most rounds of kills. Processes may start new ones during a round.
const MAX_ROUNDS: usize = 20;
/// The time between two rounds, in which killed processes disappear.
const PAUSE: Duration = Duration::from_millis(1);

/// A process that was started as an engine.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Engine {
    /// The process, which leads the process group.
    leader: Pid,
    /// The mark: an entry of its environment.
    mark: String,
}

static RUNNING: Mutex<Vec<Engine>> = Mutex::new(Vec::new());
static STOPPING: AtomicBool = AtomicBool::new(false);

fn running() -> MutexGuard<'static, Vec<Engine>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether [`end_all`] was called. Then nothing waits for engines any more.
pub(super) fn stopping() -> bool {
    STOPPING.load(Ordering::Acquire)
}

/// Kills all running engines and lets no other start. Called when the program stops.
pub fn end_all() {
    // `Release`: a thread that reads this flag also sees the stop flag that the caller has set.
    STOPPING.store(true, Ordering::Release);
    // The lock is held during a start, so an engine that is being started is in the list by then.
    end(&running());
}

/// Starts an engine; `None` after [`end_all`].
pub(super) fn start(command: &mut Command) -> std::io::Result<Option<(Child, Engine)>> {
    static STARTED: AtomicU64 = AtomicU64::new(0);
    let value = format!("{}-{}", std::process::id(), STARTED.fetch_add(1, Ordering::Relaxed));
    // A Ctrl-C at the terminal must not reach the engine: the program ends its engines itself.
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

    /// Kills the engine and all processes that it started. The process must not be reaped before
    /// [`Engine::forget`], since another process could get its number.
    pub fn end(&self) {
        end(std::slice::from_ref(self));
    }

    /// Removes an engine that has ended from the list.
    pub fn forget(&self) {
        running().retain(|engine| engine != self);
    }
}

fn end(engines: &[Engine]) {
    if engines.is_empty() {
        return;
    }
    for _ in 0..MAX_ROUNDS {
        // Listed before the kills: a child whose parent has ended is no descendant any more.
        let family = family::of(engines);
        // A kill fails if the process has ended by itself, which is fine.
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
    //! All live processes of some engines, from `/proc`.

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

    /// A process with its parent; `None` for a zombie.
    fn alive_with_parent(process: Pid) -> Option<(Pid, Pid)> {
        let status = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
        // The program's name is in brackets and may contain any characters.
        let mut fields = status.rsplit_once(')')?.1.split_whitespace();
        let state = fields.next()?;
        let parent = Pid::from_raw(fields.next()?.parse().ok()?)?;
        (!matches!(state, "Z" | "X")).then_some((process, parent))
    }

    fn is_marked(process: Pid, engines: &[Engine]) -> bool {
        // The environment of another user's process cannot be read. It is no engine's process.
        let environment = fs::read(format!("/proc/{process}/environ")).unwrap_or_default();
        let mut entries = environment.split(|&byte| byte == 0);
        entries.any(|entry| engines.iter().any(|engine| engine.mark.as_bytes() == entry))
    }
}

#[cfg(not(target_os = "linux"))]
mod family {
    //! Systems without `/proc`: only the process group is known.

    use super::{Engine, Pid};

    pub fn of(_engines: &[Engine]) -> Vec<Pid> {
        Vec::new()
    }
}
