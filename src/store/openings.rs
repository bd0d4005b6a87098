//! Openings by name.
//!
//! `openings.tsv` beside this file has the names; it is a part of the program. A name belongs to the
//! position after the moves, so other orders of the moves and images under the symmetries of the board
//! have it too.

use std::collections::HashMap;
use std::sync::OnceLock;

use crate::game::notation::parse_transcript;
use crate::game::{Bitboard, Board, Geometry, Position, Shape, Square, Square8};

const TABLE: &str = include_str!("openings.tsv");

/// The names by the least image of the board.
fn names() -> &'static HashMap<Board<Square8>, &'static str> {
    static NAMES: OnceLock<HashMap<Board<Square8>, &'static str>> = OnceLock::new();
    NAMES.get_or_init(|| {
        let lines = TABLE.lines().filter(|line| !line.starts_with('#'));
        let entries = lines.filter_map(|line| {
            let (moves, name) = line.split_once('\t')?;
            // A test reads every line.
            let (_, position) = parse_transcript::<Square8>(moves, Position::start()).ok()?;
            Some((position.board.canonical(), name))
        });
        entries.collect()
    })
}

/// The name of the opening that a game on 8x8 from its own start has reached: that of its last position
/// with a name. `None` before the second move, and on other boards.
///
/// ```
/// use outflank::game::notation::parse_transcript;
/// use outflank::game::{Position, Square8};
/// use outflank::store::openings;
///
/// let start = Position::<Square8>::start();
/// let (moves, _) = parse_transcript("f5d6c3d3c4", start)?;
/// assert_eq!(openings::name(start, &moves), Some("Tiger"));
/// // An image has the same name, and so has the next position, which has none of its own.
/// let (moves, _) = parse_transcript("c4e3f6e6f5c5", start)?;
/// assert_eq!(openings::name(start, &moves), Some("Tiger"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn name<G: Geometry>(start: Position<G>, moves: &[Square]) -> Option<&'static str> {
    if G::SHAPE != Shape::Square8 || start != Position::start() {
        return None;
    }
    let (mut position, mut found) = (start, None);
    for &square in moves {
        let Some(next) = position.play(square) else { break };
        position = next.pass_if_forced();
        let [mine, theirs] =
            [position.board.mine, position.board.theirs].map(|discs| discs.widen());
        let board =
            Board::<Square8> { mine: Bitboard::narrow(mine), theirs: Bitboard::narrow(theirs) };
        found = names().get(&board.canonical()).copied().or(found);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::{Square6, Symmetry};

    fn after(start: Position<Square8>, moves: &[Square]) -> Option<Position<Square8>> {
        let play = |position: Position<Square8>, &square: &Square| {
            position.play(square).map(Position::pass_if_forced)
        };
        moves.iter().try_fold(start, play)
    }

    fn table() -> Vec<(Vec<Square>, &'static str)> {
        let lines = TABLE.lines().filter(|line| !line.starts_with('#'));
        let entry = |line: &'static str| {
            let (moves, name) = line.split_once('\t').expect("moves, a tab, a name");
            (parse_transcript(moves, Position::<Square8>::start()).expect("moves").0, name)
        };
        lines.map(entry).collect()
    }

    #[test]
    fn every_line_has_legal_moves_and_a_position_and_a_name_of_its_own() {
        let mut seen = HashMap::new();
        for (moves, name) in table() {
            let position = after(Position::<Square8>::start(), &moves).expect(name);
            assert_eq!(seen.insert(position.board.canonical(), name), None, "{name}");
            assert!(!name.is_empty() && name.trim() == name, "{name:?}");
        }
        assert_eq!(seen.len(), names().len());
        let different: std::collections::HashSet<_> = seen.values().collect();
        assert_eq!(different.len(), seen.len(), "two positions have one name");
    }

    #[test]
    fn images_and_other_orders_have_the_same_name() {
        let start = Position::<Square8>::start();
        for (moves, wanted) in table() {
            for symmetry in Symmetry::ALL {
                let image: Vec<_> =
                    moves.iter().map(|&at| symmetry.square::<Square8>(at)).collect();
                // Half of the symmetries exchange the colours of the start position.
                if after(start, &image).is_some() {
                    assert_eq!(name(start, &image), Some(wanted));
                }
            }
        }
        let moves = |text| parse_transcript(text, start).expect("moves").0;
        assert_eq!(name(start, &moves("f5")), None);
        assert_eq!(name(start, &moves("f5f6")), Some("Diagonal"));
        let small = Position::<Square6>::start();
        assert_eq!(name(small, &[small.board.legal().next().expect("a move")]), None);
    }
}
