//! Products of matrices whose sums stay in registers.

#[cfg(target_arch = "x86_64")]
use crate::net::vector::x86::{Avx512, Half};
use crate::net::vector::{Vector, prefetch};

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

/// The vectors of a matrix, as they are or packed.
pub(in crate::net) trait Factors: Copy {
    /// Vectors that share a cache line.
    const IN_LINE: usize;

    /// How many there are.
    fn len(self) -> usize;

    /// So many from a place on.
    fn part(self, from: usize, count: usize) -> Self;

    /// The vector at a place.
    fn at(self, place: usize) -> Vector;

    /// Asks for the cache line of the vector at a place.
    fn fetch(self, place: usize);
}

impl Factors for &[Vector] {
    const IN_LINE: usize = 1;

    #[inline(always)]
    fn len(self) -> usize {
        <[Vector]>::len(self)
    }

    #[inline(always)]
    fn part(self, from: usize, count: usize) -> Self {
        &self[from..][..count]
    }

    #[inline(always)]
    fn at(self, place: usize) -> Vector {
        self[place]
    }

    #[inline(always)]
    fn fetch(self, place: usize) {
        prefetch(&raw const self[place]);
    }
}

/// Vectors cast to f16.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
pub(in crate::net) struct Halves<'a> {
    /// By their bits.
    pub numbers: &'a [Half],
    /// What brings them back.
    pub avx512: Avx512,
}

#[cfg(target_arch = "x86_64")]
impl Factors for Halves<'_> {
    const IN_LINE: usize = 2;

    #[inline(always)]
    fn len(self) -> usize {
        self.numbers.len()
    }

    #[inline(always)]
    fn part(self, from: usize, count: usize) -> Self {
        Halves { numbers: &self.numbers[from..][..count], ..self }
    }

    #[inline(always)]
    fn at(self, place: usize) -> Vector {
        self.avx512.widen_f16(self.numbers[place])
    }

    #[inline(always)]
    fn fetch(self, place: usize) {
        prefetch(&raw const self.numbers[place]);
    }
}

/// `out[row][column] = sum over k of left[row][k] * right[k][column]` for `rows` rows and `depth`
/// values of `k`.
///
/// `right` is `[k][columns]` in vectors, `out` `[row][columns]`.
pub(in crate::net) fn multiply(
    left: Rows<'_>,
    right: &[Vector],
    out: &mut [Vector],
    sizes: (usize, usize, usize),
) {
    multiply_and_fetch(left, right, &[], out, sizes);
}

/// [`multiply`], and meanwhile brings `ahead` closer, a cache line for each value of `k` of a block:
/// what is read only once in a while comes too late otherwise.
pub(in crate::net) fn multiply_and_fetch<F: Factors>(
    left: Rows<'_>,
    right: F,
    ahead: F,
    out: &mut [Vector],
    (rows, depth, columns): (usize, usize, usize),
) {
    let ahead = (ahead, 0);
    in_blocks(&mut Plain { left, right, ahead, out, depth, columns }, rows, columns);
}

/// `out[k][column] += sum over rows of left[row][k] * right[row][column]` for `depth` values of
/// `k`.
///
/// `right` is `[row][columns]` in vectors, `out` `[k][columns]`.
pub(in crate::net) fn add_transposed(
    left: Rows<'_>,
    right: &[Vector],
    out: &mut [Vector],
    (rows, depth, columns): (usize, usize, usize),
) {
    in_blocks(&mut Transposed { left, right, out, rows, columns }, depth, columns);
}

/// A product that is computed a block of sums at a time.
trait Product {
    /// Computes the sums of `R` rows of the result from `first` on and of `C` vectors from
    /// `column` on.
    fn block<const R: usize, const C: usize>(&mut self, first: usize, column: usize);
}

/// Computes `rows` rows of `columns` vectors.
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
struct Plain<'a, F> {
    left: Rows<'a>,
    right: F,
    /// What is to be brought closer, and how much of it was.
    ahead: (F, usize),
    out: &'a mut [Vector],
    depth: usize,
    columns: usize,
}

impl<F: Factors> Product for Plain<'_, F> {
    #[inline(always)]
    fn block<const R: usize, const C: usize>(&mut self, first: usize, column: usize) {
        let Plain { left, depth, columns, ahead: (ahead, ref mut fetched), .. } = *self;
        let rows: [&[f32]; R] =
            std::array::from_fn(|row| &left.numbers[(first + row) * left.stride..][..depth]);
        let right = self.right.part(column, (depth - 1) * columns + C);
        let mut sums = [[Vector::ZERO; C]; R];
        for k in 0..depth {
            if *fetched < ahead.len() {
                ahead.fetch(*fetched);
                *fetched += F::IN_LINE;
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
struct Transposed<'a> {
    left: Rows<'a>,
    right: &'a [Vector],
    out: &'a mut [Vector],
    rows: usize,
    columns: usize,
}

impl Product for Transposed<'_> {
    #[inline(always)]
    fn block<const R: usize, const C: usize>(&mut self, first: usize, column: usize) {
        let Transposed { left, rows, columns, .. } = *self;
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

/// Adds a number times each of some vectors.
#[inline(always)]
fn add<const C: usize>(sums: &mut [Vector; C], number: f32, factors: [Vector; C]) {
    let number = Vector::splat(number);
    for (sum, factor) in sums.iter_mut().zip(factors) {
        *sum = number.mul_add(factor, *sum);
    }
}
