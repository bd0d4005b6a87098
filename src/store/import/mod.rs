//! Games of any source: runs, archives, other programs, and files that this program wrote.
//!
//! [`files`] finds the files of a path, and [`GameFile::games`] reads one of them game by game. A
//! file of any length takes little memory. A game that cannot be used is a [`Fault`] of that game
//! only, so that callers can count and name it.

mod fault;
mod ggf;
pub mod json;
pub mod names;
mod pgn;
pub mod text;
mod transcripts;
pub mod wthor;

use std::fs;
use std::path::{Path, PathBuf};

use super::files::{Action, FileError};
use super::games::{self, GamesError, ReadError};
use super::lines::shortened;
use super::run_dir::{self, GAMES};
use crate::choices::choices;
use crate::game::record::{GameRecord, RecordError};
use crate::game::{Goal, Shape, Square};
pub use fault::Fault;
pub use ggf::{ggf_games, on_any_board};
use names::NamesError;
pub use transcripts::NO_MOVES;
use wthor::WthorError;

/// Why a source of games is not read at all.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The operating system reported an error.
    #[error(transparent)]
    File(#[from] FileError),
    /// Games of a run cannot be read.
    #[error(transparent)]
    Games(#[from] GamesError),
    /// A file of WTHOR cannot be read.
    #[error(transparent)]
    Wthor(#[from] WthorError),
    /// A list of WTHOR's names cannot be read.
    #[error(transparent)]
    Names(#[from] NamesError),
    /// A folder has no games.
    #[error(
        "{} holds no games; allowed: a run directory, its `games`, or files with the endings .wtb, \
         .ggf, .json, .jsonl and .txt",
        path.display()
    )]
    NoGames {
        /// The folder.
        path: PathBuf,
    },
    /// A format was named for a run.
    #[error("{} is a folder of a run's games, not of the format {format}", path.display())]
    NotOfFormat {
        /// The folder.
        path: PathBuf,
        /// The format.
        format: Format,
    },
}

choices! {
    /// A format of files that are read.
    pub enum Format {
        /// Files of the WTHOR archive.
        Wthor = "wthor",
        /// The Generic Game Format.
        Ggf = "ggf",
        /// This program's own lines of JSON.
        Json = "json",
        /// A transcript on each line.
        #[default]
        Transcript = "transcript",
    }
}

/// How a game ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ending {
    /// No side has a move.
    Finished,
    /// A side resigned; the score is an estimate.
    Resigned,
    /// The moves end before the game does. The record's score is 0 and means nothing.
    Unfinished,
}

/// A game that keeps the rules, with what its source says about it.
#[derive(Clone, PartialEq, Debug)]
pub struct Game {
    /// The moves and, unless the game is unfinished, its score.
    pub record: GameRecord,
    /// How the game ends.
    pub ending: Ending,
    /// Black's name. No name has control characters.
    pub black: Option<Box<str>>,
    /// White's name.
    pub white: Option<Box<str>>,
    /// The date, which begins with the year if that is known.
    pub date: Option<Box<str>>,
    /// The tournament or the place.
    pub event: Option<Box<str>>,
    /// Black's final score as the source has it, if it has one that is not the score by the rules.
    pub stated: Option<i16>,
    /// How the source says that the game ended early, as [`ggf::Header::ended`](super::ggf::Header).
    pub ended: Option<char>,
}

impl Game {
    /// A game by its record, whose moves are replayed.
    ///
    /// # Errors
    ///
    /// A move breaks the rules, or the score is wrong.
    fn checked(record: GameRecord) -> Result<Game, RecordError> {
        let ending = match dispatch!(record.shape, G => record.positions::<G>().map(|_| ())) {
            Ok(()) if record.resigned => Ending::Resigned,
            Ok(()) => Ending::Finished,
            Err(RecordError::Unfinished) => Ending::Unfinished,
            Err(error) => return Err(error),
        };
        Ok(Game::plain(record, ending))
    }

    fn plain(mut record: GameRecord, ending: Ending) -> Game {
        if ending == Ending::Unfinished {
            record.score = 0;
        }
        Game {
            record,
            ending,
            black: None,
            white: None,
            date: None,
            event: None,
            stated: None,
            ended: None,
        }
    }

    /// Black's final score; `None` if the game is unfinished.
    pub fn score(&self) -> Option<i16> {
        (self.ending != Ending::Unfinished).then_some(self.record.score)
    }

    /// The year: a date of four digits, or one that begins with them.
    pub fn year(&self) -> Option<u16> {
        let date = self.date.as_deref()?;
        let digits = date.split(|letter: char| !letter.is_ascii_digit()).next()?;
        (digits.len() == 4).then(|| digits.parse().ok())?
    }

    /// The squares played.
    pub fn squares(&self) -> impl Iterator<Item = Square> {
        self.record.moves.iter().map(|played| played.square)
    }

    /// Notes the score that the source has for black, if it is not the score by the rules. One that
    /// no game on the board has is left out.
    fn with_stated(mut self, stated: Option<i16>) -> Game {
        let most = self.record.shape.layout().squares as u16;
        let is_score = |stated: i16| stated.unsigned_abs() <= most && self.score() != Some(stated);
        self.stated = stated.filter(|&stated| is_score(stated));
        self
    }
}

/// A game of a file, or why it is not used.
#[derive(Debug)]
pub struct Found {
    /// The number of the game in its file, or of its line, counted from 1.
    pub number: u64,
    /// The game.
    pub game: Result<Game, Fault>,
}

