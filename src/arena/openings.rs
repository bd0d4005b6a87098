//! Openings of matches: positions that are distinct up to the symmetries of the board.
//!
//! From the start position two deterministic players would always play the same game, and the
//! result would depend on a single opening. So a match has many openings and plays each with both
//! colours.

use std::collections::HashSet;
use std::fmt;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::game::notation::{NotationError, is_transcript, parse_obf, parse_transcript};
use crate::game::{Board, Geometry, Position, Shape, Square};
use crate::players::player::{combine, random_square};
use crate::store::lines::{BadLine, BadLines, LineError, Lines};

/// Random openings are exhausted after this many attempts in a row without a new one.
const MAX_FAILED_ATTEMPTS: u32 = 2_000;

/// A position to play from, and the moves that led to it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Opening<G: Geometry> {
    /// The position before the moves: the board's own start, unless the opening was given as a
    /// position.
    pub start: Position<G>,
    /// The moves from `start` to `position`, without passes.
    pub moves: Vec<Square>,
    /// The position in which the players begin. The side to move has a legal move.
    pub position: Position<G>,
}

/// A source of openings.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum OpeningSource {
    /// The start position only.
    Start,
    /// Random moves from the start position.
    Random {
        /// The number of moves, at least 1.
        plies: u32,
    },
    /// A text file with a transcript or a position in OBF on each line.
    File(PathBuf),
}

/// A text that is not a source of openings.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "`{text}` is not a source of openings; allowed: start, random:PLIES with PLIES from 1 to 40, or \
     the path of a file of transcripts or OBF positions"
)]
pub struct OpeningSourceError {
    text: Box<str>,
}

impl FromStr for OpeningSource {
    type Err = OpeningSourceError;

    fn from_str(text: &str) -> Result<OpeningSource, OpeningSourceError> {
        let text = text.trim();
        let invalid = || OpeningSourceError { text: text.into() };
        match text.split_once(':') {
            _ if text == "start" => Ok(OpeningSource::Start),
            Some(("random", plies)) => {
                let plies = plies.parse().ok().filter(|plies| (1..=40).contains(plies));
                plies.map(|plies| OpeningSource::Random { plies }).ok_or_else(invalid)
            }
            _ if text.is_empty() || text == "random" => Err(invalid()),
            _ => Ok(OpeningSource::File(text.into())),
        }
    }
}

impl fmt::Display for OpeningSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OpeningSource::Start => f.write_str("start"),
            OpeningSource::Random { plies } => write!(f, "random:{plies}"),
            OpeningSource::File(path) => write!(f, "{}", path.display()),
        }
    }
}

/// Why there are no openings.
#[derive(Debug, thiserror::Error)]
pub enum OpeningError {
    /// The file cannot be read.
    #[error("cannot read openings from {}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// No line of the file is an opening.
    #[error(
        "no opening in {}{}",
        path.display(),
        first.as_ref().map(|bad| format!(": {bad}")).unwrap_or_default()
    )]
    Nothing {
        /// The file.
        path: PathBuf,
        /// The first bad line.
        first: Option<BadLine<OpeningLineError>>,
    },
    /// After this many random moves no game has a legal move left.
    #[error(
        "no game on board {board} has a move left after {plies} random plies \
         ({MAX_FAILED_ATTEMPTS} attempts); use fewer plies"
    )]
    NoMoveLeft {
        /// The board.
        board: Shape,
        /// The number of moves.
        plies: u32,
    },
}

