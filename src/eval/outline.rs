//! What the outline of a board says about its squares.

use crate::game::{Bitboard, Geometry, Square};

/// A step down and to the right.
pub(super) type Direction = (isize, isize);

/// The square one step away, if there is one.
pub(super) fn neighbour<G: Geometry>(square: Square, (down, right): Direction) -> Option<Square> {
    let layout = G::SHAPE.layout();
    let cell = layout.cell_of[square.index()] as usize;
    let row = (cell / layout.width).checked_add_signed(down)?;
    let column = (cell % layout.width).checked_add_signed(right)?;
    let wanted = row * layout.width + column;
    let found = layout.cell_of.iter().position(|&cell| cell as usize == wanted);
    found.filter(|_| column < layout.width).map(|index| Square(index as u8))
}

/// Along how many of the four lines a disc on this square can turn: those that have a neighbour
/// on both sides of it.
fn turnable_lines<G: Geometry>(square: Square) -> usize {
    let both = |&(down, right): &Direction| {
        neighbour::<G>(square, (down, right)).is_some()
            && neighbour::<G>(square, (-down, -right)).is_some()
    };
    [(0, 1), (1, 0), (1, 1), (1, -1)].iter().filter(|step| both(step)).count()
}

/// The squares on which a disc can turn along this number of lines. With 0 they are the corners.
pub(super) fn with_turnable_lines<G: Geometry>(lines: usize) -> G::Bitboard {
    let squares = (0..G::SQUARES as u8).map(Square);
    let chosen = squares.filter(|&square| turnable_lines::<G>(square) == lines);
    chosen.fold(G::Bitboard::ZERO, |set, square| set | G::mask(square))
}
