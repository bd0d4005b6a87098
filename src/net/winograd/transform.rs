//! Transforms of boards and filters to the points and back.
//!
//! A board is transformed along its columns and then along its rows, one channel vector at a time.
//! There are four transforms of boards: inputs to points, points to outputs, and for gradients the
//! transposes of both.

use super::points::{LineTransform, Matrices};
use crate::net::vector::Vector;

/// The largest number of points in one direction of any board.
const MAX_POINTS: usize = 12;

/// Memory for a board of one channel vector that is transformed in one of the two directions.
pub(in crate::net) type Scratch = [[Vector; MAX_POINTS]; MAX_POINTS];

/// An initial [`Scratch`].
pub(in crate::net) const ZERO_SCRATCH: Scratch = [[Vector::ZERO; MAX_POINTS]; MAX_POINTS];

/// One channel vector of all cells of a board, row by row.
pub(in crate::net) type Plane<const W: usize> = [[Vector; W]; W];

/// The transforms of boards of `W` rows.
#[derive(Clone, Debug)]
pub(in crate::net) struct BoardTransform<const W: usize, const PAIRS: usize> {
    matrices: Matrices<W, PAIRS>,
}

impl<const W: usize, const PAIRS: usize> BoardTransform<W, PAIRS> {
    /// Cells of the board.
    pub(in crate::net) const CELLS: usize = W * W;
    /// Points in one direction.
    const ROW: usize = W + 2;
    /// Points in both directions together.
    pub(in crate::net) const POINTS: usize = Self::ROW * Self::ROW;

    /// The transforms. `PAIRS` must be `W / 2`, rounded up.
    pub(in crate::net) fn new() -> Self {
        BoardTransform { matrices: Matrices::new() }
    }

    /// Evaluates a plane of a convolution's inputs at all points. Writes the vector of point `i` to
    /// `points[i * stride]`.
    #[inline(always)]
    pub(in crate::net) fn inputs(
        &self,
        plane: &Plane<W>,
        points: &mut [Vector],
        stride: usize,
        scratch: &mut Scratch,
    ) {
        to_points(&self.matrices.inputs, EndRows::Inputs, plane, points, stride, scratch);
    }

    /// Interpolates a plane of a convolution's outputs from the products at all points. The vector
    /// of point `i` is `points[i * stride]`.
    #[inline(always)]
    pub(in crate::net) fn outputs(
        &self,
        points: &[Vector],
        stride: usize,
        plane: &mut Plane<W>,
        scratch: &mut Scratch,
    ) {
        to_cells(&self.matrices.outputs, EndRows::Predictions, points, stride, plane, scratch);
    }

    /// The transpose of [`BoardTransform::outputs`]: from gradients of outputs to gradients of
    /// products.
    #[inline(always)]
    pub(in crate::net) fn output_gradients(
        &self,
        plane: &Plane<W>,
        points: &mut [Vector],
        stride: usize,
        scratch: &mut Scratch,
    ) {
        to_points(&self.matrices.outputs, EndRows::Predictions, plane, points, stride, scratch);
    }

    /// The transpose of [`BoardTransform::inputs`]: from gradients at the points to gradients of
    /// inputs.
    #[inline(always)]
    pub(in crate::net) fn input_gradients(
        &self,
        points: &[Vector],
        stride: usize,
        plane: &mut Plane<W>,
        scratch: &mut Scratch,
    ) {
        to_cells(&self.matrices.inputs, EndRows::Inputs, points, stride, plane, scratch);
    }

    /// Evaluates filters at all points. `taps` are `[row][column][vector]` and `points`
    /// `[point][vector]`, both with `size` vectors.
    pub(in crate::net) fn filter(&self, taps: &[Vector], points: &mut [Vector], size: usize) {
        let factors = &self.matrices.filter;
        for index in 0..size {
            for (row, row_factors) in factors.iter().enumerate() {
                let sums: [Vector; 3] = std::array::from_fn(|column| {
                    let tap = |row: usize| taps[(row * 3 + column) * size + index];
                    tap(0) * row_factors[0] + tap(1) * row_factors[1] + tap(2) * row_factors[2]
                });
                for (column, column_factors) in factors.iter().enumerate() {
                    let value = sums[0] * column_factors[0]
                        + sums[1] * column_factors[1]
                        + sums[2] * column_factors[2];
                    points[(row * Self::ROW + column) * size + index] = value;
                }
            }
        }
    }