impl Found {
    /// The game if it has an end: a shortened text of why it cannot be learnt from, and whether it is
    /// unfinished, if not.
    pub fn whole_game(&self) -> Result<&Game, (String, bool)> {
        match &self.game {
            Ok(game) if game.ending != Ending::Unfinished => Ok(game),
            Ok(game) => Err((format!("unfinished after move {}", game.record.moves.len()), true)),
            Err(fault) => Err((shortened(fault), false)),
        }
    }
}

/// The games of a file in their order. An error ends it.
pub type Games = Box<dyn Iterator<Item = Result<Found, ImportError>>>;

/// A file, or a folder of a run, with games of one format.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GameFile {
    /// Its path.
    pub path: PathBuf,
    /// Its format; `None` for the games of a run.
    pub format: Option<Format>,
}

impl GameFile {
    /// Reads the games. Transcripts do not name their game: they are of `shape` and `goal`.
    ///
    /// # Errors
    ///
    /// The file cannot be opened, or is not of its format.
    pub fn games(&self, shape: Shape, goal: Goal) -> Result<Games, ImportError> {
        match self.format {
            None => run(&self.path),
            Some(Format::Wthor) => wthor::games(&self.path),
            Some(Format::Ggf) => ggf::games(&self.path),
            Some(Format::Json) => json::games(&self.path),
            Some(Format::Transcript) => transcripts::games(&self.path, shape, goal),
        }
    }

    /// What a number of [`Found`] counts: games, or the lines of the file.
    pub fn unit(&self) -> &'static str {
        match self.format {
            None | Some(Format::Wthor | Format::Ggf) => "game",
            Some(Format::Json | Format::Transcript) => "line",
        }
    }
}

/// The files of a path: the games of a run, the files with known endings in a folder, or the path
/// itself. A file's format is `format`, or follows from its ending; unknown endings are transcripts.
///
/// # Errors
///
/// The path cannot be read, or is a folder without games.
///
/// ```
/// use std::path::Path;
///
/// use outflank::game::{Goal, Shape};
/// use outflank::store::import;
///
/// // A run, a folder of files, or one file: transcripts, GGF, PGN, WTHOR or JSON.
/// let mut scores = Vec::new();
/// for file in import::files(Path::new("tests/data/run-1"), None)? {
///     for found in file.games(Shape::Square6, Goal::Most)? {
///         scores.extend(found?.game?.score());
///     }
/// }
/// assert_eq!(scores.len(), 24);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn files(path: &Path, format: Option<Format>) -> Result<Vec<GameFile>, ImportError> {
    let at = FileError::at(Action::Read, path);
    let is_folder = fs::metadata(path).map_err(at)?.is_dir();
    if !is_folder {
        let format = format.or_else(|| format_of(path)).unwrap_or_default();
        return Ok(vec![GameFile { path: path.to_path_buf(), format: Some(format) }]);
    }
    if run_dir::is_run(path)? {
        return a_run(path.join(GAMES), format);
    }
    let mut paths = Vec::new();
    for entry in fs::read_dir(path).map_err(FileError::at(Action::Read, path))? {
        paths.push(entry.map_err(FileError::at(Action::Read, path))?.path());
    }
    if paths.iter().any(|path| has_ending(path, "ofg")) {
        return a_run(path.to_path_buf(), format);
    }
    paths.sort();
    let file = |path: PathBuf| {
        let found = format_of(&path).filter(|&found| format.is_none_or(|wanted| wanted == found));
        found.map(|found| GameFile { path, format: Some(found) })
    };
    let found: Vec<_> = paths.into_iter().filter_map(file).collect();
    match found.is_empty() {
        true => Err(ImportError::NoGames { path: path.to_path_buf() }),
        false => Ok(found),
    }
}

fn a_run(path: PathBuf, format: Option<Format>) -> Result<Vec<GameFile>, ImportError> {
    match format {
        None => Ok(vec![GameFile { path, format: None }]),
        Some(format) => Err(ImportError::NotOfFormat { path, format }),
    }
}

fn has_ending(path: &Path, ending: &str) -> bool {
    path.extension().is_some_and(|found| found.eq_ignore_ascii_case(ending))
}

fn format_of(path: &Path) -> Option<Format> {
    let endings = [
        ("wtb", Format::Wthor),
        ("ggf", Format::Ggf),
        ("json", Format::Json),
        ("jsonl", Format::Json),
        ("txt", Format::Transcript),
        ("pgn", Format::Transcript),
    ];
    endings.into_iter().find_map(|(ending, format)| has_ending(path, ending).then_some(format))
}

/// The games of a run.
fn run(dir: &Path) -> Result<Games, ImportError> {
    let games = games::read_all(dir)?.zip(1..).map(|(record, number)| {
        let game = match record {
            Ok(record) => Game::checked(record).map_err(Fault::from),
            Err(ReadError::Skipped(record)) => Err(record.into()),
            Err(ReadError::File(error)) => return Err(error.into()),
        };
        Ok(Found { number, game })
    });
    Ok(Box::new(games))
}

/// A text of a file as a name: without control characters, without blanks at its ends, and not
/// empty. Bytes that are not UTF-8 are read as Latin-1, which old archives use.
fn name(bytes: &[u8]) -> Option<Box<str>> {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => bytes.iter().map(|&byte| char::from(byte)).collect(),
    };
    let plain = text.replace(char::is_control, " ");
    Some(plain.trim()).filter(|name| !name.is_empty()).map(Box::from)
}

#[cfg(test)]
pub(super) mod tests;
