//! A folded net in the memory layout of the kernel.
//!
//! A tile of weights is 1 KB: 32 inputs by 16 outputs of bf16, with inputs `2k` and `2k + 1` of an
//! output next to each other. Offsets are indices of tiles in [`Packed::tiles`], or of rows of 16
//! floats in [`Packed::rows`].

use bytemuck::must_cast;
use half::bf16;

use super::route::Route;
use crate::net::fold::{Affine, FoldedResnet};
use crate::net::plan::{HEAD_CHANNELS, HIDDEN};
use crate::net::tile::Tile;
use crate::net::vector::{LANES, Vector};

/// Predictions of a tile of weights, and floats of a row.
pub(super) const TILE_OUTPUTS: usize = LANES;
/// Inputs of a tile of weights: channels of one block of activations.
pub(super) const TILE_INPUTS: usize = 32;
/// The largest number of input planes. It is half of a tile's inputs; the other half is 0.
pub(super) const PLANES: usize = TILE_INPUTS / 2;
/// Input planes of a net without lookahead: mine, theirs, legal, on the board.
const DISC_PLANES: usize = 4;
/// Pairs of squares in one tile of policy logits.
pub(super) const PAIRS_PER_TILE: usize = TILE_OUTPUTS / 2;

/// A 3x3 convolution to the trunk's channels.
#[derive(Clone, Copy, Debug)]
pub(super) struct Convolution {
    /// Blocks of 32 input channels.
    pub depth: usize,
    /// Offset of its tiles `[output block of 32][tap][input block of 32][2]`.
    pub tiles: usize,
    /// Offset of its rows of biases.
    pub bias: usize,
}

/// A residual block. `pool` is the offset of the tiles of its global pooling,
/// `[outputs / 16][mean blocks, then maximum blocks]`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block {
    pub first: Convolution,
    pub pool: Option<usize>,
    pub second: Convolution,
}

/// The first convolution.
#[derive(Clone, Copy, Debug)]
pub(super) enum Stem {
    /// From the four planes without lookahead. Tiles `[outputs / 16]` have input `plane * 9 + tap`
    /// for the first three planes. The fourth, squares of the board, is the same in all positions
    /// and folded into the biases: rows `[square, and one more][outputs / 16]`.
    Discs { tiles: usize, bias: usize },
    /// From planes in a block of channels, like a convolution of the trunk.
    Planes(Convolution),
}

impl Default for Stem {
    fn default() -> Stem {
        Stem::Discs { tiles: 0, bias: 0 }
    }
}

/// A net in the layout of the kernel.
#[derive(Debug, Default)]
pub(super) struct Packed {
    /// Blocks of 32 channels of the trunk.
    pub depth: usize,
    pub tiles: Vec<Tile>,
    pub rows: Vec<Vector>,
    pub stem: Stem,
    pub blocks: Vec<Block>,
    /// Tiles `[input block of 32][policy, features]`.
    pub heads: usize,
    /// Rows `[policy, features]`.
    pub heads_bias: usize,
    /// Tiles `[pair modulo 8]` that map a pair's policy channels to its two columns of logits.
    pub policy: usize,
    /// Rows with one bias for each square.
    pub policy_bias: usize,
    /// Tiles `[pair][hidden / 16]`.
    pub hidden: usize,
    /// Rows `[hidden / 16]`.
    pub hidden_bias: usize,
    /// Rows `[value, score][hidden / 16]`.
    pub output_weights: usize,
    /// Biases of value and score.
    pub output_bias: [f32; 2],
}

impl Packed {
    /// Packs a net whose channels are a multiple of 32.
    pub(super) fn new(net: &FoldedResnet, route: &Route) -> Packed {
        let channels = net.stem.shape[0];
        let mut packed = Packed { depth: channels / TILE_INPUTS, ..Packed::default() };
        packed.stem = match net.stem.shape[1] {
            DISC_PLANES => packed.stem_of_discs(&net.stem, route),
            _ => Stem::Planes(packed.convolution(&net.stem)),
        };
        for block in &net.blocks {
            let first = packed.convolution(&block.first);
            let pool = block.pool.as_ref().map(|pool| packed.pool(pool));
            let second = packed.convolution(&block.second);
            packed.blocks.push(Block { first, pool, second });
        }
        packed.pack_heads(net);
        packed.pack_policy(&net.policy_out, route);
        packed.pack_hidden(net, route);
        packed
    }

    /// Appends a tile of the weights `factor(input, output)`. Returns its offset.
    fn tile(&mut self, factor: impl Fn(usize, usize) -> f32) -> usize {
        let mut numbers = [0u16; TILE_OUTPUTS * TILE_INPUTS];
        for input in 0..TILE_INPUTS {
            for output in 0..TILE_OUTPUTS {
                let index = input / 2 * TILE_INPUTS + output * 2 + input % 2;
                numbers[index] = bf16::from_f32(factor(input, output)).to_bits();
            }
        }
        self.tiles.push(must_cast(numbers));
        self.tiles.len() - 1
    }

