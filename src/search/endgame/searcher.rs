//! The tree far from the end: table, ordering, stability, and the sharing of work.

use std::sync::atomic::{AtomicBool, Ordering};

use super::last::{Leaves, NONE};
use super::near::{NEAR, Near};
use super::order::Order;
use super::watch::Watch;
use crate::game::{Board, Geometry, Goal, Square, SquareSet};
use crate::search::busy::Busy;
use crate::search::clock::SearchClock;
use crate::search::table::{Entry, Key, TranspositionTable};

/// With at least this many empties threads share their work.
pub(super) const SHARED: u32 = 12;
/// With at least this many empties a node looks whether the solve is over.
const CHECKED: u32 = 12;
/// With at least this many empties a node looks in the table what is known after its moves.
const LOOK_AHEAD: u32 = NEAR + 2;

/// So many moves after the first are searched by all threads together where one of the first
/// moves should do: what others found out about the later ones would be of no use.
const TOGETHER: usize = 2;

/// The value of a move that is put off because another thread is at it.
const DEFERRED: i32 = i32::MIN;

/// What the threads of one solve have in common.
#[derive(Clone, Copy)]
pub(super) struct Shared<'a> {
    pub table: &'a TranspositionTable,
    pub clock: &'a SearchClock<'a>,
    /// Set when a thread has the answer.
    pub done: &'a AtomicBool,
    /// Where threads say what they are at; none with one thread.
    pub busy: Option<&'a Busy>,
    /// Who follows the moves of the root, if anyone does.
    pub watch: Option<&'a Watch>,
}

/// A move to be searched.
#[derive(Clone, Copy)]
pub(super) struct Candidate<G: Geometry> {
    pub square: Square,
    pub board: Board<G>,
    /// The replies to it.
    pub legal: SquareSet<G>,
    pub value: i32,
}

/// The score or a bound on it if what is known settles a window.
fn settled(entry: Entry, alpha: i32, beta: i32) -> Option<i32> {
    let (lower, upper) = (i32::from(entry.lower), i32::from(entry.upper));
    let exact = entry.depth == Entry::EXACT;
    if exact && (lower >= beta || lower == upper) {
        Some(lower)
    } else {
        (exact && upper <= alpha).then_some(upper)
    }
}

/// What is asked of a node.
#[derive(Clone, Copy)]
struct Window {
    key: Key,
    alpha: i32,
    beta: i32,
    /// Whether some move is expected to exceed a null window.
    cut: bool,
}

/// A node of the trail that another thread has settled.
#[derive(Clone, Copy)]
struct Needless {
    place: usize,
    bound: i32,
    best: Option<Square>,
}

/// Takes the best of the moves from index `from` on to that index.
#[inline(always)]
pub(super) fn take_best<G: Geometry>(
    candidates: &mut [Candidate<G>],
    from: usize,
) -> Option<Candidate<G>> {
    let rest = candidates.get_mut(from..)?;
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

/// What a thread keeps from one solve to the next.
pub(super) struct Memory<G: Geometry> {
    /// The moves of all nodes between the root and the current one.
    pub candidates: Vec<Candidate<G>>,
    pub near: Near<G>,
}

impl<G: Geometry> Memory<G> {
    pub(super) fn new(goal: Goal) -> Self {
        Memory { candidates: Vec::new(), near: Near::new(goal) }
    }
}

/// One thread of a solve.
pub(super) struct Searcher<'a, G: Geometry> {
    pub(super) shared: Shared<'a>,
    memory: &'a mut Memory<G>,
    order: &'a Order<G>,
    /// Empty squares of the root.
    root: u32,
    /// Whether this thread is on its way out of what it is searching; scores then mean nothing.
    pub(super) halted: bool,
    /// The nodes that are searched together with other threads, from the root down.
    trail: Vec<Window>,
    /// The node that others were faster with, while `halted` for that reason.
    needless: Option<Needless>,
    /// Positions visited and not in the count of `memory`.
    nodes: u64,
    /// Positions reported to the clock so far.
    reported: u64,
}

impl<'a, G: Geometry> Searcher<'a, G> {
    pub(super) fn new(shared: Shared<'a>, memory: &'a mut Memory<G>, order: &'a Order<G>) -> Self {
        memory.near.leaves.nodes = 0;
        Searcher {
            shared,
            memory,
            order,
            root: 0,
            halted: false,
            trail: Vec::new(),
            needless: None,
            nodes: 0,
            reported: 0,
        }
    }

