//! The runs below the folders that were given.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::Serialize;

use super::curves;
use crate::game::notation::plain_excerpt;
use crate::game::{Goal, Shape};
use crate::store::run_dir::{self, CONFIG, Manifest, RunSummary, State};
use crate::store::with_causes;
use crate::telemetry::METRICS;
use crate::web::error::ApiError;

/// Folders are searched to this depth.
const DEEPEST: usize = 3;
/// The most runs in a list.
const MOST_RUNS: usize = 500;
/// The most folders that are looked at for a list.
const MOST_FOLDERS: usize = 20_000;
/// The most characters of an error.
const SHOWN: usize = 500;

/// A run for the page.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(in crate::web) struct Run {
    /// What requests name it by: its path in the folder, `~` for each `/`.
    pub id: String,
    /// Its path in the folder.
    pub name: String,
    /// A state of `run.json`, `recorded` for curves without one, or `unreadable`.
    pub state: &'static str,
    /// Why it is unreadable.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Box<str>>,
    /// Seconds since the last update.
    age_seconds: u64,
    #[serde(flatten)]
    summary: RunSummary,
    #[serde(skip_serializing_if = "Option::is_none")]
    board: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    goal: Option<String>,
    /// Expected minutes until the first limit of its configuration; `None` without a limit.
    left_minutes: Option<f64>,
    /// The stages of a method that trains stage by stage.
    #[serde(skip_serializing_if = "Option::is_none")]
    stages: Option<Stages>,
    /// When it was created, in seconds since 1970.
    begun: Option<u64>,
    /// Whether this page started its process and may stop it.
    pub controlled: bool,
    /// Whether it has been told to end.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub ending: bool,
    #[serde(skip)]
    pub path: PathBuf,
}

/// The stages of a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
struct Stages {
    done: u64,
    all: u64,
}

impl Run {
    /// The board and the goal, if the configuration has them.
    pub fn game(&self) -> Option<(Shape, Goal)> {
        Some((self.board.as_ref()?.parse().ok()?, self.goal.as_ref()?.parse().ok()?))
    }

    fn at(path: PathBuf, name: String) -> Run {
        let id = name.replace('/', "~");
        Run {
            id,
            name,
            state: "recorded",
            error: None,
            age_seconds: age(&path.join(METRICS)),
            summary: RunSummary::default(),
            board: None,
            goal: None,
            left_minutes: None,
            stages: None,
            begun: None,
            controlled: false,
            ending: false,
            path,
        }
    }

    fn read(&mut self) {
        let settings = config(&self.path).ok().and_then(|text| text.parse::<toml::Table>().ok());
        let settings = settings.unwrap_or_default();
        let text = |key: &str| settings.get(key).and_then(|value| value.as_str()).map(String::from);
        (self.board, self.goal) = (text("board"), text("goal"));
        let listed = run_dir::list(&self.path).map(|mut listed| listed.pop());
        match listed {
            Ok(Some(listed)) => match listed.manifest {
                Ok(manifest) => self.fill(&manifest, &settings),
                Err(error) => self.fail(&with_causes(&error)),
            },
            // Curves that were copied without the rest of their run.
            Ok(None) => self.recall(),
            Err(error) => self.fail(&with_causes(&error)),
        }
    }

    fn fail(&mut self, error: &str) {
        (self.state, self.error) = ("unreadable", Some(plain_excerpt(error, SHOWN)));
    }

    /// What the curves say about a run without `run.json`. Without curves either it stays at 0.
    fn recall(&mut self) {
        let Ok(curves) = curves::read(&self.path) else { return };
        let last = |axis: &[f64]| axis.last().copied().unwrap_or(0.0);
        let count = |axis: &[f64]| last(axis) as u64;
        self.summary = RunSummary {
            minutes: last(&curves.minutes),
            games: count(&curves.games),
            positions: count(&curves.positions),
            steps: count(&curves.steps),
            ..RunSummary::default()
        };
    }

