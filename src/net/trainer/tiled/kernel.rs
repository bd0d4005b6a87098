//! Products of tiles.

use crate::net::tile::{TILE_ROWS, Tile, Tiles, ZEROS};
use crate::net::trainer::GROUP;
use crate::net::vector::{LANES, Vector};

/// Where sums start.
static NOTHING: Tile = ZEROS;

/// Vectors of cells, and how many lie from one cell to the next.
type Cells<'a> = (&'a [Vector], usize);

/// The 16 vectors from `place` on.
#[inline(always)]
fn tile(vectors: &[Vector], place: usize) -> &Tile {
    &vectors[place..].as_chunks().0[0]
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
                tiles.load::<0>(&NOTHING);
                tiles.load::<1>(&NOTHING);
                tiles.load::<2>(&NOTHING);
                tiles.load::<3>(&NOTHING);
                for (tap, filter) in filter.chunks_exact(of_tap).enumerate() {
                    let tap = if self.mirrored { 8 - tap } else { tap };
                    let (row, column) = (met::<W>(cell / W, tap / 3), met::<W>(cell % W, tap % 3));
                    if let (Some(row), Some(column)) = (row, column) {
                        self.tap(tiles, row * W + column, filter);
                    }
                }
                let out = &mut out[cell * stride + 2 * pair * GROUP..][..2 * GROUP];
                // Of each vector of channels the first 16 positions, then the others.
                let out = out.as_chunks_mut::<TILE_ROWS>().0;
                tiles.store::<0>(&mut out[0]);
                tiles.store::<2>(&mut out[1]);
                tiles.store::<1>(&mut out[2]);
                tiles.store::<3>(&mut out[3]);
            }
        }
    }

    /// Adds what the cell `from` gives through a tap.
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
            let sums = sums.as_chunks_mut::<TILE_ROWS>().0;
            tiles.load::<0>(&sums[0]);
            tiles.load::<1>(&sums[1]);
            tiles.load::<2>(&sums[2]);
            tiles.load::<3>(&sums[3]);
            tiles.load::<4>(&sums[4]);
            tiles.load::<5>(&sums[5]);
            for row in 0..W {
                let Some(from) = met::<W>(row, tap) else { continue };
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
