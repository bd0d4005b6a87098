//! Learning from self-play: actors, the replay window, and the learner.

mod options;

pub use options::{learner, replay, selfplay};

pub mod game;
pub mod seeds;
