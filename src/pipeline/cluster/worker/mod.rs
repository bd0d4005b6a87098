//! A worker: it plays self-play games for a learner on another machine.
//!
//! The thread that calls [`work`] connects the actors, which are those of any run, with the network
//! thread. It keeps finished games in the [`Outbox`](outbox::Outbox), and gives the actors new nets,
//! numbers for their games, and the run's allowance.

mod network;
mod outbox;
mod session;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use anyhow::Context as _;

use super::link::{LinkError, Login, ServerOptions, runtime};
use super::names::Name;
use crate::config::Config;
use crate::store::{FileError, create_dir};
use network::join;
use outbox::{Outbox, OutboxError};
use session::{Session, SessionEnd};

/// The most workers of one machine that find a name of their own.
const MOST_NAMES: u32 = 1000;

/// How a worker works.
#[derive(Clone, Debug)]
pub struct WorkerOptions {
    /// The server.
    pub server: ServerOptions,
    /// The run; `None` for the only one at the server.
    pub run: Option<Name>,
    /// The worker's name; `None` for the user of the login, or one made of the machine's name.
    pub name: Option<Name>,
    /// Threads that play games.
    pub actors: u32,
    /// The device that computes nets.
    pub device: String,
    /// The folder for outboxes.
    pub outbox: PathBuf,
    /// An outbox holds at most this many bytes; then the actors wait.
    pub outbox_bytes: u64,
}

/// Why a worker cannot work.
#[derive(Debug, thiserror::Error)]
pub enum WorkerError {
    /// The server cannot be used.
    #[error(transparent)]
    Link(#[from] LinkError),
    /// The outbox cannot be used.
    #[error(transparent)]
    Outbox(#[from] OutboxError),
    /// Several runs are at the server.
    #[error("several runs are at the server; choose one with --run: {runs}")]
    ManyRuns {
        /// Their names.
        runs: String,
    },
    /// The learner is of another version.
    #[error(
        "the run is of program version {program}, whose messages have version {found}; this program's have version {}",
        super::wire::PROTOCOL
    )]
    Protocol {
        /// Version of its messages.
        found: u32,
        /// Version of its program.
        program: String,
    },
    /// The announcement of the run cannot be read.
    #[error("the announcement of the run is not valid: {message}")]
    Announcement {
        /// The parser's message.
        message: Box<str>,
    },
    /// The learner does not listen to this worker.
    #[error("the learner does not take games of this worker: {why}")]
    Excluded {
        /// Its reason.
        why: String,
    },
}

/// What a worker did.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct WorkerEnd {
    /// Games that the learner has stored.
    pub stored: u64,
    /// Games that it refused.
    pub refused: u64,
    /// Games that stay in the outbox. They are sent at the next start.
    pub unconfirmed: u64,
    /// Whether the run has reached its end.
    pub has_run_ended: bool,
}

/// Plays for a run until it ends or `stop` is set.
///
/// # Errors
///
/// The server or the run cannot be used, the worker is excluded, or a net cannot be computed.
pub fn work(options: &WorkerOptions, stop: &AtomicBool) -> anyhow::Result<WorkerEnd> {
    let mut total = WorkerEnd::default();
    // The user of a login, so that the server's permissions fit.
    let login = match &options.server.login {
        Some(Login::Password { user, .. }) => Some(user.clone()),
        _ => None,
    };
    let name = options.name.clone().or(login);
    loop {
        let runtime = runtime()?;
        let first_name = name.clone().unwrap_or_else(machine_name);
        let joined = join(&options.server, &first_name, options.run.as_ref(), stop);
        let joined = match runtime.block_on(joined) {
            Err(WorkerError::Link(LinkError::Stopped)) => return Ok(total),
            joined => joined?,
        };
        let outboxes = options.outbox.join(joined.run.as_str());
        let (name, outbox) = match &name {
            Some(name) => (name.clone(), Outbox::open(&outboxes.join(name.as_str()))?),
            None => free_outbox(&outboxes)?,
        };
        let mut config =
            Config::parse_stored("the run's configuration", &joined.announcement.config, &[])
                .context("this program cannot play for the run")?;
        // Those of this machine.
        config.selfplay.actors = options.actors;
        config.device.clone_from(&options.device);
        config.inference.backend = Default::default();
        let session = Session::new(options, config, name, outbox, joined, runtime);
        let (end, counts) = session?.play(stop)?;
        total.stored += counts.stored;
        total.refused += counts.refused;
        total.unconfirmed = counts.unconfirmed;
        match end {
            SessionEnd::Stopped => return Ok(total),
            SessionEnd::RunEnded => return Ok(WorkerEnd { has_run_ended: true, ..total }),
            SessionEnd::RunChanged => {
                tracing::info!("the run has another configuration; joins again")
            }
        }
    }
}

/// A name like that of this machine.
fn machine_name() -> Name {
    let name = fs::read_to_string("/proc/sys/kernel/hostname")
        .or_else(|_| std::env::var("HOSTNAME").map_err(std::io::Error::other));
    Name::like(name.unwrap_or_else(|_| "worker".into()).trim())
}

/// The first outbox of this machine that no other worker uses, and the name that follows from it.
fn free_outbox(folder: &Path) -> Result<(Name, Outbox), OutboxError> {
    create_dir(folder)?;
    let machine = machine_name();
    let mut number = 1;
    loop {
        let name = machine.numbered(number);
        match Outbox::open(&folder.join(name.as_str())) {
            Err(OutboxError::InUse { .. }) if number < MOST_NAMES => number += 1,
            found => return Ok((name, found?)),
        }
    }
}

impl From<FileError> for WorkerError {
    fn from(error: FileError) -> WorkerError {
        WorkerError::Outbox(error.into())
    }
}