    fn fill(&mut self, manifest: &Manifest, settings: &toml::Table) {
        self.state = manifest.state.name();
        self.age_seconds = age_of(SystemTime::UNIX_EPOCH + Duration::from_secs(manifest.updated));
        self.begun = Some(manifest.created);
        self.summary = manifest.summary;
        self.stages = manifest.stages.map(|all| Stages { done: self.summary.steps.min(all), all });
        if manifest.state == State::Running {
            self.left_minutes = match self.stages {
                Some(stages) => self.left_of(stages),
                None => self.left(settings),
            };
        }
    }

    /// The minutes until the last stage is done, if stages go on to take as long. The counters are
    /// those of the last stage's end, which was the last update.
    fn left_of(&self, Stages { done, all }: Stages) -> Option<f64> {
        let left = self.summary.minutes / done as f64 * (all - done) as f64;
        (done > 0).then(|| (left - self.age_seconds as f64 / 60.0).max(0.0))
    }

    /// The minutes until the first limit, if the run goes on as so far.
    fn left(&self, settings: &toml::Table) -> Option<f64> {
        let limits = settings.get("limits")?.as_table()?;
        let limit = |key: &str| {
            let value = limits.get(key)?;
            value.as_float().or_else(|| value.as_integer().map(|whole| whole as f64))
        };
        let RunSummary { minutes, games, positions, steps, .. } = self.summary;
        let done = [
            ("minutes", minutes),
            ("games", games as f64),
            ("positions", positions as f64),
            ("steps", steps as f64),
        ];
        let left = done.into_iter().filter_map(|(key, done)| {
            let limit = limit(key).filter(|&limit| limit > 0.0)?;
            (done > 0.0).then(|| ((limit - done) / (done / minutes)).max(0.0))
        });
        left.filter(|left| left.is_finite()).min_by(f64::total_cmp)
    }
}

fn age(file: &Path) -> u64 {
    fs::metadata(file).and_then(|data| data.modified()).map_or(0, age_of)
}

fn age_of(time: SystemTime) -> u64 {
    SystemTime::now().duration_since(time).unwrap_or_default().as_secs()
}

/// The resolved configuration of a run; empty if there is none, as where curves were copied alone.
pub(super) fn config(path: &Path) -> Result<String, ApiError> {
    if !path.join(CONFIG).try_exists().unwrap_or(true) {
        return Ok(String::new());
    }
    run_dir::read_config(path).map_err(|error| ApiError::failed(error.to_string()))
}

/// All runs below the folders, in the order of the folders and of their names.
pub(super) fn list(folders: &[PathBuf]) -> Vec<Run> {
    let mut runs = places(folders);
    runs.iter_mut().for_each(Run::read);
    runs
}

/// The run with this id.
///
/// # Errors
///
/// There is no such run.
pub(in crate::web) fn find(folders: &[PathBuf], id: &str) -> Result<Run, ApiError> {
    let found = places(folders).into_iter().find(|run| run.id == id);
    let mut run = found.ok_or_else(|| ApiError::missing("there is no such run").at("run"))?;
    run.read();
    Ok(run)
}

/// The runs, not read yet.
fn places(folders: &[PathBuf]) -> Vec<Run> {
    let mut runs = Vec::new();
    let mut looked_at = 0;
    for folder in folders {
        if is_run(folder) {
            let name = std::path::absolute(folder).unwrap_or_else(|_| folder.clone());
            let name = name.file_name().unwrap_or_default().to_string_lossy().into_owned();
            runs.push(Run::at(folder.clone(), name));
        } else {
            walk(folder, "", DEEPEST, &mut looked_at, &mut runs);
        }
    }
    let mut seen = HashSet::new();
    for run in &mut runs {
        while !seen.insert(run.id.clone()) {
            run.id.push('~');
        }
    }
    runs
}

fn is_run(path: &Path) -> bool {
    run_dir::is_run(path).unwrap_or(true) || path.join(METRICS).is_file()
}

