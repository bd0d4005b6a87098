//! The kernel: computes the whole net for a group of 16 positions.
//!
//! Activations lie as `[square][block of 32 channels][16 positions][32 channels]` of bf16. A tile
//! is 16 positions of one square and one block: 1 KB of contiguous memory. The activations of a
//! group stay in a core's second-level cache from layer to layer.
//!
//! A 3x3 convolution is, for each square, a sum over the taps that are on the board. Two squares
//! and 32 output channels are computed together: two tiles of weights and two of activations give
//! four products. The four sums start from the bias. The epilogue adds the residual, applies ReLU
//! and casts to bf16.
//!
//! `x` and `y` have a tile for each block of each square, and of one additional square: where the
//! number of squares is odd, the last square's missing partner is written there. `policy` and
//! `features` have a tile for each pair of squares.

use super::epilogue::{Epilogue, GROUP, Sums, store_four};
use super::pack::{Block, Convolution, PLANES, Packed, TILE_OUTPUTS};
use super::route::Route;
use crate::net::encode::Encoding;
use crate::net::plan::HIDDEN;
use crate::net::tile::{Source, Tile, Tiles, ZEROS};
use crate::net::vector::Vector;
use crate::net::vector::x86::Avx512;
use crate::predict::Input;

/// Memory for a group's activations.
pub(super) struct Kernel {
    pub(super) encoding: Encoding,
    /// A position's planes, `[cell][plane]`.
    pub(super) planes: Vec<f32>,
    pub(super) x: Vec<Tile>,
    pub(super) y: Vec<Tile>,
    pub(super) policy: Vec<Tile>,
    pub(super) features: Vec<Tile>,
    /// Means of all blocks of channels, then maxima of all.
    pooled: Vec<Tile>,
    /// Bias plus global pooling for the first convolution of a block, `[outputs / 16]`.
    starts: Vec<Tile>,
    /// Sums stored from the tiles: of two pairs alternately, or of the heads.
    pub(super) sums: Box<[Sums; 2]>,
}

/// The outputs of the kernel for a group of positions.
pub(super) struct RawOutputs<'a> {
    /// A row of logits of all squares for each position.
    pub policy: &'a mut [f32],
    /// The value of each position before tanh.
    pub value: &'a mut [f32],
    /// The score of each position, divided by the number of squares.
    pub score: &'a mut [f32],
}

/// The initial values of a convolution's sums.
#[derive(Clone, Copy)]
pub(super) enum Bias<'a> {
    /// One row for each 16 outputs, the same for all positions.
    Shared(&'a [Vector]),
    /// One tile for each 16 outputs, with a row for each position.
    PerPosition(&'a [Tile]),
}

impl<'a> Bias<'a> {
    /// The initial values of outputs `16 * index ..`.
    fn source(self, index: usize) -> Source<'a> {
        match self {
            Bias::Shared(rows) => Source::RepeatedRow(&rows[index]),
            Bias::PerPosition(tiles) => Source::Tile(&tiles[index]),
        }
    }
}

impl Kernel {
    /// Memory for groups of positions, for a net with `depth` blocks of 32 channels.
    pub(super) fn new(encoding: Encoding, route: &Route, depth: usize) -> Kernel {
        let tiles = |count| vec![ZEROS; count];
        Kernel {
            encoding,
            planes: vec![0.0; (route.cells.iter().max().unwrap_or(&0) + 1) * PLANES],
            x: tiles((route.squares + 1) * depth),
            y: tiles((route.squares + 1) * depth),
            policy: tiles(route.pairs.len()),
            features: tiles(route.pairs.len()),
            pooled: tiles(2 * depth),
            starts: tiles(2 * depth),
            sums: Box::new([[[ZEROS; 2]; 2]; 2]),
        }
    }

