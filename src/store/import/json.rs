//! This program's own text format: a game with all that is known about it, as JSON on one line.
//!
//! A line that [`line()`] wrote is read as the same game, and the game gives the same line.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{Fault, Found, Game, Games, ImportError, name};
use crate::game::notation::{NotationError, obf, parse_obf, parse_transcript, transcript};
use crate::game::record::{GameRecord, MoveRecord, RecordError, UnknownSource, is_worker_name};
use crate::game::{Geometry, Goal, Position, Shape, UnknownGoal, UnknownShape};
use crate::store::files::{Action, FileError};
use crate::store::lines::Lines;

const VERSION: u32 = 1;

/// Why a line is no game.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum LineFault {
    /// It is no object of JSON with these members.
    #[error("not a game in JSON: {0}")]
    Json(Box<str>),
    /// It has another version.
    #[error("the line has version {found}, this program reads version {VERSION}")]
    Version {
        /// The version.
        found: u32,
    },
    /// The board is unknown.
    #[error(transparent)]
    Board(#[from] UnknownShape),
    /// The goal is unknown.
    #[error("goal: {0}")]
    Goal(UnknownGoal),
    /// The source is unknown.
    #[error("source: {0}")]
    Source(UnknownSource),
    /// The start is no position.
    #[error("start: {0}")]
    Start(NotationError),
    /// The moves are no transcript.
    #[error(transparent)]
    Moves(NotationError),
    /// A list has not one element for each move.
    #[error("`{list}` has {found} elements for {moves} moves")]
    Length {
        /// The list.
        list: &'static str,
        /// Its elements.
        found: usize,
        /// The moves.
        moves: usize,
    },
    /// A member has a value that it may not have.
    #[error("{member} is not allowed: {allowed}")]
    Member {
        /// The member.
        member: &'static str,
        /// What it may be.
        allowed: &'static str,
    },
    /// The game breaks the rules.
    #[error(transparent)]
    Record(#[from] RecordError),
}

impl LineFault {
    /// Whether the game breaks the rules. Otherwise the line is no game.
    pub(super) fn is_illegal(&self) -> bool {
        match self {
            LineFault::Moves(error) => matches!(
                error,
                NotationError::IllegalMove { .. } | NotationError::IllegalPass { .. }
            ),
            LineFault::Record(_) => true,
            _ => false,
        }
    }
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// The members of a line. Those with a usual value are left out.
#[derive(Serialize, Deserialize)]
struct Line {
    version: u32,
    id: u64,
    source: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    worker: Option<Box<str>>,
    board: String,
    goal: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    black: Option<Box<str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    white: Option<Box<str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    date: Option<Box<str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    event: Option<Box<str>>,
    #[serde(default, skip_serializing_if = "is_default")]
    net_version: u32,
    #[serde(default, skip_serializing_if = "is_default")]
    opening_moves: u16,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    start: Option<String>,
    moves: String,
    score: Option<i16>,
    #[serde(default, skip_serializing_if = "is_default")]
    resigned: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    stated: Option<i16>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    values: Vec<Option<f32>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    exact: Vec<Option<i8>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    policies: Vec<Vec<u16>>,
}

/// A game as a line of JSON, without the end of the line.
pub fn line(game: &Game) -> String {
    let line = dispatch!(game.record.shape, G => members::<G>(game));
    // A struct of numbers, texts and lists is always JSON.
    serde_json::to_string(&line).unwrap_or_default()
}

fn members<G: Geometry>(game: &Game) -> Line {
    let record = &game.record;
    let moves = &record.moves;
    let list = |is_known: bool| if is_known { moves.as_slice() } else { &[] };
    let start = record.start::<G>().ok().filter(|&start| start != Position::start());
    Line {
        version: VERSION,
        id: record.id,
        source: record.source.name().into(),
        worker: record.worker.clone(),
        board: record.shape.name().into(),
        goal: record.goal.name().into(),
        black: game.black.clone(),
        white: game.white.clone(),
        date: game.date.clone(),
        event: game.event.clone(),
        net_version: record.net_version,
        opening_moves: record.opening_moves,
        start: start.map(obf),
        moves: transcript::<G>(game.squares()),
        score: game.score(),
        resigned: record.resigned,
        stated: game.stated,
        values: list(moves.iter().any(|played| played.value.is_some()))
            .iter()
            .map(|played| played.value)
            .collect(),
        exact: list(moves.iter().any(|played| played.exact.is_some()))
            .iter()
            .map(|played| played.exact)
            .collect(),
        policies: list(moves.iter().any(|played| !played.policy.is_empty()))
            .iter()
            .map(|played| played.policy.clone())
            .collect(),
    }
}

/// The games of a file.
pub(super) fn games(path: &Path) -> Result<Games, ImportError> {
    let file = File::open(path).map_err(FileError::at(Action::Read, path))?;
    let path = path.to_path_buf();
    let games = Lines::new(BufReader::new(file)).map(move |line| {
        let line = line.map_err(FileError::at(Action::Read, &path))?;
        let game = line.text.map_err(Fault::from).and_then(|text| Ok(parse(&text)?));
        Ok(Found { number: line.number as u64, game })
    });
    Ok(Box::new(games))
}

/// Reads a line.
///
/// # Errors
///
/// It is no game, or the game breaks the rules.
///
/// ```
/// use std::path::Path;
///
/// use outflank::game::{Goal, Shape};
/// use outflank::store::import::{self, json};
///
/// let files = import::files(Path::new("tests/data/run-1"), None)?;
/// let found = files[0].games(Shape::Square6, Goal::Most)?.next().expect("a game")?;
/// let game = found.game?;
/// assert_eq!(json::parse(&json::line(&game))?.record, game.record);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn parse(line: &str) -> Result<Game, LineFault> {
    let line: Line =
        serde_json::from_str(line).map_err(|error| LineFault::Json(error.to_string().into()))?;
    if line.version != VERSION {
        return Err(LineFault::Version { found: line.version });
    }
    let shape: Shape = line.board.parse()?;
    dispatch!(shape, G => read::<G>(line))
}

fn read<G: Geometry>(line: Line) -> Result<Game, LineFault> {
    let goal: Goal = line.goal.parse().map_err(LineFault::Goal)?;
    let start = match &line.start {
        Some(text) => parse_obf::<G>(text).map_err(LineFault::Start)?.position,
        None => Position::start(),
    };
    let (squares, last) = parse_transcript::<G>(&line.moves, start).map_err(LineFault::Moves)?;
    check_members(&line, G::SQUARES as i16, squares.len(), last.board.is_over())?;
    let mut record = GameRecord {
        source: line.source.parse().map_err(LineFault::Source)?,
        worker: line.worker,
        net_version: line.net_version,
        opening_moves: line.opening_moves,
        moves: squares.into_iter().map(MoveRecord::of).collect(),
        score: line.score.unwrap_or_default(),
        resigned: line.resigned,
        ..GameRecord::begin(start, goal, line.id)
    };
    for (played, value) in record.moves.iter_mut().zip(line.values) {
        played.value = value;
    }
    for (played, exact) in record.moves.iter_mut().zip(line.exact) {
        played.exact = exact;
    }
    for (played, policy) in record.moves.iter_mut().zip(line.policies) {
        played.policy = policy;
    }
    Ok(Game {
        black: named("black", line.black)?,
        white: named("white", line.white)?,
        date: named("date", line.date)?,
        event: named("event", line.event)?,
        ..Game::checked(record)?.with_stated(line.stated)
    })
}

/// Checks what the rules do not: the worker, the lengths of the lists, and the scores.
fn check_members(line: &Line, most: i16, moves: usize, is_over: bool) -> Result<(), LineFault> {
    let refused = |member, allowed| Err(LineFault::Member { member, allowed });
    if line.worker.as_deref().is_some_and(|worker| !is_worker_name(worker)) {
        return refused("worker", "1 to 32 of a to z, 0 to 9 and -");
    }
    for (list, found) in [
        ("values", line.values.len()),
        ("exact", line.exact.len()),
        ("policies", line.policies.len()),
    ] {
        if found != 0 && found != moves {
            return Err(LineFault::Length { list, found, moves });
        }
    }
    let fits = |score: i16| (-most..=most).contains(&score);
    if !line.exact.iter().flatten().all(|&score| fits(score.into()))
        || !line.score.is_none_or(fits)
        || !line.stated.is_none_or(fits)
    {
        return refused("a score", "at most the number of squares");
    }
    match line.score {
        None if is_over || line.resigned => {
            refused("score", "a number where the game is over or a side resigned")
        }
        Some(_) if !is_over && !line.resigned => Err(RecordError::Unfinished.into()),
        _ => Ok(()),
    }
}

/// A text that [`name`] leaves as it is.
fn named(member: &'static str, text: Option<Box<str>>) -> Result<Option<Box<str>>, LineFault> {
    match &text {
        Some(given) if name(given.as_bytes()) != text => {
            let allowed = "a text without control characters and without blanks at its ends";
            Err(LineFault::Member { member, allowed })
        }
        _ => Ok(text),
    }
}
