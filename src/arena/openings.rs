//! Where games begin: positions that differ by more than a symmetry of the board.
//!
//! Two deterministic players would play one game over and over from the start position, and
//! one of them may merely like one opening; so a match takes many openings and plays each with
//! both colours.

use std::collections::HashSet;
use std::fmt;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::player::{any_of, combine};
use crate::game::notation::{NotationError, is_transcript, parse_obf, parse_transcript};
use crate::game::{Board, Geometry, Position, Shape, Square};
use crate::store::lines::{BadLine, BadLines, LineError, Lines};

/// How often in a row a random opening may turn out to be known before there are no more.
const PATIENCE: u32 = 2_000;

/// A position to play from, and how it came about.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Opening<G: Geometry> {
    /// The position that the moves start from: the board's own start, unless the opening was
    /// given as a position.
    pub start: Position<G>,
    /// The moves that lead to `position`, passes left out.
    pub moves: Vec<Square>,
    /// Where the players take over. The side to move has a move.
    pub position: Position<G>,
}

/// Where openings come from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Source {
    /// The start position alone.
    Start,
    /// Random moves from the start position.
    Random {
        /// How many, at least 1.
        plies: u32,
    },
    /// A text file with a transcript or a position in OBF on each line.
    File(PathBuf),
}

/// Text that names no source of openings.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "`{text}` is no source of openings; allowed: start, random:PLIES with PLIES from 1 to 40, or the path of a file of transcripts or OBF positions"
)]
pub struct NoSource {
    text: Box<str>,
}

impl FromStr for Source {
    type Err = NoSource;

    fn from_str(text: &str) -> Result<Source, NoSource> {
        let text = text.trim();
        let no_source = || NoSource { text: text.into() };
        match text.split_once(':') {
            _ if text == "start" => Ok(Source::Start),
            Some(("random", plies)) => {
                let plies = plies.parse().ok().filter(|plies| (1..=40).contains(plies));
                plies.map(|plies| Source::Random { plies }).ok_or_else(no_source)
            }
            _ if text.is_empty() || text == "random" => Err(no_source()),
            _ => Ok(Source::File(text.into())),
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Start => f.write_str("start"),
            Source::Random { plies } => write!(f, "random:{plies}"),
            Source::File(path) => write!(f, "{}", path.display()),
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
        /// What the system says.
        source: std::io::Error,
    },
    /// No line of the file is an opening.
    #[error("no opening in {}{}", path.display(), first.as_ref().map(|bad| format!(": {bad}")).unwrap_or_default())]
    Nothing {
        /// The file.
        path: PathBuf,
        /// The first bad line.
        first: Option<BadLine<LineProblem>>,
    },
    /// Random games are over before they have as many moves, or have none left then.
    #[error(
        "no game on board {board} has a move left after {plies} random plies ({PATIENCE} were tried); take fewer plies"
    )]
    Over {
        /// The board.
        board: Shape,
        /// How many moves.
        plies: u32,
    },
}

/// What is wrong with a line of an openings file.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum LineProblem {
    /// It is no text.
    #[error(transparent)]
    Line(#[from] LineError),
    /// It is neither a transcript nor a position.
    #[error(transparent)]
    Notation(#[from] NotationError),
    /// The game is over there.
    #[error("the game is over in this position")]
    Over,
}

/// The openings of a match.
#[derive(Clone, Debug)]
pub struct Book<G: Geometry> {
    /// Distinct up to symmetry and the colours' exchange.
    pub openings: Vec<Opening<G>>,
    /// Lines of a file that were left out.
    pub bad_lines: BadLines<LineProblem>,
    /// Lines of a file that lead to the position of one of the openings.
    pub repeated: usize,
}

impl Source {
    /// Up to `count` openings, but at least one; fewer than `count` where there are no more.
    ///
    /// # Errors
    ///
    /// A file that cannot be read or holds no opening, or more random moves than games have.
    pub fn book<G: Geometry>(&self, count: usize, seed: u64) -> Result<Book<G>, OpeningError> {
        let start = Position::<G>::start();
        let from_start = || Opening { start, moves: Vec::new(), position: start };
        match self {
            Source::Start => Ok(Book {
                openings: vec![from_start()],
                bad_lines: BadLines::default(),
                repeated: 0,
            }),
            Source::Random { plies } => random_book(count, *plies, seed),
            Source::File(path) => file_book(path, count),
        }
    }
}

fn random_book<G: Geometry>(count: usize, plies: u32, seed: u64) -> Result<Book<G>, OpeningError> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(combine(&[seed, u64::from(plies)]));
    let mut openings = Vec::new();
    let mut seen = HashSet::new();
    let mut vain = 0;
    while openings.len() < count && vain < PATIENCE {
        vain += 1;
        let Some(opening) = random_opening::<G>(plies, &mut random) else { continue };
        if seen.insert(opening.position.board.canonical()) {
            vain = 0;
            openings.push(opening);
        }
    }
    if openings.is_empty() {
        return Err(OpeningError::Over { board: G::SHAPE, plies });
    }
    Ok(Book { openings, bad_lines: BadLines::default(), repeated: 0 })
}

