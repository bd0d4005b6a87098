//! `outflank train`: starts or resumes a training run.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::Args as ClapArgs;

use super::interrupt::stop_flag;
use super::machine::processor;
use crate::config::Config;
use crate::pipeline::{self, FirstNet, RunEnd, RunLimit};
use crate::store::run_dir::{self, RunDir, RunDirError, State};
use crate::store::warm_start::{Copied, WarmStart};
use crate::telemetry::Telemetry;

/// Where runs go that are not told where to go.
const RUNS: &str = "runs";

/// Starts a training run, or goes on with one.
#[derive(ClapArgs, Debug)]
pub struct Args {
    /// The configuration. A resumed run without one goes on as it was configured.
    #[arg(value_name = "CONFIG", required_unless_present = "resume")]
    config: Option<PathBuf>,
    /// Goes on with the run in the run directory: net, optimiser, schedule, window, counters
    /// and random streams continue.
    #[arg(long)]
    resume: bool,
    /// The run directory. By default runs/NAME-NNN after the configuration's name: the next
    /// free number, or with --resume the highest one.
    #[arg(long, value_name = "DIR")]
    run_dir: Option<PathBuf>,
    /// Begins with the games of an earlier run, whatever its net: the newest positions, as many
    /// as `replay.max_positions`, are copied and learnt from at the replay ratio before the new
    /// net plays. They count as the run's own. May be repeated; the runs then share equally.
    #[arg(long, value_name = "RUN_DIR", conflicts_with = "resume")]
    games: Vec<PathBuf>,
    /// Begins with the weights of this net instead of random ones: a net file or its folder, a
    /// checkpoint, or a run directory. Board, goal and `[net]` must be its own.
    #[arg(long, value_name = "NET", conflicts_with = "resume")]
    net: Option<PathBuf>,
    /// Changes a key of the configuration, such as `learner.batch=512`; may be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    overrides: Vec<String>,
    /// Shows no progress.
    #[arg(long)]
    quiet: bool,
}

/// Runs the subcommand.
///
/// # Errors
///
/// A bad configuration or run directory, or anything that keeps the run from going on.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let stop = stop_flag();
    let (mut run, config) = if args.resume { resumed(&args)? } else { started(&args)? };
    tell!("run directory: {}", run.path().display());
    tell!("curves: tensorboard --logdir {}", run.path().display());
    let starts = run.manifest().starts;
    run.set_machine(processor());
    let telemetry = Telemetry::start(run.path(), &config.resolved(), args.quiet)?;
    let result = pipeline::train(&config, &mut run, &telemetry, stop);
    // The run's own failure says more than that of its curves.
    let told = telemetry.finish();
    let summary = match result {
        Ok(summary) => summary,
        Err(error) => {
            if args.resume && run.manifest().starts == starts {
                let path = run.path().display();
                return Err(error.context(format!("the run in {path} cannot start like this")));
            }
            // What the last checkpoint recorded still holds. If even this cannot be written, the
            // error that ended the run says more.
            let reached = run.manifest().summary;
            match run.record(State::Failed, reached) {
                // A directory that is no longer this run's is what ended it.
                Ok(()) | Err(RunDirError::Lost { .. }) => {}
                Err(unwritten) => tracing::warn!("{unwritten}"),
            }
            return Err(error.context(format!("the run in {} has ended", run.path().display())));
        }
    };
    if run.manifest().starts > starts {
        let state = summary.limit.map_or(State::Stopped, |_| State::Finished);
        run.record(state, summary.state.summary())?;
    }
    told?;
    conclude(run.path(), &summary, run.manifest().starts == starts);
    Ok(ExitCode::SUCCESS)
}

fn started(args: &Args) -> anyhow::Result<(RunDir, Config)> {
    let path = args.config.as_deref().context("a new run needs a configuration")?;
    let config = Config::load(path, &args.overrides)?;
    // Before there is a run directory: what cannot start leaves nothing behind.
    pipeline::check(&config)?;
    let game = (config.board, config.goal);
    let warm_start = WarmStart::open(&args.games, config.replay.max_positions, game)?;
    let first_net = args.net.as_deref().map(|net| FirstNet::read(net, &config)).transpose()?;
    let dir = match &args.run_dir {
        Some(dir) => dir.clone(),
        None => {
            let name = name_of(path);
            let number = numbered(&name)?.last().map_or(1, |(number, _)| number + 1);
            Path::new(RUNS).join(format!("{name}-{number:03}"))
        }
    };
    let mut run = RunDir::create(&dir, &config.resolved(), config.seed)?;
    if !args.games.is_empty() {
        run.copying()?;
    }
    if let Some(net) = first_net {
        net.put(&mut run)?;
    }
    if !args.games.is_empty() {
        let Copied { games, positions, skipped } = warm_start.copy(&run.games())?;
        run.begin_with(games)?;
        tell!("begins with {games} games, {positions} positions, of earlier runs");
        if skipped > 0 {
            tell!("warning: {skipped} games cannot be read; left out");
        }
    }
    Ok((run, config))
}

