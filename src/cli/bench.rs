//! `outflank bench`: measures the speed of this machine.

mod balance;
mod engine;
mod evaluator;
mod fit;
mod patterns;
mod people;
mod positions;
mod run;
mod stages;

use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow, bail};
use clap::{Args as ClapArgs, Subcommand, ValueEnum};
use rand::RngExt;
use serde::Serialize;

use crate::config::Config;
use crate::game::record::{GameRecord, MoveRecord};
use crate::game::{Board, Geometry, Goal, Position, Shape, perft};
use crate::model::weights::Weights;
use crate::net::bench::positions;
use crate::net::inference;
use crate::net::{NetSpec, initial_weights};
use crate::pipeline::{self, NetTrainee, Trainee as _};
use crate::players::spec::{EvaluatorKind, EvaluatorSource};
use crate::predict::{LocalPredictor, Predictions};
use crate::train::game::Work;
use crate::train::learner::RunProgress;
use crate::train::replay::{Batch, Replay};
use crate::train::seeds::{Purpose, Random, stream};
use crate::train::selfplay::{Actor, GameNumbers, NetVersion};

/// What to measure.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Measurement {
    /// Predictions of the net in play.
    Net,
    /// Self-play with 1, 2, ... actors, up to those of the configuration but at least 2.
    Selfplay,
    /// Training steps.
    Learner,
    /// Move generation: leaves of the game tree a second.
    Perft,
    /// The exact solver, on positions from games with 8, 10 and 12 empty squares.
    Solve,
    /// Alpha-beta.
    Alphabeta,
}

/// Measurements with options of their own.
#[derive(Subcommand, Debug)]
enum BenchCommand {
    Run(run::Args),
    Evaluator(evaluator::Args),
    People(people::Args),
    Positions(Box<positions::Args>),
    Fit(fit::Args),
    Patterns(patterns::Args),
    Stages(stages::Args),
}

/// Measures the speed of this machine.
#[derive(ClapArgs, Debug)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct Args {
    /// What to measure.
    #[arg(required = true)]
    what: Option<Measurement>,
    #[command(subcommand)]
    command: Option<BenchCommand>,
    /// The configuration whose net, search and learner are measured; by default a net of 4 blocks
    /// of 32 channels and 32 simulations a move.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Change a key of the configuration; may be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    overrides: Vec<String>,
    /// The board, for `perft`, `solve` and `alphabeta`; by default 8x8.
    #[arg(long)]
    shape: Option<Shape>,
    /// The depth, for `perft` (by default 11) and `alphabeta` (by default 10).
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=60))]
    depth: Option<u32>,
    /// The evaluator of `alphabeta`: best, positional, discs, or the path of a model that is no net;
    /// by default positional.
    #[arg(long, value_name = "NAME|PATH")]
    eval: Option<EvaluatorSource>,
    /// Positions that the net computes at once, for `net` and `selfplay`; by default
    /// `selfplay.games_per_actor` of the configuration.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=65_536))]
    batch: Option<u32>,
    /// Seconds to measure, after a warm-up, for `net`, `selfplay` and `learner`; by default 5.
    #[arg(long, value_parser = |text: &str| number(text, 0.01..=3600.0, "seconds"))]
    seconds: Option<f64>,
    /// Print one JSON object a line.
    #[arg(long)]
    json: bool,
}

impl Args {
    /// Refuses an option that this measurement does not use.
    fn check(&self, what: Measurement) -> anyhow::Result<()> {
        use Measurement::{Alphabeta, Learner, Net, Perft, Selfplay};
        let uses_net = matches!(what, Net | Selfplay | Learner);
        let options = [
            ("--config", self.config.is_some(), uses_net),
            ("--set", !self.overrides.is_empty(), uses_net),
            ("--batch", self.batch.is_some(), matches!(what, Net | Selfplay)),
            ("--seconds", self.seconds.is_some(), uses_net),
            ("--shape", self.shape.is_some(), !uses_net),
            ("--eval", self.eval.is_some(), what == Alphabeta),
            ("--depth", self.depth.is_some(), matches!(what, Perft | Alphabeta)),
        ];
        for (name, is_given, is_used) in options {
            if is_given && !is_used {
                let what = what.to_possible_value();
                let what = what.as_ref().map_or("", |value| value.get_name());
                bail!("`bench {what}` does not use {name}; fix: leave it out");
            }
        }
        Ok(())
    }
}

/// Parses a number of seconds or minutes; `unit` is for the error.
pub(super) fn number(text: &str, allowed: RangeInclusive<f64>, unit: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number| allowed.contains(number));
    let (least, most) = (allowed.start(), allowed.end());
    number.ok_or_else(|| format!("allowed: a number of {unit} from {least} to {most}"))
}

/// One result, printed on one line.
#[derive(Clone, PartialEq, Debug, Serialize)]
struct Figure {
    version: u32,
    name: String,
    value: f64,
    unit: &'static str,
}

