//! What `run.json` says.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{MANIFEST, RunDirError, RunSummary, VERSION};
use crate::choices::choices;
use crate::store::json_file;

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
        /// Its process is gone without having noted why; it can be resumed. Seen from outside, not
        /// stored.
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
    /// The random seed.
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
    /// Games that its newest checkpoint counted at its last start and that were lost to damage.
    #[serde(default)]
    pub lost_games: u64,
    /// Whether games of earlier runs were being copied when this was written.
    #[serde(default)]
    pub copying: bool,
    /// The net that it began with; without one it was random.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_net: Option<BegunNet>,
    /// What has become of it.
    pub state: State,
    /// How far it has come.
    pub summary: RunSummary,
}

pub(super) fn read_manifest(path: &Path) -> Result<Manifest, RunDirError> {
    Ok(json_file::read(&path.join(MANIFEST), VERSION)?)
}
