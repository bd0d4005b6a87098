//! The root of the tree: how it moves, what the tree keeps then, and the statistics of its moves.

use super::edge::{Edge, bring_likeliest_next};
use super::select;
use super::tree::{ROOT, RootSums, Tree, root_edge};
use super::utility::UtilityFunction;
use crate::game::{Bitboard, Board, Geometry, MAX_SQUARES, Square};

/// How many plies below the old root a new one is searched for. Between two moves of one player
/// there are two plies, or more if a side passes.
const MAX_PLIES: u32 = 4;

/// The statistics of one move at the root.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct MoveStats {
    /// The move.
    pub square: Square,
    /// Finished simulations.
    pub visits: u32,
    /// The prior, noise included.
    pub prior: f32,
    /// The mean utility for the side to move, clamped to the bounds; `None` without a visit.
    pub utility: Option<f32>,
    /// The lower bound on the exact final score.
    pub lower: i8,
    /// The upper bound on the exact final score.
    pub upper: i8,
}

/// The best score that is proven at the root: the greatest lower bound of its moves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct ProvenScore {
    pub score: i8,
    /// Whether a move with this lower bound can still have a greater score.
    can_grow: bool,
}

impl ProvenScore {
    pub fn of(moves: &[MoveStats]) -> ProvenScore {
        let score = moves.iter().map(|stats| stats.lower).max().unwrap_or(i8::MIN);
        let can_grow = moves.iter().any(|stats| stats.lower == score && stats.upper > score);
        ProvenScore { score, can_grow }
    }
}

impl MoveStats {
    /// Whether the move can still be the best one. A move that can at most equal the score that
    /// another move proves does not count.
    pub(super) fn may_be_best(&self, proven: ProvenScore) -> bool {
        self.upper > proven.score || self.lower == proven.score && !proven.can_grow
    }
}

impl<G: Geometry> Tree<G> {
    /// Makes `board`, which must have a legal move, the root. With `reuse` the tree keeps the
    /// statistics below `board`, if it is the present root or at most four plies below it.
    ///
    /// Leaves that wait for a prediction are dropped; their tickets become invalid.
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

    /// Sets the weight of the final disc difference in the utility. If it changes, the tree is
    /// cleared, since its utilities have the old weight.
    pub(super) fn set_score_weight(&mut self, weight: f32) {
        let utility = UtilityFunction::new(weight, G::SQUARES);
        if utility != self.utility {
            self.utility = utility;
            self.clear();
        }
    }

    /// Removes all statistics; the root position stays.
    pub fn clear(&mut self) {
        self.forget_pending();
        self.edges.clear();
        self.edges.push(root_edge::<G>());
        self.sums = RootSums::default();
        self.raw_utility = 0.0;
        self.net_priors = None;
    }

    /// The index of the expanded edge that leads to `board`.
    fn find(&self, board: Board<G>) -> Option<usize> {
        if board == self.board {
            return (self.edges[ROOT].moves > 0).then_some(ROOT);
        }
        let plies = board.discs().saturating_sub(self.board.discs());
        if plies == 0 || plies > MAX_PLIES {
            None
        } else {
            self.find_below(ROOT, self.board, board)
        }
    }