fn random_opening<G: Geometry>(plies: u32, random: &mut Xoshiro256PlusPlus) -> Option<Opening<G>> {
    let start = Position::<G>::start();
    let (mut position, mut moves) = (start, Vec::with_capacity(plies as usize));
    for _ in 0..plies {
        let square = any_of(position.board.legal(), random)?;
        position = position.play(square)?.settled();
        moves.push(square);
    }
    (!position.board.is_over()).then_some(Opening { start, moves, position })
}

/// The first `count` openings of a file. The rest of the file is checked, but not kept.
fn file_book<G: Geometry>(path: &Path, count: usize) -> Result<Book<G>, OpeningError> {
    let unreadable = |source| OpeningError::Unreadable { path: path.into(), source };
    let file = BufReader::new(File::open(path).map_err(unreadable)?);
    let mut book = Book { openings: Vec::new(), bad_lines: BadLines::default(), repeated: 0 };
    let mut seen = HashSet::new();
    for line in Lines::new(file) {
        let line = line.map_err(unreadable)?;
        let opening = line.text.map_err(LineProblem::from).and_then(|text| read_line::<G>(&text));
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

fn read_line<G: Geometry>(line: &str) -> Result<Opening<G>, LineProblem> {
    let start = Position::<G>::start();
    let opening = if is_transcript(line) {
        let (moves, position) = parse_transcript(line, start)?;
        Opening { start, moves, position }
    } else {
        let position = parse_obf::<G>(line)?.position.settled();
        Opening { start: position, moves: Vec::new(), position }
    };
    if opening.position.board.legal().is_empty() {
        return Err(LineProblem::Over);
    }
    Ok(opening)
}

/// The least of the images of a whole game under the symmetries of the board: equal for games
/// that differ by a symmetry alone.
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
            assert_eq!(text.parse::<Source>().expect("a source").to_string(), text);
        }
        for text in ["", "random", "random:", "random:0", "random:41", "random:x"] {
            assert!(text.parse::<Source>().is_err(), "{text}");
        }
    }

    #[test]
    fn random_openings_are_distinct_up_to_symmetry() {
        let book = Source::Random { plies: 6 }.book::<Square8>(200, 7).expect("a book");
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

    /// One, three and fourteen positions after 1, 2 and 3 plies: the published counts.
    #[test]
    fn short_openings_run_out_where_they_must() {
        for (plies, count) in [(1, 1), (2, 3), (3, 14)] {
            let book = Source::Random { plies }.book::<Square8>(1000, 1).expect("a book");
            assert_eq!(book.openings.len(), count, "{plies} plies");
        }
    }

    #[test]
    fn more_random_moves_than_a_game_has_are_refused() {
        for plies in [32, 40] {
            let error = Source::Random { plies }.book::<Square6>(10, 1).expect_err("no opening");
            let wanted = format!("no game on board 6x6 has a move left after {plies} random plies");
            assert!(error.to_string().starts_with(&wanted), "{error}");
        }
        let late = Source::Random { plies: 24 }.book::<Square6>(10, 1).expect("a book");
        assert_eq!(late.openings.len(), 10, "some games are over by then, others not");
    }

    #[test]
    fn the_seed_decides_the_openings() {
        let book = |seed| Source::Random { plies: 8 }.book::<Cross92>(20, seed).expect("a book");
        assert_eq!(book(1).openings, book(1).openings);
        assert_ne!(book(1).openings, book(2).openings);
    }

    #[test]
    fn a_file_gives_its_good_lines_and_names_its_bad_ones() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("openings.txt");
        let position = crate::game::notation::obf(Position::<Square6>::start());
        let text = format!("# openings\n\nc2b4\nz9\n{position}\nc2\nd5\nc2c2\n-X- X\n");
        std::fs::write(&path, text).expect("writable");
        let book = Source::File(path).book::<Square6>(10, 1);
        let Ok(book) = book else { panic!("{book:?}") };
        let lines: Vec<_> = book.bad_lines.first().iter().map(|bad| bad.line).collect();
        assert_eq!(lines, [4, 8, 9]);
        assert_eq!(book.openings.len(), 3);
        assert_eq!(book.repeated, 1, "d5 mirrors c2");
    }

    #[test]
    fn a_byte_that_is_no_text_costs_one_line() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("openings.txt");
        std::fs::write(&path, b"f5d6\n# \xe9\nf5\xe9d6\nf5f6\nc4c3\n").expect("writable");
        let book = Source::File(path).book::<Square8>(1, 1).expect("a book");
        assert_eq!((book.openings.len(), book.repeated), (1, 0), "only what is asked for is kept");
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
        let error = Source::File(path.clone()).book::<Square8>(10, 1).expect_err("no opening");
        assert!(error.to_string().contains("line 1"), "{error}");
        std::fs::remove_file(&path).expect("removable");
        assert!(Source::File(path).book::<Square8>(10, 1).is_err());
    }

    #[test]
    fn mirrored_games_are_one_game() {
        let (moves, _) = parse_transcript("f5d6c3d3", Position::<Square8>::start()).expect("legal");
        let start = Board::<Square8>::start();
        let mirrored: Vec<_> =
            moves.iter().map(|&square| Symmetry::ALL[7].square::<Square8>(square)).collect();
        assert_eq!(Symmetry::ALL[7].board(start), start);
        assert_eq!(canonical_game(start, &moves), canonical_game(start, &mirrored));
        assert_ne!(canonical_game(start, &moves), canonical_game(start, &moves[..3]));
    }
}
