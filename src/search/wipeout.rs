//! Forced wipe-outs: positions where one side loses its last disc, whatever it plays.
//!
//! In the middle of an Othello game few discs are usually an advantage. A net that has learnt this
//! walks into short lines that lose the last one. Such lines are cheap to search, since a side with
//! few discs has few moves.

use crate::game::{Bitboard, Board, Geometry};

/// A side with at most this many discs may be wiped out soon.
const FEW_DISCS: u32 = 3;
/// Positions with fewer discs on the board are not searched: in the opening every side has few.
const MIN_DISCS: u32 = 9;
/// The greatest depth of the search.
const MAX_PLIES: u32 = 9;

/// `Some(true)` if the side to move can force the loss of the other side's last disc, and
/// `Some(false)` if it cannot avoid the loss of its own last disc.
///
/// `None` if a search of `nodes` positions proves neither, or if neither side has few discs. The
/// result is always exact. Callers use it for [`Goal::Most`](crate::game::Goal::Most) only, where a
/// side without discs has lost.
///
/// ```
/// use outflank::game::{Position, Square8, notation};
/// use outflank::search::wipeout;
///
/// let start = Position::<Square8>::start();
/// let (_, position) = notation::parse_transcript("d3c3f5d6c4f6d7c5b5e3c2e6f3f4f7c7", start)?;
/// assert_eq!(wipeout::forced(position.board, 100), Some(true));
/// let b8 = notation::parse_square::<Square8>("b8").expect("a square");
/// assert_eq!(position.board.play(b8).expect("a legal move").mine, 0, "no disc is left");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn forced<G: Geometry>(board: Board<G>, nodes: u32) -> Option<bool> {
    let (mine, theirs) = (board.mine.count(), board.theirs.count());
    if mine + theirs < MIN_DISCS || mine.min(theirs) > FEW_DISCS {
        return None;
    }
    let mut nodes_left = nodes;
    for plies in 1..=MAX_PLIES {
        // The last ply is a move of the side that wipes out the other.
        let found = match plies % 2 == 1 {
            true => theirs <= FEW_DISCS && can_wipe_out(board, plies, &mut nodes_left),
            false => mine <= FEW_DISCS && is_wiped_out(board, plies, &mut nodes_left),
        };
        if found {
            return Some(plies % 2 == 1);
        }
        if nodes_left == 0 {
            return None;
        }
    }
    None
}

/// Whether the side to move can force a wipe-out within `plies`. `false` once no nodes are left.
fn can_wipe_out<G: Geometry>(board: Board<G>, plies: u32, nodes_left: &mut u32) -> bool {
    if *nodes_left == 0 {
        return false;
    }
    *nodes_left -= 1;
    board.legal().into_iter().any(|square| {
        let next = board.play_unchecked(square);
        next.mine.is_zero() || (plies > 2 && is_wiped_out(next, plies - 1, nodes_left))
    })
}

/// Whether the side to move cannot avoid a wipe-out within `plies`. `false` once no nodes are left.
fn is_wiped_out<G: Geometry>(board: Board<G>, plies: u32, nodes_left: &mut u32) -> bool {
    if *nodes_left == 0 {
        return false;
    }
    *nodes_left -= 1;
    let mut legal = board.legal().into_iter().peekable();
    if legal.peek().is_none() {
        return can_wipe_out(board.pass(), plies - 1, nodes_left);
    }
    legal.all(|square| can_wipe_out(board.play_unchecked(square), plies - 1, nodes_left))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::notation::parse_transcript;
    use crate::game::{Goal, Position, Square6, Square8};
    use crate::search::endgame::Solver;

    const PLENTY: u32 = 1_000_000;

    /// The positions of a random game, without the last one.
    fn positions<G: Geometry>(seed: u64) -> Vec<Board<G>> {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut position = Position::<G>::start();
        let mut boards = Vec::new();
        loop {
            let legal = position.board.legal();
            if legal.is_empty() {
                return boards;
            }
            boards.push(position.board);
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let choice = (state >> 33) as usize % legal.len();
            let square = legal.into_iter().nth(choice).expect("a move");
            position = position.play(square).expect("legal").pass_if_forced();
        }
    }

    /// The exact solver gives all squares to the winner of every wipe-out that is found.
    #[test]
    fn forced_wipeouts_agree_with_the_exact_solver() {
        let mut solver = Solver::<Square6>::new(Goal::Most, 1 << 20);
        let (mut won, mut lost) = (0, 0);
        for board in (0..20_000).flat_map(positions::<Square6>) {
            if board.empties() > 14 {
                continue;
            }
            let Some(wins) = forced(board, PLENTY) else { continue };
            let all = Square6::SQUARES as i32;
            assert_eq!(solver.score(board), if wins { all } else { -all }, "{board:?}");
            (won, lost) = (won + wins as u32, lost + !wins as u32);
        }
        assert!(won > 10 && lost > 5, "{won} and {lost} cases");
    }

    #[test]
    fn a_wipeout_in_one_ply_is_always_found() {
        let mut seen = 0;
        for board in (0..4_000).flat_map(positions::<Square8>) {
            let searched = board.theirs.count() <= FEW_DISCS && board.discs() >= MIN_DISCS;
            let mut legal = board.legal().into_iter();
            if searched && legal.any(|square| board.play_unchecked(square).mine.is_zero()) {
                assert_eq!(forced(board, 1), Some(true), "{board:?}");
                seen += 1;
            }
        }
        assert!(seen > 0);
    }

    /// Games that nets early in training lost to the greedy player by a wipe-out.
    const LOST: [&str; 6] = [
        "c4e3f2e2d2e1f5c5c3b4f3g5d3g3c6b7",
        "f5d6c5b4d7f4f3g5a3e3h5e6d3f6f7c7b8",
        "d3c3f5d6c4f6d7c5b5e3c2e6f3f4f7c7b8",
        "e6d6c5b4d7f5g4e3d3e7e8f6a3f4g6c4f3c6b5f2g1",
        "e6f6g6f4c3c6d6c4d3h6e3e2c5c2f5g5b2a1",
        "c4c5c6e3f6b6c3f5a7d3f3f4g5d2d1c2b1",
    ];

    /// The wipe-out by the last move must be found in the position before it, in a search of one
    /// node.
    #[test]
    fn wipeouts_of_played_games_are_found() {
        for game in LOST {
            let (moves, _) = parse_transcript::<Square8>(game, Position::start()).expect("a game");
            let (_, before) = moves.split_last().expect("moves");
            let last = before.iter().fold(Position::<Square8>::start(), |position, &square| {
                position.play(square).expect("legal").pass_if_forced()
            });
            assert_eq!(forced(last.board, 1), Some(true), "{game}");
        }
    }
}
