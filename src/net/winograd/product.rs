//! Matrix products that keep their sums in registers.

#[cfg(target_arch = "x86_64")]
use crate::net::vector::x86::{Avx512, HalfVector};
use crate::net::vector::{Vector, prefetch};

/// The size of a block of sums: rows, and vectors of columns. A block has 16 sums with AVX-512, and
/// fewer where a [`Vector`] takes several registers.
const BLOCK: (usize, usize) = if cfg!(target_feature = "avx512f") { (8, 2) } else { (4, 1) };

/// A matrix of numbers whose rows are `stride` numbers apart.
#[derive(Clone, Copy)]
pub(in crate::net) struct Rows<'a> {
    /// The numbers, from the first of the first row on.
    pub numbers: &'a [f32],
    /// The distance between the starts of two rows.
    pub stride: usize,
}

/// The vectors of a matrix, stored in float32 or f16.
pub(in crate::net) trait Factors: Copy {
    /// Vectors per cache line.
    const PER_LINE: usize;

    /// The number of vectors.
    fn len(self) -> usize;

    /// The `count` vectors from index `from` on.
    fn slice(self, from: usize, count: usize) -> Self;

    /// The vector at an index.
    fn at(self, index: usize) -> Vector;

    /// Prefetches the cache line of the vector at an index.
    fn prefetch(self, index: usize);
}

impl Factors for &[Vector] {
    const PER_LINE: usize = 1;

    #[inline(always)]
    fn len(self) -> usize {
        <[Vector]>::len(self)
    }

    #[inline(always)]
    fn slice(self, from: usize, count: usize) -> Self {
        &self[from..][..count]
    }

    #[inline(always)]
    fn at(self, index: usize) -> Vector {
        self[index]
    }

    #[inline(always)]
    fn prefetch(self, index: usize) {
        prefetch(&raw const self[index]);
    }
}

/// Vectors stored in f16.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
pub(in crate::net) struct HalfFactors<'a> {
    /// The vectors.
    pub numbers: &'a [HalfVector],
    /// The instructions that cast them to float32.
    pub avx512: Avx512,
}

#[cfg(target_arch = "x86_64")]
impl Factors for HalfFactors<'_> {
    const PER_LINE: usize = 2;

    #[inline(always)]
    fn len(self) -> usize {
        self.numbers.len()
    }

    #[inline(always)]
    fn slice(self, from: usize, count: usize) -> Self {
        HalfFactors { numbers: &self.numbers[from..][..count], ..self }
    }

    #[inline(always)]
    fn at(self, index: usize) -> Vector {
        self.avx512.widen_f16(self.numbers[index])
    }

    #[inline(always)]
    fn prefetch(self, index: usize) {
        prefetch(&raw const self.numbers[index]);
    }
}

/// `out[row][column] = sum over k of left[row][k] * right[k][column]`.
///
/// `right` is `[k][columns]` and `out` `[row][columns]`, both in vectors. `sizes` are the number of
/// rows, of values of `k`, and of vectors of columns.
pub(in crate::net) fn multiply(
    left: Rows<'_>,
    right: &[Vector],
    out: &mut [Vector],
    sizes: (usize, usize, usize),
) {
    multiply_and_prefetch(left, right, &[], out, sizes);
}

/// [`multiply`] that also prefetches `ahead`: one cache line for each value of `k` in each block.
/// Otherwise the next product would have to wait for its factors.
pub(in crate::net) fn multiply_and_prefetch<F: Factors>(
    left: Rows<'_>,
    right: F,
    ahead: F,
    out: &mut [Vector],
    (rows, depth, columns): (usize, usize, usize),
) {
    let ahead = (ahead, 0);
    in_blocks(&mut PlainProduct { left, right, ahead, out, depth, columns }, rows, columns);
}

/// `out[k][column] += sum over rows of left[row][k] * right[row][column]`.
///
/// `right` is `[row][columns]` and `out` `[k][columns]`, both in vectors. The sizes are the number
/// of rows, of values of `k`, and of vectors of columns.
pub(in crate::net) fn add_transposed(
    left: Rows<'_>,
    right: &[Vector],
    out: &mut [Vector],
    (rows, depth, columns): (usize, usize, usize),
) {
    in_blocks(&mut TransposedProduct { left, right, out, rows, columns }, depth, columns);
}

