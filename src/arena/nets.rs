//! Reads the nets of players.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::ladder::PlayerLine;
use super::run_curve;
use crate::game::{Goal, Shape};
use crate::net::Description;
use crate::net::inference::{self, Backend, InferenceError};
use crate::net::weights::{Weights, WeightsError};
use crate::store::checkpoint::{self, CheckpointError, NetLocation};
use crate::store::net_file::{NetFile, NetFileError};
use crate::store::run_dir::CHECKPOINTS;

/// Why a net cannot play.
#[derive(Debug, thiserror::Error)]
pub enum NetError {
    /// There is no checkpoint.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// The file is damaged or not a net file.
    #[error(transparent)]
    File(#[from] NetFileError),
    /// The file's description of the net cannot be read.
    #[error("{}: the net's description cannot be read: {problem}", path.display())]
    Description {
        /// The file.
        path: PathBuf,
        /// The error.
        problem: serde_json::Error,
    },
    /// The weights cannot be read.
    #[error("{}: {problem}", path.display())]
    Weights {
        /// The file.
        path: PathBuf,
        /// The error.
        problem: WeightsError,
    },
    /// The net is for another board.
    #[error("{}: the net is for board {found}; the match is on {wanted}", path.display())]
    OtherBoard {
        /// The file.
        path: PathBuf,
        /// The net's board.
        found: Shape,
        /// The match's.
        wanted: Shape,
    },
    /// The net is for the other goal.
    #[error("{}: the net is for goal `{found}`; the match is for goal `{wanted}`", path.display())]
    OtherGoal {
        /// The file.
        path: PathBuf,
        /// The net's goal.
        found: Goal,
        /// The match's.
        wanted: Goal,
    },
    /// The net cannot be computed.
    #[error(transparent)]
    Inference(#[from] InferenceError),
}

/// A net that was read and checked.
#[derive(Clone, Debug)]
pub struct LoadedNet {
    /// The net's architecture, goal and training.
    pub description: Description,
    /// The file or checkpoint folder in which it was found.
    pub path: PathBuf,
    weights: Arc<Weights>,
    fingerprint: u32,
    weights_checksum: String,
}

impl LoadedNet {
    /// Reads the net at a path: a net file, a checkpoint or a run directory.
    ///
    /// # Errors
    ///
    /// There is no net, or it is damaged.
    pub fn read(path: &Path) -> Result<LoadedNet, NetError> {
        let found = checkpoint::find(path)?;
        LoadedNet::of(&NetFile::read(&found.net_path())?, found)
    }

    /// The net of a file in memory, which is stored at `found`.
    ///
    /// # Errors
    ///
    /// It is damaged.
    pub fn of(file: &NetFile, found: NetLocation) -> Result<LoadedNet, NetError> {
        let described = |problem| NetError::Description { path: found.net_path(), problem };
        let description: Description =
            serde_json::from_value(file.spec().clone()).map_err(described)?;
        let weights = Weights::from_bytes(file.bytes());
        let failed = |problem| NetError::Weights { path: found.net_path(), problem };
        let (weights, _) = weights.map_err(failed)?;
        let fingerprint = crc32fast::hash(file.bytes());
        let weights_checksum = file.weights_checksum();
        let path = match found {
            NetLocation::Net(path) | NetLocation::Checkpoint(path) => path,
        };
        let steps = description.steps;
        tracing::debug!(
            "net {}: fingerprint {fingerprint:08x}, {steps} training steps",
            path.display()
        );
        Ok(LoadedNet {
            description,
            path,
            weights: Arc::new(weights),
            fingerprint,
            weights_checksum,
        })
    }

    /// Checks that the net is for this board and goal.
    ///
    /// # Errors
    ///
    /// The net is for another board or goal.
    pub fn for_match(self, wanted: Shape, goal: Goal) -> Result<LoadedNet, NetError> {
        let Description { spec, goal: net_goal, .. } = &self.description;
        let path = || self.path.clone();
        if spec.shape != wanted {
            return Err(NetError::OtherBoard { path: path(), found: spec.shape, wanted });
        }
        if *net_goal != goal {
            return Err(NetError::OtherGoal { path: path(), found: *net_goal, wanted: goal });
        }
        Ok(self)
    }

    /// Whether it predicts the final disc difference.
    pub fn has_score(&self) -> bool {
        self.description.spec.options.score_head
    }

    /// A backend with a copy of the net.
    ///
    /// # Errors
    ///
    /// The device does not exist, or the weights do not fit the net.
    pub fn backend(
        &self,
        options: &inference::Options,
        device: &str,
    ) -> Result<Box<dyn Backend>, NetError> {
        Ok(inference::open(&self.description.spec, &self.weights, options, device)?)
    }

    /// [`NetFile::weights_checksum`], which identifies the net.
    pub fn weights_checksum(&self) -> &str {
        &self.weights_checksum
    }

    /// The path and a fingerprint of the file, which distinguishes the net from a later one at the
    /// same path.
    pub fn identity(&self) -> PathBuf {
        format!("{}#{:08x}", self.path.display(), self.fingerprint).into()
    }

    /// The line about a player with this net that ladders store: its run and training step.
    pub fn line(&self, name: &str) -> PlayerLine {
        let Description { steps, positions, .. } = self.description;
        let run = run_name(&self.path);
        let training = run_curve::training_at(&self.path);
        PlayerLine::new(name.into(), run, steps, Some(positions))
            .with_net(self.weights_checksum.clone())
            .with_training(training.and_then(|(games, _)| games), training.map(|(_, m)| m))
    }
}

/// The name of a checkpoint's run, the same as in the run's own ladder: the name of the run
/// directory. For a net elsewhere it is the net's path.
fn run_name(path: &Path) -> String {
    let checkpoints = path.parent().filter(|dir| dir.ends_with(CHECKPOINTS));
    // The relative path `checkpoints` has no parent with a name.
    let run = checkpoints.and_then(|dir| std::path::absolute(dir).ok());
    let name = run.as_deref().and_then(Path::parent).and_then(Path::file_name);
    name.map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_run_of_a_checkpoint_has_the_name_of_the_run_directory() {
        let here = std::env::current_dir().expect("a folder");
        let here = here.file_name().expect("a name").to_string_lossy().into_owned();
        for (path, name) in [
            ("/tmp/runs/long/checkpoints/step-00000500", "long"),
            ("runs/long/checkpoints/step-00000500", "long"),
            ("long/checkpoints/step-00000500", "long"),
            ("checkpoints/step-00000500", here.as_str()),
            ("checkpoints/8x8/net.safetensors", "checkpoints/8x8/net.safetensors"),
            ("net.safetensors", "net.safetensors"),
        ] {
            assert_eq!(run_name(Path::new(path)), name);
        }
    }
}
