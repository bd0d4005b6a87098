//! The kernel: 16 positions through the whole net at a time.
//!
//! Activations lie as `[square][block of 32 channels][16 positions][32 channels]` of bf16, so
//! that a tile is 16 positions of one square and one block, 1 KB in a row, and a group's
//! activations stay in a core's second-level cache from layer to layer. A 3x3 convolution is, for
//! each square, a sum over its taps on the board. Two squares and 32 output channels are computed
//! together: two factor tiles and two activation tiles feed four products. A bias is what the
//! four sums start from; ReLU, the residual and the cast to bf16 happen as they leave.
//!
//! All `unsafe` of the kernel rests on four facts, which [`Kernel::new`] and
//! [`Packed::new`] establish:
//!
//! - `x` and `y` have a tile for each block of each square and of one square more, which takes
//!   what the missing partner of an odd last square would get; `policy` and `features` have one
//!   for each pair.
//! - A [`Route`] names only squares of the board, and taps below 9.
//! - A convolution reads blocks that are there: of the trunk, or the one block of planes that the
//!   stem has written.
//! - Places in a [`Packed`] are those of whole arrays of the sizes that it documents.

use std::arch::x86_64::*;

use super::leave::{Leave, Leaving, SUMS_BYTES};
use super::pack::{Block, Convolution, Packed, Row, Tile, WIDE};
use super::route::Route;
use super::stem::PLANES;
use crate::net::encode::{Encoding, Input};
use crate::net::tile::{ROW_BYTES, TILE_BYTES, Tiles, as_bf16, as_bits};

/// Positions of a group.
pub(super) const GROUP: usize = 16;

/// A group's activations.
pub(super) struct Kernel {
    pub(super) encoding: Encoding,
    /// A position's planes, `[cell][plane]`.
    pub(super) planes: Vec<f32>,
    pub(super) x: Vec<Tile>,
    pub(super) y: Vec<Tile>,
    pub(super) policy: Vec<Tile>,
    pub(super) features: Vec<Tile>,
    /// Means, then maxima, of each block of channels.
    pooled: Vec<Tile>,
    /// What a pooled block adds to its first convolution, `[outputs / 16][16 positions]`.
    added: Vec<Row>,
    /// Sums that leave the tiles: of two pairs in turns, or of the last layers.
    pub(super) sums: Vec<Row>,
}

/// What the net says about a group, one row for each position.
pub(super) struct Answers<'a> {
    /// Logits of all squares, row after row.
    pub policy: &'a mut [f32],
    /// Before the tanh.
    pub value: &'a mut [f32],
    /// Over the number of squares.
    pub score: &'a mut [f32],
}

/// Where sums start: rows of floats, those of output `16 k ..` at `first + k * step`.
#[derive(Clone, Copy)]
pub(super) struct Bias {
    pub first: *const u8,
    /// Bytes from the rows of 16 outputs to those of the next 16.
    pub step: usize,
    /// Bytes from position to position; 0 where all start alike.
    pub stride: usize,
}

impl Kernel {
    /// Room for groups on a board, with `depth` blocks of 32 channels.
    pub(super) fn new(encoding: Encoding, route: &Route, depth: usize) -> Kernel {
        let tiles = |count| vec![Tile::ZERO; count];
        Kernel {
            encoding,
            planes: vec![0.0; (route.cells.iter().max().unwrap_or(&0) + 1) * PLANES],
            x: tiles((route.squares + 1) * depth),
            y: tiles((route.squares + 1) * depth),
            policy: tiles(route.pairs.len()),
            features: tiles(route.pairs.len()),
            pooled: tiles(2 * depth),
            added: vec![Row::ZERO; 2 * depth * GROUP],
            sums: vec![Row::ZERO; 8 * GROUP],
        }
    }