/// A product that is computed in blocks of sums.
trait Product {
    /// Computes `R` rows of the result from row `first` on, and in them `C` vectors from `column`
    /// on.
    fn block<const R: usize, const C: usize>(&mut self, first: usize, column: usize);
}

/// Computes a result of `rows` rows of `columns` vectors.
#[inline(always)]
fn in_blocks(product: &mut impl Product, rows: usize, columns: usize) {
    let mut column = 0;
    while column < columns {
        let width = BLOCK.1.min(columns - column);
        let mut first = 0;
        while first < rows {
            let height = 1 << BLOCK.0.min(rows - first).ilog2();
            match (height, width) {
                (8, 2) => product.block::<8, 2>(first, column),
                (4, 2) => product.block::<4, 2>(first, column),
                (2, 2) => product.block::<2, 2>(first, column),
                (_, 2) => product.block::<1, 2>(first, column),
                (8, _) => product.block::<8, 1>(first, column),
                (4, _) => product.block::<4, 1>(first, column),
                (2, _) => product.block::<2, 1>(first, column),
                _ => product.block::<1, 1>(first, column),
            }
            first += height;
        }
        column += width;
    }
}

/// See [`multiply`].
struct PlainProduct<'a, F> {
    left: Rows<'a>,
    right: F,
    /// The vectors to prefetch, and how many have been.
    ahead: (F, usize),
    out: &'a mut [Vector],
    depth: usize,
    columns: usize,
}

impl<F: Factors> Product for PlainProduct<'_, F> {
    #[inline(always)]
    fn block<const R: usize, const C: usize>(&mut self, first: usize, column: usize) {
        let PlainProduct { left, depth, columns, ahead: (ahead, ref mut prefetched), .. } = *self;
        let rows: [&[f32]; R] =
            std::array::from_fn(|row| &left.numbers[(first + row) * left.stride..][..depth]);
        let right = self.right.slice(column, (depth - 1) * columns + C);
        let mut sums = [[Vector::ZERO; C]; R];
        for k in 0..depth {
            if *prefetched < ahead.len() {
                ahead.prefetch(*prefetched);
                *prefetched += F::PER_LINE;
            }
            let factors: [Vector; C] = std::array::from_fn(|c| right.at(k * columns + c));
            for (sums, row) in sums.iter_mut().zip(rows) {
                add(sums, row[k], factors);
            }
        }
        for (row, sums) in sums.iter().enumerate() {
            self.out[(first + row) * columns + column..][..C].copy_from_slice(sums);
        }
    }
}

/// See [`add_transposed`].
struct TransposedProduct<'a> {
    left: Rows<'a>,
    right: &'a [Vector],
    out: &'a mut [Vector],
    rows: usize,
    columns: usize,
}

impl Product for TransposedProduct<'_> {
    #[inline(always)]
    fn block<const R: usize, const C: usize>(&mut self, first: usize, column: usize) {
        let TransposedProduct { left, rows, columns, .. } = *self;
        let mut sums = [[Vector::ZERO; C]; R];
        for (k, sums) in sums.iter_mut().enumerate() {
            sums.copy_from_slice(&self.out[(first + k) * columns + column..][..C]);
        }
        for row in 0..rows {
            let numbers = &left.numbers[row * left.stride + first..][..R];
            let right = &self.right[row * columns + column..][..C];
            let factors: [Vector; C] = std::array::from_fn(|c| right[c]);
            for (sums, &number) in sums.iter_mut().zip(numbers) {
                add(sums, number, factors);
            }
        }
        for (k, sums) in sums.iter().enumerate() {
            self.out[(first + k) * columns + column..][..C].copy_from_slice(sums);
        }
    }
}

/// Adds `number` times each of `factors` to the sums.
#[inline(always)]
fn add<const C: usize>(sums: &mut [Vector; C], number: f32, factors: [Vector; C]) {
    let number = Vector::splat(number);
    for (sum, factor) in sums.iter_mut().zip(factors) {
        *sum = number.mul_add(factor, *sum);
    }
}
