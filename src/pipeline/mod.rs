//! One training run: the only place where training threads are spawned, joined and stopped.
//!
//! ```text
//! actor threads ──games──> coordinator (replay window, net, optimiser) ──nets──> actor threads
//!                               │ └──nets──> evaluator thread ──ratings──┐
//!                               └──curves──> telemetry thread <──────────┘
//! ```
//!
//! The coordinator runs on the thread that calls [`train`] and owns everything that changes.

mod actor_thread;
mod clock;
mod coordinator;
mod evaluation_thread;
mod held_out;
mod inference;
mod limits;
mod messages;
mod rate;
mod restore;
mod state;
mod statistics;
mod sync;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::thread::{self, Scope, ScopedJoinHandle};

use anyhow::anyhow;
use crossbeam_channel::{Sender, bounded, unbounded};

use crate::config::Config;
use crate::game::Geometry;
use crate::net::inference::InferenceError;
use crate::net::inference::device;
use crate::net::{NetSpec, keep_freed_memory};
use crate::store::games::GameWriter;
use crate::store::run_dir::{RunDir, State};
use crate::store::stream::{GameStream, in_process};
use crate::telemetry::{Event, Telemetry};
use crate::train::game::SelfPlaySettings;
use crate::train::learner::Learner;
use crate::train::replay::Replay;
use crate::train::selfplay::{Actor, GameNumbers, NetVersion};
use actor_thread::ActorThread;
use coordinator::Coordinator;
use evaluation_thread::EvaluationThread;
pub use evaluation_thread::LADDER;
pub use held_out::holds_out;
use inference::{Grouped, Inference};
pub use limits::RunLimit;
use messages::{Activity, NetToRate, NewNet};
pub use restore::FirstNet;
use restore::{Restored, restore};
pub use state::{ImpossibleCounter, NetRating, RunEnd, RunState};
use sync::{Schedule, Shared};

/// Activity reports and ratings that may wait.
const REPORTS_IN_FLIGHT: usize = 256;
/// Games that may wait for the coordinator, besides those of two quotas of positions.
const GAMES_IN_FLIGHT: usize = 256;
/// The most of the latter: with a quota beyond that, some actors wait for the disk, if ever.
const MOST_OF_QUOTAS: usize = 65_536;

/// How all games of a run are played.
pub fn rules(config: &Config) -> SelfPlaySettings {
    SelfPlaySettings {
        seed: config.seed,
        goal: config.goal,
        search: config.search.clone(),
        selfplay: config.selfplay.clone(),
    }
}

/// What the net of a run is.
pub fn spec(config: &Config) -> NetSpec {
    NetSpec { shape: config.board, options: config.net.clone() }
}

/// Whether a run of this configuration can start on this machine, as far as can be known before
/// anything is made.
///
/// # Errors
///
/// There is no such device, or the backend demanded cannot run on it.
pub fn check(config: &Config) -> anyhow::Result<()> {
    let (options, device) = (&config.inference, &config.device);
    Ok(crate::net::inference::check(&spec(config), options, device)?)
}

/// Trains as `config` says in the run directory `run`, from scratch or from what it holds,
/// until a limit is reached or `stop` is set; then leaves a last checkpoint. A run that has reached
/// a limit before plays and learns no more: at most its last net is rated. If it is finished and no
/// rating is due, it is left as it is: `run` has then not been started.
///
/// # Errors
///
/// Anything that keeps the run from going on: the learner diverges, a file cannot be written,
/// the device fails (by a panic of libtorch's binding or not). What was reported as stored is
/// stored.
pub fn train(
    config: &Config,
    run: &mut RunDir,
    telemetry: &Telemetry,
    stop: &AtomicBool,
) -> anyhow::Result<RunEnd> {
    guarded(|| dispatch!(config.board, G => train_on::<G>(config, run, telemetry, stop)))
}

/// Does work that may panic, as libtorch's binding does where a device has no memory left: an error
/// like any other.
fn guarded<T>(work: impl FnOnce() -> anyhow::Result<T>) -> anyhow::Result<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
        Err(anyhow!("a panic: {}", text.unwrap_or("without a message")))
    })
}

