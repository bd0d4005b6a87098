//! Tree search: alpha-beta, the exact endgame solver, and Monte Carlo tree search (MCTS).
//!
//! No code here uses a network or a tensor. MCTS returns the positions that it needs predictions
//! for, and takes the predictions from its caller.

mod active;
pub mod alphabeta;
pub mod clock;
pub mod draw;
pub mod endgame;
pub mod mcts;
mod ordering;
pub mod rollouts;
pub mod stop;
pub mod table;
pub mod wipeout;
