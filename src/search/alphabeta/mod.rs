//! Alpha-beta search: iterative deepening, principal-variation search, an evaluator at the leaves.
//!
//! Internal scores are in units of 1 / [`SCALE`] disc for the side to move. A pass does not count
//! as a ply. So all leaves of an iteration have the same number of discs, unless the game ends
//! earlier, and an iteration as deep as the number of empty squares is exact. The iterations just
//! before it would cost as much, so they are left out. With Multi-ProbCut there are first two to the
//! end of the game that skip subtrees, the second one fewer, and so are not exact.

mod boxed;
mod probcut;
mod worker;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::active::ActivePositions;
use super::clock::SearchClock;
pub use super::clock::{Allotment, SearchLimits};
use super::stop::Stop;
use super::table::{Entry, Key, TranspositionTable};
use crate::eval::{Evaluator, SCALE, TrackedBoard, WinScale};
use crate::game::{Bitboard, Board, Geometry, Goal, Square, SquareSet};
pub use boxed::{Search, boxed, plain};
use probcut::Checks;
pub use probcut::NoProbCut;
use worker::Worker;

/// Nodes of at least this depth share their work between threads.
const SHARED_DEPTH: u32 = 4;

/// The result of a search.
#[derive(Clone, PartialEq, Debug)]
pub struct SearchResult {
    /// The best move.
    pub square: Square,
    /// The expected final score for the side to move, in discs.
    pub score: f32,
    /// Whether the score is the result of perfect play.
    pub exact: bool,
    /// The depth of the last complete iteration, in plies.
    pub depth: u32,
    /// Positions visited by all threads.
    pub nodes: u64,
    /// The principal variation, without passes; its first move is the best move.
    pub pv: Vec<Square>,
    /// The time of the search.
    pub seconds: f64,
    /// The part of it that the last iteration took, if that was not completed.
    pub unfinished: f64,
    /// The same, if that iteration did not change the best move either.
    pub wasted: f64,
}

/// An alpha-beta engine: an evaluator, and a transposition table that later searches reuse.
///
/// ```
/// use std::sync::Arc;
///
/// use outflank::eval::positional::Positional;
/// use outflank::game::{Board, Goal, Square8};
/// use outflank::search::alphabeta::{AlphaBetaSearch, Search, SearchLimits};
///
/// let evaluator = Arc::new(Positional::<Square8>::new(Goal::Most));
/// let mut search = AlphaBetaSearch::new(Goal::Most, evaluator, 1 << 20);
/// let found = search.think(Board::start(), &SearchLimits::depth(4)).expect("a legal move");
/// assert_eq!((found.depth, found.exact), (4, false));
/// assert_eq!(found.pv[0], found.square);
/// ```
pub struct AlphaBetaSearch<G: Geometry, E: Evaluator<G>> {
    goal: Goal,
    table: TranspositionTable,
    active: ActivePositions,
    stop: Stop,
    evaluator: Arc<E>,
    checks: Option<[Checks; 2]>,
    shape: std::marker::PhantomData<G>,
}

/// An iteration to the end of the game follows once it is at most this many plies deeper than the
/// last one.
const LAST_JUMP: u32 = 8;

/// The second iteration to the end of the game that skips subtrees tolerates errors this many times
/// as great as the first. On 276 hard positions with 20 empty squares, 100 ms a move, 1.5 lost 0.29
/// discs a move (standard error 0.06), 1.3 and 1.8 lost 0.36 and 0.31, and no second one 0.47.
const SECOND_MARGIN: f32 = 1.5;

/// The subtrees that an iteration skips.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Skips {
    /// Those that Multi-ProbCut skips, if there is any.
    Many,
    /// The same with [`SECOND_MARGIN`], to the end of the game.
    Few,
    /// None, to the end of the game: it is exact.
    Nothing,
}

/// Added to the depth of an entry of the table from [`Skips::Few`]: more than any depth.
const FEW_SKIPPED: u8 = 100;

impl Skips {
    /// The depth of the table's entry for a search of this depth.
    fn entry_depth(self, depth: u32) -> u8 {
        match self {
            Skips::Many => depth as u8,
            Skips::Few => depth as u8 + FEW_SKIPPED,
            Skips::Nothing => Entry::EXACT,
        }
    }

    /// Whether an entry of the table can replace a search of this depth: it must be as deep, and skip
    /// no more subtrees. The shallow searches of Multi-ProbCut leave entries too.
    fn accepts(self, entry: u8, depth: u32) -> bool {
        let from_few = (FEW_SKIPPED..Entry::EXACT).contains(&entry);
        let found = if from_few && self == Skips::Many { entry - FEW_SKIPPED } else { entry };
        found >= self.entry_depth(depth)
    }
}

