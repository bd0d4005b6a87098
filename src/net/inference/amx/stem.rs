//! From positions to the trunk: what a net is shown, and its first convolution.

use std::arch::x86_64::*;

use super::kernel::{Bias, GROUP, Kernel};
use super::leave::Leave;
use super::pack::{DEEP, Packed, Stem};
use super::route::Route;
use crate::net::encode::Input;
use crate::net::tile::{ROW_BYTES, TILE_BYTES, Tiles, as_bits};

/// Planes that a row of a tile takes from numbers: half of its inputs.
pub(super) const PLANES: usize = DEEP / 2;

impl Kernel {
    /// Brings positions to the trunk in `x`; writes over `y`.
    ///
    /// # Safety
    ///
    /// As for [`Kernel::run`].
    #[target_feature(enable = "avx512f,avx512bw,avx512bf16,bmi2")]
    pub(super) unsafe fn stem(
        &mut self,
        tiles: &Tiles,
        route: &Route,
        net: &Packed,
        inputs: &[Input],
    ) {
        match net.stem {
            Stem::Sets { tiles: factors, bias } => {
                self.encode_sets(route, inputs);
                // SAFETY: as the caller promises.
                unsafe { self.stem_of_sets(tiles, route, net, (factors, bias)) };
            }
            Stem::Planes(convolution) => {
                self.encode_planes(route, inputs);
                let (x, y) = (self.x.as_mut_ptr().cast(), self.y.as_ptr().cast());
                let first = net.rows[convolution.bias..].as_ptr().cast();
                let bias = Bias { first, step: ROW_BYTES, stride: 0 };
                // SAFETY: as the caller promises; `y` has a block of planes for each square.
                unsafe { self.convolve::<false>(tiles, route, net, convolution, bias, y, x) };
            }
        }
    }

    /// Writes the windows of 27 bits around each square into `y`, one tile a square.
    #[target_feature(enable = "avx512f,avx512bw,bmi2")]
    fn encode_sets(&mut self, route: &Route, inputs: &[Input]) {
        let one = _mm512_set1_epi16(half::bf16::ONE.to_bits() as i16);
        for (window, tile) in route.windows.iter().zip(&mut self.y) {
            let (rows, _) = tile.0.as_chunks_mut::<32>();
            for (row, input) in rows.iter_mut().zip(inputs) {
                let cut = |set: u128| {
                    _pdep_u64(_pext_u64((set >> window.shift) as u64, window.bits), window.taps)
                };
                let bits = cut(input.mine) | cut(input.theirs) << 9 | cut(input.legal) << 18;
                let expanded = _mm512_maskz_mov_epi16(bits as u32, one);
                // SAFETY: a row is 64 bytes, aligned as its tile is.
                unsafe { _mm512_store_si512(row.as_mut_ptr().cast(), expanded) };
            }
        }
    }

    /// Writes the planes of each square into `y`, one tile a square; the inputs beyond them are 0.
    #[target_feature(enable = "avx512f,avx512bw,avx512bf16")]
    fn encode_planes(&mut self, route: &Route, inputs: &[Input]) {
        let Kernel { y, planes, encoding, .. } = self;
        for (position, input) in inputs.iter().enumerate() {
            encoding.write(input, planes, PLANES);
            let (cells, _) = planes.as_chunks::<PLANES>();
            for (tile, &cell) in y.iter_mut().zip(&route.cells) {
                let row = &mut tile.0[position * DEEP..][..DEEP];
                // SAFETY: a cell's planes are 64 bytes; so is a row, aligned as its tile is.
                unsafe {
                    let numbers = _mm512_loadu_ps(cells[cell].as_ptr());
                    let nothing = _mm512_setzero_ps();
                    let both = as_bits(_mm512_cvtne2ps_pbh(nothing, numbers));
                    _mm512_store_si512(row.as_mut_ptr().cast(), both);
                }
            }
        }
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512bf16")]
    unsafe fn stem_of_sets(
        &mut self,
        tiles: &Tiles,
        route: &Route,
        net: &Packed,
        (factors, bias): (usize, usize),
    ) {
        let depth = net.depth;
        // SAFETY: `y` holds a tile for each square, `x` `depth` of them; one square more is there.
        unsafe {
            for outputs in 0..depth {
                let factor = net.tiles.as_ptr().add(factors + 2 * outputs).cast::<u8>();
                tiles.load::<6>(factor, ROW_BYTES);
                tiles.load::<7>(factor.add(TILE_BYTES), ROW_BYTES);
                for pair in 0..route.pairs.len() {
                    let bias = |square: usize| {
                        let place = bias + 2 * (square * depth + outputs);
                        net.rows.as_ptr().add(place).cast::<u8>()
                    };
                    let (first, second) = (bias(2 * pair), bias(2 * pair + 1));
                    tiles.load::<0>(first, 0);
                    tiles.load::<1>(first.add(ROW_BYTES), 0);
                    tiles.load::<2>(second, 0);
                    tiles.load::<3>(second.add(ROW_BYTES), 0);
                    let windows = self.y.as_ptr().add(2 * pair).cast::<u8>();
                    tiles.load::<4>(windows, ROW_BYTES);
                    tiles.load::<5>(windows.add(TILE_BYTES), ROW_BYTES);
                    tiles.multiply_four();
                    let sums = self.sums.as_mut_ptr().cast::<u8>();
                    tiles.store_four(sums);
                    let to = self.x.as_mut_ptr().add(2 * pair * depth + outputs).cast::<u8>();
                    let leave = Leave { sums, first: to, second: to.add(depth * TILE_BYTES) };
                    for position in 0..GROUP {
                        leave.position::<false>(position);
                    }
                }
            }
        }
    }
}
