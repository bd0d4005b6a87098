//! Models as plain data: what a learner makes, a file holds and a player computes with.

pub mod weights;

pub use weights::{Weights, WeightsError};
