//! One search for one move: a budget of simulations, exploration at the root, and the result.

use rand::Rng;
use rand_distr::{Distribution, Gamma};

use super::gumbel::{self, Halving, QScale};
use super::options::{Options, Root};
use super::pruned;
use super::regularised;
use super::root::{MoveStats, ProvenScore};
use super::tree::{Gathered, Ticket, Tree};
use crate::game::{Board, Geometry, Goal, Square};
use crate::predict::Prediction;
use crate::search::draw::draw;
use crate::search::endgame::Solver;
use crate::search::stop::Stop;

/// Whether a search explores at its root.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// Noise at the root, for self-play: Dirichlet noise with [`Root::Puct`], sampled moves and
    /// sequential halving with [`Root::Gumbel`].
    Explore,
    /// No noise, to find the strongest move. The root selects by PUCT.
    Play,
    /// As [`Mode::Play`], to find the values of all moves too: every eighth simulation goes to the
    /// move that has the fewest. PUCT alone gives a move that looks bad a single one.
    Analyse,
}

/// In [`Mode::Analyse`] one simulation in this many goes to the move that has the fewest.
const EVEN_SHARE: u32 = 8;
/// Sum of the Dirichlet noise's parameters over all legal moves. With a fixed sum the noise is as
/// concentrated with many moves as with few.
const DIRICHLET_TOTAL: f32 = 10.0;
/// How many moves a Gumbel root samples.
const CONSIDERED: usize = 16;

/// A search for one move at a time. It keeps its tree from move to move.
///
/// ```
/// use outflank::game::{Goal, Square6, notation};
/// use outflank::predict::Prediction;
/// use outflank::search::endgame::Solver;
/// use outflank::search::mcts::{Gathered, Mode, Options, TreeSearch};
/// use rand::SeedableRng;
///
/// let line = "OOO***-O*-*-O*O***OOO*****O*O-*-O-O- O";
/// let board = notation::parse_obf::<Square6>(line)?.position.board;
/// // Positions with few empty squares are solved, so that no prediction counts.
/// let mut search = TreeSearch::new(Goal::Most, &Options::default());
/// let mut solver = Solver::<Square6>::new(Goal::Most, 1 << 20);
/// let mut random = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(1);
/// search.begin(board, 64, Mode::Play);
/// while let Some(Gathered::Leaf { ticket, .. }) = search.gather(&mut solver, &mut random) {
///     search.apply(ticket, Prediction { policy: &[0.0; 36], value: 0.0, score: 0.0 });
/// }
/// assert_eq!(search.tree().exact(), Some(8));
/// assert_eq!(search.best().map(notation::square_name::<Square6>).as_deref(), Some("a2"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct TreeSearch<G: Geometry> {
    tree: Tree<G>,
    options: Options,
    scale: QScale,
    mode: Mode,
    stop: Stop,
    /// Simulations of this search: the limit, those started, and those finished.
    budget: u32,
    begun: u32,
    finished: u32,
    /// Whether the root is expanded and its noise, if any, has been added.
    prepared: bool,
    halving: Halving,
    moves: Vec<MoveStats>,
    weights: Vec<f32>,
}

impl<G: Geometry> TreeSearch<G> {
    /// A search with an empty tree.
    pub fn new(goal: Goal, options: &Options) -> TreeSearch<G> {
        TreeSearch {
            tree: Tree::new(goal, options),
            options: options.clone(),
            scale: QScale::new(options),
            mode: Mode::Play,
            stop: Stop::default(),
            budget: 0,
            begun: 0,
            finished: 0,
            prepared: false,
            halving: Halving::default(),
            moves: Vec::with_capacity(32),
            weights: Vec::with_capacity(32),
        }
    }

    /// Starts the search of `board`, which must have a legal move.
    ///
    /// If the options allow it, the tree below this position is kept from the search before, unless
    /// its utilities had another score weight. The budget counts new simulations only.
    pub fn begin(&mut self, board: Board<G>, simulations: u32, mode: Mode) {
        self.tree.set_score_weight(self.options.score_weight_at(board.empties()));
        self.tree.set_root(board, self.options.tree_reuse);
        self.mode = mode;
        self.budget = simulations.max(1);
        (self.begun, self.finished) = (0, 0);
        self.prepared = false;
    }

    /// Adds simulations to the budget of the present search.
    pub fn extend(&mut self, simulations: u32) {
        self.budget = self.budget.saturating_add(simulations);
    }

    /// Sets the flag that ends searches. A search ends once the flag is set and its root is
    /// expanded.
    pub fn set_stop(&mut self, stop: Stop) {
        self.stop = stop;
    }

    /// Clears the tree, as for an unrelated game.
    pub fn forget(&mut self) {
        self.tree.clear();
    }

