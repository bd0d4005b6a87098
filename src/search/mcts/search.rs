//! One search for one move: a budget of simulations, a root strategy, and what comes of it.

use rand::Rng;
use rand_distr::{Distribution, Gamma};

use super::gumbel::{self, Halving, Scale};
use super::options::{Options, Root};
use super::pruned;
use super::regularised;
use super::root::{Floor, MoveStats};
use super::tree::{Gathered, Prediction, Ticket, Tree};
use crate::game::{Board, Geometry, Goal, Square};
use crate::search::draw::draw;
use crate::search::endgame::Solver;
use crate::search::stop::Stop;

/// How a search explores at its root.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// Noise at the root, for games that are to be learnt from: Dirichlet noise under
    /// [`Root::Puct`], sampled moves and sequential halving under [`Root::Gumbel`].
    Explore,
    /// No noise: the strongest move wanted.
    Play,
}

/// A search over a tree that it keeps from move to move.
pub struct TreeSearch<G: Geometry> {
    tree: Tree<G>,
    options: Options,
    scale: Scale,
    mode: Mode,
    stop: Stop,
    /// Simulations to run, begun, and finished.
    budget: u32,
    begun: u32,
    finished: u32,
    /// Whether the root's priors are known and noise, if any is wanted, has been mixed in.
    prepared: bool,
    halving: Halving,
    moves: Vec<MoveStats>,
    weights: Vec<f32>,
}

