//! The features of the linear evaluator: numbers that a side wants to be large or small.

use crate::game::{Bitboard, Board, Geometry, Square, SquareSet, Symmetry};

/// The most classes of squares of any shape.
const MAX_CLASSES: usize = 14;
/// The features before those of the classes.
const OTHERS: usize = 5;
/// At least as many as the features of any shape; a whole number of vectors.
pub const MAX_FEATURES: usize = 24;

/// Computes the features of boards. In this order they are:
///
/// 1. the constant 1, for the side to move;
/// 2. mobility: the legal moves;
/// 3. frontier: the empty squares beside a side's discs, in any of the eight directions;
/// 4. parity: 1 if the number of empty squares is odd, else -1. If it is odd and nobody passes, the
///    side to move has the last move;
/// 5. disc difference;
/// 6. for each class of squares, the discs on them. The symmetries of the board map the squares
///    of a class onto each other. Classes are in the order of their first squares.
///
/// All but the constant and the parity are differences: those of the side to move minus those of
/// the opponent.
#[derive(Clone, Copy, Debug)]
pub struct Features<G: Geometry> {
    /// The squares of each class; those after the last class are empty.
    classes: [G::Bitboard; MAX_CLASSES],
    count: usize,
}

impl<G: Geometry> Features<G> {
    /// The features of the shape.
    pub fn new() -> Self {
        let mut classes = [G::Bitboard::ZERO; MAX_CLASSES];
        let (mut count, mut seen) = (0, G::Bitboard::ZERO);
        for square in (0..G::SQUARES as u8).map(Square) {
            if (seen & G::mask(square)).is_zero() {
                let images = Symmetry::ALL.map(|symmetry| G::mask(symmetry.square::<G>(square)));
                classes[count] =
                    images.into_iter().fold(G::Bitboard::ZERO, |set, image| set | image);
                seen |= classes[count];
                count += 1;
            }
        }
        Features { classes, count: OTHERS + count }
    }

    /// The number of features of the shape.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The features of a board; those after the last one are 0.
    pub fn of(&self, board: Board<G>) -> [f32; MAX_FEATURES] {
        self.with_moves(board, board.legal_of_both())
    }

    /// The same, if the legal moves of both sides are known.
    #[inline(always)]
    pub(super) fn with_moves(
        &self,
        board: Board<G>,
        [own, other]: [SquareSet<G>; 2],
    ) -> [f32; MAX_FEATURES] {
        let difference = |mine: G::Bitboard, theirs: G::Bitboard| {
            mine.count() as i32 as f32 - theirs.count() as i32 as f32
        };
        let empty = board.empty().0;
        let beside = |discs: G::Bitboard| {
            let discs = SquareSet::<G>(discs);
            empty & (discs.beside_orthogonally().0 | discs.beside_diagonally().0)
        };
        let mut found = [0.0; MAX_FEATURES];
        found[0] = 1.0;
        found[1] = difference(own.0, other.0);
        found[2] = difference(beside(board.mine), beside(board.theirs));
        found[3] = if empty.count() % 2 == 1 { 1.0 } else { -1.0 };
        found[4] = difference(board.mine, board.theirs);
        for (found, &class) in found[OTHERS..].iter_mut().zip(&self.classes) {
            *found = difference(board.mine & class, board.theirs & class);
        }
        found
    }
}

impl<G: Geometry> Default for Features<G> {
    fn default() -> Self {
        Features::new()
    }
}
