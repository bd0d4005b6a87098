//! `outflank bench fit CONFIG --games RUN`: how well a net learns stored games in a given time.
//!
//! There is no self-play. Two configurations train on the same games, so only the net and the
//! learner differ, and a few minutes show what a run shows after an hour.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use clap::Args as ClapArgs;

use super::{Figure, number};
use crate::config::Config;
use crate::game::Geometry;
use crate::model::Description;
use crate::pipeline::{self, NetTrainee, Trainee as _};
use crate::store::games::read_tail;
use crate::store::model_file::ModelFile;
use crate::store::run_dir::{GAMES, RunDirError, is_run};
use crate::train::learner::RunProgress;
use crate::train::replay::{Batch, Options, Replay};
use crate::train::seeds::{Purpose, stream};

/// How many held-out positions measure the net.
const TEST_POSITIONS: usize = 8192;

/// Trains a net on the games of a run for some time, and shows how well it predicts other games.
///
/// One game in fifty is held out, the same ones as in a run. The net is measured on those positions
/// of held-out games that were searched: with more than `search.solve_empties` empty squares. The
/// learning rate is that of a run with as many positions; its cooldown follows the given time. The
/// figures are of the weights after the last step; `--write` stores their moving average, as a run
/// does.
#[derive(ClapArgs, Debug)]
pub struct Args {
    /// The configuration.
    #[arg(value_name = "CONFIG")]
    config: PathBuf,
    /// Change a key of the configuration; may be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    overrides: Vec<String>,
    /// The run directory whose games the net is trained on.
    #[arg(long, value_name = "RUN_DIR")]
    games: PathBuf,
    /// How many of the newest positions to read, those held out included.
    #[arg(long, value_name = "N", default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(1..=100_000_000))]
    positions: u64,
    /// Seconds of training.
    #[arg(long, value_name = "S", default_value_t = 120.0, value_parser = |text: &str| number(text, 0.1..=86_400.0, "seconds"))]
    seconds: f64,
    /// Write the net to this file, for `outflank arena net:FILE ...`; by default it is not kept.
    #[arg(long, value_name = "FILE")]
    write: Option<PathBuf>,
    /// Print one JSON object a line.
    #[arg(long)]
    json: bool,
}

/// Runs the subcommand.
///
/// # Errors
///
/// The configuration is bad, the run's games cannot be read or are too few, the learner diverges,
/// or the net cannot be written.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let config = Config::load(&args.config, &args.overrides)?;
    dispatch!(config.board, G => fit::<G>(args, &config))
}

fn fit<G: Geometry>(args: &Args, config: &Config) -> anyhow::Result<ExitCode> {
    let trainee = NetTrainee::open(config, None)?;
    let mut learner = trainee.learner()?;
    let (mut training, mut held_out) = read::<G>(args, config)?;
    let mut test = Batch::default();
    held_out.sample(TEST_POSITIONS, false, 0.0, &mut stream(0, Purpose::Batch, 0), &mut test);

    let mut random = stream(config.seed, Purpose::Batch, 0);
    let (size, share) = (config.learner.batch as usize, config.learner.search_value_share);
    let mut batch = Batch::default();
    let (time, start) = (Duration::from_secs_f64(args.seconds), Instant::now());
    while let spent = start.elapsed()
        && spent < time
    {
        let progress = RunProgress {
            positions: training.total_positions(),
            share: spent.div_duration_f64(time),
        };
        training.sample(size, config.learner.augment, share, &mut random, &mut batch);
        learner.step(&batch, progress, &mut random);
    }
    learner.take_losses()?;
    let samples = learner.steps() * u64::from(config.learner.batch);
    for figure in figures(learner.steps(), samples, &learner.evaluate(&test)) {
        figure.print(args.json)?;
    }
    if let Some(path) = &args.write {
        let (positions, steps) = (training.total_positions(), learner.steps());
        let description = Description { positions, steps, ..trainee.description() };
        let weights = learner.play_weights().to_bytes(&Default::default());
        ModelFile::seal(&serde_json::to_value(description)?, &weights)?.write(path)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The games to train on, and the held-out games.
fn read<G: Geometry>(args: &Args, config: &Config) -> anyhow::Result<(Replay<G>, Replay<G>)> {
    if !is_run(&args.games)? {
        return Err(RunDirError::NoRun { path: args.games.clone() }.into());
    }
    // The window must hold all requested games, even if the run's own window is smaller.
    let kept = args.positions.saturating_mul(2);
    let all = Options { max_positions: kept, growth_start: kept, ..config.replay.clone() };
    let searched = Options { skip_empties: config.search.solve_empties, ..all.clone() };
    let (mut training, mut held_out) = (Replay::new(&all), Replay::new(&searched));
    let mut skipped = 0;
    for game in read_tail(&args.games.join(GAMES), args.positions)? {
        let Ok(game) = game else {
            skipped += 1;
            continue;
        };
        let window = if pipeline::holds_out(&game) { &mut held_out } else { &mut training };
        window.add(&game).with_context(|| format!("{}: game {}", args.games.display(), game.id))?;
    }
    let run = args.games.display();
    if skipped > 0 {
        tell!("warning: {run}: {skipped} games cannot be read; left out");
    }
    if training.is_empty() || held_out.is_empty() {
        bail!("{run}: too few games: training needs at least 50, of which one is held out");
    }
    Ok((training, held_out))
}

fn figures(steps: u64, samples: u64, held_out: &[(&str, f64)]) -> [Figure; 8] {
    let of = |name: &str| {
        let found = held_out.iter().find(|(known, _)| *known == name);
        found.map_or(0.0, |(_, value)| *value)
    };
    [
        Figure::new("fit steps", steps as f64, "steps"),
        Figure::new("fit samples", samples as f64, "positions"),
        Figure::new("fit held-out policy loss", of("held_out/policy_loss"), "nats"),
        Figure::new("fit entropy of the searches", of("policy/target_entropy"), "nats"),
        Figure::new("fit agreement with the searches", 100.0 * of("policy/agreement"), "%"),
        Figure::new("fit held-out value loss", of("held_out/value_loss"), ""),
        Figure::new("fit held-out score loss", of("held_out/score_loss"), ""),
        Figure::new("fit held-out owner loss", of("held_out/owner_loss"), ""),
    ]
}
