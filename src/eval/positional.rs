//! Square values and mobility: the classical hand-made evaluation, for boards of any shape.
//!
//! What a square is worth follows from how it can be outflanked. On a corner no line has two
//! neighbours, so a disc there never turns; the squares beside an empty corner give it away.
//! The values are judged by hand, in the manner of the tables that textbooks print for 8x8.

use super::probcut::ProbCut;
use super::{Evaluator, SCALE};
use crate::game::{Board, Geometry, Goal, Shape, Square, SquareSet, Word};

mod forecasts;

/// What one more legal move than the opponent has is worth.
const MOBILITY: i32 = SCALE;
/// What a disc that can never turn is worth.
const CORNER: i32 = 8 * SCALE;
/// A disc diagonally beside an empty corner.
const DIAGONAL: i32 = -7 * SCALE / 2;
/// A disc orthogonally beside an empty corner.
const ADJACENT: i32 = -3 * SCALE / 2;
/// A disc that a single line can turn.
const EDGE: i32 = SCALE / 2;

/// Square values and mobility.
#[derive(Clone, Debug)]
pub struct Positional<G: Geometry> {
    goal: Goal,
    corners: G::Word,
    edges: G::Word,
}

impl<G: Geometry> Positional<G> {
    /// The evaluation for a goal: the fewest discs want the opposite of each square, but
    /// freedom of choice just as much.
    pub fn new(goal: Goal) -> Self {
        let of = |lines| {
            let squares = (0..G::SQUARES as u8).map(Square);
            let chosen = squares.filter(|&square| turnable_lines::<G>(square) == lines);
            chosen.fold(G::Word::ZERO, |set, square| set | G::mask(square))
        };
        Positional { goal, corners: of(0), edges: of(1) }
    }

    /// Square values, for the owner of the most discs.
    #[inline(always)]
    fn squares(&self, board: Board<G>) -> i32 {
        let difference =
            |set: G::Word| (board.mine & set).count() as i32 - (board.theirs & set).count() as i32;
        let open = SquareSet::<G>(self.corners & !(board.mine | board.theirs));
        let (diagonal, adjacent) = (open.beside_diagonally().0, open.beside_orthogonally().0);
        CORNER * difference(self.corners)
            + DIAGONAL * difference(diagonal)
            + ADJACENT * difference(adjacent)
            + EDGE * difference(self.edges & !adjacent)
    }
}

impl<G: Geometry> Evaluator<G> for Positional<G> {
    #[inline]
    fn evaluate(&self, board: Board<G>) -> i32 {
        let [own, other] = board.legal_of_both().map(|legal| legal.len() as i32);
        if own + other == 0 {
            return SCALE * board.final_score(self.goal);
        }
        let most = SCALE * G::SQUARES as i32;
        let value = MOBILITY * (own - other) + self.goal.apply(self.squares(board));
        value.clamp(-most, most)
    }

    fn probcut(&self) -> Option<&ProbCut> {
        let measured = G::SHAPE == Shape::Square8 && self.goal == Goal::Most;
        measured.then_some(&forecasts::SQUARE8)
    }
}

/// The square one step away, if there is one.
fn neighbour<G: Geometry>(square: Square, (down, right): (isize, isize)) -> Option<Square> {
    let layout = G::SHAPE.layout();
    let cell = layout.cell_of[square.index()] as usize;
    let row = (cell / layout.width).checked_add_signed(down)?;
    let column = (cell % layout.width).checked_add_signed(right)?;
    let wanted = row * layout.width + column;
    let found = layout.cell_of.iter().position(|&cell| cell as usize == wanted);
    found.filter(|_| column < layout.width).map(|index| Square(index as u8))
}

/// How many of the four lines through a square have a neighbour on both sides, so that a disc
/// there can turn along them.
fn turnable_lines<G: Geometry>(square: Square) -> usize {
    let both = |&(down, right): &(isize, isize)| {
        neighbour::<G>(square, (down, right)).is_some()
            && neighbour::<G>(square, (-down, -right)).is_some()
    };
    [(0, 1), (1, 0), (1, 1), (1, -1)].iter().filter(|step| both(step)).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::{Octagon88, Square8, Symmetry};

    #[test]
    fn corners_follow_from_the_shape() {
        let count = |shape| dispatch!(shape, G => Positional::<G>::new(Goal::Most).corners.count());
        assert_eq!(Shape::ALL.map(count), [4, 4, 4, 8, 12]);
        let standard = Positional::<Square8>::new(Goal::Most);
        assert_eq!(standard.edges.count(), 24);
        let a1 = SquareSet::<Square8>(1);
        assert_eq!(
            (a1.beside_diagonally().0, a1.beside_orthogonally().0),
            (1 << 9, 1 << 1 | 1 << 8)
        );
    }

    #[test]
    fn values_change_sign_with_the_side_and_not_with_symmetry() {
        let start = Board::<Octagon88>::start();
        let first = start.legal().next().expect("a legal move");
        let board = start.play_unchecked(first);
        let eval = Positional::<Octagon88>::new(Goal::Most);
        assert_eq!(eval.evaluate(board), -eval.evaluate(board.pass()));
        for symmetry in Symmetry::ALL {
            assert_eq!(eval.evaluate(symmetry.board(board)), eval.evaluate(board));
        }
    }
}
