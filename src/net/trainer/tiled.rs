//! Convolutions on matrix tiles: products in bf16 with sums in float32, a tap at a time.
//!
//! A tile is 16 rows of 64 bytes. Of one cell and its taps, with 32 positions to a group:
//!
//! - outputs are `[position][channel]`, sums over taps and channels of inputs as they are;
//! - gradients of inputs are the same with the taps mirrored and the filter transposed;
//! - gradients of a filter are `[input][output]`, sums over cells and positions, so that inputs
//!   are wanted by channels and gradients of outputs by pairs of positions.
//!
//! Whoever reads and takes planes does so in float32, so that norms and pooling are computed as ever.
//! Between layers a batch is kept in bf16 as well, which is half of the memory to go through.

mod kernel;

use bytemuck::must_cast;
use kernel::{Filters, Products};

use super::GROUP;
use super::unit::{Kept, Unit};
use crate::net::tile::{self, TILE_ROWS, Tiles};
use crate::net::vector::x86::{Avx512, Half};
use crate::net::vector::{LANES, Vector, vectors};
use crate::net::winograd::{Channels, Plane};

/// Channels of a row of bf16.
const DEEP: usize = 2 * LANES;
/// Vectors of outputs that are computed together.
const SIDE_BY_SIDE: usize = 2;

/// A group's positions fill a row of bf16, and two tiles.
const _: () = assert!(GROUP == DEEP && GROUP == 2 * TILE_ROWS);

/// Whether this machine has tiles, and nets of so many channels fill them.
pub(super) fn fits(channels: usize) -> bool {
    tile::available() && channels.is_multiple_of(SIDE_BY_SIDE * LANES)
}

/// The tile registers, which there are wherever there is a [`Tiled`].
fn configured() -> Tiles {
    Tiles::configure()
        .unwrap_or_else(|| unreachable!("tiles do not go away, and nobody here holds them"))
}

/// The instructions for vectors, which there are wherever there is a [`Tiled`].
#[inline(always)]
fn avx512() -> Avx512 {
    Avx512::new().unwrap_or_else(|| unreachable!("instructions do not go away"))
}

/// Room for a group of positions on boards of `W` rows.
pub(super) struct Tiled<const W: usize> {
    /// Inputs or gradients of outputs as `[cell][32 channels][position]` of rows of bf16.
    rows: Lines,
    /// Inputs as `[cell][channel]` of 32 positions of bf16.
    columns: Lines,
    /// Gradients of outputs as `[cell][channel vector][pair of positions]`: both positions' numbers
    /// of a channel side by side.
    pairs: Lines,
    /// Sums as `[cell][channel vector][position]`.
    products: Lines,
    planes: Box<[Plane<W>; 2]>,
}

/// Vectors that belong to a board's cells.
struct Lines {
    vectors: Vec<Vector>,
    /// Vectors from one cell to the next: one more than needed, since caches repeat at powers of two.
    stride: usize,
}

impl Lines {
    fn new(cells: usize, each: usize) -> Lines {
        let stride = each + 1;
        Lines { vectors: vec![Vector::ZERO; cells * stride], stride }
    }

    #[inline(always)]
    fn at(&mut self, cell: usize, place: usize) -> &mut Vector {
        &mut self.vectors[cell * self.stride + place]
    }
}

/// Reads a group's planes two positions at a time; those beyond the last hold zeros.
#[inline(always)]
fn in_pairs<const W: usize>(
    planes: &mut [Plane<W>; 2],
    (positions, depth): (usize, usize),
    mut read: impl FnMut(usize, usize, &mut Plane<W>),
    mut take: impl FnMut(usize, usize, &[Plane<W>; 2]),
) {
    for pair in 0..GROUP / 2 {
        for c in 0..depth {
            for (parity, plane) in planes.iter_mut().enumerate() {
                let position = 2 * pair + parity;
                if position < positions {
                    read(position, c, plane);
                } else {
                    plane.as_flattened_mut().fill(Vector::ZERO);
                }
            }
            take(pair, c, planes);
        }
    }
}

/// Writes two positions of a channel vector as rows of tiles.
#[inline(always)]
fn put_rows<const W: usize>(rows: &mut Lines, pair: usize, c: usize, planes: &[Plane<W>; 2]) {
    let [even, odd] = planes.each_ref().map(|plane| plane.as_flattened());
    for (cell, (even, odd)) in even.iter().zip(odd).enumerate() {
        let both: [[f32; LANES / 2]; 2] = must_cast(avx512().join(*even, *odd));
        let place = c / 2 * GROUP + 2 * pair;
        for (parity, numbers) in both.into_iter().enumerate() {
            let row = rows.at(cell, place + parity).as_mut_array();
            row[c % 2 * LANES / 2..][..LANES / 2].copy_from_slice(&numbers);
        }
    }
}

impl<const W: usize> Tiled<W> {
    /// Products of `rows` with a filter from `inputs` vectors to `outputs`, into planes.
    #[inline(always)]
    fn products(
        &mut self,
        filter: &[Vector],
        (inputs, outputs): (usize, usize),
        mirrored: bool,
        positions: usize,
        mut put: impl FnMut(usize, usize, &Plane<W>),
    ) {
        let tiles = configured();
        Products {
            rows: (&self.rows.vectors, self.rows.stride),
            filter,
            blocks: inputs.div_ceil(2),
            outputs,
            mirrored,
        }
        .compute::<W>(&tiles, (&mut self.products.vectors, self.products.stride));
        drop(tiles);
        let plane = &mut self.planes[0];
        for position in 0..positions {
            for c in 0..outputs {
                for (cell, to) in plane.as_flattened_mut().iter_mut().enumerate() {
                    *to = *self.products.at(cell, c * GROUP + position);
                }
                put(position, c, plane);
            }
        }
    }
}

