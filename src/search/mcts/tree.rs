//! The tree: nodes and edges in two growing arrays, and what a simulation does to them.
//!
//! An edge carries the statistics of its move, so that selection reads one contiguous run of
//! 20-byte edges and touches the child only to descend. All values on an edge are from the
//! view of the side that moves along it. A pass is not an edge: when the opponent has no move
//! the child is a node where the same side moves again, and says so.
//!
//! Every node and edge knows bounds on its exact final score. Terminal and solved positions
//! have equal bounds; bounds back up as in minimax, and an edge's mean value is clamped to
//! what its bounds allow. A root with equal bounds is solved.
//!
//! Invariants: an edge's `visits` counts finished simulations only and `in_flight` the
//! unanswered ones; a node is expanded exactly when it has edges or equal bounds.

use super::select::{self, Selector};
use crate::game::{Board, Geometry, Goal, Square, SquareSet};
use crate::search::endgame::Solver;

const NONE: u32 = u32::MAX;

/// What a final disc difference, or a network's estimates, are worth to the search.
///
/// The utility is `(1 - score_weight) * value + score_weight * score / squares`, from -1 to 1.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Utility {
    pub score_weight: f32,
    pub squares: f32,
}

impl Utility {
    fn estimated(self, value: f32, score: f32) -> f32 {
        (1.0 - self.score_weight) * value + self.score_weight * (score / self.squares)
    }

    /// Rises strictly with the score as long as `score_weight` is positive.
    fn exact(self, score: i8) -> f32 {
        self.estimated(score.signum() as f32, score as f32)
    }
}

/// A move from a node, with its statistics from the view of the side that makes it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    pub prior: f32,
    pub utility_sum: f32,
    pub visits: u32,
    child: u32,
    pub square: Square,
    pub in_flight: u8,
    /// The exact final score lies within these.
    pub lower: i8,
    pub upper: i8,
}

impl Edge {
    pub fn is_exact(&self) -> bool {
        self.lower == self.upper
    }
}

#[derive(Clone, Copy, Debug)]
struct Node<G: Geometry> {
    board: Board<G>,
    first_edge: u32,
    /// Simulations that went through or ended here.
    visits: u32,
    utility_sum: f32,
    edges: u8,
    /// Whether the side that moved into this node moves again, the other having passed.
    same_side: bool,
    lower: i8,
    upper: i8,
}

impl<G: Geometry> Node<G> {
    fn edge_range(&self) -> std::ops::Range<usize> {
        self.first_edge as usize..self.first_edge as usize + self.edges as usize
    }

    fn is_exact(&self) -> bool {
        self.lower == self.upper
    }
}

/// Names an unanswered leaf of one tree.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ticket(u32);

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
pub struct Answer<'a> {
    /// One logit for each square of the board; only those of legal moves are read.
    pub policy: &'a [f32],
    /// The expected outcome for the side to move, -1 to 1.
    pub value: f32,
    /// The expected final disc difference for the side to move.
    pub score: f32,
}

/// What the search knows about one move at the root.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct MoveStats {
    /// The move.
    pub square: Square,
    /// Finished simulations.
    pub visits: u32,
    /// The probability that the policy gave it, noise included.
    pub prior: f32,
    /// Its mean utility for the side to move, within what its bounds allow; `None` before
    /// the first visit.
    pub utility: Option<f32>,
    /// The least exact final score it can have.
    pub lower: i8,
    /// The greatest exact final score it can have.
    pub upper: i8,
}

struct Pending<G: Geometry> {
    board: Board<G>,
    legal: SquareSet<G>,
    same_side: bool,
    /// The nodes from the root to the leaf's parent, each with the edge taken.
    path: Vec<(u32, u32)>,
    live: bool,
}

/// A search tree over positions of shape `G`.
pub struct Tree<G: Geometry> {
    nodes: Vec<Node<G>>,
    edges: Vec<Edge>,
    spare_nodes: Vec<Node<G>>,
    spare_edges: Vec<Edge>,
    pending: Vec<Pending<G>>,
    selector: Selector,
    utility: Utility,
    goal: Goal,
    solve_empties: u32,
}