    /// The same below the edge `at`, which leads to `board`. Of several edges, the most visited.
    fn find_below(&self, at: usize, board: Board<G>, wanted: Board<G>) -> Option<usize> {
        let here = &self.edges[at];
        let places = here.children().take(here.followed as usize);
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
                self.find_below(place, next, wanted)
            } else {
                None
            }
        });
        candidates.max_by_key(|&place| self.edges[place].visits)
    }

    /// Makes the edge `root` the root edge: copies the subtree below it to a new array, in
    /// breadth-first order.
    fn extract(&mut self, root: usize) {
        self.spare.clear();
        let old = self.edges[root];
        let (lower, upper) = old.child_bounds();
        self.spare.push(Edge {
            utility_sum: old.child_utility_sum(),
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
                self.spare.extend_from_slice(&self.edges[here.children()]);
                self.spare[at].first = first as u32;
                self.spare[at].followed = drop_unanswered(&mut self.spare[first..], here.followed);
            }
            at += 1;
        }
        std::mem::swap(&mut self.edges, &mut self.spare);
        self.sums = RootSums::default();
    }

    /// Converts the statistics of the new root, which was an interior node, to those of a root.
    fn prepare_moved_root(&mut self) {
        let moves = self.moves();
        // The utility of the first simulation, which expanded the position, is its sum less those
        // of its moves. With bounds the sums are clamped, and the mean is a better estimate.
        let below: f64 = moves.iter().map(|edge| edge.utility_sum).sum();
        let (lower, upper) = self.bounds();
        let all = G::SQUARES as i8;
        let raw = match (lower, upper) == (-all, all) {
            true => (self.edges[ROOT].utility_sum - below) as f32,
            false => self.root_utility(),
        };
        // The solver may have found the exact score without the best move. The bounds of a root
        // follow from its moves, so that the search continues until a move proves the score.
        let proven = |of: fn(&Edge) -> i8| moves.iter().map(of).max();
        let (lower, upper) = (proven(|edge| edge.lower), proven(|edge| edge.upper));
        let root = &mut self.edges[ROOT];
        (root.lower, root.upper) = (lower.unwrap_or(-all), upper.unwrap_or(all));
        self.raw_utility = raw;
    }

    /// Whether the root is expanded, so that its moves have priors.
    pub fn is_expanded(&self) -> bool {
        self.edges[ROOT].moves > 0
    }

    /// Finished simulations of the root, including those kept from earlier searches.
    pub fn visits(&self) -> u32 {
        self.edges[ROOT].visits
    }

    /// Simulations that wait for a prediction.
    pub fn in_flight(&self) -> u32 {
        self.edges[ROOT].in_flight as u32
    }

    /// The exact final score of the root for the side to move, if it is proven.
    pub fn exact(&self) -> Option<i8> {
        let root = &self.edges[ROOT];
        root.is_exact().then_some(root.lower)
    }

    /// The bounds on the exact final score of the root for the side to move: lower, then upper.
    pub fn bounds(&self) -> (i8, i8) {
        (self.edges[ROOT].lower, self.edges[ROOT].upper)
    }

    /// The mean utility of the root for the side to move, clamped to its bounds.
    pub fn root_utility(&self) -> f32 {
        select::mean(&self.edges[ROOT], self.utility)
    }

    /// The utility of an exact final score.
    pub(super) fn utility_of(&self, score: i8) -> f32 {
        self.utility.exact(score)
    }

    /// The final disc difference of a utility; `None` if the value has a weight in the utility.
    pub fn score_of(&self, utility: f32) -> Option<f32> {
        self.utility.score_of(utility)
    }

    /// The value, -1 to 1, of a utility whose expected disc difference is `score`; `None` if the
    /// utility is the disc difference alone.
    pub fn value_of(&self, utility: f32, score: f32) -> Option<f32> {
        self.utility.value_of(utility, score)
    }

    /// The utility of the net's prediction for the root, without search. 0 before the prediction.
    /// For a root that was an interior node with proven bounds, its mean utility at that time.
    pub fn raw_utility(&self) -> f32 {
        self.raw_utility
    }

    /// The mean value of the simulations since the root was set, for the side to move: a win is 1,
    /// a loss -1. It is clamped to the bounds, so it is exact if the root is.
    pub fn root_value(&self) -> f32 {
        let (lower, upper) = self.bounds();
        let mean = match self.sums.simulations {
            0 => self.root_utility(),
            simulations => (self.sums.value / f64::from(simulations)) as f32,
        };
        mean.clamp(lower.signum() as f32, upper.signum() as f32)
    }

    /// The value of `c_puct` at the root, scaled by the spread of utilities.
    pub(super) fn root_c_puct(&self) -> f32 {
        self.selector.exploration(&self.edges[ROOT]).0
    }

    fn moves(&self) -> &[Edge] {
        &self.edges[self.edges[ROOT].children()]
    }

    /// The statistics of each legal move at the root, in the order of the squares.
    ///
    /// ```
    /// use outflank::game::{Board, Goal, Square8};
    /// use outflank::predict::Prediction;
    /// use outflank::search::endgame::Solver;
    /// use outflank::search::mcts::{Gathered, Mode, Options, TreeSearch};
    /// use rand::SeedableRng;
    ///
    /// let mut search = TreeSearch::<Square8>::new(Goal::Most, &Options::default());
    /// let mut solver = Solver::new(Goal::Most, 1 << 20);
    /// let mut random = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(1);
    /// search.begin(Board::start(), 40, Mode::Play);
    /// while let Some(Gathered::Leaf { ticket, .. }) = search.gather(&mut solver, &mut random) {
    ///     search.apply(ticket, Prediction { policy: &[0.0; 64], value: 0.0, score: 0.0 });
    /// }
    /// for found in search.tree().root_moves() {
    ///     assert_eq!((found.prior, found.lower, found.upper), (0.25, -64, 64));
    /// }
    /// assert!(search.tree().principal_variation(3).len() > 1);
    /// ```
    pub fn root_moves(&self) -> impl Iterator<Item = MoveStats> + '_ {
        let moves = self.moves();
        let mut left = moves.iter().fold(G::Bitboard::ZERO, |set, edge| set | G::mask(edge.square));
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

    /// The most visited line that begins with the root move `first`, at most `limit` moves.
    pub fn line_after(&self, first: Square, limit: usize) -> Vec<Square> {
        let root = &self.edges[ROOT];
        let followed = &self.edges[root.children()][..root.followed as usize];
        match followed.iter().find(|edge| edge.square == first) {
            Some(edge) => self.line_from(edge, vec![first], limit),
            None => vec![first],
        }
    }

    fn line_from(&self, from: &Edge, mut line: Vec<Square>, limit: usize) -> Vec<Square> {
        let mut here = from;
        while line.len() < limit {
            let followed = &self.edges[here.children()][..here.followed as usize];
            let best = followed.iter().max_by_key(|edge| edge.visits);
            let Some(edge) = best.filter(|edge| edge.visits > 0) else { break };
            line.push(edge.square);
            here = edge;
        }
        line
    }

    /// Replaces the priors of the root until [`Tree::set_root`] is called. `mix` gets each move
    /// with its prior from the net, and returns the new prior.
    pub fn adjust_root_priors(&mut self, mut mix: impl FnMut(Square, f32) -> f32) {
        self.restore_priors();
        let root = self.edges[ROOT];
        let moves = &mut self.edges[root.children()];
        let mut plain = [0.0; MAX_SQUARES];
        for edge in moves.iter_mut() {
            plain[edge.square.index()] = edge.prior;
            edge.prior = mix(edge.square, edge.prior);
        }
        bring_likeliest_next(moves, root.followed as usize);
        self.net_priors = Some(plain);
    }

    /// The prior of a root move from the net, without noise.
    pub(super) fn net_prior(&self, of: &MoveStats) -> f32 {
        self.net_priors.as_ref().map_or(of.prior, |plain| plain[of.square.index()])
    }

    /// Undoes `adjust_root_priors`, so that noise is never added twice.
    fn restore_priors(&mut self) {
        let Some(plain) = self.net_priors.take() else { return };
        let root = self.edges[ROOT];
        let moves = &mut self.edges[root.children()];
        for edge in moves.iter_mut() {
            edge.prior = plain[edge.square.index()];
        }
        bring_likeliest_next(moves, root.followed as usize);
    }
}

/// Clears the simulations in flight of `moves`. Moves without a finished simulation become
/// unfollowed again. Returns how many stay followed.
fn drop_unanswered(moves: &mut [Edge], followed: u8) -> u8 {
    let mut kept = 0;
    for place in 0..followed as usize {
        if moves[place].visits > 0 {
            moves.swap(kept, place);
            kept += 1;
        }
    }
    moves.iter_mut().for_each(|edge| edge.in_flight = 0);
    if kept < followed as usize {
        bring_likeliest_next(moves, kept);
    }
    kept as u8
}
