//! Predictions of an evaluator: the adapter that lets a tree search ask any evaluator of alpha-beta.
//!
//! The value follows from the chance to win at the evaluation, and the score is the evaluation. The
//! policy comes from the evaluations one ply ahead: a move's logit is the difference in discs that
//! it promises, in units of a part of the evaluator's [`WinScale`](crate::eval::WinScale).

use std::marker::PhantomData;
use std::sync::Arc;

use super::{Backend, Input, PredictError, Predictions};
use crate::eval::{AnyEvaluator, Evaluator, EvaluatorVisitor, evaluate_moves};
use crate::game::{Bitboard, Board, Geometry, SquareSet};
use crate::model::{Description, Weights};

/// A move that promises this part of the win scale more than another gets e times its prior.
const POLICY_SCALE: f32 = 0.25;

/// An evaluator that answers a tree search.
pub struct EvaluatorBackend<G: Geometry> {
    description: Description,
    evaluator: AnyEvaluator<G>,
}

impl<G: Geometry> EvaluatorBackend<G> {
    /// The evaluator of a model with this description.
    ///
    /// # Errors
    ///
    /// The kind is no evaluator, or the options or the weights do not fit it.
    pub fn new(description: &Description, weights: &Weights) -> Result<Self, PredictError> {
        let evaluator = AnyEvaluator::from_model(description, weights);
        let evaluator = evaluator.map_err(|error| PredictError::Backend(error.into()))?;
        Ok(EvaluatorBackend { description: description.clone(), evaluator })
    }
}

impl<G: Geometry> Backend for EvaluatorBackend<G> {
    fn predict(
        &mut self,
        inputs: &[Input],
        predictions: &mut Predictions,
    ) -> Result<(), PredictError> {
        predictions.resize(inputs.len(), G::SQUARES);
        self.evaluator.visit(Predict { inputs, predictions, geometry: PhantomData::<G> });
        Ok(())
    }

    fn load(&mut self, weights: &Weights) -> Result<(), PredictError> {
        *self = EvaluatorBackend::new(&self.description, weights)?;
        Ok(())
    }

    fn describe(&self) -> String {
        format!("{} evaluator, cpu", self.description.kind)
    }

    fn is_batch_invariant(&self) -> bool {
        true
    }
}

/// The arguments of [`Backend::predict`], for the evaluator that was chosen.
struct Predict<'a, G: Geometry> {
    inputs: &'a [Input],
    predictions: &'a mut Predictions,
    geometry: PhantomData<G>,
}

impl<G: Geometry> EvaluatorVisitor<G> for Predict<'_, G> {
    type Output = ();

    fn visit<E: Evaluator<G> + 'static>(self, evaluator: Arc<E>) {
        let evaluator = &*evaluator;
        let scale = evaluator.win_scale();
        let policies = self.predictions.policy.chunks_exact_mut(G::SQUARES);
        for (index, (input, policy)) in self.inputs.iter().zip(policies).enumerate() {
            let board = board_of::<G>(input);
            let legal = SquareSet(G::Bitboard::narrow(input.legal));
            let score = evaluate_moves(evaluator, board, legal, 1, |square, score| {
                policy[square.index()] = score / (POLICY_SCALE * scale.0);
            });
            self.predictions.score[index] = score;
            self.predictions.value[index] = 2.0 * scale.chance(score) - 1.0;
        }
    }
}

/// The board of an input.
fn board_of<G: Geometry>(input: &Input) -> Board<G> {
    Board { mine: G::Bitboard::narrow(input.mine), theirs: G::Bitboard::narrow(input.theirs) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::testing::{description, linear_weights, random_game};
    use crate::game::{Octagon88, Square6};
    use crate::model::Kind;

    fn check<G: Geometry>() {
        let weights = linear_weights::<G>(3);
        let description = description::<G>(Kind::Linear);
        let mut backend = EvaluatorBackend::<G>::new(&description, &weights).expect("weights");
        let boards = random_game::<G>(5);
        let boards: Vec<_> = boards.into_iter().filter(|board| !board.legal().is_empty()).collect();
        let inputs: Vec<_> = boards.iter().map(|&board| Input::new(board, board.legal())).collect();
        let mut found = Predictions::default();
        backend.predict(&inputs, &mut found).expect("predictions");
        let evaluator = AnyEvaluator::<G>::from_model(&description, &weights);
        let AnyEvaluator::Linear(evaluator) = evaluator.expect("an evaluator") else { panic!() };
        for (index, board) in boards.into_iter().enumerate() {
            let prediction = found.get(index, G::SQUARES);
            let score = evaluator.score(board);
            assert_eq!(prediction.score, score);
            assert_eq!(prediction.value > 0.0, score > 0.0);
            assert!(prediction.value.abs() <= 1.0);
            // The move with the greatest logit leaves the opponent the least value.
            let legal = board.legal();
            let after = |square| evaluator.value(board.play_unchecked(square));
            let least = legal.map(after).min();
            let logit = |square: crate::game::Square| prediction.policy[square.index()];
            let best = legal.max_by(|&a, &b| logit(a).total_cmp(&logit(b)));
            assert_eq!(best.map(after), least);
        }
    }

    #[test]
    fn predictions_follow_the_evaluations() {
        check::<Square6>();
        check::<Octagon88>();
    }

    #[test]
    fn weights_of_another_kind_are_refused() {
        let weights = linear_weights::<Square6>(3);
        let refused: Result<EvaluatorBackend<Square6>, _> =
            EvaluatorBackend::new(&description::<Square6>(Kind::Net), &weights);
        let error = refused.err().expect("a net is no evaluator").to_string();
        assert!(error.contains("no evaluator is a model of kind `net`"), "{error}");
        let made =
            EvaluatorBackend::<Square6>::new(&description::<Square6>(Kind::Linear), &weights);
        let error = made.expect("weights").load(&Weights::default()).expect_err("no arrays");
        assert!(error.to_string().contains("array `"), "{error}");
    }
}