    /// Computes up to 16 positions.
    ///
    /// # Safety
    ///
    /// The processor has AVX-512 (F, BW, BF16) and BMI2; `self` was made for `route` and the
    /// depth of `net`, and `net` was packed for `route`.
    #[target_feature(enable = "avx512f,avx512bw,avx512bf16,bmi2")]
    pub(super) unsafe fn run(
        &mut self,
        tiles: &Tiles,
        route: &Route,
        net: &Packed,
        inputs: &[Input],
        answers: Answers<'_>,
    ) {
        // SAFETY: as the caller promises, by the facts above.
        unsafe {
            self.stem(tiles, route, net, inputs);
            for block in &net.blocks {
                self.block(tiles, route, net, block);
            }
            self.head_convolutions(tiles, route, net);
            self.policy_logits(tiles, route, net, inputs.len(), answers.policy);
            self.value_and_score(tiles, route, net, answers.value, answers.score);
        }
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512bf16")]
    unsafe fn block(&mut self, tiles: &Tiles, route: &Route, net: &Packed, block: &Block) {
        let rows = |place: usize| Bias {
            first: net.rows[place..].as_ptr().cast(),
            step: ROW_BYTES,
            stride: 0,
        };
        // SAFETY: as for `run`.
        unsafe {
            let mut bias = rows(block.first.bias);
            if let Some(pool) = block.pool {
                self.pool(route);
                bias = self.add_pooled(tiles, net, pool, bias);
            }
            let (x, y) = (self.x.as_mut_ptr().cast(), self.y.as_mut_ptr().cast());
            self.convolve::<false>(tiles, route, net, block.first, bias, x, y);
            let bias = rows(block.second.bias);
            self.convolve::<true>(tiles, route, net, block.second, bias, y, x);
        }
    }

    /// A 3x3 convolution and ReLU, from one buffer, whose squares have the blocks that the
    /// convolution reads, to the other, which holds the trunk; with `RESIDUAL` what `to` holds
    /// is added before the ReLU.
    #[target_feature(enable = "avx512f,avx512bw,avx512bf16")]
    #[allow(
        clippy::too_many_arguments,
        clippy::too_many_lines,
        reason = "one nest of loops that shares its tiles; each piece would take most of the rest"
    )]
    pub(super) unsafe fn convolve<const RESIDUAL: bool>(
        &mut self,
        tiles: &Tiles,
        route: &Route,
        net: &Packed,
        convolution: Convolution,
        bias: Bias,
        from: *const u8,
        to: *mut u8,
    ) {
        let (read, made) = (convolution.depth, net.depth);
        let (square_bytes, tap_bytes) = (read * TILE_BYTES, 2 * read * TILE_BYTES);
        let sums = self.sums.as_mut_ptr().cast::<u8>();
        let mut leaving = Leaving::<RESIDUAL>::NOTHING;
        // SAFETY: `from` and `to` are `x` and `y`; squares and taps are within them.
        unsafe {
            for outputs in 0..made {
                let factors = net.tiles.as_ptr().add(convolution.tiles).cast::<u8>();
                let factors = factors.add(outputs * 9 * tap_bytes);
                let low = bias.first.add(2 * outputs * bias.step);
                let high = low.add(bias.step);
                for (index, pair) in route.pairs.iter().enumerate() {
                    tiles.load::<0>(low, bias.stride);
                    tiles.load::<1>(high, bias.stride);
                    tiles.load::<2>(low, bias.stride);
                    tiles.load::<3>(high, bias.stride);
                    for both in &pair.both {
                        let mut factor = factors.add(both.tap * tap_bytes);
                        let mut first = from.add(both.first * square_bytes);
                        let mut second = from.add(both.second * square_bytes);
                        for _ in 0..read {
                            tiles.load::<4>(first, ROW_BYTES);
                            tiles.load::<6>(factor, ROW_BYTES);
                            tiles.load::<7>(factor.add(TILE_BYTES), ROW_BYTES);
                            tiles.load::<5>(second, ROW_BYTES);
                            tiles.multiply_four();
                            leaving.advance();
                            factor = factor.add(2 * TILE_BYTES);
                            first = first.add(TILE_BYTES);
                            second = second.add(TILE_BYTES);
                        }
                    }
                    for single in &pair.first {
                        let mut factor = factors.add(single.tap * tap_bytes);
                        let mut square = from.add(single.square * square_bytes);
                        for _ in 0..read {
                            tiles.load::<4>(square, ROW_BYTES);
                            tiles.load::<6>(factor, ROW_BYTES);
                            tiles.load::<7>(factor.add(TILE_BYTES), ROW_BYTES);
                            tiles.multiply::<0, 4, 6>();
                            tiles.multiply::<1, 4, 7>();
                            leaving.advance();
                            factor = factor.add(2 * TILE_BYTES);
                            square = square.add(TILE_BYTES);
                        }
                    }
                    for single in &pair.second {
                        let mut factor = factors.add(single.tap * tap_bytes);
                        let mut square = from.add(single.square * square_bytes);
                        for _ in 0..read {
                            tiles.load::<5>(square, ROW_BYTES);
                            tiles.load::<6>(factor, ROW_BYTES);
                            tiles.load::<7>(factor.add(TILE_BYTES), ROW_BYTES);
                            tiles.multiply::<2, 5, 6>();
                            tiles.multiply::<3, 5, 7>();
                            leaving.advance();
                            factor = factor.add(2 * TILE_BYTES);
                            square = square.add(TILE_BYTES);
                        }
                    }
                    leaving.finish();
                    let sums = sums.add(index % 2 * SUMS_BYTES);
                    tiles.store_four(sums);
                    let first = to.add((2 * index * made + outputs) * TILE_BYTES);
                    let second = first.add(made * TILE_BYTES);
                    leaving = Leaving { leave: Leave { sums, first, second }, next: 0 };
                }
            }
            leaving.finish();
        }
    }

    /// Means and maxima of `x` over the squares, into `pooled`.
    #[target_feature(enable = "avx512f,avx512bw,avx512bf16")]
    unsafe fn pool(&mut self, route: &Route) {
        /// Positions whose sums are held in registers at a time.
        const HELD: usize = 4;
        let depth = self.pooled.len() / 2;
        // Products with (1, 0) and (0, 1) split pairs of channels while they add.
        let even = as_bf16(_mm512_set1_epi32(half::bf16::ONE.to_bits() as i32));
        let odd = as_bf16(_mm512_set1_epi32((half::bf16::ONE.to_bits() as i32) << 16));
        let share = _mm512_set1_ps(1.0 / route.squares as f32);
        for block in 0..depth {
            for start in (0..GROUP).step_by(HELD) {
                let mut evens = [_mm512_setzero_ps(); HELD];
                let mut odds = [_mm512_setzero_ps(); HELD];
                let mut tops = [_mm512_setzero_si512(); HELD];
                for square in 0..route.squares {
                    let tile = &self.x[square * depth + block];
                    for held in 0..HELD {
                        let row = &tile.0[(start + held) * 32..][..32];
                        // SAFETY: a row is 64 bytes, aligned as its tile is.
                        let row = unsafe { _mm512_load_si512(row.as_ptr().cast()) };
                        evens[held] = _mm512_dpbf16_ps(evens[held], as_bf16(row), even);
                        odds[held] = _mm512_dpbf16_ps(odds[held], as_bf16(row), odd);
                        // Nothing is below 0 after a ReLU, so bits compare as numbers do.
                        tops[held] = _mm512_max_epu16(tops[held], row);
                    }
                }
                for held in 0..HELD {
                    let mean = _mm512_cvtne2ps_pbh(
                        _mm512_mul_ps(odds[held], share),
                        _mm512_mul_ps(evens[held], share),
                    );
                    for (place, row) in [(block, as_bits(mean)), (depth + block, tops[held])] {
                        let to = &mut self.pooled[place].0[(start + held) * 32..][..32];
                        // SAFETY: a row is 64 bytes, aligned as its tile is.
                        unsafe { _mm512_store_si512(to.as_mut_ptr().cast(), row) };
                    }
                }
            }
        }
    }

    /// What `pooled` adds to a convolution on top of its bias, as a bias for each position.
    #[target_feature(enable = "avx512f,avx512bw,avx512bf16")]
    unsafe fn add_pooled(&mut self, tiles: &Tiles, net: &Packed, pool: usize, bias: Bias) -> Bias {
        // SAFETY: `added` has 16 rows for each 16 outputs, `pooled` and `pool` as many tiles.
        unsafe {
            let mut factor = net.tiles.as_ptr().add(pool);
            for outputs in 0..2 * net.depth {
                tiles.load::<0>(bias.first.add(outputs * bias.step), bias.stride);
                for pooled in &self.pooled {
                    tiles.load::<4>((&raw const *pooled).cast(), ROW_BYTES);
                    tiles.load::<6>(factor.cast(), ROW_BYTES);
                    tiles.multiply::<0, 4, 6>();
                    factor = factor.add(1);
                }
                tiles.store::<0>(self.added.as_mut_ptr().add(outputs * GROUP).cast());
            }
        }
        Bias { first: self.added.as_ptr().cast(), step: TILE_BYTES, stride: ROW_BYTES }
    }
}

/// Operations a second that this thread's tiles reach when fed from the first-level cache: what
/// no kernel can exceed.
pub(super) fn peak(tiles: &Tiles) -> f64 {
    const ROUNDS: usize = 20_000;
    let memory = [Tile::ZERO; 4];
    let best = (0..8).map(|_| {
        let start = std::time::Instant::now();
        for _ in 0..ROUNDS {
            let from = memory.as_ptr().cast::<u8>();
            // SAFETY: `memory` has four tiles.
            unsafe {
                tiles.load::<4>(from, ROW_BYTES);
                tiles.load::<5>(from.add(TILE_BYTES), ROW_BYTES);
                tiles.load::<6>(from.add(2 * TILE_BYTES), ROW_BYTES);
                tiles.load::<7>(from.add(3 * TILE_BYTES), ROW_BYTES);
            }
            tiles.multiply_four();
        }
        start.elapsed().as_secs_f64()
    });
    let products = (ROUNDS * 4 * 2 * GROUP * WIDE * 32) as f64;
    products / best.fold(f64::INFINITY, f64::min)
}
