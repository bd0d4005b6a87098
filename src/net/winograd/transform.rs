//! Boards and filters to points and back.
//!
//! A transform of a board goes along its columns and then along its rows, a vector of channels at
//! a time. Four are needed: inputs to points, outputs from points, and for gradients the
//! transposes of both.

use super::points::{Matrices, Table};
use crate::net::vector::Vector;

/// The most points that a board has in one direction.
const MOST: usize = 12;

/// A board on its way between cells and points, one vector of channels of it.
pub(in crate::net) type Scratch = [[Vector; MOST]; MOST];

/// A scratch to begin with.
pub(in crate::net) const NO_SCRATCH: Scratch = [[Vector::ZERO; MOST]; MOST];

/// One vector of channels of all cells of a board, by rows.
pub(in crate::net) type Plane<const W: usize> = [[Vector; W]; W];

/// The transforms of boards of `W` rows.
#[derive(Clone, Debug)]
pub(in crate::net) struct Board<const W: usize, const PAIRS: usize> {
    matrices: Matrices<W, PAIRS>,
}

impl<const W: usize, const PAIRS: usize> Board<W, PAIRS> {
    /// Cells of the board.
    pub(in crate::net) const CELLS: usize = W * W;
    /// Points in one direction.
    const ROW: usize = W + 2;
    /// Points in both directions together.
    pub(in crate::net) const POINTS: usize = Self::ROW * Self::ROW;

    /// The transforms; there must be `W / 2` pairs of points, rounded up.
    pub(in crate::net) fn new() -> Self {
        Board { matrices: Matrices::new() }
    }

    /// Evaluates one plane of a position at all points, as the input of a convolution; `points`
    /// starts at its vector of the first point, and has one every `stride`.
    #[inline(always)]
    pub(in crate::net) fn inputs(
        &self,
        plane: &Plane<W>,
        points: &mut [Vector],
        stride: usize,
        scratch: &mut Scratch,
    ) {
        to_points(&self.matrices.inputs, Ends::Inputs, plane, points, stride, scratch);
    }

    /// Interpolates one plane of a position's outputs from its products at all points.
    #[inline(always)]
    pub(in crate::net) fn outputs(
        &self,
        points: &[Vector],
        stride: usize,
        plane: &mut Plane<W>,
        scratch: &mut Scratch,
    ) {
        to_cells(&self.matrices.outputs, Ends::Outputs, points, stride, plane, scratch);
    }

    /// The transpose of [`Board::outputs`]: gradients of outputs to gradients of products.
    #[inline(always)]
    pub(in crate::net) fn output_gradients(
        &self,
        plane: &Plane<W>,
        points: &mut [Vector],
        stride: usize,
        scratch: &mut Scratch,
    ) {
        to_points(&self.matrices.outputs, Ends::Outputs, plane, points, stride, scratch);
    }

    /// The transpose of [`Board::inputs`]: gradients at the points to gradients of inputs.
    #[inline(always)]
    pub(in crate::net) fn input_gradients(
        &self,
        points: &[Vector],
        stride: usize,
        plane: &mut Plane<W>,
        scratch: &mut Scratch,
    ) {
        to_cells(&self.matrices.inputs, Ends::Inputs, points, stride, plane, scratch);
    }

    /// Evaluates filters at all points: `taps` are `[row][column][vector]` with `size` vectors a
    /// tap, `points` `[point][vector]`.
    pub(in crate::net) fn filter(&self, taps: &[Vector], points: &mut [Vector], size: usize) {
        let factors = &self.matrices.filter;
        for index in 0..size {
            for (row, of_row) in factors.iter().enumerate() {
                let sums: [Vector; 3] = std::array::from_fn(|column| {
                    let tap = |row: usize| taps[(row * 3 + column) * size + index];
                    tap(0) * of_row[0] + tap(1) * of_row[1] + tap(2) * of_row[2]
                });
                for (column, of_column) in factors.iter().enumerate() {
                    let value =
                        sums[0] * of_column[0] + sums[1] * of_column[1] + sums[2] * of_column[2];
                    points[(row * Self::ROW + column) * size + index] = value;
                }
            }
        }
    }

    /// The transpose of [`Board::filter`]: gradients at the points to gradients of taps.
    pub(in crate::net) fn filter_gradients(
        &self,
        points: &[Vector],
        taps: &mut [Vector],
        size: usize,
    ) {
        let factors = &self.matrices.filter;
        for index in 0..size {
            let mut gradients = [[Vector::ZERO; 3]; 3];
            for (row, of_row) in factors.iter().enumerate() {
                let mut sums = [Vector::ZERO; 3];
                for (column, of_column) in factors.iter().enumerate() {
                    let point = points[(row * Self::ROW + column) * size + index];
                    for (sum, &factor) in sums.iter_mut().zip(of_column) {
                        *sum += point * factor;
                    }
                }
                for (gradients, &factor) in gradients.iter_mut().zip(of_row) {
                    for (gradient, sum) in gradients.iter_mut().zip(sums) {
                        *gradient += sum * factor;
                    }
                }
            }
            for (tap, gradient) in gradients.as_flattened().iter().enumerate() {
                taps[tap * size + index] = *gradient;
            }
        }
    }
}