impl<G: Geometry> TreeSearch<G> {
    /// A search without a tree yet.
    pub fn new(goal: Goal, options: &Options) -> TreeSearch<G> {
        TreeSearch {
            tree: Tree::new(goal, options),
            options: options.clone(),
            scale: Scale::new(options),
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
    /// What an earlier search found below this position is kept if the options allow, and if it
    /// strove for the same, but the budget counts new simulations only.
    pub fn begin(&mut self, board: Board<G>, simulations: u32, mode: Mode) {
        self.tree.weigh_score(self.options.score_weight_at(board.empties()));
        self.tree.set_root(board, self.options.tree_reuse);
        self.mode = mode;
        self.budget = simulations.max(1);
        (self.begun, self.finished) = (0, 0);
        self.prepared = false;
    }

    /// Adds simulations to a search that has begun.
    pub fn extend(&mut self, simulations: u32) {
        self.budget = self.budget.saturating_add(simulations);
    }

    /// Searches from now on are done once this flag is set and the root's moves are known, whatever
    /// their budget.
    pub fn set_stop(&mut self, stop: Stop) {
        self.stop = stop;
    }

    /// Drops the tree, as before an unrelated game.
    pub fn forget(&mut self) {
        self.tree.clear();
    }

    /// Goes on until the search needs an answer, waits for one, or is done.
    ///
    /// `None` means done: the budget is spent, the root is proven, or the search is stopped.
    pub fn gather<R: Rng>(&mut self, solver: &mut Solver<G>, rng: &mut R) -> Option<Gathered<G>> {
        loop {
            let stopped = self.stop.is_set() && self.tree.is_expanded();
            let spent = self.begun >= self.budget || stopped;
            if spent || self.tree.exact().is_some() {
                return (self.finished < self.begun).then_some(Gathered::Busy);
            }
            if self.tree.is_expanded() && !self.prepared {
                self.prepare_root(rng);
            }
            let mut forced = None;
            if self.halves() {
                if self.halving.next().is_none() {
                    // A round is judged by all of its simulations.
                    if self.finished < self.begun {
                        return Some(Gathered::Busy);
                    }
                    self.look_at_moves();
                    self.halving.halve(&self.moves, self.scale);
                }
                forced = self.halving.next().map(|place| self.moves[place].square);
            }
            let gathered = self.tree.gather(solver, forced);
            if forced.is_some() && !matches!(gathered, Gathered::Busy) {
                self.halving.advance();
            }
            match gathered {
                Gathered::Busy => return Some(Gathered::Busy),
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

    /// Takes the answer for a gathered leaf.
    pub fn apply(&mut self, ticket: Ticket, answer: Prediction<'_>) {
        self.finished += self.tree.apply(ticket, answer) as u32;
    }

    /// Whether sequential halving is under way at the root.
    fn halves(&self) -> bool {
        self.prepared && self.options.root == Root::Gumbel && self.mode == Mode::Explore
    }

    fn look_at_moves(&mut self) {
        self.moves.clear();
        self.moves.extend(self.tree.root_moves());
    }

    fn prepare_root<R: Rng>(&mut self, rng: &mut R) {
        self.prepared = true;
        match (self.mode, self.options.root) {
            (Mode::Explore, Root::Puct) => self.mix_noise(rng),
            (Mode::Explore, Root::Gumbel) => {
                let left = self.budget - self.begun;
                let considered = self.options.gumbel_considered as usize;
                self.look_at_moves();
                self.halving.begin(&self.moves, considered, left, rng);
            }
            (Mode::Play, _) => {}
        }
    }

    /// Mixes Dirichlet noise into the root's priors, its concentration shared among the moves.
    fn mix_noise<R: Rng>(&mut self, rng: &mut R) {
        let share = self.options.dirichlet_share;
        self.look_at_moves();
        let concentration = self.options.dirichlet_total / self.moves.len().max(1) as f32;
        let Ok(gamma) = Gamma::new(concentration, 1.0f32) else { return };
        self.weights.clear();
        self.weights.extend(self.moves.iter().map(|_| gamma.sample(rng)));
        let sum: f32 = self.weights.iter().sum();
        // With concentrations near zero all samples can be too small for a float.
        if share > 0.0 && sum > 0.0 {
            let (moves, noise) = (&self.moves, &self.weights);
            self.tree.adjust_root_priors(|square, prior| {
                let place = moves.iter().position(|stats| stats.square == square);
                let noise = place.map_or(0.0, |place| noise[place]);
                (1.0 - share) * prior + share * noise / sum
            });
        }
    }

    /// The tree as the search has left it.
    pub fn tree(&self) -> &Tree<G> {
        &self.tree
    }

    /// Simulations that this search has finished.
    pub fn simulations(&self) -> u32 {
        self.finished
    }

    /// The share of attention that each legal move deserves, in the order of the squares:
    /// visits, or the improved policy of sequential halving; the priors before any visit; where
    /// a move's score is exact, what visits tend to; the proven best moves alone where the root
    /// is exact. A move that is proven not to be better than another gets nothing. Empty before
    /// the root's moves are known.
    pub fn policy(&mut self) -> &[f32] {
        self.look_at_moves();
        let floor = Floor::of(&self.moves);
        if self.halves() && self.tree.exact().is_none() {
            let raw = self.tree.raw_utility();
            gumbel::improved_policy(&self.moves, raw, self.scale, &mut self.weights);
        } else if self.moves.iter().any(|stats| stats.lower == stats.upper) {
            // Exact moves are not searched again, so visits do not tell what they deserve.
            regularised::policy(&self.moves, self.tree.root_c_puct(), &mut self.weights);
        } else {
            self.weights.clear();
            self.weights.extend(self.moves.iter().map(|stats| stats.visits as f32));
        }
        for (stats, weight) in self.moves.iter().zip(&mut self.weights) {
            match self.tree.exact() {
                Some(exact) => *weight = (stats.lower == exact) as u32 as f32,
                None if !stats.may_be_best(floor) => *weight = 0.0,
                None => {}
            }
        }
        let mut sum: f32 = self.weights.iter().sum();
        if sum <= 0.0 {
            let useful = |stats: &MoveStats| stats.may_be_best(floor) as u32 as f32;
            self.weights.clear();
            self.weights.extend(self.moves.iter().map(|stats| useful(stats) * stats.prior));
            sum = self.weights.iter().sum();
        }
        self.weights.iter_mut().for_each(|weight| *weight /= sum);
        &self.weights
    }

    /// What is to be learnt of a search for self-play whose move is chosen at `temperature`:
    /// [`TreeSearch::policy`]; if the options say so, less what noise alone has earned, and as the
    /// distribution that the move is drawn from.
    pub fn target(&mut self, temperature: f32) -> &[f32] {
        self.policy();
        let by_visits = self.moves.iter().all(|stats| stats.lower < stats.upper);
        if self.options.prune_noise && by_visits && !self.halves() {
            let floor = Floor::of(&self.moves);
            let priors: Vec<f32> = self.moves.iter().map(|s| self.tree.plain_prior(s)).collect();
            pruned::visits(&self.moves, &priors, self.tree.root_c_puct(), &mut self.weights);
            for (stats, weight) in self.moves.iter().zip(&mut self.weights) {
                *weight = if stats.may_be_best(floor) { *weight } else { 0.0 };
            }
            let sum: f32 = self.weights.iter().sum();
            self.weights.iter_mut().for_each(|weight| *weight /= sum.max(f32::MIN_POSITIVE));
        }
        if self.options.tempered_targets {
            self.temper(temperature);
        }
        &self.weights
    }

    /// Turns the weights into the distribution that a move is drawn from at `temperature`.
    fn temper(&mut self, temperature: f32) {
        if temperature <= 0.0 {
            let best = self.strongest();
            for (stats, weight) in self.moves.iter().zip(&mut self.weights) {
                *weight = (Some(stats.square) == best) as u32 as f32;
            }
            return;
        }
        // Powers of shares of the greatest weight, for at low temperatures others are too small.
        let greatest = self.weights.iter().copied().fold(0.0, f32::max);
        for weight in self.weights.iter_mut().filter(|weight| **weight > 0.0) {
            *weight = (*weight / greatest).powf(1.0 / temperature);
        }
        let sum: f32 = self.weights.iter().sum();
        self.weights.iter_mut().for_each(|weight| *weight /= sum.max(f32::MIN_POSITIVE));
    }

    /// The move to play. At `temperature` 0 it is the most searched one, or the winner of
    /// sequential halving; above, it is drawn in proportion to attention to the power of
    /// `1 / temperature`. A move that is proven not to be better than another is never chosen,
    /// nor at temperature 0 one that looks worse than what another is proven to reach.
    ///
    /// `None` before the root's moves are known.
    pub fn choose<R: Rng>(&mut self, temperature: f32, rng: &mut R) -> Option<Square> {
        self.policy();
        if temperature <= 0.0 {
            return self.strongest();
        }
        self.temper(temperature);
        let drawn = draw(self.weights.iter().copied(), rng);
        drawn.map(|place| self.moves[place].square).or_else(|| self.most_searched())
    }

    /// The move that [`TreeSearch::choose`] plays at temperature 0.
    pub fn best(&mut self) -> Option<Square> {
        self.policy();
        self.strongest()
    }

    /// The winner of sequential halving where there was one, else the most searched move.
    fn strongest(&mut self) -> Option<Square> {
        if self.halves() && self.tree.exact().is_none() {
            let place = self.halving.winner(&self.moves, self.scale)?;
            return Some(self.moves[place].square);
        }
        self.most_searched()
    }

    /// The move with the greatest weight; among equals the one of the greatest utility.
    fn most_searched(&self) -> Option<Square> {
        let least = self.tree.utility_of(Floor::of(&self.moves).score);
        let fair = |stats: &MoveStats| stats.utility.is_none_or(|utility| utility >= least);
        let utility = |stats: &MoveStats| stats.utility.unwrap_or(-1.0);
        let pairs = self.moves.iter().zip(&self.weights);
        let best = pairs.filter(|(stats, _)| fair(stats)).max_by(|(a, x), (b, y)| {
            x.total_cmp(y).then(utility(a).total_cmp(&utility(b))).then(b.square.cmp(&a.square))
        });
        best.map(|(stats, _)| stats.square)
    }
}
