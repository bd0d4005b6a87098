//! Nets from files, for the players that use them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::ladder::PlayerLine;
use super::run_curve;
use crate::game::{Goal, Shape};
use crate::net::Description;
use crate::net::inference::{self, Backend, InferenceError};
use crate::net::weights::{Weights, WeightsError};
use crate::store::checkpoint::{self, CheckpointError, Found};
use crate::store::net_file::{NetFile, NetFileError};
use crate::store::run_dir::CHECKPOINTS;

/// Why a net cannot play.
#[derive(Debug, thiserror::Error)]
pub enum NetError {
    /// There is no checkpoint.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// The file is damaged or foreign.
    #[error(transparent)]
    File(#[from] NetFileError),
    /// The file describes no net of this program.
    #[error("{}: the net's description cannot be read: {problem}", path.display())]
    Description {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        problem: serde_json::Error,
    },
    /// The weights cannot be read.
    #[error("{}: {problem}", path.display())]
    Weights {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        problem: WeightsError,
    },
    /// The net plays another board.
    #[error("{}: the net is for board {found}; the match is on {wanted}", path.display())]
    OtherBoard {
        /// The file.
        path: PathBuf,
        /// The net's board.
        found: Shape,
        /// The match's.
        wanted: Shape,
    },
    /// The net has learnt for the other goal.
    #[error("{}: the net has learnt for goal `{found}`; the match is for `{wanted}`", path.display())]
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
    /// What it is.
    pub description: Description,
    /// Where it was found: a file or a checkpoint folder.
    pub path: PathBuf,
    weights: Arc<Weights>,
    fingerprint: u32,
    weights_checksum: String,
}

impl LoadedNet {
    /// Reads the net that a path means: a net file, a checkpoint or a run directory.
    ///
    /// # Errors
    ///
    /// There is none, or it is damaged.
    pub fn read(path: &Path) -> Result<LoadedNet, NetError> {
        let found = checkpoint::find(path)?;
        LoadedNet::of(&NetFile::read(&found.net_path())?, found)
    }

    /// The net of a file in memory, which was found at this place or is stored there.
    ///
    /// # Errors
    ///
    /// It is damaged.
    pub fn of(file: &NetFile, found: Found) -> Result<LoadedNet, NetError> {
        let described = |problem| NetError::Description { path: found.net_path(), problem };
        let description: Description =
            serde_json::from_value(file.spec().clone()).map_err(described)?;
        let weights = Weights::from_bytes(file.bytes());
        let failed = |problem| NetError::Weights { path: found.net_path(), problem };
        let (weights, _) = weights.map_err(failed)?;
        let fingerprint = crc32fast::hash(file.bytes());
        let weights_checksum = file.weights_checksum();
        let path = match found {
            Found::Net(path) | Found::Checkpoint(path) => path,
        };
        let steps = description.steps;
        tracing::debug!(
            "net {}: fingerprint {fingerprint:08x}, {steps} steps of learning",
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

    /// The same net, if it plays this board for this goal.
    ///
    /// # Errors
    ///
    /// It does not.
    pub fn for_match(self, wanted: Shape, goal: Goal) -> Result<LoadedNet, NetError> {
        let Description { spec, goal: learnt, .. } = &self.description;
        let path = || self.path.clone();
        if spec.shape != wanted {
            return Err(NetError::OtherBoard { path: path(), found: spec.shape, wanted });
        }
        if *learnt != goal {
            return Err(NetError::OtherGoal { path: path(), found: *learnt, wanted: goal });
        }
        Ok(self)
    }

    /// Whether it predicts the final disc difference.
    pub fn has_score(&self) -> bool {
        self.description.spec.options.score_head
    }

    /// A copy of the net for play.
    ///
    /// # Errors
    ///
    /// There is no such device, or the weights do not fit the net.
    pub fn backend(
        &self,
        options: &inference::Options,
        device: &str,
    ) -> Result<Box<dyn Backend>, NetError> {
        Ok(inference::open(&self.description.spec, &self.weights, options, device)?)
    }

    /// [`NetFile::weights_checksum`]: what tells this net from every other.
    pub fn weights_checksum(&self) -> &str {
        &self.weights_checksum
    }

    /// The path and a fingerprint of the file: what tells this net from a later one in the same
    /// place.
    pub fn identity(&self) -> PathBuf {
        format!("{}#{:08x}", self.path.display(), self.fingerprint).into()
    }

    /// What the ladder is to note about the net's player of this name: its place in its training.
    pub fn line(&self, name: &str) -> PlayerLine {
        let Description { steps, positions, .. } = self.description;
        let run = run_name(&self.path);
        let when = run_curve::at_checkpoint(&self.path);
        PlayerLine::new(name.into(), run, steps, Some(positions))
            .with_net(self.weights_checksum.clone())
            .after(when.and_then(|(games, _)| games), when.map(|(_, minutes)| minutes))
    }
}

/// The name of the run that a checkpoint belongs to, as the run's own ladder has it: the name of
/// its folder. A net that lies elsewhere is a run of its own.
fn run_name(path: &Path) -> String {
    let checkpoints = path.parent().filter(|dir| dir.ends_with(CHECKPOINTS));
    // The parent of a single name has no name itself.
    let run = checkpoints.and_then(|dir| std::path::absolute(dir).ok());
    let name = run.as_deref().and_then(Path::parent).and_then(Path::file_name);
    name.map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checkpoint_s_run_has_the_name_of_its_folder() {
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
