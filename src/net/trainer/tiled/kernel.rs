//! Products of tiles, and the casts and shuffles that bring numbers into them.
//!
//! All `unsafe` here rests on two facts: a [`super::Tiled`], for which alone there is anything to
//! cast or to turn, is made only where the processor has tiles and AVX-512 (F, BW, BF16); and every
//! tile that is loaded or stored is an array of 16 vectors, which is its 1 KB.

use std::arch::x86_64::*;
use std::mem::transmute;

use crate::net::tile::{ROW_BYTES, Tiles, widen};
use crate::net::trainer::GROUP;
use crate::net::winograd::{LANES, Vector};

/// Rows of a tile.
pub(super) const TILE_ROWS: usize = 16;
/// Channels of a row of bf16.
pub(super) const DEEP: usize = 32;

/// Where sums start.
static NOTHING: [Vector; TILE_ROWS] = [Vector::ZERO; TILE_ROWS];

/// Vectors of cells, and how many lie from one cell to the next.
type Cells<'a> = (&'a [Vector], usize);

#[inline(always)]
fn numbers(vector: Vector) -> __m512 {
    // SAFETY: both are 16 floats.
    unsafe { transmute(vector) }
}

#[inline(always)]
fn vector(numbers: __m512) -> Vector {
    // SAFETY: both are 16 floats.
    unsafe { transmute(numbers) }
}

/// 16 numbers of bf16.
#[derive(Clone, Copy)]
#[repr(C, align(32))]
pub(in crate::net::trainer) struct Half([u16; LANES]);

/// Zeros.
pub(super) const NO_HALF: Half = Half([0; LANES]);

/// A vector cast to bf16.
#[inline(always)]
pub(super) fn narrowed(vector: Vector) -> Half {
    // SAFETY: see above, and both are 32 bytes without invalid values.
    unsafe { transmute(narrow(numbers(vector))) }
}

/// What was cast to bf16 as floats again.
#[inline(always)]
pub(super) fn widened(half: Half) -> Vector {
    // SAFETY: see above, and both are 32 bytes without invalid values.
    vector(unsafe { widen(transmute::<Half, __m256i>(half)) })
}

#[inline]
#[target_feature(enable = "avx512f,avx512bf16")]
fn narrow(numbers: __m512) -> __m256bh {
    _mm512_cvtneps_pbh(numbers)
}

/// Two vectors cast to bf16, 16 numbers in the place of 8 floats each.
#[inline(always)]
pub(super) fn halves(first: Vector, second: Vector) -> [[f32; LANES / 2]; 2] {
    // SAFETY: see above, and both are 64 bytes without invalid values.
    unsafe { transmute(cast(numbers(first), numbers(second))) }
}

