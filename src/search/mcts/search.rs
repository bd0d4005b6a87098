//! One search for one move: a budget of simulations, a root strategy, and what comes of it.

use rand::{Rng, RngExt};
use rand_distr::{Distribution, Gamma};

use super::gumbel::{self, Halving, Scale};
use super::options::{Options, Root};
use super::tree::{Answer, Gathered, MoveStats, Ticket, Tree};
use crate::game::{Board, Geometry, Goal, Square};
use crate::search::endgame::Solver;

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
pub struct Search<G: Geometry> {
    tree: Tree<G>,
    options: Options,
    scale: Scale,
    mode: Mode,
    /// Simulations to run, begun, and finished.
    budget: u32,
    begun: u32,
    finished: u32,
    /// Whether noise is still to be mixed in once the root's priors are known.
    prepared: bool,
    halving: Halving,
    moves: Vec<MoveStats>,
    weights: Vec<f32>,
}

impl<G: Geometry> Search<G> {
    /// A search without a tree yet.
    pub fn new(goal: Goal, options: &Options) -> Search<G> {
        Search {
            tree: Tree::new(goal, options),
            options: options.clone(),
            scale: Scale::new(options),
            mode: Mode::Play,
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
    /// What an earlier search found below this position is kept if the options allow, but the
    /// budget counts new simulations only.
    pub fn begin(&mut self, board: Board<G>, simulations: u32, mode: Mode) {
        self.tree.set_root(board, self.options.tree_reuse);
        self.mode = mode;
        self.budget = simulations.max(1);
        (self.begun, self.finished) = (0, 0);
        self.prepared = false;
    }

    /// Drops the tree, as before an unrelated game.
    pub fn forget(&mut self) {
        self.tree.clear();
    }

    /// Goes on until the search needs an answer, waits for one, or is done.
    ///
    /// `None` means done: the budget is spent or the root is proven.
    pub fn gather<R: Rng>(&mut self, solver: &mut Solver<G>, rng: &mut R) -> Option<Gathered<G>> {
        loop {
            if self.tree.exact().is_some() || self.begun >= self.budget {
                return (self.finished < self.begun).then_some(Gathered::Busy);
            }
            if self.tree.is_expanded() && !self.prepared {
                self.prepare_root(rng);
            }
            let forced = (self.prepared && self.halves()).then(|| {
                self.moves.clear();
                self.moves.extend(self.tree.root_moves());
                self.halving.next(&self.moves, self.scale)
            });
            let gathered = self.tree.gather(solver, forced);
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
    pub fn apply(&mut self, ticket: Ticket, answer: Answer<'_>) {
        self.tree.apply(ticket, answer);
        self.finished += 1;
    }

    fn halves(&self) -> bool {
        self.options.root == Root::Gumbel && self.mode == Mode::Explore
    }

    fn prepare_root<R: Rng>(&mut self, rng: &mut R) {
        self.prepared = true;
        match (self.mode, self.options.root) {
            (Mode::Explore, Root::Puct) => self.mix_noise(rng),
            (Mode::Explore, Root::Gumbel) => {
                let left = self.budget - self.begun;
                let considered = self.options.gumbel_considered as usize;
                self.halving.begin(self.tree.root_moves(), considered, left, rng);
            }
            (Mode::Play, _) => {}
        }
    }

    /// Mixes Dirichlet noise into the root's priors, its concentration shared among the moves.
    fn mix_noise<R: Rng>(&mut self, rng: &mut R) {
        let share = self.options.dirichlet_share;
        let moves = self.tree.root_moves().count();
        let concentration = self.options.dirichlet_total / moves.max(1) as f32;
        let Ok(gamma) = Gamma::new(concentration, 1.0f32) else { return };
        self.weights.clear();
        self.weights.extend((0..moves).map(|_| gamma.sample(rng)));
        let sum: f32 = self.weights.iter().sum();
        if share > 0.0 && sum > 0.0 {
            let noise = &self.weights;
            self.tree.adjust_root_priors(|place, prior| {
                (1.0 - share) * prior + share * noise[place] / sum
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
    /// visits, or the improved policy of sequential halving; the proven
    /// best moves alone where the root is exact.
    pub fn policy(&mut self) -> &[f32] {
        self.moves.clear();
        self.moves.extend(self.tree.root_moves());
        if let Some(exact) = self.tree.exact() {
            self.weights.clear();
            self.weights
                .extend(self.moves.iter().map(|stats| (stats.lower == exact) as u32 as f32));
        } else if self.halves() {
            let root = self.tree.root_utility();
            gumbel::improved_policy(&self.moves, root, self.scale, &mut self.weights);
        } else {
            self.weights.clear();
            self.weights.extend(self.moves.iter().map(|stats| stats.visits as f32));
        }
        let sum: f32 = self.weights.iter().sum();
        if sum > 0.0 {
            self.weights.iter_mut().for_each(|weight| *weight /= sum);
        } else {
            let even = 1.0 / self.weights.len().max(1) as f32;
            self.weights.fill(even);
        }
        &self.weights
    }

    /// The move to play, drawn in proportion to attention to the power of `1 / temperature`;
    /// the best one at 0. A move that is proven worse than another is never drawn.
    ///
    /// `None` before the root's moves are known.
    pub fn choose<R: Rng>(&mut self, temperature: f32, rng: &mut R) -> Option<Square> {
        if self.halves() && temperature == 0.0 && self.tree.exact().is_none() {
            self.moves.clear();
            self.moves.extend(self.tree.root_moves());
            let place = self.halving.winner(&self.moves, self.scale)?;
            return Some(self.moves[place].square);
        }
        self.policy();
        let floor = self.moves.iter().map(|stats| stats.lower).max()?;
        let sensible = |stats: &MoveStats| stats.upper > floor || stats.lower == floor;
        let candidates = || {
            let pairs = self.moves.iter().zip(&self.weights);
            pairs.filter(|(stats, _)| sensible(stats)).map(|(stats, &weight)| (stats, weight))
        };
        let best = candidates().max_by(|(a, x), (b, y)| {
            (x, a.utility.unwrap_or(-2.0))
                .partial_cmp(&(y, b.utility.unwrap_or(-2.0)))
                .unwrap_or(std::cmp::Ordering::Equal)
        })?;
        if temperature <= 0.0 || best.1 <= 0.0 {
            return Some(best.0.square);
        }
        let power = |weight: f32| (weight / best.1).powf(1.0 / temperature);
        let total: f32 = candidates().map(|(_, weight)| power(weight)).sum();
        let mut left = rng.random::<f32>() * total;
        for (stats, weight) in candidates() {
            left -= power(weight);
            if left < 0.0 {
                return Some(stats.square);
            }
        }
        Some(best.0.square)
    }
}
