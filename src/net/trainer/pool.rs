//! Means and maxima over the board, and what a block adds from them.

use super::arrays::{Places, Vectors};
use super::filter::Matrix;
use crate::net::vector::{LANES, Vector, flat};
use crate::net::winograd::product::{Rows, add_transposed, multiply};

/// The pooling of one block.
#[derive(Debug)]
pub(super) struct Pool {
    matrix: Matrix,
    depth: usize,
    /// `[position][means, then maxima]`.
    pooled: Vec<Vector>,
    /// For each number of `[position][channel vector]`, the first cell that holds the maximum.
    top: Vec<Vector>,
    /// `[position][channel vector]`: what is added to all cells, and later its gradient.
    pub added: Vec<Vector>,
    /// Gradients of `pooled`.
    gradients: Vec<Vector>,
}

impl Pool {
    /// The pooling called `name` of `channels` channels.
    pub(super) fn new(name: &str, channels: usize) -> Pool {
        let matrix = Matrix::new(name, 2 * channels, channels, 2);
        Pool {
            depth: matrix.outputs,
            matrix,
            pooled: Vec::new(),
            top: Vec::new(),
            added: Vec::new(),
            gradients: Vec::new(),
        }
    }

    /// Prepares for `positions` positions.
    pub(super) fn load(&mut self, places: &Places, vectors: &Vectors, positions: usize) {
        self.matrix.load(places, vectors);
        self.pooled.resize(positions * 2 * self.depth, Vector::ZERO);
        self.gradients.resize(positions * 2 * self.depth, Vector::ZERO);
        self.added.resize(positions * self.depth, Vector::ZERO);
        self.top.resize(positions * self.depth, Vector::ZERO);
    }

    /// Looks at channel vector `c` of a position's cells, of which `squares` are squares and the
    /// others hold 0.
    #[inline(always)]
    pub(super) fn look(&mut self, position: usize, c: usize, cells: &[Vector], squares: usize) {
        let depth = self.depth;
        let (mut sum, mut top) = (Vector::ZERO, Vector::ZERO);
        let (mut first, mut index) = (Vector::ZERO, Vector::ZERO);
        for cell in cells {
            sum += *cell;
            let higher = cell.simd_gt(top);
            first = higher.bitselect(index, first);
            top = top.fast_max(*cell);
            index += Vector::ONE;
        }
        let pooled = &mut self.pooled[position * 2 * depth..][..2 * depth];
        pooled[c] = sum * (1.0 / squares as f32);
        pooled[depth + c] = top;
        self.top[position * depth + c] = first;
    }

    /// Computes what is added to the cells of all positions.
    pub(super) fn add(&mut self) {
        let positions = self.added.len() / self.depth;
        let left = Rows { numbers: flat(&self.pooled), stride: 2 * self.depth * LANES };
        let sizes = (positions, self.matrix.inputs, self.depth);
        multiply(left, &self.matrix.forward, &mut self.added, sizes);
    }

    /// From the gradients in `added` to those of the matrix and of what was pooled.
    pub(super) fn backward(&mut self, places: &Places, gradients: &mut Vectors) {
        let positions = self.added.len() / self.depth;
        let stride = 2 * self.depth * LANES;
        let left = Rows { numbers: flat(&self.pooled), stride };
        let sizes = (positions, self.matrix.inputs, self.depth);
        add_transposed(left, &self.added, &mut self.matrix.sums, sizes);
        self.matrix.store(places, gradients);
        let left = Rows { numbers: flat(&self.added), stride: self.depth * LANES };
        let sizes = (positions, self.depth * LANES, 2 * self.depth);
        multiply(left, &self.matrix.back, &mut self.gradients, sizes);
    }

    /// What the mean and the maximum of channel vector `c` of a position contribute to the
    /// gradients of its cells, of which `squares` are squares. That of holes comes out wrong, and
    /// is cleared with that of other cells that hold 0.
    #[inline(always)]
    pub(super) fn spread(&self, position: usize, c: usize, squares: usize) -> Spread {
        let gradients = &self.gradients[position * 2 * self.depth..][..2 * self.depth];
        Spread {
            mean: gradients[c] * (1.0 / squares as f32),
            top: gradients[self.depth + c],
            first: self.top[position * self.depth + c],
        }
    }
}

/// Gradients of a mean and a maximum on their way back to the cells.
#[derive(Clone, Copy)]
pub(super) struct Spread {
    mean: Vector,
    top: Vector,
    first: Vector,
}

impl Spread {
    /// The contribution to a cell.
    #[inline(always)]
    pub(super) fn to(self, cell: usize) -> Vector {
        self.mean + (self.top & self.first.simd_eq(Vector::splat(cell as f32)))
    }
}
