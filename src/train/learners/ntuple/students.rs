//! What can be learnt: a model as a list of numbers, and how its value changes with each of them.

mod net;
mod patternnet;
mod tuples;

use crate::game::{Board, Geometry, Goal};
use crate::model::{Description, Weights, WeightsError};
use crate::store::labels::Label;
use crate::train::seeds::Random;
pub use net::Net;
pub use patternnet::OverPatterns;
pub use tuples::Perceptron;

/// Values in training are in units of this many discs, so that all numbers that are learnt have about
/// the same size.
pub const UNIT: f32 = 32.0;

/// A model that can be learnt, as a list of numbers. Another list, which may be longer, serves its
/// computation: the numbers *spread out*.
pub trait Student<G: Geometry>: Send + Sync {
    /// The description of the model; its counters are 0.
    fn description(&self, goal: Goal) -> Description;

    /// The numbers before learning.
    fn initial(&self, random: &mut Random) -> Vec<f32>;

    /// The arrays of the model with these numbers, without the scale of chances to win.
    fn arrays(&self, numbers: &[f32]) -> Weights;

    /// The numbers as a player uses them.
    fn rounded(&self, numbers: &[f32]) -> Vec<f32> {
        numbers.to_vec()
    }

    /// The numbers of a model with these arrays.
    ///
    /// # Errors
    ///
    /// An array is missing or has another shape.
    fn numbers(&self, model: &Weights) -> Result<Vec<f32>, WeightsError>;

    /// The numbers spread out.
    fn spread(&self, numbers: &[f32]) -> Vec<f32>;

    /// The transposed map of [`Student::spread`].
    fn gather(&self, spread: &[f32]) -> Vec<f32>;

    /// The value of a board on which a side has a legal move, for the side to move, in units of
    /// [`UNIT`] discs.
    fn value(&self, spread: &[f32], board: Board<G>) -> f32;

    /// Adds the derivatives of half the squared error of a label to `sums`, one for each number spread
    /// out. Returns the error in units of [`UNIT`] discs.
    fn learn(&self, spread: &[f32], label: &Label<G>, sums: &mut [f32]) -> f32;

    /// Limits the numbers to those that a model may have.
    fn limit(&self, numbers: &mut [f32]);
}

/// A label's score in units of [`UNIT`] discs.
fn target<G: Geometry>(label: &Label<G>) -> f32 {
    f32::from(label.score) / UNIT
}

/// The two stages nearest to a number of discs, with the share of each. `stages` ascend.
fn stages_at(stages: &[f32], discs: f32) -> [(usize, f32); 2] {
    let above = stages.partition_point(|&stage| stage < discs).min(stages.len() - 1);
    let below = if stages[above] > discs { above.saturating_sub(1) } else { above };
    let share = match stages[above] - stages[below] {
        0.0 => 0.0,
        span => (discs - stages[below]) / span,
    };
    [(below, 1.0 - share), (above, share)]
}

#[cfg(test)]
mod tests;
