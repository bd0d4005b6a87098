//! Monte Carlo tree search guided by somebody else's estimates.
//!
//! The search owns no threads and no tensors. [`TreeSearch::gather`] says which position it wants
//! to know about, [`TreeSearch::apply`] takes the answer; who answers, and how many searches share
//! one batch, is the caller's affair. So the same code serves self-play (a batch over many
//! games), play (a batch over one tree) and tests (a table as the network).

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
pub use tree::{Gathered, Prediction, Ticket, Tree};
