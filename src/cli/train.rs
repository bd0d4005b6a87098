//! `outflank train`: starts or resumes a training run.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::Args as ClapArgs;

use super::interrupt::stop_flag;
use super::machine::processor;
use super::server_args::LoginArgs;
use super::tell_how_to_play;
use crate::config::{Config, Method};
use crate::pipeline::cluster::ServeOptions;
use crate::pipeline::{self, Ending, InitialModel, RunEnd, RunLimit};
use crate::players::inputs;
use crate::store::run_dir::{self, RunDir, RunDirError, State};
use crate::store::warm_start::{CopiedGames, LeftOut, WarmStart};
use crate::telemetry::Telemetry;

/// The folder of runs without `--run-dir`.
const RUNS: &str = "runs";

/// Starts or continues a training run.
#[derive(ClapArgs, Debug)]
pub struct Args {
    /// The configuration. Without one a resumed run keeps its own.
    #[arg(value_name = "CONFIG", required_unless_present = "resume")]
    config: Option<PathBuf>,
    /// Continue the run in the run directory: net, optimiser, schedule, replay window, counters
    /// and random streams.
    #[arg(long)]
    resume: bool,
    /// The run directory. By default runs/NAME-NNN: NAME is the configuration's, NNN the next free
    /// number, or with --resume the highest one.
    #[arg(long, value_name = "DIR")]
    run_dir: Option<PathBuf>,
    /// Start with the games of an earlier run, whatever its net, or of a file: WTHOR, GGF, JSON or
    /// transcripts; by default with none. The newest positions, at most `replay.max_positions`, are
    /// copied and trained on at the replay ratio before the new net plays. They count as the run's
    /// own. Games without policies and values teach only their results (but see --imitate). May be
    /// repeated; each source then gives an equal share. With `selfplay.actors = 0` the run plays no
    /// games and learns from these alone.
    #[arg(long, value_name = "GAMES", conflicts_with = "resume")]
    games: Vec<PathBuf>,
    /// Learn to play the moves of games without policies, such as those of people; by default only
    /// their results.
    #[arg(long, requires = "games")]
    imitate: bool,
    /// Start with the weights of this net: a net file or its folder, a checkpoint, or a run
    /// directory. Its board, goal and `[net]` must be those of the run. By default the weights are
    /// random.
    #[arg(long, value_name = "NET", conflicts_with = "resume")]
    net: Option<PathBuf>,
    /// Change a key of the configuration, such as `learner.batch=512`; may be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    overrides: Vec<String>,
    #[command(flatten)]
    cluster: ClusterArgs,
    /// Show no progress.
    #[arg(long)]
    quiet: bool,
}

/// Workers on other machines.
#[derive(ClapArgs, Debug)]
struct ClusterArgs {
    /// The NATS server by which workers on other machines join, such as nats://127.0.0.1:4222; by
    /// default none
    #[arg(long, value_name = "URL")]
    nats: Option<String>,
    #[command(flatten)]
    login: LoginArgs,
    /// Play no games here: all games come from workers. By default this machine's actors play too.
    #[arg(long, requires = "nats")]
    no_actors: bool,
    /// The share of workers' games of which exact scores are solved again, 0 to 1
    #[arg(long, value_name = "SHARE", default_value_t = 0.02, value_parser = share, requires = "nats")]
    check_scores: f64,
    /// The share of workers' games that are played again here, from net and seed, 0 to 1
    #[arg(long, value_name = "SHARE", default_value_t = 0.005, value_parser = share, requires = "nats")]
    check_games: f64,
}

/// Parses a share.
fn share(text: &str) -> Result<f64, String> {
    let share = text.parse().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| "allowed: 0 to 1".into())
}

impl ClusterArgs {
    /// Only runs with self-play have workers.
    fn check(&self, config: &Config) -> anyhow::Result<()> {
        if config.method != Method::AlphaZero && self.nats.is_some() {
            bail!("--nats is for method \"alphazero\"; here method = \"{}\"", config.method);
        }
        if self.nats.is_some() && config.selfplay.actors == 0 {
            bail!(
                "--nats and selfplay.actors = 0: the run takes no games; for none of its own use --no-actors"
            );
        }
        Ok(())
    }

