//! The directory of one training run.
//!
//! | entry | what |
//! |---|---|
//! | `config.toml` | the configuration as resolved |
//! | `run.json` | program version, seed, state, counters; its presence makes a folder a run |
//! | `run.lock` | locked by the process that trains |
//! | `games/` | see [`games`](super::games) |
//! | `checkpoints/` | see [`checkpoint`](super::checkpoint) |
//! | `metrics.jsonl`, `tensorboard/`, `ladder.jsonl` | written by telemetry and the evaluator |
//!
//! Whoever holds a [`RunDir`] holds the lock; the operating system frees it when the process
//! ends, however it ends.

mod listing;
mod lock;
mod summary;

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use super::files::{self, Action, FileError};
use crate::choices::choices;
pub use listing::{Listed, list};
use lock::lock;
pub use summary::Summary;

const VERSION: u32 = 1;
const MANIFEST: &str = "run.json";
const LOCK: &str = "run.lock";
const CONFIG: &str = "config.toml";
/// The folder of a run that holds its games.
pub const GAMES: &str = "games";
/// The folder of a run that holds its checkpoints.
pub const CHECKPOINTS: &str = "checkpoints";

/// Why a run directory cannot be made or opened.
#[derive(Debug, thiserror::Error)]
pub enum RunDirError {
    /// The operating system refused.
    #[error(transparent)]
    File(#[from] FileError),
    /// Another process trains in the directory.
    #[error(
        "{} is in use by another process{}; two runs cannot share a directory",
        path.display(),
        holder.map_or(String::new(), |id| format!(" (process {id})"))
    )]
    Locked {
        /// The directory.
        path: PathBuf,
        /// The process, if it left its number.
        holder: Option<u32>,
    },
    /// The directory holds a run already.
    #[error(
        "{} holds a run already; resume it with --resume, or choose another directory",
        path.display()
    )]
    Exists {
        /// The directory.
        path: PathBuf,
    },
    /// The directory holds other things.
    #[error("{} is no run directory, and not empty: it holds `{entry}`", path.display())]
    NotEmpty {
        /// The directory.
        path: PathBuf,
        /// The first thing in it that is not of a run.
        entry: Box<str>,
    },
    /// The directory holds no run.
    #[error("{} holds no run: it has no {MANIFEST}", path.display())]
    NoRun {
        /// The directory.
        path: PathBuf,
    },
    /// `run.json` cannot be read.
    #[error("{} cannot be read: it is cut off, damaged or foreign", path.display())]
    Manifest {
        /// The file.
        path: PathBuf,
        /// What the parser said.
        #[source]
        source: serde_json::Error,
    },
    /// The run is of another version of this program.
    #[error("{} has layout version {found}, this program reads version {VERSION}", path.display())]
    Version {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u32,
    },
}

choices! {
    /// What has become of a run.
    pub enum State {
        /// A process trains.
        #[default]
        Running = "running",
        /// It was interrupted and saved; it can be resumed.
        Stopped = "stopped",
        /// It has reached one of its limits.
        Finished = "finished",
        /// It ended with an error; it can be resumed from its last checkpoint.
        Failed = "failed",
        /// Its process is gone without a word; it can be resumed. Seen from outside, not stored.
        Killed = "killed",
    }
}

/// The net that a run began with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BegunNet {
    /// Where it was found.
    pub path: PathBuf,
    /// Positions of self-play that were made before it.
    pub positions: u64,
    /// Learning steps that it was made by.
    pub steps: u64,
}

/// What a run trained on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// The processor's name; empty where the system does not tell.
    pub cpu: String,
    /// Processor cores that the program may use.
    pub cores: usize,
}

/// What `run.json` says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// The layout's version.
    pub version: u32,
    /// The version of the program that made the run.
    pub program: String,
    /// The seed that everything random follows from.
    pub seed: u64,
    /// When the run was made, in seconds since 1970.
    pub created: u64,
    /// When this file was written last.
    pub updated: u64,
    /// How often the run was started or resumed.
    pub starts: u32,
    /// Where it was started last; unknown of older runs.
    #[serde(default)]
    pub machine: Option<Machine>,
    /// Games of earlier runs that it began with.
    #[serde(default)]
    pub begun_with: u64,
    /// Whether games of earlier runs were being copied when this was written.
    #[serde(default)]
    pub copying: bool,
    /// The net that it began with; without one it was random.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_net: Option<BegunNet>,
    /// What has become of it.
    pub state: State,
    /// How far it has come.
    pub summary: Summary,
}

/// A run directory that this process owns.
#[derive(Debug)]
pub struct RunDir {
    path: PathBuf,
    manifest: Manifest,
    /// Holds the lock as long as it is open.
    _lock: File,
}

fn now() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |time| time.as_secs())
}

impl RunDir {
    /// Makes a run directory (its parents as well) and locks it. `config` is the text of the
    /// resolved configuration.
    ///
    /// # Errors
    ///
    /// The directory holds a run or other things, is in use, or cannot be written.
    pub fn create(path: &Path, config: &str, seed: u64) -> Result<RunDir, RunDirError> {
        if is_run(path) {
            // A run in progress is the more helpful thing to say.
            lock(path)?;
            return Err(RunDirError::Exists { path: path.to_path_buf() });
        }
        if let Some(entry) = foreign_entry(path)? {
            return Err(RunDirError::NotEmpty { path: path.to_path_buf(), entry });
        }
        files::create_dir(path)?;
        let lock = lock(path)?;
        if is_run(path) {
            return Err(RunDirError::Exists { path: path.to_path_buf() });
        }
        files::create_dir(&path.join(GAMES))?;
        files::create_dir(&path.join(CHECKPOINTS))?;
        files::write_atomically(&path.join(CONFIG), config.as_bytes())?;
        let manifest = Manifest {
            version: VERSION,
            program: env!("CARGO_PKG_VERSION").to_string(),
            seed,
            created: now(),
            updated: now(),
            starts: 0,
            machine: None,
            begun_with: 0,
            copying: false,
            first_net: None,
            state: State::Running,
            summary: Summary::default(),
        };
        let run = RunDir { path: path.to_path_buf(), manifest, _lock: lock };
        run.write_manifest()?;
        Ok(run)
    }

