//! Which move to try first.
//!
//! Alpha-beta cuts most where the best move comes early. The order here: the move that the
//! transposition table remembers, then the others by what the evaluator says after them and
//! by how many replies they leave.

use crate::eval::{Evaluator, SCALE};
use crate::game::{Board, Geometry, Square, SquareSet};

/// What each reply costs a move beyond what the evaluation says: few replies make small trees.
const REPLY: i32 = SCALE;

/// A move to be searched.
#[derive(Clone, Copy)]
pub(super) struct Candidate<G: Geometry> {
    /// The move.
    pub square: Square,
    /// The board after it, as the opponent sees it.
    pub board: Board<G>,
    /// The replies to it.
    pub legal: SquareSet<G>,
    /// How promising it is.
    value: i32,
}

impl<G: Geometry> Candidate<G> {
    /// Whether the move was put off until all others were tried.
    pub(super) fn is_deferred(&self) -> bool {
        self.value == i32::MIN
    }
}

/// The moves of all nodes between the root and the current one, innermost last.
///
/// One growing list for the whole search, so that a node's moves need no allocation. A node
/// appends its own, takes them best first, and removes them when it is done.
pub(super) struct Candidates<G: Geometry> {
    stack: Vec<Candidate<G>>,
}

impl<G: Geometry> Candidates<G> {
    pub(super) fn new() -> Self {
        Candidates { stack: Vec::with_capacity(1024) }
    }

    /// Appends the moves of a node; returns where they start.
    pub(super) fn push<E: Evaluator<G> + ?Sized>(
        &mut self,
        board: Board<G>,
        legal: SquareSet<G>,
        first: Option<Square>,
        evaluator: &E,
    ) -> usize {
        let start = self.stack.len();
        for square in legal {
            let board = board.play_unchecked(square);
            let legal = board.legal();
            let value = if first == Some(square) {
                i32::MAX
            } else {
                -evaluator.evaluate(board) - legal.len() as i32 * REPLY
            };
            self.stack.push(Candidate { square, board, legal, value });
        }
        start
    }

    /// The moves of the innermost node, which start at index `start`.
    pub(super) fn of(&self, start: usize) -> &[Candidate<G>] {
        self.stack.get(start..).unwrap_or_default()
    }

    /// Takes the best of the moves from index `from` on to that index and returns it; `None`
    /// where there are no more.
    pub(super) fn best(&mut self, from: usize) -> Option<Candidate<G>> {
        let rest = self.stack.get(from..)?;
        let mut best = 0;
        // The first of equals, so that the order does not depend on anything but the board.
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

    /// Appends a move again that is to come last.
    pub(super) fn defer(&mut self, candidate: Candidate<G>) {
        self.stack.push(Candidate { value: i32::MIN, ..candidate });
    }

    /// Removes a node's moves.
    pub(super) fn pop(&mut self, start: usize) {
        self.stack.truncate(start);
    }
}