impl<G: Geometry> Tree<G> {
    /// An empty tree that searches as `options` say.
    pub fn new(goal: Goal, options: &super::Options) -> Tree<G> {
        Tree {
            nodes: Vec::new(),
            edges: Vec::new(),
            spare_nodes: Vec::new(),
            spare_edges: Vec::new(),
            pending: Vec::new(),
            selector: Selector::new(options),
            utility: Utility { score_weight: options.score_weight, squares: G::SQUARES as f32 },
            goal,
            solve_empties: options.solve_empties,
        }
    }

    /// Makes `board` the root, keeping what the tree knows below it if it is reached by at
    /// most one move from the present root and `reuse` is set.
    ///
    /// `board` must have a legal move. Unanswered leaves are forgotten.
    pub fn set_root(&mut self, board: Board<G>, reuse: bool) {
        for pending in &mut self.pending {
            pending.live = false;
        }
        match self.find(board).filter(|_| reuse) {
            Some(node) => self.extract(node),
            None => {
                self.nodes.clear();
                self.edges.clear();
                self.nodes.push(unexpanded(board, false));
            }
        }
    }

    fn find(&self, board: Board<G>) -> Option<u32> {
        let root = self.nodes.first()?;
        if root.board == board {
            return Some(0);
        }
        let children = self.edges[root.edge_range()].iter().map(|edge| edge.child);
        children
            .filter(|&child| child != NONE)
            .find(|&child| self.nodes[child as usize].board == board)
    }

    /// Copies the subtree of `root` to the front of fresh arrays, in breadth-first order.
    fn extract(&mut self, root: u32) {
        self.spare_nodes.clear();
        self.spare_edges.clear();
        self.spare_nodes.push(self.nodes[root as usize]);
        let mut next = 0;
        while next < self.spare_nodes.len() {
            let range = self.spare_nodes[next].edge_range();
            self.spare_nodes[next].first_edge = self.spare_edges.len() as u32;
            for index in range {
                let mut edge = self.edges[index];
                edge.in_flight = 0;
                if edge.child != NONE {
                    let child = self.nodes[edge.child as usize];
                    edge.child = self.spare_nodes.len() as u32;
                    self.spare_nodes.push(child);
                }
                self.spare_edges.push(edge);
            }
            next += 1;
        }
        std::mem::swap(&mut self.nodes, &mut self.spare_nodes);
        std::mem::swap(&mut self.edges, &mut self.spare_edges);
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.nodes.clear();
        self.edges.clear();
    }

    /// Whether the root's moves are known, so that noise and statistics make sense.
    pub fn is_expanded(&self) -> bool {
        self.nodes.first().is_some_and(|root| root.edges > 0)
    }

    /// Simulations that went through the root, kept ones included.
    pub fn visits(&self) -> u32 {
        self.nodes.first().map_or(0, |root| root.visits)
    }

    /// The root's exact final score for the side to move, if it is proven.
    pub fn exact(&self) -> Option<i8> {
        self.nodes.first().filter(|root| root.is_exact()).map(|root| root.lower)
    }

    /// The root's mean utility for the side to move, clamped to its bounds.
    pub fn root_utility(&self) -> f32 {
        let Some(root) = self.nodes.first() else { return 0.0 };
        let mean = root.utility_sum / root.visits.max(1) as f32;
        mean.clamp(self.utility.exact(root.lower), self.utility.exact(root.upper))
    }

