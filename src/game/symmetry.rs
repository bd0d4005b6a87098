//! The eight symmetries of the square, for boards, moves and policies.

use super::board::{Board, SquareSet};
use super::geometry::{Geometry, Square, Word};

/// One of the eight symmetries of the square. Every shape has all of them.
///
/// Symmetry `k` mirrors the columns if bit 0 is set, then the rows if bit 1 is set, then
/// transposes if bit 2 is set; 0 changes nothing.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Symmetry(u8);

impl Symmetry {
    /// The symmetry that changes nothing.
    pub const IDENTITY: Symmetry = Symmetry(0);
    /// All eight.
    pub const ALL: [Symmetry; 8] = {
        let mut all = [Symmetry(0); 8];
        let mut k = 0;
        while k < 8 {
            all[k] = Symmetry(k as u8);
            k += 1;
        }
        all
    };

    /// The index, 0 to 7.
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// The symmetry that undoes this one.
    pub fn inverse(self) -> Symmetry {
        // A transposition swaps the roles of the two mirrors that follow it.
        match self.0 {
            5 => Symmetry(6),
            6 => Symmetry(5),
            other => Symmetry(other),
        }
    }

    /// Where a square goes.
    #[inline(always)]
    pub fn square<G: Geometry>(self, square: Square) -> Square {
        Square(G::MAPS[self.index()][square.index()])
    }

    /// Where a set of squares goes.
    pub fn set<G: Geometry>(self, set: SquareSet<G>) -> SquareSet<G> {
        SquareSet(
            set.fold(G::Word::ZERO, |image, square| image | G::mask(self.square::<G>(square))),
        )
    }

    /// Where a board goes.
    pub fn board<G: Geometry>(self, board: Board<G>) -> Board<G> {
        Board {
            mine: self.set(SquareSet::<G>(board.mine)).0,
            theirs: self.set(SquareSet::<G>(board.theirs)).0,
        }
    }
}

impl<G: Geometry> Board<G> {
    /// The least of the eight images of this board: equal for boards that differ by a
    /// symmetry alone.
    pub fn canonical(self) -> Board<G> {
        Symmetry::ALL.into_iter().map(|symmetry| symmetry.board(self)).min().unwrap_or(self)
    }
}
