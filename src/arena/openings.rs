//! Openings of matches: positions that are distinct up to the symmetries of the board.
//!
//! From the start position two deterministic players would always play the same game, and the
//! result would depend on a single opening. So a match has many openings and plays each with both
//! colours.

use std::collections::HashSet;
use std::fmt;
use std::fs::File;
use std::io::{BufReader, Cursor, Read as _};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::game::{Board, Geometry, Goal, Position, Shape, Square};
use crate::players::player::{combine, random_square};
use crate::store::import::text::{self, TextFault, Written};
use crate::store::import::{self, Fault, Game, ImportError};
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
    /// The first moves of games: a file, a folder of files, or a run directory.
    Games {
        /// Where the games are.
        path: PathBuf,
        /// The number of moves, from 1 to 40.
        plies: u32,
    },
}

/// A text that is not a source of openings.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "`{text}` is not a source of openings; allowed: start, random:PLIES, the path of a file of \
     transcripts or OBF positions, or GAMES:PLIES with the path of games; PLIES is 1 to {MOST_PLIES}"
)]
pub struct OpeningSourceError {
    text: Box<str>,
}

/// The most openings of games that are kept in memory; games after them are not used.
const MOST_OPENINGS: usize = 1 << 20;
/// The most moves of an opening.
const MOST_PLIES: u32 = 40;

fn plies_of(text: &str) -> Option<u32> {
    text.parse().ok().filter(|plies| (1..=MOST_PLIES).contains(plies))
}

/// The games of a text `PATH:PLIES`.
fn games(text: &str) -> Option<OpeningSource> {
    let (path, plies) = text.rsplit_once(':').filter(|(path, _)| !path.is_empty())?;
    Some(OpeningSource::Games { path: path.into(), plies: plies_of(plies)? })
}

impl FromStr for OpeningSource {
    type Err = OpeningSourceError;

    fn from_str(text: &str) -> Result<OpeningSource, OpeningSourceError> {
        let text = text.trim();
        let invalid = || OpeningSourceError { text: text.into() };
        match text.split_once(':') {
            _ if text == "start" => Ok(OpeningSource::Start),
            Some(("random", plies)) => {
                plies_of(plies).map(|plies| OpeningSource::Random { plies }).ok_or_else(invalid)
            }
            _ if text.is_empty() || text == "random" => Err(invalid()),
            _ => Ok(games(text).unwrap_or_else(|| OpeningSource::File(text.into()))),
        }
    }
}