    fn options(&self) -> anyhow::Result<Option<ServeOptions>> {
        let Some(url) = &self.nats else { return Ok(None) };
        Ok(Some(ServeOptions {
            server: self.login.options(url)?,
            plays: !self.no_actors,
            solve_share: self.check_scores,
            replay_share: self.check_games,
        }))
    }
}

/// Runs the subcommand.
///
/// # Errors
///
/// The configuration or the run directory is bad, or the run fails.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let stop = stop_flag();
    let serve = args.cluster.options()?;
    let (mut run, config) = if args.resume { resumed(&args)? } else { started(&args)? };
    tell!("run directory: {}", run.path().display());
    tell!("curves: tensorboard --logdir {}", run.path().display());
    let starts = run.manifest().starts;
    run.set_machine(processor());
    let telemetry = Telemetry::start(run.path(), &config.resolved(), args.quiet)?;
    let result = match &serve {
        None => pipeline::train(&config, &mut run, &telemetry, stop),
        Some(serve) => pipeline::train_with_workers(&config, &mut run, &telemetry, stop, serve),
    };
    // An error of the run matters more than an error of its curves, so it is returned first.
    let curves = telemetry.finish();
    let summary = match result {
        Ok(summary) => summary,
        Err(error) => {
            if args.resume && run.manifest().starts == starts {
                let path = run.path().display();
                return Err(error.context(format!("cannot start the run in {path}")));
            }
            // The counters of the last checkpoint still hold. If the state cannot be written, the
            // error that ended the run matters more.
            let counters = run.manifest().summary;
            match run.record(State::Failed, counters) {
                // The run ended because the directory is no longer its own.
                Ok(()) | Err(RunDirError::Lost { .. }) => {}
                Err(unwritten) => tracing::warn!("{unwritten}"),
            }
            return Err(error.context(format!("the run in {} has ended", run.path().display())));
        }
    };
    if run.manifest().starts > starts {
        let state = match summary.ending {
            Ending::Stopped => State::Stopped,
            Ending::Limit(_) | Ending::Complete => State::Finished,
        };
        run.record(state, summary.state.summary())?;
    }
    curves?;
    print_end(run.path(), &summary, run.manifest().starts == starts);
    Ok(ExitCode::SUCCESS)
}

/// Creates a new run.
fn started(args: &Args) -> anyhow::Result<(RunDir, Config)> {
    let path = args.config.as_deref().context("a new run needs a configuration")?;
    let mut config = Config::load(path, &args.overrides)?;
    args.cluster.check(&config)?;
    if config.method == Method::AlphaZero && config.selfplay.actors == 0 && args.games.is_empty() {
        bail!("selfplay.actors = 0: a run that plays no games needs the games of --games");
    }
    if config.method != Method::AlphaZero && (args.net.is_some() || !args.games.is_empty()) {
        let method = config.method;
        bail!("--net and --games are for method \"alphazero\"; here method = \"{method}\"");
    }
    // First, so that a run that cannot start leaves no directory behind.
    pipeline::check(&config)?;
    if config.method == Method::AlphaZero {
        // With the checksum of the evaluator of its inputs, so that the run keeps to this one.
        config.net = pipeline::net_spec(&config, None)?.options;
    }
    let game = (config.board, config.goal);
    let warm_start = WarmStart::open(&args.games, config.replay.max_positions, game)?;
    let warm_start = warm_start.imitating(args.imitate);
    let first_net = args.net.as_deref().map(|net| InitialModel::read(net, &config)).transpose()?;
    let dir = match &args.run_dir {
        Some(dir) => dir.clone(),
        None => {
            let name = name_of(path);
            let number = numbered(&name)?.last().map_or(1, |(number, _)| number + 1);
            Path::new(RUNS).join(format!("{name}-{number:03}"))
        }
    };
    let mut run = RunDir::create(&dir, &config.resolved(), config.seed)?;
    if !config.net.inputs_evaluator.is_empty() {
        inputs::keep_copy(config.board, config.goal, run.path())?;
    }
    if !args.games.is_empty() {
        run.note_copying()?;
    }
    if let Some(net) = first_net {
        net.put(&mut run)?;
    }
    if !args.games.is_empty() {
        let LeftOut { unfinished, faulty, first } = warm_start.left_out().clone();
        let CopiedGames { games, positions, skipped } = warm_start.copy(&run.games())?;
        run.note_copied_games(games)?;
        tell!("begins with {games} games, {positions} positions from earlier runs and files");
        first.iter().for_each(|game| tell!("warning: {game}; left out"));
        if unfinished + faulty > 0 {
            tell!(
                "warning: left out {unfinished} unfinished games, {faulty} illegal or unreadable"
            );
        }
        if skipped > 0 {
            tell!("warning: {skipped} games cannot be read; left out");
        }
    }
    Ok((run, config))
}

