//! `outflank bench fit CONFIG --games RUN`: how well a net learns stored games in a given time.
//!
//! Self-play is left out: two configurations learn from the same games, so that what differs is
//! the net and the learner alone, and a few minutes tell what a run tells after an hour.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use clap::Args as ClapArgs;

use super::{Figure, number};
use crate::config::Config;
use crate::game::Geometry;
use crate::net::{Description, inference, keep_freed_memory};
use crate::pipeline;
use crate::store::games::read_tail;
use crate::store::net_file::NetFile;
use crate::store::run_dir::{GAMES, RunDirError, is_run};
use crate::train::learner::{HeldOut, Learner, RunProgress};
use crate::train::replay::{Batch, Options, Replay};
use crate::train::seeds::{Purpose, stream};

/// Positions that the net is judged by.
const JUDGED: usize = 8192;

/// Learns the games of a run for some time and says how well the net predicts others.
///
/// One game in fifty is held out, the same ones as in a run. The net is judged by positions of
/// theirs with more than `search.solve_empties` empty squares, those that were searched. The
/// learning rate is that of a run that has made as many positions, and cools down as the time
/// runs out. What is judged are the weights of the last step; `--write` stores their average, as
/// a run does.
#[derive(ClapArgs, Debug)]
pub struct Args {
    /// The configuration.
    #[arg(value_name = "CONFIG")]
    config: PathBuf,
    /// Changes a key of the configuration; may be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    overrides: Vec<String>,
    /// The run directory whose games are learnt.
    #[arg(long, value_name = "RUN_DIR")]
    games: PathBuf,
    /// How many of the newest positions to read, with those held out.
    #[arg(long, value_name = "N", default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(1..=100_000_000))]
    positions: u64,
    /// Seconds to learn.
    #[arg(long, value_name = "S", default_value_t = 120.0, value_parser = |text: &str| number(text, 0.1..=86_400.0, "seconds"))]
    seconds: f64,
    /// Writes the net there, for `outflank arena net:FILE ...`.
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
    tch::set_num_threads(1);
    keep_freed_memory();
    let (mut learnt, mut held_out) = read::<G>(args, config)?;
    let mut judged = Batch::default();
    held_out.sample(JUDGED, false, 0.0, &mut stream(0, Purpose::Batch, 0), &mut judged);

    let spec = pipeline::spec(config);
    let device = inference::device(&config.device)?;
    let mut learner = Learner::new(&spec, &config.learner, config.seed, device);
    let mut random = stream(config.seed, Purpose::Batch, 0);
    let (size, share) = (config.learner.batch as usize, config.learner.search_value_share);
    let mut batch = Batch::default();
    let (time, start) = (Duration::from_secs_f64(args.seconds), Instant::now());
    while let spent = start.elapsed()
        && spent < time
    {
        let reached = RunProgress { positions: learnt.made(), share: spent.div_duration_f64(time) };
        learnt.sample(size, config.learner.augment, share, &mut random, &mut batch);
        learner.seed_dropout(&mut random);
        learner.step(&batch, reached);
    }
    learner.take_losses()?;
    let samples = learner.steps() * u64::from(config.learner.batch);
    for figure in figures(learner.steps(), samples, &learner.evaluate(&judged)) {
        figure.print(args.json)?;
    }
    if let Some(path) = &args.write {
        let (goal, steps) = (config.goal, learner.steps());
        let description = Description { spec, goal, positions: learnt.made(), steps };
        let weights = learner.play_weights().to_bytes(&Default::default());
        NetFile::seal(&serde_json::to_value(description)?, &weights)?.write(path)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The games to learn, and those to judge by.
fn read<G: Geometry>(args: &Args, config: &Config) -> anyhow::Result<(Replay<G>, Replay<G>)> {
    if !is_run(&args.games)? {
        return Err(RunDirError::NoRun { path: args.games.clone() }.into());
    }
    // All of the games that were asked for, however many the run itself would keep.
    let kept = args.positions.saturating_mul(2);
    let all = Options { max_positions: kept, growth_start: kept, ..config.replay.clone() };
    let searched = Options { skip_empties: config.search.solve_empties, ..all.clone() };
    let (mut learnt, mut held_out) = (Replay::new(&all), Replay::new(&searched));
    let mut skipped = 0;
    for game in read_tail(&args.games.join(GAMES), args.positions)? {
        let Ok(game) = game else {
            skipped += 1;
            continue;
        };
        let window = if pipeline::holds_out(&game) { &mut held_out } else { &mut learnt };
        window.add(&game).with_context(|| format!("{}: game {}", args.games.display(), game.id))?;
    }
    let place = args.games.display();
    if skipped > 0 {
        tell!("warning: {place}: {skipped} games cannot be read; left out");
    }
    if learnt.is_empty() || held_out.is_empty() {
        bail!("{place}: too few games: at least 50 are needed, one of which is held out");
    }
    Ok((learnt, held_out))
}

fn figures(steps: u64, samples: u64, judged: &HeldOut) -> [Figure; 8] {
    let HeldOut { losses, target_entropy, agreement, .. } = *judged;
    [
        Figure::new("fit steps", steps as f64, "steps"),
        Figure::new("fit samples", samples as f64, "positions"),
        Figure::new("fit held-out policy loss", losses.policy, "nats"),
        Figure::new("fit entropy of the searches", target_entropy, "nats"),
        Figure::new("fit agreement with the searches", 100.0 * agreement, "%"),
        Figure::new("fit held-out value loss", losses.value, ""),
        Figure::new("fit held-out score loss", losses.score, ""),
        Figure::new("fit held-out owner loss", losses.owner, ""),
    ]
}
