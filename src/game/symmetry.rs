//! The eight symmetries of the square, for boards, moves and policies.

use super::board::{Board, SquareSet};
use super::geometry::{Bitboard, Geometry, Square};

/// One of the eight symmetries of the square. Every shape has all of them.
///
/// Symmetry `k` mirrors the columns if bit 0 is set, then the rows if bit 1 is set, then
/// transposes if bit 2 is set; 0 changes nothing.
///
/// ```
/// use outflank::game::{Board, Square8, Symmetry, notation};
///
/// let f5 = notation::parse_square::<Square8>("f5").expect("a square");
/// let images = Symmetry::ALL.map(|symmetry| symmetry.square::<Square8>(f5));
/// assert_eq!(notation::transcript::<Square8>(images), "f5c5f4c4e6e3d6d3");
/// // What is found for an image is carried back by the inverse.
/// let board = Board::<Square8>::start().play(f5).expect("a legal move");
/// for symmetry in Symmetry::ALL {
///     assert_eq!(symmetry.inverse().board(symmetry.board(board)), board);
/// }
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Symmetry(u8);

impl Symmetry {
    /// The identity: it changes nothing.
    pub const IDENTITY: Symmetry = Symmetry(0);
    /// All eight symmetries, by index.
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

    /// The inverse symmetry.
    pub fn inverse(self) -> Symmetry {
        // A transposition exchanges mirrored rows and mirrored columns.
        match self.0 {
            5 => Symmetry(6),
            6 => Symmetry(5),
            other => Symmetry(other),
        }
    }

    /// The image of a square.
    #[inline(always)]
    pub fn square<G: Geometry>(self, square: Square) -> Square {
        Square(G::MAPS[self.index()][square.index()])
    }

    /// The image of a set of squares.
    pub fn set<G: Geometry>(self, set: SquareSet<G>) -> SquareSet<G> {
        SquareSet(
            set.fold(G::Bitboard::ZERO, |image, square| image | G::mask(self.square::<G>(square))),
        )
    }

    /// The image of a board.
    pub fn board<G: Geometry>(self, board: Board<G>) -> Board<G> {
        Board {
            mine: self.set(SquareSet::<G>(board.mine)).0,
            theirs: self.set(SquareSet::<G>(board.theirs)).0,
        }
    }
}

impl<G: Geometry> Board<G> {
    /// The least of the eight images of this board. Two boards have the same one exactly if they
    /// differ only by a symmetry.
    ///
    /// ```
    /// use std::collections::HashSet;
    ///
    /// use outflank::game::{Board, Square8};
    ///
    /// // The four first moves lead to images of one board.
    /// let start = Board::<Square8>::start();
    /// let boards = start.legal().map(|square| start.play_unchecked(square));
    /// let distinct: HashSet<_> = boards.map(Board::canonical).collect();
    /// assert_eq!(distinct.len(), 1);
    /// ```
    pub fn canonical(self) -> Board<G> {
        Symmetry::ALL.into_iter().map(|symmetry| symmetry.board(self)).min().unwrap_or(self)
    }
}
