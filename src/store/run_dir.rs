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
//! ends, however it ends. `run.json` is written only as long as the lock is the file at its path:
//! a directory that was moved, removed or taken over is another one's.

mod config_file;
mod listing;
mod lock;
mod manifest;
mod summary;

use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::files::{self, Action, FileError};
use super::json_file::{self, JsonFileError};
pub use config_file::read_config;
pub use listing::{Listed, is_run, list};
use lock::lock;
use manifest::read_manifest;
pub use manifest::{BegunNet, Machine, Manifest, State};
pub use summary::RunSummary;

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
    /// `run.json` cannot be read, or its content written.
    #[error(transparent)]
    Manifest(#[from] JsonFileError),
    /// `config.toml` is not what was written.
    #[error(
        "{} was edited by hand or is damaged: its checksum is wrong; change keys with --set \
         KEY=VALUE; to keep an edit, remove the last line of the file; to replace it, name a \
         configuration: outflank train CONFIG --resume",
        path.display()
    )]
    Config {
        /// The file.
        path: PathBuf,
    },
    /// The directory is no longer this process's.
    #[error(
        "{} is gone or is another file: the run directory was removed, moved or replaced, or the \
         lock was removed; nothing more is written there. A run that was moved can be resumed at \
         its new place",
        path.display()
    )]
    Lost {
        /// The lock.
        path: PathBuf,
    },
}

/// A run directory that this process owns.
#[derive(Debug)]
pub struct RunDir {
    path: PathBuf,
    manifest: Manifest,
    /// Holds the lock as long as it is open.
    lock: File,
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
        if is_run(path)? {
            // A run in progress is the more helpful thing to say.
            lock(path)?;
            return Err(RunDirError::Exists { path: path.to_path_buf() });
        }
        if let Some(entry) = foreign_entry(path)? {
            return Err(RunDirError::NotEmpty { path: path.to_path_buf(), entry });
        }
        files::create_dir(path)?;
        let lock = lock(path)?;
        if is_run(path)? {
            return Err(RunDirError::Exists { path: path.to_path_buf() });
        }
        files::create_dir(&path.join(GAMES))?;
        files::create_dir(&path.join(CHECKPOINTS))?;
        files::write_atomically(&path.join(CONFIG), config_file::seal(config).as_bytes())?;
        let manifest = Manifest {
            version: VERSION,
            program: env!("CARGO_PKG_VERSION").to_string(),
            seed,
            created: now(),
            updated: now(),
            starts: 0,
            machine: None,
            begun_with: 0,
            lost_games: 0,
            copying: false,
            first_net: None,
            state: State::Running,
            summary: RunSummary::default(),
        };
        let run = RunDir { path: path.to_path_buf(), manifest, lock };
        run.write_manifest()?;
        Ok(run)
    }

    /// Opens the directory of an earlier run to go on with it, and locks it.
    ///
    /// # Errors
    ///
    /// There is no run, it is in use, or its files cannot be read.
    pub fn open(path: &Path) -> Result<RunDir, RunDirError> {
        if !is_run(path)? {
            return Err(RunDirError::NoRun { path: path.to_path_buf() });
        }
        let lock = lock(path)?;
        let manifest = read_manifest(path)?;
        Ok(RunDir { path: path.to_path_buf(), manifest, lock })
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
    /// The file cannot be read, is damaged, or was edited.
    pub fn config(&self) -> Result<String, RunDirError> {
        read_config(&self.path)
    }

    /// Whether the directory is still this process's.
    ///
    /// # Errors
    ///
    /// The lock is no longer the file at its path.
    pub fn check(&self) -> Result<(), RunDirError> {
        let path = self.path.join(LOCK);
        if files::stands_at(&self.lock, &path)? { Ok(()) } else { Err(RunDirError::Lost { path }) }
    }

    /// Notes that the run trains from now on, with this configuration, and clears up after
    /// processes that died while they wrote. Until then a run that was opened is as it was.
    ///
    /// # Errors
    ///
    /// The files cannot be written.
    pub fn start(&mut self, config: &str) -> Result<(), RunDirError> {
        self.check()?;
        files::remove_unfinished(&self.path)?;
        let config = config_file::seal(config);
        files::write_atomically(&self.path.join(CONFIG), config.as_bytes())?;
        self.manifest.starts = self.manifest.starts.saturating_add(1);
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

    /// Notes how many of the games that the newest checkpoint counts were lost to damage. The run can
    /// then go on without them, also when the damaged records are cut off.
    ///
    /// # Errors
    ///
    /// `run.json` cannot be written.
    pub fn note_lost_games(&mut self, games: u64) -> Result<(), RunDirError> {
        if games == self.manifest.lost_games {
            return Ok(());
        }
        self.manifest.lost_games = games;
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
    pub fn record(&mut self, state: State, summary: RunSummary) -> Result<(), RunDirError> {
        (self.manifest.state, self.manifest.summary) = (state, summary);
        self.save()
    }

    fn save(&mut self) -> Result<(), RunDirError> {
        self.check()?;
        self.manifest.updated = now();
        self.write_manifest()
    }

    fn write_manifest(&self) -> Result<(), RunDirError> {
        let path = self.path.join(MANIFEST);
        let text = json_file::to_bytes(&self.manifest)
            .map_err(|source| JsonFileError::Content { path: path.clone(), source })?;
        Ok(files::write_atomically(&path, &text)?)
    }
}

/// The first entry that a run which died while it was made would not have left.
fn foreign_entry(path: &Path) -> Result<Option<Box<str>>, FileError> {
    let entries = match fs::read_dir(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
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

#[cfg(test)]
#[path = "run_dir_tests.rs"]
mod tests;
