//! Checkpoints: the saved state that `--resume` continues from, one folder each.
//!
//! `checkpoints/step-00001234/` holds `net.safetensors` (usable alone), `learner.safetensors` (the
//! learner's float32 weights and the optimiser's state; missing if only the net is kept) and
//! `state.json` (the counters, and the length and checksum of the other two files).
//!
//! Invariant: a folder named `step-...` is complete. A new folder is written under a hidden name,
//! synced to the disk, and then renamed. An old folder gets a hidden name before it is removed.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde::{Deserialize, Serialize};

use super::files::{self, Action, FileError};
pub use super::find::{ModelLocation, find, load_model};
use super::json_file::{self, JsonFileError};
use super::limits;
use super::model_file::{ModelFile, ModelFileError};
use crate::keys::{above, keys, whole, within};

const VERSION: u32 = 1;
/// The net's file name in a checkpoint folder or in a folder of an exported net.
pub const NET: &str = "net.safetensors";
const LEARNER: &str = "learner.safetensors";
pub(super) const STATE: &str = "state.json";
const PREFIX: &str = "step-";
const FILLING: &str = ".filling-";
const REPLACED: &str = ".replaced-";
const REMOVING: &str = ".removing-";

/// Why a checkpoint cannot be written or read.
#[derive(Debug, thiserror::Error)]
pub enum CheckpointError {
    /// The operating system reported an error.
    #[error(transparent)]
    File(#[from] FileError),
    /// The net is damaged or not a net of this program.
    #[error(transparent)]
    Net(#[from] ModelFileError),
    /// `state.json` cannot be read or written.
    #[error(transparent)]
    State(#[from] JsonFileError),
    /// A file has another length or checksum than `state.json` records.
    #[error(
        "{} is damaged: its {found} bytes are not the {wanted} bytes that were written",
        path.display()
    )]
    Checksum {
        /// The file.
        path: PathBuf,
        /// Its length in bytes.
        found: u64,
        /// The length that was written, in bytes.
        wanted: u64,
    },
    /// A path names no net, checkpoint or run.
    #[error(
        "{} is neither a net file, nor a folder of a net, nor a checkpoint folder, nor a run directory",
        path.display()
    )]
    Nothing {
        /// The path.
        path: PathBuf,
    },
    /// A run has no checkpoint.
    #[error("{} has no checkpoint yet", path.display())]
    NoneYet {
        /// The folder of checkpoints.
        path: PathBuf,
    },
}

keys! {
    /// When checkpoints are written and which ones are kept.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Retention {
        /// Minutes of training between two checkpoints.
        key every_minutes: f64 = 5.0, above(0.0, 1e6);

        /// How many of the newest checkpoints are kept.
        key keep_last: u32 = 3, whole(1, 1_000_000);

        /// Of the older checkpoints one is kept per this many minutes of training; 0 means none.
        key keep_every_minutes: f64 = 30.0, within(0.0, 1e6);
    }
}

/// The saved state of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Checkpoint {
    /// Training steps so far.
    pub step: u64,
    /// Minutes of training so far, over all starts of the run.
    pub minutes: f64,
    /// The net that plays (the averaged weights if averaging is on).
    pub net: ModelFile,
    /// The learner's float32 weights and the optimiser's state, as safetensors bytes.
    pub learner: Option<Vec<u8>>,
    /// The counters of the run and its schedule.
    pub state: serde_json::Value,
    /// Whether the net is kept despite the [`Retention`], since it was given to the evaluation.
    pub keep_net: bool,
}

#[derive(Clone, Copy, PartialEq, Serialize, Deserialize)]
struct FileChecksum {
    bytes: u64,
    crc32: u32,
}

impl FileChecksum {
    fn of(content: &[u8]) -> FileChecksum {
        FileChecksum { bytes: content.len() as u64, crc32: crc32fast::hash(content) }
    }
}

#[derive(Serialize, Deserialize)]
struct StateFile {
    version: u32,
    step: u64,
    minutes: f64,
    files: BTreeMap<String, FileChecksum>,
    #[serde(default)]
    keep_net: bool,
    state: serde_json::Value,
}

impl StateFile {
    fn text(&self, path: &Path) -> Result<Vec<u8>, CheckpointError> {
        let failed = |source| JsonFileError::Content { path: path.to_path_buf(), source };
        Ok(json_file::to_bytes(self).map_err(failed)?)
    }
}

/// The folder of the checkpoint of `step`.
pub fn path(dir: &Path, step: u64) -> PathBuf {
    folder(dir, PREFIX, step)
}

