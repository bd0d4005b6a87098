//! The players that are part of this program, one file per kind.

mod alphabeta;
mod net;
mod rollouts;
mod simple;

pub use alphabeta::AlphaBeta;
pub use net::{NetPlayer, PolicyPlayer};
pub use rollouts::RolloutsPlayer;
pub use simple::{Greedy, Random};
