//! The tree: edges in one growing array, and what a simulation does to them.
//!
//! All values on an edge are from the view of the side that moves along it. A pass is not an
//! edge: when the opponent has no move the edge leads to a position where the same side moves
//! again, and says so. The edge at place 0 stands for the root; it is taken to be made by the
//! side to move at the root.
//!
//! Every edge has bounds on its exact final score. Terminal and solved positions have equal
//! bounds; bounds back up as in minimax, and values are clamped to what bounds allow. No
//! simulation follows an edge whose score is exact or cannot exceed what its position is proven
//! to reach, so that simulations go where something is left to prove; only from the root does one
//! go where it is forced to. A root with equal bounds is solved.
//!
//! Invariants: an edge's `visits` counts finished simulations only and `in_flight` the
//! unanswered ones, each of which is in `pending`; an edge with equal bounds ends a simulation;
//! an edge that was followed is expanded, exact or in flight.

use super::edge::{Edge, bring_next};
use super::select::Selector;
use super::softmax::{Lanes, softmax};
use super::utility::Utility;
use crate::game::{Board, Geometry, Goal, MAX_SQUARES, Square, SquareSet};
use crate::search::endgame::Solver;
use crate::search::wipeout;

/// The place of the edge that stands for the root.
pub(super) const ROOT: usize = 0;

/// Names an unanswered leaf of one tree.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ticket {
    slot: u32,
    /// Which of the slot's uses; an answer for an earlier one is stale.
    turn: u32,
}

/// What a call of `gather` led to.
#[derive(Clone, Copy, Debug)]
pub enum Gathered<G: Geometry> {
    /// The search wants this position evaluated; the answer goes to `apply`.
    Leaf {
        /// Names the leaf in the answer.
        ticket: Ticket,
        /// The position, from the view of the side to move. It has at least one legal move.
        board: Board<G>,
        /// Its legal moves.
        legal: SquareSet<G>,
    },
    /// The simulation ended at a position whose exact score is known; it is backed up.
    Known,
    /// Nothing to do before an unanswered leaf is answered.
    Busy,
}

/// An evaluation of a leaf.
#[derive(Clone, Copy, Debug)]
pub struct Prediction<'a> {
    /// One logit for each square of the board; only those of legal moves are read.
    pub policy: &'a [f32],
    /// The expected outcome for the side to move, -1 to 1.
    pub value: f32,
    /// The expected final disc difference for the side to move.
    pub score: f32,
}

/// An unanswered leaf.
struct Pending<G: Geometry> {
    legal: SquareSet<G>,
    same_side: bool,
    live: bool,
    turn: u32,
    /// The edges from the root's to the leaf's.
    path: Vec<u32>,
}

/// Sums over the simulations since the root was set, for the side to move at the root.
#[derive(Clone, Copy, Default)]
pub(super) struct RootSums {
    pub simulations: u32,
    pub value: f64,
}

/// A search tree over positions of shape `G`.
pub struct Tree<G: Geometry> {
    pub(super) board: Board<G>,
    pub(super) edges: Vec<Edge>,
    pub(super) spare: Vec<Edge>,
    pub(super) sums: RootSums,
    /// See [`Tree::raw_utility`].
    pub(super) raw_utility: f32,
    /// The root's priors by square as the net gave them, if the present ones have been mixed
    /// with something.
    pub(super) plain_priors: Option<[f32; MAX_SQUARES]>,
    pending: Vec<Pending<G>>,
    /// The slots of `pending` that are not live.
    idle: Vec<u32>,
    pub(super) selector: Selector,
    pub(super) utility: Utility,
    goal: Goal,
    /// Empty squares up to which a position is solved that `2^n` simulations have reached, for
    /// each `n`.
    solvable: [u8; 32],
    wipeout_nodes: u32,
    /// What the policy's logits are multiplied by.
    sharpness: f32,
}

