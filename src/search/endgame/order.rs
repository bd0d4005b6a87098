//! Move ordering of the solver at nodes with many empties.
//!
//! Moves with few replies come first. A shallow search with the positional evaluation refines the
//! order. The more empties there are, the deeper it searches.

use super::parity;
use crate::eval::positional::Positional;
use crate::eval::{Evaluator, SCALE};
use crate::game::{Bitboard, Board, Geometry, Goal, Square, SquareSet};

/// The penalty of a move for each reply to it.
const REPLY_COST: i32 = SCALE / 2;
/// The bonus of a move in a region with an odd number of empties.
const LAST_MOVE_BONUS: i32 = SCALE / 4;
/// Moves worse than the best by more than this are not ordered exactly.
const MARGIN: i32 = 8 * SCALE;
/// More than any evaluation.
const MOST: i32 = 128 * SCALE;

/// A move to be searched.
#[derive(Clone, Copy)]
pub(super) struct Candidate<G: Geometry> {
    pub square: Square,
    /// The board after the move, from the view of the opponent.
    pub board: Board<G>,
    /// The replies to the move.
    pub legal: SquareSet<G>,
    /// The place in the order: moves with a greater value come first.
    pub value: i32,
}

/// Swaps the best of the moves from index `from` on to that index and returns it; `None` if there
/// are no more.
#[inline(always)]
pub(super) fn take_best<G: Geometry>(
    candidates: &mut [Candidate<G>],
    from: usize,
) -> Option<Candidate<G>> {
    let rest = candidates.get_mut(from..)?;
    let mut best = 0;
    for index in 1..rest.len() {
        if rest[index].value > rest[best].value {
            best = index;
        }
    }
    if rest.is_empty() {
        return None;
    }
    rest.swap(0, best);
    Some(rest[0])
}

/// Plies of the shallow search.
fn depth(empties: u32) -> u32 {
    (empties.saturating_sub(12) / 3).min(4)
}

/// Gives moves the values by which they are ordered.
pub(super) struct MoveOrdering<G: Geometry> {
    goal: Goal,
    evaluator: Positional<G>,
}

impl<G: Geometry> MoveOrdering<G> {
    pub(super) fn new(goal: Goal) -> Self {
        MoveOrdering { goal, evaluator: Positional::new(goal) }
    }

    /// Sets the values of the moves of a board, the greatest one for `hint`. Returns the number of
    /// positions visited by the shallow searches.
    pub(super) fn set_values(
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
        let mut lower = -MOST;
        for candidate in candidates {
            if hint == Some(candidate.square) {
                candidate.value = i32::MAX;
                continue;
            }
            let score = -self.shallow_search(candidate.board, depth, -MOST, -lower, &mut nodes);
            lower = lower.max(score - MARGIN);
            candidate.value = score - candidate.legal.len() as i32 * REPLY_COST;
            if !(odd & G::mask(candidate.square)).is_zero() {
                candidate.value += LAST_MOVE_BONUS;
            }
        }
        nodes
    }

    /// Alpha-beta search without a table or move ordering.
    fn shallow_search(
        &self,
        board: Board<G>,
        depth: u32,
        alpha: i32,
        beta: i32,
        nodes: &mut u64,
    ) -> i32 {
        *nodes += 1;
        if depth == 0 {
            return self.evaluator.evaluate(board);
        }
        let legal = board.legal();
        if legal.is_empty() {
            if board.pass().legal().is_empty() {
                return SCALE * board.final_score(self.goal);
            }
            return -self.shallow_search(board.pass(), depth, -beta, -alpha, nodes);
        }
        let mut best = -MOST;
        for square in legal {
            let child = board.play_unchecked(square);
            best = best.max(-self.shallow_search(child, depth - 1, -beta, -alpha.max(best), nodes));
            if best >= beta {
                break;
            }
        }
        best
    }
}