impl Figure {
    fn new(name: impl Into<String>, value: f64, unit: &'static str) -> Figure {
        Figure { version: 1, name: name.into(), value, unit }
    }

    fn print(&self, json: bool) -> anyhow::Result<()> {
        if json {
            println!("{}", serde_json::to_string(self)?);
        } else {
            let decimals = if self.value.abs() < 10.0 { 4 } else { 1 };
            let line = format!("{:<44} {:>16.decimals$} {}", self.name, self.value, self.unit);
            println!("{}", line.trim_end());
        }
        Ok(())
    }
}

/// Runs the subcommand.
///
/// # Errors
///
/// The configuration is bad, or libtorch fails.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let what = match (&args.command, args.what) {
        (Some(BenchCommand::Run(args)), _) => return run::run(args),
        (Some(BenchCommand::Fit(args)), _) => return fit::run(args),
        (Some(BenchCommand::Evaluator(args)), _) => return evaluator::run(args),
        (Some(BenchCommand::Positions(args)), _) => return positions::run(args),
        (Some(BenchCommand::People(args)), _) => return people::run(args),
        (Some(BenchCommand::Patterns(args)), _) => return patterns::run(args),
        (Some(BenchCommand::Stages(args)), _) => return stages::run(args),
        (None, Some(what)) => what,
        (None, None) => bail!("name a measurement"),
    };
    args.check(what)?;
    let mut config = match &args.config {
        Some(path) => Config::load(path, &args.overrides)?,
        None => Config::parse("bench", BENCH_CONFIG, &args.overrides)?,
    };
    if let Some(batch) = args.batch {
        config.selfplay.games_per_actor = batch;
    }
    let seconds = Duration::from_secs_f64(args.seconds.unwrap_or(5.0));
    let shape = args.shape.unwrap_or(Shape::Square8);
    let figures = match what {
        Measurement::Net => net(&config, seconds)?,
        Measurement::Selfplay => selfplay(&config, seconds)?,
        Measurement::Learner => dispatch!(config.board, G => learner::<G>(&config, seconds))?,
        Measurement::Perft => dispatch!(shape, G => leaves::<G>(args.depth.unwrap_or(11))),
        Measurement::Solve => dispatch!(shape, G => engine::solve::<G>()),
        Measurement::Alphabeta => {
            let positional = EvaluatorSource::Named(EvaluatorKind::Positional);
            let (depth, source) = (args.depth.unwrap_or(10), args.eval.unwrap_or(positional));
            dispatch!(shape, G => engine::alphabeta::<G>(depth, &source.open(Goal::Most)?.0))
        }
    };
    for figure in figures {
        figure.print(args.json)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The configuration without --config.
const BENCH_CONFIG: &str = "\
[net]
blocks = 4
channels = 32
[search]
simulations = 32
[selfplay]
games_per_actor = 256
opening_plies = 0
";

fn leaves<G: Geometry>(depth: u32) -> Vec<Figure> {
    let start = Instant::now();
    let leaves = perft::count(Board::<G>::start(), depth);
    let rate = leaves as f64 / start.elapsed().as_secs_f64();
    let name = format!("perft {} depth {depth}", G::SHAPE);
    vec![Figure::new(name, rate / 1e6, "million leaves/s")]
}

fn random_net(config: &Config) -> anyhow::Result<(NetSpec, Weights)> {
    let spec = pipeline::net_spec(config, None)?;
    let weights = initial_weights(&spec, config.seed);
    Ok((spec, weights))
}

fn net(config: &Config, seconds: Duration) -> anyhow::Result<Vec<Figure>> {
    let (spec, weights) = random_net(config)?;
    let mut backend = inference::open(&spec, &weights, &config.inference, &config.device)?;
    let batch = config.selfplay.games_per_actor as usize;
    let inputs = positions(config.board, batch, 1);
    let mut outputs = Predictions::default();
    let rate = measured(seconds, || {
        backend.predict(&inputs, &mut outputs)?;
        Ok(batch as f64)
    })?;
    let name = format!("net {} batch {batch}", backend.describe());
    Ok(vec![Figure::new(name, rate, "positions/s")])
}

/// The units of work a second, measured for at least `seconds` after a tenth of that as warm-up.
/// `work` returns how many units it did.
fn measured(
    seconds: Duration,
    mut work: impl FnMut() -> anyhow::Result<f64>,
) -> anyhow::Result<f64> {
    repeated(seconds / 10, &mut work)?;
    repeated(seconds, work)
}

/// The units of work a second over at least `seconds`, and over one call at least: a busy machine
/// may take the processor away for longer than a short measurement.
fn repeated(
    seconds: Duration,
    mut work: impl FnMut() -> anyhow::Result<f64>,
) -> anyhow::Result<f64> {
    let start = Instant::now();
    let mut done = work()?;
    while start.elapsed() < seconds {
        done += work()?;
    }
    Ok(done / start.elapsed().as_secs_f64())
}

fn selfplay(config: &Config, seconds: Duration) -> anyhow::Result<Vec<Figure>> {
    let mut figures = Vec::new();
    let mut single = 0.0;
    for actors in 1..=config.selfplay.actors.max(2) {
        tell!("{actors} actors: warming up until the first games end, then measuring");
        let rates = dispatch!(config.board, G => actors_together::<G>(config, actors, seconds))?;
        let simulations: f64 = rates.iter().map(|rate| rate.0).sum();
        let evaluations: f64 = rates.iter().map(|rate| rate.1).sum();
        let games: f64 = rates.iter().map(|rate| rate.2).sum();
        let name = |what: &str| format!("selfplay {actors} actors {what}");
        figures.push(Figure::new(name("simulations"), simulations, "simulations/s"));
        figures.push(Figure::new(name("evaluations"), evaluations, "evaluations/s"));
        figures.push(Figure::new(name("games"), games, "games/s"));
        if actors == 1 {
            single = simulations;
        } else if single > 0.0 {
            figures.push(Figure::new(name("scaling"), simulations / single, "times one actor"));
        }
    }
    Ok(figures)
}

/// Simulations, evaluations and games a second of each of `actors` that play at the same time.
fn actors_together<G: Geometry>(
    config: &Config,
    actors: u32,
    seconds: Duration,
) -> anyhow::Result<Vec<(f64, f64, f64)>> {
    let (spec, weights) = random_net(config)?;
    let numbers = GameNumbers::from(0);
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..actors)
            .map(|_| scope.spawn(|| one_actor::<G>(config, &spec, &weights, &numbers, seconds)))
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().map_err(|_| anyhow!("an actor thread panicked"))?)
            .collect()
    })
}