/// Opens the run to resume.
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
        Ok(Config::parse_stored(&origin, &run.config()?, overrides)?)
    };
    let mut config = match &args.config {
        Some(path) => Config::load(path, &args.overrides)?,
        None => stored(&args.overrides)?,
    };
    // If the stored configuration cannot be read, the check of the checkpoint still follows.
    let before = stored(&[]).unwrap_or_else(|_| config.clone());
    // `run.json` has the seed too.
    let before = Config { seed: run.manifest().seed, ..before };
    if config.net.inputs_evaluator.is_empty() {
        config.net.inputs_evaluator.clone_from(&before.net.inputs_evaluator);
    }
    check_fixed_keys(&dir, &before, &config)?;
    args.cluster.check(&config)?;
    Ok((run, config))
}

/// Refuses a configuration that changes keys which are fixed for a whole run.
fn check_fixed_keys(dir: &Path, before: &Config, config: &Config) -> anyhow::Result<()> {
    let changes = config.fixed_keys_changed(before);
    if changes.is_empty() {
        return Ok(());
    }
    let lines: String = changes.iter().map(|change| format!("\n  {change}")).collect();
    let dir = dir.display();
    let is_other_game =
        changes.iter().any(|change| ["method", "board", "goal"].contains(&change.key.as_str()));
    let advice = match is_other_game {
        true => "start a new run".to_string(),
        false => format!("start a new run, if you like with its games: --games {dir}"),
    };
    bail!("these keys cannot change when the run in {dir} is resumed; {advice}:{lines}")
}

fn name_of(config: &Path) -> String {
    config.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// The run directories `NAME-NNN` with their numbers, sorted by number.
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

/// Prints how the run ended and how to continue it. `was_finished`: it had reached its limit before
/// this start.
fn print_end(dir: &Path, summary: &RunEnd, was_finished: bool) {
    let state = &summary.state;
    let rating = state.last_rating().map_or(String::new(), |rating| format!(", rating {rating}"));
    println!(
        "{}: {} games, {} positions, {} steps in {:.1} minutes{rating}",
        if summary.ending == Ending::Stopped { "stopped" } else { "finished" },
        state.games,
        state.positions,
        state.steps,
        state.seconds / 60.0,
    );
    let run = dir;
    let dir = dir.display();
    let limit = match summary.ending {
        Ending::Stopped => {
            tell!("evaluate its newest model with: outflank eval {dir}");
            tell!("continue with: outflank train --resume --run-dir {dir}");
            return;
        }
        Ending::Complete => {
            tell!("all stages are trained");
            tell_how_to_play(run);
            return;
        }
        Ending::Limit(limit) => limit,
    };
    if was_finished {
        tell!("the run was finished already: {limit} is reached; nothing was changed");
    } else {
        tell!("{limit} is reached; evaluate the net with: outflank eval {dir}");
    }
    let RunLimit { key, value } = limit;
    let more = value * 2.0;
    tell!(
        "continue with a higher limit: outflank train --resume --run-dir {dir} --set {key}={more}"
    );
}
