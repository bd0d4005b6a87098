//! The Gumbel root: sequential halving over sampled moves, and the improved policy.
//!
//! Danihelka et al. 2022, sections 2 to 4. Gumbel noise is added to the
//! logits of the root's moves. The best few are searched equally often, and after each round the
//! worse half is dropped. Below the root the search selects by PUCT.

use rand::Rng;
use rand_distr::{Distribution, Gumbel as GumbelNoise};

use super::options::Options;
use super::root::{MoveStats, ProvenScore};

/// Visits that are added to those of the most visited move when values are scaled.
const VISITS: f32 = 50.0;

/// The scale of a completed Q against logits, from the options of the search.
#[derive(Clone, Copy, Debug)]
pub(super) struct QScale {
    c_scale: f32,
}

impl QScale {
    pub fn new(options: &Options) -> QScale {
        QScale { c_scale: options.gumbel_c_scale }
    }

    /// Sigma of Danihelka et al. 2022, with utilities scaled from -1..1 to 0..1.
    fn sigma(self, utility: f32, most_visits: u32) -> f32 {
        (VISITS + most_visits as f32) * self.c_scale * (utility + 1.0) / 2.0
    }
}

/// The state of sequential halving at the root of one search. Moves are given by their index among
/// the root's moves.
///
/// Let `m` be the number of sampled moves and `n` the number of simulations. A round gives each
/// remaining move `n / (ceil(log2 m) * remaining)` simulations, at least one, in turns. Then the
/// better half stays, but at least two moves. Rounds follow until all simulations are used.
#[derive(Clone, Debug, Default)]
pub(super) struct Halving {
    /// Gumbel noise plus logit of each root move.
    keys: Vec<f32>,
    /// The indices of the remaining moves, best first.
    alive: Vec<usize>,
    /// Simulations started for each root move in this search.
    begun: Vec<u32>,
    /// Simulations of each remaining move in this round, and those of all of them started so far.
    round_visits: u32,
    turn: u32,
    rounds: u32,
    simulations: u32,
}

impl Halving {
    /// Draws the noise, and samples `considered` moves.
    pub fn begin<R: Rng>(
        &mut self,
        moves: &[MoveStats],
        considered: usize,
        simulations: u32,
        rng: &mut R,
    ) {
        let noise = GumbelNoise::new(0.0f32, 1.0).ok();
        self.keys.clear();
        self.keys.extend(moves.iter().map(|stats| {
            let noise = noise.as_ref().map_or(0.0, |noise| noise.sample(rng));
            logit(stats) + noise
        }));
        self.begun.clear();
        self.begun.resize(moves.len(), 0);
        self.alive.clear();
        self.alive.extend(0..moves.len());
        let keys = &self.keys;
        self.alive.sort_unstable_by(|&a, &b| keys[b].total_cmp(&keys[a]).then(a.cmp(&b)));
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

    /// The root move of the next simulation. `None` at the end of a round: the caller finishes the
    /// simulations in flight and calls `halve`.
    pub fn next(&self) -> Option<usize> {
        let alive = self.alive.len() as u32;
        (self.turn < self.round_visits * alive).then(|| self.alive[(self.turn % alive) as usize])
    }

    /// Counts a started simulation of the move that `next` returned.
    pub fn advance(&mut self) {
        if let Some(place) = self.next() {
            self.begun[place] += 1;
            self.turn += 1;
        }
    }

    /// Drops the worse half of the moves by their present statistics, and starts the next round.
    pub fn halve(&mut self, moves: &[MoveStats], scale: QScale) {
        self.rank(moves, scale);
        let kept = (self.alive.len() / 2).max(2);
        self.alive.truncate(kept);
        self.start_round();
    }

    /// Sorts the remaining moves by noise, logit and value. Moves proven not to be the best come
    /// last.
    fn rank(&mut self, moves: &[MoveStats], scale: QScale) {
        let (most, proven) = (most_visits(moves), ProvenScore::of(moves));
        let keys = &self.keys;
        let key = |place: usize| match moves[place].utility {
            Some(q) if moves[place].may_be_best(proven) => keys[place] + scale.sigma(q, most),
            _ => f32::NEG_INFINITY,
        };
        self.alive.sort_unstable_by(|&a, &b| key(b).total_cmp(&key(a)).then(a.cmp(&b)));
    }

    /// The move to play: the best of the moves with the most simulations, or a move that is proven
    /// to be better than all of them.
    pub fn winner(&mut self, moves: &[MoveStats], scale: QScale) -> Option<usize> {
        self.rank(moves, scale);
        let proven = ProvenScore::of(moves);
        let most = self.alive.iter().map(|&place| self.begun[place]).max()?;
        let mut searched = self.alive.iter().copied().filter(|&place| self.begun[place] == most);
        searched.find(|&place| moves[place].may_be_best(proven)).or_else(|| {
            let reaches =
                |stats: &MoveStats| stats.lower == proven.score && stats.may_be_best(proven);
            moves.iter().position(reaches)
        })
    }
}

fn most_visits(moves: &[MoveStats]) -> u32 {
    moves.iter().map(|stats| stats.visits).max().unwrap_or(0)
}

fn logit(stats: &MoveStats) -> f32 {
    stats.prior.max(1e-12).ln()
}

/// The improved policy: the softmax of logit plus sigma of the completed Q (section 4).
///
/// For a move without a visit, Q is the mixed value estimate (appendix D). It combines the net's
/// prediction for the root, `raw_utility`, with the prior-weighted mean of the visited moves. `out`
/// gets one probability for each move.
pub(super) fn improved_policy(
    moves: &[MoveStats],
    raw_utility: f32,
    scale: QScale,
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
    let visited_mean = if prior > 0.0 { weighted / prior } else { raw_utility };
    let mixed = (raw_utility + visits as f32 * visited_mean) / (1.0 + visits as f32);
    let most = most_visits(moves);
    out.clear();
    out.extend(
        moves.iter().map(|stats| logit(stats) + scale.sigma(stats.utility.unwrap_or(mixed), most)),
    );
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::Square;
    use rand::SeedableRng;
    use rand_xoshiro::Xoshiro256PlusPlus;

    fn moves(priors: &[f32]) -> Vec<MoveStats> {
        let stats = |(place, &prior): (usize, &f32)| MoveStats {
            square: Square(place as u8),
            visits: 0,
            prior,
            utility: None,
            lower: -64,
            upper: 64,
        };
        priors.iter().enumerate().map(stats).collect()
    }

    fn scale() -> QScale {
        QScale::new(&Options::default())
    }

    /// The sequence as the library mctx defines it: for each simulation, how many visits its move
    /// had before.
    fn considered_visits(moves: usize, simulations: usize) -> Vec<u32> {
        if moves <= 1 {
            return (0..simulations as u32).collect();
        }
        let rounds = (moves as f64).log2().ceil() as usize;
        let (mut sequence, mut visits, mut considered) = (Vec::new(), vec![0; moves], moves);
        while sequence.len() < simulations {
            for _ in 0..(simulations / (rounds * considered)).max(1) {
                sequence.extend_from_slice(&visits[..considered]);
                visits[..considered].iter_mut().for_each(|count| *count += 1);
            }
            considered = (considered / 2).max(2);
        }
        sequence.truncate(simulations);
        sequence
    }

    #[test]
    fn visits_follow_the_sequence_of_sequential_halving() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        for count in 1..=20 {
            for simulations in [1, 2, 3, 7, 16, 31, 32, 50, 64, 200] {
                let mut stats = moves(&vec![1.0 / count as f32; count]);
                let mut halving = Halving::default();
                halving.begin(&stats, 16, simulations, &mut random);
                let mut sequence = Vec::new();
                for simulation in 0..simulations {
                    if halving.next().is_none() {
                        halving.halve(&stats, scale());
                    }
                    let place = halving.next().expect("a new round");
                    halving.advance();
                    sequence.push(stats[place].visits);
                    stats[place].visits += 1;
                    stats[place].utility = Some((simulation as f32 * 0.7).sin());
                }
                let wanted = considered_visits(count.min(16), simulations as usize);
                assert_eq!(sequence, wanted, "{count} moves, {simulations} simulations");
            }
        }
    }

