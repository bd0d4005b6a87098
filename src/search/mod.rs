//! Tree search: alpha-beta, the exact solver, and Monte Carlo tree search. Knows no network.

pub mod endgame;
pub mod mcts;
pub mod rollouts;
