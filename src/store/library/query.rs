//! Searches a library.

use std::collections::{HashMap, HashSet};
use std::fmt::Display;

use rusqlite::types::Value;
use rusqlite::{OptionalExtension as _, Row as SqlRow, params_from_iter};
use serde::{Serialize, Serializer};

use super::blocks::Entry;
use super::sql::select;
use super::{Library, LibraryError, own};
use crate::choices::choices;
use crate::game::notation::parse_obf;
use crate::game::record::{GameRecord, MoveRecord, Source};
use crate::game::{Geometry, Goal, Position, Shape, Square};

choices! {
    /// Who won a game.
    pub enum Winner {
        /// Black.
        #[default]
        Black = "black",
        /// White.
        White = "white",
        /// Nobody.
        Draw = "draw",
        /// The player that is searched for; black without one.
        Player = "player",
        /// The player's opponent.
        Opponent = "opponent",
    }
}

choices! {
    /// In which order games come.
    pub enum Sort {
        /// By year, the newest first; games of one year in the order of their files, the newest
        /// first.
        #[default]
        Year = "year",
        /// By black's name.
        Black = "black",
        /// By white's name.
        White = "white",
        /// By event.
        Event = "event",
        /// By opening.
        Opening = "opening",
        /// By black's score, the greatest first.
        Score = "score",
    }
}

/// What is searched for: games that fit every field that is set. Texts fit names that have them, in
/// upper or lower case.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Query {
    /// A text in the name of one of the players.
    pub player: Option<String>,
    /// A text in the name of the other one, or of one without `player`.
    pub opponent: Option<String>,
    /// A text in the name of the event.
    pub event: Option<String>,
    /// A text in the name of the opening.
    pub opening: Option<String>,
    /// The first and last year.
    pub years: Option<(i32, i32)>,
    /// Black's least and greatest score.
    pub scores: Option<(i32, i32)>,
    /// Who won.
    pub winner: Option<Winner>,
    /// The board.
    pub board: Option<Shape>,
    /// The goal.
    pub goal: Option<Goal>,
    /// Only games that were played on the page.
    pub is_own: bool,
    /// The order.
    pub sort: Sort,
    /// The order turned round.
    pub reversed: bool,
    /// So many games are left out at the front.
    pub skip: usize,
    /// At most so many games are returned; 0 for none.
    pub most: usize,
}

impl Query {
    /// Whether every game fits.
    fn fits_all(&self) -> bool {
        let plain = Query {
            board: self.board,
            goal: self.goal,
            sort: self.sort,
            reversed: self.reversed,
            skip: self.skip,
            most: self.most,
            ..Query::default()
        };
        *self == plain
    }
}

/// A game of a library, and how lists of games are written.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Row {
    /// Its number in the index.
    pub id: i64,
    /// Its file, inside the folder.
    pub file: String,
    /// Its number in the file, or of its line, counted from 1.
    pub number: i64,
    /// The board.
    #[serde(serialize_with = "by_name")]
    pub board: Shape,
    /// The goal.
    #[serde(serialize_with = "by_name")]
    pub goal: Goal,
    /// Black's name.
    pub black: Option<String>,
    /// White's name.
    pub white: Option<String>,
    /// The event.
    pub event: Option<String>,
    /// The opening.
    pub opening: Option<String>,
    /// The date, or the year.
    pub date: Option<String>,
    /// Black's final score under the goal.
    pub score: Option<i32>,
    /// Whether the game was played to its end.
    #[serde(rename = "finished")]
    pub is_finished: bool,
    /// Whether it was played on the page.
    #[serde(rename = "own")]
    pub is_own: bool,
}

fn by_name<S: Serializer>(value: &impl Display, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(value)
}

/// What a search found.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Found {
    /// All games that fit.
    pub total: usize,
    /// Those that were asked for.
    pub rows: Vec<Row>,
}

