//! Input planes of evaluations: what a finished evaluator says of a position and of its legal moves.
//!
//! A net that is told what an evaluator knows need not learn it. One position takes a few
//! microseconds, a small part of the net's time.

use std::any::Any;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use crate::eval::{AnyEvaluator, Evaluator, EvaluatorVisitor, evaluate_moves};
use crate::game::{Bitboard, Board, Geometry, SquareSet};
use crate::predict::Input;

/// Discs are divided by this, so that they are about as large as the numbers of other planes.
const UNIT: f32 = 16.0;
/// A move is judged by the best reply to it. That is worth its time (docs/journal/ablations-long.md).
const PLIES: u32 = 2;

/// An evaluator whose evaluations are a net's input. A net works with one evaluator only, which it
/// knows by its checksum. Clones share its tables.
#[derive(Clone)]
pub struct InputEvaluator {
    checksum: Arc<str>,
    evaluations: Arc<dyn Evaluations>,
    /// An [`AnyEvaluator`] of its board.
    evaluator: Arc<dyn Any + Send + Sync>,
}

impl InputEvaluator {
    /// An evaluator for the board `G`, and the checksum of its model's weights.
    pub fn new<G: Geometry>(evaluator: &AnyEvaluator<G>, checksum: &str) -> InputEvaluator {
        InputEvaluator {
            checksum: checksum.into(),
            evaluations: evaluator.visit(Share(PhantomData::<G>)),
            evaluator: Arc::new(evaluator.clone()),
        }
    }

    /// The evaluator itself; `None` if it is for another board.
    pub fn evaluator<G: Geometry>(&self) -> Option<AnyEvaluator<G>> {
        self.evaluator.downcast_ref().cloned()
    }

    /// The checksum of its model's weights.
    pub fn checksum(&self) -> &str {
        &self.checksum
    }

    /// The evaluation of a position for the side to move, in units of [`UNIT`] discs. Calls `put`
    /// with the bit of each legal move and what can be expected after the best reply to it.
    pub(super) fn evaluate(&self, input: &Input, mut put: impl FnMut(usize, f32)) -> f32 {
        self.evaluations.evaluate(input, &mut |bit, score| put(bit, score / UNIT)) / UNIT
    }
}

impl PartialEq for InputEvaluator {
    fn eq(&self, other: &InputEvaluator) -> bool {
        self.checksum == other.checksum
    }
}

impl fmt::Debug for InputEvaluator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "InputEvaluator({})", self.checksum)
    }
}

/// An evaluator of any kind for any board.
trait Evaluations: Send + Sync {
    /// [`InputEvaluator::evaluate`], in discs.
    fn evaluate(&self, input: &Input, put: &mut dyn FnMut(usize, f32)) -> f32;
}

struct OfBoard<G, E> {
    evaluator: Arc<E>,
    geometry: PhantomData<G>,
}

impl<G: Geometry, E: Evaluator<G>> Evaluations for OfBoard<G, E> {
    fn evaluate(&self, input: &Input, put: &mut dyn FnMut(usize, f32)) -> f32 {
        let [mine, theirs, legal] =
            [input.mine, input.theirs, input.legal].map(G::Bitboard::narrow);
        let (board, legal) = (Board::<G> { mine, theirs }, SquareSet(legal));
        evaluate_moves(&*self.evaluator, board, legal, PLIES, |square, score| {
            put(G::bit_of(square), score);
        })
    }
}

struct Share<G>(PhantomData<G>);

impl<G: Geometry> EvaluatorVisitor<G> for Share<G> {
    type Output = Arc<dyn Evaluations>;

    fn visit<E: Evaluator<G> + 'static>(self, evaluator: Arc<E>) -> Self::Output {
        Arc::new(OfBoard { evaluator, geometry: self.0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::positional::Positional;
    use crate::game::{Goal, Shape};
    use crate::net::Encoding;
    use crate::net::fixtures::{positions, resnet, with_evaluations};

    const PLANES: usize = 16;
    /// The planes of numbers of turned discs, which evaluations replace.
    const REPLACED: [usize; 2] = [10, 14];

    fn check<G: Geometry>() {
        let plain = Encoding::new(&resnet(G::SHAPE, 1, 16));
        let encoding = Encoding::new(&with_evaluations(resnet(G::SHAPE, 1, 16)));
        let evaluator = Positional::<G>::new(Goal::Most);
        let layout = G::SHAPE.layout();
        for input in positions(G::SHAPE, 60, 4) {
            let [mut found, mut wanted] = [(); 2].map(|()| vec![0.0; layout.cells() * PLANES]);
            encoding.write(&input, &mut found, PLANES);
            plain.write(&input, &mut wanted, PLANES);
            let [mine, theirs] = [input.mine, input.theirs].map(G::Bitboard::narrow);
            let board = Board::<G> { mine, theirs };
            let mut moves = vec![0.0; layout.squares];
            let score = evaluate_moves(&evaluator, board, board.legal(), 2, |square, score| {
                moves[square.index()] = score;
            });
            for (&cell, after) in layout.cell_of.iter().zip(moves) {
                let cell = usize::from(cell) * PLANES;
                wanted[cell + REPLACED[0]] = after / UNIT;
                wanted[cell + REPLACED[1]] = score / UNIT;
            }
            assert_eq!(found, wanted, "{board:?}");
        }
    }

    #[test]
    fn evaluations_are_those_of_the_position_and_of_its_moves_after_the_best_reply() {
        for shape in Shape::ALL {
            dispatch!(shape, G => check::<G>());
        }
    }
}
