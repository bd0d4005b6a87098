//! Products of matrices whose sums stay in registers.

use super::{LANES, Vector};

/// Rows and vectors of columns of one block of sums. Sixteen sums with AVX-512; fewer where a
/// [`Vector`] takes several registers.
const BLOCK: (usize, usize) = if cfg!(target_feature = "avx512f") { (8, 2) } else { (4, 1) };

/// A matrix of numbers whose rows are `stride` numbers apart.
#[derive(Clone, Copy)]
pub(in crate::net) struct Rows<'a> {
    /// From the first number of the first row on.
    pub numbers: &'a [f32],
    /// Numbers from one row to the next.
    pub stride: usize,
}

/// `out[row][column] = sum over k of left[row][k] * right[k][column]` for `rows` rows and `depth`
/// values of `k`.
///
/// `right` is `[k][columns]` in vectors, `out` `[row][columns]`.
pub(in crate::net) fn multiply(
    left: Rows<'_>,
    right: &[Vector],
    out: &mut [Vector],
    (rows, depth, columns): (usize, usize, usize),
) {
    let mut column = 0;
    while column < columns {
        let width = BLOCK.1.min(columns - column);
        let mut row = 0;
        while row < rows {
            let height = block_of(rows - row);
            let left = Rows { numbers: &left.numbers[row * left.stride..], stride: left.stride };
            let right = &right[column..];
            let out = &mut out[row * columns + column..];
            let sizes = (depth, columns);
            match (height, width) {
                (8, 2) => block::<8, 2>(left, right, out, sizes),
                (4, 2) => block::<4, 2>(left, right, out, sizes),
                (2, 2) => block::<2, 2>(left, right, out, sizes),
                (_, 2) => block::<1, 2>(left, right, out, sizes),
                (8, _) => block::<8, 1>(left, right, out, sizes),
                (4, _) => block::<4, 1>(left, right, out, sizes),
                (2, _) => block::<2, 1>(left, right, out, sizes),
                _ => block::<1, 1>(left, right, out, sizes),
            }
            row += height;
        }
        column += width;
    }
}

/// The largest block that so many rows fill.
fn block_of(rows: usize) -> usize {
    let most = rows.min(BLOCK.0);
    1 << most.ilog2()
}

#[inline(always)]
fn block<const R: usize, const C: usize>(
    left: Rows<'_>,
    right: &[Vector],
    out: &mut [Vector],
    (depth, columns): (usize, usize),
) {
    let rows: [&[f32]; R] = std::array::from_fn(|row| &left.numbers[row * left.stride..][..depth]);
    let mut sums = [[Vector::ZERO; C]; R];
    let right = &right[..(depth - 1) * columns + C];
    for k in 0..depth {
        let factors: [Vector; C] = std::array::from_fn(|column| right[k * columns + column]);
        for (sums, row) in sums.iter_mut().zip(rows) {
            let number = Vector::splat(row[k]);
            for (sum, factor) in sums.iter_mut().zip(factors) {
                *sum = number.mul_add(factor, *sum);
            }
        }
    }
    for (row, sums) in sums.iter().enumerate() {
        out[row * columns..][..C].copy_from_slice(sums);
    }
}

/// `out[k][column] += sum over rows of left[row][k] * right[row][column]` for `depth` values of
/// `k`, a multiple of 4 unless there is less.
///
/// `right` is `[row][columns]` in vectors, `out` `[k][columns]`.
pub(in crate::net) fn add_transposed(
    left: Rows<'_>,
    right: &[Vector],
    out: &mut [Vector],
    (rows, depth, columns): (usize, usize, usize),
) {
    let mut column = 0;
    while column < columns {
        let width = BLOCK.1.min(columns - column);
        let mut k = 0;
        while k < depth {
            let height = block_of(depth - k);
            let left = Rows { numbers: &left.numbers[k..], stride: left.stride };
            let right = &right[column..];
            let out = &mut out[k * columns + column..];
            let sizes = (rows, columns);
            match (height, width) {
                (8, 2) => block_transposed::<8, 2>(left, right, out, sizes),
                (4, 2) => block_transposed::<4, 2>(left, right, out, sizes),
                (2, 2) => block_transposed::<2, 2>(left, right, out, sizes),
                (_, 2) => block_transposed::<1, 2>(left, right, out, sizes),
                (8, _) => block_transposed::<8, 1>(left, right, out, sizes),
                (4, _) => block_transposed::<4, 1>(left, right, out, sizes),
                (2, _) => block_transposed::<2, 1>(left, right, out, sizes),
                _ => block_transposed::<1, 1>(left, right, out, sizes),
            }
            k += height;
        }
        column += width;
    }
}

#[inline(always)]
fn block_transposed<const R: usize, const C: usize>(
    left: Rows<'_>,
    right: &[Vector],
    out: &mut [Vector],
    (rows, columns): (usize, usize),
) {
    let mut sums = [[Vector::ZERO; C]; R];
    for (row, sums) in sums.iter_mut().enumerate() {
        sums.copy_from_slice(&out[row * columns..][..C]);
    }
    for row in 0..rows {
        let numbers = &left.numbers[row * left.stride..][..R];
        let factors: [Vector; C] = std::array::from_fn(|column| right[row * columns + column]);
        for (sums, &number) in sums.iter_mut().zip(numbers) {
            let number = Vector::splat(number);
            for (sum, factor) in sums.iter_mut().zip(factors) {
                *sum = number.mul_add(factor, *sum);
            }
        }
    }
    for (row, sums) in sums.iter().enumerate() {
        out[row * columns..][..C].copy_from_slice(sums);
    }
}

/// So many numbers as vectors, rounded up.
pub(in crate::net) fn vectors(numbers: usize) -> usize {
    numbers.div_ceil(LANES)
}
