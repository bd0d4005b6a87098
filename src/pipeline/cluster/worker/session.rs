//! A worker's work for one run, from its first net to its end.

mod events;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::{Context as _, anyhow};
use crossbeam_channel::{Receiver, RecvTimeoutError, unbounded};
use tokio::runtime::Runtime;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use super::network::{Command, Event, Joined};
use super::outbox::Outbox;
use super::{Name, WorkerEnd, WorkerError, WorkerOptions};
use crate::config::Config;
use crate::game::Geometry;
use crate::model::Description;
use crate::model::weights::Weights;
use crate::pipeline::cluster::milliseconds;
use crate::pipeline::cluster::trust::replay::kernel_name;
use crate::pipeline::cluster::wire::{MOST_NETS, NetId, NetNotice, Report, SentGame};
use crate::pipeline::inference::Inference;
use crate::pipeline::messages::NewNet;
use crate::pipeline::sync::{Allowance, Counters, Pace, Shared};
use crate::pipeline::threads::{ActorThreads, EndRunOnDrop, ThreadParts};
use crate::pipeline::transport::{Closed, FinishedGame, InProcess, Transport as _, in_process};
use crate::players::models::open_backend;
use crate::store::with_causes;
use crate::train::selfplay::{GameNumbers, NetVersion};

/// Games are sent at least this often.
const SEND_EVERY: Duration = Duration::from_secs(1);
/// The most games in a message: about half of the megabyte that a message may have.
const MOST_IN_A_MESSAGE: usize = 256;
/// Messages that are on their way at the same time.
const MOST_ON_THEIR_WAY: usize = 4;
/// The wait for a game, and so the reaction to everything else.
const TICK: Duration = Duration::from_millis(50);
const REPORT_EVERY: Duration = Duration::from_secs(1);
const TELL_EVERY: Duration = Duration::from_secs(30);
/// How long a worker that leaves waits for the last confirmations.
const LEAVE_WITHIN: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_secs(1);
/// Channel for games of the actors.
const GAMES_IN_FLIGHT: usize = 256;

/// Why a session ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum SessionEnd {
    /// The process was interrupted.
    Stopped,
    /// The run has reached its end.
    RunEnded,
    /// The run has another configuration now.
    RunChanged,
}

pub(super) struct Session {
    config: Config,
    description: Description,
    name: Name,
    outbox: Outbox,
    outbox_bytes: u64,
    /// CRC-32 of the announcement.
    announcement: u32,
    /// The kind of the actors' kernels; empty before they start.
    kernel: String,
    counters: Arc<Counters>,
    allowance: Arc<Allowance>,
    commands: UnboundedSender<Command>,
    events: Receiver<Event>,
    network: Option<JoinHandle<()>>,
    /// The nets so far. The actors' version of a net is its place here.
    nets: Vec<NetId>,
    /// The newest net that no actor has yet.
    waiting_net: Option<(NetNotice, Arc<Weights>)>,
    /// Finished games that are not yet in the outbox.
    finished: Vec<SentGame>,
    oldest: Option<Instant>,
    /// Messages on their way, with their positions.
    on_their_way: HashMap<u64, u64>,
    is_lease_asked: bool,
    /// Why something waits, told once.
    told: HashMap<&'static str, String>,
    report: Report,
    games: u64,
    counts: WorkerEnd,
    end: Option<SessionEnd>,
}

impl Session {
    pub fn new(
        options: &WorkerOptions,
        config: Config,
        name: Name,
        outbox: Outbox,
        joined: Joined,
        runtime: Runtime,
    ) -> anyhow::Result<Session> {
        let description: Description =
            serde_json::from_value(joined.announcement.description.clone())
                .context("the announcement of the run has no valid model")?;
        tracing::info!("worker {name} plays for run {} with {} actors", joined.run, options.actors);
        if outbox.games() > 0 {
            tracing::info!("sends {} games of an earlier start again", outbox.games());
        }
        let reserve =
            u64::from(config.selfplay.actors) * u64::from(config.selfplay.games_per_actor);
        let counters = Arc::new(Counters {
            numbers: GameNumbers::none(),
            positions: AtomicU64::new(0),
            learner_starved: AtomicBool::new(false),
        });
        let announcement = joined.announcement.checksum();
        let (commands, received) = unbounded_channel();
        let (sender, events) = unbounded();
        let worker = name.clone();
        let network = thread::Builder::new()
            .name("network".into())
            .spawn(move || runtime.block_on(joined.serve(worker, received, sender)))
            .context("cannot start the network thread")?;
        Ok(Session {
            description,
            name,
            outbox,
            outbox_bytes: options.outbox_bytes,
            announcement,
            kernel: String::new(),
            counters,
            allowance: Arc::new(Allowance { positions: AtomicU64::new(0), reserve }),
            commands,
            events,
            network: Some(network),
            nets: Vec::new(),
            waiting_net: None,
            finished: Vec::new(),
            oldest: None,
            on_their_way: HashMap::new(),
            is_lease_asked: false,
            told: HashMap::new(),
            report: Report { actors: config.selfplay.actors, ..Report::default() },
            games: 0,
            counts: WorkerEnd::default(),
            end: None,
            config,
        })
    }

