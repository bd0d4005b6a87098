//! The counters of a run in `run.json`.

use serde::{Deserialize, Serialize};

/// The counters of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunSummary {
    /// Games stored.
    pub games: u64,
    /// Their training positions.
    pub positions: u64,
    /// Training steps.
    pub steps: u64,
    /// Minutes of training over all starts.
    pub minutes: f64,
    /// The rating (Elo) of the newest rated net; `None` in older runs.
    #[serde(default)]
    pub rating: Option<f64>,
    /// The standard error of that rating.
    #[serde(default)]
    pub rating_error: Option<f64>,
    /// The best rating of all evaluations.
    pub best_rating: Option<f64>,
}