fn resumed(args: &Args) -> anyhow::Result<(RunDir, Config)> {
    let dir = match (&args.run_dir, &args.config) {
        (Some(dir), _) => dir.clone(),
        (None, Some(config)) => match numbered(&name_of(config))?.pop() {
            Some((_, dir)) => dir,
            None => bail!("there is no run of {} in {RUNS} to resume", config.display()),
        },
        (None, None) => bail!("--resume needs --run-dir or the configuration of the run"),
    };
    let run = RunDir::open(&dir)?;
    let origin = dir.join("config.toml").display().to_string();
    let stored = |overrides| -> anyhow::Result<Config> {
        Ok(Config::parse(&origin, &run.config()?, overrides)?)
    };
    let config = match &args.config {
        Some(path) => Config::load(path, &args.overrides)?,
        None => stored(&args.overrides)?,
    };
    // A stored one that cannot be read says nothing; the checkpoint must fit in any case.
    let before = stored(&[]).unwrap_or_else(|_| config.clone());
    // `run.json` knows the seed in any case.
    let before = Config { seed: run.manifest().seed, ..before };
    keep_fixed_keys(&dir, &before, &config)?;
    Ok((run, config))
}

/// Refuses a configuration that would change what a run keeps from its start to its end.
fn keep_fixed_keys(dir: &Path, before: &Config, config: &Config) -> anyhow::Result<()> {
    let changes = config.fixed_keys_changed(before);
    if changes.is_empty() {
        return Ok(());
    }
    let lines: String = changes.iter().map(|change| format!("\n  {change}")).collect();
    let dir = dir.display();
    let is_other_game = changes.iter().any(|change| ["board", "goal"].contains(&change.key));
    let advice = match is_other_game {
        true => "begin a new run".to_string(),
        false => format!("begin a new run, with its games if you like: --games {dir}"),
    };
    bail!("these keys cannot change when the run in {dir} is resumed; {advice}:{lines}")
}

fn name_of(config: &Path) -> String {
    config.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// The run directories of a name by rising number.
fn numbered(name: &str) -> anyhow::Result<Vec<(u32, PathBuf)>> {
    let mut found = Vec::new();
    for listed in run_dir::list(Path::new(RUNS))? {
        let file_name = listed.path.file_name().unwrap_or_default().to_string_lossy();
        let number = file_name.strip_prefix(name).and_then(|rest| rest.strip_prefix('-'));
        if let Some(number) = number.and_then(|digits| digits.parse().ok()) {
            found.push((number, listed.path.clone()));
        }
    }
    found.sort();
    Ok(found)
}

/// Says how the run has ended, or that there was nothing left to do, and how to go on.
fn conclude(dir: &Path, summary: &RunEnd, nothing_left: bool) {
    let state = &summary.state;
    let rating = state.last_rating().map_or(String::new(), |rating| format!(", rating {rating}"));
    println!(
        "{}: {} games, {} positions, {} steps in {:.1} minutes{rating}",
        if summary.limit.is_some() { "finished" } else { "stopped" },
        state.games,
        state.positions,
        state.steps,
        state.seconds / 60.0,
    );
    let dir = dir.display();
    let Some(limit) = summary.limit else {
        tell!("play and evaluate with: {dir}");
        tell!("go on with: outflank train --resume --run-dir {dir}");
        return;
    };
    if nothing_left {
        tell!("the run was finished already: {limit} is reached; nothing was changed");
    } else {
        tell!("{limit} is reached; play and evaluate with: {dir}");
    }
    let RunLimit { key, value } = limit;
    let more = value * 2.0;
    tell!("go on with a higher limit: outflank train --resume --run-dir {dir} --set {key}={more}");
}
