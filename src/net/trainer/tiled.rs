//! Convolutions on matrix tiles, tap by tap: products of bf16 numbers with sums in float32.
//!
//! A tile is 16 rows of 64 bytes. A group has 32 positions. For one cell:
//!
//! - Predictions are `[position][channel]`: sums over taps and input channels.
//! - Gradients of inputs are the same, with the taps mirrored and the filter transposed.
//! - Gradients of a filter are `[input][output]`: sums over cells and positions. For these, rows of
//!   inputs are channels, and rows of gradients of outputs are pairs of positions.
//!
//! Planes are read and written in float32, so norms and pooling are the same as with Winograd.
//! Between layers a batch is stored in bf16, which halves the memory traffic.

mod kernel;

use bytemuck::must_cast;
use kernel::{FilterGradients, GroupConvolution};

use super::GROUP;
use super::convolver::{Convolver, StoredVector};
use crate::net::tile::{self, TILE_ROWS, Tiles};
use crate::net::vector::x86::{Avx512, HalfVector};
use crate::net::vector::{LANES, Vector, vectors};
use crate::net::winograd::{Channels, Plane};

/// Channels in a row of bf16 numbers.
const ROW_CHANNELS: usize = 2 * LANES;
/// Vectors of outputs that are computed together.
const SIDE_BY_SIDE: usize = 2;

// A group's positions fill a row of bf16 numbers, and the rows of two tiles.
const _: () = assert!(GROUP == ROW_CHANNELS && GROUP == 2 * TILE_ROWS);

/// Whether this machine has tiles, and nets with this number of channels fill them.
pub(super) fn fits(channels: usize) -> bool {
    tile::available() && channels.is_multiple_of(SIDE_BY_SIDE * LANES)
}

/// The tile registers. A [`TileConvolver`] exists only where there are tiles.
fn configured() -> Tiles {
    Tiles::configure().unwrap_or_else(|| unreachable!("tiles exist and are not in use here"))
}

/// The vector instructions. A [`TileConvolver`] exists only where the processor has them.
#[inline(always)]
fn avx512() -> Avx512 {
    Avx512::new().unwrap_or_else(|| unreachable!("the processor has AVX-512"))
}

/// Memory for a group of positions on boards of `W` rows.
pub(super) struct TileConvolver<const W: usize> {
    /// Inputs, or gradients of outputs: `[cell][block of 32 channels][position]`, a row is 32
    /// channels in bf16.
    rows: CellVectors,
    /// Inputs: `[cell][channel]`, a row is 32 positions in bf16.
    columns: CellVectors,
    /// Gradients of outputs: `[cell][channel vector][pair of positions]`. A row has the bf16
    /// numbers of both positions of a pair interleaved.
    pairs: CellVectors,
    /// Predictions, or gradients of inputs: `[cell][channel vector][position]`.
    products: CellVectors,
    planes: Box<[Plane<W>; 2]>,
}

/// Vectors for each cell of a board.
struct CellVectors {
    vectors: Vec<Vector>,
    /// Vectors from one cell to the next. It is one more than needed: at a distance of a power of
    /// two all cells would fall into the same few sets of the cache.
    stride: usize,
}

impl CellVectors {
    fn new(cells: usize, each: usize) -> CellVectors {
        let stride = each + 1;
        CellVectors { vectors: vec![Vector::ZERO; cells * stride], stride }
    }

    #[inline(always)]
    fn at(&mut self, cell: usize, index: usize) -> &mut Vector {
        &mut self.vectors[cell * self.stride + index]
    }
}

/// Reads a group's planes and passes those of two positions at a time to `take`. Planes of
/// positions beyond the last are 0.
#[inline(always)]
fn for_position_pairs<const W: usize>(
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

/// Writes a channel vector of two positions into `rows` (see [`TileConvolver::rows`]).
#[inline(always)]
fn put_rows<const W: usize>(rows: &mut CellVectors, pair: usize, c: usize, planes: &[Plane<W>; 2]) {
    let [even, odd] = planes.each_ref().map(|plane| plane.as_flattened());
    for (cell, (even, odd)) in even.iter().zip(odd).enumerate() {
        let both: [[f32; LANES / 2]; 2] = must_cast(avx512().join_bf16(*even, *odd));
        let first = c / 2 * GROUP + 2 * pair;
        for (parity, numbers) in both.into_iter().enumerate() {
            let row = rows.at(cell, first + parity).as_mut_array();
            row[c % 2 * LANES / 2..][..LANES / 2].copy_from_slice(&numbers);
        }
    }
}

impl<const W: usize> TileConvolver<W> {
    /// Convolves `rows` with a filter from `inputs` to `outputs` channel vectors. `put` gets the
    /// planes of the result.
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
        GroupConvolution {
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

impl StoredVector for HalfVector {
    const ZERO: HalfVector = HalfVector::ZERO;

    #[inline(always)]
    fn store(vector: Vector) -> HalfVector {
        avx512().narrow_bf16(vector)
    }

    #[inline(always)]
    fn to_vector(self) -> Vector {
        avx512().widen_bf16(self)
    }
}

impl<const W: usize> Convolver<W> for TileConvolver<W> {
    type Stored = HalfVector;

    fn new(depth: usize) -> Self {
        assert!(fits(depth * LANES), "there are tiles, and the channels fill them");
        let cell_vectors = |each| CellVectors::new(W * W, each);
        TileConvolver {
            rows: cell_vectors(depth.div_ceil(2) * GROUP),
            columns: cell_vectors(depth * LANES),
            pairs: cell_vectors(depth * TILE_ROWS),
            products: cell_vectors(depth * GROUP),
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
                for block in (0..inputs).step_by(ROW_CHANNELS) {
                    for c in first..first + SIDE_BY_SIDE {
                        let tap = |input: usize| match input < inputs {
                            true => taps[input * outputs + c],
                            // The rest of a row holds old numbers, which must not count.
                            false => Vector::ZERO,
                        };
                        let pair = |input| avx512().interleave_bf16(tap(input), tap(input + 1));
                        filter.extend((block..block + ROW_CHANNELS).step_by(2).map(pair));
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
        let TileConvolver { rows, planes, .. } = self;
        for_position_pairs(planes, (positions, depth), read, |pair, c, planes| {
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
        let TileConvolver { rows, columns, pairs, planes, .. } = self;
        let put_pairs =
            |columns: &mut CellVectors, pair: usize, c: usize, planes: &[Plane<W>; 2]| {
                let [even, odd] = planes.each_ref().map(|plane| plane.as_flattened());
                for (cell, (even, odd)) in even.iter().zip(odd).enumerate() {
                    *columns.at(cell, c * TILE_ROWS + pair) = avx512().interleave_bf16(*even, *odd);
                }
            };
        for_position_pairs(planes, (positions, depth), read, |pair, c, planes| {
            put_pairs(columns, pair, c, planes);
        });
        for cells in columns.vectors.chunks_exact_mut(columns.stride) {
            let tiles = cells[..depth * LANES].as_chunks_mut().0;
            tiles.iter_mut().for_each(|tile| avx512().transpose(tile));
        }
        for_position_pairs(planes, (positions, outputs), gradient, |pair, c, planes| {
            put_rows(rows, pair, c, planes);
            put_pairs(pairs, pair, c, planes);
        });
        let tiles = configured();
        FilterGradients {
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
        let (inputs, outputs) = (channels.outputs, channels.inputs / LANES);
        self.products(back, (inputs, outputs), true, positions, put);
    }
}

#[cfg(test)]
mod tests;
