//! The players that are part of this program, one file per kind.

mod simple;

pub use simple::{Greedy, Random};
