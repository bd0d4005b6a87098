//! The learners of this program, one file or folder for each method.

pub mod endgame;
#[cfg(feature = "torch")]
pub mod net;
pub mod stages;
pub mod td;