fn train_on<G: Geometry>(
    config: &Config,
    run: &mut RunDir,
    telemetry: &Telemetry,
    stop: &AtomicBool,
) -> anyhow::Result<RunEnd> {
    let spec = spec(config);
    let mut learner = learner(config, &spec)?;
    let mut replay = Replay::<G>::new(&config.replay);
    let mut held_out = Replay::<G>::new(&held_out::options(&config.replay));
    let Restored { mut state, lost_games } =
        restore(config, run, &mut learner, &mut replay, &mut held_out)?;
    let limit = limits::reached(&config.limits, &state, state.seconds);
    if limit.is_some() && is_finished(config, run, &state) {
        return Ok(RunEnd { state, limit });
    }
    let schedule = going_on(config, run, &state)?;
    state.schedule = Some(schedule);
    let weights = Arc::new(learner.play_weights());
    let inference = Inference::open(config, &spec, &weights)?;
    // A run that has reached a limit plays no more.
    let actors = limit.map_or(config.selfplay.actors, |_| 0);
    let predictors = inference.predictors(config, &spec, &weights, actors)?;
    // The games of a run that cannot go on like this stay as they were. This cuts a torn or damaged
    // end off, so what that accounts for is noted before.
    run.note_lost_games(lost_games)?;
    let games = open_games(run)?;
    run.start(&config.resolved())?;

    let shared = shared(&state, replay.is_empty(), limit, stop);
    let numbers = GameNumbers::from(state.next_game);
    let (game_stream, stream) = in_process(games_in_flight::<G>(schedule));
    let (activity_sender, activity) = bounded(REPORTS_IN_FLIGHT);
    let (rating_sender, ratings) = bounded(REPORTS_IN_FLIGHT);
    let made = NetVersion { version: state.version, positions: state.positions };
    let parts = ThreadParts { config, shared: &shared, numbers: &numbers, schedule };

    thread::scope(|scope| {
        let end = EndOfRun(&shared);
        let (actors, to_actors) =
            parts.actors::<G>(scope, predictors, made, game_stream, activity_sender);
        let run_dir = run.path().to_path_buf();
        let (evaluator, to_evaluator) =
            parts.evaluation::<G>(scope, run_dir, telemetry.sender(), rating_sender);
        let coordinator = Coordinator {
            config,
            shared: &shared,
            numbers: &numbers,
            schedule,
            state,
            learner,
            replay,
            held_out,
            games,
            run,
            stream,
            activity,
            to_actors,
            to_evaluator,
            telemetry: telemetry.sender(),
            ratings,
            newest_loss: None,
        };
        let summary = coordinator.run();
        if summary.is_err() {
            shared.stop();
        }
        // Also when the coordinator has failed: its channels are gone, and this wakes the rest.
        drop(end);
        joined(actors, evaluator, summary)
    })
}

/// Whether a run that has reached a limit is finished, and its last net waits for no rating.
fn is_finished(config: &Config, run: &RunDir, state: &RunState) -> bool {
    let evaluation = &config.evaluation;
    let is_evaluated = evaluation.every_minutes > 0.0 && !evaluation.opponents.is_empty();
    let is_rating_due = is_evaluated && state.last_rating().is_none();
    run.manifest().state == State::Finished && !is_rating_due
}

/// What the threads of a run share that stands at `state`, which may have reached a limit.
fn shared<'a>(
    state: &RunState,
    is_starved: bool,
    limit: Option<RunLimit>,
    stop: &'a AtomicBool,
) -> Shared<'a> {
    Shared {
        made: AtomicU64::new(state.positions),
        starved: AtomicBool::new(is_starved),
        stop,
        finished: AtomicBool::new(limit.is_some()),
    }
}

/// How many games may wait for the coordinator.
fn games_in_flight<G: Geometry>(schedule: Schedule) -> usize {
    let shortest_game = G::SQUARES / 2;
    let of_quotas = (2.0 * schedule.largest_quota) as usize / shortest_game;
    GAMES_IN_FLIGHT + of_quotas.min(MOST_OF_QUOTAS)
}

/// What has become of a run, once all its threads have ended.
fn joined(
    actors: Vec<ScopedJoinHandle<'_, Result<(), InferenceError>>>,
    evaluator: Option<ScopedJoinHandle<'_, ()>>,
    summary: anyhow::Result<RunEnd>,
) -> anyhow::Result<RunEnd> {
    // All of them first: a scope panics for a thread that panicked and that nobody has joined.
    let actors: Vec<_> = actors.into_iter().map(ScopedJoinHandle::join).collect();
    if evaluator.is_some_and(|evaluator| evaluator.join().is_err()) {
        tracing::warn!("the evaluator has panicked; the run has gone on without evaluations");
    }
    let summary = summary?;
    for actor in actors {
        actor.map_err(|_| anyhow!("an actor thread panicked"))??;
    }
    Ok(summary)
}

