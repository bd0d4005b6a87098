//! Where a run stands.

use serde::{Deserialize, Serialize};

use super::sync::Schedule;
use crate::arena::rating::Rating;
use crate::store::run_dir;

/// The rating of one of a run's nets.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct NetRating {
    /// Learning steps that made the net.
    pub steps: u64,
    /// How strong it was found to be.
    pub rating: Rating,
}

/// The counters of a run, saved with each checkpoint.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunState {
    /// Nets published; 0 is the one that the run began with.
    pub version: u32,
    /// Learning steps done.
    pub steps: u64,
    /// Games recorded.
    pub games: u64,
    /// Positions made by self-play.
    pub positions: u64,
    /// The number of the next game.
    pub next_game: u64,
    /// Seconds of training over all starts of the run.
    pub seconds: f64,
    /// The best rating an evaluation has found.
    pub best_rating: Option<f64>,
    /// What the newest evaluation has found.
    #[serde(default)]
    pub rating: Option<NetRating>,
    /// Steps of the newest net that the evaluator was given: its checkpoint keeps the net.
    #[serde(default)]
    pub evaluated: Option<u64>,
    /// How it keeps its replay ratio; none before its first start, and of older versions.
    #[serde(default)]
    pub schedule: Option<Schedule>,
}

impl RunState {
    /// The counters as `run.json` holds them.
    pub fn summary(&self) -> run_dir::Summary {
        run_dir::Summary {
            games: self.games,
            positions: self.positions,
            steps: self.steps,
            minutes: self.seconds / 60.0,
            rating: self.rating.map(|found| found.rating.elo),
            rating_error: self.rating.map(|found| found.rating.error),
            best_rating: self.best_rating,
        }
    }

    /// Takes note of what an evaluation has found.
    pub fn note_rating(&mut self, found: NetRating) {
        let elo = found.rating.elo;
        self.best_rating = Some(self.best_rating.map_or(elo, |best| best.max(elo)));
        self.rating = Some(found);
    }

    /// The rating of the net that the run has now, if it has been rated.
    pub fn last_rating(&self) -> Option<Rating> {
        self.rating.filter(|found| found.steps == self.steps).map(|found| found.rating)
    }
}

/// Why a run has ended, and where it stood.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// The counters at the end.
    pub state: RunState,
    /// Whether a limit of the configuration was reached, rather than an interrupt.
    pub finished: bool,
}
