//! The players that are part of this program, one file per kind.

mod rollouts;
mod simple;

pub use rollouts::RolloutsPlayer;
pub use simple::{Greedy, Random};
