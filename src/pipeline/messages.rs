//! Messages between the threads of a run, except games.

use std::sync::Arc;
use std::time::Duration;

use crate::model::weights::Weights;
use crate::players::models::LoadedModel;
use crate::train::game::Work;

/// From an actor to the coordinator: its activity since its last report.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Activity {
    /// Counts of simulations, predictions and searches.
    pub work: Work,
    /// Time spent playing.
    pub busy: Duration,
    /// Time spent waiting for the learner.
    pub waiting: Duration,
}

/// From the coordinator to the actors: a new net.
#[derive(Clone, Debug)]
pub(super) struct NewNet {
    /// The weights to play with.
    pub weights: Arc<Weights>,
    /// The number of the published net; the first net is 0.
    pub version: u32,
    /// Positions of self-play generated when it was published.
    pub positions: u64,
}

/// From the coordinator to the evaluation thread: a net to rate, which a checkpoint keeps.
pub(super) struct NetToRate {
    /// The net of the checkpoint.
    pub net: LoadedModel,
    /// Games of self-play stored by then.
    pub games: u64,
    /// Minutes of training by then, over all starts of the run.
    pub minutes: f64,
}