    fn leaves(&mut self) -> &mut Leaves {
        &mut self.memory.near.leaves
    }

    /// Tells the clock how many positions were visited, and learns whether to go on.
    pub(super) fn report(&mut self) {
        let all = self.nodes + self.memory.near.leaves.nodes;
        let visited = all - self.reported;
        self.reported = all;
        self.halted |= self.shared.clock.spend(visited) || self.shared.done.load(Ordering::Relaxed);
    }

    /// The score if it lies between `alpha` and `beta`, else a bound on the same side.
    pub(super) fn search(&mut self, board: Board<G>, alpha: i32, beta: i32) -> i32 {
        self.root = board.empties();
        self.visit(board, board.legal(), alpha, beta, self.root)
    }

    /// Notes that a move of a node is searched to the end, if the node is a root that is watched.
    fn note(&self, empties: u32, square: Square, score: i32) {
        if let Some(watch) = self.shared.watch.filter(|_| empties == self.root) {
            watch.note(square, score);
        }
    }

    fn visit(
        &mut self,
        board: Board<G>,
        legal: SquareSet<G>,
        alpha: i32,
        beta: i32,
        empties: u32,
    ) -> i32 {
        if empties <= NEAR && beta - alpha == 1 {
            return self.memory.near.search(board, legal, alpha, empties);
        }
        self.nodes += 1;
        if legal.is_empty() {
            return self.pass(board, alpha, beta, empties);
        }
        if empties <= NEAR {
            return self.wide(board, legal, alpha, beta, empties);
        }
        if empties >= CHECKED {
            self.report();
            if self.halted {
                return alpha;
            }
        }
        self.deep(board, legal, alpha, beta, empties)
    }

    fn pass(&mut self, board: Board<G>, alpha: i32, beta: i32, empties: u32) -> i32 {
        let passed = board.pass();
        let legal = passed.legal();
        self.nodes -= 1;
        if legal.is_empty() {
            return self.leaves().finished(board);
        }
        -self.visit(passed, legal, -beta, -alpha, empties)
    }

    /// The score of the move that led to `child`: the first with the full window, the others
    /// with a null window that is opened only if they turn out better.
    fn descend(
        &mut self,
        candidate: &Candidate<G>,
        alpha: i32,
        beta: i32,
        first: bool,
        empties: u32,
    ) -> i32 {
        let (child, legal) = (candidate.board, candidate.legal);
        if first {
            return -self.visit(child, legal, -beta, -alpha, empties);
        }
        let score = -self.visit(child, legal, -alpha - 1, -alpha, empties);
        if score > alpha && score < beta && !self.halted {
            return -self.visit(child, legal, -beta, -score, empties);
        }
        score
    }

    /// A wide window with few empties: rare, so without the table.
    fn wide(
        &mut self,
        board: Board<G>,
        legal: SquareSet<G>,
        alpha: i32,
        beta: i32,
        empties: u32,
    ) -> i32 {
        let start = self.memory.near.push(&mut self.memory.candidates, board, legal, None);
        let (best, _) = self.try_all(start, alpha, beta, empties);
        self.memory.candidates.truncate(start);
        best
    }

    /// Many empties.
    fn deep(
        &mut self,
        board: Board<G>,
        legal: SquareSet<G>,
        alpha: i32,
        beta: i32,
        empties: u32,
    ) -> i32 {
        let most = G::SQUARES as i32;
        if let Some(bound) = self.leaves().stable_bound(board, alpha) {
            return bound;
        }
        let key = Key::of(board);
        let known = self.shared.table.get(key);
        if let Some(bound) = known.and_then(|entry| settled(entry, alpha, beta)) {
            return bound;
        }
        let hint = known.and_then(|entry| entry.best);
        let start = self.memory.candidates.len();
        for square in legal {
            let board = board.play_unchecked(square);
            let legal = board.legal();
            self.memory.candidates.push(Candidate { square, board, legal, value: 0 });
        }
        if empties >= LOOK_AHEAD
            && let Some(bound) = self.known_after(start, beta)
        {
            self.memory.candidates.truncate(start);
            return bound;
        }
        self.nodes += self.order.value(board, &mut self.memory.candidates[start..], hint);
        let busy = self.shared.busy.filter(|_| empties >= SHARED);
        let (best, square) = match busy {
            Some(busy) => self.try_shared(start, busy, self.window(key, alpha, beta), empties),
            None => self.try_all(start, alpha, beta, empties),
        };
        self.memory.candidates.truncate(start);
        if !self.halted {
            let lower = if best > alpha { best } else { -most };
            let upper = if best < beta { best } else { most };
            let (lower, upper) = (lower as i16, upper as i16);
            self.shared.table.put(key, Entry { lower, upper, depth: Entry::EXACT, best: square });
        }
        best
    }

