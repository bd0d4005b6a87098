//! The content of `run.json`.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{MANIFEST, RunDirError, RunSummary, VERSION};
use crate::choices::choices;
use crate::store::json_file;

choices! {
    /// The state of a run.
    pub enum State {
        /// A process trains.
        #[default]
        Running = "running",
        /// The run was interrupted and saved; it can be resumed.
        Stopped = "stopped",
        /// The run reached one of its limits.
        Finished = "finished",
        /// The run ended with an error; it can be resumed from its last checkpoint.
        Failed = "failed",
        /// The process ended without recording a state; the run can be resumed. Only lists of runs
        /// show this state, `run.json` never has it.
        Killed = "killed",
    }
}

/// The net that a run starts with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InitialNetInfo {
    /// The path that the user gave.
    pub path: PathBuf,
    /// Positions of self-play generated before it.
    pub positions: u64,
    /// Training steps that produced it.
    pub steps: u64,
}

/// The machine that a run trains on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// The processor's name; empty if unknown.
    pub cpu: String,
    /// Processor cores that the program may use.
    pub cores: usize,
}

/// The content of `run.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// The layout's version.
    pub version: u32,
    /// The version of the program that created the run.
    pub program: String,
    /// The random seed.
    pub seed: u64,
    /// When the run was created, in seconds since 1970.
    pub created: u64,
    /// When this file was written last, in seconds since 1970.
    pub updated: u64,
    /// How often the run was started or resumed.
    pub starts: u32,
    /// The machine of the last start; `None` in older runs.
    #[serde(default)]
    pub machine: Option<Machine>,
    /// Games that were copied from earlier runs before the first start.
    #[serde(default)]
    pub begun_with: u64,
    /// Games that the newest checkpoint counted at the last start and that were lost to damage.
    #[serde(default)]
    pub lost_games: u64,
    /// Whether games of earlier runs are being copied.
    #[serde(default)]
    pub copying: bool,
    /// The net that the run started with; `None` if the weights were random.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_net: Option<InitialNetInfo>,
    /// The stages of a method that trains stage by stage; its steps are those that are done. `None`
    /// for other methods, and in older runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stages: Option<u64>,
    /// The state.
    pub state: State,
    /// The counters.
    pub summary: RunSummary,
}

pub(super) fn read_manifest(path: &Path) -> Result<Manifest, RunDirError> {
    Ok(json_file::read(&path.join(MANIFEST), VERSION)?)
}
