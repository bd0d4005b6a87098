//! The learners of this program, one file or folder for each method.

#[cfg(feature = "torch")]
pub mod net;
pub mod stages;
pub mod td;
