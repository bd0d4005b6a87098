//! Move selection in the tree: PUCT with first-play urgency and virtual loss.
//!
//! `U(s, a) = Q(s, a) + c P(s, a) sqrt(sum_b N(s, b)) / (1 + N(s, a))` (Silver et al. 2017; Fu
//! and Xu, section 3.2). A simulation that waits for its prediction counts as a lost visit.
//!
//! If all lines have similar results, the search has to find small differences, which needs a small
//! `c`. So `c` can scale with the standard deviation of the utilities below a position (KataGo,
//! docs/KataGoMethods.md, "Dynamic Variance-Scaled cPUCT").

use super::edge::Edge;
use super::options::{FirstPlay, Options};
use super::utility::UtilityFunction;

/// The standard deviation of utilities at which `c_puct` and `fpu_reduction` apply unscaled.
const PRIOR_DEVIATION: f32 = 0.4;
/// How many simulations with this deviation are added to those of a position.
const PRIOR_VISITS: f32 = 2.0;

#[derive(Clone, Copy, Debug)]
pub(super) struct Selector {
    c_puct: f32,
    first_play: FirstPlay,
    fpu_reduction: f32,
    spread_scale: f32,
    squares: i8,
}

/// The mean utility of an edge, clamped to its bounds. Simulations in flight are not included.
#[inline(always)]
pub(super) fn mean(edge: &Edge, utility: UtilityFunction) -> f32 {
    edge.mean().clamp(utility.exact(edge.lower), utility.exact(edge.upper))
}

impl Selector {
    pub fn new(options: &Options, squares: usize) -> Selector {
        Selector {
            c_puct: options.c_puct,
            first_play: options.first_play,
            fpu_reduction: options.fpu_reduction,
            spread_scale: options.spread_scale,
            squares: squares as i8,
        }
    }

    /// The values of `c_puct` and `fpu_reduction` for the position after `here`.
    #[inline(always)]
    pub fn exploration(&self, here: &Edge) -> (f32, f32) {
        if self.spread_scale == 0.0 {
            return (self.c_puct, self.fpu_reduction);
        }
        let (samples, squares) = here.spread();
        let prior_squares = PRIOR_VISITS * PRIOR_DEVIATION * PRIOR_DEVIATION;
        let deviation = ((squares + prior_squares) / (samples + PRIOR_VISITS - 1.0)).sqrt();
        let factor = 1.0 + self.spread_scale * (deviation / PRIOR_DEVIATION - 1.0);
        (factor * self.c_puct, factor * self.fpu_reduction)
    }

    /// The index of the move to follow among `moves`, those of the position after `here`.
    ///
    /// Only the followed moves and the unfollowed one with the greatest prior are compared. The
    /// other unfollowed moves differ from it only by a smaller prior, so they cannot be better.
    #[inline]
    pub fn best(&self, here: &Edge, moves: &[Edge], utility: UtilityFunction) -> usize {
        let (followed, rest) = moves.split_at(here.followed as usize);
        // The first visit expanded the position; all others followed one of its moves.
        let visits = here.visits.saturating_sub(1) + here.in_flight as u32;
        let (c_puct, fpu_reduction) = self.exploration(here);
        // The minimum lets the priors decide when no move has a visit.
        let scale = (c_puct * (visits as f32).sqrt()).max(1e-3);
        let proven = here.child_bounds().0;
        let (mut best, mut best_score, mut seen_prior) = (0, f32::NEG_INFINITY, 0.0);
        for (place, edge) in followed.iter().enumerate() {
            seen_prior += edge.prior;
            let in_flight = edge.in_flight as f32;
            let count = edge.visits as f32 + in_flight;
            let mut q = (edge.utility_sum as f32 - in_flight) / count;
            if edge.lower > -self.squares || edge.upper < self.squares {
                // No simulation is spent on an exact move, or on one that cannot exceed the score
                // proven by others. If the position is not exact, it has other moves.
                if edge.is_exact() || edge.upper <= proven {
                    continue;
                }
                q = q.clamp(utility.exact(edge.lower), utility.exact(edge.upper));
            }
            let score = q + scale * edge.prior / (1.0 + count);
            if score > best_score {
                (best, best_score) = (place, score);
            }
        }
        let Some(next) = rest.first() else { return best };
        let first_play = match self.first_play {
            FirstPlay::Zero => 0.0,
            FirstPlay::Parent => {
                let parent = if here.same_side { here.mean() } else { -here.mean() };
                (parent - fpu_reduction * seen_prior.sqrt()).max(-1.0)
            }
        };
        if first_play + scale * next.prior > best_score { followed.len() } else { best }
    }
}
