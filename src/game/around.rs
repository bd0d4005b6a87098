//! What lies around a square: its rays, its neighbours and the lines through it.
//!
//! Tables that follow from a shape at compile time, for the vector kernels and the exact
//! solver.

use std::marker::PhantomData;

use super::board::SquareSet;
use super::geometry::{Geometry, Word};

/// Steps in rows and columns: four directions towards higher bits.
const STEPS: [(isize, isize); 4] = [(0, 1), (1, 0), (1, -1), (1, 1)];

/// The squares that lie in each of the eight directions from one square up to the edge or a
/// hole: first the directions of [`STEPS`], then their opposites.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub(super) struct Rays(pub [u64; 8]);

/// The four lines through a square, and where on each of them the square is.
#[derive(Clone, Copy)]
pub(super) struct Lines {
    /// The squares of each line.
    pub squares: [u64; 4],
    /// How many squares of the line lie before the square.
    pub before: [u8; 4],
}

/// Holder of the tables of shape `G`. Those of 64-bit words are of no use on larger boards.
pub(super) struct Around<G>(PhantomData<G>);

impl<G: Geometry> Around<G> {
    /// For each bit the rays from it.
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

    /// For each bit the lines through it.
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

    /// For each bit the squares beside it.
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

    /// For each of the eight directions the squares that have a neighbour behind them, so that
    /// something that moves that way can reach them.
    pub(super) const REACHED: &'static [u128; 8] = &{
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

    /// The bit one step from `bit`; 128 where there is no square, or none to start from.
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
    /// The squares one step from any of the set along the lines `lines` of [`STEPS`].
    #[inline(always)]
    fn beside(self, lines: [usize; 2]) -> SquareSet<G> {
        let by = [1, G::STRIDE, G::STRIDE - 1, G::STRIDE + 1];
        let reached = |direction: usize| G::Word::narrow(Around::<G>::REACHED[direction]);
        let along = lines.map(|line| {
            self.0 << by[line] & reached(line) | self.0 >> by[line] & reached(line + 4)
        });
        SquareSet(along[0] | along[1])
    }

    /// The squares in a row or column beside any of the set.
    #[inline(always)]
    pub fn beside_orthogonally(self) -> SquareSet<G> {
        self.beside([0, 1])
    }

    /// The squares diagonally beside any of the set.
    #[inline(always)]
    pub fn beside_diagonally(self) -> SquareSet<G> {
        self.beside([2, 3])
    }
}

/// How many discs turn on one line, by how many of its squares lie before the one that is
/// played and by the line's own discs, if all other discs are the opponent's.
pub(super) static TURNED: [[u8; 256]; 8] = {
    let mut table = [[0; 256]; 8];
    let mut at = 0;
    while at < 8 {
        let mut own = 0;
        while own < 256 {
            // Squares beyond the end of a shorter line hold no own disc either, so that runs
            // over the end turn nothing, as they should.
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
