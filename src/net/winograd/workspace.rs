//! Convolutions of a group of positions, forward and backward, in reused memory.

use super::product::{Factors, Rows, add_transposed, multiply_and_prefetch};
use super::transform::{BoardTransform, Plane, Scratch, ZERO_SCRATCH};
use crate::net::vector::{LANES, Vector, flat, vectors};

/// Memory for a group of positions on boards of `W` rows.
///
/// Numbers at the points lie as `[point][position][channel vector]`. Closures that read or write
/// planes are called with the position, the index of the channel vector, and the plane.
pub(in crate::net) struct Workspace<const W: usize, const PAIRS: usize> {
    board: BoardTransform<W, PAIRS>,
    inputs: Vec<Vector>,
    products: Vec<Vector>,
    plane: Box<Plane<W>>,
    scratch: Box<Scratch>,
}

/// The sizes of a convolution.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::net) struct Channels {
    /// Input channels.
    pub inputs: usize,
    /// Vectors of output channels.
    pub outputs: usize,
}

impl Channels {
    /// Vectors of the filter for one tap or one point.
    pub(in crate::net) fn size(self) -> usize {
        self.inputs * self.outputs
    }
}

/// Vectors from one point to the next. It is one more than needed: at a distance of a power of two
/// all points would fall into the same few sets of the cache.
fn stride(positions: usize, depth: usize) -> usize {
    positions * depth + 1
}

/// The filter at each point, `size` vectors, together with that of the next point, if any.
fn with_next<F: Factors>(filter: F, size: usize) -> impl Iterator<Item = (F, F)> {
    let points = filter.len() / size;
    (0..points).map(move |point| {
        let next = if point + 1 < points { size } else { 0 };
        (filter.slice(point * size, size), filter.slice((point + 1) * size, next))
    })
}

impl<const W: usize, const PAIRS: usize> Workspace<W, PAIRS> {
    /// Memory for `positions` positions of up to `depth` channel vectors.
    pub(in crate::net) fn new(positions: usize, depth: usize) -> Self {
        let points = BoardTransform::<W, PAIRS>::POINTS * stride(positions, depth);
        Workspace {
            board: BoardTransform::new(),
            inputs: vec![Vector::ZERO; points],
            products: vec![Vector::ZERO; points],
            plane: Box::new([[Vector::ZERO; W]; W]),
            scratch: Box::new(ZERO_SCRATCH),
        }
    }

    /// The transforms.
    pub(in crate::net) fn board(&self) -> &BoardTransform<W, PAIRS> {
        &self.board
    }

    /// Convolves `positions` positions. `filter` is evaluated at all points (see
    /// [`BoardTransform::filter`]), `read` fills planes of inputs, `put` gets planes of outputs.
    #[inline(always)]
    pub(in crate::net) fn convolve(
        &mut self,
        filter: impl Factors,
        channels: Channels,
        positions: usize,
        read: impl FnMut(usize, usize, &mut Plane<W>),
        mut put: impl FnMut(usize, usize, &Plane<W>),
    ) {
        let (depth, from) = self.evaluate(channels, positions, read);
        let to = stride(positions, channels.outputs);
        for (point, (filter, next)) in with_next(filter, channels.size()).enumerate() {
            let left = Rows { numbers: flat(&self.inputs[point * from..]), stride: depth * LANES };
            let out = &mut self.products[point * to..];
            let sizes = (positions, channels.inputs, channels.outputs);
            multiply_and_prefetch(left, filter, next, out, sizes);
        }
        let Workspace { board, products, plane, scratch, .. } = self;
        for position in 0..positions {
            for c in 0..channels.outputs {
                let points = &products[position * channels.outputs + c..];
                board.outputs(points, to, plane, scratch);
                put(position, c, plane);
            }
        }
    }

    /// Evaluates the inputs of a convolution at all points. Returns the number of their channel
    /// vectors, and the stride of the points.
    #[inline(always)]
    fn evaluate(
        &mut self,
        channels: Channels,
        positions: usize,
        mut read: impl FnMut(usize, usize, &mut Plane<W>),
    ) -> (usize, usize) {
        let depth = vectors(channels.inputs);
        let stride = stride(positions, depth);
        let Workspace { board, inputs, plane, scratch, .. } = self;
        for position in 0..positions {
            for c in 0..depth {
                read(position, c, plane);
                board.inputs(plane, &mut inputs[position * depth + c..], stride, scratch);
            }
        }
        (depth, stride)
    }

    /// Adds the gradients of the filter at all points to `sums`. `read` fills planes of inputs,
    /// `gradient` planes of gradients of outputs.
    #[inline(always)]
    pub(in crate::net) fn filter_gradients(
        &mut self,
        sums: &mut [Vector],
        channels: Channels,
        positions: usize,
        read: impl FnMut(usize, usize, &mut Plane<W>),
        mut gradient: impl FnMut(usize, usize, &mut Plane<W>),
    ) {
        let (depth, from) = self.evaluate(channels, positions, read);
        let to = stride(positions, channels.outputs);
        let Workspace { board, inputs, products, plane, scratch } = self;
        for position in 0..positions {
            for c in 0..channels.outputs {
                gradient(position, c, plane);
                let points = &mut products[position * channels.outputs + c..];
                board.output_gradients(plane, points, to, scratch);
            }
        }
        for (point, sums) in sums.chunks_exact_mut(channels.size()).enumerate() {
            let left = Rows { numbers: flat(&inputs[point * from..]), stride: depth * LANES };
            let right = &products[point * to..];
            add_transposed(left, right, sums, (positions, channels.inputs, channels.outputs));
        }
    }

    /// Computes the gradients of the inputs from the gradients of outputs that the last call of
    /// [`Workspace::filter_gradients`] read. `put` gets their planes. `back` is the filter with
    /// inputs and outputs exchanged. The input channels must be a multiple of [`LANES`].
    #[inline(always)]
    pub(in crate::net) fn input_gradients(
        &mut self,
        back: &[Vector],
        channels: Channels,
        positions: usize,
        mut put: impl FnMut(usize, usize, &Plane<W>),
    ) {
        let to = stride(positions, channels.outputs);
        let (depth, width) = (channels.outputs * LANES, channels.inputs / LANES);
        let from = stride(positions, width);
        let Workspace { board, inputs, products, plane, scratch } = self;
        for (point, (back, next)) in with_next(back, depth * width).enumerate() {
            let left = Rows { numbers: flat(&products[point * to..]), stride: depth };
            let out = &mut inputs[point * from..];
            multiply_and_prefetch(left, back, next, out, (positions, depth, width));
        }
        for position in 0..positions {
            for c in 0..width {
                board.input_gradients(&inputs[position * width + c..], from, plane, scratch);
                put(position, c, plane);
            }
        }
    }
}
