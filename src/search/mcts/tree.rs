//! The search tree: all edges in one growing array, and the descent of a simulation through them.
//!
//! All values of an edge are from the view of the side that makes its move. A pass is not an edge.
//! If the opponent has no move, the edge leads to a position where the same side moves again, and
//! has the mark `same_side`. The edge at index 0 represents the root, and its values are for the
//! side to move at the root.
//!
//! Every edge has bounds on its exact final score. Finished and solved positions have equal bounds.
//! Bounds are backed up as in minimax, and values are clamped to them. A simulation never follows
//! an edge that is exact, or that cannot exceed the score proven for its position. Only a forced
//! move at the root is always followed. A root with equal bounds is solved.
//!
//! Invariants:
//! - `visits` of an edge counts finished simulations, `in_flight` those that wait for a prediction.
//!   Each of the latter is in `pending`.
//! - A simulation ends at an edge with equal bounds.
//! - A followed edge is expanded, exact or in flight.

use super::edge::{Edge, bring_likeliest_next};
use super::select::Selector;
use super::softmax::{LogitArray, softmax};
use super::utility::UtilityFunction;
use crate::game::{Board, Geometry, Goal, MAX_SQUARES, Square, SquareSet};
use crate::predict::Prediction;
use crate::search::endgame::Solver;
use crate::search::wipeout;

/// The index of the edge that represents the root.
pub(super) const ROOT: usize = 0;

/// Identifies a leaf of one tree that waits for a prediction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ticket {
    slot: u32,
    /// Counts the uses of the slot; a ticket of an earlier use is invalid.
    generation: u32,
}

/// The result of a call of `gather`.
#[derive(Clone, Copy, Debug)]
pub enum Gathered<G: Geometry> {
    /// The search needs a prediction for this position; the caller passes it to `apply`.
    Leaf {
        /// Identifies the leaf in the call of `apply`.
        ticket: Ticket,
        /// The position, from the view of the side to move. It has at least one legal move.
        board: Board<G>,
        /// Its legal moves.
        legal: SquareSet<G>,
    },
    /// The simulation ended at a position with a known exact score, and is finished.
    Known,
    /// The search cannot continue before another leaf has its prediction.
    Waiting,
}

/// A slot for a leaf that waits for a prediction.
struct Pending<G: Geometry> {
    legal: SquareSet<G>,
    same_side: bool,
    in_use: bool,
    generation: u32,
    /// The indices of the edges from the root to the leaf.
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
    /// The root's priors from the net, by square, if the present priors include noise.
    pub(super) net_priors: Option<[f32; MAX_SQUARES]>,
    pending: Vec<Pending<G>>,
    /// The indices of the slots of `pending` that are not in use.
    free_slots: Vec<u32>,
    pub(super) selector: Selector,
    pub(super) utility: UtilityFunction,
    goal: Goal,
    /// For each `n`, the greatest number of empty squares with which a position is solved after
    /// `2^n` simulations have reached it.
    solve_limits: [u8; 32],
    wipeout_nodes: u32,
    /// The factor of the policy logits: 1 / `prior_temperature`.
    logit_scale: f32,
}

impl<G: Geometry> Tree<G> {
    /// An empty tree whose root is the start position.
    pub fn new(goal: Goal, options: &super::Options) -> Tree<G> {
        Tree {
            board: Board::start(),
            edges: vec![root_edge::<G>()],
            spare: Vec::new(),
            sums: RootSums::default(),
            raw_utility: 0.0,
            net_priors: None,
            pending: Vec::new(),
            free_slots: Vec::new(),
            selector: Selector::new(options, G::SQUARES),
            utility: UtilityFunction::new(options.score_weight, G::SQUARES),
            goal,
            solve_limits: std::array::from_fn(|doublings| {
                options.max_solve_empties(doublings as u32) as u8
            }),
            wipeout_nodes: options.wipeout_nodes,
            logit_scale: 1.0 / options.prior_temperature,
        }
    }

    /// Drops all leaves that wait for a prediction; their tickets become invalid.
    pub(super) fn forget_pending(&mut self) {
        for (slot, pending) in self.pending.iter_mut().enumerate() {
            if std::mem::take(&mut pending.in_use) {
                self.free_slots.push(slot as u32);
            }
        }
    }

