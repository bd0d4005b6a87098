//! One thread of an alpha-beta iteration: principal-variation search (PVS).

use std::sync::atomic::{AtomicBool, Ordering};

use super::probcut::Checks;
use super::{AlphaBetaSearch, BestMove, Iteration, Root, SHARED_DEPTH, Skips};
use crate::eval::{Evaluator, SCALE, TrackedBoard};
use crate::game::{Bitboard, Geometry, Square, SquareSet};
use crate::search::clock::SearchClock;
use crate::search::endgame::{NEAR_END, NearEndSearch};
use crate::search::ordering::{Candidate, Candidates};
use crate::search::table::{Entry, Key};

/// Nodes of at least this depth use the table. A lookup costs as much as a few leaves.
const TABLE_DEPTH: u32 = 3;
/// Nodes of at least this depth first look up the positions after their moves: the enhanced
/// transposition cutoff (ETC).
const ETC_DEPTH: u32 = TABLE_DEPTH + 1;
/// An estimate decides if it lies outside the window by half as many standard deviations.
const SURE: i32 = 4;
/// Below any score.
const LOWEST: i32 = i32::MIN / 2;
/// Half the width of the first aspiration window around the score of the last iteration.
const ASPIRATION: i32 = 3 * SCALE / 2;

/// One thread of an iteration.
pub(super) struct Worker<'a, G: Geometry, E: Evaluator<G>> {
    pub(super) search: &'a AlphaBetaSearch<G, E>,
    clock: &'a SearchClock<'a>,
    done: &'a AtomicBool,
    shared: bool,
    /// The ProbCut checks for nodes with a null window; `None` where ProbCut is not allowed.
    pub(super) checks: Option<&'a Checks>,
    candidates: Candidates<G, E::State>,
    /// The subtrees that the iteration skips.
    skips: Skips,
    /// Searches the last plies if the iteration goes to the end of the game.
    near_end: Option<NearEndSearch<G>>,
    /// Positions visited since the last report to the clock.
    nodes: u64,
    /// The number of positions between two reports.
    interval: u64,
    /// Whether this thread must end the iteration. Scores are then meaningless.
    pub(super) halted: bool,
}