    /// The transpose of [`BoardTransform::filter`]: from gradients at the points to gradients of
    /// taps.
    pub(in crate::net) fn filter_gradients(
        &self,
        points: &[Vector],
        taps: &mut [Vector],
        size: usize,
    ) {
        let factors = &self.matrices.filter;
        for index in 0..size {
            let mut gradients = [[Vector::ZERO; 3]; 3];
            for (row, row_factors) in factors.iter().enumerate() {
                let mut sums = [Vector::ZERO; 3];
                for (column, column_factors) in factors.iter().enumerate() {
                    let point = points[(row * Self::ROW + column) * size + index];
                    for (sum, &factor) in sums.iter_mut().zip(column_factors) {
                        *sum += point * factor;
                    }
                }
                for (gradients, &factor) in gradients.iter_mut().zip(row_factors) {
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

/// Applies a transform along columns and rows, from cells to points.
#[inline(always)]
fn to_points<const W: usize, const PAIRS: usize>(
    transform: &LineTransform<W, PAIRS>,
    ends: EndRows,
    plane: &Plane<W>,
    points: &mut [Vector],
    stride: usize,
    scratch: &mut Scratch,
) {
    for column in 0..W {
        let line = std::array::from_fn(|row| plane[row][column]);
        evaluate(transform, ends, line, |point, value| scratch[point][column] = value);
    }
    for (first, line) in scratch[..W + 2].iter().enumerate() {
        let line = std::array::from_fn(|column| line[column]);
        let points = &mut points[first * (W + 2) * stride..][..(W + 1) * stride + 1];
        evaluate(transform, ends, line, |point, value| points[point * stride] = value);
    }
}

/// The transpose of [`to_points`].
#[inline(always)]
fn to_cells<const W: usize, const PAIRS: usize>(
    transform: &LineTransform<W, PAIRS>,
    ends: EndRows,
    points: &[Vector],
    stride: usize,
    plane: &mut Plane<W>,
    scratch: &mut Scratch,
) {
    for (first, line) in scratch[..W + 2].iter_mut().enumerate() {
        let points = &points[first * (W + 2) * stride..][..(W + 1) * stride + 1];
        let cells = interpolate(transform, ends, |point| points[point * stride]);
        line[..W].copy_from_slice(&cells);
    }
    for column in 0..W {
        let cells = interpolate(transform, ends, |point| scratch[point][column]);
        for (row, value) in plane.iter_mut().zip(cells) {
            row[column] = value;
        }
    }
}

/// The matrix of a transform. It determines which entries of the rows of 0 and infinity are not 0.
#[derive(Clone, Copy, PartialEq, Eq)]
enum EndRows {
    /// `B`. Row of 0: the odd entries. Row of infinity: the even entries.
    Inputs,
    /// `A`. Row of 0: the first entry. Row of infinity: the last entry.
    Predictions,
}

/// Evaluates one line of cells at all points of one direction.
#[inline(always)]
fn evaluate<const W: usize, const PAIRS: usize>(
    transform: &LineTransform<W, PAIRS>,
    ends: EndRows,
    line: [Vector; W],
    mut put: impl FnMut(usize, Vector),
) {
    let sum = |row: &[f32; W], first: usize, step: usize| {
        let start = line[first] * Vector::splat(row[first]);
        (first + step..W)
            .step_by(step)
            .fold(start, |sum, i| line[i].mul_add(Vector::splat(row[i]), sum))
    };
    for (pair, row) in transform.pairs.iter().enumerate() {
        let (even, odd) = (sum(row, 0, 2), sum(row, 1, 2));
        put(1 + 2 * pair, even + odd);
        put(2 + 2 * pair, even - odd);
    }
    match ends {
        EndRows::Inputs => put(0, sum(&transform.zero, 1, 2)),
        EndRows::Predictions => put(0, line[0] * Vector::splat(transform.zero[0])),
    }
    if W.is_multiple_of(2) {
        match ends {
            EndRows::Inputs => put(W + 1, sum(&transform.infinity, 0, 2)),
            EndRows::Predictions => {
                put(W + 1, line[W - 1] * Vector::splat(transform.infinity[W - 1]))
            }
        }
    }
}

/// The transpose of [`evaluate`].
#[inline(always)]
fn interpolate<const W: usize, const PAIRS: usize>(
    transform: &LineTransform<W, PAIRS>,
    ends: EndRows,
    point: impl Fn(usize) -> Vector,
) -> [Vector; W] {
    let mut line = [Vector::ZERO; W];
    let mut add = |i: usize, value: Vector, factor: f32| {
        line[i] = value.mul_add(Vector::splat(factor), line[i]);
    };
    for (pair, row) in transform.pairs.iter().enumerate() {
        let (plus, minus) = (point(1 + 2 * pair), point(2 + 2 * pair));
        let both = [plus + minus, plus - minus];
        (0..W).for_each(|i| add(i, both[i % 2], row[i]));
    }
    let zero = point(0);
    match ends {
        EndRows::Inputs => (1..W).step_by(2).for_each(|i| add(i, zero, transform.zero[i])),
        EndRows::Predictions => add(0, zero, transform.zero[0]),
    }
    if W.is_multiple_of(2) {
        let infinity = point(W + 1);
        match ends {
            EndRows::Inputs => {
                (0..W).step_by(2).for_each(|i| add(i, infinity, transform.infinity[i]))
            }
            EndRows::Predictions => add(W - 1, infinity, transform.infinity[W - 1]),
        }
    }
    line
}
