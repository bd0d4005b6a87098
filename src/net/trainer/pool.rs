//! Means and maxima over the board, and what a block adds from them.

use super::arrays::{Places, Vectors};
use super::filter::Matrix;
use crate::net::winograd::product::{Rows, add_transposed, multiply};
use crate::net::winograd::{LANES, Vector, flat};

/// The pooling of one block.
#[derive(Debug)]
pub(super) struct Pool {
    matrix: Matrix,
    depth: usize,
    /// `[position][means, then maxima]`.
    pooled: Vec<Vector>,
    /// For each number of `[position][channel]`, the first cell that holds the maximum.
    top: Vec<u8>,
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
        self.top.resize(positions * self.depth * LANES, 0);
    }

    /// Looks at a position's cells, of which `squares` are squares and the others hold 0.
    pub(super) fn look(&mut self, position: usize, cells: &[Vector], squares: usize) {
        let share = Vector::splat(1.0 / squares as f32);
        let depth = self.depth;
        let pooled = &mut self.pooled[position * 2 * depth..][..2 * depth];
        for c in 0..depth {
            let tops = &mut self.top[(position * depth + c) * LANES..][..LANES];
            tops.fill(0);
            let (mut sum, mut top) = (Vector::ZERO, [0.0; LANES]);
            for (cell, values) in cells[c..].iter().step_by(depth).enumerate() {
                sum += *values;
                for (lane, value) in values.to_array().into_iter().enumerate() {
                    if value > top[lane] {
                        (top[lane], tops[lane]) = (value, cell as u8);
                    }
                }
            }
            (pooled[c], pooled[depth + c]) = (sum * share, Vector::new(top));
        }
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

    /// Adds to the gradients of a position's cells what its mean and maximum contribute. Those of
    /// holes come out wrong, and are cleared with those of other cells that hold 0.
    pub(super) fn spread(&self, position: usize, cells: &mut [[f32; LANES]], squares: usize) {
        let depth = self.depth;
        let gradients = &self.gradients[position * 2 * depth..][..2 * depth];
        for c in 0..depth {
            let mean = (gradients[c] * (1.0 / squares as f32)).to_array();
            for cell in cells[c..].iter_mut().step_by(depth) {
                cell.iter_mut().zip(mean).for_each(|(gradient, mean)| *gradient += mean);
            }
            let tops = &self.top[(position * depth + c) * LANES..][..LANES];
            for (lane, (&top, gradient)) in
                tops.iter().zip(gradients[depth + c].to_array()).enumerate()
            {
                cells[usize::from(top) * depth + c][lane] += gradient;
            }
        }
    }
}
