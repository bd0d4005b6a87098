//! Alpha-beta with an evaluator at the leaves: iterative deepening principal-variation search.
//!
//! Scores inside are in units of 1 / [`SCALE`] disc for the side to move. A pass is no ply of
//! depth, so all leaves of an iteration have the same number of discs, and an iteration whose
//! depth is the number of empties is exact.

mod probcut;
mod worker;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::busy::Busy;
use super::clock::SearchClock;
pub use super::clock::SearchLimits;
use super::stop::Stop;
use super::table::{Key, TranspositionTable};
use crate::eval::{Evaluator, SCALE};
use crate::game::{Board, Geometry, Goal, Square};
use probcut::Checks;
pub use probcut::NoProbCut;
use worker::Worker;

/// From this depth on threads share their work.
const SHARED_DEPTH: u32 = 4;

/// What a search found.
#[derive(Clone, PartialEq, Debug)]
pub struct SearchResult {
    /// The best move.
    pub square: Square,
    /// The expected final score for the side to move, in discs.
    pub score: f32,
    /// Whether the score is the result of perfect play.
    pub exact: bool,
    /// Plies looked ahead by the last complete iteration.
    pub depth: u32,
    /// Positions visited by all threads.
    pub nodes: u64,
    /// The expected line of play, passes left out; starts with the best move.
    pub pv: Vec<Square>,
    /// Time spent.
    pub seconds: f64,
}

/// An engine: an evaluator, and a table that lives as long as the engine does.
pub struct AlphaBetaSearch<G: Geometry, E: Evaluator<G> + ?Sized = dyn Evaluator<G>> {
    goal: Goal,
    table: TranspositionTable,
    busy: Busy,
    stop: Stop,
    evaluator: Arc<E>,
    checks: Option<Checks>,
    shape: std::marker::PhantomData<G>,
}

/// A root move and the score that it was given, if it was the best so far.
#[derive(Clone, Copy)]
struct Best {
    square: Square,
    score: i32,
}

impl<G: Geometry, E: Evaluator<G> + ?Sized> AlphaBetaSearch<G, E> {
    /// An engine whose table takes at most `table_bytes`. `goal` must be the evaluator's.
    pub fn new(goal: Goal, evaluator: Arc<E>, table_bytes: usize) -> Self {
        AlphaBetaSearch {
            goal,
            table: TranspositionTable::new(table_bytes),
            busy: Busy::new(),
            stop: Stop::default(),
            evaluator,
            checks: None,
            shape: std::marker::PhantomData,
        }
    }

    /// The same engine with Multi-ProbCut: it leaves out what shallower searches foretell to be
    /// outside the window by so many standard deviations, and so is no longer sure of a score
    /// that is not exact.
    ///
    /// # Errors
    ///
    /// An evaluator that carries no parameters.
    pub fn with_probcut(self, deviations: f32) -> Result<Self, NoProbCut> {
        let checks = Checks::new(self.evaluator.probcut().ok_or(NoProbCut)?, deviations);
        Ok(AlphaBetaSearch { checks: Some(checks), ..self })
    }

    /// Forgets what earlier searches found out, so that the next one depends on nothing else
    /// than its position and limits. Takes no time.
    pub fn forget(&mut self) {
        self.table.forget();
    }

    /// Searches from now on end early, with what they have found, once this flag is set.
    pub fn set_stop(&mut self, stop: Stop) {
        self.stop = stop;
    }

    /// Searches a position; `None` if the side to move has no legal move.
    ///
    /// With one thread and no limit on time the outcome depends only on the position, the
    /// limits and what the table holds.
    pub fn think(&mut self, board: Board<G>, limits: &SearchLimits) -> Option<SearchResult> {
        self.think_aloud(board, limits, None)
    }

    /// The same as [`AlphaBetaSearch::think`], and shows what each complete iteration but the last found
    /// to `watch`.
    pub fn think_aloud(
        &mut self,
        board: Board<G>,
        limits: &SearchLimits,
        mut watch: Option<&mut dyn FnMut(&SearchResult)>,
    ) -> Option<SearchResult> {
        let first = board.legal().next()?;
        let empties = board.empties();
        let solves = empties <= limits.solve_empties;
        let unlimited = SearchLimits { threads: limits.threads, ..SearchLimits::default() };
        let limits = if solves { &unlimited } else { limits };
        self.table.age();
        let clock = SearchClock::start(limits, empties, Some(&self.stop));
        let deepest = limits.depth.unwrap_or(u32::MAX).clamp(1, empties);
        let mut found = (0, Best { square: first, score: 0 });
        for depth in 1..=deepest {
            if depth > 1 && !clock.allows_another_iteration() {
                break;
            }
            let (best, complete) = self.iterate(board, depth, found.1, &clock, limits.threads);
            found = (if complete { depth } else { found.0 }, best);
            if !complete {
                break;
            }
            if depth < deepest
                && let Some(watch) = &mut watch
            {
                watch(&self.outcome(board, found, &clock));
            }
        }
        Some(self.outcome(board, found, &clock))
    }

    /// What is known after the iteration of a depth.
    fn outcome(
        &self,
        board: Board<G>,
        (depth, best): (u32, Best),
        clock: &SearchClock<'_>,
    ) -> SearchResult {
        SearchResult {
            square: best.square,
            score: best.score as f32 / SCALE as f32,
            exact: depth == board.empties(),
            depth,
            nodes: clock.nodes(),
            pv: self.variation(board, best.square, depth),
            seconds: clock.elapsed().as_secs_f64(),
        }
    }

    /// One iteration by all threads; whoever is done first ends it. Also says whether anybody
    /// completed it; if not, the best move is the last one's or one that proved better.
    fn iterate(
        &self,
        board: Board<G>,
        depth: u32,
        last: Best,
        clock: &SearchClock<'_>,
        threads: usize,
    ) -> (Best, bool) {
        let done = AtomicBool::new(false);
        let work = || {
            let mut worker = Worker::new(self, clock, &done, threads > 1);
            let found = worker.aspire(board, depth, last);
            worker.report();
            done.fetch_or(found.1, Ordering::Relaxed);
            found
        };
        // Starting a thread takes longer than a shallow iteration.
        let helpers = if depth > SHARED_DEPTH { threads.saturating_sub(1) } else { 0 };
        std::thread::scope(|scope| {
            let handles: Vec<_> = (0..helpers).map(|_| scope.spawn(work)).collect();
            let mut found = work();
            for handle in handles {
                // A panic in a helper is a bug, and is passed on.
                let other = handle.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                if other.1 && !found.1 {
                    found = other;
                }
            }
            found
        })
    }

    /// The line that the table expects from a position on.
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

#[cfg(test)]
mod tests;
