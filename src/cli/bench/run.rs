//! `outflank bench run CONFIG`: measures a minute of the real pipeline, and who waits for whom.
//!
//! It starts a real training run in a temporary directory. All figures come from the run's
//! `metrics.jsonl`. This file waits for the end of the warm-up, lets the run continue for the given
//! time, and stops it.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use clap::Args as ClapArgs;

use super::balance::{Balance, SpeedReport};
use super::{Figure, number};
use crate::cli::interrupt::stop_flag;
use crate::config::Config;
use crate::pipeline;
use crate::store::run_dir::RunDir;
use crate::telemetry::{METRICS, Telemetry};

/// How often the run's `metrics.jsonl` is read.
const READ_EVERY: Duration = Duration::from_millis(200);
/// How many reports belong to the warm-up. The first covers the time before training. During the
/// second all games are still at about the same move.
const WARM_UP_REPORTS: usize = 2;

/// Measures a minute of the real pipeline: who waits for whom, and which key to change.
///
/// A run of CONFIG is started in a temporary directory. It is measured after its first training
/// steps. With `selfplay.ramp` its searches are therefore as short as those of the first step of
/// the ramp; `--set selfplay.ramp=[]` measures full ones.
#[derive(ClapArgs, Debug)]
pub struct Args {
    /// The configuration.
    #[arg(value_name = "CONFIG")]
    config: PathBuf,
    /// Change a key of the configuration; may be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    overrides: Vec<String>,
    /// Minutes to measure, after the warm-up.
    #[arg(long, value_name = "M", default_value_t = 1.0, value_parser = |text: &str| number(text, 0.05..=600.0, "minutes"))]
    minutes: f64,
    /// Print one JSON object a line; the advice goes to standard error.
    #[arg(long)]
    json: bool,
}

/// Runs the subcommand.
///
/// # Errors
///
/// The configuration is bad, the run fails, or it is interrupted before it trains.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let mut config = Config::load(&args.config, &args.overrides)?;
    // Only the measurement may end the run.
    config.limits = crate::config::RunLimits { minutes: 0.0, ..Default::default() };
    let folder = TempFolder::new()?;
    let reports = measure(&config, &folder.0, args.minutes * 60.0)?;
    let balance = Balance::between(&reports, &config)
        .context("the run was stopped before the measurement")?;
    for (name, value, unit) in balance.figures() {
        Figure::new(format!("run {name}"), value, unit).print(args.json)?;
    }
    for line in balance.advice(&config) {
        if args.json { tell!("{line}") } else { println!("{line}") }
    }
    Ok(ExitCode::SUCCESS)
}

/// Runs the pipeline in `dir` until `seconds` after its warm-up. The first of the returned reports
/// is the last one of the warm-up.
fn measure(config: &Config, dir: &Path, seconds: f64) -> anyhow::Result<Vec<SpeedReport>> {
    let mut run = RunDir::create(dir, &config.resolved(), config.seed)?;
    let telemetry = Telemetry::start(dir, &config.resolved(), true)?;
    let stop = stop_flag();
    let over = AtomicBool::new(false);
    let (trained, reports) = thread::scope(|scope| {
        let watch = scope.spawn(|| {
            let reports = watch(&dir.join(METRICS), seconds, stop, &over);
            stop.store(true, Ordering::Relaxed);
            reports
        });
        let trained = pipeline::train(config, &mut run, &telemetry, stop);
        over.store(true, Ordering::Relaxed);
        (trained, watch.join())
    });
    telemetry.finish()?;
    trained?;
    reports.map_err(|_| anyhow!("the watching thread panicked"))?
}

/// Reads the run's metrics until `seconds` are measured, or until the run is stopped or over.
fn watch(
    metrics: &Path,
    seconds: f64,
    stop: &AtomicBool,
    over: &AtomicBool,
) -> anyhow::Result<Vec<SpeedReport>> {
    tell!("warming up until the run trains");
    let mut file = BufReader::new(std::fs::File::open(metrics)?);
    let (mut seen, mut reports, mut line) = (0, Vec::<SpeedReport>::new(), String::new());
    loop {
        // A line without its end is still being written; the rest comes later.
        let is_complete = file.read_line(&mut line)? > 0 && line.ends_with('\n');
        if !is_complete {
            if stop.load(Ordering::Relaxed) || over.load(Ordering::Relaxed) {
                return Ok(reports);
            }
            thread::sleep(READ_EVERY);
            continue;
        }
        let report = SpeedReport::read(&line);
        line.clear();
        let Some(report) = report else { continue };
        seen += 1;
        if seen < WARM_UP_REPORTS {
            continue;
        }
        if reports.is_empty() {
            tell!("measuring");
        }
        reports.push(report);
        if reports[reports.len() - 1].time - reports[0].time >= seconds {
            return Ok(reports);
        }
    }
}

/// A new temporary folder, which is removed with its files when this is dropped.
struct TempFolder(PathBuf);

impl TempFolder {
    fn new() -> anyhow::Result<TempFolder> {
        let folder = std::env::temp_dir();
        for number in 0..1000 {
            let path = folder.join(format!("outflank-bench-{}-{number}", std::process::id()));
            match std::fs::create_dir(&path) {
                Ok(()) => return Ok(TempFolder(path)),
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(error) => {
                    return Err(error).with_context(|| format!("cannot create {}", path.display()));
                }
            }
        }
        bail!("{} is full of folders of earlier measurements", folder.display())
    }
}

impl Drop for TempFolder {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_dir_all(&self.0) {
            tell!("warning: cannot remove {}: {error}", self.0.display());
        }
    }
}
