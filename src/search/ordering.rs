//! Move ordering of alpha-beta search.
//!
//! Alpha-beta cuts most if it tries the best move early. Here the best move of the transposition
//! table comes first. The others are ordered by the evaluation after the move and by the number
//! of replies to it.
//!
//! The evaluator's state after a move is needed for its place in the order, and again if the move is
//! searched. A candidate keeps it in between: to copy a state costs less than to follow a move.

use crate::eval::{Evaluator, SCALE, TrackedBoard};
use crate::game::{Geometry, Square, SquareSet};

/// The penalty of a move for each reply to it, since moves with few replies have small subtrees.
const REPLY_COST: i32 = SCALE;

/// A move to be searched, with an evaluator's state `S` after it.
#[derive(Clone, Copy)]
pub(super) struct Candidate<G: Geometry, S> {
    /// The move.
    pub square: Square,
    /// The board after the move, from the view of the opponent.
    pub child: TrackedBoard<G, S>,
    /// The replies to the move.
    pub legal: SquareSet<G>,
    /// The place in the order: moves with a greater value come first.
    value: i32,
}

impl<G: Geometry, S> Candidate<G, S> {
    /// Whether the move was deferred until all others were tried.
    pub(super) fn is_deferred(&self) -> bool {
        self.value == i32::MIN
    }
}

/// The moves of all nodes on the path from the root to the current node, which comes last.
///
/// All nodes share one list, so that they need no allocation. A node appends its moves, takes the
/// best of them one by one, and removes them at its end.
pub(super) struct Candidates<G: Geometry, S> {
    stack: Vec<Candidate<G, S>>,
}

impl<G: Geometry, S: Copy> Candidates<G, S> {
    pub(super) fn new() -> Self {
        Candidates { stack: Vec::with_capacity(1024) }
    }

    /// Appends the moves of a node, with `first` as the best of them. Those of a node that is worth it
    /// (`precise`) are ordered by the evaluation itself, unless the evaluator has estimates. Returns the
    /// index of the first one in the list.
    pub(super) fn push<E: Evaluator<G, State = S>>(
        &mut self,
        node: &TrackedBoard<G, S>,
        legal: SquareSet<G>,
        (first, precise): (Option<Square>, bool),
        evaluator: &E,
    ) -> usize {
        let start = self.stack.len();
        let precise = precise && evaluator.ordering_deviation(node.board.discs() + 1).is_none();
        for square in legal {
            let child = node.play(evaluator, square);
            let legal = child.board.legal();
            let value = if first == Some(square) {
                i32::MAX
            } else {
                let value = match precise {
                    true => child.evaluate(evaluator),
                    false => child.ordering_value(evaluator),
                };
                -value - legal.len() as i32 * REPLY_COST
            };
            self.stack.push(Candidate { square, child, legal, value });
        }
        start
    }

    /// The moves of the current node, which start at index `start`.
    pub(super) fn moves_from(&self, start: usize) -> &[Candidate<G, S>] {
        self.stack.get(start..).unwrap_or_default()
    }

    /// Swaps the best of the moves from index `from` on to that index and returns it; `None` if
    /// there are no more.
    pub(super) fn take_best(&mut self, from: usize) -> Option<Candidate<G, S>> {
        let rest = self.stack.get(from..)?;
        let mut best = 0;
        // Among equal moves the first one is taken, so that the order is deterministic.
        for (index, candidate) in rest.iter().enumerate().skip(1) {
            if candidate.value > rest[best].value {
                best = index;
            }
        }
        (!rest.is_empty()).then(|| {
            self.stack.swap(from, from + best);
            self.stack[from]
        })
    }

    /// Appends a move once more, to be tried after all others.
    pub(super) fn defer(&mut self, candidate: Candidate<G, S>) {
        self.stack.push(Candidate { value: i32::MIN, ..candidate });
    }

    /// Removes the moves of the current node, which start at index `start`.
    pub(super) fn pop(&mut self, start: usize) {
        self.stack.truncate(start);
    }
}