impl<'a, G: Geometry, E: Evaluator<G>> Worker<'a, G, E> {
    pub(super) fn new(
        search: &'a AlphaBetaSearch<G, E>,
        clock: &'a SearchClock<'a>,
        done: &'a AtomicBool,
        shared: bool,
    ) -> Self {
        let (candidates, interval) = (Candidates::new(), clock.interval());
        Worker {
            search,
            clock,
            done,
            shared,
            checks: None,
            candidates,
            skips: Skips::Many,
            near_end: None,
            nodes: 0,
            interval,
            halted: false,
        }
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

    /// Searches the root with a narrow window around the last score, and widens it while the score
    /// lies outside. Also returns whether the search is complete.
    pub(super) fn aspiration_search(
        &mut self,
        root: &Root<G, E::State>,
        Iteration { depth, skips }: Iteration,
        last: BestMove,
    ) -> (BestMove, bool) {
        let checks = self.search.checks.as_ref();
        self.checks = match skips {
            Skips::Many => checks.map(|[many, _]| many),
            Skips::Few => checks.map(|[_, few]| few),
            Skips::Nothing => None,
        };
        self.skips = skips;
        let goal = self.search.goal;
        self.near_end = (depth == root.board.board.empties()).then(|| NearEndSearch::new(goal));
        let most = G::SQUARES as i32 * SCALE;
        let (mut below, mut above) = (ASPIRATION, ASPIRATION);
        if depth < 4 {
            (below, above) = (2 * most, 2 * most);
        }
        let mut best = last;
        loop {
            let alpha = (last.score - below).max(-most - 1);
            let beta = (last.score + above).min(most + 1);
            let (found, score) = self.root(root, depth, alpha, beta, best);
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

    /// The best move, and the score or a bound on it. If no move exceeds `alpha`, the best move is
    /// still `last`.
    fn root(
        &mut self,
        root: &Root<G, E::State>,
        depth: u32,
        alpha: i32,
        beta: i32,
        last: BestMove,
    ) -> (BestMove, i32) {
        let mut best = last;
        let mut lower = alpha;
        let mut highest = LOWEST;
        let evaluator = &*self.search.evaluator;
        let start =
            self.candidates.push(&root.board, root.moves, (Some(last.square), true), evaluator);
        for index in start.. {
            let Some(candidate) = self.candidates.take_best(index) else { break };
            let score = self.search_move(&candidate, depth, lower, beta, index == start);
            if self.halted {
                break;
            }
            highest = highest.max(score);
            if score > lower {
                lower = score;
                best = BestMove { square: candidate.square, score };
            }
            if score >= beta {
                break;
            }
        }
        self.candidates.pop(start);
        (best, highest)
    }

    /// The score of a move. The first move is searched with the full window, the others with a null
    /// window, and again with an open window if they are better.
    fn search_move(
        &mut self,
        candidate: &Candidate<G, E::State>,
        depth: u32,
        alpha: i32,
        beta: i32,
        first: bool,
    ) -> i32 {
        let Candidate { child, legal, .. } = *candidate;
        if first {
            return -self.negamax(child, legal, depth - 1, -beta, -alpha);
        }
        let score = -self.negamax(child, legal, depth - 1, -alpha - 1, -alpha);
        if score > alpha && score < beta && !self.halted {
            return -self.negamax(child, legal, depth - 1, -beta, -score);
        }
        score
    }

    /// The score of a position if it lies between `alpha` and `beta`, else a bound on the same side
    /// of the window.
    pub(super) fn negamax(
        &mut self,
        node: TrackedBoard<G, E::State>,
        legal: SquareSet<G>,
        depth: u32,
        alpha: i32,
        beta: i32,
    ) -> i32 {
        if let Some(near_end) = &mut self.near_end
            && depth <= NEAR_END
            && beta - alpha == 1
            && depth == node.board.empties()
        {
            let bound = near_end.search(node.board, legal, alpha.div_euclid(SCALE), depth);
            self.nodes += near_end.take_nodes();
            if self.nodes >= self.interval {
                self.report();
            }
            return SCALE * bound;
        }
        self.visit();
        if depth == 0 {
            return node.evaluate(&*self.search.evaluator);
        }
        if legal.is_empty() {
            let passed = node.pass(&*self.search.evaluator);
            let legal = passed.board.legal();
            if legal.is_empty() {
                return SCALE * node.board.final_score(self.search.goal);
            }
            return -self.negamax(passed, legal, depth, -beta, -alpha);
        }
        if depth == 1 {
            self.last_ply(node, legal, alpha, beta)
        } else {
            self.inner_node(node, legal, depth, alpha, beta)
        }
    }

    /// The best score of the moves at depth 1, in any order. With a null window a move is not
    /// evaluated where its estimate lies outside the window by more than the margin.
    fn last_ply(
        &mut self,
        node: TrackedBoard<G, E::State>,
        legal: SquareSet<G>,
        alpha: i32,
        beta: i32,
    ) -> i32 {
        let evaluator = &*self.search.evaluator;
        let deviation = evaluator.ordering_deviation(node.board.discs() + 1);
        let margin = deviation.filter(|_| beta - alpha == 1).map(|it| SURE * it / 2);
        let mut best = LOWEST;
        for square in legal {
            self.visit();
            let child = node.play(evaluator, square);
            let bound = margin.and_then(|margin| bound(evaluator, &child, beta, margin));
            best = best.max(bound.unwrap_or_else(|| -child.evaluate(evaluator)));
            if best >= beta {
                break;
            }
        }
        best
    }

    /// [`Worker::negamax`] for a position with legal moves at depth 2 or more: uses the table and
    /// tries the moves in order.
    fn inner_node(
        &mut self,
        node: TrackedBoard<G, E::State>,
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
            let start = self.candidates.push(&node, legal, (None, false), &*self.search.evaluator);
            let (best, _) = self.try_all(start, depth, alpha, beta);
            self.candidates.pop(start);
            return best;
        }
        let key = Key::of(node.board);
        let known = self.search.table.get(key);
        if let Some(entry) = known.filter(|entry| self.suffices(entry, depth)) {
            let (lower, upper) = (i32::from(entry.lower), i32::from(entry.upper));
            if lower >= beta || lower == upper {
                return lower;
            } else if upper <= alpha {
                return upper;
            }
        }
        let hint = known.and_then(|entry| entry.best);
        let probcut_bound = match self.checks {
            Some(_) if beta - alpha == 1 => self.probcut(node, legal, depth, beta),
            _ => None,
        };
        let (best, square) = match probcut_bound {
            Some(bound) => (bound, hint),
            None => self.search_moves(&node, legal, depth, (alpha, beta), hint),
        };
        if !self.halted {
            let most = G::SQUARES as i32 * SCALE;
            let lower = if best > alpha { best } else { -most };
            let upper = if best < beta { best } else { most };
            let (lower, upper) = (lower as i16, upper as i16);
            let depth = self.skips.entry_depth(depth);
            self.search.table.put(key, Entry { lower, upper, depth, best: square });
        }
        best
    }

    /// The best score and its move, by a cutoff of the table or by trying the moves.
    fn search_moves(
        &mut self,
        node: &TrackedBoard<G, E::State>,
        legal: SquareSet<G>,
        depth: u32,
        (alpha, beta): (i32, i32),
        hint: Option<Square>,
    ) -> (i32, Option<Square>) {
        let start = self.candidates.push(node, legal, (hint, true), &*self.search.evaluator);
        let found = match self.child_cutoff(start, depth, beta) {
            Some(known) => known,
            None => self.try_all(start, depth, alpha, beta),
        };
        self.candidates.pop(start);
        found
    }

    /// Whether an entry of the table can replace a search of this depth.
    fn suffices(&self, entry: &Entry, depth: u32) -> bool {
        self.skips.accepts(entry.depth, depth)
    }

    /// A move whose score is at least `beta` according to the table, with that score.
    fn child_cutoff(&self, start: usize, depth: u32, beta: i32) -> Option<(i32, Option<Square>)> {
        if depth < ETC_DEPTH {
            return None;
        }
        self.candidates.moves_from(start).iter().find_map(|candidate| {
            let entry = self.search.table.get(Key::of(candidate.child.board))?;
            let score = -i32::from(entry.upper);
            let enough = self.suffices(&entry, depth - 1) && score >= beta;
            enough.then_some((score, Some(candidate.square)))
        })
    }

    /// The best score of the moves from index `start` on, and its move.
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
            let Some(candidate) = self.candidates.take_best(index) else { break };
            let key = if shared { Key::of(candidate.child.board) } else { Key::default() };
            let deferrable = shared && index > start && !candidate.is_deferred();
            if deferrable && self.search.active.contains(key) {
                self.candidates.defer(candidate);
                continue;
            }
            if shared {
                self.search.active.enter(key);
            }
            let lower = alpha.max(best);
            let score = self.search_move(&candidate, depth, lower, beta, index == start);
            if shared {
                self.search.active.leave(key);
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

/// A bound on the score of a move that leads to `child`, on the same side of the null window below
/// `beta`; `None` if the estimate lies within `margin` of the window.
#[inline(always)]
fn bound<G: Geometry, E: Evaluator<G>>(
    evaluator: &E,
    child: &TrackedBoard<G, E::State>,
    beta: i32,
    margin: i32,
) -> Option<i32> {
    // A side without discs has lost, which no estimate knows.
    if child.board.mine == G::Bitboard::ZERO {
        return None;
    }
    let estimate = -child.ordering_value(evaluator);
    let (most, least) = (estimate + margin, estimate - margin);
    if most < beta { Some(most) } else { Some(least).filter(|&least| least >= beta) }
}
