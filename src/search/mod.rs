//! Tree search: alpha-beta, the exact endgame solver, and Monte Carlo tree search (MCTS).
//!
//! No code here uses a network or a tensor. MCTS returns the positions that it needs predictions
//! for, and takes the predictions from its caller.
//!
//! ```
//! use outflank::game::{Board, Goal, Square8, SquareSet};
//! use outflank::predict::Prediction;
//! use outflank::search::alphabeta::{AlphaBetaSearch, SearchLimits};
//! use outflank::search::endgame::Solver;
//! use outflank::search::mcts::{Gathered, Mode, Options, TreeSearch};
//! use rand::SeedableRng;
//!
//! // Monte Carlo tree search with the same prediction for every position.
//! let options = Options { simulations: 20, ..Options::default() };
//! let mut search = TreeSearch::<Square8>::new(Goal::Most, &options);
//! let mut solver = Solver::<Square8>::new(Goal::Most, 1 << 20);
//! let mut random = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(1);
//! search.begin(Board::start(), options.simulations, Mode::Play);
//! while let Some(Gathered::Leaf { ticket, .. }) = search.gather(&mut solver, &mut random) {
//!     search.apply(ticket, Prediction { policy: &[0.0; 64], value: 0.0, score: 0.0 });
//! }
//! let best = search.choose(0.0, &mut random).expect("a legal move");
//! assert!(Board::<Square8>::start().legal().contains(best));
//! ```

mod active;
pub mod alphabeta;
pub mod clock;
pub mod draw;
pub mod endgame;
pub mod mcts;
pub mod memory;
mod ordering;
pub mod rollouts;
pub mod stop;
pub mod table;
pub mod wipeout;