fn one_actor<G: Geometry>(
    config: &Config,
    spec: &NetSpec,
    weights: &Weights,
    numbers: &GameNumbers,
    seconds: Duration,
) -> anyhow::Result<(f64, f64, f64)> {
    let backend = inference::open(spec, weights, &config.inference, &config.device)?;
    let predictor = Box::new(LocalPredictor::new(backend));
    let mut actor = Actor::<G>::new(
        pipeline::selfplay_settings(config),
        predictor,
        1,
        numbers,
        NetVersion::default(),
    );
    let mut finished = Vec::new();
    let mut games = 0;
    // All games start at the same time. The first ones are played as a warm-up. After that the
    // games are at different stages, as in a long run.
    while games < config.selfplay.games_per_actor as usize {
        actor.step(numbers, &mut finished)?;
        games += finished.drain(..).len();
    }
    actor.take_work();
    let mut work = Work::default();
    let start = Instant::now();
    let games = repeated(seconds, || {
        actor.step(numbers, &mut finished)?;
        work += actor.take_work();
        Ok(finished.drain(..).len() as f64)
    })?;
    let elapsed = start.elapsed().as_secs_f64();
    Ok((work.simulations as f64 / elapsed, work.evaluations as f64 / elapsed, games))
}

fn learner<G: Geometry>(config: &Config, seconds: Duration) -> anyhow::Result<Vec<Figure>> {
    let mut learner = NetTrainee::open(config, None)?.learner()?;
    let mut replay = Replay::<G>::new(&config.replay);
    let mut random = stream(config.seed, Purpose::Game, 0);
    // A window of a small `max_positions` never holds 10,000, so count the positions added.
    let mut added = 0;
    while added < 10_000 {
        let record = random_game::<G>(config, &mut random);
        added += replay.add(&record).context("a random game")?.positions;
        replay.set_total_positions(added as u64);
    }
    let mut batch = Batch::default();
    let size = config.learner.batch as usize;
    let share = config.learner.search_value_share;
    let gather = measured(seconds / 5, || {
        replay.sample(size, config.learner.augment, share, &mut random, &mut batch);
        Ok(size as f64)
    })?;
    let rate = measured(seconds, || {
        replay.sample(size, config.learner.augment, share, &mut random, &mut batch);
        learner.step(&batch, RunProgress::default(), &mut random);
        Ok(size as f64)
    })?;
    learner.take_losses()?;
    Ok(vec![
        Figure::new("learner gathering alone", gather, "positions/s"),
        Figure::new(format!("learner batch {size}"), rate, "positions/s"),
    ])
}

/// A game of random moves with uniform policies, as training data.
fn random_game<G: Geometry>(config: &Config, random: &mut Random) -> GameRecord {
    let start = Position::<G>::start();
    let mut record = GameRecord::begin(start, config.goal, 0);
    let mut position = start;
    while let legal = position.board.legal()
        && !legal.is_empty()
    {
        let choice = random.random_range(0..legal.len());
        let Some(square) = legal.into_iter().nth(choice) else { break };
        let policy = vec![1 << 15; legal.len()];
        record.moves.push(MoveRecord { square, policy, value: Some(0.0), exact: None });
        let board = position.board.play_unchecked(square);
        position = Position { board, side: !position.side }.pass_if_forced();
    }
    record.score = position.black_view().final_score(config.goal) as i16;
    record
}
