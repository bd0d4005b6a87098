//! The learners of this program, one file or folder for each method.

pub mod endgame;
mod labelled;
mod lines;
#[cfg(feature = "torch")]
pub mod net;
pub mod ntuple;
#[cfg(feature = "torch")]
mod shards;
pub mod stages;
pub mod td;