const COLUMNS: &str = "
    SELECT g.id, f.path, g.number, g.board, g.goal, b.text, w.text, e.text, o.text,
        coalesce(g.date, g.year), g.score, g.finished
    FROM games g JOIN files f ON f.id = g.file
    LEFT JOIN names b ON b.id = g.black LEFT JOIN names w ON w.id = g.white
    LEFT JOIN names e ON e.id = g.event LEFT JOIN names o ON o.id = g.opening
    WHERE g.id = ?";

impl Library {
    /// The games that fit a query.
    ///
    /// # Errors
    ///
    /// The index cannot be read.
    pub fn search(&self, query: &Query) -> Result<Found, LibraryError> {
        let numbers = self.numbers(query)?;
        self.page(query, &numbers)
    }

    /// The games that fit a query and had a position, or an image of it under a symmetry of the
    /// board.
    ///
    /// # Errors
    ///
    /// The index cannot be read.
    pub fn search_position<G: Geometry>(
        &self,
        query: &Query,
        position: Position<G>,
        goal: Goal,
    ) -> Result<Found, LibraryError> {
        let with = self.with_position(position, goal)?;
        let mut numbers = self.numbers(query)?;
        numbers.retain(|id| with.binary_search(id).is_ok());
        self.page(query, &numbers)
    }

    /// The games that fit a query, for [`Library::explore`]; `None` if all do.
    ///
    /// # Errors
    ///
    /// The index cannot be read.
    pub fn among(&self, query: &Query) -> Result<Option<HashSet<i64>>, LibraryError> {
        if query.fits_all() {
            return Ok(None);
        }
        Ok(Some(self.numbers(query)?.into_iter().collect()))
    }

    /// A game: what is known of it, and its start and moves.
    ///
    /// # Errors
    ///
    /// There is no such game, or the index cannot be read.
    pub fn game(&self, id: i64) -> Result<(Row, GameRecord), LibraryError> {
        let row = self.row(id)?;
        let select = "SELECT b.bytes, g.at, g.start FROM games g \
                      JOIN blocks b ON b.id = g.block WHERE g.id = ?";
        let found = self.database.query_row(select, [id], |found| {
            let at = usize::try_from(found.get::<_, i64>(1)?).unwrap_or(usize::MAX);
            let entry = found.get_ref(0)?.as_blob()?.get(at..).and_then(Entry::split);
            let moves = entry.map(|(entry, _)| entry.moves.to_vec());
            Ok((moves, found.get::<_, Option<String>>(2)?))
        });
        let (moves, start) = found.map_err(|error| self.fault(error))?;
        let damaged = || LibraryError::Damaged {
            path: self.index.clone(),
            message: format!("the moves of game {id} are wrong"),
        };
        let record =
            dispatch!(row.board, G => record::<G>(&row, moves.as_deref(), start.as_deref()));
        Ok((row, record.ok_or_else(damaged)?))
    }

    /// A finished game of a board and goal: that of a number, or the next one. `None` if there is
    /// none.
    ///
    /// # Errors
    ///
    /// The index cannot be read.
    pub fn finished_game(
        &self,
        (shape, goal): (Shape, Goal),
        number: u64,
    ) -> Result<Option<(Row, GameRecord)>, LibraryError> {
        let find = || {
            let greatest: i64 =
                self.database
                    .query_row("SELECT coalesce(max(id), 0) FROM games", [], |row| row.get(0))?;
            let from = (number % (greatest.unsigned_abs() + 1)) as i64;
            let select = "SELECT id FROM games WHERE finished = 1 AND board = ? AND goal = ? \
                          ORDER BY id < ?, id LIMIT 1";
            let mut statement = self.database.prepare_cached(select)?;
            let values = rusqlite::params![shape.name(), goal.name(), from];
            statement.query_row(values, |row| row.get(0)).optional()
        };
        let found: Option<i64> = find().map_err(|error| self.fault(error))?;
        found.map(|id| self.game(id)).transpose()
    }

