//! Evaluators: they estimate the final disc difference of a position without search.

use crate::game::{Bitboard, Board, Geometry, Goal, SquareSet};
use probcut::ProbCut;

pub mod positional;
pub mod probcut;

/// Evaluations are integers in units of 1 / `SCALE` disc.
pub const SCALE: i32 = 128;

/// Estimates the final score of a position.
///
/// An evaluator belongs to one goal. A larger value is always better for the side to move, under
/// [`Goal::Fewest`] too.
pub trait Evaluator<G: Geometry>: Send + Sync {
    /// The expected [`Board::final_score`] for the side to move, in units of 1 / [`SCALE`] disc.
    /// For a finished game it is the exact score. The side to move may have no legal move.
    fn evaluate(&self, board: Board<G>) -> i32;

    /// The parameters of Multi-ProbCut for this evaluator; `None` if nobody has measured them.
    fn probcut(&self) -> Option<&ProbCut> {
        None
    }
}

/// Evaluates a position by its disc difference, as if the game ended there.
#[derive(Clone, Copy, Debug)]
pub struct Discs {
    /// Which score wins.
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
