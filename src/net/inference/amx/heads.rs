//! From the trunk to what the net says: policy, value and score.

use std::arch::x86_64::*;

use super::kernel::{GROUP, Kernel};
use super::leave::{Leave, load_row};
use super::pack::{PAIRS_A_TILE, Packed, WIDE};
use super::route::Route;
use crate::net::plan::HIDDEN;
use crate::net::tile::{ROW_BYTES, TILE_BYTES, Tiles};

impl Kernel {
    /// The 1x1 convolutions of both heads with ReLU, a pair of squares side by side in a tile.
    ///
    /// # Safety
    ///
    /// As for [`Kernel::run`].
    #[target_feature(enable = "avx512f,avx512bw,avx512bf16")]
    pub(super) unsafe fn head_convolutions(&mut self, tiles: &Tiles, route: &Route, net: &Packed) {
        let depth = net.depth;
        // SAFETY: `policy` and `features` have a tile for each pair.
        unsafe {
            let bias = net.rows.as_ptr().add(net.heads_bias).cast::<u8>();
            for pair in 0..route.pairs.len() {
                tiles.load::<0>(bias, 0);
                tiles.load::<1>(bias.add(ROW_BYTES), 0);
                tiles.load::<2>(bias, 0);
                tiles.load::<3>(bias.add(ROW_BYTES), 0);
                for block in 0..depth {
                    let factor = net.tiles.as_ptr().add(net.heads + 2 * block).cast::<u8>();
                    let from = self.x.as_ptr().add(2 * pair * depth + block).cast::<u8>();
                    tiles.load::<4>(from, ROW_BYTES);
                    tiles.load::<5>(from.add(depth * TILE_BYTES), ROW_BYTES);
                    tiles.load::<6>(factor, ROW_BYTES);
                    tiles.load::<7>(factor.add(TILE_BYTES), ROW_BYTES);
                    tiles.multiply_four();
                }
                let sums = self.sums.as_mut_ptr().cast::<u8>();
                // Policy of both squares, then features of both.
                tiles.store::<0>(sums);
                tiles.store::<2>(sums.add(TILE_BYTES));
                tiles.store::<1>(sums.add(2 * TILE_BYTES));
                tiles.store::<3>(sums.add(3 * TILE_BYTES));
                let leave = Leave {
                    sums,
                    first: (&raw mut self.policy[pair]).cast(),
                    second: (&raw mut self.features[pair]).cast(),
                };
                for position in 0..GROUP {
                    leave.position::<false>(position);
                }
            }
        }
    }

    /// Logits of all squares, 8 pairs of squares in one tile of sums.
    ///
    /// # Safety
    ///
    /// As for [`Kernel::run`].
    #[target_feature(enable = "avx512f")]
    pub(super) unsafe fn policy_logits(
        &mut self,
        tiles: &Tiles,
        route: &Route,
        net: &Packed,
        positions: usize,
        logits: &mut [f32],
    ) {
        for (column, pairs) in self.policy.chunks(PAIRS_A_TILE).enumerate() {
            // SAFETY: `sums` has 16 rows, the bias a row for each 16 squares, and there are 8
            // factor tiles.
            unsafe {
                let bias = net.rows.as_ptr().add(net.policy_bias + column);
                tiles.load::<0>(bias.cast(), 0);
                for (index, pair) in pairs.iter().enumerate() {
                    tiles.load::<4>((&raw const *pair).cast(), ROW_BYTES);
                    tiles.load::<6>(net.tiles.as_ptr().add(net.policy + index).cast(), ROW_BYTES);
                    tiles.multiply::<0, 4, 6>();
                }
                tiles.store::<0>(self.sums.as_mut_ptr().cast());
            }
            let first = column * WIDE;
            let count = WIDE.min(route.squares - first);
            for (position, row) in self.sums[..positions].iter().enumerate() {
                let to = &mut logits[position * route.squares + first..][..count];
                to.copy_from_slice(&row.0[..count]);
            }
        }
    }

    /// The layer that value and score share, and both of them.
    ///
    /// # Safety
    ///
    /// As for [`Kernel::run`].
    #[target_feature(enable = "avx512f")]
    pub(super) unsafe fn value_and_score(
        &mut self,
        tiles: &Tiles,
        route: &Route,
        net: &Packed,
        value: &mut [f32],
        score: &mut [f32],
    ) {
        // SAFETY: there is a tile for each pair and 16 of 64 outputs; `sums` has 4 x 16 rows.
        unsafe {
            let bias = net.rows.as_ptr().add(net.hidden_bias).cast::<u8>();
            tiles.load::<0>(bias, 0);
            tiles.load::<1>(bias.add(ROW_BYTES), 0);
            tiles.load::<2>(bias.add(2 * ROW_BYTES), 0);
            tiles.load::<3>(bias.add(3 * ROW_BYTES), 0);
            let mut factor = net.tiles.as_ptr().add(net.hidden).cast::<u8>();
            for features in &self.features[..route.pairs.len()] {
                tiles.load::<4>((&raw const *features).cast(), ROW_BYTES);
                tiles.load::<6>(factor, ROW_BYTES);
                tiles.load::<7>(factor.add(TILE_BYTES), ROW_BYTES);
                tiles.multiply::<0, 4, 6>();
                tiles.multiply::<1, 4, 7>();
                tiles.load::<5>(factor.add(2 * TILE_BYTES), ROW_BYTES);
                tiles.load::<6>(factor.add(3 * TILE_BYTES), ROW_BYTES);
                tiles.multiply::<2, 4, 5>();
                tiles.multiply::<3, 4, 6>();
                factor = factor.add(4 * TILE_BYTES);
            }
            tiles.store_four(self.sums.as_mut_ptr().cast());
        }
        const ROWS: usize = HIDDEN / WIDE;
        let (value_rows, score_rows) =
            (&net.rows[net.last..][..ROWS], &net.rows[net.last + ROWS..][..ROWS]);
        for (position, (value, score)) in value.iter_mut().zip(score).enumerate() {
            let mut both = [_mm512_setzero_ps(); 2];
            for part in 0..ROWS {
                let hidden = load_row(&self.sums[part * GROUP + position]);
                let hidden = _mm512_max_ps(hidden, _mm512_setzero_ps());
                both[0] = _mm512_fmadd_ps(hidden, load_row(&value_rows[part]), both[0]);
                both[1] = _mm512_fmadd_ps(hidden, load_row(&score_rows[part]), both[1]);
            }
            *value = _mm512_reduce_add_ps(both[0]) + net.last_bias[0];
            *score = _mm512_reduce_add_ps(both[1]) + net.last_bias[1];
        }
    }
}