/// Adds the runs in a folder. Links are not followed, so nothing outside the folder is found.
fn walk(folder: &Path, within: &str, depth: usize, looked_at: &mut usize, runs: &mut Vec<Run>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let folders =
        entries.flatten().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let mut names: Vec<String> =
        folders.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort_unstable();
    for name in names {
        *looked_at += 1;
        if runs.len() >= MOST_RUNS || *looked_at > MOST_FOLDERS {
            return;
        }
        let path = folder.join(&name);
        let inner = if within.is_empty() { name } else { format!("{within}/{name}") };
        if is_run(&path) {
            runs.push(Run::at(path, inner));
        } else if depth > 1 {
            walk(&path, &inner, depth - 1, looked_at, runs);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder_with(runs: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        for run in runs {
            fs::create_dir_all(folder.path().join(run)).expect("a folder");
            fs::write(folder.path().join(run).join(METRICS), "").expect("a file");
        }
        folder
    }

    fn ids(runs: &[Run]) -> Vec<&str> {
        runs.iter().map(|run| run.id.as_str()).collect()
    }

    #[test]
    fn runs_are_found_below_the_folders_and_by_their_ids_only() {
        let folder = folder_with(&["b", "a/inner", "a/b/c/too-deep"]);
        let folders = [folder.path().to_path_buf(), folder.path().join("b")];
        let runs = list(&folders);
        assert_eq!(ids(&runs), ["a~inner", "b", "b~"]);
        assert_eq!(runs[0].name, "a/inner");
        for id in ids(&runs) {
            assert_eq!(find(&folders, id).expect("a run").id, id);
        }
        for id in ["", ".", "..", "../b", "a/inner", "/etc", "b/", "c"] {
            assert!(find(&folders, id).is_err(), "{id}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn links_lead_nowhere() {
        let outside = folder_with(&["secret"]);
        let folder = folder_with(&["own"]);
        std::os::unix::fs::symlink(outside.path(), folder.path().join("link")).expect("a link");
        assert_eq!(ids(&list(&[folder.path().to_path_buf()])), ["own"]);
    }

    #[test]
    fn a_run_without_a_configuration_has_an_empty_one() {
        let folder = folder_with(&["bare", "other"]);
        fs::write(folder.path().join("other").join(CONFIG), "seed = 1\n").expect("a file");
        let found = |run| config(&folder.path().join(run)).expect("a text");
        assert_eq!((found("bare").as_str(), found("other").as_str()), ("", "seed = 1\n"));
    }

    #[test]
    fn a_run_that_trains_stage_by_stage_says_how_many_are_left() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("run");
        let mut run = run_dir::RunDir::create(&path, "", 1).expect("a run");
        let shown = || find(&[folder.path().to_path_buf()], "run").expect("a run");
        assert_eq!(shown().stages, None);
        run.set_stages(8);
        run.start("").expect("started");
        assert_eq!(
            (shown().stages, shown().left_minutes),
            (Some(Stages { done: 0, all: 8 }), None)
        );
        let summary = run_dir::RunSummary { steps: 2, minutes: 30.0, ..Default::default() };
        run.record(State::Running, summary).expect("recorded");
        assert_eq!(shown().stages, Some(Stages { done: 2, all: 8 }));
        let left = shown().left_minutes.expect("a time");
        assert!((80.0..=90.0).contains(&left), "{left}");
        run.record(State::Finished, summary).expect("recorded");
        assert_eq!(shown().left_minutes, None);
    }

    #[test]
    fn the_time_left_is_that_until_the_first_limit() {
        let mut run = Run::at(PathBuf::from("run"), "run".into());
        run.summary = RunSummary { minutes: 10.0, games: 100, ..RunSummary::default() };
        let left = |text: &str| run.left(&text.parse().expect("TOML"));
        assert_eq!(left("[limits]\nminutes = 60.0\ngames = 400\nsteps = 5"), Some(30.0));
        assert_eq!(left("[limits]\nminutes = 60.0\ngames = 0"), Some(50.0));
        assert_eq!(left("[limits]\ngames = 50"), Some(0.0));
        assert_eq!(left("[limits]\nminutes = 0.0"), None);
    }
}
