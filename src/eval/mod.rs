//! Estimates of the final disc difference, without search.

use crate::game::{Board, Geometry, Goal, SquareSet, Word};
use probcut::ProbCut;

pub mod positional;
pub mod probcut;

/// Units of an evaluation in one disc of final difference.
pub const SCALE: i32 = 128;

/// Estimates what a position is worth.
///
/// An evaluator is made for one goal, and answers for that goal: a larger value is always
/// better for the side to move.
pub trait Evaluator<G: Geometry>: Send + Sync {
    /// The expected [`Board::final_score`] for the side to move, in units of 1 /
    /// [`SCALE`] disc. The side to move may have to pass. A finished game is worth its score.
    fn evaluate(&self, board: Board<G>) -> i32;

    /// How its shallow searches foretell its deep ones, if that was measured.
    fn probcut(&self) -> Option<&ProbCut> {
        None
    }
}

/// The disc difference on the board, as if the game ended here.
#[derive(Clone, Copy, Debug)]
pub struct Discs {
    /// Which side of the difference is wanted.
    pub goal: Goal,
}

impl<G: Geometry> Evaluator<G> for Discs {
    #[inline(always)]
    fn evaluate(&self, board: Board<G>) -> i32 {
        if board.legal_of_both().into_iter().all(SquareSet::is_empty) {
            return SCALE * board.final_score(self.goal);
        }
        SCALE * self.goal.apply(board.mine.count() as i32 - board.theirs.count() as i32)
    }
}
