//! The players that are part of this program, one file per kind.

mod alphabeta;
mod hints;
mod net;
mod net_copies;
mod policy;
mod rollouts;
mod simple;
mod symmetric;

pub use alphabeta::AlphaBetaPlayer;
pub use net::{NetPlayer, NetPlayerSettings};
pub use net_copies::NetCopies;
pub use policy::PolicyPlayer;
pub use rollouts::RolloutsPlayer;
pub use simple::{GreedyPlayer, RandomPlayer};
pub use symmetric::SymmetricNet;