impl<G: Geometry> Tree<G> {
    /// A tree at the start position that searches as `options` say.
    pub fn new(goal: Goal, options: &super::Options) -> Tree<G> {
        Tree {
            board: Board::start(),
            edges: vec![root_edge::<G>()],
            spare: Vec::new(),
            sums: RootSums::default(),
            raw_utility: 0.0,
            plain_priors: None,
            pending: Vec::new(),
            idle: Vec::new(),
            selector: Selector::new(options, G::SQUARES),
            utility: Utility::new(options.score_weight, G::SQUARES),
            goal,
            solvable: std::array::from_fn(|doublings| options.solvable(doublings as u32) as u8),
            wipeout_nodes: options.wipeout_nodes,
            sharpness: 1.0 / options.prior_temperature,
        }
    }

    /// Forgets the leaves that are not answered yet; their tickets become stale.
    pub(super) fn forget_pending(&mut self) {
        for (slot, pending) in self.pending.iter_mut().enumerate() {
            if std::mem::take(&mut pending.live) {
                self.idle.push(slot as u32);
            }
        }
    }

    /// Runs one simulation up to the point where it needs an answer.
    ///
    /// `forced` is the root move to begin with, for a root strategy of its own; otherwise the
    /// root selects like any other position.
    ///
    /// # Panics
    ///
    /// If `forced` is not a move at the root.
    pub fn gather(&mut self, solver: &mut Solver<G>, forced: Option<Square>) -> Gathered<G> {
        let Some(slot) = self.free_slot() else { return Gathered::Busy };
        let mut path = std::mem::take(&mut self.pending[slot].path);
        path.clear();
        let outcome = self.descend(solver, forced, &mut path, slot);
        self.pending[slot].path = path;
        if !self.pending[slot].live {
            self.idle.push(slot as u32);
        }
        outcome
    }

    fn descend(
        &mut self,
        solver: &mut Solver<G>,
        forced: Option<Square>,
        path: &mut Vec<u32>,
        slot: usize,
    ) -> Gathered<G> {
        let mut board = self.board;
        let mut at = ROOT;
        loop {
            let edge = &mut self.edges[at];
            if edge.moves == 0 && edge.in_flight > 0 {
                self.withdraw(path);
                return Gathered::Busy;
            }
            edge.in_flight += 1;
            path.push(at as u32);
            if at != ROOT {
                if edge.is_exact() {
                    let (score, _) = edge.bounds_behind();
                    self.back_up(path, self.utility.proven(score));
                    return Gathered::Known;
                }
                board = board.play_unchecked(edge.square);
                if edge.moves > 0 {
                    if edge.same_side {
                        board = board.pass();
                    }
                    let doublings = edge.visits.ilog2();
                    if let Some(score) = self.solve(board, doublings, solver) {
                        return self.settle(path, score as i8);
                    }
                }
            }
            if self.edges[at].moves == 0 {
                return self.reach(board, solver, path, slot);
            }
            at = self.follow(at, forced.filter(|_| at == ROOT));
        }
    }

    /// The exact score of a position that `2^doublings` simulations have reached, if so few squares
    /// are empty that it is to be solved, and if that succeeds in time.
    #[inline]
    fn solve(&self, board: Board<G>, doublings: u32, solver: &mut Solver<G>) -> Option<i32> {
        let wanted = board.empties() <= u32::from(self.solvable[doublings as usize]);
        wanted.then(|| solver.score_in_time(board)).flatten()
    }

    /// The place of the edge to follow from the position behind the edge `at`, marked as
    /// followed.
    #[inline]
    fn follow(&mut self, at: usize, forced: Option<Square>) -> usize {
        let mut here = self.edges[at];
        // This simulation itself is not to be counted.
        here.in_flight -= 1;
        let moves = &mut self.edges[here.behind()];
        let mut place = match forced {
            None => self.selector.best(&here, moves, self.utility),
            Some(square) => {
                let place = moves.iter().position(|edge| edge.square == square);
                place.expect("a forced move is one of the root's")
            }
        };
        let opened = here.opened as usize;
        if place >= opened {
            moves.swap(place, opened);
            place = opened;
            bring_next(moves, opened + 1);
            self.edges[at].opened += 1;
        }
        here.first as usize + place
    }

