//! From the path that somebody typed to the net that is meant.

use std::fs;
use std::path::{Path, PathBuf};

use super::checkpoint::{CheckpointError, NET, STATE, list};
use super::files::{Action, FileError};
use super::net_file::NetFile;
use super::run_dir;

/// Where a net stands that somebody named by a path.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Found {
    /// A net file.
    Net(PathBuf),
    /// A checkpoint folder.
    Checkpoint(PathBuf),
}

impl Found {
    /// The net file.
    pub fn net_path(&self) -> PathBuf {
        match self {
            Found::Net(path) => path.clone(),
            Found::Checkpoint(path) => path.join(NET),
        }
    }
}

/// Finds the net that a path means: a net file, a checkpoint folder, a folder that a net was
/// exported to, a run directory or its `checkpoints` (the newest one).
///
/// # Errors
///
/// The path does not exist or leads to none of these.
pub fn find(path: &Path) -> Result<Found, CheckpointError> {
    let metadata = fs::metadata(path).map_err(FileError::at(Action::Read, path))?;
    if metadata.is_file() {
        return Ok(Found::Net(path.to_path_buf()));
    }
    if path.join(STATE).exists() {
        return Ok(Found::Checkpoint(path.to_path_buf()));
    }
    if path.join(NET).exists() {
        return Ok(Found::Net(path.join(NET)));
    }
    for dir in [path.join(run_dir::CHECKPOINTS), path.to_path_buf()] {
        if let Some((_, newest)) = list(&dir)?.pop() {
            return Ok(Found::Checkpoint(newest));
        }
    }
    if run_dir::is_run(path)? {
        return Err(CheckpointError::NoneYet { path: path.to_path_buf() });
    }
    Err(CheckpointError::Nothing { path: path.to_path_buf() })
}

/// Reads the net that a path means; see [`find`].
///
/// # Errors
///
/// There is none, or it is damaged.
pub fn load_net(path: &Path) -> Result<NetFile, CheckpointError> {
    Ok(NetFile::read(&find(path)?.net_path())?)
}
