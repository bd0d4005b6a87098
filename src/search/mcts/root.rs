//! The root of the tree: where it lies, what is kept when it moves, and what it knows.

use super::edge::{Edge, bring_next};
use super::select;
use super::tree::{ROOT, RootSums, Tree, root_edge};
use super::utility::Utility;
use crate::game::{Board, Geometry, MAX_SQUARES, Square, Word};

/// How many plies below the old root a new one is looked for. Two suffice between two moves of
/// one player unless somebody passes.
const REACH: u32 = 4;

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

/// The score that some move at the root is proven to reach at least.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Floor {
    pub score: i8,
    /// Whether a move that reaches it may still reach more.
    open: bool,
}

impl Floor {
    /// The floor of all moves at the root.
    pub fn of(moves: &[MoveStats]) -> Floor {
        let score = moves.iter().map(|stats| stats.lower).max().unwrap_or(i8::MIN);
        let open = moves.iter().any(|stats| stats.lower == score && stats.upper > score);
        Floor { score, open }
    }
}

impl MoveStats {
    /// Whether the move can still be the best one. A move that at most equals another's proven
    /// score is left to that one.
    pub(super) fn may_be_best(&self, floor: Floor) -> bool {
        self.upper > floor.score || self.lower == floor.score && !floor.open
    }
}

impl<G: Geometry> Tree<G> {
    /// Makes `board` the root. What the tree knows below it is kept if `reuse` is set and it is
    /// the present root or up to four plies below.
    ///
    /// `board` must have a legal move. Unanswered leaves are forgotten.
    pub fn set_root(&mut self, board: Board<G>, reuse: bool) {
        debug_assert!(!board.legal().is_empty(), "a root without a move: {board:?}");
        self.forget_pending();
        self.restore_priors();
        match self.find(board).filter(|_| reuse) {
            Some(place) => {
                self.extract(place);
                if place != ROOT {
                    self.prepare_moved_root();
                }
            }
            None => self.clear(),
        }
        self.board = board;
    }

    /// Sets the weight of the final disc difference in the utility. A tree whose utilities have
    /// another weight is forgotten.
    pub(super) fn weigh_score(&mut self, weight: f32) {
        let utility = Utility::new(weight, G::SQUARES);
        if utility != self.utility {
            self.utility = utility;
            self.clear();
        }
    }

    /// Forgets everything but where the root is.
    pub fn clear(&mut self) {
        self.forget_pending();
        self.edges.clear();
        self.edges.push(root_edge::<G>());
        self.sums = RootSums::default();
        self.raw_utility = 0.0;
        self.plain_priors = None;
    }

    /// The place of the edge that leads to `board` and is expanded.
    fn find(&self, board: Board<G>) -> Option<usize> {
        if board == self.board {
            return (self.edges[ROOT].moves > 0).then_some(ROOT);
        }
        let plies = board.discs().saturating_sub(self.board.discs());
        if plies == 0 || plies > REACH { None } else { self.find_behind(ROOT, self.board, board) }
    }

    /// The same below the edge `at`, which leads to `board`; of several the most visited.
    fn find_behind(&self, at: usize, board: Board<G>, wanted: Board<G>) -> Option<usize> {
        let here = &self.edges[at];
        let places = here.behind().take(here.opened as usize);
        let candidates = places.filter_map(|place| {
            let edge = &self.edges[place];
            if edge.moves == 0 || wanted.empty().contains(edge.square) {
                return None;
            }
            let next = board.play_unchecked(edge.square);
            let next = if edge.same_side { next.pass() } else { next };
            if next == wanted {
                Some(place)
            } else if next.discs() < wanted.discs() {
                self.find_behind(place, next, wanted)
            } else {
                None
            }
        });
        candidates.max_by_key(|&place| self.edges[place].visits)
    }

