//! The heads: from the trunk to policy, value and score.

use super::epilogue::{relu_to_bf16, store_four};
use super::kernel::Kernel;
use super::pack::{PAIRS_PER_TILE, Packed, TILE_OUTPUTS};
use super::route::Route;
use crate::net::plan::HIDDEN;
use crate::net::tile::Tiles;
use crate::net::vector::Vector;

impl Kernel {
    /// The 1x1 convolutions of both heads with ReLU. A tile of the result holds a pair of squares.
    pub(super) fn head_convolutions(&mut self, tiles: &Tiles, net: &Packed) {
        let depth = net.depth;
        let bias = &net.rows[net.heads_bias..][..2];
        let factors = net.tiles[net.heads..][..2 * depth].as_chunks::<2>().0;
        let pairs = self.x.chunks_exact(2 * depth);
        let heads = self.policy.iter_mut().zip(&mut self.features);
        for (pair, (policy, features)) in pairs.zip(heads) {
            tiles.load::<0>(&bias[0]);
            tiles.load::<1>(&bias[1]);
            tiles.load::<2>(&bias[0]);
            tiles.load::<3>(&bias[1]);
            let (first, second) = pair.split_at(depth);
            for (factor, (first, second)) in factors.iter().zip(first.iter().zip(second)) {
                tiles.load::<4>(first);
                tiles.load::<5>(second);
                tiles.load::<6>(&factor[0]);
                tiles.load::<7>(&factor[1]);
                tiles.multiply_four();
            }
            let [of_policy, of_features] = &mut self.sums[0];
            tiles.store::<0>(&mut of_policy[0]);
            tiles.store::<2>(&mut of_policy[1]);
            tiles.store::<1>(&mut of_features[0]);
            tiles.store::<3>(&mut of_features[1]);
            relu_to_bf16(tiles.avx512, of_policy, policy);
            relu_to_bf16(tiles.avx512, of_features, features);
        }
    }

    /// Logits of all squares. One tile of sums holds 8 pairs of squares.
    pub(super) fn policy_logits(
        &mut self,
        tiles: &Tiles,
        route: &Route,
        net: &Packed,
        positions: usize,
        logits: &mut [f32],
    ) {
        let sums = &mut self.sums[0][0][0];
        let factors = &net.tiles[net.policy..][..PAIRS_PER_TILE];
        for (column, pairs) in self.policy.chunks(PAIRS_PER_TILE).enumerate() {
            tiles.load::<0>(&net.rows[net.policy_bias + column]);
            for (pair, factor) in pairs.iter().zip(factors) {
                tiles.load::<4>(pair);
                tiles.load::<6>(factor);
                tiles.multiply::<0, 4, 6>();
            }
            tiles.store::<0>(sums);
            let first = column * TILE_OUTPUTS;
            let count = TILE_OUTPUTS.min(route.squares - first);
            for (position, row) in sums[..positions].iter().enumerate() {
                let to = &mut logits[position * route.squares + first..][..count];
                to.copy_from_slice(&row.as_array()[..count]);
            }
        }
    }

    /// The hidden layer, then value and score before tanh.
    pub(super) fn value_and_score(
        &mut self,
        tiles: &Tiles,
        net: &Packed,
        value: &mut [f32],
        score: &mut [f32],
    ) {
        const PARTS: usize = HIDDEN / TILE_OUTPUTS;
        let bias = &net.rows[net.hidden_bias..][..PARTS];
        tiles.load::<0>(&bias[0]);
        tiles.load::<1>(&bias[1]);
        tiles.load::<2>(&bias[2]);
        tiles.load::<3>(&bias[3]);
        let factors = net.tiles[net.hidden..].as_chunks::<PARTS>().0;
        for (features, factor) in self.features.iter().zip(factors) {
            tiles.load::<4>(features);
            tiles.load::<6>(&factor[0]);
            tiles.load::<7>(&factor[1]);
            tiles.multiply::<0, 4, 6>();
            tiles.multiply::<1, 4, 7>();
            tiles.load::<5>(&factor[2]);
            tiles.load::<6>(&factor[3]);
            tiles.multiply::<2, 4, 5>();
            tiles.multiply::<3, 4, 6>();
        }
        store_four(tiles, &mut self.sums[0]);
        let parts = self.sums[0].as_flattened();
        let last = &net.rows[net.output_weights..][..2 * PARTS];
        for (position, (value, score)) in value.iter_mut().zip(score).enumerate() {
            let mut both = [Vector::ZERO; 2];
            for part in 0..PARTS {
                let hidden = tiles.avx512.max(parts[part][position], Vector::ZERO);
                both[0] = hidden.mul_add(last[part], both[0]);
                both[1] = hidden.mul_add(last[PARTS + part], both[1]);
            }
            *value = tiles.avx512.sum(both[0]) + net.output_bias[0];
            *score = tiles.avx512.sum(both[1]) + net.output_bias[1];
        }
    }
}
