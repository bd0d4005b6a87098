//! The learners of this program, one file for each kind of model.

#[cfg(feature = "torch")]
pub mod net;