    /// Opens the directory of an earlier run to go on with it, and locks it.
    ///
    /// # Errors
    ///
    /// There is no run, it is in use, or its files cannot be read.
    pub fn open(path: &Path) -> Result<RunDir, RunDirError> {
        if !is_run(path) {
            return Err(RunDirError::NoRun { path: path.to_path_buf() });
        }
        let lock = lock(path)?;
        let manifest = read_manifest(path)?;
        Ok(RunDir { path: path.to_path_buf(), manifest, _lock: lock })
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The folder of games.
    pub fn games(&self) -> PathBuf {
        self.path.join(GAMES)
    }

    /// The folder of checkpoints.
    pub fn checkpoints(&self) -> PathBuf {
        self.path.join(CHECKPOINTS)
    }

    /// What `run.json` says.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The configuration as it was resolved when the run was last started.
    ///
    /// # Errors
    ///
    /// The file cannot be read.
    pub fn config(&self) -> Result<String, RunDirError> {
        let bytes = files::read(&self.path.join(CONFIG))?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Notes that the run trains from now on, with this configuration. Until then a run that was
    /// opened is as it was.
    ///
    /// # Errors
    ///
    /// The files cannot be written.
    pub fn start(&mut self, config: &str) -> Result<(), RunDirError> {
        files::write_atomically(&self.path.join(CONFIG), config.as_bytes())?;
        self.manifest.starts += 1;
        self.manifest.state = State::Running;
        self.save()
    }

    /// Says where the run trains from the next [`RunDir::start`] on.
    pub fn set_machine(&mut self, machine: Machine) {
        self.manifest.machine = Some(machine);
    }

    /// Notes that games of earlier runs are being copied: a run that dies before
    /// [`RunDir::begin_with`] has only some of them.
    ///
    /// # Errors
    ///
    /// `run.json` cannot be written.
    pub fn copying(&mut self) -> Result<(), RunDirError> {
        self.manifest.copying = true;
        self.save()
    }

    /// Notes that the run begins with this many games of earlier ones, which are all there.
    ///
    /// # Errors
    ///
    /// `run.json` cannot be written.
    pub fn begin_with(&mut self, games: u64) -> Result<(), RunDirError> {
        (self.manifest.begun_with, self.manifest.copying) = (games, false);
        self.save()
    }

    /// Notes that the run begins with the weights of this net.
    ///
    /// # Errors
    ///
    /// `run.json` cannot be written.
    pub fn begin_with_net(&mut self, net: BegunNet) -> Result<(), RunDirError> {
        self.manifest.first_net = Some(net);
        self.save()
    }

    /// Stores how far the run has come and what has become of it.
    ///
    /// # Errors
    ///
    /// `run.json` cannot be written; its old content then stands.
    pub fn record(&mut self, state: State, summary: Summary) -> Result<(), RunDirError> {
        (self.manifest.state, self.manifest.summary) = (state, summary);
        self.save()
    }

    fn save(&mut self) -> Result<(), RunDirError> {
        self.manifest.updated = now();
        self.write_manifest()
    }

    fn write_manifest(&self) -> Result<(), RunDirError> {
        let path = self.path.join(MANIFEST);
        let text = serde_json::to_vec_pretty(&self.manifest)
            .map_err(|source| RunDirError::Manifest { path: path.clone(), source })?;
        Ok(files::write_atomically(&path, &text)?)
    }
}

/// Whether a directory holds a run.
pub fn is_run(path: &Path) -> bool {
    path.join(MANIFEST).is_file()
}

/// The first entry that a run which died while it was made would not have left.
fn foreign_entry(path: &Path) -> Result<Option<Box<str>>, FileError> {
    let entries = match fs::read_dir(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        entries => entries.map_err(FileError::at(Action::Read, path))?,
    };
    for entry in entries {
        let name = entry.map_err(FileError::at(Action::Read, path))?.file_name();
        let name = name.to_string_lossy();
        let own = [LOCK, CONFIG, GAMES, CHECKPOINTS].contains(&&*name)
            || name.starts_with(&format!(".{CONFIG}."))
            || name.starts_with(&format!(".{MANIFEST}."));
        if !own {
            return Ok(Some(name.into()));
        }
    }
    Ok(None)
}

fn read_manifest(path: &Path) -> Result<Manifest, RunDirError> {
    #[derive(Deserialize)]
    struct Version {
        version: u32,
    }
    let path = path.join(MANIFEST);
    let text = files::read(&path)?;
    let unreadable = |source| RunDirError::Manifest { path: path.clone(), source };
    let Version { version } = serde_json::from_slice(&text).map_err(unreadable)?;
    if version != VERSION {
        return Err(RunDirError::Version { path, found: version });
    }
    serde_json::from_slice(&text).map_err(unreadable)
}

#[cfg(test)]
#[path = "run_dir_tests.rs"]
mod tests;
