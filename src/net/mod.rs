//! Neural nets: their architecture, their training step, and copies for fast inference.
//!
//! A net maps a position to a policy, a value, a score and the owner of each square. Nothing here
//! depends on search or self-play.
//!
//! What needs libtorch is behind the feature `torch`: training, the `paper` tower, and GPUs.

mod allocator;
#[cfg(feature = "torch")]
pub mod average;
pub mod bench;
pub mod encode;
mod evaluations;
#[cfg(test)]
pub(crate) mod fixtures;
mod fold;
pub mod inference;
pub mod lookahead;
#[cfg(feature = "torch")]
mod muon;
#[cfg(feature = "torch")]
pub mod optimizer;
mod options;
mod plan;
#[cfg(all(test, feature = "torch"))]
mod tests;
#[cfg(target_arch = "x86_64")]
mod tile;
#[cfg(feature = "torch")]
mod tower;
#[cfg(feature = "torch")]
pub mod trainer;
#[cfg(feature = "torch")]
mod variables;
// Without libtorch nets are not trained, so what computes gradients is not used.
#[cfg_attr(not(feature = "torch"), allow(dead_code))]
mod vector;
#[cfg_attr(not(feature = "torch"), allow(dead_code))]
mod winograd;

pub use allocator::keep_freed_memory;
pub use encode::Encoding;
pub use evaluations::InputEvaluator;
pub use options::{Inputs, Tower, TowerOptions};
pub use plan::{ArraySpec, NetSpec, Role, Start, array_specs, initial_weights};
#[cfg(feature = "torch")]
pub use tower::{Heads, Net, Pass};