fn open_games(run: &RunDir) -> anyhow::Result<GameWriter> {
    let games = GameWriter::open(&run.games())?;
    let bytes = games.cut_off();
    if let Some(aside) = games.kept_aside() {
        let aside = aside.display();
        tracing::warn!("the games ended in {bytes} bytes that are no game; moved to {aside}");
    } else if bytes > 0 {
        tracing::warn!("the {bytes} bytes of a game that was not written whole are cut off");
    }
    Ok(games)
}

/// When the nets of a run that goes on from `state` are due.
fn going_on(config: &Config, run: &RunDir, state: &RunState) -> anyhow::Result<Schedule> {
    let wanted = schedule(config);
    let before = match state.schedule {
        Some(before) => before,
        // A checkpoint of an older version; what is stored is how the run was configured then.
        None => {
            let stored = run.config().ok();
            let stored = stored.and_then(|text| Config::parse("config.toml", &text, &[]).ok());
            stored.map_or(wanted, |stored| schedule(&stored))
        }
    };
    Ok(wanted.going_on(before, state.version, state.positions))
}

/// A learner of a random net on the configured device.
fn learner(config: &Config, spec: &NetSpec) -> anyhow::Result<Learner> {
    let device = device(&config.device)?;
    if device == tch::Device::Cpu {
        // The other cores are for the actors.
        tch::set_num_threads(1);
        keep_freed_memory();
    }
    Ok(Learner::new(spec, &config.learner, config.seed, device))
}

/// What the threads of a run are made from.
struct ThreadParts<'env> {
    config: &'env Config,
    shared: &'env Shared<'env>,
    numbers: &'env GameNumbers,
    schedule: Schedule,
}

/// Ends the run where it is dropped: so does an actor that ends, for whatever reason, and a
/// coordinator that panics.
struct EndOfRun<'a>(&'a Shared<'a>);

impl Drop for EndOfRun<'_> {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// The actor threads, and the ways of nets to them.
type Actors<'scope> =
    (Vec<ScopedJoinHandle<'scope, Result<(), InferenceError>>>, Vec<Sender<NewNet>>);

impl<'env> ThreadParts<'env> {
    /// Starts an actor with each of the predictors, whose net was `made` then.
    fn actors<'scope, G: Geometry>(
        &self,
        scope: &'scope Scope<'scope, 'env>,
        predictors: Vec<Grouped>,
        made: NetVersion,
        games: impl GameStream,
        activity: Sender<Activity>,
    ) -> Actors<'scope> {
        let (shared, numbers) = (self.shared, self.numbers);
        let (mut threads, mut senders) = (Vec::new(), Vec::new());
        for (evaluator, groups) in predictors {
            // An actor that waits takes them faster than they can be made, and one that plays is
            // never far behind.
            let (sender, nets) = unbounded();
            senders.push(sender);
            let thread = ActorThread::<G> {
                actor: Actor::new(rules(self.config), evaluator, groups, numbers, made),
                numbers,
                shared,
                schedule: self.schedule,
                version: made.version,
                nets,
                games: games.another(),
                activity: activity.clone(),
            };
            threads.push(scope.spawn(move || {
                let _end = EndOfRun(shared);
                thread.run().inspect_err(|error| tracing::warn!("an actor ends: {error}"))
            }));
        }
        (threads, senders)
    }

    /// Starts the evaluator, if the configuration has one.
    fn evaluation<'scope, G: Geometry>(
        &self,
        scope: &'scope Scope<'scope, 'env>,
        run_dir: PathBuf,
        telemetry: Sender<Event>,
        ratings: Sender<NetRating>,
    ) -> (Option<ScopedJoinHandle<'scope, ()>>, Option<Sender<NetToRate>>) {
        if self.config.evaluation.every_minutes == 0.0 {
            return (None, None);
        }
        let ThreadParts { config, shared, .. } = *self;
        let evaluator = EvaluationThread { config, run_dir, shared, telemetry, ratings };
        let (sender, nets) = bounded(1);
        (Some(scope.spawn(move || evaluator.run::<G>(nets))), Some(sender))
    }
}

/// When the nets of a run are due, in positions.
fn schedule(config: &Config) -> Schedule {
    let samples = f64::from(config.learner.batch) * f64::from(config.learner.steps_per_publish);
    let least = config.replay.ratio;
    Schedule {
        first: 0,
        warmup: config.replay.min_positions,
        quota: samples / least.max(config.replay.ratio_max),
        largest_quota: samples / least,
    }
}
