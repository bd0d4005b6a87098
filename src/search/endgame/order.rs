//! Which move to try first far from the end.
//!
//! Few replies are good; beyond that a shallow search with the positional evaluation tells
//! more the deeper it looks, and is worth its time the more empties there are.

use super::parity;
use super::searcher::Candidate;
use crate::eval::positional::Positional;
use crate::eval::{Evaluator, SCALE};
use crate::game::{Board, Geometry, Goal, Square, Word};

/// What each reply to a move costs it beyond what the evaluation says.
const REPLY: i32 = SCALE / 2;
/// What the last word in a region is worth.
const LAST_WORD: i32 = SCALE / 4;
/// Moves that are worse than the best by more than this need not be told apart.
const MARGIN: i32 = 8 * SCALE;
/// More than any evaluation.
const MOST: i32 = 128 * SCALE;

/// Plies of the shallow search.
fn depth(empties: u32) -> u32 {
    (empties.saturating_sub(12) / 3).min(4)
}

/// Orders moves.
pub(super) struct Order<G: Geometry> {
    goal: Goal,
    evaluator: Positional<G>,
}

impl<G: Geometry> Order<G> {
    pub(super) fn new(goal: Goal) -> Self {
        Order { goal, evaluator: Positional::new(goal) }
    }

    /// Gives the moves of a board their values, the highest to `hint`; returns how many
    /// positions it visited for that.
    pub(super) fn value(
        &self,
        board: Board<G>,
        candidates: &mut [Candidate<G>],
        hint: Option<Square>,
    ) -> u64 {
        let mut nodes = 0;
        if candidates.len() < 2 {
            return nodes;
        }
        let odd = parity::squares::<G>(parity::odd::<G>(board.empty().0));
        let depth = depth(board.empties());
        let mut floor = -MOST;
        for candidate in candidates {
            if hint == Some(candidate.square) {
                candidate.value = i32::MAX;
                continue;
            }
            let score = -self.look(candidate.board, depth, -MOST, -floor, &mut nodes);
            floor = floor.max(score - MARGIN);
            candidate.value = score - candidate.legal.len() as i32 * REPLY;
            if !(odd & G::mask(candidate.square)).is_zero() {
                candidate.value += LAST_WORD;
            }
        }
        nodes
    }

    /// A plain alpha-beta search of the evaluation.
    fn look(&self, board: Board<G>, depth: u32, alpha: i32, beta: i32, nodes: &mut u64) -> i32 {
        *nodes += 1;
        if depth == 0 {
            return self.evaluator.evaluate(board);
        }
        let legal = board.legal();
        if legal.is_empty() {
            if board.pass().legal().is_empty() {
                return SCALE * board.final_score(self.goal);
            }
            return -self.look(board.pass(), depth, -beta, -alpha, nodes);
        }
        let mut best = -MOST;
        for square in legal {
            let child = board.play_unchecked(square);
            best = best.max(-self.look(child, depth - 1, -beta, -alpha.max(best), nodes));
            if best >= beta {
                break;
            }
        }
        best
    }
}
