//! Evaluators: they estimate the final disc difference of a position without search.
//!
//! An evaluator can keep a state for a board, such as the indices of its patterns, which follows
//! the game from move to move. A search is generic over its evaluator, so that nothing is looked up
//! at its leaves; [`AnyEvaluator`] is an evaluator that is chosen at run time.
//!
//! An evaluator by hand-chosen values is made for a goal. One that was learnt is read from the
//! arrays of a [model](crate::model::Weights).

mod any;
mod discs;
pub mod linear;
mod model;
pub mod ntuple;
pub mod onehot;
mod outline;
pub mod patternnet;
pub mod patterns;
mod plies;
pub mod positional;
pub mod probcut;
mod stages;
#[cfg(test)]
pub(crate) mod testing;
mod tracked;
mod win_scale;

use std::sync::Arc;

use crate::game::{Board, Geometry};
use crate::model::{Description, Weights};
pub use any::EvaluatorVisitor;
use any::evaluators;
pub use discs::Discs;
use linear::Linear;
pub use model::ModelError;
use ntuple::NTuple;
use onehot::OneHot;
use patternnet::PatternNet;
use patterns::Patterns;
pub use plies::evaluate_moves;
use positional::Positional;
use probcut::ProbCut;
pub use tracked::{Step, TrackedBoard};
pub use win_scale::WinScale;

// The table of all evaluators.
evaluators! {
    by hand: {
        /// Square values and mobility.
        Positional(Positional<G>),
        /// The disc difference alone.
        Discs(Discs),
    }
    from models: {
        /// A weighted sum of a few features, by stage of the game.
        Linear(Linear<G>) = "linear",
        /// A sum of values of patterns, by stage of the game.
        Patterns(Patterns<G>) = "patterns",
        /// The n-tuple perceptron: values of lines, corners and counts.
        NTuple(NTuple<G>) = "ntuple",
        /// A net with one hidden layer on the marks of the squares.
        OneHot(OneHot<G>) = "onehot",
        /// A net over patterns.
        PatternNet(PatternNet<G>) = "patternnet",
    }
}

/// Evaluations are integers in units of 1 / `SCALE` disc.
pub const SCALE: i32 = 128;

/// Estimates the final score of a position.
///
/// An evaluator belongs to one goal. A larger value is always better for the side to move, under
/// [`Goal::Fewest`](crate::game::Goal::Fewest) too.
///
/// [`TrackedBoard`] has a board and its state together, and plays moves on both.
///
/// ```
/// use std::sync::Arc;
///
/// use outflank::eval::{Evaluator, SCALE, Step};
/// use outflank::game::{Board, Goal, Square8};
/// use outflank::search::alphabeta::{AlphaBetaSearch, Search, SearchLimits};
///
/// /// One disc for each move that the side to move has more than the other.
/// struct Mobility;
///
/// impl Evaluator<Square8> for Mobility {
///     type State = ();
///     fn begin(&self, _: Board<Square8>) {}
///     fn follow(&self, _: &(), _: &Step<Square8>) {}
///     fn pass(&self, _: &()) {}
///     fn evaluate(&self, board: Board<Square8>, _: &()) -> i32 {
///         if board.is_over() {
///             return SCALE * board.final_score(Goal::Most);
///         }
///         let [mine, theirs] = board.legal_of_both();
///         SCALE * (mine.len() as i32 - theirs.len() as i32)
///     }
/// }
///
/// let mut search = AlphaBetaSearch::new(Goal::Most, Arc::new(Mobility), 1 << 20);
/// let found = search.think(Board::start(), &SearchLimits::depth(3)).expect("a legal move");
/// assert_eq!((found.depth, found.exact), (3, false));
/// ```
pub trait Evaluator<G: Geometry>: Send + Sync {
    /// What the evaluator keeps for a board besides the discs, from the view of the side to move or
    /// with that side in it. `()` if it computes all from the board.
    ///
    /// It is a function of the board: the moves that led there make no difference. So states must
    /// be exact sums, of integers and not of rounded numbers. A search copies a state for each move
    /// that it orders, so a state should have few cache lines.
    type State: Copy + Send + Sync;

    /// The state for a board, computed from all of its squares.
    fn begin(&self, board: Board<G>) -> Self::State;

    /// The state after a move, from the state before it.
    fn follow(&self, state: &Self::State, step: &Step<G>) -> Self::State;

    /// The state after a pass, from the state before it.
    fn pass(&self, state: &Self::State) -> Self::State;

    /// The expected [`Board::final_score`] for the side to move, in units of 1 / [`SCALE`] disc.
    /// For a finished game it is the exact score. The side to move may have no legal move. `state`
    /// must be that of the board.
    fn evaluate(&self, board: Board<G>, state: &Self::State) -> i32;

    /// A cheaper value in the same units. It decides which moves a search tries first, and what it
    /// returns only where [`Evaluator::ordering_deviation`] says how far it is off.
    #[inline(always)]
    fn ordering_value(&self, board: Board<G>, state: &Self::State) -> i32 {
        self.evaluate(board, state)
    }

    /// The standard deviation of [`Evaluator::evaluate`] from [`Evaluator::ordering_value`] on boards
    /// with so many discs, in the same units. `None` if it is unknown.
    #[inline(always)]
    fn ordering_deviation(&self, _discs: u32) -> Option<i32> {
        None
    }

    /// The parameters of Multi-ProbCut for this evaluator; `None` if nobody has measured them.
    fn probcut(&self) -> Option<&ProbCut> {
        None
    }

    /// How expected scores translate to probabilities of a win.
    fn win_scale(&self) -> WinScale {
        WinScale::default()
    }

    /// [`Evaluator::evaluate`] for a board alone, without the state of an earlier board.
    #[inline]
    fn value(&self, board: Board<G>) -> i32 {
        self.evaluate(board, &self.begin(board))
    }

    /// The expected final score in discs for a board alone.
    fn score(&self, board: Board<G>) -> f32 {
        self.value(board) as f32 / SCALE as f32
    }
}
