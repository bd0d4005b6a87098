//! A folded net in the layout that the kernel reads.
//!
//! A factor tile is 1 KB: 32 inputs by 16 outputs of bf16, inputs `2k` and `2k + 1` of an output
//! side by side. Offsets ("places") count tiles from the start of [`Packed::tiles`], or rows of
//! 16 floats from the start of [`Packed::rows`].

use bytemuck::must_cast;
use half::bf16;

use super::route::Route;
use crate::net::fold::{Affine, Resnet};
use crate::net::plan::{HEAD_CHANNELS, HIDDEN};
use crate::net::tile::Tile;
use crate::net::vector::{LANES, Vector};

/// Outputs of a tile, and floats of a row.
pub(super) const WIDE: usize = LANES;
/// Inputs of a tile: channels of one block of activations.
pub(super) const DEEP: usize = 32;
/// Planes of a net that is shown sets alone: mine, theirs, legal, on the board.
const SETS: usize = 4;
/// Tiles that the policy's last layer needs: pairs of squares in one tile of outputs.
pub(super) const PAIRS_A_TILE: usize = WIDE / 2;

/// A 3x3 convolution to the trunk's channels: how many blocks of 32 channels it reads, where its
/// tiles start, as `[output block of 32][tap][input block of 32][2]`, and its bias.
#[derive(Clone, Copy, Debug)]
pub(super) struct Convolution {
    pub depth: usize,
    pub tiles: usize,
    pub bias: usize,
}

/// A residual block. `pool` is where the tiles of its pooling start, as
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
    /// From three planes of sets and the board's. Tiles `[outputs / 16]` have inputs
    /// `plane * 9 + tap` of the three; rows `[square, and one more][outputs / 16]` are biases
    /// with the board's plane folded in.
    Sets { tiles: usize, bias: usize },
    /// From planes that lie as a block of channels.
    Planes(Convolution),
}

impl Default for Stem {
    fn default() -> Stem {
        Stem::Sets { tiles: 0, bias: 0 }
    }
}

/// A net as the kernel reads it.
#[derive(Debug, Default)]
pub(super) struct Packed {
    /// Blocks of 32 channels.
    pub depth: usize,
    pub tiles: Vec<Tile>,
    pub rows: Vec<Vector>,
    pub stem: Stem,
    pub blocks: Vec<Block>,
    /// Tiles `[input block of 32][policy, features]`.
    pub heads: usize,
    /// Rows `[policy, features]`.
    pub heads_bias: usize,
    /// Tiles `[pair modulo 8]` that bring a pair's policy to its two columns.
    pub policy: usize,
    /// Rows of one number for each square.
    pub policy_bias: usize,
    /// Tiles `[pair][hidden / 16]`.
    pub hidden: usize,
    /// Rows `[hidden / 16]`.
    pub hidden_bias: usize,
    /// Rows `[value, score][hidden / 16]`.
    pub last: usize,
    /// Biases of value and score.
    pub last_bias: [f32; 2],
}

