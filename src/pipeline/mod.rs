//! One training run: the only place where training threads are spawned, joined and stopped.
//!
//! ```text
//! actor threads ──games──> coordinator (replay window, net, optimiser) ──nets──> actor threads
//!                               │ └──nets──> evaluation thread ──ratings─┐
//!                               └──curves──> telemetry thread <──────────┘
//! ```
//!
//! The coordinator runs on the thread that calls [`train`]. It owns all data that training changes.
//!
//! Methods that train stage by stage need none of these threads: `stagewise` drives them.

mod actor_thread;
mod clock;
pub mod cluster;
mod coordinator;
mod counted;
mod evaluation_thread;
mod held_out;
mod inference;
mod limits;
mod messages;
mod rate;
mod restore;
mod stagewise;
mod state;
mod statistics;
mod sync;
mod threads;
mod trainee;
mod transport;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::thread;

use anyhow::anyhow;
use crossbeam_channel::bounded;

use crate::config::{Config, Method};
use crate::game::Geometry;
use crate::model::Description;
use crate::net::NetSpec;
use crate::players::inputs::{self, InputsError};
use crate::store::games::GameWriter;
use crate::store::run_dir::{RunDir, State};
use crate::telemetry::Telemetry;
use crate::train::game::SelfPlaySettings;
use crate::train::replay::Replay;
use crate::train::selfplay::GameNumbers;
use cluster::ServeOptions;
use cluster::serve::WithWorkers;
use coordinator::Coordinator;
use counted::CountedGames;
pub use evaluation_thread::LADDER;
pub use held_out::holds_out;
use inference::Inference;
pub use limits::RunLimit;
pub use restore::InitialModel;
use restore::{RestoredRun, restore};
pub use state::{Ending, ImpossibleCounter, NetRating, RunEnd, RunState};
use sync::{Counters, Pace, Schedule, Shared};
use threads::{EndRunOnDrop, ThreadParts, join_threads};
pub use trainee::{NetTrainee, Trainee};
use transport::{InProcess, Transport, in_process};

/// Capacity of the channel for ratings.
const RATINGS_IN_FLIGHT: usize = 256;
/// Capacity of the channel for games, in addition to the games of two quotas of positions.
const GAMES_IN_FLIGHT: usize = 256;
/// The largest capacity for the games of two quotas. With larger quotas, actors may have to wait.
const MAX_GAMES_OF_QUOTAS: usize = 65_536;

/// The settings of all self-play games of a run.
pub fn selfplay_settings(config: &Config) -> SelfPlaySettings {
    SelfPlaySettings {
        seed: config.seed,
        goal: config.goal,
        search: config.search.clone(),
        selfplay: config.selfplay.clone(),
    }
}

/// The board and architecture of a run's net. If its inputs are evaluations, the run directory `run`
/// may have a copy of their evaluator.
///
/// # Errors
///
/// The evaluator is missing, damaged or another one.
pub fn net_spec(config: &Config, run: Option<&RunDir>) -> Result<NetSpec, InputsError> {
    let spec = NetSpec { shape: config.board, options: config.net.clone(), evaluator: None };
    let copy = run.map(|run| run.path().join(inputs::COPY));
    inputs::complete(spec, config.goal, copy.as_deref())
}

/// Checks that a run of this configuration can start on this machine, before any file is created.
///
/// # Errors
///
/// This build has no libtorch, the device does not exist, the configured backend cannot run on it, or the evaluator of
/// the net's inputs or an opponent of the evaluations cannot be opened.
pub fn check(config: &Config) -> anyhow::Result<()> {
    if config.method != Method::AlphaZero {
        return stagewise::check(config);
    }
    trainee::check_build()?;
    let (options, device) = (&config.inference, &config.device);
    crate::net::inference::check(&net_spec(config, None)?, options, device)?;
    if config.evaluation.every_minutes > 0.0 {
        dispatch!(config.board, G => evaluation_thread::opponents::<G>(config).map(drop))?;
    }
    Ok(())
}

/// Trains in the run directory `run`, from the start or from its newest checkpoint, until a limit
/// is reached or `stop` is set. Then writes a last checkpoint.
///
/// A run that reached a limit before does not play or train any more; only its last net is rated if
/// it has no rating yet. If there is nothing to rate either, the run directory is unchanged and
/// [`RunDir::start`] was not called.
///
/// # Errors
///
/// The run cannot continue: the learner diverges, a file cannot be written, or the device fails,
/// with or without a panic of libtorch's binding. Everything that was reported as stored is stored.
pub fn train(
    config: &Config,
    run: &mut RunDir,
    telemetry: &Telemetry,
    stop: &AtomicBool,
) -> anyhow::Result<RunEnd> {
    match config.method {
        Method::AlphaZero => {
            let trainee = NetTrainee::open(config, Some(run))?;
            train_model(&trainee, config, run, telemetry, stop)
        }
        Method::Stages | Method::Td | Method::Endgame | Method::NTuple => {
            catch_panic(|| stagewise::train(config, run, telemetry, stop))
        }
    }
}

