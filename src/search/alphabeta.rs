//! Alpha-beta with an evaluator at the leaves: iterative deepening principal-variation search.
//!
//! Scores inside are in units of 1 / [`SCALE`] disc for the side to move. A pass is no ply of
//! depth, so all leaves of an iteration have the same number of discs, and an iteration whose
//! depth is the number of empties is exact.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::busy::Busy;
use super::clock::Clock;
pub use super::clock::Limits;
use super::ordering::{Candidate, Candidates};
use super::table::{Entry, Key, Table};
use crate::eval::{Evaluator, SCALE};
use crate::game::{Board, Geometry, Goal, Square, SquareSet};

/// From this depth on nodes use the table and order their moves.
const ORDERED_DEPTH: u32 = 2;
/// From this depth on threads share their work.
const SHARED_DEPTH: u32 = 4;
/// Below any score.
const LOWEST: i32 = i32::MIN / 2;
/// Half the width of the first window around the last iteration's score.
const ASPIRATION: i32 = 3 * SCALE / 2;

/// What a search found.
#[derive(Clone, PartialEq, Debug)]
pub struct Outcome {
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
pub struct Search<G: Geometry, E: Evaluator<G> + ?Sized = dyn Evaluator<G>> {
    goal: Goal,
    table: Table,
    busy: Busy,
    evaluator: Arc<E>,
    shape: std::marker::PhantomData<G>,
}

/// A root move and the score that it was given, if it was the best so far.
#[derive(Clone, Copy)]
struct Best {
    square: Square,
    score: i32,
}

impl<G: Geometry, E: Evaluator<G> + ?Sized> Search<G, E> {
    /// An engine whose table takes at most `table_bytes`. `goal` must be the evaluator's.
    pub fn new(goal: Goal, evaluator: Arc<E>, table_bytes: usize) -> Self {
        let shape = std::marker::PhantomData;
        Search { goal, table: Table::new(table_bytes), busy: Busy::new(), evaluator, shape }
    }

    /// Forgets what earlier searches found out, so that the next one depends on nothing else
    /// than its position and limits. Takes no time.
    pub fn forget(&mut self) {
        self.table.forget();
    }

    /// Searches a position; `None` if the side to move has no legal move.
    ///
    /// With one thread and no limit on time the outcome depends only on the position, the
    /// limits and what the table holds.
    pub fn think(&mut self, board: Board<G>, limits: &Limits) -> Option<Outcome> {
        let first = board.legal().next()?;
        let empties = board.empties();
        let clock = Clock::start(limits, empties);
        self.table.age();
        let solve = if empties <= limits.solve_empties { empties } else { 0 };
        let deepest = limits.depth.unwrap_or(u32::MAX).max(solve).clamp(1, empties);
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
        }
        let (depth, best) = found;
        Some(Outcome {
            square: best.square,
            score: best.score as f32 / SCALE as f32,
            exact: depth == empties,
            depth,
            nodes: clock.nodes(),
            pv: self.variation(board, best.square, depth),
            seconds: clock.elapsed().as_secs_f64(),
        })
    }

    /// One iteration by all threads; whoever is done first ends it. Also says whether anybody
    /// completed it; if not, the best move is the last one's or one that proved better.
    fn iterate(
        &self,
        board: Board<G>,
        depth: u32,
        last: Best,
        clock: &Clock,
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

/// One thread's part of an iteration.
struct Worker<'a, G: Geometry, E: Evaluator<G> + ?Sized> {
    search: &'a Search<G, E>,
    clock: &'a Clock,
    done: &'a AtomicBool,
    shared: bool,
    candidates: Candidates<G>,
    /// Positions visited and not yet reported to the clock.
    nodes: u64,
    /// Whether the iteration is over for this thread; scores then mean nothing.
    halted: bool,
}

impl<'a, G: Geometry, E: Evaluator<G> + ?Sized> Worker<'a, G, E> {
    fn new(search: &'a Search<G, E>, clock: &'a Clock, done: &'a AtomicBool, shared: bool) -> Self {
        let candidates = Candidates::new();
        Worker { search, clock, done, shared, candidates, nodes: 0, halted: false }
    }

    fn report(&mut self) {
        self.halted |= self.clock.spend(std::mem::take(&mut self.nodes));
    }

    fn visit(&mut self) {
        self.nodes += 1;
        if self.nodes >= self.clock.interval() {
            self.report();
        }
    }

    /// Searches the root with a narrow window around the last score, and widens it as needed.
    fn aspire(&mut self, board: Board<G>, depth: u32, last: Best) -> (Best, bool) {
        let most = G::SQUARES as i32 * SCALE;
        let (mut below, mut above) = (ASPIRATION, ASPIRATION);
        if depth < 4 {
            (below, above) = (2 * most, 2 * most);
        }
        let mut best = last;
        loop {
            let alpha = (last.score - below).max(-most - 1);
            let beta = (last.score + above).min(most + 1);
            let (found, score) = self.root(board, depth, alpha, beta, best);
            best = found;
            if self.halted {
                return (best, false);
            } else if score <= alpha {
                below *= 4;
            } else if score >= beta {
                above *= 4;
            } else {
                return (best, true);
            }
        }
    }