    /// Ends a descent at a position that the tree has not seen: exactly scored, or to be asked
    /// about. `board` is seen by the opponent of the side that moved, passes not looked at.
    fn reach(
        &mut self,
        mut board: Board<G>,
        solver: &mut Solver<G>,
        path: &[u32],
        slot: usize,
    ) -> Gathered<G> {
        let is_root = path.len() == 1;
        let mut legal = board.legal();
        let passed = legal.is_empty();
        if passed {
            board = board.pass();
            legal = board.legal();
        }
        let score = if is_root {
            None
        } else if legal.is_empty() {
            Some(board.final_score(self.goal))
        } else if let Some(score) = self.solve(board, 0, solver) {
            Some(score)
        } else if self.wipeout_nodes > 0 && self.goal == Goal::Most {
            let all = G::SQUARES as i32;
            wipeout::forced(board, self.wipeout_nodes).map(|wins| if wins { all } else { -all })
        } else {
            None
        };
        let same_side = passed != is_root;
        let Some(score) = score else {
            let pending = &mut self.pending[slot];
            (pending.legal, pending.same_side, pending.live) = (legal, same_side, true);
            pending.turn = pending.turn.wrapping_add(1);
            let ticket = Ticket { slot: slot as u32, turn: pending.turn };
            return Gathered::Leaf { ticket, board, legal };
        };
        if let [.., leaf] = path {
            self.edges[*leaf as usize].same_side = same_side;
        }
        self.settle(path, score as i8)
    }

    fn withdraw(&mut self, path: &[u32]) {
        for &edge in path {
            self.edges[edge as usize].in_flight -= 1;
        }
    }

    /// Takes the answer for a leaf, expands it, and backs its utility up. Returns whether there
    /// was such a leaf: an answer that `set_root` has made pointless is dropped.
    pub fn apply(&mut self, ticket: Ticket, answer: Prediction<'_>) -> bool {
        let slot = ticket.slot as usize;
        let known = self.pending.get_mut(slot).filter(|it| it.live && it.turn == ticket.turn);
        let Some(pending) = known else { return false };
        pending.live = false;
        let (legal, same_side) = (pending.legal, pending.same_side);
        let path = std::mem::take(&mut pending.path);
        if let [.., leaf] = path[..] {
            self.edges[leaf as usize].same_side = same_side;
            self.expand(leaf as usize, legal, answer.policy);
        }
        let worth = self.utility.estimated(answer.value, answer.score);
        if path.len() == 1 {
            self.raw_utility = worth.utility;
        }
        self.back_up(&path, worth);
        self.pending[slot].path = path;
        self.idle.push(slot as u32);
        true
    }

    /// Appends the moves behind the edge `at`, their priors the softmax of their sharpened
    /// logits.
    fn expand(&mut self, at: usize, legal: SquareSet<G>, logits: &[f32]) {
        let logits = &logits[..G::SQUARES];
        let mut lanes: Lanes = [0.0; _];
        let (mut count, mut likeliest, mut greatest) = (0, 0, f32::NEG_INFINITY);
        for square in legal {
            let logit = logits[square.index()] * self.sharpness;
            lanes[count] = logit;
            if logit > greatest {
                (likeliest, greatest) = (count, logit);
            }
            count += 1;
        }
        softmax(&mut lanes, count, greatest);
        let first = self.edges.len();
        let moves = legal.zip(&lanes).map(|(square, &prior)| Edge::new(square, prior, G::SQUARES));
        self.edges.extend(moves);
        self.edges.swap(first, first + likeliest);
        let edge = &mut self.edges[at];
        (edge.first, edge.moves, edge.opened) = (first as u32, count as u8, 0);
    }

    /// A slot for one more leaf, unless there are as many as an edge can count.
    fn free_slot(&mut self) -> Option<usize> {
        if self.idle.is_empty() && self.pending.len() < u16::MAX as usize {
            self.idle.push(self.pending.len() as u32);
            self.pending.push(Pending {
                legal: SquareSet(G::PLAYABLE),
                same_side: false,
                live: false,
                turn: 0,
                path: Vec::with_capacity(G::SQUARES + 1),
            });
        }
        self.idle.pop().map(|slot| slot as usize)
    }
}

/// An edge for a root that nothing is known about.
pub(super) fn root_edge<G: Geometry>() -> Edge {
    Edge { same_side: true, ..Edge::new(Square(0), 1.0, G::SQUARES) }
}
