//! The directory of one training run.
//!
//! | entry | content |
//! |---|---|
//! | `config.toml` | the resolved configuration |
//! | `run.json` | program version, seed, state, counters; a folder with this file is a run |
//! | `run.lock` | locked by the process that trains |
//! | `games/` | see [`games`](super::games) |
//! | `checkpoints/` | see [`checkpoint`](super::checkpoint) |
//! | `metrics.jsonl`, `tensorboard/` | written by telemetry |
//! | `ladder.jsonl` | written by the evaluation |
//!
//! A [`RunDir`] holds the lock. The operating system releases it when the process ends, for any
//! reason. Before each write of `run.json` it is checked that the lock is still the file at its
//! path. If it is not, the directory was moved, removed or replaced, and nothing is written.

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
pub use listing::{ListedRun, is_run, list};
use lock::lock;
use manifest::read_manifest;
pub use manifest::{InitialNetInfo, Machine, Manifest, State};
pub use summary::RunSummary;

const VERSION: u32 = 1;
const MANIFEST: &str = "run.json";
const LOCK: &str = "run.lock";
/// A run's configuration as resolved.
pub const CONFIG: &str = "config.toml";
/// A run's folder of games.
pub const GAMES: &str = "games";
/// A run's folder of checkpoints.
pub const CHECKPOINTS: &str = "checkpoints";

/// Why a run directory cannot be created, opened or written.
#[derive(Debug, thiserror::Error)]
pub enum RunDirError {
    /// The operating system reported an error.
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
        /// The number of that process, if known.
        holder: Option<u32>,
    },
    /// The directory already holds a run.
    #[error(
        "{} already holds a run; resume it with --resume, or choose another directory",
        path.display()
    )]
    Exists {
        /// The directory.
        path: PathBuf,
    },
    /// The directory holds other files.
    #[error("{} is not a run directory and not empty: it holds `{entry}`", path.display())]
    NotEmpty {
        /// The directory.
        path: PathBuf,
        /// The first entry that does not belong to a run.
        entry: Box<str>,
    },
    /// The directory holds no run.
    #[error("{} holds no run: it has no {MANIFEST}", path.display())]
    NoRun {
        /// The directory.
        path: PathBuf,
    },
    /// `run.json` cannot be read or written.
    #[error(transparent)]
    Manifest(#[from] JsonFileError),
    /// The checksum of `config.toml` is wrong or missing.
    #[error(
        "{} was edited by hand or is damaged: its checksum is wrong or missing; change keys with --set \
         KEY=VALUE; to keep an edit, remove the comments in its first and last line; to replace it, name a \
         configuration file: outflank train CONFIG --resume",
        path.display()
    )]
    Config {
        /// The file.
        path: PathBuf,
    },
    /// The lock file is no longer the one that this process locked.
    #[error(
        "{} is gone or is another file: the run directory was removed, moved or replaced, or the \
         lock was removed; nothing more is written there. A run that was moved can be resumed in \
         its new directory",
        path.display()
    )]
    Lost {
        /// The lock file.
        path: PathBuf,
    },
}

/// A run directory that this process has locked.
///
/// ```
/// use outflank::store::run_dir::{self, RunDir};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("mine");
/// let run = RunDir::create(&path, "# the configuration\n", 7)?;
/// assert_eq!((run.manifest().seed, run.games()), (7, path.join("games")));
/// assert!(RunDir::open(&path).is_err(), "it is locked");
/// drop(run);
/// assert_eq!(run_dir::list(folder.path())?.len(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct RunDir {
    path: PathBuf,
    manifest: Manifest,
    /// The configuration of this start, empty before it.
    config: String,
    /// The lock is held as long as this file is open.
    lock: File,
}

fn now() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |time| time.as_secs())
}

impl RunDir {
    /// Creates a run directory and its parents, and locks it. `config` is the text of the resolved
    /// configuration.
    ///
    /// # Errors
    ///
    /// The directory holds a run or other files, is in use, or cannot be written.
    pub fn create(path: &Path, config: &str, seed: u64) -> Result<RunDir, RunDirError> {
        if is_run(path)? {
            // If the run is in use, the error says so: that helps more than `Exists`.
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
            stages: None,
            state: State::Running,
            summary: RunSummary::default(),
        };
        let run = RunDir { path: path.to_path_buf(), manifest, config: String::new(), lock };
        run.write_manifest()?;
        Ok(run)
    }