    /// Computes up to 16 positions. `self` must have been created for `route` and the depth of
    /// `net`, and `net` packed for `route`. Otherwise the result is wrong, because loops over two
    /// of them end with the shorter one.
    pub(super) fn run(
        &mut self,
        tiles: &Tiles,
        route: &Route,
        net: &Packed,
        inputs: &[Input],
        raw: RawOutputs<'_>,
    ) {
        let pairs = route.pairs.len();
        debug_assert_eq!(self.x.len(), (route.squares + 1) * net.depth, "another board or depth");
        debug_assert_eq!(self.features.len(), pairs, "another board");
        debug_assert_eq!(
            net.tiles[net.hidden..].len(),
            pairs * HIDDEN / TILE_OUTPUTS,
            "another board"
        );
        debug_assert!(inputs.len() <= GROUP && raw.value.len() == inputs.len());
        self.stem(tiles, route, net, inputs);
        for block in &net.blocks {
            self.block(tiles, route, net, block);
        }
        self.head_convolutions(tiles, net);
        self.policy_logits(tiles, route, net, inputs.len(), raw.policy);
        self.value_and_score(tiles, net, raw.value, raw.score);
    }

    fn block(&mut self, tiles: &Tiles, route: &Route, net: &Packed, block: &Block) {
        let mut bias = Bias::Shared(&net.rows[block.first.bias..]);
        if let Some(pool) = block.pool {
            self.pool(tiles.avx512, route);
            self.add_pooled(tiles, net, pool, bias);
            bias = Bias::PerPosition(&self.starts);
        }
        let Kernel { x, y, sums, .. } = self;
        convolve::<false>(tiles, route, net, block.first, bias, sums, x, y);
        let bias = Bias::Shared(&net.rows[block.second.bias..]);
        convolve::<true>(tiles, route, net, block.second, bias, sums, y, x);
    }

    /// Means and maxima of `x` over the squares, into `pooled`.
    fn pool(&mut self, avx512: Avx512, route: &Route) {
        /// Positions whose sums are in registers at the same time.
        const HELD: usize = 4;
        let depth = self.pooled.len() / 2;
        // Products with the pairs (1, 0) and (0, 1) sum even and odd channels separately.
        let one = u32::from(half::bf16::ONE.to_bits());
        let even = Vector::splat(f32::from_bits(one));
        let odd = Vector::splat(f32::from_bits(one << 16));
        let share = Vector::splat(1.0 / route.squares as f32);
        for block in 0..depth {
            for start in 0..GROUP / HELD {
                let mut evens = [Vector::ZERO; HELD];
                let mut odds = [Vector::ZERO; HELD];
                let mut tops = [Vector::ZERO; HELD];
                for square in 0..route.squares {
                    let rows = &self.x[square * depth + block].as_chunks::<HELD>().0[start];
                    for (held, &row) in rows.iter().enumerate() {
                        evens[held] = avx512.add_products(evens[held], row, even);
                        odds[held] = avx512.add_products(odds[held], row, odd);
                        // After a ReLU no number is negative, so their bits are in the same order.
                        tops[held] = avx512.max_u16(tops[held], row);
                    }
                }
                for held in 0..HELD {
                    let mean = avx512.join_bf16(evens[held] * share, odds[held] * share);
                    self.pooled[block][start * HELD + held] = mean;
                    self.pooled[depth + block][start * HELD + held] = tops[held];
                }
            }
        }
    }

    /// Computes `starts`: the bias plus a matrix times `pooled`.
    fn add_pooled(&mut self, tiles: &Tiles, net: &Packed, pool: usize, bias: Bias<'_>) {
        let factors = net.tiles[pool..].chunks_exact(self.pooled.len());
        for (outputs, (start, factors)) in self.starts.iter_mut().zip(factors).enumerate() {
            tiles.load::<0>(bias.source(outputs));
            for (pooled, factor) in self.pooled.iter().zip(factors) {
                tiles.load::<4>(pooled);
                tiles.load::<6>(factor);
                tiles.multiply::<0, 4, 6>();
            }
            tiles.store::<0>(start);
        }
    }
}