    /// Copies what lies behind the edge `root` to the front of a fresh array, in breadth-first
    /// order.
    fn extract(&mut self, root: usize) {
        self.spare.clear();
        let old = self.edges[root];
        let (lower, upper) = old.bounds_behind();
        self.spare.push(Edge {
            utility_sum: old.utility_sum_behind(),
            in_flight: 0,
            lower,
            upper,
            ..Edge { same_side: true, prior: 1.0, ..old }
        });
        let mut at = 0;
        while at < self.spare.len() {
            let here = self.spare[at];
            if here.moves > 0 {
                let first = self.spare.len();
                self.spare.extend_from_slice(&self.edges[here.behind()]);
                self.spare[at].first = first as u32;
                self.spare[at].opened = close_unanswered(&mut self.spare[first..], here.opened);
            }
            at += 1;
        }
        std::mem::swap(&mut self.edges, &mut self.spare);
        self.sums = RootSums::default();
    }

    /// Brings what is known of the root, which was a position within the tree, to what a root needs.
    fn prepare_moved_root(&mut self) {
        let moves = self.moves();
        // All other simulations went on along one of its moves; but bounds on a position change
        // what comes by it, and then its mean is the better guess.
        let below: f64 = moves.iter().map(|edge| edge.utility_sum).sum();
        let (lower, upper) = self.bounds();
        let all = G::SQUARES as i8;
        let raw = match (lower, upper) == (-all, all) {
            true => (self.edges[ROOT].utility_sum - below) as f32,
            false => self.root_utility(),
        };
        // A score that was solved as a whole says nothing about which move reaches it, and a root
        // is searched until its moves prove what it is worth.
        let proven = |of: fn(&Edge) -> i8| moves.iter().map(of).max();
        let (lower, upper) = (proven(|edge| edge.lower), proven(|edge| edge.upper));
        let root = &mut self.edges[ROOT];
        (root.lower, root.upper) = (lower.unwrap_or(-all), upper.unwrap_or(all));
        self.raw_utility = raw;
    }

    /// Whether the root's moves are known, so that noise and statistics make sense.
    pub fn is_expanded(&self) -> bool {
        self.edges[ROOT].moves > 0
    }

    /// Simulations that went through the root, kept ones included.
    pub fn visits(&self) -> u32 {
        self.edges[ROOT].visits
    }

    /// Unanswered simulations.
    pub fn in_flight(&self) -> u32 {
        self.edges[ROOT].in_flight as u32
    }

    /// The root's exact final score for the side to move, if it is proven.
    pub fn exact(&self) -> Option<i8> {
        let root = &self.edges[ROOT];
        root.is_exact().then_some(root.lower)
    }

    /// Bounds on the root's exact final score for the side to move.
    pub fn bounds(&self) -> (i8, i8) {
        (self.edges[ROOT].lower, self.edges[ROOT].upper)
    }

    /// The root's mean utility for the side to move, within what its bounds allow.
    pub fn root_utility(&self) -> f32 {
        select::mean(&self.edges[ROOT], self.utility)
    }

    /// The utility of an exact final score.
    pub(super) fn utility_of(&self, score: i8) -> f32 {
        self.utility.exact(score)
    }

    /// The final disc difference that a utility stands for; `None` where the value counts as well.
    pub fn score_of(&self, utility: f32) -> Option<f32> {
        self.utility.score_of(utility)
    }

    /// The expected outcome, -1 to 1, behind a utility where the disc difference is expected to be
    /// `score`; `None` where that alone counts.
    pub fn value_of(&self, utility: f32, score: f32) -> Option<f32> {
        self.utility.value_of(utility, score)
    }

    /// The utility of the net's own estimate of the root, before any search; 0 before that, and the
    /// mean so far of a position within the tree that became the root with some of it proven.
    pub fn raw_utility(&self) -> f32 {
        self.raw_utility
    }

    /// The mean outcome of the simulations since the root was set, for the side to move: a win
    /// is 1, a loss -1. Exact where the root is; within what its bounds allow.
    pub fn root_value(&self) -> f32 {
        let (lower, upper) = self.bounds();
        let mean = match self.sums.simulations {
            0 => self.root_utility(),
            simulations => (self.sums.value / f64::from(simulations)) as f32,
        };
        mean.clamp(lower.signum() as f32, upper.signum() as f32)
    }

