//! Neural nets: their architecture, their training step, and copies for fast inference.
//!
//! A net maps a position to a policy, a value, a score and the owner of each square. Nothing here
//! depends on search or self-play.

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
pub use plan::{ArraySpec, NetSpec, Role, Start, array_specs};
pub use tower::{Heads, Net, Pass};
