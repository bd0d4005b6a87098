//! From positions to the trunk: the input planes, and the first convolution.

use super::epilogue::{relu_to_bf16, store_four};
use super::kernel::{Bias, Kernel, convolve};
use super::pack::{PLANES, Packed, Stem, TILE_INPUTS};
use super::route::Route;
use crate::net::tile::Tiles;
use crate::net::vector::Vector;
use crate::net::vector::x86::Avx512;
use crate::predict::Input;

impl Kernel {
    /// Encodes positions and computes the first convolution into `x`. Uses `y` for the planes.
    pub(super) fn stem(&mut self, tiles: &Tiles, route: &Route, net: &Packed, inputs: &[Input]) {
        match net.stem {
            Stem::Discs { tiles: factors, bias } => {
                self.encode_discs(tiles.avx512, route, inputs);
                self.stem_of_discs(tiles, route, net, (factors, bias));
            }
            Stem::Planes(convolution) => {
                self.encode_planes(tiles.avx512, route, inputs);
                let bias = Bias::Shared(&net.rows[convolution.bias..]);
                let Kernel { x, y, sums, .. } = self;
                convolve::<false>(tiles, route, net, convolution, bias, sums, y, x);
            }
        }
    }

    /// Writes the 27 bits around each square into `y`, one tile per square: 9 bits of each set.
    fn encode_discs(&mut self, avx512: Avx512, route: &Route, inputs: &[Input]) {
        let one = half::bf16::ONE.to_bits();
        let ones: Vector = bytemuck::must_cast([one; TILE_INPUTS]);
        for (window, tile) in route.windows.iter().zip(&mut self.y) {
            for (row, input) in tile.iter_mut().zip(inputs) {
                let window_bits = |set: u128| {
                    let packed = avx512.gather_bits((set >> window.shift) as u64, window.bits);
                    avx512.scatter_bits(packed, window.taps)
                };
                let bits = window_bits(input.mine)
                    | window_bits(input.theirs) << 9
                    | window_bits(input.legal) << 18;
                *row = avx512.select_bf16(bits as u32, ones);
            }
        }
    }

    /// Writes the planes of each square into `y`, one tile per square. Inputs beyond them are 0.
    fn encode_planes(&mut self, avx512: Avx512, route: &Route, inputs: &[Input]) {
        let Kernel { y, planes, encoding, .. } = self;
        for (position, input) in inputs.iter().enumerate() {
            encoding.write(input, planes, PLANES);
            let (cells, _) = planes.as_chunks::<PLANES>();
            for (tile, &cell) in y.iter_mut().zip(&route.cells) {
                tile[position] = avx512.join_bf16(cells[cell].into(), Vector::ZERO);
            }
        }
    }

    fn stem_of_discs(
        &mut self,
        tiles: &Tiles,
        route: &Route,
        net: &Packed,
        (factors, bias): (usize, usize),
    ) {
        let depth = net.depth;
        let sums = &mut self.sums[0];
        for outputs in 0..depth {
            tiles.load::<6>(&net.tiles[factors + 2 * outputs]);
            tiles.load::<7>(&net.tiles[factors + 2 * outputs + 1]);
            for pair in 0..route.pairs.len() {
                let squares = [2 * pair, 2 * pair + 1];
                let [first, second] =
                    squares.map(|square| &net.rows[bias + 2 * (square * depth + outputs)..][..2]);
                tiles.load::<0>(&first[0]);
                tiles.load::<1>(&first[1]);
                tiles.load::<2>(&second[0]);
                tiles.load::<3>(&second[1]);
                tiles.load::<4>(&self.y[squares[0]]);
                tiles.load::<5>(&self.y[squares[1]]);
                tiles.multiply_four();
                store_four(tiles, sums);
                for (sums, square) in sums.iter().zip(squares) {
                    relu_to_bf16(tiles.avx512, sums, &mut self.x[square * depth + outputs]);
                }
            }
        }
    }
}
