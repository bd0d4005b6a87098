//! The learner's side: a transport that adds the games of workers to those of the own actors.
//!
//! ```text
//! server ──messages──> network thread ──> checker thread ──games──> coordinator
//!            ^                │  ^                                       │
//!            └──nets, states──┘  └────────── receipts of stored games ───┘
//! ```
//!
//! The network thread owns the connection (`network`). The checker thread decides which games count
//! (`checker`). A message is acknowledged when all its games are stored or refused, and then the
//! worker is told as well.

mod checker;
mod desk;
mod exclusions;
mod identity;
mod network;
mod replayer;
mod shared;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use crossbeam_channel::{Receiver, Select, TryRecvError, bounded};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use super::link::{ServerOptions, runtime};
use super::milliseconds;
use super::wire::{Announcement, PROTOCOL};
use crate::game::record::GameRecord;
use crate::pipeline::messages::{Activity, NewNet};
use crate::pipeline::transport::{Closed, InProcess, Transport};
use crate::pipeline::{RunParts, selfplay_settings};
use checker::Checker;
use identity::Identity;
use network::{Command, Network};
use replayer::ReplayThread;
use shared::Shared;

/// Games of workers that wait for the coordinator.
const GAMES_IN_FLIGHT: usize = 1024;
/// Messages that wait for the checker.
const MESSAGES_IN_FLIGHT: usize = 16;
/// Games that wait to be played again.
const DOUBTS_IN_FLIGHT: usize = 64;

/// How a learner serves workers.
#[derive(Clone, Debug)]
pub struct ServeOptions {
    /// The server.
    pub server: ServerOptions,
    /// Whether this process has actors of its own.
    pub plays: bool,
    /// The share of workers' games of which scores are solved again, 0 to 1.
    pub solve_share: f64,
    /// The share of workers' games that are played again, 0 to 1.
    pub replay_share: f64,
}

/// A game of a worker on its way to the coordinator.
struct RemoteGame {
    record: GameRecord,
    receipt: Receipt,
}

/// What becomes of one game of a message.
#[derive(Clone, PartialEq, Debug)]
struct Receipt {
    /// The message, by its number in this process, and how many games it has.
    message: u64,
    of: usize,
    /// The game's number.
    number: u64,
    /// Why it was refused; `None` if it is stored.
    refused: Option<Box<str>>,
}

/// The transport of a run with workers.
pub(in crate::pipeline) struct WithWorkers {
    local: InProcess,
    /// Whether all local actors have ended, and whether no game of a worker can come.
    is_local_closed: bool,
    is_remote_closed: bool,
    games: Receiver<RemoteGame>,
    /// Receipts of received games that are not yet stored.
    receipts: Vec<Receipt>,
    shared: Arc<Shared>,
    commands: UnboundedSender<Command>,
    threads: Vec<JoinHandle<()>>,
}

impl WithWorkers {
    /// Announces a run on the server and serves its workers. A server that is not there is waited
    /// for in the background; the own actors play meanwhile.
    ///
    /// # Errors
    ///
    /// The server refuses this run, or a file of the run cannot be read.
    pub fn open(
        options: &ServeOptions,
        local: InProcess,
        parts: RunParts<'_>,
    ) -> anyhow::Result<WithWorkers> {
        let identity = Identity::of(parts.run.path())?;
        let announcement = Announcement {
            protocol: PROTOCOL,
            program: env!("CARGO_PKG_VERSION").into(),
            config: parts.config.resolved(),
            description: serde_json::to_value(parts.description)?,
        };
        let shared = Arc::new(Shared::new(identity, announcement, &parts)?);
        tracing::info!(
            "workers join with: outflank worker --nats {} --run {}",
            options.server.url,
            shared.run
        );
        let (commands, received) = unbounded_channel();
        let (to_checker, messages) = bounded(MESSAGES_IN_FLIGHT);
        let (to_coordinator, games) = bounded(GAMES_IN_FLIGHT);
        let (ready, is_ready) = bounded(1);
        let network = Network {
            options: options.server.clone(),
            shared: Arc::clone(&shared),
            commands: received,
            to_checker,
        };
        let (to_replayer, doubts) = bounded(DOUBTS_IN_FLIGHT);
        let replayer = ReplayThread {
            config: parts.config.clone(),
            description: parts.description.clone(),
            shared: Arc::clone(&shared),
        };
        let checker = Checker {
            board: parts.config.board,
            settings: selfplay_settings(parts.config),
            shared: Arc::clone(&shared),
            commands: commands.clone(),
            doubts: to_replayer,
            solve_share: options.solve_share,
            replay_share: options.replay_share,
            seen: parts.counted.clone(),
            random: rand::make_rng(),
        };
        let runtime = runtime()?;
        let threads = vec![
            thread("network", move || runtime.block_on(network.run(ready)))?,
            thread("replayer", move || replayer.run(&doubts))?,
            thread("checker", move || checker.run(&messages, &to_coordinator))?,
        ];
        let transport = WithWorkers {
            local,
            is_local_closed: false,
            is_remote_closed: false,
            games,
            receipts: Vec::new(),
            shared,
            commands,
            threads,
        };
        // A wrong login or address ends the run at once; a server that is not there does not.
        match is_ready.recv_timeout(Duration::from_secs(6)) {
            Ok(Err(error)) => Err(error.into()),
            _ => Ok(transport),
        }
    }
}

