//! One thread's part of an alpha-beta iteration: principal-variation search.

use std::sync::atomic::{AtomicBool, Ordering};

use super::probcut::Checks;
use super::{AlphaBetaSearch, Best, SHARED_DEPTH};
use crate::eval::{Evaluator, SCALE};
use crate::game::{Board, Geometry, Square, SquareSet};
use crate::search::clock::SearchClock;
use crate::search::ordering::{Candidate, Candidates};
use crate::search::table::{Entry, Key};

/// From this depth on nodes use the table: asking it costs as much as a few leaves.
const TABLE_DEPTH: u32 = 3;
/// From this depth on nodes ask the table about the positions after their moves first.
const LOOK_AHEAD_DEPTH: u32 = TABLE_DEPTH + 1;
/// Below any score.
const LOWEST: i32 = i32::MIN / 2;
/// Half the width of the first window around the last iteration's score.
const ASPIRATION: i32 = 3 * SCALE / 2;

/// One thread's part of an iteration.
pub(super) struct Worker<'a, G: Geometry, E: Evaluator<G> + ?Sized> {
    pub(super) search: &'a AlphaBetaSearch<G, E>,
    clock: &'a SearchClock<'a>,
    done: &'a AtomicBool,
    shared: bool,
    /// By which nodes with a null window are cut; `None` where nothing may be guessed.
    pub(super) checks: Option<&'a Checks>,
    candidates: Candidates<G>,
    /// Positions visited and not yet reported to the clock.
    nodes: u64,
    /// As many of them are reported at once.
    interval: u64,
    /// Whether the iteration is over for this thread; scores then mean nothing.
    pub(super) halted: bool,
}

impl<'a, G: Geometry, E: Evaluator<G> + ?Sized> Worker<'a, G, E> {
    pub(super) fn new(
        search: &'a AlphaBetaSearch<G, E>,
        clock: &'a SearchClock<'a>,
        done: &'a AtomicBool,
        shared: bool,
    ) -> Self {
        let (candidates, interval) = (Candidates::new(), clock.interval());
        let (checks, nodes, halted) = (None, 0, false);
        Worker { search, clock, done, shared, checks, candidates, nodes, interval, halted }
    }

    pub(super) fn report(&mut self) {
        self.halted |= self.clock.spend(std::mem::take(&mut self.nodes));
    }

    fn visit(&mut self) {
        self.nodes += 1;
        if self.nodes >= self.interval {
            self.report();
        }
    }

    /// Searches the root with a narrow window around the last score, and widens it as needed.
    pub(super) fn aspire(&mut self, board: Board<G>, depth: u32, last: Best) -> (Best, bool) {
        let exact = depth == board.empties();
        self.checks = if exact { None } else { self.search.checks.as_ref() };
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
        let Candidate { board, legal, .. } = *candidate;
        if first {
            return -self.negamax(board, legal, depth - 1, -beta, -alpha);
        }
        let score = -self.negamax(board, legal, depth - 1, -alpha - 1, -alpha);
        if score > alpha && score < beta && !self.halted {
            return -self.negamax(board, legal, depth - 1, -beta, -score);
        }
        score
    }

    /// The score of a position if it lies between `alpha` and `beta`, else a bound on the same
    /// side of them.
    pub(super) fn negamax(
        &mut self,
        board: Board<G>,
        legal: SquareSet<G>,
        depth: u32,
        alpha: i32,
        beta: i32,
    ) -> i32 {
        self.visit();
        if depth == 0 {
            return self.search.evaluator.evaluate(board);
        }
        if legal.is_empty() {
            let passed = board.pass();
            let legal = passed.legal();
            if legal.is_empty() {
                return SCALE * board.final_score(self.search.goal);
            }
            return -self.negamax(passed, legal, depth, -beta, -alpha);
        }
        if depth == 1 {
            self.last_ply(board, legal, beta)
        } else {
            self.ordered(board, legal, depth, alpha, beta)
        }
    }

    /// The moves before the leaves, in any order.
    fn last_ply(&mut self, board: Board<G>, legal: SquareSet<G>, beta: i32) -> i32 {
        let mut best = LOWEST;
        for square in legal {
            self.visit();
            best = best.max(-self.search.evaluator.evaluate(board.play_unchecked(square)));
            if best >= beta {
                break;
            }
        }
        best
    }

    /// Like [`Worker::negamax`] for a position with legal moves: tries them in order, asks the
    /// table before and tells it afterwards.
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
        if depth < TABLE_DEPTH {
            let start = self.candidates.push(board, legal, None, &*self.search.evaluator);
            let (best, _) = self.try_all(start, depth, alpha, beta);
            self.candidates.pop(start);
            return best;
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
        let foretold = match self.checks {
            Some(_) if beta - alpha == 1 => self.foretell(board, legal, depth, beta),
            _ => None,
        };
        let (best, square) = match foretold {
            Some(bound) => (bound, hint),
            None => self.full(board, legal, depth, (alpha, beta), hint),
        };
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

    /// The best move and its score, by what the table knows of the positions after the moves or
    /// by trying all of them.
    fn full(
        &mut self,
        board: Board<G>,
        legal: SquareSet<G>,
        depth: u32,
        (alpha, beta): (i32, i32),
        hint: Option<Square>,
    ) -> (i32, Option<Square>) {
        let start = self.candidates.push(board, legal, hint, &*self.search.evaluator);
        let found = match self.known_after(start, depth, beta) {
            Some(known) => known,
            None => self.try_all(start, depth, alpha, beta),
        };
        self.candidates.pop(start);
        found
    }

    /// A move that the table knows to be worth at least `beta`.
    fn known_after(&self, start: usize, depth: u32, beta: i32) -> Option<(i32, Option<Square>)> {
        if depth < LOOK_AHEAD_DEPTH {
            return None;
        }
        self.candidates.of(start).iter().find_map(|candidate| {
            let entry = self.search.table.get(Key::of(candidate.board))?;
            let score = -i32::from(entry.upper);
            let enough = u32::from(entry.depth) >= depth - 1 && score >= beta;
            enough.then_some((score, Some(candidate.square)))
        })
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
