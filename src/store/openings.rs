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

/// The names of an opening, as far as it has one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Names {
    /// In English.
    pub english: Option<&'static str>,
    /// In Japanese.
    pub japanese: Option<&'static str>,
}

impl Names {
    /// These names, and those of `earlier` where there is none.
    fn or(self, earlier: Names) -> Names {
        Names {
            english: self.english.or(earlier.english),
            japanese: self.japanese.or(earlier.japanese),
        }
    }
}

/// A line of the table: moves and names.
fn entry(line: &'static str) -> Option<(&'static str, Names)> {
    let mut fields = line.split('\t');
    let moves = fields.next()?;
    let mut name = || fields.next().filter(|&name| name != "-");
    Some((moves, Names { english: name(), japanese: name() }))
}

/// The names by the least image of the board.
fn names() -> &'static HashMap<Board<Square8>, Names> {
    static NAMES: OnceLock<HashMap<Board<Square8>, Names>> = OnceLock::new();
    NAMES.get_or_init(|| {
        let lines = TABLE.lines().filter(|line| !line.starts_with('#'));
        let entries = lines.filter_map(|line| {
            let (moves, names) = entry(line)?;
            // A test reads every line.
            let (_, position) = parse_transcript::<Square8>(moves, Position::start()).ok()?;
            Some((position.board.canonical(), names))
        });
        entries.collect()
    })
}

/// The English name of the opening that a game on 8x8 from its own start has reached: that of its last
/// position with a name. `None` before the second move, and on other boards.
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
    in_all_languages(start, moves).english
}

/// The names of the opening, as [`name`] finds them.
pub fn in_all_languages<G: Geometry>(start: Position<G>, moves: &[Square]) -> Names {
    if G::SHAPE != Shape::Square8 || start != Position::start() {
        return Names::default();
    }
    let (mut position, mut found) = (start, Names::default());
    for &square in moves {
        let Some(next) = position.play(square) else { break };
        position = next.pass_if_forced();
        let [mine, theirs] =
            [position.board.mine, position.board.theirs].map(|discs| discs.widen());
        let board =
            Board::<Square8> { mine: Bitboard::narrow(mine), theirs: Bitboard::narrow(theirs) };
        found = names().get(&board.canonical()).copied().unwrap_or_default().or(found);
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

    fn table() -> Vec<(Vec<Square>, Names)> {
        let lines = TABLE.lines().filter(|line| !line.starts_with('#'));
        let entry = |line: &'static str| {
            assert_eq!(line.split('\t').count(), 3, "{line}");
            let (moves, names) = entry(line).expect("moves and names");
            (parse_transcript(moves, Position::<Square8>::start()).expect("moves").0, names)
        };
        lines.map(entry).collect()
    }

    #[test]
    fn every_line_has_legal_moves_and_a_position_and_a_name_of_its_own() {
        let mut seen = HashMap::new();
        let mut all = Vec::new();
        for (moves, names) in table() {
            let position = after(Position::<Square8>::start(), &moves).expect("legal moves");
            assert_eq!(seen.insert(position.board.canonical(), names), None, "{names:?}");
            assert_ne!(names, Names::default());
            all.extend(names.english.into_iter().chain(names.japanese));
        }
        assert_eq!(seen.len(), names().len());
        assert!(all.iter().all(|name| !name.is_empty() && name.trim() == *name), "{all:?}");
        let different: std::collections::HashSet<_> = all.iter().collect();
        assert_eq!(different.len(), all.len(), "two positions have one name");
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
                    let found = in_all_languages(start, &image);
                    assert_eq!(wanted.or(found), found);
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
