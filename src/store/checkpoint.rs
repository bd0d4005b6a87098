//! Checkpoints: all that a run needs to go on, in one folder that is there whole or not at all.
//!
//! `checkpoints/step-00001234/` holds `net.safetensors` (usable alone), `learner.safetensors`
//! (master weights and the optimiser's state; absent where only a net is kept) and `state.json`
//! (counters, from which random streams follow, with the length and checksum of the other two). A
//! folder is filled under a hidden name, forced to the disk, and renamed; before it is removed it
//! is renamed as well, so that no name of a checkpoint is ever that of a part.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde::{Deserialize, Serialize};

use super::files::{self, Action, FileError};
pub use super::find::{Found, find, load_net};
use super::json_file::{self, JsonFileError};
use super::limits;
use super::net_file::{NetFile, NetFileError};

const VERSION: u32 = 1;
/// The net in the folder of a checkpoint, or of an exported net.
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
    /// The operating system refused.
    #[error(transparent)]
    File(#[from] FileError),
    /// The net in it is damaged or foreign.
    #[error(transparent)]
    Net(#[from] NetFileError),
    /// `state.json` cannot be read, or its content written.
    #[error(transparent)]
    State(#[from] JsonFileError),
    /// A file is not what was written.
    #[error(
        "{} is damaged: {found} bytes with another checksum than the {wanted} bytes written",
        path.display()
    )]
    Checksum {
        /// The file.
        path: PathBuf,
        /// Its length.
        found: u64,
        /// The length that it was written with.
        wanted: u64,
    },
    /// A path leads to no net, checkpoint or run.
    #[error(
        "{} is neither a net file, nor a folder of a net, nor a checkpoint folder, nor a run directory",
        path.display()
    )]
    Nothing {
        /// The path.
        path: PathBuf,
    },
    /// A run has no checkpoint yet.
    #[error("{} has no checkpoint yet", path.display())]
    NoneYet {
        /// The folder of checkpoints.
        path: PathBuf,
    },
}

/// When checkpoints are written and which ones stay.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Retention {
    /// Minutes of training between two checkpoints; above 0.
    pub every_minutes: f64,
    /// How many of the newest stay; at least 1.
    pub keep_last: u32,
    /// Of the older ones, one stays for each so many minutes of training; 0 keeps none.
    pub keep_every_minutes: f64,
}

impl Default for Retention {
    fn default() -> Retention {
        Retention { every_minutes: 5.0, keep_last: 3, keep_every_minutes: 30.0 }
    }
}

/// All that a run needs to go on.
#[derive(Clone, Debug, PartialEq)]
pub struct Checkpoint {
    /// Steps that the learner had made.
    pub step: u64,
    /// Minutes of training so far, over all starts of the run.
    pub minutes: f64,
    /// The net as it plays.
    pub net: NetFile,
    /// Master weights and optimiser state, as safetensors bytes.
    pub learner: Option<Vec<u8>>,
    /// Counters, schedules and random streams.
    pub state: serde_json::Value,
    /// Whether its net stays, whatever the [`Retention`] says: it has a rating.
    pub keep_net: bool,
}

#[derive(Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Stamp {
    bytes: u64,
    crc32: u32,
}

impl Stamp {
    fn of(content: &[u8]) -> Stamp {
        Stamp { bytes: content.len() as u64, crc32: crc32fast::hash(content) }
    }
}

#[derive(Serialize, Deserialize)]
struct StateFile {
    version: u32,
    step: u64,
    minutes: f64,
    files: BTreeMap<String, Stamp>,
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

/// The folder of the checkpoint of a step.
pub fn path(dir: &Path, step: u64) -> PathBuf {
    folder(dir, PREFIX, step)
}

fn folder(dir: &Path, prefix: &str, step: u64) -> PathBuf {
    dir.join(format!("{prefix}{step:08}"))
}

impl Checkpoint {
    /// Writes the checkpoint as a folder of `dir`, in place of one of the same step.
    ///
    /// # Errors
    ///
    /// It cannot be written; the checkpoints that stood before then stand.
    pub fn save(&self, dir: &Path) -> Result<PathBuf, CheckpointError> {
        let begun = Instant::now();
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
        let seconds = begun.elapsed().as_secs_f64();
        tracing::debug!("checkpoint {}: written in {seconds:.3} s", path.display());
        Ok(path)
    }

