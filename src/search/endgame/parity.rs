//! Parity: moves in regions with an odd number of empties come first.
//!
//! The side that makes the last move in a region has an advantage. The regions are the four
//! quadrants of the bounding box: nearly as good as connected regions, and much cheaper.

use std::marker::PhantomData;

use crate::game::{Bitboard, Geometry};

struct Quadrants<G>(PhantomData<G>);

impl<G: Geometry> Quadrants<G> {
    /// For each bit, its quadrant, as a number with one of four bits set.
    const OF: [u8; 128] = {
        let mut table = [0; 128];
        let mut bit = 0;
        while bit < 128 {
            let (row, column) = (bit / G::STRIDE, bit % G::STRIDE);
            let lower = row >= G::WIDTH.div_ceil(2);
            let right = column >= G::WIDTH.div_ceil(2);
            table[bit] = 1 << (2 * lower as u8 + right as u8);
            bit += 1;
        }
        table
    };

    /// For each set of quadrants, the squares in them.
    const SQUARES: [u128; 16] = {
        let mut table = [0; 16];
        let mut set = 0;
        while set < 16 {
            let mut bit = 0;
            while bit < 128 {
                if Self::OF[bit] & set as u8 != 0 {
                    table[set] |= 1 << bit;
                }
                bit += 1;
            }
            set += 1;
        }
        table
    };
}

/// The quadrant of a bit index, as a number with one of four bits set.
#[inline(always)]
pub(super) fn quadrant<G: Geometry>(bit: usize) -> u8 {
    Quadrants::<G>::OF[bit & 127]
}

/// The squares of a set of quadrants.
#[inline(always)]
pub(super) fn squares<G: Geometry>(quadrants: u8) -> G::Bitboard {
    G::Bitboard::narrow(Quadrants::<G>::SQUARES[quadrants as usize & 15])
}

/// The set of quadrants with an odd number of empties.
#[inline(always)]
pub(super) fn odd<G: Geometry>(empty: G::Bitboard) -> u8 {
    (0..4).map(|n| ((empty & squares::<G>(1 << n)).count() as u8 & 1) << n).sum()
}
