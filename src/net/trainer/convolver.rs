//! The interface of the trunk's convolutions, one group of positions at a time. Implementations are
//! Winograd's algorithm in float32 (here) and matrix tiles in bf16 (`tiled`).

use super::GROUP;
use crate::net::vector::{Vector, instructions};
use crate::net::winograd::{BoardTransform, Channels, Plane, Workspace};

/// Computes convolutions of groups of up to [`GROUP`] positions on boards of `W` rows.
///
/// Closures that read or write planes are called with the position within the group, the index of
/// the channel vector, and the plane: once for each plane, in any order. Taps lie as
/// `[row][column][input][output vector]`. The layout of filters depends on the implementation.
pub(super) trait Convolver<const W: usize>: Send + Sized {
    /// The format in which a batch's activations and gradients are stored between layers.
    type Stored: StoredVector;

    /// A convolver for up to `depth` channel vectors.
    fn new(depth: usize) -> Self;

    /// The instructions and number format, for messages.
    fn describe() -> String;

    /// Converts taps to a filter.
    fn filter(&self, taps: &[Vector], channels: Channels, filter: &mut Vec<Vector>);

    /// The number of vectors that [`Convolver::filter_gradients`] needs for its sums.
    fn sums(channels: Channels) -> usize;

    /// Converts these sums to gradients of taps.
    fn taps(&self, sums: &[Vector], channels: Channels, taps: &mut [Vector]);

    /// Convolves a group. `read` fills planes of inputs, `put` gets planes of outputs.
    fn convolve(
        &mut self,
        filter: &[Vector],
        channels: Channels,
        positions: usize,
        read: impl FnMut(usize, usize, &mut Plane<W>),
        put: impl FnMut(usize, usize, &Plane<W>),
    );

    /// Adds the gradients of the filter to `sums`. `read` fills planes of inputs, `gradient` planes
    /// of gradients of outputs.
    fn filter_gradients(
        &mut self,
        sums: &mut [Vector],
        channels: Channels,
        positions: usize,
        read: impl FnMut(usize, usize, &mut Plane<W>),
        gradient: impl FnMut(usize, usize, &mut Plane<W>),
    );

    /// Computes the gradients of the inputs from the gradients of outputs that the last call of
    /// [`Convolver::filter_gradients`] read. `put` gets their planes. `back` is the filter of the
    /// same taps with inputs and outputs exchanged. The input channels must fill whole vectors.
    fn input_gradients(
        &mut self,
        back: &[Vector],
        channels: Channels,
        positions: usize,
        put: impl FnMut(usize, usize, &Plane<W>),
    );
}

/// A channel vector in the format in which it is stored.
pub(super) trait StoredVector: Copy + Send {
    const ZERO: Self;

    /// Rounds a vector to the format.
    fn store(vector: Vector) -> Self;

    /// The stored vector in float32.
    fn to_vector(self) -> Vector;
}

impl StoredVector for Vector {
    const ZERO: Vector = Vector::ZERO;

    #[inline(always)]
    fn store(vector: Vector) -> Vector {
        vector
    }

    #[inline(always)]
    fn to_vector(self) -> Vector {
        self
    }
}

impl<const W: usize, const PAIRS: usize> Convolver<W> for Workspace<W, PAIRS> {
    type Stored = Vector;

    fn new(depth: usize) -> Self {
        Workspace::new(GROUP, depth)
    }

    fn describe() -> String {
        format!("f32 after Winograd on {}", instructions())
    }

    fn filter(&self, taps: &[Vector], channels: Channels, filter: &mut Vec<Vector>) {
        let size = channels.size();
        filter.resize(BoardTransform::<W, PAIRS>::POINTS * size, Vector::ZERO);
        self.board().filter(taps, filter, size);
    }

    fn sums(channels: Channels) -> usize {
        BoardTransform::<W, PAIRS>::POINTS * channels.size()
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