    /// The best move, and the score or a bound on it. Where no move is better than `alpha` the
    /// best move stays what it was.
    fn root(
        &mut self,
        board: Board<G>,
        depth: u32,
        alpha: i32,
        beta: i32,
        last: Best,
    ) -> (Best, i32) {
        let mut best = last;
        let mut floor = alpha;
        let mut highest = LOWEST;
        let evaluator = &*self.search.evaluator;
        let start = self.candidates.push(board, board.legal(), Some(last.square), evaluator);
        for index in start.. {
            let Some(candidate) = self.candidates.best(index) else { break };
            let score = self.descend(&candidate, depth, floor, beta, index == start);
            if self.halted {
                break;
            }
            highest = highest.max(score);
            if score > floor {
                floor = score;
                best = Best { square: candidate.square, score };
            }
            if score >= beta {
                break;
            }
        }
        self.candidates.pop(start);
        (best, highest)
    }

    /// The score of a move: the first one with the full window, the others with a null window
    /// that is opened only if they turn out better.
    fn descend(
        &mut self,
        candidate: &Candidate<G>,
        depth: u32,
        alpha: i32,
        beta: i32,
        first: bool,
    ) -> i32 {
        let board = candidate.board;
        if first {
            return -self.negamax(board, depth - 1, -beta, -alpha);
        }
        let score = -self.negamax(board, depth - 1, -alpha - 1, -alpha);
        if score > alpha && score < beta && !self.halted {
            return -self.negamax(board, depth - 1, -beta, -score);
        }
        score
    }

    /// The score of a position if it lies between `alpha` and `beta`, else a bound on the same
    /// side of them.
    fn negamax(&mut self, board: Board<G>, depth: u32, alpha: i32, beta: i32) -> i32 {
        self.visit();
        let legal = board.legal();
        if legal.is_empty() {
            let passed = board.pass();
            if passed.legal().is_empty() {
                return SCALE * board.final_score(self.search.goal);
            }
            if depth > 0 {
                return -self.negamax(passed, depth, -beta, -alpha);
            }
        }
        match depth {
            0 => self.search.evaluator.evaluate(board),
            depth if depth < ORDERED_DEPTH => self.unordered(board, legal, depth, alpha, beta),
            _ => self.ordered(board, legal, depth, alpha, beta),
        }
    }

    fn unordered(
        &mut self,
        board: Board<G>,
        legal: SquareSet<G>,
        depth: u32,
        alpha: i32,
        beta: i32,
    ) -> i32 {
        let mut best = LOWEST;
        for square in legal {
            let child = board.play_unchecked(square);
            best = best.max(-self.negamax(child, depth - 1, -beta, -alpha.max(best)));
            if best >= beta {
                break;
            }
        }
        best
    }

    /// Like [`Worker::negamax`] for a position with legal moves: asks the table, tries the
    /// moves in order, and tells the table.
    fn ordered(
        &mut self,
        board: Board<G>,
        legal: SquareSet<G>,
        depth: u32,
        alpha: i32,
        beta: i32,
    ) -> i32 {
        if self.halted || self.done.load(Ordering::Relaxed) {
            self.halted = true;
            return 0;
        }
        let key = Key::of(board);
        let known = self.search.table.get(key);
        if let Some(entry) = known.filter(|entry| u32::from(entry.depth) >= depth) {
            let (lower, upper) = (i32::from(entry.lower), i32::from(entry.upper));
            if lower >= beta || lower == upper {
                return lower;
            } else if upper <= alpha {
                return upper;
            }
        }
        let hint = known.and_then(|entry| entry.best);
        let start = self.candidates.push(board, legal, hint, &*self.search.evaluator);
        let (best, square) = self.try_all(start, depth, alpha, beta);
        self.candidates.pop(start);
        if !self.halted {
            let most = G::SQUARES as i32 * SCALE;
            let lower = if best > alpha { best } else { -most };
            let upper = if best < beta { best } else { most };
            let depth = if depth >= board.empties() { Entry::EXACT } else { depth as u8 };
            let (lower, upper) = (lower as i16, upper as i16);
            self.search.table.put(key, Entry { lower, upper, depth, best: square });
        }
        best
    }

    /// The best of the moves from index `start` on.
    fn try_all(
        &mut self,
        start: usize,
        depth: u32,
        alpha: i32,
        beta: i32,
    ) -> (i32, Option<Square>) {
        let shared = self.shared && depth >= SHARED_DEPTH;
        let (mut best, mut square) = (LOWEST, None);
        for index in start.. {
            let Some(candidate) = self.candidates.best(index) else { break };
            let key = if shared { Key::of(candidate.board) } else { Key::default() };
            let deferrable = shared && index > start && !candidate.is_deferred();
            if deferrable && self.search.busy.contains(key) {
                self.candidates.defer(candidate);
                continue;
            }
            if shared {
                self.search.busy.enter(key);
            }
            let floor = alpha.max(best);
            let score = self.descend(&candidate, depth, floor, beta, index == start);
            if shared {
                self.search.busy.leave(key);
            }
            if self.halted {
                break;
            }
            if score > best {
                (best, square) = (score, Some(candidate.square));
            }
            if best >= beta {
                break;
            }
        }
        (best, square)
    }
}

#[cfg(test)]
#[path = "alphabeta_tests.rs"]
mod tests;