    #[test]
    fn a_clearly_better_value_outweighs_noise_and_prior() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(2);
        let mut stats = moves(&[0.6, 0.2, 0.1, 0.1]);
        let mut halving = Halving::default();
        halving.begin(&stats, 4, 16, &mut random);
        for _ in 0..16 {
            if halving.next().is_none() {
                halving.halve(&stats, scale());
            }
            let place = halving.next().expect("a new round");
            halving.advance();
            stats[place].visits += 1;
            stats[place].utility = Some(if place == 2 { 0.9 } else { -0.9 });
        }
        assert_eq!(halving.winner(&stats, scale()), Some(2));
    }

    #[test]
    fn a_move_proven_better_than_all_considered_wins() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(3);
        let mut stats = moves(&[0.9, 0.1]);
        let mut halving = Halving::default();
        halving.begin(&stats, 1, 1, &mut random);
        let place = halving.next().expect("a first simulation");
        halving.advance();
        for (other, stats) in stats.iter_mut().enumerate() {
            let score = if other == place { 2 } else { 4 };
            (stats.lower, stats.upper, stats.visits) = (score, score, 1);
            stats.utility = Some(0.9);
        }
        assert_eq!(halving.winner(&stats, scale()), Some(1 - place));
    }

    #[test]
    fn an_unvisited_move_has_the_mixed_value() {
        let mut stats = moves(&[0.5, 0.3, 0.2]);
        (stats[0].visits, stats[0].utility) = (3, Some(0.4));
        (stats[1].visits, stats[1].utility) = (1, Some(-0.2));
        let mut policy = Vec::new();
        improved_policy(&stats, 0.1, scale(), &mut policy);
        let mean = (0.5 * 0.4 + 0.3 * -0.2) / 0.8;
        let mixed: f64 = (0.1 + 4.0 * mean) / 5.0;
        let sigma = |q: f64| 53.0 * (q + 1.0) / 2.0;
        let logits: [f64; 3] =
            [0.5f64.ln() + sigma(0.4), 0.3f64.ln() + sigma(-0.2), 0.2f64.ln() + sigma(mixed)];
        let sum: f64 = logits.iter().map(|logit| logit.exp()).sum();
        for (got, logit) in policy.iter().zip(logits) {
            assert!((*got as f64 - logit.exp() / sum).abs() < 1e-5, "{policy:?}");
        }
    }
}
