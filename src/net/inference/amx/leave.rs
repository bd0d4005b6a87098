//! Sums that leave the tiles: ReLU, the residual, and the cast to bf16.

use bytemuck::must_cast_ref;

use super::kernel::GROUP;
use crate::net::tile::{Tile, Tiles};
use crate::net::vector::Vector;
use crate::net::vector::x86::{Avx512, Half};

/// The sums of a pair of squares: of each square two tiles of 16 channels.
pub(super) type Sums = [[Tile; 2]; 2];

/// Positions leave two at a time.
const STEPS: usize = GROUP / 2;

/// Takes down tiles 0 to 3.
#[inline(always)]
pub(super) fn store_four(tiles: &Tiles, [first, second]: &mut Sums) {
    tiles.store::<0>(&mut first[0]);
    tiles.store::<1>(&mut first[1]);
    tiles.store::<2>(&mut second[0]);
    tiles.store::<3>(&mut second[1]);
}

/// ReLU and the cast to bf16 of two positions of a square, with `RESIDUAL` after adding what is
/// there.
#[inline(always)]
fn positions<const RESIDUAL: bool>(
    avx512: Avx512,
    [low, high]: &[Tile; 2],
    to: &mut Tile,
    step: usize,
) {
    let of_step = |half: &Tile| half.as_chunks::<2>().0[step];
    let to = &mut to.as_chunks_mut::<2>().0[step];
    for ((mut low, mut high), to) in of_step(low).into_iter().zip(of_step(high)).zip(to) {
        if RESIDUAL {
            let there: &[Half; 2] = must_cast_ref(to);
            low += avx512.widen(there[0]);
            high += avx512.widen(there[1]);
        }
        let low = avx512.greater(low, Vector::ZERO);
        let high = avx512.greater(high, Vector::ZERO);
        *to = avx512.join(low, high);
    }
}

/// All positions of a square.
#[inline(always)]
pub(super) fn leave(avx512: Avx512, sums: &[Tile; 2], to: &mut Tile) {
    for step in 0..STEPS {
        positions::<false>(avx512, sums, to, step);
    }
}

/// Sums that leave while the tiles already work on the next pair: a few positions at each step,
/// so that vector and tile units work at the same time.
pub(super) struct Leaving<const RESIDUAL: bool> {
    /// Which of the two sums.
    turn: usize,
    /// Where both squares go.
    squares: [usize; 2],
    next: usize,
}

impl<const RESIDUAL: bool> Leaving<RESIDUAL> {
    pub const NOTHING: Leaving<RESIDUAL> = Leaving { turn: 0, squares: [0; 2], next: STEPS };

    /// The sums of turn `turn`, on their way to `squares`.
    pub fn to(turn: usize, squares: [usize; 2]) -> Leaving<RESIDUAL> {
        Leaving { turn, squares, next: 0 }
    }

    /// Two positions.
    #[inline(always)]
    pub fn advance(&mut self, avx512: Avx512, sums: &[Sums; 2], to: &mut [Tile]) {
        if self.next < STEPS {
            for (sums, square) in sums[self.turn % 2].iter().zip(self.squares) {
                positions::<RESIDUAL>(avx512, sums, &mut to[square], self.next);
            }
            self.next += 1;
        }
    }

    /// What is left.
    #[inline(always)]
    pub fn finish(&mut self, avx512: Avx512, sums: &[Sums; 2], to: &mut [Tile]) {
        while self.next < STEPS {
            self.advance(avx512, sums, to);
        }
    }
}