/// One iteration of a search.
#[derive(Clone, Copy)]
struct Iteration {
    depth: u32,
    skips: Skips,
}

/// The iterations of a search to at most the depth `deepest`. With ProbCut an iteration to the end
/// of the game skips lines; one that skips fewer and an exact one follow if an exact one is `wanted`.
fn iterations(
    empties: u32,
    deepest: u32,
    probcut: bool,
    wanted: bool,
) -> impl Iterator<Item = Iteration> {
    let many = |depth| Iteration { depth, skips: Skips::Many };
    let last = move |skips| Iteration { depth: empties, skips };
    let ends = deepest == empties;
    let shallow = if ends { empties.saturating_sub(LAST_JUMP).max(1) } else { deepest };
    let shallow = (1..=shallow).filter(move |&depth| depth < empties).map(many);
    let first = (ends && probcut).then_some(last(Skips::Many));
    let second = (ends && probcut && wanted).then_some(last(Skips::Few));
    let exact = (ends && (wanted || !probcut)).then_some(last(Skips::Nothing));
    shallow.chain(first).chain(second).chain(exact)
}

/// The depths at which an analysis of rising depth looks at all moves: every one up to `deepest`,
/// but near the end of the game the last one follows at once, as in a single search.
///
/// ```
/// use outflank::search::alphabeta::depths;
///
/// assert!(depths(60, 4).eq([1, 2, 3, 4]));
/// assert!(depths(12, 12).eq([1, 2, 3, 4, 12]), "the end of the game is near");
/// ```
pub fn depths(empties: u32, deepest: u32) -> impl Iterator<Item = u32> {
    let deepest = deepest.clamp(1, empties);
    iterations(empties, deepest, false, true).map(|iteration| iteration.depth)
}

/// The position of a search, with the moves that are searched.
struct Root<G: Geometry, S> {
    board: TrackedBoard<G, S>,
    moves: SquareSet<G>,
}

/// The best root move so far and its score.
#[derive(Clone, Copy)]
struct BestMove {
    square: Square,
    score: i32,
}

impl<G: Geometry, E: Evaluator<G>> AlphaBetaSearch<G, E> {
    /// An engine whose table takes at most `table_bytes`. `goal` must be the evaluator's.
    pub fn new(goal: Goal, evaluator: Arc<E>, table_bytes: usize) -> Self {
        AlphaBetaSearch {
            goal,
            table: TranspositionTable::new(table_bytes),
            active: ActivePositions::new(),
            stop: Stop::default(),
            evaluator,
            checks: None,
            shape: std::marker::PhantomData,
        }
    }

    /// The same engine with Multi-ProbCut. It skips a subtree if a shallow search predicts a score
    /// outside the window by this many standard deviations. Scores that are not exact can then
    /// differ from those of the full search.
    ///
    /// # Errors
    ///
    /// [`NoProbCut`] if the evaluator has no parameters.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use outflank::eval::Discs;
    /// use outflank::eval::positional::Positional;
    /// use outflank::eval::probcut::deviations;
    /// use outflank::game::{Goal, Square8};
    /// use outflank::search::alphabeta::AlphaBetaSearch;
    ///
    /// let evaluator = Arc::new(Positional::<Square8>::new(Goal::Most));
    /// let search = AlphaBetaSearch::new(Goal::Most, evaluator, 1 << 20);
    /// // Each check is right in 90 % of the cases.
    /// assert!(search.with_probcut(deviations(90.0)).is_ok());
    /// let discs = Arc::new(Discs { goal: Goal::Most });
    /// let search = AlphaBetaSearch::<Square8, _>::new(Goal::Most, discs, 1 << 20);
    /// assert!(search.with_probcut(1.5).is_err(), "nobody has measured its parameters");
    /// ```
    pub fn with_probcut(self, deviations: f32) -> Result<Self, NoProbCut> {
        let parameters = self.evaluator.probcut().ok_or(NoProbCut)?;
        let checks = [1.0, SECOND_MARGIN].map(|times| Checks::new(parameters, times * deviations));
        Ok(AlphaBetaSearch { checks: Some(checks), ..self })
    }

