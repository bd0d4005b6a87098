//! Forced wipe-outs: lines in which one side loses its last disc, whatever it does.
//!
//! Few discs are mostly a good sign in Othello, and what has learnt that walks into the short
//! lines where they are not. They are cheap to see: whoever has few discs has few moves.

use crate::game::{Board, Geometry, Word};

/// Discs of a side that are few enough to be worth a look.
const FEW: u32 = 3;
/// Discs on the board from which on few of one side are remarkable.
const OUT_OF_THE_OPENING: u32 = 9;
/// The most plies looked ahead.
const PLIES: u32 = 9;

/// Whether the side to move takes the other's last disc by force (`true`) or loses its own
/// (`false`), as far as some `nodes` positions tell; `None` where they do not, and where neither
/// side has few discs.
///
/// What is told is proven. It decides games for the most discs only.
pub fn forced<G: Geometry>(board: Board<G>, nodes: u32) -> Option<bool> {
    let (mine, theirs) = (board.mine.count(), board.theirs.count());
    if mine + theirs < OUT_OF_THE_OPENING || mine.min(theirs) > FEW {
        return None;
    }
    let mut left = nodes;
    for plies in 1..=PLIES {
        // The last move is that of the side that sweeps.
        let found = match plies % 2 == 1 {
            true => theirs <= FEW && sweeps(board, plies, &mut left),
            false => mine <= FEW && is_swept(board, plies, &mut left),
        };
        if found {
            return Some(plies % 2 == 1);
        }
        if left == 0 {
            return None;
        }
    }
    None
}

/// Whether the side to move takes the other's last disc within so many plies. No, once nothing
/// is left to spend.
fn sweeps<G: Geometry>(board: Board<G>, plies: u32, left: &mut u32) -> bool {
    if *left == 0 {
        return false;
    }
    *left -= 1;
    board.legal().into_iter().any(|square| {
        let next = board.play_unchecked(square);
        next.mine.is_zero() || (plies > 2 && is_swept(next, plies - 1, left))
    })
}

/// Whether the side to move loses its last disc within so many plies, whatever it does.
fn is_swept<G: Geometry>(board: Board<G>, plies: u32, left: &mut u32) -> bool {
    if *left == 0 {
        return false;
    }
    *left -= 1;
    let mut legal = board.legal().into_iter().peekable();
    if legal.peek().is_none() {
        return sweeps(board.pass(), plies - 1, left);
    }
    legal.all(|square| sweeps(board.play_unchecked(square), plies - 1, left))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::notation::parse_transcript;
    use crate::game::{Goal, Position, Square6, Square8};
    use crate::search::endgame::Solver;

    const PLENTY: u32 = 1_000_000;

    /// A random legal game's positions, by a small generator of its own.
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
            position = position.play(square).expect("legal").settled();
        }
    }

    /// What is told is what the exact solver finds: everything for the winner.
    #[test]
    fn what_is_told_is_true() {
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

    /// One ply is seen wherever it is there.
    #[test]
    fn a_sweep_in_one_is_never_missed() {
        let mut seen = 0;
        for board in (0..4_000).flat_map(positions::<Square8>) {
            let remarkable = board.theirs.count() <= FEW && board.discs() >= OUT_OF_THE_OPENING;
            let mut legal = board.legal().into_iter();
            if remarkable && legal.any(|square| board.play_unchecked(square).mine.is_zero()) {
                assert_eq!(forced(board, 1), Some(true), "{board:?}");
                seen += 1;
            }
        }
        assert!(seen > 0);
    }

    /// Games that young nets lost to the greedy player, each with its last move.
    const LOST: [&str; 6] = [
        "c4e3f2e2d2e1f5c5c3b4f3g5d3g3c6b7",
        "f5d6c5b4d7f4f3g5a3e3h5e6d3f6f7c7b8",
        "d3c3f5d6c4f6d7c5b5e3c2e6f3f4f7c7b8",
        "e6d6c5b4d7f5g4e3d3e7e8f6a3f4g6c4f3c6b5f2g1",
        "e6f6g6f4c3c6d6c4d3h6e3e2c5c2f5g5b2a1",
        "c4c5c6e3f6b6c3f5a7d3f3f4g5d2d1c2b1",
    ];

    /// All ended with an answer that let the sweep happen: the reply to it must be seen at once,
    /// with the few positions that a leaf is worth.
    #[test]
    fn lost_games_are_seen_to_be_lost() {
        for game in LOST {
            let (moves, _) = parse_transcript::<Square8>(game, Position::start()).expect("a game");
            let (_, before) = moves.split_last().expect("moves");
            let last = before.iter().fold(Position::<Square8>::start(), |position, &square| {
                position.play(square).expect("legal").settled()
            });
            assert_eq!(forced(last.board, 1), Some(true), "{game}");
        }
    }
}