impl fmt::Display for OpeningSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OpeningSource::Start => f.write_str("start"),
            OpeningSource::Random { plies } => write!(f, "random:{plies}"),
            OpeningSource::File(path) => write!(f, "{}", path.display()),
            OpeningSource::Games { path, plies } => write!(f, "{}:{plies}", path.display()),
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
    /// Games cannot be read.
    #[error(transparent)]
    Games(#[from] ImportError),
    /// No game is on the board and has enough moves.
    #[error("{} has no game of {board} with {plies} moves and a move left", path.display())]
    NoGame {
        /// Where the games are.
        path: PathBuf,
        /// The board.
        board: Shape,
        /// The number of moves.
        plies: u32,
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
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum OpeningLineError {
    /// The line is not UTF-8 text.
    #[error(transparent)]
    Line(#[from] LineError),
    /// The line is neither a transcript nor a position.
    #[error(transparent)]
    Text(#[from] Box<TextFault>),
    /// A game of a file breaks the rules or cannot be read.
    #[error("{}: {fault}", file.display())]
    Game {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        fault: Fault,
    },
    /// The game is over in the position.
    #[error("the game is over in this position")]
    GameOver,
}

/// The openings of a match.
#[derive(Clone, Debug)]
pub struct OpeningBook<G: Geometry> {
    /// Distinct up to symmetry and exchange of the colours.
    pub openings: Vec<Opening<G>>,
    /// Lines of a file, or games, that were left out.
    pub bad_lines: BadLines<OpeningLineError>,
    /// The number of lines or games that lead to the position of an earlier opening.
    pub repeated: usize,
    /// Games that are on another board, or too short.
    pub too_short: usize,
}

impl<G: Geometry> OpeningBook<G> {
    fn empty() -> OpeningBook<G> {
        let (openings, bad_lines) = (Vec::new(), BadLines::default());
        OpeningBook { openings, bad_lines, repeated: 0, too_short: 0 }
    }
}

impl OpeningSource {
    /// Up to `count` openings, at least one. Fewer than `count` if the source has no more.
    ///
    /// # Errors
    ///
    /// A file that cannot be read or has no opening, or more random moves than a game has.
    ///
    /// ```
    /// use outflank::arena::openings::OpeningSource;
    /// use outflank::game::Square8;
    ///
    /// let source: OpeningSource = "random:6".parse()?;
    /// let book = source.book::<Square8>(10, 1)?;
    /// assert_eq!(book.openings.len(), 10);
    /// assert!(book.openings.iter().all(|opening| opening.position.board.discs() == 10));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
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
                too_short: 0,
            }),
            OpeningSource::Random { plies } => random_book(count, *plies, seed),
            OpeningSource::File(path) => file_book(path, count),
            OpeningSource::Games { path, plies } => games_book(path, *plies, count, seed),
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
    Ok(OpeningBook { openings, bad_lines: BadLines::default(), repeated: 0, too_short: 0 })
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
    let mut file = BufReader::new(File::open(path).map_err(unreadable)?);
    let mut book = OpeningBook::empty();
    let mut seen = HashSet::new();
    let mut beginning = Vec::new();
    file.by_ref().take(text::LONGEST as u64).read_to_end(&mut beginning).map_err(unreadable)?;
    let one = std::str::from_utf8(&beginning).ok().and_then(text::single::<G>);
    if let Some(Ok(opening)) = one.map(opening_of) {
        book.openings.push(opening);
        return Ok(book);
    }
    let file = Cursor::new(beginning).chain(file);
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

/// Openings of games, `count` of them drawn by the seed.
fn games_book<G: Geometry>(
    path: &Path,
    plies: u32,
    count: usize,
    seed: u64,
) -> Result<OpeningBook<G>, OpeningError> {
    let mut book = OpeningBook::empty();
    let mut seen = HashSet::new();
    for file in import::files(path, None)? {
        // Moves do not depend on the goal.
        for found in file.games(G::SHAPE, Goal::Most)? {
            let found = found?;
            match found.game.map(|game| first_moves::<G>(&game, plies as usize)) {
                Err(fault) => {
                    let problem = OpeningLineError::Game { file: file.path.clone(), fault };
                    book.bad_lines.note(found.number as usize, problem);
                }
                Ok(None) => book.too_short += 1,
                Ok(Some(_)) if seen.len() == MOST_OPENINGS => {}
                Ok(Some(opening)) => match seen.insert(opening.position.board.canonical()) {
                    true => book.openings.push(opening),
                    false => book.repeated += 1,
                },
            }
        }
    }
    if book.openings.is_empty() {
        return Err(OpeningError::NoGame { path: path.into(), board: G::SHAPE, plies });
    }
    let mut random = Xoshiro256PlusPlus::seed_from_u64(combine(&[seed, u64::from(plies)]));
    let count = count.clamp(1, book.openings.len());
    let (drawn, _) = book.openings.partial_shuffle(&mut random, count);
    book.openings = drawn.to_vec();
    Ok(book)
}

/// The first moves of a game from the board's own start, if a move is left after them.
fn first_moves<G: Geometry>(game: &Game, plies: usize) -> Option<Opening<G>> {
    let start = game.record.start::<G>().ok().filter(|&start| start == Position::start())?;
    let moves: Vec<_> = game.squares().take(plies).collect();
    let mut position = start;
    for &square in &moves {
        position = position.play(square)?.pass_if_forced();
    }
    let is_opening = moves.len() == plies && !position.board.legal().is_empty();
    is_opening.then_some(Opening { start, moves, position })
}

fn read_line<G: Geometry>(line: &str) -> Result<Opening<G>, OpeningLineError> {
    opening_of(text::read::<G>(line).map_err(Box::new)?)
}

fn opening_of<G: Geometry>(written: Written<G>) -> Result<Opening<G>, OpeningLineError> {
    let position = written.position();
    let opening = Opening { start: written.start.pass_if_forced(), moves: written.moves, position };
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
mod tests;