/// An error in a line of a file of openings.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum OpeningLineError {
    /// The line is not UTF-8 text.
    #[error(transparent)]
    Line(#[from] LineError),
    /// The line is neither a transcript nor a position.
    #[error(transparent)]
    Notation(#[from] NotationError),
    /// The game is over in the position.
    #[error("the game is over in this position")]
    GameOver,
}

/// The openings of a match.
#[derive(Clone, Debug)]
pub struct OpeningBook<G: Geometry> {
    /// Distinct up to symmetry and exchange of the colours.
    pub openings: Vec<Opening<G>>,
    /// Lines of a file that were left out.
    pub bad_lines: BadLines<OpeningLineError>,
    /// The number of lines that lead to the position of an earlier opening.
    pub repeated: usize,
}

impl OpeningSource {
    /// Up to `count` openings, at least one. Fewer than `count` if the source has no more.
    ///
    /// # Errors
    ///
    /// A file that cannot be read or has no opening, or more random moves than a game has.
    pub fn book<G: Geometry>(
        &self,
        count: usize,
        seed: u64,
    ) -> Result<OpeningBook<G>, OpeningError> {
        let start = Position::<G>::start();
        let from_start = || Opening { start, moves: Vec::new(), position: start };
        match self {
            OpeningSource::Start => Ok(OpeningBook {
                openings: vec![from_start()],
                bad_lines: BadLines::default(),
                repeated: 0,
            }),
            OpeningSource::Random { plies } => random_book(count, *plies, seed),
            OpeningSource::File(path) => file_book(path, count),
        }
    }
}

fn random_book<G: Geometry>(
    count: usize,
    plies: u32,
    seed: u64,
) -> Result<OpeningBook<G>, OpeningError> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(combine(&[seed, u64::from(plies)]));
    let mut openings = Vec::new();
    let mut seen = HashSet::new();
    let mut failed = 0;
    while openings.len() < count && failed < MAX_FAILED_ATTEMPTS {
        failed += 1;
        let Some(opening) = random_opening::<G>(plies, &mut random) else { continue };
        if seen.insert(opening.position.board.canonical()) {
            failed = 0;
            openings.push(opening);
        }
    }
    if openings.is_empty() {
        return Err(OpeningError::NoMoveLeft { board: G::SHAPE, plies });
    }
    Ok(OpeningBook { openings, bad_lines: BadLines::default(), repeated: 0 })
}

fn random_opening<G: Geometry>(plies: u32, random: &mut Xoshiro256PlusPlus) -> Option<Opening<G>> {
    let start = Position::<G>::start();
    let (mut position, mut moves) = (start, Vec::with_capacity(plies as usize));
    for _ in 0..plies {
        let square = random_square(position.board.legal(), random)?;
        position = position.play(square)?.pass_if_forced();
        moves.push(square);
    }
    (!position.board.is_over()).then_some(Opening { start, moves, position })
}

/// The first `count` openings of a file. The rest of the file is only checked.
fn file_book<G: Geometry>(path: &Path, count: usize) -> Result<OpeningBook<G>, OpeningError> {
    let unreadable = |source| OpeningError::Unreadable { path: path.into(), source };
    let file = BufReader::new(File::open(path).map_err(unreadable)?);
    let mut book =
        OpeningBook { openings: Vec::new(), bad_lines: BadLines::default(), repeated: 0 };
    let mut seen = HashSet::new();
    for line in Lines::new(file) {
        let line = line.map_err(unreadable)?;
        let opening =
            line.text.map_err(OpeningLineError::from).and_then(|text| read_line::<G>(&text));
        match opening {
            Err(problem) => {
                book.bad_lines.note(line.number, problem);
            }
            Ok(opening) if seen.contains(&opening.position.board.canonical()) => book.repeated += 1,
            Ok(opening) if book.openings.len() < count.max(1) => {
                seen.insert(opening.position.board.canonical());
                book.openings.push(opening);
            }
            Ok(_) => {}
        }
    }
    if book.openings.is_empty() {
        let first = book.bad_lines.first().first().cloned();
        return Err(OpeningError::Nothing { path: path.into(), first });
    }
    Ok(book)
}

fn read_line<G: Geometry>(line: &str) -> Result<Opening<G>, OpeningLineError> {
    let start = Position::<G>::start();
    let opening = if is_transcript(line) {
        let (moves, position) = parse_transcript(line, start)?;
        Opening { start, moves, position }
    } else {
        let position = parse_obf::<G>(line)?.position.pass_if_forced();
        Opening { start: position, moves: Vec::new(), position }
    };
    if opening.position.board.legal().is_empty() {
        return Err(OpeningLineError::GameOver);
    }
    Ok(opening)
}

