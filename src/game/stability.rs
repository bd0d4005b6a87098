//! Stable discs: discs that can never turn again.

use super::board::{Board, SquareSet};
use super::geometry::{Bitboard, Geometry};
use super::square_tables::SquareTables;

/// The distances between the bits of neighbours along the four lines, in the order of
/// [`SquareTables::STEP_TARGETS`].
const fn steps<G: Geometry>() -> [usize; 4] {
    [1, G::STRIDE, G::STRIDE - 1, G::STRIDE + 1]
}

impl<G: Geometry> Board<G> {
    /// Discs of the opponent that no sequence of moves can turn. The test is fast and finds only
    /// some of them.
    ///
    /// A disc is safe along a line if the line is full, if the disc has no neighbour on one side
    /// of the line, or if a neighbour on it is a stable disc of the same colour. A disc that is
    /// safe along all four lines is stable.
    #[inline]
    pub fn opponent_stable(self) -> SquareSet<G> {
        let full = full_lines::<G>(self.mine | self.theirs);
        let edge = |line: usize| {
            let both =
                SquareTables::<G>::STEP_TARGETS[line] & SquareTables::<G>::STEP_TARGETS[line + 4];
            G::PLAYABLE & !G::Bitboard::narrow(both)
        };
        let safe: [G::Bitboard; 4] = std::array::from_fn(|line| full[line] | edge(line));
        let mut stable = self.theirs & safe[0] & safe[1] & safe[2] & safe[3];
        if stable.is_zero() {
            return SquareSet(stable);
        }
        loop {
            let mut grown = self.theirs;
            for (line, by) in steps::<G>().into_iter().enumerate() {
                let up = stable << by & G::Bitboard::narrow(SquareTables::<G>::STEP_TARGETS[line]);
                let down =
                    stable >> by & G::Bitboard::narrow(SquareTables::<G>::STEP_TARGETS[line + 4]);
                grown &= safe[line] | up | down;
            }
            if grown == stable {
                return SquareSet(stable);
            }
            stable = grown;
        }
    }
}

impl<G: Geometry> Board<G> {
    /// Discs of both sides that no sequence of moves can turn: those that
    /// [`Board::opponent_stable`] finds, for each side.
    ///
    /// ```
    /// use outflank::game::{Board, Square8, notation};
    ///
    /// let board = Board::<Square8>::start();
    /// assert!(board.stable().is_empty());
    /// // A corner is stable, and with it the discs of the same colour beside it.
    /// let line = format!("**O{} X", "-".repeat(61));
    /// let board = notation::parse_obf::<Square8>(&line)?.position.board;
    /// assert_eq!(notation::transcript::<Square8>(board.stable()), "a1b1");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn stable(self) -> SquareSet<G> {
        SquareSet(self.opponent_stable().0 | self.pass().opponent_stable().0)
    }
}

impl<G: Geometry> SquareSet<G> {
    /// The squares whose discs can never turn, since each line through them lacks a neighbour on
    /// one side. On 8x8 these are the corners.
    #[inline]
    pub fn always_stable() -> SquareSet<G> {
        let reached =
            |direction: usize| G::Bitboard::narrow(SquareTables::<G>::STEP_TARGETS[direction]);
        let inner = (0..4).map(|line| reached(line) & reached(line + 4));
        SquareSet(inner.fold(G::PLAYABLE, |outer, line| outer & !line))
    }
}

/// For each of the four lines, the squares whose whole line is occupied.
#[inline(always)]
fn full_lines<G: Geometry>(occupied: G::Bitboard) -> [G::Bitboard; 4] {
    let empty = G::PLAYABLE & !occupied;
    let steps = steps::<G>();
    std::array::from_fn(|line| {
        let by = steps[line];
        let (mut up, mut down) = (empty, empty);
        let mut above = G::Bitboard::narrow(SquareTables::<G>::STEP_TARGETS[line]);
        let mut below = G::Bitboard::narrow(SquareTables::<G>::STEP_TARGETS[line + 4]);
        let mut reach = by;
        let mut length = 1;
        while length < G::WIDTH {
            up |= up << reach & above;
            down |= down >> reach & below;
            above &= above << reach;
            below &= below >> reach;
            reach *= 2;
            length *= 2;
        }
        G::PLAYABLE & !(up | down)
    })
}
