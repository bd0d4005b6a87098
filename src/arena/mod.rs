//! Matches between players of any kind, and their ratings.

mod options;

pub use options::Options;
