//! A linear evaluator: a weighted sum of a few [features](Features), with weights by stage.
//!
//! Engel learns such evaluators from minimax scores (docs/references.md). The description of a model
//! has its [`Options`]. The model has three arrays:
//!
//! | array | shape | numbers |
//! |---|---|---|
//! | `weights` | stages, features | the weight of each feature at each stage, in discs |
//! | `discs` | stages | the number of discs on the board at each stage, ascending |
//! | `win_scale` | 1 | the [`WinScale`], in discs |
//!
//! Between two stages the weights are interpolated linearly in the number of discs, or those of the
//! stage with more discs. Before the first stage and after the last they are those of that stage.
//!
//! The value is that for the goal of the model, so no sign depends on the goal. Passing changes the
//! sign of every feature but two: the constant and the parity. So the values of a board and of
//! the same discs with the other side to move add up to twice the part of those two.

mod corners;
mod features;
mod options;

use super::model::{array, check_names, check_numbers, win_scale};
use super::stages::{discs_of_stages, weights_at};
use super::{Evaluator, ModelError, SCALE, Step, WinScale};
use crate::game::{Board, Geometry, Goal, SquareSet};
use crate::model::{Description, Weights};
use features::Layout;
pub use features::{ClassSums, Features};
pub use options::{Between, Feature, Options};

/// The largest weight in discs. A sum of such weights is finite.
const MAX_WEIGHT: f32 = 1e6;

/// The linear evaluator of a model.
#[derive(Clone, Debug)]
pub struct Linear<G: Geometry> {
    goal: Goal,
    features: Features<G>,
    /// For each number of discs, the weights of the features, in units of the evaluation.
    weights: Box<[Layout]>,
    win_scale: WinScale,
}

impl<G: Geometry> Linear<G> {
    /// The evaluator of a model with this description.
    ///
    /// # Errors
    ///
    /// An option or an array is missing, unknown or not allowed.
    pub fn read(description: &Description, model: &Weights) -> Result<Self, ModelError> {
        Linear::new(description.goal, &Options::read(&description.options)?, model)
    }

    /// The evaluator of a model that was made for `goal`.
    ///
    /// # Errors
    ///
    /// An option is not allowed, or an array is missing or unknown, or has a shape or a number that
    /// is not allowed.
    pub fn new(goal: Goal, options: &Options, model: &Weights) -> Result<Self, ModelError> {
        check_names(model, &["weights", "discs", "win_scale"])?;
        let features = Features::new(&options.features)?;
        let discs = discs_of_stages::<G>(model)?;
        let (stages, count) = (discs.len(), features.count());
        let shape = [stages, count];
        let weights = array(model, "weights", |found| found == shape, &format!("{shape:?}"))?;
        let is_weight = |weight: f32| weight.abs() <= MAX_WEIGHT;
        check_numbers("weights", weights, is_weight, &format!("-{MAX_WEIGHT} to {MAX_WEIGHT}"))?;
        let win_scale = win_scale(model)?;
        let at = |count_of_discs: usize| {
            let larger = options.between == Between::Larger;
            let at = weights_at(weights, (discs, larger), count_of_discs as f32);
            features.to_layout(&at)
        };
        let weights = (0..=G::SQUARES).map(at).collect();
        Ok(Linear { goal, features, weights, win_scale })
    }
}

/// The sum of the products, in lanes that a vector instruction adds at once.
#[inline(always)]
fn dot(features: &Layout, weights: &Layout) -> f32 {
    const LANES: usize = 8;
    let mut sums = [0.0; LANES];
    let (features, _) = features.as_chunks::<LANES>();
    let (weights, _) = weights.as_chunks::<LANES>();
    for (features, weights) in features.iter().zip(weights) {
        for lane in 0..LANES {
            sums[lane] += features[lane] * weights[lane];
        }
    }
    sums.iter().sum()
}

impl<G: Geometry> Evaluator<G> for Linear<G> {
    type State = ClassSums;

    #[inline]
    fn begin(&self, board: Board<G>) -> ClassSums {
        self.features.sums(board)
    }

    #[inline(always)]
    fn follow(&self, sums: &ClassSums, step: &Step<G>) -> ClassSums {
        self.features.follow(sums, step)
    }

    #[inline(always)]
    fn pass(&self, sums: &ClassSums) -> ClassSums {
        sums.reversed()
    }

    #[inline]
    fn evaluate(&self, board: Board<G>, sums: &ClassSums) -> i32 {
        let legal = board.legal_of_both();
        if legal.into_iter().all(SquareSet::is_empty) {
            return SCALE * board.final_score(self.goal);
        }
        let weights = &self.weights[board.discs() as usize];
        let value = dot(&self.features.layout(board, legal, sums), weights);
        let most = SCALE * G::SQUARES as i32;
        (value.round_ties_even() as i32).clamp(-most, most)
    }

    fn win_scale(&self) -> WinScale {
        self.win_scale
    }
}

#[cfg(test)]
mod tests;
