//! The search of nodes with many empties: transposition table, move ordering, stable discs, and
//! several threads on one tree.

use std::sync::atomic::{AtomicBool, Ordering};

use super::leaf_solver::{LeafSolver, NO_MOVE};
use super::monitor::SolveMonitor;
use super::near_end::{NEAR_END, NearEndSearch};
use super::order::{Candidate, MoveOrdering, take_best};
use crate::game::{Board, Geometry, Goal, Square, SquareSet};
use crate::search::active::ActivePositions;
use crate::search::clock::SearchClock;
use crate::search::table::{Entry, Key, TranspositionTable};

/// With at least this many empties, threads share their work.
pub(super) const SHARED_EMPTIES: u32 = 12;
/// With at least this many empties, a node checks whether the solve must stop.
const STOP_CHECK: u32 = 12;
/// With at least this many empties, a node first looks up the positions after its moves: the
/// enhanced transposition cutoff (ETC).
const ETC_EMPTIES: u32 = NEAR_END + 2;

/// How many moves after the first are never deferred at a cut node. One of the first moves should
/// cut, and results for later ones would then be useless.
const UNDEFERRED_MOVES: usize = 2;

/// The value of a move that is deferred because another thread is searching it.
const DEFERRED: i32 = i32::MIN;

/// What the threads of one solve share.
#[derive(Clone, Copy)]
pub(super) struct Shared<'a> {
    pub table: &'a TranspositionTable,
    pub clock: &'a SearchClock<'a>,
    /// Set when a thread has the result.
    pub done: &'a AtomicBool,
    /// The positions that threads are searching; `None` with one thread.
    pub active: Option<&'a ActivePositions>,
    /// Gets the completed moves of the root, if another thread reads the progress.
    pub monitor: Option<&'a SolveMonitor>,
}

/// The score or a bound on it, if an entry of the table decides the window.
fn table_cutoff(entry: Entry, alpha: i32, beta: i32) -> Option<i32> {
    let (lower, upper) = (i32::from(entry.lower), i32::from(entry.upper));
    let exact = entry.depth == Entry::EXACT;
    if exact && (lower >= beta || lower == upper) {
        Some(lower)
    } else {
        (exact && upper <= alpha).then_some(upper)
    }
}

/// A node of the path that threads share, with its window.
#[derive(Clone, Copy)]
struct Window {
    key: Key,
    alpha: i32,
    beta: i32,
    /// Whether a move is expected to exceed a null window; `false` for a wide window.
    cut_node: bool,
}

/// A node of the shared path whose window another thread has decided.
#[derive(Clone, Copy)]
struct SettledNode {
    /// The index of the node in the shared path.
    level: usize,
    bound: i32,
    best: Option<Square>,
}

/// The memory of a thread, kept from one solve to the next.
pub(super) struct ThreadState<G: Geometry> {
    /// The moves of all nodes on the path from the root to the current node.
    pub candidates: Vec<Candidate<G>>,
    pub near_end: NearEndSearch<G>,
}

impl<G: Geometry> ThreadState<G> {
    pub(super) fn new(goal: Goal) -> Self {
        ThreadState { candidates: Vec::new(), near_end: NearEndSearch::new(goal) }
    }
}

/// One thread of a solve.
pub(super) struct Searcher<'a, G: Geometry> {
    pub(super) shared: Shared<'a>,
    state: &'a mut ThreadState<G>,
    order: &'a dyn MoveOrdering<G>,
    /// The number of empties of the root.
    root: u32,
    /// Whether this thread is returning early. Scores are then meaningless.
    pub(super) halted: bool,
    /// The nodes of the current path that other threads search as well, from the root down.
    shared_path: Vec<Window>,
    /// The node to which the thread returns because another thread has decided it.
    settled_node: Option<SettledNode>,
    /// Positions visited, without those that `state` counts.
    nodes: u64,
    /// Positions reported to the clock so far.
    reported: u64,
}

