//! Alpha-beta search whose evaluator is chosen at run time.

use std::sync::Arc;

use super::{AlphaBetaSearch, NoProbCut, SearchLimits, SearchResult};
use crate::eval::{AnyEvaluator, Evaluator, EvaluatorVisitor, WinScale};
use crate::game::{Board, Geometry, Goal};
use crate::search::stop::Stop;

/// A search that keeps its transposition table from one position to the next: what a player needs
/// of [`AlphaBetaSearch`], for any evaluator.
pub trait Search<G: Geometry>: Send {
    /// Clears the table, so that the next search depends only on its position and limits. It takes
    /// constant time.
    fn forget(&mut self);

    /// Sets the flag that ends the searches. They return their best result so far.
    fn set_stop(&mut self, stop: Stop);

    /// Searches a position; `None` if the side to move has no legal move.
    ///
    /// With one thread and no time limit the result depends only on the position, the limits and
    /// the table.
    fn think(&mut self, board: Board<G>, limits: &SearchLimits) -> Option<SearchResult> {
        self.think_with_progress(board, limits, None)
    }

    /// The same as [`Search::think`]. It calls `on_iteration` with the result of each complete
    /// iteration but the last.
    ///
    /// ```
    /// use outflank::eval::AnyEvaluator;
    /// use outflank::eval::positional::Positional;
    /// use outflank::game::{Board, Goal, Square6};
    /// use outflank::search::alphabeta::{self, SearchLimits, SearchResult};
    ///
    /// let evaluator = AnyEvaluator::from(Positional::<Square6>::new(Goal::Most));
    /// let mut search = alphabeta::plain(Goal::Most, &evaluator, 1 << 20);
    /// let mut depths = Vec::new();
    /// let mut note = |result: &SearchResult| depths.push(result.depth);
    /// search.think_with_progress(Board::start(), &SearchLimits::depth(4), Some(&mut note));
    /// assert_eq!(depths, [1, 2, 3]);
    /// ```
    fn think_with_progress(
        &mut self,
        board: Board<G>,
        limits: &SearchLimits,
        on_iteration: Option<&mut dyn FnMut(&SearchResult)>,
    ) -> Option<SearchResult>;

    /// How scores of the search translate to probabilities of a win.
    fn win_scale(&self) -> WinScale;
}

/// A search with an evaluator that is chosen at run time, without ProbCut. `goal` must be the
/// evaluator's, and the table takes at most `table_bytes`.
pub fn plain<G: Geometry>(
    goal: Goal,
    evaluator: &AnyEvaluator<G>,
    table_bytes: usize,
) -> Box<dyn Search<G>> {
    evaluator.visit(Plain { goal, table_bytes })
}

/// The arguments of [`plain`] besides the evaluator.
struct Plain {
    goal: Goal,
    table_bytes: usize,
}

impl<G: Geometry> EvaluatorVisitor<G> for Plain {
    type Output = Box<dyn Search<G>>;

    fn visit<E: Evaluator<G> + 'static>(self, evaluator: Arc<E>) -> Self::Output {
        Box::new(AlphaBetaSearch::new(self.goal, evaluator, self.table_bytes))
    }
}

/// A search with an evaluator that is chosen at run time. The choice is made here, once: the search
/// is compiled for each evaluator. `goal` must be the evaluator's, and the table takes at most
/// `table_bytes`. With `probcut` deviations it uses [`AlphaBetaSearch::with_probcut`].
///
/// # Errors
///
/// [`NoProbCut`] if ProbCut is wanted and the evaluator has no parameters.
///
/// ```
/// use outflank::eval::{AnyEvaluator, Discs};
/// use outflank::game::{Board, Goal, Square6};
/// use outflank::search::alphabeta::{self, SearchLimits};
///
/// let evaluator = AnyEvaluator::<Square6>::from(Discs { goal: Goal::Most });
/// let mut search = alphabeta::boxed(Goal::Most, &evaluator, 1 << 20, None)?;
/// let found = search.think(Board::start(), &SearchLimits::depth(1)).expect("a legal move");
/// assert_eq!(found.score, 3.0, "four discs against one");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn boxed<G: Geometry>(
    goal: Goal,
    evaluator: &AnyEvaluator<G>,
    table_bytes: usize,
    probcut: Option<f32>,
) -> Result<Box<dyn Search<G>>, NoProbCut> {
    evaluator.visit(Boxed { goal, table_bytes, probcut })
}

/// The arguments of [`boxed`] besides the evaluator.
struct Boxed {
    goal: Goal,
    table_bytes: usize,
    probcut: Option<f32>,
}

impl<G: Geometry> EvaluatorVisitor<G> for Boxed {
    type Output = Result<Box<dyn Search<G>>, NoProbCut>;

    fn visit<E: Evaluator<G> + 'static>(self, evaluator: Arc<E>) -> Self::Output {
        let search = AlphaBetaSearch::new(self.goal, evaluator, self.table_bytes);
        Ok(match self.probcut {
            Some(deviations) => Box::new(search.with_probcut(deviations)?),
            None => Box::new(search),
        })
    }
}