impl Kept for Half {
    const ZERO: Half = Half::ZERO;

    #[inline(always)]
    fn keep(vector: Vector) -> Half {
        avx512().narrow(vector)
    }

    #[inline(always)]
    fn vector(self) -> Vector {
        avx512().widen(self)
    }
}

impl<const W: usize> Unit<W> for Tiled<W> {
    type Kept = Half;

    fn new(depth: usize) -> Self {
        assert!(fits(depth * LANES), "tiles are there, and filled");
        let lines = |each| Lines::new(W * W, each);
        Tiled {
            rows: lines(depth.div_ceil(2) * GROUP),
            columns: lines(depth * LANES),
            pairs: lines(depth * TILE_ROWS),
            products: lines(depth * GROUP),
            planes: Box::new([[[Vector::ZERO; W]; W]; 2]),
        }
    }

    fn describe() -> String {
        "bf16 on AMX".into()
    }

    fn filter(&self, taps: &[Vector], channels: Channels, filter: &mut Vec<Vector>) {
        let Channels { inputs, outputs } = channels;
        filter.clear();
        for first in (0..outputs).step_by(SIDE_BY_SIDE) {
            for taps in taps.chunks_exact(channels.size()) {
                for block in (0..inputs).step_by(DEEP) {
                    for c in first..first + SIDE_BY_SIDE {
                        let tap = |input: usize| match input < inputs {
                            true => taps[input * outputs + c],
                            // So what the rest of a row holds from before adds nothing.
                            false => Vector::ZERO,
                        };
                        let pair = |input| avx512().interleave(tap(input), tap(input + 1));
                        filter.extend((block..block + DEEP).step_by(2).map(pair));
                    }
                }
            }
        }
    }

    fn sums(channels: Channels) -> usize {
        9 * vectors(channels.inputs) * TILE_ROWS * channels.outputs
    }

    fn taps(&self, sums: &[Vector], channels: Channels, taps: &mut [Vector]) {
        let Channels { inputs, outputs } = channels;
        let size = channels.size();
        let mut tiles = sums.chunks_exact(TILE_ROWS);
        for input in (0..inputs).step_by(LANES) {
            for first in (0..outputs).step_by(SIDE_BY_SIDE) {
                for (tap, c) in (0..9 * SIDE_BY_SIDE).map(|i| (i / SIDE_BY_SIDE, i % SIDE_BY_SIDE))
                {
                    let rows = tiles.next().unwrap_or_default();
                    for (row, sums) in (input..inputs).zip(rows) {
                        taps[tap * size + row * outputs + first + c] = *sums;
                    }
                }
            }
        }
    }

    #[inline(always)]
    fn convolve(
        &mut self,
        filter: &[Vector],
        channels: Channels,
        positions: usize,
        read: impl FnMut(usize, usize, &mut Plane<W>),
        put: impl FnMut(usize, usize, &Plane<W>),
    ) {
        let depth = vectors(channels.inputs);
        let Tiled { rows, planes, .. } = self;
        in_pairs(planes, (positions, depth), read, |pair, c, planes| {
            put_rows(rows, pair, c, planes);
        });
        self.products(filter, (depth, channels.outputs), false, positions, put);
    }

    #[inline(always)]
    fn filter_gradients(
        &mut self,
        sums: &mut [Vector],
        channels: Channels,
        positions: usize,
        read: impl FnMut(usize, usize, &mut Plane<W>),
        gradient: impl FnMut(usize, usize, &mut Plane<W>),
    ) {
        let (depth, outputs) = (vectors(channels.inputs), channels.outputs);
        let Tiled { rows, columns, pairs, planes, .. } = self;
        let put_pairs = |lines: &mut Lines, pair: usize, c: usize, planes: &[Plane<W>; 2]| {
            let [even, odd] = planes.each_ref().map(|plane| plane.as_flattened());
            for (cell, (even, odd)) in even.iter().zip(odd).enumerate() {
                *lines.at(cell, c * TILE_ROWS + pair) = avx512().interleave(*even, *odd);
            }
        };
        in_pairs(planes, (positions, depth), read, |pair, c, planes| {
            put_pairs(columns, pair, c, planes);
        });
        for cells in columns.vectors.chunks_exact_mut(columns.stride) {
            let tiles = cells[..depth * LANES].as_chunks_mut().0;
            tiles.iter_mut().for_each(|tile| avx512().transpose(tile));
        }
        in_pairs(planes, (positions, outputs), gradient, |pair, c, planes| {
            put_rows(rows, pair, c, planes);
            put_pairs(pairs, pair, c, planes);
        });
        let tiles = configured();
        Filters {
            columns: (&columns.vectors, columns.stride),
            pairs: (&pairs.vectors, pairs.stride),
            outputs,
        }
        .add::<W>(&tiles, sums);
    }

    #[inline(always)]
    fn input_gradients(
        &mut self,
        back: &[Vector],
        channels: Channels,
        positions: usize,
        put: impl FnMut(usize, usize, &Plane<W>),
    ) {
        let (read, made) = (channels.outputs, channels.inputs / LANES);
        self.products(back, (read, made), true, positions, put);
    }
}

#[cfg(test)]
mod tests;