impl<'a, G: Geometry> Searcher<'a, G> {
    pub(super) fn new(
        shared: Shared<'a>,
        state: &'a mut ThreadState<G>,
        order: &'a dyn MoveOrdering<G>,
    ) -> Self {
        state.near_end.leaf_solver.nodes = 0;
        Searcher {
            shared,
            state,
            order,
            root: 0,
            halted: false,
            shared_path: Vec::new(),
            settled_node: None,
            nodes: 0,
            reported: 0,
        }
    }

    fn leaf_solver(&mut self) -> &mut LeafSolver {
        &mut self.state.near_end.leaf_solver
    }

    /// Reports the visited positions to the clock, and sets `halted` if the solve must stop.
    pub(super) fn report(&mut self) {
        let all = self.nodes + self.state.near_end.leaf_solver.nodes;
        let visited = all - self.reported;
        self.reported = all;
        self.halted |= self.shared.clock.spend(visited) || self.shared.done.load(Ordering::Relaxed);
    }

    /// The score if it lies between `alpha` and `beta`, else a bound on the same side of both.
    pub(super) fn search(&mut self, board: Board<G>, alpha: i32, beta: i32) -> i32 {
        self.root = board.empties();
        self.visit(board, board.legal(), alpha, beta, self.root)
    }