    /// Plays until the session ends.
    pub fn play(mut self, stop: &AtomicBool) -> anyhow::Result<(SessionEnd, WorkerEnd)> {
        // Games of an earlier start are sent while the first net comes.
        while self.waiting_net.is_none() || self.counters.numbers.left() < self.allowance.reserve {
            if stop.load(Ordering::Relaxed) || self.end.is_some() {
                return self.leave();
            }
            self.tend(TICK)?;
        }
        crate::pipeline::catch_panic(
            || dispatch!(self.config.board, G => self.play_on::<G>(stop)),
        )?;
        self.leave()
    }

    fn play_on<G: Geometry>(&mut self, stop: &AtomicBool) -> anyhow::Result<()> {
        let Some((notice, weights)) = self.waiting_net.take() else { return Ok(()) };
        let config = self.config.clone();
        let backend = open_backend(&self.description, &weights, &config.inference, &config.device)?;
        self.kernel = kernel_name(&*backend);
        drop(backend);
        let actors = config.selfplay.actors;
        let (_inference, predictors) =
            Inference::start(&config, &self.description, &weights, actors)?;
        let shared =
            Shared { counters: Arc::clone(&self.counters), stop, finished: AtomicBool::new(false) };
        self.nets.push(notice.id);
        self.report.net = notice.id;
        let net = NetVersion { version: 0, positions: notice.positions };
        let (channels, mut local) = in_process(GAMES_IN_FLIGHT);
        let pace = Pace::Leased(Arc::clone(&self.allowance));
        let parts = ThreadParts { config: &config, shared: &shared, pace };
        thread::scope(|scope| {
            let end = EndRunOnDrop(&shared);
            let actors = parts.actors::<G>(scope, predictors, net, channels, &mut local);
            let result = self.relay(&mut local, &shared);
            shared.finish();
            local.close(false);
            // Games that are finished are kept.
            while let Ok(game) = local.receive_finished(Duration::from_secs(1)) {
                game.into_iter().for_each(|game| self.take_game(game));
            }
            drop(end);
            join(actors)?;
            result
        })
    }

    /// Passes games, nets and numbers until the session ends.
    fn relay(&mut self, local: &mut InProcess, shared: &Shared<'_>) -> anyhow::Result<()> {
        let (mut reported, mut told) = (Instant::now(), (Instant::now(), 0));
        while !shared.stopping() && self.end.is_none() {
            if self.has_room() {
                match local.receive_finished(TICK) {
                    Ok(game) => game.into_iter().for_each(|game| self.take_game(game)),
                    Err(Closed) => return Ok(()),
                }
                while self.finished.len() < MOST_IN_A_MESSAGE
                    && let Ok(game) = local.try_receive()
                {
                    self.take_game(game);
                }
                self.tend(Duration::ZERO)?;
            } else {
                self.tend(TICK)?;
            }
            if let Some((notice, weights)) = self.waiting_net.take() {
                let version = self.nets.len() as u32;
                self.nets.push(notice.id);
                self.report.net = notice.id;
                let NetId { start, version: of_run } = notice.id;
                tracing::debug!("net {start}-{of_run} loaded at {} ms", milliseconds());
                local.publish(&NewNet { weights, version, positions: notice.positions });
            }
            for activity in local.activity() {
                self.report.simulations += activity.work.simulations;
                self.report.evaluations += activity.work.evaluations;
                self.report.searches += activity.work.searches;
                self.report.busy += activity.busy.as_secs_f64();
                self.report.waiting += activity.waiting.as_secs_f64();
            }
            if reported.elapsed() >= REPORT_EVERY {
                reported = Instant::now();
                self.send_report();
            }
            if told.0.elapsed() >= TELL_EVERY {
                let rate = (self.games - told.1) as f64 / told.0.elapsed().as_secs_f64();
                told = (Instant::now(), self.games);
                tracing::info!(
                    "{} games, {rate:.1} games/s, net {}, {} games not confirmed",
                    self.games,
                    self.report.net.version,
                    self.outbox.games()
                );
            }
        }
        Ok(())
    }

