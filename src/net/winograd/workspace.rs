//! Convolutions of a group of positions, forward and backward, in memory that is used again.

use super::product::{Rows, add_transposed, multiply, vectors};
use super::transform::{Board, Grid, NO_SCRATCH, Scratch};
use super::{LANES, Vector, flat};

/// Room for the points of a group of positions on boards of `W` rows.
///
/// Functions that read or take cells are called with a position, a cell, and a vector of channels.
pub(in crate::net) struct Workspace<const W: usize, const PAIRS: usize> {
    board: Board<W, PAIRS>,
    inputs: Vec<Vector>,
    products: Vec<Vector>,
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

impl<const W: usize, const PAIRS: usize> Workspace<W, PAIRS> {
    /// Room for `positions` positions of up to `depth` vectors of channels.
    pub(in crate::net) fn new(positions: usize, depth: usize) -> Self {
        let points = Board::<W, PAIRS>::POINTS * Grid::new(positions, depth).stride;
        Workspace {
            board: Board::new(),
            inputs: vec![Vector::ZERO; points],
            products: vec![Vector::ZERO; points],
            scratch: Box::new(NO_SCRATCH),
        }
    }

    /// The transforms.
    pub(in crate::net) fn board(&self) -> &Board<W, PAIRS> {
        &self.board
    }

    /// Convolves `positions` positions with a filter at all points (see [`Board::filter`]):
    /// reads `cell(position, cell, channel vector)`, calls `put` with the sums likewise.
    #[inline(always)]
    pub(in crate::net) fn convolve(
        &mut self,
        filter: &[Vector],
        channels: Channels,
        positions: usize,
        cell: impl Fn(usize, usize, usize) -> Vector,
        mut put: impl FnMut(usize, usize, usize, Vector),
    ) {
        let from = self.evaluate(channels, positions, cell);
        let to = Grid::new(positions, channels.outputs);
        for (point, filter) in filter.chunks_exact(channels.size()).enumerate() {
            let numbers = flat(&self.inputs[point * from.stride..]);
            let left = Rows { numbers, stride: from.depth * LANES };
            let out = &mut self.products[point * to.stride..];
            multiply(left, filter, out, (positions, channels.inputs, channels.outputs));
        }
        for position in 0..positions {
            let points = &self.products[position * to.depth..];
            self.board.outputs(points, to, &mut self.scratch, |at, c, sum| {
                put(position, at, c, sum);
            });
        }
    }

    /// Evaluates the inputs of a convolution at all points.
    #[inline(always)]
    fn evaluate(
        &mut self,
        channels: Channels,
        positions: usize,
        cell: impl Fn(usize, usize, usize) -> Vector,
    ) -> Grid {
        let grid = Grid::new(positions, vectors(channels.inputs));
        for position in 0..positions {
            let points = &mut self.inputs[position * grid.depth..];
            self.board.inputs(|at, c| cell(position, at, c), points, grid, &mut self.scratch);
        }
        grid
    }

    /// What gradients of the outputs mean for the filter: adds to `sums`, at all points.
    #[inline(always)]
    pub(in crate::net) fn filter_gradients(
        &mut self,
        sums: &mut [Vector],
        channels: Channels,
        positions: usize,
        cell: impl Fn(usize, usize, usize) -> Vector,
        gradient: impl Fn(usize, usize, usize) -> Vector,
    ) {
        let from = self.evaluate(channels, positions, cell);
        let to = Grid::new(positions, channels.outputs);
        for position in 0..positions {
            let points = &mut self.products[position * to.depth..];
            let gradient = |at, c| gradient(position, at, c);
            self.board.output_gradients(gradient, points, to, &mut self.scratch);
        }
        for (point, sums) in sums.chunks_exact_mut(channels.size()).enumerate() {
            let numbers = flat(&self.inputs[point * from.stride..]);
            let left = Rows { numbers, stride: from.depth * LANES };
            let right = &self.products[point * to.stride..];
            add_transposed(left, right, sums, (positions, channels.inputs, channels.outputs));
        }
    }

    /// What the gradients that [`Workspace::filter_gradients`] has just read mean for the inputs:
    /// hands them to `put`. `back` is the filter with inputs and outputs
    /// exchanged, for a convolution whose inputs fill vectors.
    #[inline(always)]
    pub(in crate::net) fn input_gradients(
        &mut self,
        back: &[Vector],
        channels: Channels,
        positions: usize,
        mut put: impl FnMut(usize, usize, usize, Vector),
    ) {
        let to = Grid::new(positions, channels.outputs);
        let (read, made) = (channels.outputs * LANES, channels.inputs / LANES);
        let from = Grid::new(positions, made);
        for (point, back) in back.chunks_exact(read * made).enumerate() {
            let numbers = flat(&self.products[point * to.stride..]);
            let left = Rows { numbers, stride: read };
            let out = &mut self.inputs[point * from.stride..];
            multiply(left, back, out, (positions, read, made));
        }
        for position in 0..positions {
            let points = &self.inputs[position * made..];
            self.board.input_gradients(points, from, &mut self.scratch, |at, c, value| {
                put(position, at, c, value);
            });
        }
    }
}
