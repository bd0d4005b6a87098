//! Boards with the state of an evaluator. A move is played on both together.

use super::Evaluator;
use crate::game::{Board, Geometry, Square, SquareSet};

/// A move as an evaluator's state follows it.
///
/// ```
/// use outflank::eval::Step;
/// use outflank::game::{Board, Square, Square8};
///
/// let step = Step::<Square8>::new(Board::start(), Square(19));
/// assert_eq!((step.flips.len(), step.after.discs()), (1, 5));
/// assert_eq!(step, Step::between(step.before, step.square, step.after));
/// ```
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Step<G: Geometry> {
    /// The square of the new disc.
    pub square: Square,
    /// The discs that turn.
    pub flips: SquareSet<G>,
    /// The board before the move, from the view of the side that moves.
    pub before: Board<G>,
    /// The board after the move, from the view of the opponent.
    pub after: Board<G>,
}

impl<G: Geometry> Step<G> {
    /// A legal move.
    #[inline(always)]
    pub fn new(before: Board<G>, square: Square) -> Self {
        let flips = before.flips(square);
        Step { square, flips, before, after: before.after(square, flips) }
    }

    /// A legal move whose board is already known: `after`.
    #[inline(always)]
    pub fn between(before: Board<G>, square: Square, after: Board<G>) -> Self {
        Step { square, flips: SquareSet(before.theirs ^ after.mine), before, after }
    }
}

/// A board with the state `S` that an evaluator keeps for it. Each method needs that evaluator.
///
/// ```
/// use outflank::eval::{Discs, SCALE, TrackedBoard};
/// use outflank::game::{Board, Goal, Square, Square8};
///
/// let evaluator = Discs { goal: Goal::Most };
/// let start = TrackedBoard::begin(&evaluator, Board::<Square8>::start());
/// let after = start.play(&evaluator, Square(19));
/// // White is to move, with one disc against four.
/// assert_eq!(after.evaluate(&evaluator), -3 * SCALE);
/// assert_eq!(after.pass(&evaluator).evaluate(&evaluator), 3 * SCALE);
/// ```
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct TrackedBoard<G: Geometry, S> {
    /// The board.
    pub board: Board<G>,
    /// The state of the evaluator for the board.
    pub state: S,
}

impl<G: Geometry, S: Copy> TrackedBoard<G, S> {
    /// A board with its state computed from all squares.
    #[inline]
    pub fn begin<E: Evaluator<G, State = S> + ?Sized>(evaluator: &E, board: Board<G>) -> Self {
        TrackedBoard { board, state: evaluator.begin(board) }
    }

    /// The board after a legal move, from the view of the opponent.
    #[inline(always)]
    pub fn play<E: Evaluator<G, State = S> + ?Sized>(&self, evaluator: &E, square: Square) -> Self {
        let step = Step::new(self.board, square);
        TrackedBoard { board: step.after, state: evaluator.follow(&self.state, &step) }
    }

    /// The same discs with the other side to move.
    #[inline(always)]
    pub fn pass<E: Evaluator<G, State = S> + ?Sized>(&self, evaluator: &E) -> Self {
        TrackedBoard { board: self.board.pass(), state: evaluator.pass(&self.state) }
    }

    /// [`Evaluator::evaluate`] for this board.
    #[inline(always)]
    pub fn evaluate<E: Evaluator<G, State = S> + ?Sized>(&self, evaluator: &E) -> i32 {
        evaluator.evaluate(self.board, &self.state)
    }

    /// [`Evaluator::ordering_value`] for this board.
    #[inline(always)]
    pub fn ordering_value<E: Evaluator<G, State = S> + ?Sized>(&self, evaluator: &E) -> i32 {
        evaluator.ordering_value(self.board, &self.state)
    }
}
