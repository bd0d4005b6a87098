//! Gumbel root: sequential halving over sampled moves, and the policy improved by the search.
//!
//! Danihelka, Guez, Schrittwieser, Silver: Policy improvement by planning with Gumbel
//! (ICLR 2022), sections 2 to 4. The root's moves get Gumbel noise on their logits; the best
//! few are searched equally often, and after each round the worse half is dropped. Below the
//! root the search selects by PUCT.

use rand::Rng;
use rand_distr::{Distribution, Gumbel as GumbelNoise};

use super::options::Options;
use super::tree::MoveStats;

/// How much a completed Q counts against a logit, from the options of the search.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    c_visit: f32,
    c_scale: f32,
}

impl Scale {
    pub fn new(options: &Options) -> Scale {
        Scale { c_visit: options.gumbel_c_visit, c_scale: options.gumbel_c_scale }
    }

    /// The paper's sigma over utilities brought from -1..1 to 0..1.
    fn sigma(self, utility: f32, most_visits: u32) -> f32 {
        (self.c_visit + most_visits as f32) * self.c_scale * (utility + 1.0) / 2.0
    }
}

/// The state of sequential halving at the root of one search.
#[derive(Clone, Debug, Default)]
pub(super) struct Halving {
    /// Gumbel noise plus logit for each root move.
    keys: Vec<f32>,
    /// The places still considered, best key first.
    alive: Vec<usize>,
    /// Simulations begun for each root move in this search.
    begun: Vec<u32>,
    /// Simulations for each move alive in the present round, and the turn within the round.
    round_visits: u32,
    turn: u32,
    rounds: u32,
    simulations: u32,
}

impl Halving {
    /// Draws the noise and picks the moves to consider.
    pub fn begin<R: Rng>(
        &mut self,
        moves: impl Iterator<Item = MoveStats>,
        considered: usize,
        simulations: u32,
        rng: &mut R,
    ) {
        let noise = GumbelNoise::new(0.0f32, 1.0).ok();
        self.keys.clear();
        self.keys.extend(moves.map(|stats| {
            let noise = noise.as_ref().map_or(0.0, |noise| noise.sample(rng));
            stats.prior.max(1e-12).ln() + noise
        }));
        self.begun.clear();
        self.begun.resize(self.keys.len(), 0);
        self.alive.clear();
        self.alive.extend(0..self.keys.len());
        self.alive.sort_by(|&a, &b| self.keys[b].total_cmp(&self.keys[a]));
        self.alive.truncate(considered.clamp(1, simulations.max(1) as usize));
        self.rounds = usize::BITS - (self.alive.len().max(2) - 1).leading_zeros();
        self.simulations = simulations;
        self.start_round();
    }

    fn start_round(&mut self) {
        self.turn = 0;
        let share = self.simulations / (self.rounds * self.alive.len() as u32);
        self.round_visits = share.max(1);
    }

    /// The place of the root move that the next simulation starts with.
    pub fn next(&mut self, moves: &[MoveStats], scale: Scale) -> usize {
        if self.turn == self.round_visits * self.alive.len() as u32 {
            self.halve(moves, scale);
            self.start_round();
        }
        let place = self.alive[self.turn as usize % self.alive.len()];
        self.turn += 1;
        self.begun[place] += 1;
        place
    }

    fn halve(&mut self, moves: &[MoveStats], scale: Scale) {
        self.rank(moves, scale);
        let kept = (self.alive.len() / 2).max(2).min(self.alive.len());
        self.alive.truncate(kept);
    }

    fn rank(&mut self, moves: &[MoveStats], scale: Scale) {
        let most = most_visits(moves);
        let key = |place: usize| {
            self.keys[place] + moves[place].utility.map_or(-1e9, |q| scale.sigma(q, most))
        };
        self.alive.sort_by(|&a, &b| key(b).total_cmp(&key(a)));
    }

    /// The place of the move to play: the best of those searched most.
    pub fn winner(&mut self, moves: &[MoveStats], scale: Scale) -> Option<usize> {
        self.rank(moves, scale);
        let most = self.alive.iter().map(|&place| self.begun[place]).max()?;
        self.alive.iter().copied().find(|&place| self.begun[place] == most)
    }
}

fn most_visits(moves: &[MoveStats]) -> u32 {
    moves.iter().map(|stats| stats.visits).max().unwrap_or(0)
}

/// The improved policy: the softmax of logit plus sigma of the completed Q (section 4).
///
/// A move without a visit counts with the mixed value estimate (appendix D): the root's own
/// estimate and the visited moves' mean by prior. `out` gets one probability for each move.
pub(super) fn improved_policy(
    moves: &[MoveStats],
    root_utility: f32,
    scale: Scale,
    out: &mut Vec<f32>,
) {
    let (mut visits, mut prior, mut weighted) = (0, 0.0, 0.0);
    for stats in moves {
        if let Some(utility) = stats.utility {
            visits += stats.visits;
            prior += stats.prior;
            weighted += stats.prior * utility;
        }
    }
    let visited_mean = if prior > 0.0 { weighted / prior } else { root_utility };
    let mixed = (root_utility + visits as f32 * visited_mean) / (1.0 + visits as f32);
    let most = most_visits(moves);
    out.clear();
    out.extend(moves.iter().map(|stats| {
        stats.prior.max(1e-12).ln() + scale.sigma(stats.utility.unwrap_or(mixed), most)
    }));
    let greatest = out.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let mut sum = 0.0;
    for logit in out.iter_mut() {
        *logit = (*logit - greatest).exp();
        sum += *logit;
    }
    for weight in out.iter_mut() {
        *weight /= sum;
    }
}