/// The same as [`train`] with workers on other machines.
///
/// # Errors
///
/// As for [`train`]; or the method has no self-play, or the server refuses the run.
pub fn train_with_workers(
    config: &Config,
    run: &mut RunDir,
    telemetry: &Telemetry,
    stop: &AtomicBool,
    serve: &ServeOptions,
) -> anyhow::Result<RunEnd> {
    let connect = |local, parts: RunParts<'_>| -> anyhow::Result<Box<dyn Transport>> {
        Ok(Box::new(WithWorkers::open(serve, local, parts)?))
    };
    let with = Playing { plays: serve.plays, connect: &connect };
    let trainee = NetTrainee::open(config, Some(run))?;
    train_over(&trainee, config, run, telemetry, stop, &with)
}

/// Everything that a transport may need to know about a run.
struct RunParts<'a> {
    config: &'a Config,
    description: &'a Description,
    run: &'a RunDir,
    counters: &'a Arc<Counters>,
    schedule: Schedule,
    state: &'a RunState,
    /// The numbers of the stored games.
    counted: &'a CountedGames,
}

/// Makes the transport of a run from that of its own process.
type Connect<'a> = dyn Fn(InProcess, RunParts<'_>) -> anyhow::Result<Box<dyn Transport>> + 'a;

/// Who plays for a run.
struct Playing<'a> {
    /// Whether this process has actors.
    plays: bool,
    connect: &'a Connect<'a>,
}

/// The transport of a run whose actors are all in its own process.
fn alone(local: InProcess, _: RunParts<'_>) -> anyhow::Result<Box<dyn Transport>> {
    Ok(Box::new(local))
}

/// The same as [`train`] for any kind of model that learns from self-play. `config.net` is not used.
///
/// # Errors
///
/// As for [`train`].
pub fn train_model(
    trainee: &dyn Trainee,
    config: &Config,
    run: &mut RunDir,
    telemetry: &Telemetry,
    stop: &AtomicBool,
) -> anyhow::Result<RunEnd> {
    let with = Playing { plays: true, connect: &alone };
    train_over(trainee, config, run, telemetry, stop, &with)
}

/// The same as [`train_model`] over any transport.
fn train_over(
    trainee: &dyn Trainee,
    config: &Config,
    run: &mut RunDir,
    telemetry: &Telemetry,
    stop: &AtomicBool,
    with: &Playing<'_>,
) -> anyhow::Result<RunEnd> {
    catch_panic(
        || dispatch!(config.board, G => train_on::<G>(trainee, config, run, telemetry, stop, with)),
    )
}

/// Turns a panic of `work` into an error. libtorch's binding panics if a device is out of memory,
/// for example.
fn catch_panic<T>(work: impl FnOnce() -> anyhow::Result<T>) -> anyhow::Result<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
        Err(anyhow!("a panic: {}", text.unwrap_or("without a message")))
    })
}

fn train_on<G: Geometry>(
    trainee: &dyn Trainee,
    config: &Config,
    run: &mut RunDir,
    telemetry: &Telemetry,
    stop: &AtomicBool,
    with: &Playing<'_>,
) -> anyhow::Result<RunEnd> {
    let description = trainee.description();
    let mut learner = trainee.learner()?;
    let mut replay = Replay::<G>::new(&config.replay);
    let mut held_out = Replay::<G>::new(&held_out::options(&config.replay));
    let RestoredRun { mut state, lost_games, counted, excluded } =
        restore(&description, config, run, learner.as_mut(), &mut replay, &mut held_out)?;
    let limit = limits::reached_limit(&config.limits, &state, state.seconds);
    if limit.is_some() && is_finished(config, run, &state) {
        return Ok(RunEnd { state, ending: Ending::at(limit) });
    }
    let schedule = resumed_schedule(config, run, &state)?;
    state.schedule = Some(schedule);
    // A run that has reached a limit has no actors.
    let actors = if limit.is_none() && with.plays { config.selfplay.actors } else { 0 };
    let weights = Arc::new(learner.play_weights());
    let shared = shared(&state, replay.is_empty(), limit, stop);
    let (_inference, predictors) = Inference::start(config, &description, &weights, actors)?;
    // Before this point nothing was changed, so that a failed resume leaves the games untouched.
    let games = begin(config, run, lost_games)?;
    let (channels, mut local) = in_process(games_in_flight::<G>(schedule));
    let (rating_sender, ratings) = bounded(RATINGS_IN_FLIGHT);
    let parts = ThreadParts { config, shared: &shared, pace: Pace::Schedule(schedule) };

    thread::scope(|scope| {
        let end = EndRunOnDrop(&shared);
        let actors = parts.actors::<G>(scope, predictors, state.net(), channels, &mut local);
        let facts = RunParts {
            config,
            description: &description,
            run,
            counters: &shared.counters,
            schedule,
            state: &state,
            counted: &counted,
        };
        let transport = (with.connect)(local, facts)?;
        let (evaluation, to_evaluation) =
            parts.evaluation::<G>(scope, run.path(), telemetry.sender(), rating_sender);
        let coordinator = Coordinator {
            config,
            shared: &shared,
            schedule,
            state,
            description,
            learner,
            replay,
            held_out,
            games,
            counted,
            excluded,
            run,
            transport,
            to_evaluation,
            telemetry: telemetry.sender(),
            ratings,
            newest_loss: None,
            unconfirmed: None,
        };
        let result = coordinator.run().inspect_err(|_| shared.stop());
        // The coordinator's channels are closed by now; together with this, all threads end.
        drop(end);
        join_threads(actors, evaluation, result)
    })
}

