//! Learning from self-play: actors, the replay window, and the learner.

pub mod game;
pub mod learner;
mod losses;
mod options;
pub mod replay;
pub mod seeds;
pub mod selfplay;
