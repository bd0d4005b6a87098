//! The epilogue of a convolution: sums leave the tiles, get the residual, ReLU and a cast to bf16.

use bytemuck::must_cast_ref;

use crate::net::tile::{TILE_ROWS, Tile, Tiles};
use crate::net::vector::Vector;
use crate::net::vector::x86::{Avx512, HalfVector};

/// Positions of a group.
pub(super) const GROUP: usize = 16;

/// A group fills a tile's rows.
const _: () = assert!(GROUP == TILE_ROWS);

/// The sums of a pair of squares: for each square two tiles of 16 channels.
pub(super) type Sums = [[Tile; 2]; 2];

/// Steps of an epilogue: each handles two positions.
const STEPS: usize = GROUP / 2;

/// Stores tiles 0 to 3.
#[inline(always)]
pub(super) fn store_four(tiles: &Tiles, [first, second]: &mut Sums) {
    tiles.store::<0>(&mut first[0]);
    tiles.store::<1>(&mut first[1]);
    tiles.store::<2>(&mut second[0]);
    tiles.store::<3>(&mut second[1]);
}

/// ReLU and cast to bf16 for two positions of a square. With `RESIDUAL` the old content of `to` is
/// added before.
#[inline(always)]
fn relu_two_positions<const RESIDUAL: bool>(
    avx512: Avx512,
    [low, high]: &[Tile; 2],
    to: &mut Tile,
    step: usize,
) {
    let of_step = |half: &Tile| half.as_chunks::<2>().0[step];
    let to = &mut to.as_chunks_mut::<2>().0[step];
    for ((mut low, mut high), to) in of_step(low).into_iter().zip(of_step(high)).zip(to) {
        if RESIDUAL {
            let there: &[HalfVector; 2] = must_cast_ref(to);
            low += avx512.widen_bf16(there[0]);
            high += avx512.widen_bf16(there[1]);
        }
        let low = avx512.max(low, Vector::ZERO);
        let high = avx512.max(high, Vector::ZERO);
        *to = avx512.join_bf16(low, high);
    }
}

/// ReLU and cast to bf16 for all positions of a square.
#[inline(always)]
pub(super) fn relu_to_bf16(avx512: Avx512, sums: &[Tile; 2], to: &mut Tile) {
    for step in 0..STEPS {
        relu_two_positions::<false>(avx512, sums, to, step);
    }
}

/// The epilogue of one pair of squares. It runs in steps while the tiles already compute the next
/// pair, so that vector and tile units work at the same time.
pub(super) struct Epilogue<const RESIDUAL: bool> {
    /// The number of the pair. Pairs use the two buffers of sums alternately.
    turn: usize,
    /// The index of the output tile of each square.
    squares: [usize; 2],
    /// The next step, [`STEPS`] if there is none.
    next: usize,
}

impl<const RESIDUAL: bool> Epilogue<RESIDUAL> {
    /// An epilogue without any work left.
    pub const DONE: Epilogue<RESIDUAL> = Epilogue { turn: 0, squares: [0; 2], next: STEPS };

    /// The epilogue of pair number `turn`, with output tiles `squares`.
    pub fn new(turn: usize, squares: [usize; 2]) -> Epilogue<RESIDUAL> {
        Epilogue { turn, squares, next: 0 }
    }

    /// Runs the next step, if any.
    #[inline(always)]
    pub fn advance(&mut self, avx512: Avx512, sums: &[Sums; 2], to: &mut [Tile]) {
        if self.next < STEPS {
            for (sums, square) in sums[self.turn % 2].iter().zip(self.squares) {
                relu_two_positions::<RESIDUAL>(avx512, sums, &mut to[square], self.next);
            }
            self.next += 1;
        }
    }

    /// Runs all remaining steps.
    #[inline(always)]
    pub fn finish(&mut self, avx512: Avx512, sums: &[Sums; 2], to: &mut [Tile]) {
        while self.next < STEPS {
            self.advance(avx512, sums, to);
        }
    }
}
