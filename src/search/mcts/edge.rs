//! The edges of the tree, which are all that it stores: moves with their statistics.

use crate::game::Square;

/// A move from a position, with its statistics from the view of the side that makes it.
///
/// There are no nodes: a position is represented by the edge that leads to it, and its board is
/// computed by playing the path from the root. So at each ply a simulation touches only the edges
/// of one position, which lie next to each other in memory.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Edge {
    /// The sum of the utilities of finished simulations. In `f32` the sum would be inexact after
    /// some hundred thousand simulations.
    pub utility_sum: f64,
    pub prior: f32,
    /// The sum of the squares of the utilities. From [`SPREAD_SAMPLES`] visits on, the sum of the
    /// squared differences from the mean of those samples.
    pub square_sum: f32,
    /// Finished simulations, including the one that expanded the child position.
    pub visits: u32,
    /// The index of the first move of the child position.
    pub first: u32,
    /// Simulations that wait for a prediction.
    pub in_flight: u16,
    pub square: Square,
    /// The number of moves of the child position; 0 until it is expanded.
    pub moves: u8,
    /// How many of these moves simulations have followed. They come first in memory, then the move
    /// with the greatest prior of the others.
    pub followed: u8,
    /// The exact final score is at least `lower` and at most `upper`.
    pub lower: i8,
    pub upper: i8,
    /// Whether the side that makes this move moves again, because the other side must pass.
    pub same_side: bool,
}

// Two edges fill a cache line. A search of 32 simulations on 8x8 creates some 9 KB of edges.
const _: () = assert!(size_of::<Edge>() == 32);

/// The number of simulations from which the spread of utilities is estimated: the first ones. A sum
/// of this many squares is still precise enough in `f32`.
const SPREAD_SAMPLES: u32 = 1 << 16;

impl Edge {
    /// A move without statistics, on a board with this many squares.
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
            followed: 0,
            lower: -(squares as i8),
            upper: squares as i8,
            same_side: false,
        }
    }

    #[inline(always)]
    pub fn is_exact(&self) -> bool {
        self.lower == self.upper
    }

    /// The indices of the moves of the child position.
    #[inline(always)]
    pub fn children(&self) -> std::ops::Range<usize> {
        self.first as usize..self.first as usize + self.moves as usize
    }

    /// The bounds on the score of the child position, for the side to move there.
    #[inline(always)]
    pub fn child_bounds(&self) -> (i8, i8) {
        if self.same_side { (self.lower, self.upper) } else { (-self.upper, -self.lower) }
    }

    /// Sets the bounds from those of the child position, for the side to move there. Returns
    /// whether they changed.
    pub fn set_child_bounds(&mut self, lower: i8, upper: i8) -> bool {
        let before = (self.lower, self.upper);
        (self.lower, self.upper) = if self.same_side { (lower, upper) } else { (-upper, -lower) };
        before != (self.lower, self.upper)
    }

    /// Adds a finished simulation with its utility.
    #[inline(always)]
    pub fn add(&mut self, utility: f32) {
        self.visits += 1;
        self.utility_sum += f64::from(utility);
        if self.visits <= SPREAD_SAMPLES {
            self.square_sum += utility * utility;
        }
        if self.visits == SPREAD_SAMPLES {
            // The mean can change later, but no more squares are added.
            self.square_sum -= self.mean() * self.mean() * SPREAD_SAMPLES as f32;
        }
    }

    /// The number of samples for the spread, at least 1, and the sum of the squared differences of
    /// their utilities from the mean.
    #[inline(always)]
    pub fn spread(&self) -> (f32, f32) {
        if self.visits >= SPREAD_SAMPLES {
            return (SPREAD_SAMPLES as f32, self.square_sum.max(0.0));
        }
        let samples = self.visits.max(1) as f32;
        let mean = self.mean();
        (samples, (self.square_sum - mean * mean * samples).max(0.0))
    }

    /// The mean utility of the finished simulations; 0 if there are none.
    #[inline(always)]
    pub fn mean(&self) -> f32 {
        (self.utility_sum / f64::from(self.visits.max(1))) as f32
    }

    /// The sum of utilities for the side to move in the child position.
    #[inline(always)]
    pub fn child_utility_sum(&self) -> f64 {
        if self.same_side { self.utility_sum } else { -self.utility_sum }
    }
}

/// Moves the unfollowed move with the greatest prior to index `followed`, just after the followed
/// ones. Among equal priors the lowest square is taken.
#[inline]
pub(super) fn bring_likeliest_next(moves: &mut [Edge], followed: usize) {
    let Some(mut next) = moves.get(followed).copied() else { return };
    let mut place = followed;
    for (other, edge) in moves.iter().enumerate().skip(followed + 1) {
        let likelier =
            edge.prior > next.prior || edge.prior == next.prior && edge.square < next.square;
        if likelier {
            (place, next) = (other, *edge);
        }
    }
    moves.swap(followed, place);
}
