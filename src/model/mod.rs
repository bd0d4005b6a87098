//! Models as plain data: what a learner makes, a file holds and a player computes with.

pub mod description;
pub mod weights;

pub use description::{Description, Difference, Kind};
pub use weights::{Weights, WeightsError};