fn folder(dir: &Path, prefix: &str, step: u64) -> PathBuf {
    dir.join(format!("{prefix}{step:08}"))
}

impl Checkpoint {
    /// Writes the checkpoint as a folder in `dir`. It replaces a checkpoint of the same step.
    ///
    /// # Errors
    ///
    /// The checkpoint cannot be written. The earlier checkpoints are then unchanged.
    pub fn save(&self, dir: &Path) -> Result<PathBuf, CheckpointError> {
        let start = Instant::now();
        files::create_dir(dir)?;
        recover(dir)?;
        let filling = folder(dir, FILLING, self.step);
        self.fill_or_remove(&filling)?;
        let path = path(dir, self.step);
        let replaced = folder(dir, REPLACED, self.step);
        if path.exists() {
            rename(&path, &replaced)?;
        }
        rename(&filling, &path)?;
        files::sync_dir(dir)?;
        remove_dir(&replaced)?;
        let seconds = start.elapsed().as_secs_f64();
        tracing::debug!("checkpoint {}: written in {seconds:.3} s", path.display());
        Ok(path)
    }

    fn fill_or_remove(&self, path: &Path) -> Result<(), CheckpointError> {
        let filled = self.fill(path);
        if filled.is_err() {
            // An error here is ignored: the first one matters more, and `recover` tries again.
            let _ = fs::remove_dir_all(path);
        }
        filled
    }

    fn fill(&self, path: &Path) -> Result<(), CheckpointError> {
        files::create_dir(path)?;
        let mut checksums = BTreeMap::new();
        let contents = [(NET, Some(self.net.bytes())), (LEARNER, self.learner.as_deref())];
        for (name, content) in contents {
            if let Some(content) = content {
                files::write_synced(&path.join(name), content)?;
                checksums.insert(name.to_string(), FileChecksum::of(content));
            }
        }
        let state = StateFile {
            version: VERSION,
            step: self.step,
            minutes: self.minutes,
            files: checksums,
            keep_net: self.keep_net,
            state: self.state.clone(),
        };
        let state_path = path.join(STATE);
        files::write_synced(&state_path, &state.text(&state_path)?)?;
        Ok(files::sync_dir(path)?)
    }

    /// Reads a checkpoint folder.
    ///
    /// # Errors
    ///
    /// A file is missing, cut off, damaged, not of this program, or of another version.
    pub fn load(path: &Path) -> Result<Checkpoint, CheckpointError> {
        let state = read_state(path)?;
        let read = |name: &str| -> Result<Option<Vec<u8>>, CheckpointError> {
            let Some(&wanted) = state.files.get(name) else { return Ok(None) };
            let path = path.join(name);
            let found = files::length(&path)?;
            let damaged =
                || CheckpointError::Checksum { path: path.clone(), found, wanted: wanted.bytes };
            if found != wanted.bytes {
                return Err(damaged());
            }
            let content =
                files::read_stored(&path, if name == NET { limits::NET } else { limits::LEARNER })?;
            if FileChecksum::of(&content) != wanted {
                return Err(damaged());
            }
            Ok(Some(content))
        };
        let learner = read(LEARNER)?;
        let net_path = path.join(NET);
        let net = match read(NET)? {
            Some(bytes) => ModelFile::from_bytes(bytes, &net_path)?,
            None => ModelFile::read(&net_path)?,
        };
        Ok(Checkpoint {
            step: state.step,
            minutes: state.minutes,
            net,
            learner,
            state: state.state,
            keep_net: state.keep_net,
        })
    }
}

/// The games of self-play, if they are known, and the minutes of training before a checkpoint was
/// saved. `None` if its `state.json` cannot be read.
pub fn training_at(path: &Path) -> Option<(Option<u64>, f64)> {
    let file = read_state(path).ok()?;
    Some((file.state["games"].as_u64(), file.minutes))
}

fn read_state(path: &Path) -> Result<StateFile, CheckpointError> {
    Ok(json_file::read(&path.join(STATE), VERSION)?)
}

fn rename(from: &Path, to: &Path) -> Result<(), FileError> {
    fs::rename(from, to).map_err(FileError::at(Action::Rename, to))
}

fn remove_dir(path: &Path) -> Result<(), FileError> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(FileError::at(Action::Remove, path)(error))
        }
        _ => Ok(()),
    }
}

/// Removes the checkpoint of a step. If the process dies meanwhile, a hidden folder is left, which
/// [`recover`] removes. An incomplete checkpoint is never left.
fn remove(dir: &Path, step: u64) -> Result<(), FileError> {
    let removing = folder(dir, REMOVING, step);
    remove_dir(&removing)?;
    rename(&folder(dir, PREFIX, step), &removing)?;
    remove_dir(&removing)
}

