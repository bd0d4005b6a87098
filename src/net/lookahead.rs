//! Input planes that the rules compute one move ahead.
//!
//! Without them a small net needs most of its convolutions to find out which discs a move turns,
//! and how many moves both sides have then. The rules give that at a hundredth of the net's cost.

use crate::game::{Bitboard, Board, Geometry, Square, SquareSet};

/// Planes of sets: the other side's legal moves, stable discs of the side to move, stable discs of
/// the other side, and the empty squares of regions with an odd number of them.
pub(super) const SET_PLANES: usize = 4;
/// Planes of numbers at a side's legal moves. For each move: the opponent's mobility after it, the
/// mover's mobility after it, the number of discs that it turns, all three divided by [`UNIT`], and
/// 1 if the opponent can then take a square whose disc can never turn.
pub(super) const NUMBER_PLANES: usize = 4;
/// Which of these is the number of discs that the move turns.
pub(super) const TURNED_PLANE: usize = 2;
/// Counts are divided by this, so that they are about as large as the numbers of other planes.
const UNIT: f32 = 8.0;

/// Returns the sets, in the order of [`SET_PLANES`]. Calls `put` with the numbers of each legal
/// move of both sides: the side (0 is the side to move, 1 the other), the square, and the numbers
/// in the order of [`NUMBER_PLANES`].
pub(super) fn look_ahead<G: Geometry>(
    (mine, theirs): (u128, u128),
    mut put: impl FnMut(usize, Square, [f32; NUMBER_PLANES]),
) -> [u128; SET_PLANES] {
    let board = Board::<G> { mine: G::Bitboard::narrow(mine), theirs: G::Bitboard::narrow(theirs) };
    let sides = [board, board.pass()];
    let legal = board.legal_of_both();
    let safe = SquareSet::<G>::always_stable();
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
    let stable = [sides[1], sides[0]].map(Board::opponent_stable);
    [legal[1], stable[0], stable[1], odd_regions(board.empty())].map(|set| set.0.widen())
}

/// The squares of all regions with an odd number of squares. Squares of a region are connected
/// orthogonally or diagonally.
fn odd_regions<G: Geometry>(mut empty: SquareSet<G>) -> SquareSet<G> {
    let mut odd = G::Bitboard::ZERO;
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

    /// Checks every set and number against its definition, by playing the moves.
    fn check<G: Geometry>(board: Board<G>) {
        let mut found = vec![None; 2 * G::SQUARES];
        let sets =
            look_ahead::<G>((board.mine.widen(), board.theirs.widen()), |side, square, numbers| {
                found[side * G::SQUARES + square.index()] = Some(numbers);
            });
        assert_eq!(sets[0], board.pass().legal().0.widen());
        assert_eq!(sets[1], board.pass().opponent_stable().0.widen());
        assert_eq!(sets[2], board.opponent_stable().0.widen());
        // A disc is safe where it is stable even on an otherwise empty board.
        let safe = |&square: &Square| {
            let alone = Board::<G> { mine: G::Bitboard::ZERO, theirs: G::mask(square) };
            !alone.opponent_stable().is_empty()
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
                    position = position.play(square).map_or(position, Position::pass_if_forced);
                }
            });
        }
    }

    #[test]
    fn regions_meet_at_corners_and_not_beyond_edges() {
        use crate::game::Square8;
        // Four regions: a1 b2, then h8, then g1 h1, then a8 b8 c8.
        let set = |bits: &[u32]| bits.iter().fold(0u64, |set, bit| set | 1 << bit);
        let empty = SquareSet::<Square8>(set(&[0, 9, 63, 6, 7, 56, 57, 58]));
        assert_eq!(odd_regions(empty).0, set(&[63, 56, 57, 58]));
        assert_eq!(odd_regions(SquareSet::<Square8>(!0)).0, 0);
    }
}
