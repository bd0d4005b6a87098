//! Tables for each square: its rays, its neighbours and the lines through it.
//!
//! They are computed at compile time from a shape. Vector move generation, stability and the
//! exact solver use them.

#![cfg_attr(not(target_feature = "bmi2"), allow(dead_code, reason = "kernels of newer processors"))]

use std::marker::PhantomData;

use super::board::SquareSet;
use super::geometry::{Bitboard, Geometry};

/// The four directions towards higher bits, as steps in rows and columns. The other four
/// directions are their opposites.
const STEPS: [(isize, isize); 4] = [(0, 1), (1, 0), (1, -1), (1, 1)];

/// The squares in each of the eight directions from one square, up to the edge or a hole: first
/// the directions of [`STEPS`], then their opposites.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub(super) struct Rays(pub [u64; 8]);

/// The four lines through a square, and the place of the square on each of them.
#[derive(Clone, Copy)]
pub(super) struct Lines {
    /// The squares of each line.
    pub squares: [u64; 4],
    /// The number of squares of the line before the square.
    pub before: [u8; 4],
}

/// The tables of shape `G`. `RAYS` and `LINES` are all zero for boards of more than 64 squares.
pub(super) struct SquareTables<G>(PhantomData<G>);

impl<G: Geometry> SquareTables<G> {
    /// For each bit, the rays from its square.
    pub(super) const RAYS: &'static [Rays; 64] = &{
        let mut table = [Rays([0; 8]); 64];
        let mut bit = 0;
        while bit < 64 && G::SQUARES <= 64 {
            let mut direction = 0;
            while direction < 8 {
                table[bit].0[direction] = Self::ray(bit, direction) as u64;
                direction += 1;
            }
            bit += 1;
        }
        table
    };

    /// For each bit, the lines through its square.
    pub(super) const LINES: &'static [Lines; 64] = &{
        let mut table = [Lines { squares: [0; 4], before: [0; 4] }; 64];
        let mut bit = 0;
        while bit < 64 && G::SQUARES <= 64 {
            let mut line = 0;
            while line < 4 {
                let before = Self::RAYS[bit].0[line + 4];
                table[bit].squares[line] = Self::RAYS[bit].0[line] | before | 1 << bit;
                table[bit].before[line] = before.count_ones() as u8;
                line += 1;
            }
            bit += 1;
        }
        table
    };

    /// For each bit, the up to eight squares beside its square.
    pub(super) const NEIGHBOURS: &'static [u128; 128] = &{
        let mut table = [0; 128];
        let mut bit = 0;
        while bit < 128 {
            let mut direction = 0;
            while direction < 8 {
                let next = Self::step(bit, direction);
                if next < 128 {
                    table[bit] |= 1 << next;
                }
                direction += 1;
            }
            bit += 1;
        }
        table
    };

    /// For each of the eight directions, the squares where a step in that direction can end. A
    /// shift of a set of squares is masked with them, so that it does not wrap around the edge.
    pub(super) const STEP_TARGETS: &'static [u128; 8] = &{
        let mut table = [0; 8];
        let mut direction = 0;
        while direction < 8 {
            let mut bit = 0;
            while bit < 128 {
                let next = Self::step(bit, direction);
                if next < 128 {
                    table[direction] |= 1 << next;
                }
                bit += 1;
            }
            direction += 1;
        }
        table
    };

    /// The bit one step from `bit`; 128 if there is no square there or none at `bit`.
    const fn step(bit: usize, direction: usize) -> usize {
        let (mut down, mut right) = STEPS[direction % 4];
        if direction >= 4 {
            (down, right) = (-down, -right);
        }
        let row = (bit / G::STRIDE) as isize + down;
        let column = (bit % G::STRIDE) as isize + right;
        let (width, stride) = (G::WIDTH as isize, G::STRIDE as isize);
        if G::SQUARE_OF[bit] == 255 || row < 0 || row >= width || column < 0 || column >= width {
            return 128;
        }
        let next = (row * stride + column) as usize;
        if G::SQUARE_OF[next] == 255 { 128 } else { next }
    }

    const fn ray(bit: usize, direction: usize) -> u128 {
        let mut ray = 0;
        let mut next = Self::step(bit, direction);
        while next < 128 {
            ray |= 1 << next;
            next = Self::step(next, direction);
        }
        ray
    }
}

impl<G: Geometry> SquareSet<G> {
    /// The squares one step from any square of the set, along two of the lines of [`STEPS`].
    #[inline(always)]
    fn beside(self, lines: [usize; 2]) -> SquareSet<G> {
        let by = [1, G::STRIDE, G::STRIDE - 1, G::STRIDE + 1];
        let reached =
            |direction: usize| G::Bitboard::narrow(SquareTables::<G>::STEP_TARGETS[direction]);
        let along = lines.map(|line| {
            self.0 << by[line] & reached(line) | self.0 >> by[line] & reached(line + 4)
        });
        SquareSet(along[0] | along[1])
    }

    /// The squares directly beside, above or below any square of the set.
    #[inline(always)]
    pub fn beside_orthogonally(self) -> SquareSet<G> {
        self.beside([0, 1])
    }

    /// The squares diagonally beside any square of the set.
    #[inline(always)]
    pub fn beside_diagonally(self) -> SquareSet<G> {
        self.beside([2, 3])
    }
}

/// `LINE_FLIPS[before][own]`: how many discs turn on one line when a side fills the last empty
/// square of the board. `before` is the number of squares of the line before that square. `own`
/// has the side's discs on the line, one bit per square. All other discs are the opponent's.
pub(super) static LINE_FLIPS: [[u8; 256]; 8] = {
    let mut table = [[0; 256]; 8];
    let mut at = 0;
    while at < 8 {
        let mut own = 0;
        while own < 256 {
            // A shorter line has no own discs beyond its end, so a run over the end turns nothing.
            let above = own >> (at + 1);
            let below = own & ((1 << at) - 1);
            if above != 0 {
                table[at][own] += above.trailing_zeros() as u8;
            }
            if below != 0 {
                table[at][own] += (at as u32 - 1 - below.ilog2()) as u8;
            }
            own += 1;
        }
        at += 1;
    }
    table
};
