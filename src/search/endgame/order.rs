//! Move ordering of the solver at nodes with many empties.
//!
//! Moves with few replies come first. A shallow search with an evaluator refines the order. The more
//! empties there are, the deeper it searches.
//!
//! The evaluator is chosen when the solver is made. Each node begins its state anew: a node with
//! so many empties costs a hundred times as much, and the solver's other nodes need no state.

use std::sync::Arc;

use super::parity;
use crate::eval::{Evaluator, SCALE, Step, TrackedBoard};
use crate::game::{Bitboard, Board, Geometry, Goal, Square, SquareSet};

/// The penalty of a move for each reply to it.
const REPLY_COST: i32 = 2 * SCALE;
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
    (empties.saturating_sub(13) / 2).min(6)
}

/// Gives moves the values by which they are ordered.
pub(super) trait MoveOrdering<G: Geometry>: Send + Sync {
    /// Sets the values of the moves of a board, the greatest one for `hint`. Returns the number of
    /// positions visited by the shallow searches.
    fn set_values(
        &self,
        board: Board<G>,
        candidates: &mut [Candidate<G>],
        hint: Option<Square>,
    ) -> u64;
}

/// Orders moves by shallow searches with an evaluator.
pub(super) struct ShallowSearch<E> {
    /// Which score wins; it must be the evaluator's goal.
    pub(super) goal: Goal,
    pub(super) evaluator: Arc<E>,
}

impl<G: Geometry, E: Evaluator<G>> MoveOrdering<G> for ShallowSearch<E> {
    fn set_values(
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
        let state = self.evaluator.begin(board);
        let mut lower = -MOST;
        for candidate in candidates {
            if hint == Some(candidate.square) {
                candidate.value = i32::MAX;
                continue;
            }
            let step = Step::between(board, candidate.square, candidate.board);
            let state = self.evaluator.follow(&state, &step);
            let child = TrackedBoard { board: candidate.board, state };
            let score = -self.search(child, depth, -MOST, -lower, &mut nodes);
            lower = lower.max(score - MARGIN);
            candidate.value = score - candidate.legal.len() as i32 * REPLY_COST;
            if !(odd & G::mask(candidate.square)).is_zero() {
                candidate.value += LAST_MOVE_BONUS;
            }
        }
        nodes
    }
}

impl<E> ShallowSearch<E> {
    /// Alpha-beta search without a table or move ordering.
    fn search<G: Geometry>(
        &self,
        node: TrackedBoard<G, E::State>,
        depth: u32,
        alpha: i32,
        beta: i32,
        nodes: &mut u64,
    ) -> i32
    where
        E: Evaluator<G>,
    {
        let evaluator = &*self.evaluator;
        *nodes += 1;
        if depth == 0 {
            return node.evaluate(evaluator);
        }
        let legal = node.board.legal();
        if legal.is_empty() {
            if node.board.pass().legal().is_empty() {
                return SCALE * node.board.final_score(self.goal);
            }
            return -self.search(node.pass(evaluator), depth, -beta, -alpha, nodes);
        }
        let mut best = -MOST;
        for square in legal {
            let child = node.play(evaluator, square);
            best = best.max(-self.search(child, depth - 1, -beta, -alpha.max(best), nodes));
            if best >= beta {
                break;
            }
        }
        best
    }
}
