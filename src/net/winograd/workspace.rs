//! Convolutions of a group of positions, forward and backward, in memory that is used again.

use super::product::{Factors, Rows, add_transposed, multiply_and_fetch};
use super::transform::{Board, NO_SCRATCH, Plane, Scratch};
use crate::net::vector::{LANES, Vector, flat, vectors};

/// Room for the points of a group of positions on boards of `W` rows.
///
/// Points lie as `[point][position][channel vector]`. Functions that read or take planes are
/// called with a position, a vector of channels, and the plane of both.
pub(in crate::net) struct Workspace<const W: usize, const PAIRS: usize> {
    board: Board<W, PAIRS>,
    inputs: Vec<Vector>,
    products: Vec<Vector>,
    plane: Box<Plane<W>>,
    scratch: Box<Scratch>,
}

/// Channels of a convolution: `inputs` as numbers, `outputs` in vectors.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::net) struct Channels {
    /// Numbers that are read.
    pub inputs: usize,
    /// Vectors that are made.
    pub outputs: usize,
}

impl Channels {
    /// Vectors of a filter at one point.
    pub(in crate::net) fn size(self) -> usize {
        self.inputs * self.outputs
    }
}

/// Vectors from one point to the next. One more than needed keeps the points apart in a cache
/// whose sets repeat at powers of two.
fn stride(positions: usize, depth: usize) -> usize {
    positions * depth + 1
}

/// The filters of the points, `size` vectors each, and for each what comes after it.
fn with_next<F: Factors>(filter: F, size: usize) -> impl Iterator<Item = (F, F)> {
    let points = filter.len() / size;
    (0..points).map(move |point| {
        let next = if point + 1 < points { size } else { 0 };
        (filter.part(point * size, size), filter.part((point + 1) * size, next))
    })
}

impl<const W: usize, const PAIRS: usize> Workspace<W, PAIRS> {
    /// Room for `positions` positions of up to `depth` vectors of channels.
    pub(in crate::net) fn new(positions: usize, depth: usize) -> Self {
        let points = Board::<W, PAIRS>::POINTS * stride(positions, depth);
        Workspace {
            board: Board::new(),
            inputs: vec![Vector::ZERO; points],
            products: vec![Vector::ZERO; points],
            plane: Box::new([[Vector::ZERO; W]; W]),
            scratch: Box::new(NO_SCRATCH),
        }
    }

    /// The transforms.
    pub(in crate::net) fn board(&self) -> &Board<W, PAIRS> {
        &self.board
    }

    /// Convolves `positions` positions with a filter at all points (see [`Board::filter`]):
    /// `read` fills planes of inputs, `put` gets those of sums.
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
            multiply_and_fetch(left, filter, next, out, sizes);
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

    /// Evaluates the inputs of a convolution at all points; their vectors of channels, and the
    /// stride of points.
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

    /// What gradients of the outputs mean for the filter: adds to `sums`, at all points. `read`
    /// fills planes of inputs, `gradient` those of gradients.
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

    /// What the gradients that [`Workspace::filter_gradients`] has just read mean for the inputs:
    /// `put` gets their planes. `back` is the filter with inputs and outputs exchanged, for a
    /// convolution whose inputs fill vectors.
    #[inline(always)]
    pub(in crate::net) fn input_gradients(
        &mut self,
        back: &[Vector],
        channels: Channels,
        positions: usize,
        mut put: impl FnMut(usize, usize, &Plane<W>),
    ) {
        let to = stride(positions, channels.outputs);
        let (read, made) = (channels.outputs * LANES, channels.inputs / LANES);
        let from = stride(positions, made);
        let Workspace { board, inputs, products, plane, scratch } = self;
        for (point, (back, next)) in with_next(back, read * made).enumerate() {
            let left = Rows { numbers: flat(&products[point * to..]), stride: read };
            let out = &mut inputs[point * from..];
            multiply_and_fetch(left, back, next, out, (positions, read, made));
        }
        for position in 0..positions {
            for c in 0..made {
                board.input_gradients(&inputs[position * made + c..], from, plane, scratch);
                put(position, c, plane);
            }
        }
    }
}
