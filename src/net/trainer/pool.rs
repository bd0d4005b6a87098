//! Global pooling: a block adds a linear map of the means and maxima of channels over the board.

use super::arrays::{ArrayMap, Vectors};
use super::filter::Matrix;
use crate::net::vector::{LANES, Vector, flat};
use crate::net::winograd::product::{Rows, add_transposed, multiply};

/// The global pooling of one block.
#[derive(Debug)]
pub(super) struct Pool {
    matrix: Matrix,
    depth: usize,
    /// `[position][means, then maxima]`.
    pooled: Vec<Vector>,
    /// The index of the first cell that holds the maximum, `[position][channel vector]`.
    top: Vec<Vector>,
    /// What is added to all cells, `[position][channel vector]`. In the backward pass its gradient.
    pub added: Vec<Vector>,
    /// Gradients of `pooled`.
    gradients: Vec<Vector>,
}

impl Pool {
    /// The pooling whose matrix is called `name`, over `channels` channels.
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

    /// Loads the matrix, and prepares memory for `positions` positions.
    pub(super) fn load(&mut self, arrays: &ArrayMap, vectors: &Vectors, positions: usize) {
        self.matrix.load(arrays, vectors);
        self.pooled.resize(positions * 2 * self.depth, Vector::ZERO);
        self.gradients.resize(positions * 2 * self.depth, Vector::ZERO);
        self.added.resize(positions * self.depth, Vector::ZERO);
        self.top.resize(positions * self.depth, Vector::ZERO);
    }

    /// Computes mean and maximum of channel vector `c` of a position. `squares` of the cells are
    /// squares. The others hold 0.
    #[inline(always)]
    pub(super) fn pool_plane(
        &mut self,
        position: usize,
        c: usize,
        cells: &[Vector],
        squares: usize,
    ) {
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

    /// Computes `added` for all positions.
    pub(super) fn compute_added(&mut self) {
        let positions = self.added.len() / self.depth;
        let left = Rows { numbers: flat(&self.pooled), stride: 2 * self.depth * LANES };
        let sizes = (positions, self.matrix.inputs, self.depth);
        multiply(left, &self.matrix.forward, &mut self.added, sizes);
    }

    /// Computes the gradients of the matrix and of `pooled` from those in `added`.
    pub(super) fn backward(&mut self, arrays: &ArrayMap, gradients: &mut Vectors) {
        let positions = self.added.len() / self.depth;
        let stride = 2 * self.depth * LANES;
        let left = Rows { numbers: flat(&self.pooled), stride };
        let sizes = (positions, self.matrix.inputs, self.depth);
        add_transposed(left, &self.added, &mut self.matrix.sums, sizes);
        self.matrix.store(arrays, gradients);
        let left = Rows { numbers: flat(&self.added), stride: self.depth * LANES };
        let sizes = (positions, self.depth * LANES, 2 * self.depth);
        multiply(left, &self.matrix.back, &mut self.gradients, sizes);
    }

    /// The gradients of the cells of channel vector `c` of a position through mean and maximum.
    /// `squares` is the number of squares. The gradients of holes are wrong, but the ReLU before
    /// the pooling sets them to 0, like those of all cells that hold 0.
    #[inline(always)]
    pub(super) fn cell_gradients(
        &self,
        position: usize,
        c: usize,
        squares: usize,
    ) -> PoolGradients {
        let gradients = &self.gradients[position * 2 * self.depth..][..2 * self.depth];
        PoolGradients {
            mean: gradients[c] * (1.0 / squares as f32),
            top: gradients[self.depth + c],
            first: self.top[position * self.depth + c],
        }
    }
}

/// The gradients of a channel vector's mean (per cell) and maximum, and the cell of the maximum.
#[derive(Clone, Copy)]
pub(super) struct PoolGradients {
    mean: Vector,
    top: Vector,
    first: Vector,
}

impl PoolGradients {
    /// The contribution to the gradient of a cell.
    #[inline(always)]
    pub(super) fn at(self, cell: usize) -> Vector {
        self.mean + (self.top & self.first.simd_eq(Vector::splat(cell as f32)))
    }
}
