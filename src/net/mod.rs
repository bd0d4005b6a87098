//! Networks: the tower, its inference copies, and the optimiser. Knows no search.

mod options;

pub use options::{Tower, TowerOptions, inference};