    fn fill_or_remove(&self, path: &Path) -> Result<(), CheckpointError> {
        let filled = self.fill(path);
        if filled.is_err() {
            // Best effort: the error on its way says more, and `recover` comes by again.
            let _ = fs::remove_dir_all(path);
        }
        filled
    }

    fn fill(&self, path: &Path) -> Result<(), CheckpointError> {
        files::create_dir(path)?;
        let mut stamps = BTreeMap::new();
        let contents = [(NET, Some(self.net.bytes())), (LEARNER, self.learner.as_deref())];
        for (name, content) in contents {
            if let Some(content) = content {
                files::write_synced(&path.join(name), content)?;
                stamps.insert(name.to_string(), Stamp::of(content));
            }
        }
        let state = StateFile {
            version: VERSION,
            step: self.step,
            minutes: self.minutes,
            files: stamps,
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
    /// A file of it is missing, cut off, damaged, foreign or of another version.
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
                files::read(&path, if name == NET { limits::NET } else { limits::LEARNER })?;
            if Stamp::of(&content) != wanted {
                return Err(damaged());
            }
            Ok(Some(content))
        };
        let learner = read(LEARNER)?;
        let net_path = path.join(NET);
        let net = match read(NET)? {
            Some(bytes) => NetFile::from_bytes(bytes, &net_path)?,
            None => NetFile::read(&net_path)?,
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

/// When in its run a checkpoint was made: the minutes of training, and what [`Checkpoint::state`]
/// held.
///
/// # Errors
///
/// Its `state.json` is missing, damaged, foreign or of another version.
pub fn made_at(path: &Path) -> Result<(f64, serde_json::Value), CheckpointError> {
    read_state(path).map(|file| (file.minutes, file.state))
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

/// Removes the checkpoint of a step. A process that dies meanwhile leaves a hidden folder, which
/// [`recover`] removes, and not a checkpoint that lacks some files.
fn remove(dir: &Path, step: u64) -> Result<(), FileError> {
    let removing = folder(dir, REMOVING, step);
    remove_dir(&removing)?;
    rename(&folder(dir, PREFIX, step), &removing)?;
    remove_dir(&removing)
}

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

/// Clears up after a process that died while it wrote or removed a checkpoint.
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
            // It died between the two renames: the old one is whole, so it counts again.
            rename(&replaced, &path)?;
        }
    }
    let mut older = numbered(dir, PREFIX)?;
    // Of a `state.json` that was being rewritten.
    older.iter().try_for_each(|(_, path)| files::remove_unfinished(path))?;
    // Older versions removed checkpoints under their names, the oldest first.
    older.pop();
    for (step, path) in older {
        if !path.join(STATE).exists() {
            remove(dir, step)?;
        }
    }
    Ok(())
}

/// The checkpoints of a folder by rising step. None if the folder does not exist.
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

/// The newest checkpoint of a run, for going on with it: what a process that died while it
/// replaced or removed a checkpoint left behind is put right first. Call it with the run locked.
///
/// # Errors
///
/// There is none, or the folder cannot be read.
pub fn newest(dir: &Path) -> Result<PathBuf, CheckpointError> {
    if dir.exists() {
        recover(dir)?;
    }
    let newest = list(dir)?.pop();
    newest.map(|(_, path)| path).ok_or_else(|| CheckpointError::NoneYet { path: dir.to_path_buf() })
}

/// Removes the checkpoints that the rule does not keep, and tells how many. Where the net is to stay
/// ([`Checkpoint::keep_net`]), only the learner goes.
///
/// # Errors
///
/// A checkpoint cannot be removed. One whose `state.json` cannot be read is left alone.
pub fn prune(dir: &Path, rule: &Retention) -> Result<u32, CheckpointError> {
    let all = list(dir)?;
    let older = all.len().saturating_sub(rule.keep_last.max(1) as usize);
    let (mut last_span, mut removed) = (None, 0);
    for (step, path) in &all[..older] {
        let Ok(state) = read_state(path) else { continue };
        // A rated net without its learner stays anyway, and no run can go on from it.
        let is_net_alone = state.keep_net && !state.files.contains_key(LEARNER);
        if rule.keep_every_minutes > 0.0 && !is_net_alone {
            // Spans are counted from the start of the run, so that the choice does not depend
            // on what was removed before.
            let span = (state.minutes / rule.keep_every_minutes) as u64;
            if last_span != Some(span) {
                last_span = Some(span);
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

/// Leaves the net alone in a checkpoint. The net's file is not touched, for it may be in use; and
/// `state.json` comes first, so that a process which dies in between leaves a whole checkpoint.
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
