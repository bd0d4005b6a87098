//! The only record of the tree: a move with its statistics and the way to the moves behind it.

use crate::game::Square;

/// A move from a position, with its statistics from the view of the side that makes it.
///
/// There are no nodes: a position is the edge that leads to it, and its board follows from the
/// root's by playing the path. So a simulation touches one run of edges for each of its moves
/// and nothing else.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Edge {
    /// Sum over the finished simulations. In `f32` it would lose what simulations add after some
    /// hundred thousand of them.
    pub utility_sum: f64,
    pub prior: f32,
    /// Sum of the squares of the utilities; once they are [`SPREAD_SAMPLES`], of their
    /// differences from their mean.
    pub square_sum: f32,
    /// Finished simulations, the one that expanded the position behind included.
    pub visits: u32,
    /// Where the moves of the position behind begin.
    pub first: u32,
    /// Unanswered simulations.
    pub in_flight: u16,
    pub square: Square,
    /// How many moves the position behind has; 0 until it is expanded.
    pub moves: u8,
    /// How many of them simulations have followed. They come first, and right after them comes
    /// the likeliest of the others.
    pub opened: u8,
    /// The exact final score lies within these.
    pub lower: i8,
    pub upper: i8,
    /// Whether the side that moves along this edge moves again, the other having passed.
    pub same_side: bool,
}

// Two to a line of the cache; a search of 32 simulations on 8x8 makes some 9 KB of edges.
const _: () = assert!(size_of::<Edge>() == 32);

/// Simulations that tell how much utilities spread, the first ones; a sum of so many squares is
/// still exact enough in `f32`.
const SPREAD_SAMPLES: u32 = 1 << 16;

impl Edge {
    /// A move that nothing is known about on a board of so many squares.
    #[inline(always)]
    pub fn new(square: Square, prior: f32, squares: usize) -> Edge {
        Edge {
            utility_sum: 0.0,
            prior,
            square_sum: 0.0,
            visits: 0,
            first: 0,
            in_flight: 0,
            square,
            moves: 0,
            opened: 0,
            lower: -(squares as i8),
            upper: squares as i8,
            same_side: false,
        }
    }

    #[inline(always)]
    pub fn is_exact(&self) -> bool {
        self.lower == self.upper
    }

    /// The places of the moves behind.
    #[inline(always)]
    pub fn behind(&self) -> std::ops::Range<usize> {
        self.first as usize..self.first as usize + self.moves as usize
    }

    /// The bounds on the score of the position behind, for the side to move there.
    #[inline(always)]
    pub fn bounds_behind(&self) -> (i8, i8) {
        if self.same_side { (self.lower, self.upper) } else { (-self.upper, -self.lower) }
    }

    /// Sets the bounds to those of the position behind, for the side to move there. Returns
    /// whether they were others.
    pub fn set_bounds_behind(&mut self, lower: i8, upper: i8) -> bool {
        let before = (self.lower, self.upper);
        (self.lower, self.upper) = if self.same_side { (lower, upper) } else { (-upper, -lower) };
        before != (self.lower, self.upper)
    }

    /// Counts a finished simulation that was worth `utility`.
    #[inline(always)]
    pub fn add(&mut self, utility: f32) {
        self.visits += 1;
        self.utility_sum += f64::from(utility);
        if self.visits <= SPREAD_SAMPLES {
            self.square_sum += utility * utility;
        }
        if self.visits == SPREAD_SAMPLES {
            // The mean will move on, these squares will not.
            self.square_sum -= self.mean() * self.mean() * SPREAD_SAMPLES as f32;
        }
    }

    /// How many utilities tell of their spread, at least 1, and the sum of the squares of their
    /// differences from their mean.
    #[inline(always)]
    pub fn spread(&self) -> (f32, f32) {
        if self.visits >= SPREAD_SAMPLES {
            return (SPREAD_SAMPLES as f32, self.square_sum.max(0.0));
        }
        let samples = self.visits.max(1) as f32;
        let mean = self.mean();
        (samples, (self.square_sum - mean * mean * samples).max(0.0))
    }

    /// The mean utility of the finished simulations; 0 before the first.
    #[inline(always)]
    pub fn mean(&self) -> f32 {
        (self.utility_sum / f64::from(self.visits.max(1))) as f32
    }

    /// The sum of utilities as the side to move behind sees them.
    #[inline(always)]
    pub fn utility_sum_behind(&self) -> f64 {
        if self.same_side { self.utility_sum } else { -self.utility_sum }
    }
}

/// Brings the likeliest of the moves that were not followed yet behind the `opened` others;
/// among equally likely ones the lowest square.
#[inline]
pub(super) fn bring_next(moves: &mut [Edge], opened: usize) {
    let Some(mut next) = moves.get(opened).copied() else { return };
    let mut place = opened;
    for (other, edge) in moves.iter().enumerate().skip(opened + 1) {
        let likelier =
            edge.prior > next.prior || edge.prior == next.prior && edge.square < next.square;
        if likelier {
            (place, next) = (other, *edge);
        }
    }
    moves.swap(opened, place);
}
