//! What the threads of a run say to each other besides games.

use std::sync::Arc;
use std::time::Duration;

use crate::arena::nets::LoadedNet;
use crate::net::weights::Weights;
use crate::train::game::Work;

/// From an actor to the coordinator: what it did since it last said so.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Activity {
    /// Simulations, evaluations, searches.
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
    /// Counts published nets; the random one is 0.
    pub version: u32,
    /// Positions of self-play made when it was published.
    pub positions: u64,
}

/// From the coordinator to the evaluator: a net to be rated, which a checkpoint keeps.
pub(super) struct NetToRate {
    /// The net of the checkpoint.
    pub net: LoadedNet,
    /// Games of self-play recorded by then.
    pub games: u64,
    /// Minutes of training by then, over all starts of the run.
    pub minutes: f64,
}