    /// Continues the search until it needs a prediction, waits for one, or ends.
    ///
    /// `None` means the end: the budget is spent, the root is proven, or the search is stopped.
    pub fn gather<R: Rng>(&mut self, solver: &mut Solver<G>, rng: &mut R) -> Option<Gathered<G>> {
        loop {
            let stopped = self.stop.is_set() && self.tree.is_expanded();
            let spent = self.begun >= self.budget || stopped;
            if spent || self.tree.exact().is_some() {
                return (self.finished < self.begun).then_some(Gathered::Waiting);
            }
            if self.tree.is_expanded() && !self.prepared {
                self.prepare_root(rng);
            }
            let mut forced = None;
            if self.uses_halving() {
                if self.halving.next().is_none() {
                    // A round ends when all of its simulations are finished.
                    if self.finished < self.begun {
                        return Some(Gathered::Waiting);
                    }
                    self.refresh_moves();
                    self.halving.halve(&self.moves, self.scale);
                }
                forced = self.halving.next().map(|place| self.moves[place].square);
            } else if self.mode == Mode::Analyse
                && self.prepared
                && self.begun.is_multiple_of(EVEN_SHARE)
            {
                forced = self.least_searched();
            }
            let gathered = self.tree.gather(solver, forced);
            if self.uses_halving() && forced.is_some() && !matches!(gathered, Gathered::Waiting) {
                self.halving.advance();
            }
            match gathered {
                Gathered::Waiting => return Some(Gathered::Waiting),
                Gathered::Known => {
                    self.begun += 1;
                    self.finished += 1;
                }
                Gathered::Leaf { .. } => {
                    self.begun += 1;
                    return Some(gathered);
                }
            }
        }
    }

    /// Takes the prediction for a gathered leaf.
    pub fn apply(&mut self, ticket: Ticket, prediction: Prediction<'_>) {
        self.finished += self.tree.apply(ticket, prediction) as u32;
    }

    /// Whether the root uses sequential halving now.
    fn uses_halving(&self) -> bool {
        self.prepared && self.options.root == Root::Gumbel && self.mode == Mode::Explore
    }

    /// The move with the fewest simulations among those whose score is open and may be the best.
    fn least_searched(&mut self) -> Option<Square> {
        self.refresh_moves();
        let proven = ProvenScore::of(&self.moves);
        let is_open = |stats: &&MoveStats| stats.lower < stats.upper && stats.may_be_best(proven);
        let open = self.moves.iter().filter(is_open);
        open.min_by_key(|stats| stats.visits).map(|stats| stats.square)
    }

    fn refresh_moves(&mut self) {
        self.moves.clear();
        self.moves.extend(self.tree.root_moves());
    }

    fn prepare_root<R: Rng>(&mut self, rng: &mut R) {
        self.prepared = true;
        match (self.mode, self.options.root) {
            (Mode::Explore, Root::Puct) => self.mix_noise(rng),
            (Mode::Explore, Root::Gumbel) => {
                let left = self.budget - self.begun;
                self.refresh_moves();
                self.halving.begin(&self.moves, CONSIDERED, left, rng);
            }
            (Mode::Play | Mode::Analyse, _) => {}
        }
    }

    /// Mixes Dirichlet noise into the root's priors. The total concentration is divided evenly
    /// among the moves.
    fn mix_noise<R: Rng>(&mut self, rng: &mut R) {
        let share = self.options.dirichlet_share;
        self.refresh_moves();
        let concentration = DIRICHLET_TOTAL / self.moves.len().max(1) as f32;
        let Ok(gamma) = Gamma::new(concentration, 1.0f32) else { return };
        self.weights.clear();
        self.weights.extend(self.moves.iter().map(|_| gamma.sample(rng)));
        let sum: f32 = self.weights.iter().sum();
        // With concentrations near 0 all samples can round to 0.
        if share > 0.0 && sum > 0.0 {
            let (moves, noise) = (&self.moves, &self.weights);
            self.tree.adjust_root_priors(|square, prior| {
                let place = moves.iter().position(|stats| stats.square == square);
                let noise = place.map_or(0.0, |place| noise[place]);
                (1.0 - share) * prior + share * noise / sum
            });
        }
    }

    /// The tree.
    pub fn tree(&self) -> &Tree<G> {
        &self.tree
    }

    /// The number of finished simulations of this search.
    pub fn simulations(&self) -> u32 {
        self.finished
    }