    /// A score of at least `beta` that the table knows of a move.
    fn known_after(&self, start: usize, beta: i32) -> Option<i32> {
        self.memory.candidates[start..].iter().find_map(|candidate| {
            let entry = self.shared.table.get(Key::of(candidate.board))?;
            let score = -i32::from(entry.upper);
            (entry.depth == Entry::EXACT && score >= beta).then_some(score)
        })
    }

    /// The best of the moves from index `start` on.
    fn try_all(
        &mut self,
        start: usize,
        alpha: i32,
        beta: i32,
        empties: u32,
    ) -> (i32, Option<Square>) {
        let (mut best, mut square) = (NONE, None);
        for index in start.. {
            let Some(candidate) = take_best(&mut self.memory.candidates, index) else { break };
            let score =
                self.descend(&candidate, alpha.max(best), beta, index == start, empties - 1);
            if self.halted {
                break;
            }
            self.note(empties, candidate.square, score);
            if score > best {
                (best, square) = (score, Some(candidate.square));
            }
            if best >= beta {
                break;
            }
        }
        (best, square)
    }

    fn window(&self, key: Key, alpha: i32, beta: i32) -> Window {
        let expected = |above: &Window| {
            // After a pass it is the same side's turn as above.
            above.beta - above.alpha > 1 || above.cut == (above.alpha == alpha)
        };
        let cut = beta - alpha == 1 && self.trail.last().is_some_and(expected);
        Window { key, alpha, beta, cut }
    }

    /// Like [`Searcher::try_all`] for a node that other threads search as well: moves that
    /// they are at come last.
    fn try_shared(
        &mut self,
        start: usize,
        busy: &Busy,
        window: Window,
        empties: u32,
    ) -> (i32, Option<Square>) {
        let Window { alpha, beta, cut, .. } = window;
        // With a wide window a better move narrows it for all that follow.
        let wide = beta - alpha > 1;
        let split = if wide { usize::MAX } else { start + if cut { TOGETHER } else { 0 } };
        let place = self.trail.len();
        self.trail.push(window);
        let (mut best, mut square) = (NONE, None);
        for index in start.. {
            let Some(candidate) = take_best(&mut self.memory.candidates, index) else { break };
            let key = Key::of(candidate.board);
            if index > split && candidate.value > DEFERRED && busy.contains(key) {
                self.memory.candidates.push(Candidate { value: DEFERRED, ..candidate });
                continue;
            }
            busy.enter(key);
            let score =
                self.descend(&candidate, alpha.max(best), beta, index == start, empties - 1);
            busy.leave(key);
            if let Some(found) = self.overtaken(place) {
                (best, square) = found;
                break;
            }
            if self.halted {
                break;
            }
            self.note(empties, candidate.square, score);
            if score > best {
                (best, square) = (score, Some(candidate.square));
            }
            if best >= beta {
                break;
            }
        }
        self.trail.truncate(place);
        (best, square)
    }

    /// What other threads have found out about the node at a place of the trail meanwhile. If
    /// they have settled a node further up, this thread is on its way back there from now on.
    fn overtaken(&mut self, place: usize) -> Option<(i32, Option<Square>)> {
        if !self.halted {
            let mut trail = self.trail.iter().enumerate();
            self.needless = trail.find_map(|(place, window)| {
                let entry = self.shared.table.get(window.key)?;
                let bound = settled(entry, window.alpha, window.beta)?;
                Some(Needless { place, bound, best: entry.best })
            });
            self.halted = self.needless.is_some();
        }
        let Needless { bound, best, .. } = self.needless.filter(|node| node.place == place)?;
        (self.halted, self.needless) = (false, None);
        Some((bound, best))
    }
}