    /// Reports a completed move to the monitor, if the node is the root and there is a monitor.
    fn note(&self, empties: u32, square: Square, score: i32) {
        if let Some(monitor) = self.shared.monitor.filter(|_| empties == self.root) {
            monitor.note(square, score);
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
        if empties <= NEAR_END && beta - alpha == 1 {
            return self.state.near_end.search(board, legal, alpha, empties);
        }
        self.nodes += 1;
        if legal.is_empty() {
            return self.pass(board, alpha, beta, empties);
        }
        if empties <= NEAR_END {
            return self.wide(board, legal, alpha, beta, empties);
        }
        if empties >= STOP_CHECK {
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
            return self.leaf_solver().finished(board);
        }
        -self.visit(passed, legal, -beta, -alpha, empties)
    }

    /// The score of a move. The first move is searched with the full window, the others with a null
    /// window, and again with an open window if they are better.
    fn search_move(
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

    /// Searches a node with few empties and a wide window. This is rare, so it uses no table.
    fn wide(
        &mut self,
        board: Board<G>,
        legal: SquareSet<G>,
        alpha: i32,
        beta: i32,
        empties: u32,
    ) -> i32 {
        let start = self.state.near_end.push(&mut self.state.candidates, board, legal, None);
        let (best, _) = self.try_all(start, alpha, beta, empties);
        self.state.candidates.truncate(start);
        best
    }

    /// Searches a node with more than [`NEAR_END`] empties and a legal move.
    fn deep(
        &mut self,
        board: Board<G>,
        legal: SquareSet<G>,
        alpha: i32,
        beta: i32,
        empties: u32,
    ) -> i32 {
        let most = G::SQUARES as i32;
        if let Some(bound) = self.leaf_solver().stable_bound(board, alpha) {
            return bound;
        }
        let key = Key::of(board);
        let known = self.shared.table.get(key);
        if let Some(bound) = known.and_then(|entry| table_cutoff(entry, alpha, beta)) {
            return bound;
        }
        let hint = known.and_then(|entry| entry.best);
        let start = self.state.candidates.len();
        for square in legal {
            let board = board.play_unchecked(square);
            let legal = board.legal();
            self.state.candidates.push(Candidate { square, board, legal, value: 0 });
        }
        if empties >= ETC_EMPTIES
            && let Some(bound) = self.child_cutoff(start, beta)
        {
            self.state.candidates.truncate(start);
            return bound;
        }
        self.nodes += self.order.set_values(board, &mut self.state.candidates[start..], hint);
        let active = self.shared.active.filter(|_| empties >= SHARED_EMPTIES);
        let (best, square) = match active {
            Some(active) => self.try_shared(start, active, self.window(key, alpha, beta), empties),
            None => self.try_all(start, alpha, beta, empties),
        };
        self.state.candidates.truncate(start);
        if !self.halted {
            let lower = if best > alpha { best } else { -most };
            let upper = if best < beta { best } else { most };
            let (lower, upper) = (lower as i16, upper as i16);
            self.shared.table.put(key, Entry { lower, upper, depth: Entry::EXACT, best: square });
        }
        best
    }

    /// A lower bound of at least `beta` on the score of some move, from the table.
    fn child_cutoff(&self, start: usize, beta: i32) -> Option<i32> {
        self.state.candidates[start..].iter().find_map(|candidate| {
            let entry = self.shared.table.get(Key::of(candidate.board))?;
            let score = -i32::from(entry.upper);
            (entry.depth == Entry::EXACT && score >= beta).then_some(score)
        })
    }

    /// The best score of the moves from index `start` on, and its move.
    fn try_all(
        &mut self,
        start: usize,
        alpha: i32,
        beta: i32,
        empties: u32,
    ) -> (i32, Option<Square>) {
        let (mut best, mut square) = (NO_MOVE, None);
        for index in start.. {
            let Some(candidate) = take_best(&mut self.state.candidates, index) else { break };
            let score =
                self.search_move(&candidate, alpha.max(best), beta, index == start, empties - 1);
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
            // Cut nodes alternate with other nodes. After a pass the same side is to move as above.
            above.beta - above.alpha > 1 || above.cut_node == (above.alpha == alpha)
        };
        let cut_node = beta - alpha == 1 && self.shared_path.last().is_some_and(expected);
        Window { key, alpha, beta, cut_node }
    }

    /// The same as [`Searcher::try_all`] for a node that other threads search as well. Moves that
    /// they are searching come last.
    fn try_shared(
        &mut self,
        start: usize,
        active: &ActivePositions,
        window: Window,
        empties: u32,
    ) -> (i32, Option<Square>) {
        let Window { alpha, beta, cut_node, .. } = window;
        // In a wide window nothing is deferred: a better move narrows the window of all later ones.
        let wide = beta - alpha > 1;
        let last_undeferred = match (wide, cut_node) {
            (true, _) => usize::MAX,
            (false, true) => start + UNDEFERRED_MOVES,
            (false, false) => start,
        };
        let level = self.shared_path.len();
        self.shared_path.push(window);
        let (mut best, mut square) = (NO_MOVE, None);
        for index in start.. {
            let Some(candidate) = take_best(&mut self.state.candidates, index) else { break };
            let key = Key::of(candidate.board);
            if index > last_undeferred && candidate.value > DEFERRED && active.contains(key) {
                self.state.candidates.push(Candidate { value: DEFERRED, ..candidate });
                continue;
            }
            active.enter(key);
            let score =
                self.search_move(&candidate, alpha.max(best), beta, index == start, empties - 1);
            active.leave(key);
            if let Some(found) = self.settled_by_others(level) {
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
        self.shared_path.truncate(level);
        (best, square)
    }

    /// The result of another thread for the node at a level of the shared path, if there is one. If
    /// it is for a node closer to the root, this thread starts to return to that node.
    fn settled_by_others(&mut self, level: usize) -> Option<(i32, Option<Square>)> {
        if !self.halted {
            let mut shared_path = self.shared_path.iter().enumerate();
            self.settled_node = shared_path.find_map(|(level, window)| {
                let entry = self.shared.table.get(window.key)?;
                let bound = table_cutoff(entry, window.alpha, window.beta)?;
                Some(SettledNode { level, bound, best: entry.best })
            });
            self.halted = self.settled_node.is_some();
        }
        let SettledNode { bound, best, .. } =
            self.settled_node.filter(|node| node.level == level)?;
        (self.halted, self.settled_node) = (false, None);
        Some((bound, best))
    }
}
