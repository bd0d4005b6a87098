//! Self-play games, actors, the replay window, and the learner that trains the net.

pub mod game;
pub mod learner;
mod losses;
mod options;
pub mod replay;
pub mod seeds;
pub mod selfplay;