/// Two vectors cast to bf16, number by number side by side.
#[inline(always)]
pub(super) fn interleave(first: Vector, second: Vector) -> Vector {
    // SAFETY: see above, and both are 64 bytes without invalid values.
    unsafe { transmute(side_by_side(numbers(first), numbers(second))) }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bf16")]
fn cast(first: __m512, second: __m512) -> __m512i {
    let both = _mm512_cvtne2ps_pbh(second, first);
    // SAFETY: both are 64 bytes without invalid values.
    unsafe { transmute(both) }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512bf16")]
fn side_by_side(first: __m512, second: __m512) -> __m512i {
    const ORDER: [u16; 32] = {
        let mut order = [0; 32];
        let mut place = 0;
        while place < 32 {
            order[place] = (place / 2 + place % 2 * 16) as u16;
            place += 1;
        }
        order
    };
    // SAFETY: 32 numbers of 16 bits are 64 bytes.
    let order = unsafe { _mm512_loadu_si512(ORDER.as_ptr().cast()) };
    _mm512_permutexvar_epi16(order, cast(first, second))
}

/// Turns the columns of a tile into rows, 4 bytes at a time.
#[inline(always)]
pub(super) fn transpose(tile: &mut [Vector; TILE_ROWS]) {
    // SAFETY: see above.
    unsafe { exchange(tile) }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn exchange(tile: &mut [Vector; TILE_ROWS]) {
    let rows = tile.map(numbers);
    // Pairs of rows, then rows of four, within each quarter of a row.
    let twos: [__m512d; 16] = std::array::from_fn(|i| {
        let (even, odd) = (rows[i & !1], rows[i | 1]);
        _mm512_castps_pd(match i % 2 {
            0 => _mm512_unpacklo_ps(even, odd),
            _ => _mm512_unpackhi_ps(even, odd),
        })
    });
    let fours: [__m512; 16] = std::array::from_fn(|i| {
        let (quad, column) = (i & !3, i % 4);
        let (upper, lower) = (twos[quad + column / 2], twos[quad + 2 + column / 2]);
        _mm512_castpd_ps(match column % 2 {
            0 => _mm512_unpacklo_pd(upper, lower),
            _ => _mm512_unpackhi_pd(upper, lower),
        })
    });
    // Row `4 q + j` now has, in quarter `p`, column `4 p + j` of rows `4 q ..`.
    for column in 0..4 {
        let [a, b, c, d]: [__m512; 4] = std::array::from_fn(|quad| fours[4 * quad + column]);
        let (even_ab, odd_ab) =
            (_mm512_shuffle_f32x4::<0x88>(a, b), _mm512_shuffle_f32x4::<0xdd>(a, b));
        let (even_cd, odd_cd) =
            (_mm512_shuffle_f32x4::<0x88>(c, d), _mm512_shuffle_f32x4::<0xdd>(c, d));
        tile[column] = vector(_mm512_shuffle_f32x4::<0x88>(even_ab, even_cd));
        tile[4 + column] = vector(_mm512_shuffle_f32x4::<0x88>(odd_ab, odd_cd));
        tile[8 + column] = vector(_mm512_shuffle_f32x4::<0xdd>(even_ab, even_cd));
        tile[12 + column] = vector(_mm512_shuffle_f32x4::<0xdd>(odd_ab, odd_cd));
    }
}

/// The 16 vectors from `place` on.
#[inline(always)]
fn tile(vectors: &[Vector], place: usize) -> &[Vector; TILE_ROWS] {
    &vectors[place..].as_chunks().0[0]
}

#[inline(always)]
fn load<const T: u8>(tiles: &Tiles, rows: &[Vector; TILE_ROWS]) {
    // SAFETY: these are the tile's 1 KB.
    unsafe { tiles.load::<T>(rows.as_ptr().cast(), ROW_BYTES) };
}

#[inline(always)]
fn store<const T: u8>(tiles: &Tiles, rows: &mut [Vector; TILE_ROWS]) {
    // SAFETY: these are the tile's 1 KB.
    unsafe { tiles.store::<T>(rows.as_mut_ptr().cast()) };
}

/// The row or column that a tap meets from `place`; `None` beyond the board.
#[inline(always)]
fn met<const W: usize>(place: usize, tap: usize) -> Option<usize> {
    (place + tap).checked_sub(1).filter(|&there| there < W)
}

/// A convolution of a group.
pub(super) struct Products<'a> {
    /// `[cell][32 channels][position]`.
    pub rows: Cells<'a>,
    /// `[32 outputs][tap][32 channels][2]` of tiles.
    pub filter: &'a [Vector],
    /// Blocks of 32 channels that are read.
    pub blocks: usize,
    /// Vectors of channels that are made.
    pub outputs: usize,
    /// Whether the taps look the other way, as from an input to the outputs that it has a part in.
    pub mirrored: bool,
}

impl Products<'_> {
    /// Computes `[cell][channel vector][position]`.
    pub(super) fn compute<const W: usize>(
        &self,
        tiles: &Tiles,
        (out, stride): (&mut [Vector], usize),
    ) {
        let of_tap = self.blocks * 2 * TILE_ROWS;
        let filters = self.filter.chunks_exact(9 * of_tap);
        for (pair, filter) in filters.enumerate().take(self.outputs / 2) {
            for cell in 0..W * W {
                load::<0>(tiles, &NOTHING);
                load::<1>(tiles, &NOTHING);
                load::<2>(tiles, &NOTHING);
                load::<3>(tiles, &NOTHING);
                for (tap, filter) in filter.chunks_exact(of_tap).enumerate() {
                    let tap = if self.mirrored { 8 - tap } else { tap };
                    let (row, column) = (met::<W>(cell / W, tap / 3), met::<W>(cell % W, tap % 3));
                    if let (Some(row), Some(column)) = (row, column) {
                        self.tap(tiles, row * W + column, filter);
                    }
                }
                let out = &mut out[cell * stride + 2 * pair * GROUP..][..2 * GROUP];
                // Of each vector of channels the first 16 positions, then the others.
                let out = out.as_chunks_mut().0;
                store::<0>(tiles, &mut out[0]);
                store::<2>(tiles, &mut out[1]);
                store::<1>(tiles, &mut out[2]);
                store::<3>(tiles, &mut out[3]);
            }
        }
    }

    /// Adds what the cell `from` gives through a tap.
    #[inline(always)]
    fn tap(&self, tiles: &Tiles, from: usize, filter: &[Vector]) {
        let (rows, stride) = self.rows;
        let rows = rows[from * stride..].chunks_exact(GROUP);
        for (rows, filter) in rows.zip(filter.chunks_exact(2 * TILE_ROWS)) {
            load::<4>(tiles, tile(rows, 0));
            load::<6>(tiles, tile(filter, 0));
            load::<7>(tiles, tile(filter, TILE_ROWS));
            load::<5>(tiles, tile(rows, TILE_ROWS));
            tiles.multiply_four();
        }
    }
}

/// What a group means for a filter.
pub(super) struct Filters<'a> {
    /// Inputs, `[cell][channel]` of 32 positions.
    pub columns: Cells<'a>,
    /// Gradients of outputs, `[cell][channel vector][pair of positions]`.
    pub pairs: Cells<'a>,
    /// Vectors of outputs.
    pub outputs: usize,
}

