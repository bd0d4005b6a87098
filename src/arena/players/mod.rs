//! The players that are part of this program, one file per kind.

mod alphabeta;
mod crew;
mod hints;
mod net;
mod policy;
mod rollouts;
mod simple;
mod symmetric;

pub use alphabeta::AlphaBeta;
pub use crew::Crew;
pub use net::{NetPlayer, Thinking};
pub use policy::PolicyPlayer;
pub use rollouts::RolloutsPlayer;
pub use simple::{Greedy, Random};
pub use symmetric::Symmetric;