/// The folders in `dir` named `prefix` and a step, sorted by step.
fn numbered(dir: &Path, prefix: &str) -> Result<Vec<(u64, PathBuf)>, FileError> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).map_err(FileError::at(Action::Read, dir))? {
        let path = entry.map_err(FileError::at(Action::Read, dir))?.path();
        let number = path.file_name().and_then(|name| name.to_str()?.strip_prefix(prefix));
        if let Some(step) = number.and_then(|digits| digits.parse().ok()) {
            found.push((step, path));
        }
    }
    found.sort();
    Ok(found)
}

/// Cleans up after a process that died while it wrote or removed a checkpoint.
fn recover(dir: &Path) -> Result<(), FileError> {
    for prefix in [FILLING, REMOVING] {
        for (_, path) in numbered(dir, prefix)? {
            remove_dir(&path)?;
        }
    }
    for (step, replaced) in numbered(dir, REPLACED)? {
        let path = path(dir, step);
        if path.exists() {
            remove_dir(&replaced)?;
        } else {
            // It died between the two renames: the old checkpoint is complete and comes back.
            rename(&replaced, &path)?;
        }
    }
    let mut older = numbered(dir, PREFIX)?;
    // A process that died while it rewrote a `state.json` leaves a temporary file.
    older.iter().try_for_each(|(_, path)| files::remove_temporary_files(path))?;
    // Older versions of this program removed checkpoints without renaming them first.
    older.pop();
    for (step, path) in older {
        if !path.join(STATE).exists() {
            remove(dir, step)?;
        }
    }
    Ok(())
}

/// The checkpoints in a folder, sorted by step; empty if the folder does not exist.
///
/// # Errors
///
/// The folder cannot be read.
pub fn list(dir: &Path) -> Result<Vec<(u64, PathBuf)>, CheckpointError> {
    if !dir.exists() {
        return Ok(Vec::new());
    }
    Ok(numbered(dir, PREFIX)?)
}

/// The newest checkpoint of a run that is being resumed. First cleans up after a process that died
/// while it replaced or removed a checkpoint. Call it with the run locked.
///
/// # Errors
///
/// There is no checkpoint, or the folder cannot be read.
pub fn newest(dir: &Path) -> Result<PathBuf, CheckpointError> {
    if dir.exists() {
        recover(dir)?;
    }
    let newest = list(dir)?.pop();
    newest.map(|(_, path)| path).ok_or_else(|| CheckpointError::NoneYet { path: dir.to_path_buf() })
}

/// Removes the checkpoints that `retention` does not keep, and returns how many. Where the net must
/// stay ([`Checkpoint::keep_net`]), only the learner's file is removed; this is not counted.
///
/// # Errors
///
/// A checkpoint cannot be removed. One whose `state.json` cannot be read is kept without an error.
pub fn prune(dir: &Path, retention: &Retention) -> Result<u32, CheckpointError> {
    let all = list(dir)?;
    let older = all.len().saturating_sub(retention.keep_last.max(1) as usize);
    let (mut last_interval, mut removed) = (None, 0);
    for (step, path) in &all[..older] {
        let Ok(state) = read_state(path) else { continue };
        // Without its learner a checkpoint cannot be resumed from, so its interval keeps another.
        let has_net_only = state.keep_net && !state.files.contains_key(LEARNER);
        if retention.keep_every_minutes > 0.0 && !has_net_only {
            // Counted from the start of the run, so that earlier removals do not matter.
            let interval = (state.minutes / retention.keep_every_minutes) as u64;
            if last_interval != Some(interval) {
                last_interval = Some(interval);
                continue;
            }
        }
        if state.keep_net {
            remove_learner(path, state)?;
        } else {
            remove(dir, *step)?;
            removed += 1;
        }
    }
    Ok(removed)
}

/// Removes the learner's file from a checkpoint and leaves the net, which may be in use. First
/// rewrites `state.json`, so that a process that dies in between leaves a valid checkpoint.
fn remove_learner(path: &Path, mut state: StateFile) -> Result<(), CheckpointError> {
    if state.files.remove(LEARNER).is_some() {
        let state_path = path.join(STATE);
        files::write_atomically(&state_path, &state.text(&state_path)?)?;
    }
    let learner = path.join(LEARNER);
    match fs::remove_file(&learner) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(FileError::at(Action::Remove, &learner)(error).into())
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
#[path = "checkpoint_tests.rs"]
mod tests;
