//! The counters of a run, as `run.json` has them.

use serde::{Deserialize, Serialize};

/// How far a run has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunSummary {
    /// Games stored.
    pub games: u64,
    /// Positions of them that can be learnt from.
    pub positions: u64,
    /// Steps of the learner.
    pub steps: u64,
    /// Minutes of training over all starts.
    pub minutes: f64,
    /// The rating of the newest net that has one; unknown of older runs.
    #[serde(default)]
    pub rating: Option<f64>,
    /// Its standard error.
    #[serde(default)]
    pub rating_error: Option<f64>,
    /// The best rating that an evaluation gave.
    pub best_rating: Option<f64>,
}