    /// Opens the directory of a run to resume it, and locks it.
    ///
    /// # Errors
    ///
    /// The directory holds no run, is in use, or its files cannot be read.
    pub fn open(path: &Path) -> Result<RunDir, RunDirError> {
        if !is_run(path)? {
            return Err(RunDirError::NoRun { path: path.to_path_buf() });
        }
        let lock = lock(path)?;
        let manifest = read_manifest(path)?;
        Ok(RunDir { path: path.to_path_buf(), manifest, config: String::new(), lock })
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

    /// The content of `run.json`.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The resolved configuration of the run's last start.
    ///
    /// # Errors
    ///
    /// The file cannot be read, is damaged, or was edited.
    pub fn config(&self) -> Result<String, RunDirError> {
        read_config(&self.path)
    }

    /// Checks that this process still owns the directory. Of its parts, those that were removed since
    /// [`RunDir::start`] and whose content is known are made anew, with a warning.
    ///
    /// # Errors
    ///
    /// The locked file is no longer the file at its path, or a part cannot be written.
    pub fn check(&self) -> Result<(), RunDirError> {
        self.check_lock()?;
        for part in [CONFIG, MANIFEST, CHECKPOINTS] {
            let path = self.path.join(part);
            if !fs::metadata(&path).is_err_and(|error| files::means_missing(&error)) {
                continue;
            }
            match part {
                CONFIG => files::write_atomically(&path, self.config.as_bytes())?,
                MANIFEST => self.write_manifest()?,
                _ => files::create_dir(&path)?,
            }
            tracing::warn!("{} was removed during the run; it is made anew", path.display());
        }
        Ok(())
    }

    fn check_lock(&self) -> Result<(), RunDirError> {
        let path = self.path.join(LOCK);
        if files::is_still_at(&self.lock, &path)? {
            Ok(())
        } else {
            Err(RunDirError::Lost { path })
        }
    }

    /// Records that the run trains from now on with this configuration, and removes temporary files
    /// of processes that died. Before this call, an opened run is unchanged.
    ///
    /// # Errors
    ///
    /// The files cannot be written.
    pub fn start(&mut self, config: &str) -> Result<(), RunDirError> {
        self.check_lock()?;
        files::remove_temporary_files(&self.path)?;
        self.config = config_file::seal(config);
        files::write_atomically(&self.path.join(CONFIG), self.config.as_bytes())?;
        self.manifest.starts = self.manifest.starts.saturating_add(1);
        self.manifest.state = State::Running;
        self.save()
    }

    /// Sets the machine that the next [`RunDir::start`] records.
    pub fn set_machine(&mut self, machine: Machine) {
        self.manifest.machine = Some(machine);
    }

    /// Sets the number of stages that the next [`RunDir::start`] records.
    pub fn set_stages(&mut self, stages: u64) {
        self.manifest.stages = Some(stages);
    }

    /// Records that games of earlier runs are being copied. If the process dies before
    /// [`RunDir::note_copied_games`], only some of the games are there.
    ///
    /// # Errors
    ///
    /// `run.json` cannot be written.
    pub fn note_copying(&mut self) -> Result<(), RunDirError> {
        self.manifest.copying = true;
        self.save()
    }

    /// Records that the run starts with this many games of earlier runs, all of them copied.
    ///
    /// # Errors
    ///
    /// `run.json` cannot be written.
    pub fn note_copied_games(&mut self, games: u64) -> Result<(), RunDirError> {
        (self.manifest.begun_with, self.manifest.copying) = (games, false);
        self.save()
    }

    /// Records how many of the games that the newest checkpoint counts were lost to damage. The
    /// next start then accepts the loss, even if the damaged records were cut off meanwhile.
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

    /// Records that the run starts with the weights of this net.
    ///
    /// # Errors
    ///
    /// `run.json` cannot be written.
    pub fn note_initial_net(&mut self, net: InitialNetInfo) -> Result<(), RunDirError> {
        self.manifest.first_net = Some(net);
        self.save()
    }

    /// Records the run's state and counters.
    ///
    /// # Errors
    ///
    /// `run.json` cannot be written. It then keeps its old content.
    pub fn record(&mut self, state: State, summary: RunSummary) -> Result<(), RunDirError> {
        (self.manifest.state, self.manifest.summary) = (state, summary);
        self.save()
    }

    fn save(&mut self) -> Result<(), RunDirError> {
        self.check_lock()?;
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

/// The first entry of a directory that is not from an interrupted [`RunDir::create`].
fn foreign_entry(path: &Path) -> Result<Option<Box<str>>, FileError> {
    let entries = match fs::read_dir(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        entries => entries.map_err(FileError::at(Action::Read, path))?,
    };
    for entry in entries {
        let name = entry.map_err(FileError::at(Action::Read, path))?.file_name();
        let name = name.to_string_lossy();
        let is_own = [LOCK, CONFIG, GAMES, CHECKPOINTS].contains(&&*name)
            || name.starts_with(&format!(".{CONFIG}."))
            || name.starts_with(&format!(".{MANIFEST}."));
        if !is_own {
            return Ok(Some(name.into()));
        }
    }
    Ok(None)
}

#[cfg(test)]
#[path = "run_dir_tests.rs"]
mod tests;