    /// The result after an iteration.
    fn result(
        &self,
        board: Board<G>,
        (iteration, best): (Iteration, BestMove),
        clock: &SearchClock<'_>,
    ) -> SearchResult {
        SearchResult {
            square: best.square,
            score: best.score as f32 / SCALE as f32,
            exact: iteration.skips == Skips::Nothing,
            depth: iteration.depth,
            nodes: clock.nodes(),
            pv: self.variation(board, best.square, iteration.depth),
            seconds: clock.elapsed().as_secs_f64(),
            unfinished: 0.0,
            wasted: 0.0,
        }
    }

    /// Runs one iteration on all threads; it ends when the first thread completes it. Also returns
    /// whether a thread completed it. If not, the best move is that of the last iteration or a move
    /// that this iteration found to be better.
    fn iterate(
        &self,
        root: &Root<G, E::State>,
        iteration: Iteration,
        last: BestMove,
        clock: &SearchClock<'_>,
        threads: usize,
    ) -> (BestMove, bool) {
        let done = AtomicBool::new(false);
        let work = || {
            let mut worker = Worker::new(self, clock, &done, threads > 1);
            let found = worker.aspiration_search(root, iteration, last);
            worker.report();
            done.fetch_or(found.1, Ordering::Relaxed);
            found
        };
        // Starting threads takes longer than a shallow iteration.
        let helpers = if iteration.depth > SHARED_DEPTH { threads.saturating_sub(1) } else { 0 };
        std::thread::scope(|scope| {
            let handles: Vec<_> = (0..helpers).map(|_| scope.spawn(work)).collect();
            let mut found = work();
            for handle in handles {
                // A panic of a helper thread is a bug; it continues in this thread.
                let other = handle.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                if other.1 && !found.1 {
                    found = other;
                }
            }
            found
        })
    }

    /// The principal variation that starts with `first`, at most `depth` moves, from the table.
    fn variation(&self, board: Board<G>, first: Square, depth: u32) -> Vec<Square> {
        let mut line = vec![first];
        let mut board = board.play_unchecked(first);
        while line.len() < depth as usize {
            if board.legal().is_empty() {
                board = board.pass();
            }
            let best = self.table.get(Key::of(board)).and_then(|entry| entry.best);
            let Some(next) = best.and_then(|square| Some((square, board.play(square)?))) else {
                break;
            };
            line.push(next.0);
            board = next.1;
        }
        line
    }
}

impl<G: Geometry, E: Evaluator<G>> Search<G> for AlphaBetaSearch<G, E> {
    fn forget(&mut self) {
        self.table.forget();
    }

    fn set_stop(&mut self, stop: Stop) {
        self.stop = stop;
    }

    fn think_with_progress(
        &mut self,
        board: Board<G>,
        limits: &SearchLimits,
        mut on_iteration: Option<&mut dyn FnMut(&SearchResult)>,
    ) -> Option<SearchResult> {
        let moves = SquareSet::<G>(board.legal().0 & !G::Bitboard::narrow(limits.skipped));
        let first = moves.into_iter().next()?;
        let empties = board.empties();
        let solves = empties <= limits.solve_empties;
        let SearchLimits { threads, skipped, .. } = *limits;
        let unlimited = SearchLimits { threads, skipped, ..SearchLimits::default() };
        let limits = if solves { &unlimited } else { limits };
        self.table.age();
        let clock = SearchClock::start(limits, empties, Some(&self.stop));
        let deepest = limits.depth.unwrap_or(u32::MAX).clamp(1, empties);
        let root = Root { board: TrackedBoard::begin(&*self.evaluator, board), moves };
        let nothing = Iteration { depth: 0, skips: Skips::Many };
        let mut found = (nothing, BestMove { square: first, score: 0 });
        for iteration in iterations(empties, deepest, self.checks.is_some(), limits.exact) {
            if found.0.depth > 0 && !clock.allows_another_iteration() {
                break;
            }
            let begun = clock.elapsed();
            let (best, complete) = self.iterate(&root, iteration, found.1, &clock, limits.threads);
            if !complete {
                let unfinished = (clock.elapsed() - begun).as_secs_f64();
                let is_changed = found.0.depth > 0 && best.square != found.1.square;
                let result = self.result(board, (found.0, best), &clock);
                let wasted = if is_changed { 0.0 } else { unfinished };
                return Some(SearchResult { unfinished, wasted, ..result });
            }
            found = (iteration, best);
            let is_last = iteration.skips == Skips::Nothing
                || iteration.depth == deepest && deepest < empties;
            if !is_last && let Some(on_iteration) = &mut on_iteration {
                on_iteration(&self.result(board, found, &clock));
            }
        }
        Some(self.result(board, found, &clock))
    }

    fn win_scale(&self) -> WinScale {
        self.evaluator.win_scale()
    }
}

#[cfg(test)]
mod tests;