/// A 3x3 convolution and ReLU. Reads `from`, which has `convolution.depth` blocks per square, and
/// writes `to`, which has `net.depth`. With `RESIDUAL` the old content of `to` is added before the
/// ReLU.
#[allow(
    clippy::too_many_arguments,
    reason = "one nest of loops; a function for a part of it would need most of the variables"
)]
pub(super) fn convolve<const RESIDUAL: bool>(
    tiles: &Tiles,
    route: &Route,
    net: &Packed,
    convolution: Convolution,
    bias: Bias<'_>,
    sums: &mut [Sums; 2],
    from: &[Tile],
    to: &mut [Tile],
) {
    let (in_blocks, out_blocks) = (convolution.depth, net.depth);
    let mut epilogue = Epilogue::<RESIDUAL>::DONE;
    for outputs in 0..out_blocks {
        let factors =
            &net.tiles[convolution.tiles + outputs * 9 * 2 * in_blocks..][..9 * 2 * in_blocks];
        let of_tap =
            |tap: usize| factors[tap * 2 * in_blocks..][..2 * in_blocks].as_chunks::<2>().0;
        let blocks = |square: usize| &from[square * in_blocks..][..in_blocks];
        let (low, high) = (bias.source(2 * outputs), bias.source(2 * outputs + 1));
        for (index, pair) in route.pairs.iter().enumerate() {
            tiles.load::<0>(low);
            tiles.load::<1>(high);
            tiles.load::<2>(low);
            tiles.load::<3>(high);
            for both in &pair.both {
                let squares = blocks(both.first).iter().zip(blocks(both.second));
                for (factor, (first, second)) in of_tap(both.tap).iter().zip(squares) {
                    tiles.load::<4>(first);
                    tiles.load::<6>(&factor[0]);
                    tiles.load::<7>(&factor[1]);
                    tiles.load::<5>(second);
                    tiles.multiply_four();
                    epilogue.advance(tiles.avx512, sums, to);
                }
            }
            for single in &pair.first {
                for (factor, square) in of_tap(single.tap).iter().zip(blocks(single.square)) {
                    tiles.load::<4>(square);
                    tiles.load::<6>(&factor[0]);
                    tiles.load::<7>(&factor[1]);
                    tiles.multiply::<0, 4, 6>();
                    tiles.multiply::<1, 4, 7>();
                    epilogue.advance(tiles.avx512, sums, to);
                }
            }
            for single in &pair.second {
                for (factor, square) in of_tap(single.tap).iter().zip(blocks(single.square)) {
                    tiles.load::<5>(square);
                    tiles.load::<6>(&factor[0]);
                    tiles.load::<7>(&factor[1]);
                    tiles.multiply::<2, 5, 6>();
                    tiles.multiply::<3, 5, 7>();
                    epilogue.advance(tiles.avx512, sums, to);
                }
            }
            epilogue.finish(tiles.avx512, sums, to);
            store_four(tiles, &mut sums[index % 2]);
            let first = 2 * index * out_blocks + outputs;
            epilogue = Epilogue::new(index, [first, first + out_blocks]);
        }
    }
    epilogue.finish(tiles.avx512, sums, to);
}

/// Operations per second of this thread's tiles with operands in the first-level cache: an upper
/// limit for every kernel.
pub(super) fn peak(tiles: &Tiles) -> f64 {
    const ROUNDS: usize = 20_000;
    let memory = [ZEROS; 4];
    let best = (0..8).map(|_| {
        let start = std::time::Instant::now();
        for _ in 0..ROUNDS {
            tiles.load::<4>(&memory[0]);
            tiles.load::<5>(&memory[1]);
            tiles.load::<6>(&memory[2]);
            tiles.load::<7>(&memory[3]);
            tiles.multiply_four();
        }
        start.elapsed().as_secs_f64()
    });
    let products = (ROUNDS * 4 * 2 * GROUP * TILE_OUTPUTS * 32) as f64;
    products / best.fold(f64::INFINITY, f64::min)
}