impl Packed {
    /// Packs a net whose channels are a multiple of 32.
    pub(super) fn new(net: &Resnet, route: &Route) -> Packed {
        let channels = net.stem.shape[0];
        let mut packed = Packed { depth: channels / DEEP, ..Packed::default() };
        packed.stem = match net.stem.shape[1] {
            SETS => packed.stem_of_sets(&net.stem, route),
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

    /// Appends a tile of what `factor` says for (input, output); the place where it lies.
    fn tile(&mut self, factor: impl Fn(usize, usize) -> f32) -> usize {
        let mut numbers = [0u16; WIDE * DEEP];
        for input in 0..DEEP {
            for output in 0..WIDE {
                let place = input / 2 * DEEP + output * 2 + input % 2;
                numbers[place] = bf16::from_f32(factor(input, output)).to_bits();
            }
        }
        self.tiles.push(must_cast(numbers));
        self.tiles.len() - 1
    }

    /// Appends numbers as rows, the last filled up with zeros; the place of the first.
    fn row(&mut self, numbers: &[f32]) -> usize {
        let place = self.rows.len();
        for chunk in numbers.chunks(WIDE) {
            let mut row = [0.0; WIDE];
            row[..chunk.len()].copy_from_slice(chunk);
            self.rows.push(row.into());
        }
        place
    }

    fn stem_of_sets(&mut self, stem: &Affine, route: &Route) -> Stem {
        let channels = stem.shape[0];
        let factor = |output: usize, plane: usize, tap: usize| {
            stem.weight[(output * SETS + plane) * 9 + tap]
        };
        let tiles = self.tiles.len();
        for block in 0..channels / WIDE {
            self.tile(|input, output| match input {
                0..27 => factor(block * WIDE + output, input / 9, input % 9),
                _ => 0.0,
            });
        }
        let place = self.rows.len();
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
        Stem::Sets { tiles, bias: place }
    }

    fn convolution(&mut self, conv: &Affine) -> Convolution {
        let (made, read) = (conv.shape[0], conv.shape[1]);
        let depth = read.div_ceil(DEEP);
        let tiles = self.tiles.len();
        for outputs in 0..made / DEEP {
            for tap in 0..9 {
                for inputs in 0..depth {
                    for half in 0..2 {
                        self.tile(|input, output| {
                            let output = outputs * DEEP + half * WIDE + output;
                            let input = inputs * DEEP + input;
                            match input < read {
                                true => conv.weight[(output * read + input) * 9 + tap],
                                false => 0.0,
                            }
                        });
                    }
                }
            }
        }
        Convolution { depth, tiles, bias: self.row(&conv.bias) }
    }

    /// The kernel's means come as a block's even channels, then its odd ones.
    fn pool(&mut self, pool: &Affine) -> usize {
        let channels = pool.shape[0];
        let place = self.tiles.len();
        for outputs in 0..channels / WIDE {
            for inputs in 0..2 * channels / DEEP {
                self.tile(|input, output| {
                    let is_mean = inputs < channels / DEEP;
                    let input = if is_mean { input % 16 * 2 + input / 16 } else { input };
                    let row = &pool.weight[(outputs * WIDE + output) * 2 * channels..];
                    row[inputs * DEEP + input]
                });
            }
        }
        place
    }

    fn pack_heads(&mut self, net: &Resnet) {
        self.heads = self.tiles.len();
        for inputs in 0..self.depth {
            for head in [&net.policy, &net.features] {
                let channels = head.shape[1];
                self.tile(|input, output| head.weight[output * channels + inputs * DEEP + input]);
            }
        }
        self.heads_bias = self.row(&net.policy.bias);
        self.row(&net.features.bias);
    }

    fn pack_policy(&mut self, out: &Affine, route: &Route) {
        self.policy = self.tiles.len();
        for pair in 0..PAIRS_A_TILE {
            self.tile(|input, output| match output == 2 * pair + input / HEAD_CHANNELS {
                true => out.weight[input % HEAD_CHANNELS],
                false => 0.0,
            });
        }
        let mut bias = out.bias.clone();
        bias.resize(route.squares.next_multiple_of(WIDE), 0.0);
        self.policy_bias = self.row(&bias);
    }

    fn pack_hidden(&mut self, net: &Resnet, route: &Route) {
        let inputs = net.hidden.shape[1];
        self.hidden = self.tiles.len();
        for pair in 0..route.pairs.len() {
            for outputs in 0..HIDDEN / WIDE {
                self.tile(|input, output| {
                    let Some(&cell) = route.cells.get(2 * pair + input / HEAD_CHANNELS) else {
                        return 0.0;
                    };
                    let row = &net.hidden.weight[(outputs * WIDE + output) * inputs..];
                    row[cell * HEAD_CHANNELS + input % HEAD_CHANNELS]
                });
            }
        }
        self.hidden_bias = self.row(&net.hidden.bias);
        self.last = self.row(&net.value.weight);
        self.last_bias[0] = net.value.bias[0];
        let nothing = Affine { weight: vec![0.0; HIDDEN], bias: vec![0.0], ..Affine::default() };
        let score = net.score.as_ref().unwrap_or(&nothing);
        self.row(&score.weight);
        self.last_bias[1] = score.bias[0];
    }
}