    /// Appends numbers as rows, the last padded with zeros. Returns the offset of the first row.
    fn row(&mut self, numbers: &[f32]) -> usize {
        let offset = self.rows.len();
        for chunk in numbers.chunks(TILE_OUTPUTS) {
            let mut row = [0.0; TILE_OUTPUTS];
            row[..chunk.len()].copy_from_slice(chunk);
            self.rows.push(row.into());
        }
        offset
    }

    fn stem_of_discs(&mut self, stem: &Affine, route: &Route) -> Stem {
        let channels = stem.shape[0];
        let factor = |output: usize, plane: usize, tap: usize| {
            stem.weight[(output * DISC_PLANES + plane) * 9 + tap]
        };
        let tiles = self.tiles.len();
        for block in 0..channels / TILE_OUTPUTS {
            self.tile(|input, output| match input {
                0..27 => factor(block * TILE_OUTPUTS + output, input / 9, input % 9),
                _ => 0.0,
            });
        }
        let offset = self.rows.len();
        for window in &route.windows {
            let taps = (0..9).filter(|tap| window.taps >> tap & 1 == 1);
            let bias: Vec<f32> = (0..channels)
                .map(|output| {
                    let board: f32 = taps.clone().map(|tap| factor(output, 3, tap)).sum();
                    stem.bias[output] + board
                })
                .collect();
            self.row(&bias);
        }
        self.row(&vec![0.0; channels]);
        Stem::Discs { tiles, bias: offset }
    }

    fn convolution(&mut self, conv: &Affine) -> Convolution {
        let (out_channels, in_channels) = (conv.shape[0], conv.shape[1]);
        let depth = in_channels.div_ceil(TILE_INPUTS);
        let tiles = self.tiles.len();
        for outputs in 0..out_channels / TILE_INPUTS {
            for tap in 0..9 {
                for inputs in 0..depth {
                    for half in 0..2 {
                        self.tile(|input, output| {
                            let output = outputs * TILE_INPUTS + half * TILE_OUTPUTS + output;
                            let input = inputs * TILE_INPUTS + input;
                            match input < in_channels {
                                true => conv.weight[(output * in_channels + input) * 9 + tap],
                                false => 0.0,
                            }
                        });
                    }
                }
            }
        }
        Convolution { depth, tiles, bias: self.row(&conv.bias) }
    }

    /// The kernel computes the means of a block's even channels first, then of its odd channels.
    /// The inputs of the means' tiles are in that order.
    fn pool(&mut self, pool: &Affine) -> usize {
        let channels = pool.shape[0];
        let offset = self.tiles.len();
        for outputs in 0..channels / TILE_OUTPUTS {
            for inputs in 0..2 * channels / TILE_INPUTS {
                self.tile(|input, output| {
                    let is_mean = inputs < channels / TILE_INPUTS;
                    let input = if is_mean { input % 16 * 2 + input / 16 } else { input };
                    let row = &pool.weight[(outputs * TILE_OUTPUTS + output) * 2 * channels..];
                    row[inputs * TILE_INPUTS + input]
                });
            }
        }
        offset
    }

    fn pack_heads(&mut self, net: &FoldedResnet) {
        self.heads = self.tiles.len();
        for inputs in 0..self.depth {
            for head in [&net.policy, &net.features] {
                let channels = head.shape[1];
                self.tile(|input, output| {
                    head.weight[output * channels + inputs * TILE_INPUTS + input]
                });
            }
        }
        self.heads_bias = self.row(&net.policy.bias);
        self.row(&net.features.bias);
    }

    fn pack_policy(&mut self, out: &Affine, route: &Route) {
        self.policy = self.tiles.len();
        for pair in 0..PAIRS_PER_TILE {
            self.tile(|input, output| match output == 2 * pair + input / HEAD_CHANNELS {
                true => out.weight[input % HEAD_CHANNELS],
                false => 0.0,
            });
        }
        let mut bias = out.bias.clone();
        bias.resize(route.squares.next_multiple_of(TILE_OUTPUTS), 0.0);
        self.policy_bias = self.row(&bias);
    }

    fn pack_hidden(&mut self, net: &FoldedResnet, route: &Route) {
        let inputs = net.hidden.shape[1];
        self.hidden = self.tiles.len();
        for pair in 0..route.pairs.len() {
            for outputs in 0..HIDDEN / TILE_OUTPUTS {
                self.tile(|input, output| {
                    let Some(&cell) = route.cells.get(2 * pair + input / HEAD_CHANNELS) else {
                        return 0.0;
                    };
                    let row = &net.hidden.weight[(outputs * TILE_OUTPUTS + output) * inputs..];
                    row[cell * HEAD_CHANNELS + input % HEAD_CHANNELS]
                });
            }
        }
        self.hidden_bias = self.row(&net.hidden.bias);
        self.output_weights = self.row(&net.value.weight);
        self.output_bias[0] = net.value.bias[0];
        let nothing = Affine { weight: vec![0.0; HIDDEN], bias: vec![0.0], ..Affine::default() };
        let score = net.score.as_ref().unwrap_or(&nothing);
        self.row(&score.weight);
        self.output_bias[1] = score.bias[0];
    }
}
