//! Networks: the tower, its inference copies, and the optimiser. Knows no search.

mod allocator;
pub mod average;
pub mod bench;
pub mod description;
pub mod encode;
#[cfg(test)]
pub(crate) mod fixtures;
mod fold;
pub mod inference;
pub mod lookahead;
pub mod optimizer;
mod options;
mod plan;
pub mod server;
#[cfg(test)]
mod tests;
#[cfg(target_arch = "x86_64")]
mod tile;
mod tower;
pub mod trainer;
mod variables;
mod vector;
pub mod weights;
mod winograd;

pub use allocator::keep_freed_memory;
pub use description::Description;
pub use encode::{Encoding, Input};
pub use options::{Inputs, Tower, TowerOptions};
pub use plan::{NetSpec, Part, Role, Start, parts};
pub use tower::{Heads, Net, Pass};