/// Whether a run that has reached a limit is finished and needs no rating of its last net.
fn is_finished(config: &Config, run: &RunDir, state: &RunState) -> bool {
    let evaluation = &config.evaluation;
    let is_evaluated = evaluation.every_minutes > 0.0 && !evaluation.opponents.is_empty();
    let is_rating_due = is_evaluated && state.last_rating().is_none();
    run.manifest().state == State::Finished && !is_rating_due
}

/// The shared state of a run's threads at its start. `limit` is a limit that is already reached.
fn shared<'a>(
    state: &RunState,
    is_starved: bool,
    limit: Option<RunLimit>,
    stop: &'a AtomicBool,
) -> Shared<'a> {
    let counters = Counters {
        numbers: GameNumbers::from(state.next_game),
        positions: AtomicU64::new(state.positions),
        learner_starved: AtomicBool::new(is_starved),
    };
    Shared { counters: Arc::new(counters), stop, finished: AtomicBool::new(limit.is_some()) }
}

/// The capacity of the channel for games.
fn games_in_flight<G: Geometry>(schedule: Schedule) -> usize {
    let shortest_game = G::SQUARES / 2;
    let games_of_quotas = (2.0 * schedule.largest_quota) as usize / shortest_game;
    GAMES_IN_FLIGHT + games_of_quotas.min(MAX_GAMES_OF_QUOTAS)
}

/// Records that the run starts, and opens its games. `open_games` cuts off a damaged end, so the
/// number of lost games is recorded first.
fn begin(config: &Config, run: &mut RunDir, lost_games: u64) -> anyhow::Result<GameWriter> {
    run.note_lost_games(lost_games)?;
    let games = open_games(run)?;
    run.start(&config.resolved())?;
    Ok(games)
}

fn open_games(run: &RunDir) -> anyhow::Result<GameWriter> {
    let games = GameWriter::open(&run.games())?;
    let bytes = games.cut_off();
    if let Some(path) = games.saved_to() {
        let saved_to = path.display();
        tracing::warn!("the games ended in {bytes} bytes that are not a game; moved to {saved_to}");
    } else if bytes > 0 {
        tracing::warn!("removed an incomplete game of {bytes} bytes from the end of the games");
    }
    Ok(games)
}

/// The schedule of a run that is resumed at `state`.
fn resumed_schedule(config: &Config, run: &RunDir, state: &RunState) -> anyhow::Result<Schedule> {
    let wanted = schedule(config);
    let before = match state.schedule {
        Some(before) => before,
        // A checkpoint of an older version has no schedule: it follows from the stored config.
        None => {
            let stored = run.config().ok();
            let stored =
                stored.and_then(|text| Config::parse_stored("config.toml", &text, &[]).ok());
            stored.map_or(wanted, |stored| schedule(&stored))
        }
    };
    Ok(wanted.resumed_from(before, state.version, state.positions))
}

/// The schedule of a new run with this configuration.
fn schedule(config: &Config) -> Schedule {
    let samples = f64::from(config.learner.batch) * f64::from(config.learner.steps_per_publish);
    let least = config.replay.ratio;
    if config.selfplay.actors == 0 {
        // Nothing is waited for: all games are there.
        let none = f64::MIN_POSITIVE;
        return Schedule { first: 0, warmup: 0, quota: none, largest_quota: none };
    }
    Schedule {
        first: 0,
        warmup: config.replay.min_positions,
        quota: samples / least.max(config.replay.ratio_max),
        largest_quota: samples / least,
    }
}