#[inline(always)]
fn to_points<const W: usize, const PAIRS: usize>(
    table: &Table<W, PAIRS>,
    ends: Ends,
    plane: &Plane<W>,
    points: &mut [Vector],
    stride: usize,
    scratch: &mut Scratch,
) {
    for column in 0..W {
        let line = std::array::from_fn(|row| plane[row][column]);
        evaluate(table, ends, line, |point, value| scratch[point][column] = value);
    }
    for (first, line) in scratch[..W + 2].iter().enumerate() {
        let line = std::array::from_fn(|column| line[column]);
        let points = &mut points[first * (W + 2) * stride..][..(W + 1) * stride + 1];
        evaluate(table, ends, line, |point, value| points[point * stride] = value);
    }
}

#[inline(always)]
fn to_cells<const W: usize, const PAIRS: usize>(
    table: &Table<W, PAIRS>,
    ends: Ends,
    points: &[Vector],
    stride: usize,
    plane: &mut Plane<W>,
    scratch: &mut Scratch,
) {
    for (first, line) in scratch[..W + 2].iter_mut().enumerate() {
        let points = &points[first * (W + 2) * stride..][..(W + 1) * stride + 1];
        let cells = interpolate(table, ends, |point| points[point * stride]);
        line[..W].copy_from_slice(&cells);
    }
    for column in 0..W {
        let cells = interpolate(table, ends, |point| scratch[point][column]);
        for (row, value) in plane.iter_mut().zip(cells) {
            row[column] = value;
        }
    }
}

/// Which entries of the rows of 0 and infinity are not 0.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ends {
    /// 0: the odd ones; infinity: the even ones.
    Inputs,
    /// 0: the first; infinity: the last.
    Outputs,
}

/// One line of cells at all points of a direction.
#[inline(always)]
fn evaluate<const W: usize, const PAIRS: usize>(
    table: &Table<W, PAIRS>,
    ends: Ends,
    line: [Vector; W],
    mut put: impl FnMut(usize, Vector),
) {
    let sum = |row: &[f32; W], first: usize, step: usize| {
        let start = line[first] * Vector::splat(row[first]);
        (first + step..W)
            .step_by(step)
            .fold(start, |sum, i| line[i].mul_add(Vector::splat(row[i]), sum))
    };
    for (pair, row) in table.pairs.iter().enumerate() {
        let (even, odd) = (sum(row, 0, 2), sum(row, 1, 2));
        put(1 + 2 * pair, even + odd);
        put(2 + 2 * pair, even - odd);
    }
    match ends {
        Ends::Inputs => put(0, sum(&table.zero, 1, 2)),
        Ends::Outputs => put(0, line[0] * Vector::splat(table.zero[0])),
    }
    if W.is_multiple_of(2) {
        match ends {
            Ends::Inputs => put(W + 1, sum(&table.infinity, 0, 2)),
            Ends::Outputs => put(W + 1, line[W - 1] * Vector::splat(table.infinity[W - 1])),
        }
    }
}

/// The transpose of [`evaluate`].
#[inline(always)]
fn interpolate<const W: usize, const PAIRS: usize>(
    table: &Table<W, PAIRS>,
    ends: Ends,
    point: impl Fn(usize) -> Vector,
) -> [Vector; W] {
    let mut line = [Vector::ZERO; W];
    let mut add = |i: usize, value: Vector, factor: f32| {
        line[i] = value.mul_add(Vector::splat(factor), line[i]);
    };
    for (pair, row) in table.pairs.iter().enumerate() {
        let (plus, minus) = (point(1 + 2 * pair), point(2 + 2 * pair));
        let both = [plus + minus, plus - minus];
        (0..W).for_each(|i| add(i, both[i % 2], row[i]));
    }
    let zero = point(0);
    match ends {
        Ends::Inputs => (1..W).step_by(2).for_each(|i| add(i, zero, table.zero[i])),
        Ends::Outputs => add(0, zero, table.zero[0]),
    }
    if W.is_multiple_of(2) {
        let infinity = point(W + 1);
        match ends {
            Ends::Inputs => (0..W).step_by(2).for_each(|i| add(i, infinity, table.infinity[i])),
            Ends::Outputs => add(W - 1, infinity, table.infinity[W - 1]),
        }
    }
    line
}
