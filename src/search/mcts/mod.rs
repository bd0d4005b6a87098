//! Monte Carlo tree search over a policy and value that somebody else computes.

mod options;

pub use options::{Options, Root};
