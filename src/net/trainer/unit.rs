//! What computes the trunk's convolutions, a group of positions at a time: Winograd's polynomials in
//! float32, or matrix tiles in bf16.

use super::GROUP;
use crate::net::vector::{Vector, instructions};
use crate::net::winograd::{Board, Channels, Plane, Workspace};

/// Convolutions of groups of up to [`GROUP`] positions on boards of `W` rows.
///
/// Functions that read or take planes are called with a position of the group, a vector of
/// channels, and the plane of both: once for each, in any order. Taps lie as
/// `[row][column][input][output vector]`, filters as
/// it suits whoever reads them.
pub(super) trait Unit<const W: usize>: Send + Sized {
    /// What a batch's activations and gradients are kept as, between layers.
    type Kept: Kept;

    /// Room for up to `depth` vectors of channels.
    fn new(depth: usize) -> Self;

    /// Instructions and number format, for people.
    fn describe() -> String;

    /// Lays taps out as a filter.
    fn filter(&self, taps: &[Vector], channels: Channels, filter: &mut Vec<Vector>);

    /// Vectors that [`Unit::filter_gradients`] needs for its sums.
    fn sums(channels: Channels) -> usize;

    /// From such sums to the gradients of taps.
    fn taps(&self, sums: &[Vector], channels: Channels, taps: &mut [Vector]);

    /// Convolves a group with a filter: `read` fills planes of inputs, `put` gets those of sums.
    fn convolve(
        &mut self,
        filter: &[Vector],
        channels: Channels,
        positions: usize,
        read: impl FnMut(usize, usize, &mut Plane<W>),
        put: impl FnMut(usize, usize, &Plane<W>),
    );

    /// What gradients of the outputs mean for the filter: adds to `sums`. `read` fills planes of
    /// inputs, `gradient` those of gradients.
    fn filter_gradients(
        &mut self,
        sums: &mut [Vector],
        channels: Channels,
        positions: usize,
        read: impl FnMut(usize, usize, &mut Plane<W>),
        gradient: impl FnMut(usize, usize, &mut Plane<W>),
    );

    /// What the gradients that [`Unit::filter_gradients`] has just read mean for the inputs:
    /// `put` gets their planes. `back` is the filter of the same taps with inputs and outputs
    /// exchanged, for a convolution whose inputs fill vectors.
    fn input_gradients(
        &mut self,
        back: &[Vector],
        channels: Channels,
        positions: usize,
        put: impl FnMut(usize, usize, &Plane<W>),
    );
}

/// A vector of channels of one cell in memory.
pub(super) trait Kept: Copy + Send {
    const ZERO: Self;

    /// Keeps a vector, as exactly as it can.
    fn keep(vector: Vector) -> Self;

    /// The vector as it was kept.
    fn vector(self) -> Vector;
}

impl Kept for Vector {
    const ZERO: Vector = Vector::ZERO;

    #[inline(always)]
    fn keep(vector: Vector) -> Vector {
        vector
    }

    #[inline(always)]
    fn vector(self) -> Vector {
        self
    }
}

impl<const W: usize, const PAIRS: usize> Unit<W> for Workspace<W, PAIRS> {
    type Kept = Vector;

    fn new(depth: usize) -> Self {
        Workspace::new(GROUP, depth)
    }

    fn describe() -> String {
        format!("f32 after Winograd on {}", instructions())
    }

    fn filter(&self, taps: &[Vector], channels: Channels, filter: &mut Vec<Vector>) {
        let size = channels.size();
        filter.resize(Board::<W, PAIRS>::POINTS * size, Vector::ZERO);
        self.board().filter(taps, filter, size);
    }

    fn sums(channels: Channels) -> usize {
        Board::<W, PAIRS>::POINTS * channels.size()
    }

    fn taps(&self, sums: &[Vector], channels: Channels, taps: &mut [Vector]) {
        self.board().filter_gradients(sums, taps, channels.size());
    }

    #[inline(always)]
    fn convolve(
        &mut self,
        filter: &[Vector],
        channels: Channels,
        positions: usize,
        read: impl FnMut(usize, usize, &mut Plane<W>),
        put: impl FnMut(usize, usize, &Plane<W>),
    ) {
        Workspace::convolve(self, filter, channels, positions, read, put);
    }

    #[inline(always)]
    fn filter_gradients(
        &mut self,
        sums: &mut [Vector],
        channels: Channels,
        positions: usize,
        read: impl FnMut(usize, usize, &mut Plane<W>),
        gradient: impl FnMut(usize, usize, &mut Plane<W>),
    ) {
        Workspace::filter_gradients(self, sums, channels, positions, read, gradient);
    }

    #[inline(always)]
    fn input_gradients(
        &mut self,
        back: &[Vector],
        channels: Channels,
        positions: usize,
        put: impl FnMut(usize, usize, &Plane<W>),
    ) {
        Workspace::input_gradients(self, back, channels, positions, put);
    }
}