    /// The weight of the prior against the value at the root.
    pub(super) fn root_c_puct(&self) -> f32 {
        self.selector.exploration(&self.edges[ROOT]).0
    }

    fn moves(&self) -> &[Edge] {
        &self.edges[self.edges[ROOT].behind()]
    }

    /// What is known about each legal move at the root, in the order of the squares.
    pub fn root_moves(&self) -> impl Iterator<Item = MoveStats> + '_ {
        let moves = self.moves();
        let mut left = moves.iter().fold(G::Word::ZERO, |set, edge| set | G::mask(edge.square));
        let squares = std::iter::from_fn(move || {
            (!left.is_zero()).then(|| {
                let square = G::square_at(left.lowest());
                left = left.without_lowest();
                square
            })
        });
        squares.filter_map(|square| moves.iter().find(|edge| edge.square == square)).map(|edge| {
            MoveStats {
                square: edge.square,
                visits: edge.visits,
                prior: edge.prior,
                utility: (edge.visits > 0).then(|| select::mean(edge, self.utility)),
                lower: edge.lower,
                upper: edge.upper,
            }
        })
    }

    /// The most visited line from the root, at most `limit` moves.
    pub fn principal_variation(&self, limit: usize) -> Vec<Square> {
        self.line_from(&self.edges[ROOT], Vec::new(), limit)
    }

    /// The most visited line that begins with one of the root's moves, at most `limit` moves.
    pub fn line_behind(&self, first: Square, limit: usize) -> Vec<Square> {
        let root = &self.edges[ROOT];
        let opened = &self.edges[root.behind()][..root.opened as usize];
        match opened.iter().find(|edge| edge.square == first) {
            Some(edge) => self.line_from(edge, vec![first], limit),
            None => vec![first],
        }
    }

    fn line_from(&self, from: &Edge, mut line: Vec<Square>, limit: usize) -> Vec<Square> {
        let mut here = from;
        while line.len() < limit {
            let opened = &self.edges[here.behind()][..here.opened as usize];
            let best = opened.iter().max_by_key(|edge| edge.visits);
            let Some(edge) = best.filter(|edge| edge.visits > 0) else { break };
            line.push(edge.square);
            here = edge;
        }
        line
    }

    /// Replaces the root's priors until the root moves or is set again: `mix` gets each square
    /// with the prior that the net gave it.
    pub fn adjust_root_priors(&mut self, mut mix: impl FnMut(Square, f32) -> f32) {
        self.restore_priors();
        let root = self.edges[ROOT];
        let moves = &mut self.edges[root.behind()];
        let mut plain = [0.0; MAX_SQUARES];
        for edge in moves.iter_mut() {
            plain[edge.square.index()] = edge.prior;
            edge.prior = mix(edge.square, edge.prior);
        }
        bring_next(moves, root.opened as usize);
        self.plain_priors = Some(plain);
    }

    /// The prior of a move at the root as the net gave it.
    pub(super) fn plain_prior(&self, of: &MoveStats) -> f32 {
        self.plain_priors.as_ref().map_or(of.prior, |plain| plain[of.square.index()])
    }

    /// Takes back what `adjust_root_priors` did, so that it cannot pile up.
    fn restore_priors(&mut self) {
        let Some(plain) = self.plain_priors.take() else { return };
        let root = self.edges[ROOT];
        let moves = &mut self.edges[root.behind()];
        for edge in moves.iter_mut() {
            edge.prior = plain[edge.square.index()];
        }
        bring_next(moves, root.opened as usize);
    }
}

/// Puts moves whose only simulations were dropped unanswered back among those that nobody
/// followed, and forgets all that is in flight. Returns how many stay followed.
fn close_unanswered(moves: &mut [Edge], opened: u8) -> u8 {
    let mut kept = 0;
    for place in 0..opened as usize {
        if moves[place].visits > 0 {
            moves.swap(kept, place);
            kept += 1;
        }
    }
    moves.iter_mut().for_each(|edge| edge.in_flight = 0);
    if kept < opened as usize {
        bring_next(moves, kept);
    }
    kept as u8
}
