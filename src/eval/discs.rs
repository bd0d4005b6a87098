//! The disc difference: the simplest evaluator.

use super::{Evaluator, SCALE, Step};
use crate::game::{Bitboard, Board, Geometry, Goal, SquareSet};

/// Evaluates a position by its disc difference, as if the game ended there.
///
/// ```
/// use outflank::eval::{AnyEvaluator, Discs};
/// use outflank::game::{Board, Goal, Square, Square8};
///
/// let evaluator = AnyEvaluator::<Square8>::from(Discs { goal: Goal::Fewest });
/// let after = Board::start().play(Square(19)).expect("d3 is legal");
/// assert_eq!(evaluator.score(after), 3.0, "white has three discs fewer");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Discs {
    /// Which score wins.
    pub goal: Goal,
}

impl<G: Geometry> Evaluator<G> for Discs {
    type State = ();

    fn begin(&self, _: Board<G>) {}

    fn follow(&self, (): &(), _: &Step<G>) {}

    fn pass(&self, (): &()) {}

    #[inline(always)]
    fn evaluate(&self, board: Board<G>, (): &()) -> i32 {
        if board.legal_of_both().into_iter().all(SquareSet::is_empty) {
            return SCALE * board.final_score(self.goal);
        }
        SCALE * self.goal.apply(board.mine.count() as i32 - board.theirs.count() as i32)
    }
}
