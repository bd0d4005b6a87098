//! `outflank bench run CONFIG`: a minute of the real pipeline, and who waits for whom in it.
//!
//! The run is a whole one, in a directory of its own that is removed afterwards. All figures
//! are what the run says of itself in `metrics.jsonl`; this file only waits until the warm-up
//! is over, lets the run go on for the wanted time, and ends it.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use clap::Args as ClapArgs;

use super::balance::{Balance, Report};
use super::{Figure, number};
use crate::cli::interrupt::stop_flag;
use crate::config::Config;
use crate::pipeline;
use crate::store::run_dir::RunDir;
use crate::telemetry::{METRICS, Telemetry};

/// How often the run's file of metrics is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(200);
/// Reports that belong to the warm-up: the first covers the time before the window was full,
/// and while the second is made all games still stand at about the same move.
const WARM_UP_REPORTS: usize = 2;

/// Measures a minute of the real pipeline: who waits for whom, and which key to turn.
///
/// A run of CONFIG is started in a directory that is removed afterwards, and measured once it
/// learns. Its beginning is what is measured: with `selfplay.ramp`, searches are as short as
/// its first step says; `--set selfplay.ramp=[]` measures full ones.
#[derive(ClapArgs, Debug)]
pub struct Args {
    /// The configuration.
    #[arg(value_name = "CONFIG")]
    config: PathBuf,
    /// Changes a key of the configuration; may be repeated.
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
/// The configuration is bad, the run fails, or it is interrupted before it has learnt.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let mut config = Config::load(&args.config, &args.overrides)?;
    // The measurement ends the run, nothing else.
    config.limits = crate::config::RunLimits { minutes: 0.0, ..Default::default() };
    let place = Place::new()?;
    let reports = measure(&config, &place.0, args.minutes * 60.0)?;
    let balance = Balance::between(&reports, &config)
        .context("the run was stopped before there was anything to measure")?;
    for (name, value, unit) in balance.figures() {
        Figure::new(format!("run {name}"), value, unit).print(args.json)?;
    }
    for line in balance.advice(&config) {
        if args.json { tell!("{line}") } else { println!("{line}") }
    }
    Ok(ExitCode::SUCCESS)
}

/// Runs the pipeline in `dir` until `seconds` after its warm-up; the reports since then, the
/// first being the one that ended the warm-up.
fn measure(config: &Config, dir: &Path, seconds: f64) -> anyhow::Result<Vec<Report>> {
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

/// Follows the run's metrics until enough is measured, or until the run is stopped or over.
fn watch(
    metrics: &Path,
    seconds: f64,
    stop: &AtomicBool,
    over: &AtomicBool,
) -> anyhow::Result<Vec<Report>> {
    tell!("warming up until the run learns");
    let mut file = BufReader::new(std::fs::File::open(metrics)?);
    let (mut seen, mut reports, mut line) = (0, Vec::<Report>::new(), String::new());
    loop {
        // A line that is being written has no end yet; the rest of it comes later.
        let whole = file.read_line(&mut line)? > 0 && line.ends_with('\n');
        if !whole {
            if stop.load(Ordering::Relaxed) || over.load(Ordering::Relaxed) {
                return Ok(reports);
            }
            thread::sleep(LOOK_EVERY);
            continue;
        }
        let report = Report::read(&line);
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

/// A new folder for temporary files, removed with all that is in it.
struct Place(PathBuf);

impl Place {
    fn new() -> anyhow::Result<Place> {
        let folder = std::env::temp_dir();
        for number in 0..1000 {
            let path = folder.join(format!("outflank-bench-{}-{number}", std::process::id()));
            match std::fs::create_dir(&path) {
                Ok(()) => return Ok(Place(path)),
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(error) => {
                    return Err(error).with_context(|| format!("cannot make {}", path.display()));
                }
            }
        }
        bail!("{} is full of folders of earlier measurements", folder.display())
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_dir_all(&self.0) {
            tell!("warning: {} stays: {error}", self.0.display());
        }
    }
}