    /// Runs one simulation until it ends or needs a prediction.
    ///
    /// `forced` is the root move that the simulation must follow; with `None` the root selects by
    /// PUCT like any other position.
    ///
    /// # Panics
    ///
    /// If `forced` is not a move at the root.
    pub fn gather(&mut self, solver: &mut Solver<G>, forced: Option<Square>) -> Gathered<G> {
        let Some(slot) = self.free_slot() else { return Gathered::Waiting };
        let mut path = std::mem::take(&mut self.pending[slot].path);
        path.clear();
        let gathered = self.descend(solver, forced, &mut path, slot);
        self.pending[slot].path = path;
        if !self.pending[slot].in_use {
            self.free_slots.push(slot as u32);
        }
        gathered
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
                return Gathered::Waiting;
            }
            edge.in_flight += 1;
            path.push(at as u32);
            if at != ROOT {
                if edge.is_exact() {
                    let (score, _) = edge.child_bounds();
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
                        return self.back_up_exact(path, score as i8);
                    }
                }
            }
            if self.edges[at].moves == 0 {
                return self.end_descent(board, solver, path, slot);
            }
            at = self.follow(at, forced.filter(|_| at == ROOT));
        }
    }

    /// The exact score of a position that `2^doublings` simulations have reached. `None` if it has
    /// too many empty squares to be solved, or if the solver gives up.
    #[inline]
    fn solve(&self, board: Board<G>, doublings: u32, solver: &mut Solver<G>) -> Option<i32> {
        let within_limit = board.empties() <= u32::from(self.solve_limits[doublings as usize]);
        within_limit.then(|| solver.score_in_time(board)).flatten()
    }

    /// The index of the edge to follow from the position after the edge `at`. It becomes one of the
    /// followed edges.
    #[inline]
    fn follow(&mut self, at: usize, forced: Option<Square>) -> usize {
        let mut here = self.edges[at];
        // The present simulation does not count.
        here.in_flight -= 1;
        let moves = &mut self.edges[here.children()];
        let mut place = match forced {
            None => self.selector.best(&here, moves, self.utility),
            Some(square) => {
                let place = moves.iter().position(|edge| edge.square == square);
                place.expect("a forced move is one of the root's")
            }
        };
        let followed = here.followed as usize;
        if place >= followed {
            moves.swap(place, followed);
            place = followed;
            bring_likeliest_next(moves, followed + 1);
            self.edges[at].followed += 1;
        }
        here.first as usize + place
    }

    /// Ends a descent at a position that is not expanded: with its exact score, or as a leaf that
    /// needs a prediction. `board` is from the view of the side after the last move, which may have
    /// to pass.
    fn end_descent(
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
            (pending.legal, pending.same_side, pending.in_use) = (legal, same_side, true);
            pending.generation = pending.generation.wrapping_add(1);
            let ticket = Ticket { slot: slot as u32, generation: pending.generation };
            return Gathered::Leaf { ticket, board, legal };
        };
        if let [.., leaf] = path {
            self.edges[*leaf as usize].same_side = same_side;
        }
        self.back_up_exact(path, score as i8)
    }

    /// Cancels a simulation in flight.
    fn withdraw(&mut self, path: &[u32]) {
        for &edge in path {
            self.edges[edge as usize].in_flight -= 1;
        }
    }

    /// Takes the prediction for a leaf, expands it, and backs its utility up. Returns whether the
    /// ticket was valid: predictions for leaves that `set_root` dropped are ignored.
    pub fn apply(&mut self, ticket: Ticket, prediction: Prediction<'_>) -> bool {
        let slot = ticket.slot as usize;
        let known =
            self.pending.get_mut(slot).filter(|it| it.in_use && it.generation == ticket.generation);
        let Some(pending) = known else { return false };
        pending.in_use = false;
        let (legal, same_side) = (pending.legal, pending.same_side);
        let path = std::mem::take(&mut pending.path);
        if let [.., leaf] = path[..] {
            self.edges[leaf as usize].same_side = same_side;
            self.expand(leaf as usize, legal, prediction.policy);
        }
        let leaf_value = self.utility.estimated(prediction.value, prediction.score);
        if path.len() == 1 {
            self.raw_utility = leaf_value.utility;
        }
        self.back_up(&path, leaf_value);
        self.pending[slot].path = path;
        self.free_slots.push(slot as u32);
        true
    }

    /// Expands the edge `at`: appends the moves of its position, with the softmax of the scaled
    /// logits as priors.
    fn expand(&mut self, at: usize, legal: SquareSet<G>, logits: &[f32]) {
        let logits = &logits[..G::SQUARES];
        let mut lanes: LogitArray = [0.0; _];
        let (mut count, mut likeliest, mut greatest) = (0, 0, f32::NEG_INFINITY);
        for square in legal {
            let logit = logits[square.index()] * self.logit_scale;
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
        (edge.first, edge.moves, edge.followed) = (first as u32, count as u8, 0);
    }

    /// A slot for one more leaf; `None` if there are as many as `in_flight` can count.
    fn free_slot(&mut self) -> Option<usize> {
        if self.free_slots.is_empty() && self.pending.len() < u16::MAX as usize {
            self.free_slots.push(self.pending.len() as u32);
            self.pending.push(Pending {
                legal: SquareSet(G::PLAYABLE),
                same_side: false,
                in_use: false,
                generation: 0,
                path: Vec::with_capacity(G::SQUARES + 1),
            });
        }
        self.free_slots.pop().map(|slot| slot as usize)
    }
}

/// The edge of a root without statistics.
pub(super) fn root_edge<G: Geometry>() -> Edge {
    Edge { same_side: true, ..Edge::new(Square(0), 1.0, G::SQUARES) }
}