    /// Whether more games are taken from the actors. If not, they soon wait.
    fn has_room(&mut self) -> bool {
        let is_full = self.outbox.bytes() >= self.outbox_bytes;
        if is_full {
            let limit = self.outbox_bytes >> 20;
            self.tell("outbox", format!("the outbox has {limit} MB; waits for the learner"));
        } else {
            self.told.remove("outbox");
        }
        !is_full && self.finished.len() < 2 * MOST_IN_A_MESSAGE
    }

    fn take_game(&mut self, FinishedGame { mut record, last_net }: FinishedGame) {
        let first = record.net_version as usize;
        let nets = self.nets.iter().take(last_net as usize + 1).skip(first).take(MOST_NETS);
        let nets: Vec<NetId> = nets.copied().collect();
        record.net_version = nets.first().map_or(0, |net| net.version);
        self.finished.push(SentGame { record, nets });
        self.games += 1;
        self.oldest.get_or_insert_with(Instant::now);
    }

    /// Takes events for at most `wait`, and sends what is due.
    fn tend(&mut self, wait: Duration) -> Result<(), WorkerError> {
        let mut event = match self.events.recv_timeout(wait) {
            Ok(event) => Some(event),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => {
                return Err(super::LinkError::Request {
                    what: "the network thread".into(),
                    message: "it has ended".into(),
                }
                .into());
            }
        };
        while let Some(next) = event {
            self.take(next)?;
            event = self.events.try_recv().ok();
        }
        self.keep_games();
        while self.on_their_way.len() < MOST_ON_THEIR_WAY
            && let Some((number, bytes)) = self.outbox.next_due()?
        {
            self.on_their_way.insert(number, 0);
            let _ = self.commands.send(Command::Send { number, bytes });
        }
        let reserve = self.allowance.reserve;
        if !self.is_lease_asked && self.counters.numbers.left() < 2 * reserve {
            self.is_lease_asked = true;
            let _ = self.commands.send(Command::Lease(4 * reserve));
        }
        Ok(())
    }

    /// Moves finished games to the outbox, if a message is full or old enough.
    fn keep_games(&mut self) {
        let is_old = self.oldest.is_some_and(|oldest| oldest.elapsed() >= SEND_EVERY);
        if !is_old && self.finished.len() < MOST_IN_A_MESSAGE {
            return;
        }
        let count = self.finished.len().min(MOST_IN_A_MESSAGE);
        match self.outbox.add(&self.kernel, &self.finished[..count]) {
            Ok(()) => {
                self.finished.drain(..count);
                self.oldest = (!self.finished.is_empty()).then(Instant::now);
                self.told.remove("disk");
            }
            Err(error) => {
                // Such as a full disk: the games stay in memory, and the actors soon wait.
                self.oldest = Some(Instant::now());
                self.tell("disk", format!("{}; tries again", with_causes(&error)));
            }
        }
    }

    fn send_report(&mut self) {
        self.report.games = self.games;
        self.report.unconfirmed = self.outbox.games();
        let fresh = Report {
            simulations: 0,
            evaluations: 0,
            searches: 0,
            busy: 0.0,
            waiting: 0.0,
            ..self.report.clone()
        };
        let report = std::mem::replace(&mut self.report, fresh);
        let _ = self.commands.send(Command::Report(report));
    }

    /// Sends the last games, waits a short time for confirmations, and ends the network thread.
    fn leave(mut self) -> anyhow::Result<(SessionEnd, WorkerEnd)> {
        self.oldest = self.oldest.and_then(|oldest| oldest.checked_sub(SEND_EVERY));
        // A run that has ended takes no more games; the next start of the worker sends them, if the
        // run goes on.
        let wait = if self.end == Some(SessionEnd::RunEnded) { PAUSE } else { LEAVE_WITHIN };
        let deadline = Instant::now() + wait;
        while (self.outbox.games() > 0 || !self.finished.is_empty()) && Instant::now() < deadline {
            self.tend(TICK)?;
        }
        let _ = self.commands.send(Command::End);
        if let Some(network) = self.network.take() {
            let _ = network.join();
        }
        self.counts.unconfirmed = self.outbox.games();
        Ok((self.end.unwrap_or(SessionEnd::Stopped), self.counts))
    }

    /// Logs why something waits, unless this was the last thing that was told about it.
    fn tell(&mut self, what: &'static str, message: String) {
        if self.told.get(what) != Some(&message) {
            tracing::warn!("{message}");
            self.told.insert(what, message);
        }
    }
}

fn join(actors: ActorThreads<'_>) -> anyhow::Result<()> {
    let ends: Vec<_> = actors.into_iter().map(thread::ScopedJoinHandle::join).collect();
    for end in ends {
        end.map_err(|_| anyhow!("an actor thread panicked"))??;
    }
    Ok(())
}