    /// The policy that the search found: a probability for each legal move, in the order of the
    /// squares. Empty before the root is expanded.
    ///
    /// - With sequential halving: its improved policy.
    /// - If some move's score is exact: the policy that visits converge to.
    /// - Else the shares of visits; before any visit, the priors.
    ///
    /// If the root is exact, only moves that are proven to be best have a share. Before that, a
    /// move has none if it can at most equal the score that another move proves.
    pub fn policy(&mut self) -> &[f32] {
        self.refresh_moves();
        let proven = ProvenScore::of(&self.moves);
        if self.uses_halving() && self.tree.exact().is_none() {
            let raw = self.tree.raw_utility();
            gumbel::improved_policy(&self.moves, raw, self.scale, &mut self.weights);
        } else if self.moves.iter().any(|stats| stats.lower == stats.upper) {
            // Exact moves are not visited again, so they have too few visits.
            regularised::policy(&self.moves, self.tree.root_c_puct(), &mut self.weights);
        } else {
            self.weights.clear();
            self.weights.extend(self.moves.iter().map(|stats| stats.visits as f32));
        }
        for (stats, weight) in self.moves.iter().zip(&mut self.weights) {
            match self.tree.exact() {
                Some(exact) => *weight = (stats.lower == exact) as u32 as f32,
                None if !stats.may_be_best(proven) => *weight = 0.0,
                None => {}
            }
        }
        let mut sum: f32 = self.weights.iter().sum();
        if sum <= 0.0 {
            let allowed = |stats: &MoveStats| stats.may_be_best(proven) as u32 as f32;
            self.weights.clear();
            self.weights.extend(self.moves.iter().map(|stats| allowed(stats) * stats.prior));
            sum = self.weights.iter().sum();
        }
        self.weights.iter_mut().for_each(|weight| *weight /= sum);
        &self.weights
    }

    /// The policy target of a self-play search whose move is chosen at `temperature`:
    /// [`TreeSearch::policy`]. With `prune_noise`, without the visits that come from noise alone.
    /// With `tempered_targets`, as the distribution from which the move is drawn.
    pub fn target(&mut self, temperature: f32) -> &[f32] {
        self.policy();
        let by_visits = self.moves.iter().all(|stats| stats.lower < stats.upper);
        if self.options.prune_noise && by_visits && !self.uses_halving() {
            let proven = ProvenScore::of(&self.moves);
            let priors: Vec<f32> = self.moves.iter().map(|s| self.tree.net_prior(s)).collect();
            pruned::visits(&self.moves, &priors, self.tree.root_c_puct(), &mut self.weights);
            for (stats, weight) in self.moves.iter().zip(&mut self.weights) {
                *weight = if stats.may_be_best(proven) { *weight } else { 0.0 };
            }
            let sum: f32 = self.weights.iter().sum();
            self.weights.iter_mut().for_each(|weight| *weight /= sum.max(f32::MIN_POSITIVE));
        }
        if self.options.tempered_targets {
            self.temper(temperature);
        }
        &self.weights
    }

    /// Turns the weights into the distribution from which a move is drawn at `temperature`.
    fn temper(&mut self, temperature: f32) {
        if temperature <= 0.0 {
            let best = self.strongest();
            for (stats, weight) in self.moves.iter().zip(&mut self.weights) {
                *weight = (Some(stats.square) == best) as u32 as f32;
            }
            return;
        }
        // Weights are divided by the greatest one, since at low temperatures powers underflow.
        let greatest = self.weights.iter().copied().fold(0.0, f32::max);
        for weight in self.weights.iter_mut().filter(|weight| **weight > 0.0) {
            *weight = (*weight / greatest).powf(1.0 / temperature);
        }
        let sum: f32 = self.weights.iter().sum();
        self.weights.iter_mut().for_each(|weight| *weight /= sum.max(f32::MIN_POSITIVE));
    }

    /// The move to play; `None` before the root is expanded.
    ///
    /// At `temperature` 0 it is the winner of sequential halving, or else the move with the
    /// greatest share in [`TreeSearch::policy`]. Above 0 it is drawn with probability proportional
    /// to that share to the power of `1 / temperature`. A move without a share is never chosen. At
    /// temperature 0, neither is a move whose utility is below that of a score that another move
    /// proves.
    pub fn choose<R: Rng>(&mut self, temperature: f32, rng: &mut R) -> Option<Square> {
        self.policy();
        if temperature <= 0.0 {
            return self.strongest();
        }
        self.temper(temperature);
        let drawn = draw(self.weights.iter().copied(), rng);
        drawn.map(|place| self.moves[place].square).or_else(|| self.most_searched())
    }

    /// The move of [`TreeSearch::choose`] at temperature 0.
    pub fn best(&mut self) -> Option<Square> {
        self.policy();
        self.strongest()
    }

    /// The winner of sequential halving if it was used, else the move with the greatest weight.
    fn strongest(&mut self) -> Option<Square> {
        if self.uses_halving() && self.tree.exact().is_none() {
            let place = self.halving.winner(&self.moves, self.scale)?;
            return Some(self.moves[place].square);
        }
        self.most_searched()
    }

    /// The move with the greatest weight; among equals, the one with the greatest utility.
    fn most_searched(&self) -> Option<Square> {
        let least = self.tree.utility_of(ProvenScore::of(&self.moves).score);
        let allowed = |stats: &MoveStats| stats.utility.is_none_or(|utility| utility >= least);
        let utility = |stats: &MoveStats| stats.utility.unwrap_or(-1.0);
        let pairs = self.moves.iter().zip(&self.weights);
        let best = pairs.filter(|(stats, _)| allowed(stats)).max_by(|(a, x), (b, y)| {
            x.total_cmp(y).then(utility(a).total_cmp(&utility(b))).then(b.square.cmp(&a.square))
        });
        best.map(|(stats, _)| stats.square)
    }
}
