//! Which edge a simulation follows: PUCT with first-play urgency and virtual loss.
//!
//! `U(s, a) = Q(s, a) + c P(s, a) sqrt(sum_b N(s, b)) / (1 + N(s, a))` (source A, section
//! 3.2; Silver et al. 2017). An unanswered simulation counts as a visit that lost.
//!
//! Where all lines end much alike, small differences are all that there is to find, and they show
//! only if `c` is small as well: it may follow the standard deviation of what the simulations
//! through a position were worth (KataGo, docs/KataGoMethods.md, "Dynamic Variance-Scaled
//! cPUCT").

use super::edge::Edge;
use super::options::{FirstPlay, Options};
use super::utility::Utility;

/// The deviation of utilities at which exploration is what `c_puct` and `fpu_reduction` say.
const USUAL_DEVIATION: f32 = 0.4;
/// How many simulations that deviate so a position is taken to have had.
const USUAL_VISITS: f32 = 2.0;

#[derive(Clone, Copy, Debug)]
pub(super) struct Selector {
    c_puct: f32,
    first_play: FirstPlay,
    fpu_reduction: f32,
    spread_scale: f32,
    squares: i8,
}

/// The mean utility of an edge within what its bounds allow, unanswered visits left out.
#[inline(always)]
pub(super) fn mean(edge: &Edge, utility: Utility) -> f32 {
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

    /// The weight of the prior behind `here`, and how much worse than the mean an unvisited move
    /// is taken to be.
    #[inline(always)]
    pub fn exploration(&self, here: &Edge) -> (f32, f32) {
        if self.spread_scale == 0.0 {
            return (self.c_puct, self.fpu_reduction);
        }
        let (samples, squares) = here.spread();
        let usual = USUAL_VISITS * USUAL_DEVIATION * USUAL_DEVIATION;
        let deviation = ((squares + usual) / (samples + USUAL_VISITS - 1.0)).sqrt();
        let factor = 1.0 + self.spread_scale * (deviation / USUAL_DEVIATION - 1.0);
        (factor * self.c_puct, factor * self.fpu_reduction)
    }

    /// The place of the move to follow from the position behind `here`, whose `moves` these are.
    ///
    /// Only the moves already followed and the likeliest of the others are looked at: the others
    /// differ in their priors alone, so none of them can score higher than that one.
    #[inline]
    pub fn best(&self, here: &Edge, moves: &[Edge], utility: Utility) -> usize {
        let (opened, rest) = moves.split_at(here.opened as usize);
        // The first of its visits expanded the position; all others went on along a move.
        let visits = here.visits.saturating_sub(1) + here.in_flight as u32;
        let (c_puct, fpu_reduction) = self.exploration(here);
        // The least value lets priors decide before the first visit.
        let scale = (c_puct * (visits as f32).sqrt()).max(1e-3);
        let floor = here.bounds_behind().0;
        let (mut best, mut best_score, mut seen_prior) = (0, f32::NEG_INFINITY, 0.0);
        for (place, edge) in opened.iter().enumerate() {
            seen_prior += edge.prior;
            let in_flight = edge.in_flight as f32;
            let count = edge.visits as f32 + in_flight;
            let mut q = (edge.utility_sum as f32 - in_flight) / count;
            if edge.lower > -self.squares || edge.upper < self.squares {
                // An exact score has nothing left to tell, nor has a move that cannot exceed
                // what others have proven. A position that is not exact itself has a move that
                // is neither.
                if edge.is_exact() || edge.upper <= floor {
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
        if first_play + scale * next.prior > best_score { opened.len() } else { best }
    }
}
