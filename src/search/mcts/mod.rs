//! Monte Carlo tree search guided by the predictions of a net: PUCT, or Gumbel at the root.
//!
//! The search owns no threads and no tensors. [`TreeSearch::gather`] returns a position that needs
//! a prediction, and [`TreeSearch::apply`] takes the [`Prediction`](crate::predict::Prediction). The caller decides where it
//! comes from and how many positions share a batch. So the same code serves self-play (a batch over
//! many games), play (a batch over one tree) and tests (a fixed function in place of a net).

mod backup;
mod edge;
mod gumbel;
pub mod options;
mod pruned;
mod regularised;
mod root;
mod search;
mod select;
mod softmax;
mod tree;
mod utility;

pub use options::{FirstPlay, Options, Root};
pub use root::MoveStats;
pub use search::{Mode, TreeSearch};
pub use tree::{Gathered, Ticket, Tree};
