//! Tree search: alpha-beta, the exact solver, and Monte Carlo tree search. Knows no network.

pub mod alphabeta;
mod busy;
pub mod clock;
pub mod draw;
pub mod endgame;
pub mod mcts;
mod ordering;
pub mod rollouts;
pub mod stop;
pub mod table;
pub mod wipeout;
