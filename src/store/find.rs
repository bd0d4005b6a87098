//! Finds the model that a path given by the user names.

use std::fs;
use std::path::{Path, PathBuf};

use super::checkpoint::{CheckpointError, NET, STATE, list};
use super::files::{Action, FileError};
use super::model_file::ModelFile;
use super::run_dir;

/// Where the model is that a path names.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ModelLocation {
    /// A model file.
    File(PathBuf),
    /// A checkpoint folder.
    Checkpoint(PathBuf),
}

impl ModelLocation {
    /// The path of the model file.
    pub fn model_path(&self) -> PathBuf {
        match self {
            ModelLocation::File(path) => path.clone(),
            ModelLocation::Checkpoint(path) => path.join(NET),
        }
    }
}

/// Finds the model that a path names. The path may be a model file, a checkpoint folder, a folder of
/// an exported model, a run directory, or its `checkpoints` folder. A run's newest checkpoint is taken.
///
/// # Errors
///
/// The path does not exist or is none of these.
///
/// ```
/// use std::path::Path;
///
/// use outflank::store::checkpoint::{self, ModelLocation};
///
/// // A run directory: its newest checkpoint.
/// let found = checkpoint::find(Path::new("tests/data/run-1"))?;
/// assert!(matches!(&found, ModelLocation::Checkpoint(_)));
/// assert!(found.model_path().is_file());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn find(path: &Path) -> Result<ModelLocation, CheckpointError> {
    let metadata = fs::metadata(path).map_err(FileError::at(Action::Read, path))?;
    if metadata.is_file() {
        return Ok(ModelLocation::File(path.to_path_buf()));
    }
    if path.join(STATE).exists() {
        return Ok(ModelLocation::Checkpoint(path.to_path_buf()));
    }
    if path.join(NET).exists() {
        return Ok(ModelLocation::File(path.join(NET)));
    }
    for dir in [path.join(run_dir::CHECKPOINTS), path.to_path_buf()] {
        if let Some((_, newest)) = list(&dir)?.pop() {
            return Ok(ModelLocation::Checkpoint(newest));
        }
    }
    if run_dir::is_run(path)? {
        return Err(CheckpointError::NoneYet { path: path.to_path_buf() });
    }
    Err(CheckpointError::Nothing { path: path.to_path_buf() })
}

/// Reads the model that a path names; see [`find`].
///
/// # Errors
///
/// There is no model, or it is damaged.
///
/// ```
/// use outflank::game::{Goal, Shape};
/// use outflank::store::{checkpoint, shipped};
///
/// let folder = shipped::net(Shape::Square6, Goal::Most).expect("a net of the source tree");
/// assert_eq!(checkpoint::load_model(&folder)?.description()["shape"], "6x6");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn load_model(path: &Path) -> Result<ModelFile, CheckpointError> {
    Ok(ModelFile::read(&find(path)?.model_path())?)
}