/// The least image of a game under the symmetries of the board: equal for games that differ by a
/// symmetry only.
pub fn canonical_game<G: Geometry>(start: Board<G>, moves: &[Square]) -> (Board<G>, Vec<Square>) {
    crate::game::Symmetry::ALL
        .into_iter()
        .map(|symmetry| {
            let moves = moves.iter().map(|&square| symmetry.square::<G>(square)).collect();
            (symmetry.board(start), moves)
        })
        .min()
        .unwrap_or_else(|| (start, moves.to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::{Cross92, Square6, Square8, Symmetry};

    #[test]
    fn sources_are_read_and_written() {
        for text in ["start", "random:8", "games/xot.txt"] {
            assert_eq!(text.parse::<OpeningSource>().expect("a source").to_string(), text);
        }
        for text in ["", "random", "random:", "random:0", "random:41", "random:x"] {
            assert!(text.parse::<OpeningSource>().is_err(), "{text}");
        }
    }

    #[test]
    fn random_openings_are_distinct_up_to_symmetry() {
        let book = OpeningSource::Random { plies: 6 }.book::<Square8>(200, 7).expect("a book");
        let boards: HashSet<_> =
            book.openings.iter().map(|opening| opening.position.board.canonical()).collect();
        assert_eq!(boards.len(), 200);
        for opening in &book.openings {
            assert_eq!(opening.moves.len(), 6);
            let text = crate::game::notation::transcript::<Square8>(opening.moves.iter().copied());
            let (_, position) = parse_transcript(&text, opening.start).expect("legal moves");
            assert_eq!(position, opening.position);
        }
    }

    /// There are 1, 3 and 14 distinct positions after 1, 2 and 3 plies: the published counts.
    #[test]
    fn short_openings_run_out_at_the_published_counts() {
        for (plies, count) in [(1, 1), (2, 3), (3, 14)] {
            let book = OpeningSource::Random { plies }.book::<Square8>(1000, 1).expect("a book");
            assert_eq!(book.openings.len(), count, "{plies} plies");
        }
    }

    #[test]
    fn more_random_moves_than_a_game_has_are_refused() {
        for plies in [32, 40] {
            let error =
                OpeningSource::Random { plies }.book::<Square6>(10, 1).expect_err("no opening");
            let wanted = format!("no game on board 6x6 has a move left after {plies} random plies");
            assert!(error.to_string().starts_with(&wanted), "{error}");
        }
        let late = OpeningSource::Random { plies: 24 }.book::<Square6>(10, 1).expect("a book");
        assert_eq!(late.openings.len(), 10, "some games are over earlier, others are not");
    }

    #[test]
    fn the_openings_depend_on_the_seed() {
        let book =
            |seed| OpeningSource::Random { plies: 8 }.book::<Cross92>(20, seed).expect("a book");
        assert_eq!(book(1).openings, book(1).openings);
        assert_ne!(book(1).openings, book(2).openings);
    }

    #[test]
    fn bad_lines_of_a_file_are_listed_and_left_out() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("openings.txt");
        let position = crate::game::notation::obf(Position::<Square6>::start());
        let text = format!("# openings\n\nc2b4\nz9\n{position}\nc2\nd5\nc2c2\n-X- X\n");
        std::fs::write(&path, text).expect("writable");
        let book = OpeningSource::File(path).book::<Square6>(10, 1);
        let Ok(book) = book else { panic!("{book:?}") };
        let lines: Vec<_> = book.bad_lines.first().iter().map(|bad| bad.line).collect();
        assert_eq!(lines, [4, 8, 9]);
        assert_eq!(book.openings.len(), 3);
        assert_eq!(book.repeated, 1, "d5 is a mirror image of c2");
    }

    #[test]
    fn a_line_that_is_not_utf8_is_left_out() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("openings.txt");
        std::fs::write(&path, b"f5d6\n# \xe9\nf5\xe9d6\nf5f6\nc4c3\n").expect("writable");
        let book = OpeningSource::File(path).book::<Square8>(1, 1).expect("a book");
        assert_eq!(
            (book.openings.len(), book.repeated),
            (1, 0),
            "only the requested openings are kept"
        );
        assert_eq!(
            book.bad_lines.remarks(),
            ["line 3: byte 0xe9 is not UTF-8 text; save the file as UTF-8 or ASCII; left out"]
        );
    }

    #[test]
    fn a_file_without_an_opening_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("openings.txt");
        std::fs::write(&path, "nonsense\n").expect("writable");
        let error =
            OpeningSource::File(path.clone()).book::<Square8>(10, 1).expect_err("no opening");
        assert!(error.to_string().contains("line 1"), "{error}");
        std::fs::remove_file(&path).expect("removable");
        assert!(OpeningSource::File(path).book::<Square8>(10, 1).is_err());
    }

    #[test]
    fn mirrored_games_have_the_same_canonical_game() {
        let (moves, _) = parse_transcript("f5d6c3d3", Position::<Square8>::start()).expect("legal");
        let start = Board::<Square8>::start();
        let mirrored: Vec<_> =
            moves.iter().map(|&square| Symmetry::ALL[7].square::<Square8>(square)).collect();
        assert_eq!(Symmetry::ALL[7].board(start), start);
        assert_eq!(canonical_game(start, &moves), canonical_game(start, &mirrored));
        assert_ne!(canonical_game(start, &moves), canonical_game(start, &moves[..3]));
    }
}
