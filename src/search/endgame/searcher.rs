//! The tree above the last empties: table, ordering, stability, and the sharing of work.

use std::sync::atomic::{AtomicBool, Ordering};

use super::last::{Leaves, NONE, played};
use super::parity;
use crate::game::{Board, Geometry, Goal, Square, SquareSet, Word};
use crate::search::busy::Busy;
use crate::search::clock::Clock;
use crate::search::table::{Entry, Key, Table};

/// With at most this many empties neither table nor sorting pays.
const SHALLOW: u32 = 6;

/// With at least this many empties threads share their work.
pub(super) const SHARED: u32 = 12;
/// With at least this many empties a node looks whether the solve is over.
const CHECKED: u32 = 10;

/// The value of a move that is put off because another thread is at it.
const DEFERRED: i32 = i32::MIN;

/// What the threads of one solve have in common.
#[derive(Clone, Copy)]
pub(super) struct Shared<'a> {
    pub goal: Goal,
    pub table: &'a Table,
    pub clock: &'a Clock,
    /// Set when a thread has the answer.
    pub done: &'a AtomicBool,
    /// Where threads say what they are at; none with one thread.
    pub busy: Option<&'a Busy>,
}

/// A move to be searched.
#[derive(Clone, Copy)]
pub(super) struct Candidate<G: Geometry> {
    square: Square,
    board: Board<G>,
    value: i32,
}

/// One thread of a solve.
pub(super) struct Searcher<'a, G: Geometry> {
    pub(super) shared: Shared<'a>,
    leaves: Leaves,
    /// The moves of all nodes between the root and the current one.
    pub(super) candidates: Vec<Candidate<G>>,
    /// Whether the solve is over for this thread; scores then mean nothing.
    pub(super) halted: bool,
    /// Positions reported to the clock so far.
    reported: u64,
}

impl<'a, G: Geometry> Searcher<'a, G> {
    pub(super) fn new(shared: Shared<'a>, candidates: Vec<Candidate<G>>) -> Self {
        Searcher {
            shared,
            leaves: Leaves::new(shared.goal),
            candidates,
            halted: false,
            reported: 0,
        }
    }

    /// Tells the clock how many positions were visited, and learns whether to go on.
    pub(super) fn report(&mut self) {
        let visited = self.leaves.nodes - self.reported;
        self.reported = self.leaves.nodes;
        self.halted |= self.shared.clock.spend(visited) || self.shared.done.load(Ordering::Relaxed);
    }

    /// The score if it lies between `alpha` and `beta`, else a bound on the same side.
    pub(super) fn search(&mut self, board: Board<G>, alpha: i32, beta: i32) -> i32 {
        let empties = board.empties();
        if empties > SHALLOW {
            self.deep(board, alpha, beta, empties)
        } else if beta - alpha == 1 {
            self.shallow(board, alpha, empties)
        } else {
            self.wide(board, alpha, beta)
        }
    }

    /// A wide window among the last empties: rare, so without refinements.
    fn wide(&mut self, board: Board<G>, alpha: i32, beta: i32) -> i32 {
        self.leaves.nodes += 1;
        let legal = board.legal();
        if legal.is_empty() {
            return self.pass(board, alpha, beta);
        }
        let mut best = NONE;
        for square in legal {
            let child = board.play_unchecked(square);
            best = best.max(self.descend(child, alpha.max(best), beta, best == NONE));
            if best >= beta {
                break;
            }
        }
        best
    }

    fn pass(&mut self, board: Board<G>, alpha: i32, beta: i32) -> i32 {
        let passed = board.pass();
        if passed.legal().is_empty() {
            return self.leaves.finished(board);
        }
        -self.search(passed, -beta, -alpha)
    }

    /// The score of the move that led to `child`: the first with the full window, the others
    /// with a null window that is opened only if they turn out better.
    fn descend(&mut self, child: Board<G>, alpha: i32, beta: i32, first: bool) -> i32 {
        if first {
            return -self.search(child, -beta, -alpha);
        }
        let score = -self.search(child, -alpha - 1, -alpha);
        if score > alpha && score < beta && !self.halted {
            return -self.search(child, -beta, -score);
        }
        score
    }

    /// Few empties and a null window.
    fn shallow(&mut self, board: Board<G>, alpha: i32, empties: u32) -> i32 {
        if empties <= 4 {
            return self.last(board, alpha, empties);
        }
        self.leaves.nodes += 1;
        let empty = board.empty().0;
        let first = parity::squares::<G>(parity::odd::<G>(empty));
        let mut best = NONE;
        for mut set in [empty & first, empty & !first] {
            while !set.is_zero() {
                if let Some(child) = played(board, set.lowest()) {
                    best = best.max(-self.shallow(child, -alpha - 1, empties - 1));
                    if best > alpha {
                        return best;
                    }
                }
                set = set.without_lowest();
            }
        }
        if best > NONE { best } else { self.pass(board, alpha, alpha + 1) }
    }