    fn row(&self, id: i64) -> Result<Row, LibraryError> {
        let mut statement =
            self.database.prepare_cached(COLUMNS).map_err(|error| self.fault(error))?;
        let found = statement.query_row([id], row).optional();
        found.map_err(|error| self.fault(error))?.ok_or(LibraryError::NoGame { id })
    }

    fn page(&self, query: &Query, numbers: &[i64]) -> Result<Found, LibraryError> {
        let wanted = numbers.iter().skip(query.skip).take(query.most);
        let rows = wanted.map(|&id| self.row(id)).collect::<Result<_, _>>()?;
        Ok(Found { total: numbers.len(), rows })
    }

    /// The places of the names in their order.
    fn ranks(&self) -> rusqlite::Result<HashMap<i64, usize>> {
        let select = "SELECT id FROM names ORDER BY folded, id";
        let mut statement = self.database.prepare_cached(select)?;
        let names = statement.query_map([], |row| row.get(0))?;
        names.zip(0..).map(|(id, rank)| Ok((id?, rank))).collect()
    }

    /// The numbers of the games that fit, in the query's order.
    fn numbers(&self, query: &Query) -> Result<Vec<i64>, LibraryError> {
        let (sql, values) = select(query);
        let read = || {
            let mut statement = self.database.prepare_cached(&sql)?;
            let pair = |row: &SqlRow<'_>| Ok((row.get(0)?, row.get(1)?));
            let found = statement.query_map(params_from_iter(values), pair)?;
            let mut found = found.collect::<rusqlite::Result<Vec<(i64, Option<i64>)>>>()?;
            if !matches!(query.sort, Sort::Year | Sort::Score) {
                let ranks = self.ranks()?;
                // Games without a name are the last ones; the sort keeps the order of the others.
                let rank = |name: Option<i64>| ranks.get(&name?).copied();
                found.sort_by_key(|&(_, name)| rank(name).unwrap_or(usize::MAX));
            }
            Ok(found.into_iter().map(|(id, _)| id).collect::<Vec<i64>>())
        };
        let mut numbers = read().map_err(|error| self.fault(error))?;
        if query.reversed {
            numbers.reverse();
        }
        Ok(numbers)
    }
}

fn row(row: &SqlRow<'_>) -> rusqlite::Result<Row> {
    let name = |index| row.get::<_, String>(index);
    let file = name(1)?;
    let unknown = |index, error: String| {
        let kind = rusqlite::types::Type::Text;
        rusqlite::Error::FromSqlConversionFailure(index, kind, error.into())
    };
    let date: Value = row.get(9)?;
    Ok(Row {
        id: row.get(0)?,
        is_own: own::is_own(&file),
        file,
        number: row.get(2)?,
        board: name(3)?.parse().map_err(|error| unknown(3, format!("{error}")))?,
        goal: name(4)?.parse().map_err(|error| unknown(4, format!("{error}")))?,
        black: row.get(5)?,
        white: row.get(6)?,
        event: row.get(7)?,
        opening: row.get(8)?,
        date: match date {
            Value::Text(date) => Some(date),
            Value::Integer(year) => Some(year.to_string()),
            _ => None,
        },
        score: row.get(10)?,
        is_finished: row.get(11)?,
    })
}

/// The record of a game; `None` if it breaks the rules.
fn record<G: Geometry>(row: &Row, moves: Option<&[u8]>, start: Option<&str>) -> Option<GameRecord> {
    let start = match start {
        Some(line) => parse_obf::<G>(line).ok()?.position,
        None => Position::start(),
    };
    let moves = moves?.iter().map(|&square| MoveRecord::of(Square(square)));
    let record = GameRecord {
        source: Source::Import,
        moves: moves.collect(),
        score: row.score.unwrap_or_default() as i16,
        ..GameRecord::begin(start, row.goal, 0)
    };
    let is_square = |made: &MoveRecord| usize::from(made.square.0) < G::SQUARES;
    (record.moves.iter().all(is_square) && record.replay::<G>().is_ok()).then_some(record)
}
