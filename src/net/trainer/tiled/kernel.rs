//! Convolutions and filter gradients as products of tiles.

use crate::net::tile::{TILE_ROWS, Tile, Tiles, ZEROS};
use crate::net::trainer::GROUP;
use crate::net::vector::{LANES, Vector};

/// Initial sums.
static ZERO_TILE: Tile = ZEROS;

/// Vectors for each cell, and the number of vectors from one cell to the next.
type StridedVectors<'a> = (&'a [Vector], usize);

/// The 16 vectors from index `first` on.
#[inline(always)]
fn tile(vectors: &[Vector], first: usize) -> &Tile {
    &vectors[first..].as_chunks().0[0]
}

/// The row (or column) of a tap of a cell in row (or column) `at`. `None` beyond the board.
#[inline(always)]
fn tap_target<const W: usize>(at: usize, tap: usize) -> Option<usize> {
    (at + tap).checked_sub(1).filter(|&target| target < W)
}

/// The convolution of a group.
pub(super) struct GroupConvolution<'a> {
    /// Inputs, `[cell][block of 32 channels][position]`.
    pub rows: StridedVectors<'a>,
    /// Tiles `[block of 32 outputs][tap][block of 32 inputs][2]`.
    pub filter: &'a [Vector],
    /// Blocks of 32 input channels.
    pub blocks: usize,
    /// Vectors of output channels.
    pub outputs: usize,
    /// Whether the taps are mirrored, as for gradients of inputs.
    pub mirrored: bool,
}

impl GroupConvolution<'_> {
    /// Computes the outputs `[cell][channel vector][position]` into `out`.
    pub(super) fn compute<const W: usize>(
        &self,
        tiles: &Tiles,
        (out, stride): (&mut [Vector], usize),
    ) {
        let of_tap = self.blocks * 2 * TILE_ROWS;
        let filters = self.filter.chunks_exact(9 * of_tap);
        for (pair, filter) in filters.enumerate().take(self.outputs / 2) {
            for cell in 0..W * W {
                tiles.load::<0>(&ZERO_TILE);
                tiles.load::<1>(&ZERO_TILE);
                tiles.load::<2>(&ZERO_TILE);
                tiles.load::<3>(&ZERO_TILE);
                for (tap, filter) in filter.chunks_exact(of_tap).enumerate() {
                    let tap = if self.mirrored { 8 - tap } else { tap };
                    let (row, column) =
                        (tap_target::<W>(cell / W, tap / 3), tap_target::<W>(cell % W, tap % 3));
                    if let (Some(row), Some(column)) = (row, column) {
                        self.tap(tiles, row * W + column, filter);
                    }
                }
                let out = &mut out[cell * stride + 2 * pair * GROUP..][..2 * GROUP];
                // For each channel vector: the first 16 positions, then the others.
                let out = out.as_chunks_mut::<TILE_ROWS>().0;
                tiles.store::<0>(&mut out[0]);
                tiles.store::<2>(&mut out[1]);
                tiles.store::<1>(&mut out[2]);
                tiles.store::<3>(&mut out[3]);
            }
        }
    }

    /// Adds the products of the cell `from` with the filter of one tap.
    #[inline(always)]
    fn tap(&self, tiles: &Tiles, from: usize, filter: &[Vector]) {
        let (rows, stride) = self.rows;
        let rows = rows[from * stride..].chunks_exact(GROUP);
        for (rows, filter) in rows.zip(filter.chunks_exact(2 * TILE_ROWS)) {
            tiles.load::<4>(tile(rows, 0));
            tiles.load::<6>(tile(filter, 0));
            tiles.load::<7>(tile(filter, TILE_ROWS));
            tiles.load::<5>(tile(rows, TILE_ROWS));
            tiles.multiply_four();
        }
    }
}

/// The gradients of a filter for a group.
pub(super) struct FilterGradients<'a> {
    /// Inputs, `[cell][channel]`, a row is 32 positions.
    pub columns: StridedVectors<'a>,
    /// Gradients of outputs, `[cell][channel vector][pair of positions]`.
    pub pairs: StridedVectors<'a>,
    /// Vectors of outputs.
    pub outputs: usize,
}

impl FilterGradients<'_> {
    /// Adds the gradients to `sums`: tiles `[input vector][block of 32 outputs][tap][2]`, whose
    /// rows are inputs. The three taps of a row are computed together, because then the inputs of
    /// the next cell are still in the first-level cache.
    pub(super) fn add<const W: usize>(&self, tiles: &Tiles, sums: &mut [Vector]) {
        for (index, sums) in sums.chunks_exact_mut(6 * TILE_ROWS).enumerate() {
            let (input, pair, tap) =
                (index / 3 / (self.outputs / 2), index / 3 % (self.outputs / 2), index % 3);
            let sums = sums.as_chunks_mut::<TILE_ROWS>().0;
            tiles.load::<0>(&sums[0]);
            tiles.load::<1>(&sums[1]);
            tiles.load::<2>(&sums[2]);
            tiles.load::<3>(&sums[3]);
            tiles.load::<4>(&sums[4]);
            tiles.load::<5>(&sums[5]);
            for row in 0..W {
                let Some(from) = tap_target::<W>(row, tap) else { continue };
                for column in 0..W {
                    self.cell::<W>(tiles, (row, from), column, input, pair);
                }
            }
            tiles.store::<0>(&mut sums[0]);
            tiles.store::<1>(&mut sums[1]);
            tiles.store::<2>(&mut sums[2]);
            tiles.store::<3>(&mut sums[3]);
            tiles.store::<4>(&mut sums[4]);
            tiles.store::<5>(&mut sums[5]);
        }
    }

    /// Adds the products of one cell's gradients with the inputs of row `from`.
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
        let first = (row * W + column) * stride + 2 * pair * TILE_ROWS;
        let targets = [column.checked_sub(1), Some(column), (column + 1 < W).then_some(column + 1)];
        let inputs = targets.map(|column| column.map(inputs));
        let gradients = [tile(pairs, first), tile(pairs, first + TILE_ROWS)];
        add_three::<0, 2, 4>(tiles, gradients[0], inputs);
        add_three::<1, 3, 5>(tiles, gradients[1], inputs);
    }
}

/// Adds to tiles `A`, `B` and `C` the products of three tiles of inputs, where they exist, with one
/// tile of gradients.
#[inline(always)]
fn add_three<const A: u8, const B: u8, const C: u8>(
    tiles: &Tiles,
    gradients: &Tile,
    [left, middle, right]: [Option<&Tile>; 3],
) {
    tiles.load::<7>(gradients);
    if let Some(left) = left {
        tiles.load::<6>(left);
        tiles.multiply::<A, 6, 7>();
    }
    if let Some(middle) = middle {
        tiles.load::<6>(middle);
        tiles.multiply::<B, 6, 7>();
    }
    if let Some(right) = right {
        tiles.load::<6>(right);
        tiles.multiply::<C, 6, 7>();
    }
}
