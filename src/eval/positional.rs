//! Square values and mobility: the classical evaluation with hand-chosen weights, for any board.
//!
//! The value of a square depends on how a disc there can be outflanked. No line through a corner
//! has neighbours on both sides, so a disc in a corner never turns. A disc beside an empty corner
//! helps the opponent to take that corner. The weights are chosen by hand, like the tables of
//! square values that textbooks print for 8x8.

use super::outline::with_turnable_lines;
use super::probcut::ProbCut;
use super::{Evaluator, SCALE, Step};
use crate::game::{Bitboard, Board, Geometry, Goal, Shape, SquareSet};

mod regressions;

/// The value of each legal move more than the opponent has.
const MOBILITY: i32 = SCALE;
/// The value of a disc that can never turn.
const CORNER: i32 = 8 * SCALE;
/// The value of a disc diagonally beside an empty corner.
const DIAGONAL: i32 = -7 * SCALE / 2;
/// The value of a disc orthogonally beside an empty corner.
const ADJACENT: i32 = -3 * SCALE / 2;
/// The value of a disc that can turn along one line only.
const EDGE: i32 = SCALE / 2;

/// The evaluator by square values and mobility.
///
/// ```
/// use outflank::eval::positional::Positional;
/// use outflank::eval::{Evaluator, SCALE};
/// use outflank::game::{Board, Goal, Square8, notation};
///
/// let evaluator = Positional::<Square8>::new(Goal::Most);
/// assert_eq!(evaluator.evaluate(Board::start(), &()), 0, "both sides have the same");
/// // A corner is worth some discs.
/// let line = format!("*O{}O*{} X", "-".repeat(30), "-".repeat(30));
/// let board = notation::parse_obf::<Square8>(&line)?.position.board;
/// assert!(evaluator.evaluate(board, &()) > SCALE);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Positional<G: Geometry> {
    goal: Goal,
    corners: G::Bitboard,
    edges: G::Bitboard,
}

impl<G: Geometry> Positional<G> {
    /// The evaluator for a goal. [`Goal::Fewest`] negates the square values; mobility counts the
    /// same for both goals.
    pub fn new(goal: Goal) -> Self {
        let (corners, edges) = (with_turnable_lines::<G>(0), with_turnable_lines::<G>(1));
        Positional { goal, corners, edges }
    }

    /// The difference of the square values, under [`Goal::Most`].
    #[inline(always)]
    fn square_values(&self, board: Board<G>) -> i32 {
        let difference = |set: G::Bitboard| {
            (board.mine & set).count() as i32 - (board.theirs & set).count() as i32
        };
        let open = SquareSet::<G>(self.corners & !(board.mine | board.theirs));
        let (diagonal, adjacent) = (open.beside_diagonally().0, open.beside_orthogonally().0);
        CORNER * difference(self.corners)
            + DIAGONAL * difference(diagonal)
            + ADJACENT * difference(adjacent)
            + EDGE * difference(self.edges & !adjacent)
    }
}

impl<G: Geometry> Evaluator<G> for Positional<G> {
    type State = ();

    fn begin(&self, _: Board<G>) {}

    fn follow(&self, (): &(), _: &Step<G>) {}

    fn pass(&self, (): &()) {}

    #[inline]
    fn evaluate(&self, board: Board<G>, (): &()) -> i32 {
        let [own, other] = board.legal_of_both().map(|legal| legal.len() as i32);
        if own + other == 0 {
            return SCALE * board.final_score(self.goal);
        }
        let most = SCALE * G::SQUARES as i32;
        let value = MOBILITY * (own - other) + self.goal.apply(self.square_values(board));
        value.clamp(-most, most)
    }

    fn probcut(&self) -> Option<&ProbCut> {
        let measured = G::SHAPE == Shape::Square8 && self.goal == Goal::Most;
        measured.then_some(&regressions::SQUARE8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::{Octagon88, Square8, Symmetry};

    #[test]
    fn corners_follow_from_the_shape() {
        let count = |shape| dispatch!(shape, G => Positional::<G>::new(Goal::Most).corners.count());
        assert_eq!(Shape::ALL.map(count), [4, 4, 4, 8, 12]);
        let standard = Positional::<Square8>::new(Goal::Most);
        assert_eq!(standard.edges.count(), 24);
        let a1 = SquareSet::<Square8>(1);
        assert_eq!(
            (a1.beside_diagonally().0, a1.beside_orthogonally().0),
            (1 << 9, 1 << 1 | 1 << 8)
        );
    }

    #[test]
    fn values_change_sign_with_the_side_and_not_with_symmetry() {
        let start = Board::<Octagon88>::start();
        let first = start.legal().next().expect("a legal move");
        let board = start.play_unchecked(first);
        let eval = Positional::<Octagon88>::new(Goal::Most);
        assert_eq!(eval.value(board), -eval.value(board.pass()));
        for symmetry in Symmetry::ALL {
            assert_eq!(eval.value(symmetry.board(board)), eval.value(board));
        }
    }
}
