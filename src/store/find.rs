//! Finds the net that a path given by the user names.

use std::fs;
use std::path::{Path, PathBuf};

use super::checkpoint::{CheckpointError, NET, STATE, list};
use super::files::{Action, FileError};
use super::net_file::NetFile;
use super::run_dir;

/// Where the net is that a path names.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NetLocation {
    /// A net file.
    Net(PathBuf),
    /// A checkpoint folder.
    Checkpoint(PathBuf),
}

impl NetLocation {
    /// The path of the net file.
    pub fn net_path(&self) -> PathBuf {
        match self {
            NetLocation::Net(path) => path.clone(),
            NetLocation::Checkpoint(path) => path.join(NET),
        }
    }
}

/// Finds the net that a path names. The path may be a net file, a checkpoint folder, a folder of an
/// exported net, a run directory, or its `checkpoints` folder. A run's newest checkpoint is taken.
///
/// # Errors
///
/// The path does not exist or is none of these.
pub fn find(path: &Path) -> Result<NetLocation, CheckpointError> {
    let metadata = fs::metadata(path).map_err(FileError::at(Action::Read, path))?;
    if metadata.is_file() {
        return Ok(NetLocation::Net(path.to_path_buf()));
    }
    if path.join(STATE).exists() {
        return Ok(NetLocation::Checkpoint(path.to_path_buf()));
    }
    if path.join(NET).exists() {
        return Ok(NetLocation::Net(path.join(NET)));
    }
    for dir in [path.join(run_dir::CHECKPOINTS), path.to_path_buf()] {
        if let Some((_, newest)) = list(&dir)?.pop() {
            return Ok(NetLocation::Checkpoint(newest));
        }
    }
    if run_dir::is_run(path)? {
        return Err(CheckpointError::NoneYet { path: path.to_path_buf() });
    }
    Err(CheckpointError::Nothing { path: path.to_path_buf() })
}

/// Reads the net that a path names; see [`find`].
///
/// # Errors
///
/// There is no net, or it is damaged.
pub fn load_net(path: &Path) -> Result<NetFile, CheckpointError> {
    Ok(NetFile::read(&find(path)?.net_path())?)
}