    fn last(&mut self, board: Board<G>, alpha: i32, empties: u32) -> i32 {
        let empty = board.empty().0;
        let mut bits = [0; 4];
        let first = parity::squares::<G>(parity::odd::<G>(empty));
        let mut count = 0;
        for mut set in [empty & first, empty & !first] {
            while !set.is_zero() && count < 4 {
                bits[count] = set.lowest();
                count += 1;
                set = set.without_lowest();
            }
        }
        let [w, x, y, z] = bits;
        match empties {
            4 => self.leaves.last4(board, [w, x, y, z], alpha),
            3 => self.leaves.last3(board, [w, x, y], alpha),
            2 => self.leaves.last2(board, [w, x], alpha),
            1 => self.leaves.last1(board, w),
            _ => self.leaves.finished(board),
        }
    }

    /// Many empties.
    fn deep(&mut self, board: Board<G>, alpha: i32, beta: i32, empties: u32) -> i32 {
        self.leaves.nodes += 1;
        if empties >= CHECKED {
            self.report();
            if self.halted {
                return alpha;
            }
        }
        let most = G::SQUARES as i32;
        let legal = board.legal();
        if legal.is_empty() {
            return self.pass(board, alpha, beta);
        }
        if let Some(bound) = self.stable_bound(board, alpha) {
            return bound;
        }
        let key = Key::of(board);
        let known = self.shared.table.get(key);
        if let Some(entry) = known.filter(|entry| entry.depth == Entry::EXACT) {
            let (lower, upper) = (i32::from(entry.lower), i32::from(entry.upper));
            if lower >= beta || lower == upper {
                return lower;
            } else if upper <= alpha {
                return upper;
            }
        }
        let hint = known.and_then(|entry| entry.best);
        let start = self.push(board, legal, hint);
        let (best, square) = self.try_all(start, alpha, beta, empties);
        self.candidates.truncate(start);
        if !self.halted {
            let lower = if best > alpha { best } else { -most };
            let upper = if best < beta { best } else { most };
            let (lower, upper) = (lower as i16, upper as i16);
            self.shared.table.put(key, Entry { lower, upper, depth: Entry::EXACT, best: square });
        }
        best
    }

    /// A bound at or below `alpha` from discs that can never turn.
    fn stable_bound(&self, board: Board<G>, alpha: i32) -> Option<i32> {
        let most = G::SQUARES as i32;
        let harmful = match self.shared.goal {
            Goal::Most => board,
            Goal::Fewest => board.pass(),
        };
        if most - 2 * harmful.theirs.count() as i32 > alpha {
            return None;
        }
        let bound = most - 2 * harmful.their_stable().len() as i32;
        (bound <= alpha).then_some(bound)
    }

    fn push(&mut self, board: Board<G>, legal: SquareSet<G>, hint: Option<Square>) -> usize {
        let start = self.candidates.len();
        let odd = parity::squares::<G>(parity::odd::<G>(board.empty().0));
        for square in legal {
            let child = board.play_unchecked(square);
            let replies = child.legal();
            let mut value = -(replies.len() as i32) * 4;
            if !(odd & G::mask(square)).is_zero() {
                value += 2;
            }
            if hint == Some(square) {
                value = i32::MAX;
            }
            self.candidates.push(Candidate { square, board: child, value });
        }
        start
    }

    fn take_best(&mut self, from: usize) -> Option<Candidate<G>> {
        let rest = self.candidates.get_mut(from..)?;
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

    /// The best of the moves from index `start` on.
    fn try_all(
        &mut self,
        start: usize,
        alpha: i32,
        beta: i32,
        empties: u32,
    ) -> (i32, Option<Square>) {
        let busy = self.shared.busy.filter(|_| empties >= SHARED);
        let (mut best, mut square) = (NONE, None);
        for index in start.. {
            let Some(candidate) = self.take_best(index) else { break };
            let key = if busy.is_some() { Key::of(candidate.board) } else { Key::default() };
            let put_off = index > start && candidate.value > DEFERRED;
            if put_off && busy.is_some_and(|busy| busy.contains(key)) {
                self.candidates.push(Candidate { value: DEFERRED, ..candidate });
                continue;
            }
            if let Some(busy) = busy {
                busy.enter(key);
            }
            let score = self.descend(candidate.board, alpha.max(best), beta, index == start);
            if let Some(busy) = busy {
                busy.leave(key);
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
