//! `outflank runs`: lists training runs with their state.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::SystemTime;

use anyhow::{Context as _, bail};
use serde::Serialize;

use super::screen;
use crate::game::notation::plain_excerpt;
use crate::store::run_dir::{self, ListedRun, Manifest, RunSummary, State};
use crate::store::with_causes;

/// Lists training runs: state, progress, best rating, and the time since their last update.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// A folder of runs, or one run.
    #[arg(default_value = "runs")]
    dir: PathBuf,
    /// Print one JSON object a line.
    #[arg(long)]
    json: bool,
}

/// Runs the subcommand. A run that cannot be read is listed as unreadable, without an error.
///
/// # Errors
///
/// The folder cannot be read, or is given and does not exist.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let exists = args.dir.try_exists().with_context(|| args.dir.display().to_string())?;
    if !exists && args.dir != Path::new("runs") {
        bail!("there is no folder {}", args.dir.display());
    }
    let runs = run_dir::list(&args.dir)?;
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?.as_secs();
    if args.json {
        for run in &runs {
            println!("{}", serde_json::to_string(&Line::of(run, now))?);
        }
    } else if runs.is_empty() {
        tell!("no runs in {}; start one with `outflank train CONFIG`", args.dir.display());
    } else {
        print!("{}", table(&runs, now, screen::columns()));
    }
    Ok(ExitCode::SUCCESS)
}

/// The most characters of a path in the table.
const LONGEST_PATH: usize = 4096;

/// A run as `--json` prints it.
#[derive(Serialize)]
struct Line {
    version: u32,
    /// Its folder; what of it is no text has a replacement character.
    run: String,
    /// The state, or `unreadable` if `run.json` cannot be read.
    state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    #[serde(flatten)]
    known: Option<Known>,
}

#[derive(Serialize)]
struct Known {
    #[serde(flatten)]
    summary: RunSummary,
    starts: u32,
    seed: u64,
    program: String,
    created: u64,
    updated: u64,
    age_seconds: u64,
}

impl Line {
    fn of(run: &ListedRun, now: u64) -> Line {
        let (state, error, known) = match &run.manifest {
            Ok(manifest) => (manifest.state.name(), None, Some(known(manifest.clone(), now))),
            Err(error) => ("unreadable", Some(with_causes(error)), None),
        };
        Line { version: 1, run: run.path.to_string_lossy().into_owned(), state, error, known }
    }
}

fn known(manifest: Manifest, now: u64) -> Known {
    let Manifest { summary, starts, seed, program, created, updated, .. } = manifest;
    let age_seconds = now.saturating_sub(updated);
    Known { summary, starts, seed, program, created, updated, age_seconds }
}

/// The columns of the table; the lines of an unreadable run have the first, and a text.
const HEAD: [&str; 8] =
    ["run", "state", "games", "positions", "steps", "trained", "best rating", "last update"];
const LAYOUT: screen::Layout = screen::Layout { texts: &[0, 1], left_out: &[3, 4, 5, 7] };

fn table(runs: &[ListedRun], now: u64, columns: Option<usize>) -> String {
    let mut rows = vec![HEAD.map(String::from).to_vec()];
    rows.extend(runs.iter().map(|run| row(run, now)));
    screen::table(&rows, LAYOUT, columns)
}

fn row(run: &ListedRun, now: u64) -> Vec<String> {
    // A name may have characters that command a terminal.
    let path = plain_excerpt(&run.path.to_string_lossy(), LONGEST_PATH).to_string();
    let manifest = match &run.manifest {
        Ok(manifest) => manifest,
        Err(error) => return vec![path, format!("unreadable: {}", with_causes(error))],
    };
    let summary = manifest.summary;
    let state = match manifest.state {
        state @ (State::Running | State::Finished) => state.name().to_string(),
        state => format!("{state} (can be resumed)"),
    };
    vec![
        path,
        state,
        summary.games.to_string(),
        summary.positions.to_string(),
        summary.steps.to_string(),
        span(summary.minutes * 60.0),
        summary.best_rating.map_or("-".into(), |rating| format!("{rating:.0}")),
        format!("{} ago", span(now.saturating_sub(manifest.updated) as f64)),
    ]
}

/// A span of time in its two largest useful units.
fn span(seconds: f64) -> String {
    let seconds = seconds.max(0.0) as u64;
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3600 % 24, seconds / 60 % 60);
    match (days, hours, minutes) {
        (0, 0, 0) => format!("{seconds} s"),
        (0, 0, minutes) => format!("{minutes} min"),
        (0, hours, minutes) => format!("{hours} h {minutes:02} min"),
        (days, hours, _) => format!("{days} d {hours:02} h"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_have_two_units_at_most() {
        for (seconds, wanted) in [
            (-1.0, "0 s"),
            (59.9, "59 s"),
            (60.0, "1 min"),
            (3599.0, "59 min"),
            (3660.0, "1 h 01 min"),
            (90_000.0, "1 d 01 h"),
        ] {
            assert_eq!(span(seconds), wanted);
        }
    }

    #[test]
    fn a_narrow_terminal_gets_fewer_columns_and_no_broken_words() {
        let folder = tempfile::tempdir().expect("a folder");
        let long = folder.path().join("a-run-with-quite-a-long-name-001");
        drop(run_dir::RunDir::create(&long, "", 1).expect("a run"));
        std::fs::create_dir(folder.path().join("b")).expect("a folder");
        std::fs::write(folder.path().join("b/run.json"), "{").expect("a file");
        let mut runs = run_dir::list(folder.path()).expect("runs");
        let short = |path: &Path| path.file_name().expect("a name").into();
        runs.iter_mut().for_each(|run| run.path = short(&run.path));
        let whole = table(&runs, 0, None);
        assert!(HEAD.iter().all(|name| whole.contains(name)), "{whole}");
        let narrow = table(&runs, 0, Some(80));
        assert!(narrow.lines().all(|line| line.chars().count() <= 80), "{narrow}");
        assert!(narrow.contains("games") && !narrow.contains("positions"), "{narrow}");
        assert!(narrow.contains("killed (can be resumed)") && narrow.contains("unreadable"));
    }
}