impl WithWorkers {
    /// Waits until a game may be there; false after the deadline.
    fn wait_for_game(&self, deadline: Instant) -> Result<bool, Closed> {
        let mut select = Select::new();
        if !self.is_local_closed {
            self.local.select(&mut select);
        }
        if !self.is_remote_closed {
            select.recv(&self.games);
        } else if self.is_local_closed {
            return Err(Closed);
        }
        Ok(select.ready_deadline(deadline).is_ok())
    }
}

/// Starts a thread.
fn thread(name: &str, run: impl FnOnce() + Send + 'static) -> anyhow::Result<JoinHandle<()>> {
    let started = std::thread::Builder::new().name(name.into()).spawn(run);
    started.with_context(|| format!("cannot start the {name} thread"))
}

impl Transport for WithWorkers {
    fn receive(&mut self, wait: Duration) -> Result<Option<GameRecord>, Closed> {
        let deadline = Instant::now() + wait;
        loop {
            match self.local.try_receive() {
                Ok(game) => return Ok(Some(game.record)),
                Err(TryRecvError::Empty) => {}
                Err(TryRecvError::Disconnected) => self.is_local_closed = true,
            }
            match self.games.try_recv() {
                Ok(game) => {
                    self.receipts.push(game.receipt);
                    return Ok(Some(game.record));
                }
                Err(TryRecvError::Empty) => {}
                Err(TryRecvError::Disconnected) => self.is_remote_closed = true,
            }
            if !self.wait_for_game(deadline)? {
                return Ok(None);
            }
        }
    }

    fn publish(&mut self, net: &NewNet) {
        self.local.publish(net);
        self.shared.newest.store(net.version, Ordering::Relaxed);
        let start = self.shared.start;
        tracing::debug!("net {start}-{} published at {} ms", net.version, milliseconds());
        let _ = self.commands.send(Command::Publish(net.clone()));
    }

    fn activity(&mut self) -> Vec<Activity> {
        let mut all = self.local.activity();
        all.append(&mut self.shared.take_activity());
        all
    }

    fn keeps_copies(&self) -> bool {
        !self.receipts.is_empty()
    }

    fn stored(&mut self) {
        if !self.receipts.is_empty() {
            let _ = self.commands.send(Command::Done(std::mem::take(&mut self.receipts)));
        }
    }

    fn set_aside(&mut self) -> Vec<u64> {
        self.shared.take_set_aside()
    }

    fn scalars(&mut self) -> Vec<(String, f64)> {
        self.shared.scalars()
    }

    fn close(&mut self, has_ended: bool) {
        self.local.close(has_ended);
        let _ = self.commands.send(Command::Close { has_ended });
    }
}

impl Drop for WithWorkers {
    /// Tells the workers about the last games, and ends the threads.
    fn drop(&mut self) {
        let _ = self.commands.send(Command::End);
        // Nobody receives games any more, so the checker does not wait for room.
        self.games = crossbeam_channel::never();
        for thread in self.threads.drain(..) {
            if thread.join().is_err() {
                tracing::warn!("a thread that serves workers panicked");
            }
        }
    }
}
