//! What the rules say one move ahead, as planes.
//!
//! A small net spends most of its convolutions on finding out which discs a move turns and how
//! many moves that leaves. The rules know it at once, at a hundredth of the net's cost.

use crate::game::{Board, Geometry, Square, SquareSet, Word};

/// Planes of sets: the other side's legal moves, my discs and theirs that can never turn, and the
/// empty squares of regions that hold an odd number of them.
pub(super) const SETS: usize = 4;
/// Planes of numbers at the squares of a side's legal moves: the other side's moves after it over
/// [`UNIT`], the mover's over the same, the discs that it turns over the same, and 1 if the other
/// side can then take a square whose disc never turns.
pub(super) const NUMBERS: usize = 4;
/// What counts are divided by, so that they are of the size of the other planes' numbers.
const UNIT: f32 = 8.0;

/// The sets, and for each side, the one to move first, the squares and numbers of its moves.
///
/// `put` is given the side, 0 or 1, the square and the numbers.
pub(super) fn look<G: Geometry>(
    (mine, theirs): (u128, u128),
    mut put: impl FnMut(usize, Square, [f32; NUMBERS]),
) -> [u128; SETS] {
    let board = Board::<G> { mine: G::Word::narrow(mine), theirs: G::Word::narrow(theirs) };
    let sides = [board, board.pass()];
    let legal = board.legal_of_both();
    let safe = SquareSet::<G>::never_turned();
    for (side, (board, legal)) in sides.into_iter().zip(legal).enumerate() {
        for square in legal {
            let flips = board.flips(square);
            let [theirs, mine] = board.after(square, flips).legal_of_both();
            let count = |set: SquareSet<G>| set.len() as f32 / UNIT;
            let given = !(theirs.0 & safe.0).is_zero();
            let numbers = [count(theirs), count(mine), count(flips), given as u8 as f32];
            put(side, square, numbers);
        }
    }
    let stable = [sides[1], sides[0]].map(Board::their_stable);
    [legal[1], stable[0], stable[1], odd_regions(board.empty())].map(|set| set.0.widen())
}

/// The squares of those regions, connected along lines, that hold an odd number of them.
fn odd_regions<G: Geometry>(mut empty: SquareSet<G>) -> SquareSet<G> {
    let mut odd = G::Word::ZERO;
    while !empty.is_empty() {
        let mut region = SquareSet::<G>(empty.0 & !empty.0.without_lowest());
        loop {
            let beside = region.beside_orthogonally().0 | region.beside_diagonally().0;
            let grown = region.0 | beside & empty.0;
            if grown == region.0 {
                break;
            }
            region.0 = grown;
        }
        if region.len() % 2 == 1 {
            odd |= region.0;
        }
        empty.0 &= !region.0;
    }
    SquareSet(odd)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::{Position, Shape};

    /// Every number from its definition, by playing the moves.
    fn check<G: Geometry>(board: Board<G>) {
        let mut found = vec![None; 2 * G::SQUARES];
        let sets =
            look::<G>((board.mine.widen(), board.theirs.widen()), |side, square, numbers| {
                found[side * G::SQUARES + square.index()] = Some(numbers);
            });
        assert_eq!(sets[0], board.pass().legal().0.widen());
        assert_eq!(sets[1], board.pass().their_stable().0.widen());
        assert_eq!(sets[2], board.their_stable().0.widen());
        // A disc that is stable though alone has an end of each line beside it.
        let safe = |&square: &Square| {
            let alone = Board::<G> { mine: G::Word::ZERO, theirs: G::mask(square) };
            !alone.their_stable().is_empty()
        };
        for (side, board) in [board, board.pass()].into_iter().enumerate() {
            for index in 0..G::SQUARES {
                let wanted = board.play(Square(index as u8)).map(|after| {
                    let turned = after.theirs.count() - board.mine.count() - 1;
                    let replies = after.legal();
                    [
                        replies.len() as f32 / 8.0,
                        after.pass().legal().len() as f32 / 8.0,
                        turned as f32 / 8.0,
                        replies.into_iter().any(|reply| safe(&reply)) as u8 as f32,
                    ]
                });
                assert_eq!(found[side * G::SQUARES + index], wanted, "{board:?} {index}");
            }
        }
    }

    #[test]
    fn numbers_are_those_of_the_rules() {
        for shape in Shape::ALL {
            dispatch!(shape, G => {
                let mut position = Position::<G>::start();
                for ply in 0..G::SQUARES {
                    check(position.board);
                    let legal = position.board.legal();
                    let count = legal.len().max(1);
                    let Some(square) = legal.into_iter().nth(ply * 7 % count) else { break };
                    position = position.play(square).map_or(position, Position::settled);
                }
            });
        }
    }

    #[test]
    fn regions_meet_at_corners_and_not_beyond_edges() {
        use crate::game::Square8;
        // a1 b2 are one region; h8 is another, g1 h1 and a8 b8 c8 too.
        let set = |bits: &[u32]| bits.iter().fold(0u64, |set, bit| set | 1 << bit);
        let empty = SquareSet::<Square8>(set(&[0, 9, 63, 6, 7, 56, 57, 58]));
        assert_eq!(odd_regions(empty).0, set(&[63, 56, 57, 58]));
        assert_eq!(odd_regions(SquareSet::<Square8>(!0)).0, 0);
    }
}
