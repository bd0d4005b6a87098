//! Self-play games, actors, the replay window, and the learners.

pub mod game;
pub mod learner;
pub mod learners;
mod losses;
mod options;
pub mod replay;
pub mod seeds;
pub mod selfplay;
pub mod stagewise;
