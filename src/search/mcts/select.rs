//! Which edge a simulation follows: PUCT with first-play urgency and virtual loss.
//!
//! `U(s, a) = Q(s, a) + c P(s, a) sqrt(sum_b N(s, b)) / (1 + N(s, a))` (source A, section
//! 3.2; Silver et al. 2017). An unanswered simulation counts as a visit that lost.

use super::options::{FirstPlay, Options};
use super::tree::Edge;

#[derive(Clone, Copy, Debug)]
pub(super) struct Selector {
    c_puct: f32,
    first_play: FirstPlay,
    fpu_reduction: f32,
}

/// The mean utility of an edge within what its bounds allow, unanswered visits left out.
#[inline(always)]
pub(super) fn mean(edge: &Edge, least: f32, most: f32) -> f32 {
    (edge.utility_sum / edge.visits.max(1) as f32).clamp(least, most)
}

impl Selector {
    pub fn new(options: &Options) -> Selector {
        Selector {
            c_puct: options.c_puct,
            first_play: options.first_play,
            fpu_reduction: options.fpu_reduction,
        }
    }

    /// The place of the edge to follow. `lower` is the parent's proven lower bound: an edge
    /// that cannot beat it is left alone unless it is the one that proves it.
    #[inline]
    pub fn best(
        &self,
        edges: &[Edge],
        lower: i8,
        parent_mean: f32,
        exact: impl Fn(i8) -> f32,
    ) -> usize {
        let (mut visits, mut seen_prior) = (0, 0.0);
        for edge in edges {
            let count = edge.visits + edge.in_flight as u32;
            visits += count;
            seen_prior += if count > 0 { edge.prior } else { 0.0 };
        }
        let scale = self.c_puct * (visits as f32).sqrt();
        let first = match self.first_play {
            FirstPlay::Zero => 0.0,
            FirstPlay::Parent => (parent_mean - self.fpu_reduction * seen_prior.sqrt()).max(-1.0),
        };
        let (mut best, mut best_score) = (0, f32::NEG_INFINITY);
        for (place, edge) in edges.iter().enumerate() {
            // A proven lower bound makes edges that cannot exceed it pointless, but the edge
            // that reaches it must stay, and it is the one with the greatest lower bound.
            if edge.upper <= lower && edge.lower < lower {
                continue;
            }
            let in_flight = edge.in_flight as f32;
            let count = edge.visits as f32 + in_flight;
            let q = if edge.visits == 0 && edge.in_flight == 0 {
                first
            } else {
                (edge.utility_sum - in_flight) / count
            };
            let q = q.clamp(exact(edge.lower), exact(edge.upper));
            // The epsilon lets priors decide before the first visit.
            let score = q + scale.max(1e-3) * edge.prior / (1.0 + count);
            if score > best_score {
                (best, best_score) = (place, score);
            }
        }
        best
    }
}