    /// What is known about each legal move at the root, in the order of the squares.
    pub fn root_moves(&self) -> impl Iterator<Item = MoveStats> + '_ {
        let edges = self.nodes.first().map_or(0..0, Node::edge_range);
        self.edges[edges].iter().map(|edge| MoveStats {
            square: edge.square,
            visits: edge.visits,
            prior: edge.prior,
            utility: (edge.visits > 0 || edge.is_exact()).then(|| self.mean(edge)),
            lower: edge.lower,
            upper: edge.upper,
        })
    }

    /// The most visited line from the root, at most `limit` moves.
    pub fn principal_variation(&self, limit: usize) -> Vec<Square> {
        let mut line = Vec::new();
        let mut node = 0;
        while let Some(edge) = self
            .nodes
            .get(node)
            .and_then(|node| self.edges[node.edge_range()].iter().max_by_key(|edge| edge.visits))
            .filter(|edge| edge.visits > 0 && line.len() < limit)
        {
            line.push(edge.square);
            node = edge.child as usize;
        }
        line
    }

    /// Replaces the root's priors: `mix` gets each prior with its place among the moves.
    pub fn adjust_root_priors(&mut self, mut mix: impl FnMut(usize, f32) -> f32) {
        let edges = self.nodes.first().map_or(0..0, Node::edge_range);
        for (place, edge) in self.edges[edges].iter_mut().enumerate() {
            edge.prior = mix(place, edge.prior);
        }
    }

    fn mean(&self, edge: &Edge) -> f32 {
        select::mean(edge, self.utility.exact(edge.lower), self.utility.exact(edge.upper))
    }

    /// Runs one simulation up to the point where it needs an answer.
    ///
    /// `forced` is the place of the root move to begin with, for a root strategy of its own;
    /// otherwise the root selects like any other node.
    pub fn gather(&mut self, solver: &mut Solver<G>, forced: Option<usize>) -> Gathered<G> {
        let slot = self.free_slot();
        if !self.is_expanded() {
            return self.gather_root(slot);
        }
        let mut path = std::mem::take(&mut self.pending[slot].path);
        path.clear();
        let outcome = self.descend(solver, forced, &mut path, slot);
        self.pending[slot].path = path;
        outcome
    }

    fn gather_root(&mut self, slot: usize) -> Gathered<G> {
        if self.pending.iter().any(|pending| pending.live) {
            return Gathered::Busy;
        }
        let board = self.nodes[0].board;
        let legal = board.legal();
        let pending = &mut self.pending[slot];
        pending.path.clear();
        (pending.board, pending.legal, pending.live) = (board, legal, true);
        Gathered::Leaf { ticket: Ticket(slot as u32), board, legal }
    }

    fn descend(
        &mut self,
        solver: &mut Solver<G>,
        forced: Option<usize>,
        path: &mut Vec<(u32, u32)>,
        slot: usize,
    ) -> Gathered<G> {
        let mut node = 0u32;
        loop {
            let here = self.nodes[node as usize];
            if here.is_exact() && !path.is_empty() {
                self.back_up(path, self.utility.exact(here.lower), here.same_side);
                return Gathered::Known;
            }
            let place = match forced.filter(|_| path.is_empty()) {
                Some(place) => here.first_edge as usize + place,
                None => self.select(&here),
            };
            let edge = &mut self.edges[place];
            if edge.child == NONE && edge.in_flight > 0 {
                self.withdraw(path);
                return Gathered::Busy;
            }
            edge.in_flight = edge.in_flight.saturating_add(1);
            path.push((node, place as u32));
            if edge.child != NONE {
                node = edge.child;
                continue;
            }
            let square = edge.square;
            let mut board = here.board.play_unchecked(square);
            let mut legal = board.legal();
            let same_side = legal.is_empty();
            if same_side {
                board = board.pass();
                legal = board.legal();
            }
            let known = if legal.is_empty() {
                Some(board.final_score(self.goal))
            } else if board.empties() <= self.solve_empties {
                Some(solver.score(board))
            } else {
                None
            };
            let Some(score) = known else {
                let pending = &mut self.pending[slot];
                (pending.board, pending.legal, pending.same_side, pending.live) =
                    (board, legal, same_side, true);
                return Gathered::Leaf { ticket: Ticket(slot as u32), board, legal };
            };
            self.attach_exact(place, board, same_side, score as i8);
            self.tighten(path);
            self.back_up(path, self.utility.exact(score as i8), same_side);
            return Gathered::Known;
        }
    }

    fn select(&self, node: &Node<G>) -> usize {
        let edges = &self.edges[node.edge_range()];
        let parent_mean = node.utility_sum / node.visits.max(1) as f32;
        let utility = self.utility;
        let place =
            self.selector.best(edges, node.lower, parent_mean, |score| utility.exact(score));
        node.first_edge as usize + place
    }

    fn withdraw(&mut self, path: &[(u32, u32)]) {
        for &(_, edge) in path {
            let edge = &mut self.edges[edge as usize];
            edge.in_flight = edge.in_flight.saturating_sub(1);
        }
    }

    /// Takes the answer for a leaf, expands it, and backs its utility up.
    ///
    /// An answer that `set_root` has made pointless is dropped.
    pub fn apply(&mut self, ticket: Ticket, answer: Answer<'_>) {
        let slot = ticket.0 as usize;
        if !std::mem::take(&mut self.pending[slot].live) {
            return;
        }
        let path = std::mem::take(&mut self.pending[slot].path);
        let Pending { board, legal, same_side, .. } = self.pending[slot];
        let utility = self.utility.estimated(answer.value, answer.score);
        let node = match path.last() {
            None => 0,
            Some(&(_, edge)) => {
                let child = self.nodes.len() as u32;
                self.nodes.push(unexpanded(board, same_side));
                self.edges[edge as usize].child = child;
                child
            }
        };
        self.expand(node as usize, legal, answer.policy);
        if path.is_empty() {
            self.nodes[0].visits += 1;
            self.nodes[0].utility_sum += utility;
        } else {
            self.back_up_from(node as usize, &path, utility, same_side);
        }
        self.pending[slot].path = path;
    }

    fn expand(&mut self, node: usize, legal: SquareSet<G>, logits: &[f32]) {
        let first = self.edges.len();
        let greatest = legal.map(|square| logits[square.index()]).fold(f32::NEG_INFINITY, f32::max);
        let mut sum = 0.0;
        for square in legal {
            let weight = (logits[square.index()] - greatest).exp();
            sum += weight;
            self.edges.push(Edge {
                prior: weight,
                utility_sum: 0.0,
                visits: 0,
                child: NONE,
                square,
                in_flight: 0,
                lower: -(G::SQUARES as i8),
                upper: G::SQUARES as i8,
            });
        }
        for edge in &mut self.edges[first..] {
            edge.prior /= sum;
        }
        self.nodes[node].first_edge = first as u32;
        self.nodes[node].edges = (self.edges.len() - first) as u8;
    }

    fn attach_exact(&mut self, edge: usize, board: Board<G>, same_side: bool, score: i8) {
        let child = self.nodes.len() as u32;
        self.nodes.push(Node { lower: score, upper: score, ..unexpanded(board, same_side) });
        self.edges[edge].child = child;
    }

    /// Narrows the bounds along a path whose last child has just become exact.
    fn tighten(&mut self, path: &[(u32, u32)]) {
        for &(node, edge) in path.iter().rev() {
            let child = self.nodes[self.edges[edge as usize].child as usize];
            let (lower, upper) = match child.same_side {
                true => (child.lower, child.upper),
                false => (-child.upper, -child.lower),
            };
            let edge = &mut self.edges[edge as usize];
            (edge.lower, edge.upper) = (lower, upper);
            let edges = &self.edges[self.nodes[node as usize].edge_range()];
            let lower = edges.iter().map(|edge| edge.lower).max().unwrap_or(lower);
            let upper = edges.iter().map(|edge| edge.upper).max().unwrap_or(upper);
            let node = &mut self.nodes[node as usize];
            if (node.lower, node.upper) == (lower, upper) {
                return;
            }
            (node.lower, node.upper) = (lower, upper);
        }
    }

    fn back_up(&mut self, path: &[(u32, u32)], utility: f32, same_side: bool) {
        let leaf = path.last().map(|&(_, edge)| self.edges[edge as usize].child);
        if let Some(leaf) = leaf {
            self.back_up_from(leaf as usize, path, utility, same_side);
        }
    }

    /// Adds a leaf's utility, seen by the side to move there, to everything on its path.
    fn back_up_from(
        &mut self,
        leaf: usize,
        path: &[(u32, u32)],
        mut utility: f32,
        mut same_side: bool,
    ) {
        self.nodes[leaf].visits += 1;
        self.nodes[leaf].utility_sum += utility;
        for &(node, edge) in path.iter().rev() {
            if !same_side {
                utility = -utility;
            }
            let edge = &mut self.edges[edge as usize];
            edge.visits += 1;
            edge.in_flight = edge.in_flight.saturating_sub(1);
            edge.utility_sum += utility;
            let node = &mut self.nodes[node as usize];
            node.visits += 1;
            node.utility_sum += utility;
            same_side = node.same_side;
        }
    }

    fn free_slot(&mut self) -> usize {
        if let Some(slot) = self.pending.iter().position(|pending| !pending.live) {
            return slot;
        }
        self.pending.push(Pending {
            board: Board::start(),
            legal: SquareSet(G::PLAYABLE),
            same_side: false,
            path: Vec::with_capacity(64),
            live: false,
        });
        self.pending.len() - 1
    }
}

fn unexpanded<G: Geometry>(board: Board<G>, same_side: bool) -> Node<G> {
    Node {
        board,
        first_edge: 0,
        visits: 0,
        utility_sum: 0.0,
        edges: 0,
        same_side,
        lower: -(G::SQUARES as i8),
        upper: G::SQUARES as i8,
    }
}