impl Filters<'_> {
    /// Adds to `[input vector][32 outputs][tap][2]` of tiles of sums, whose rows are inputs. Three
    /// taps of a row go together: the inputs that they meet are still in the first-level cache when
    /// the next cell wants them.
    pub(super) fn add<const W: usize>(&self, tiles: &Tiles, sums: &mut [Vector]) {
        for (index, sums) in sums.chunks_exact_mut(6 * TILE_ROWS).enumerate() {
            let (input, pair, tap) =
                (index / 3 / (self.outputs / 2), index / 3 % (self.outputs / 2), index % 3);
            let sums = sums.as_chunks_mut().0;
            load::<0>(tiles, &sums[0]);
            load::<1>(tiles, &sums[1]);
            load::<2>(tiles, &sums[2]);
            load::<3>(tiles, &sums[3]);
            load::<4>(tiles, &sums[4]);
            load::<5>(tiles, &sums[5]);
            for row in 0..W {
                let Some(from) = met::<W>(row, tap) else { continue };
                for column in 0..W {
                    self.cell::<W>(tiles, (row, from), column, input, pair);
                }
            }
            store::<0>(tiles, &mut sums[0]);
            store::<1>(tiles, &mut sums[1]);
            store::<2>(tiles, &mut sums[2]);
            store::<3>(tiles, &mut sums[3]);
            store::<4>(tiles, &mut sums[4]);
            store::<5>(tiles, &mut sums[5]);
        }
    }

    /// Adds what one cell's gradients mean for the taps that meet the row `from`.
    #[inline(always)]
    fn cell<const W: usize>(
        &self,
        tiles: &Tiles,
        (row, from): (usize, usize),
        column: usize,
        input: usize,
        pair: usize,
    ) {
        let (columns, stride) = self.columns;
        let inputs = |column: usize| tile(columns, (from * W + column) * stride + input * LANES);
        let (pairs, stride) = self.pairs;
        let place = (row * W + column) * stride + 2 * pair * TILE_ROWS;
        let met = [column.checked_sub(1), Some(column), (column + 1 < W).then_some(column + 1)];
        let inputs = met.map(|column| column.map(inputs));
        let gradients = [tile(pairs, place), tile(pairs, place + TILE_ROWS)];
        add_three::<0, 2, 4>(tiles, gradients[0], inputs);
        add_three::<1, 3, 5>(tiles, gradients[1], inputs);
    }
}

/// Tiles `A`, `B` and `C` += each of three tiles of inputs, where there is one, times one of gradients.
#[inline(always)]
fn add_three<const A: u8, const B: u8, const C: u8>(
    tiles: &Tiles,
    gradients: &[Vector; TILE_ROWS],
    [left, middle, right]: [Option<&[Vector; TILE_ROWS]>; 3],
) {
    load::<7>(tiles, gradients);
    if let Some(left) = left {
        load::<6>(tiles, left);
        tiles.multiply::<A, 6, 7>();
    }
    if let Some(middle) = middle {
        load::<6>(tiles, middle);
        tiles.multiply::<B, 6, 7>();
    }
    if let Some(right) = right {
        load::<6>(tiles, right);
        tiles.multiply::<C, 6, 7>();
    }
}
