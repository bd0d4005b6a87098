//! The library of games: search, the explorer of openings, and games that were played here.
//!
//! The index is opened by the first request that needs it. One request at a time uses it.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};
use std::time::{Duration, Instant};

use axum::extract::{Path, Request, State};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

use super::error::ApiError;
use super::explore;
use super::game::{Game, line};
use super::routes::{App, body};
use super::runs::reading;
use crate::game::record::{GameRecord, MoveRecord};
use crate::game::{Geometry, Square};
use crate::store::library::{self, Library, LibraryError, OwnGame, Query, Row, Sort, Winner};
use crate::store::with_causes;

/// How long a request waits for another one that uses the index.
const PATIENCE: Duration = Duration::from_secs(3);
/// How often it looks again.
const LOOK: Duration = Duration::from_millis(10);
/// The most games in an answer.
const MOST_ROWS: usize = 200;
/// The longest text of a query or name, in bytes.
const LONGEST_TEXT: usize = 400;
/// The most files that cannot be read in an answer.
const MOST_PROBLEMS: usize = 20;

/// The library that the page shows.
#[derive(Debug)]
pub(super) struct Shelf {
    folder: Option<PathBuf>,
    open: Mutex<Option<Library>>,
}

impl Shelf {
    pub fn new(folder: Option<PathBuf>) -> Shelf {
        Shelf { folder, open: Mutex::new(None) }
    }

    /// The folder of the games, and of what the user has learnt.
    pub fn folder(&self) -> Result<&PathBuf, ApiError> {
        let none = || ApiError::missing("this server has no library; start it with --library DIR");
        self.folder.as_ref().ok_or_else(none)
    }

    fn lock(&self) -> Result<MutexGuard<'_, Option<Library>>, ApiError> {
        let begun = Instant::now();
        loop {
            match self.open.try_lock() {
                Ok(open) => return Ok(open),
                Err(TryLockError::Poisoned(poisoned)) => return Ok(poisoned.into_inner()),
                Err(TryLockError::WouldBlock) if begun.elapsed() < PATIENCE => {
                    std::thread::sleep(LOOK);
                }
                Err(TryLockError::WouldBlock) => {
                    return Err(ApiError::busy("the games are being read; try again in a moment"));
                }
            }
        }
    }

    /// Does some work with the index. After an error it is opened anew.
    pub fn with<T>(
        &self,
        work: impl FnOnce(&mut Library) -> Result<T, LibraryError>,
    ) -> Result<T, ApiError> {
        let folder = self.folder()?;
        let mut open = self.lock()?;
        let mut library = match open.take() {
            Some(library) => library,
            None => Library::create(folder).map_err(|error| api_error(&error))?,
        };
        match work(&mut library) {
            Ok(answer) => {
                *open = Some(library);
                Ok(answer)
            }
            Err(error) => Err(api_error(&error)),
        }
    }
}

fn api_error(error: &LibraryError) -> ApiError {
    let message = with_causes(error);
    match error {
        LibraryError::NoGame { .. } => ApiError::missing(message),
        LibraryError::NotOwn { .. } => ApiError::bad(message),
        LibraryError::Busy { .. } => ApiError::busy(message),
        _ => ApiError::failed(message),
    }
}

/// The routes of the library.
pub(super) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/api/library", get(refresh))
        .route("/api/library/search", post(search))
        .route("/api/library/explore", post(explore::explore))
        .route("/api/library/keep", post(keep))
        .route("/api/library/games/{id}", get(game).delete(delete))
}

/// The state of the library, after a look at its files.
#[derive(Serialize)]
struct Refreshed {
    folder: String,
    games: u64,
    /// Games that break the rules or cannot be read.
    faults: u64,
    /// Files that cannot be read.
    problems: Vec<String>,
}

async fn refresh(State(app): State<Arc<App>>) -> Result<Json<Refreshed>, ApiError> {
    reading(move || {
        let changes = app.library.with(|library| library.refresh(|_, _| {}))?;
        let problems = changes.problems.into_iter().take(MOST_PROBLEMS);
        Ok(Json(Refreshed {
            folder: app.library.folder()?.to_string_lossy().into_owned(),
            games: changes.games,
            faults: changes.faults,
            problems: problems.map(|problem| problem.message).collect(),
        }))
    })
    .await
}

/// What is searched for. Empty texts are none.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Wanted {
    player: String,
    opponent: String,
    event: String,
    opening: String,
    years: Option<(i32, i32)>,
    winner: Option<Winner>,
    own: bool,
    sort: Sort,
    reversed: bool,
    skip: usize,
    most: usize,
    /// Only games that had the last position of this one.
    pub game: Option<Game>,
}

impl Wanted {
    pub fn query(&self) -> Result<Query, ApiError> {
        let text = |field: &str, text: &str| {
            if text.len() > LONGEST_TEXT {
                return Err(ApiError::bad("the text is too long")
                    .at(field)
                    .allowing(format!("at most {LONGEST_TEXT} bytes")));
            }
            Ok(Some(text.trim().to_owned()).filter(|text| !text.is_empty()))
        };
        Ok(Query {
            player: text("player", &self.player)?,
            opponent: text("opponent", &self.opponent)?,
            event: text("event", &self.event)?,
            opening: text("opening", &self.opening)?,
            years: self.years,
            scores: None,
            winner: self.winner,
            board: None,
            goal: None,
            is_own: self.own,
            sort: self.sort,
            reversed: self.reversed,
            skip: self.skip,
            most: self.most.min(MOST_ROWS),
        })
    }
}

#[derive(Serialize)]
struct Search {
    total: usize,
    games: Vec<Row>,
}

async fn search(State(app): State<Arc<App>>, request: Request) -> Result<Json<Search>, ApiError> {
    let wanted: Wanted = body(request).await?;
    let query = wanted.query()?;
    reading(move || {
        let found = match wanted.game {
            None => app.library.with(|library| library.search(&query))?,
            Some(game) => {
                let goal = game.goal()?;
                dispatch!(game.shape()?, G => {
                    let position = game.session::<G>()?.position();
                    app.library.with(|it| it.search_position(&query, position, goal))?
                })
            }
        };
        Ok(Json(Search { total: found.total, games: found.rows }))
    })
    .await
}

/// A game with what is known of it.
#[derive(Serialize)]
struct Whole {
    #[serde(flatten)]
    row: Row,
    game: Game,
}

async fn game(State(app): State<Arc<App>>, Path(id): Path<i64>) -> Result<Json<Whole>, ApiError> {
    reading(move || {
        let (row, record) = app.library.with(|library| library.game(id))?;
        let moves: Vec<Square> = record.moves.iter().map(|made| made.square).collect();
        let game = dispatch!(record.shape, G => {
            record.start::<G>().map(|start| Game::of::<G>(start, &moves, record.goal))
        });
        let game = game.map_err(|error| ApiError::failed(error.to_string()))?;
        Ok(Json(Whole { row, game }))
    })
    .await
}

async fn delete(State(app): State<Arc<App>>, Path(id): Path<i64>) -> Result<Json<()>, ApiError> {
    reading(move || app.library.with(|library| library.delete(id)).map(Json)).await
}

/// A game that was played on the page.
#[derive(Deserialize)]
struct Played {
    game: Game,
    black: String,
    white: String,
    /// Black's score if a side resigned or lost on time; that of the last position if it is left out.
    score: Option<i32>,
}

async fn keep(State(app): State<Arc<App>>, request: Request) -> Result<Json<()>, ApiError> {
    let played: Played = body(request).await?;
    reading(move || {
        let folder = app.library.folder()?;
        let Played { game, black, white, score } = played;
        if black.len().max(white.len()) > LONGEST_TEXT {
            let allowed = format!("at most {LONGEST_TEXT} bytes");
            return Err(ApiError::bad("the name is too long").at("black, white").allowing(allowed));
        }
        let record = dispatch!(game.shape()?, G => record::<G>(&game))?;
        let squares = record.shape.layout().squares as i32;
        if score.is_some_and(|score| score.abs() > squares) {
            let allowed = format!("-{squares} to {squares}");
            return Err(ApiError::bad("no game has this score").at("score").allowing(allowed));
        }
        let score = score.or(line(&game)?.score);
        let game = OwnGame { record, black, white, score, time: OffsetDateTime::now_utc() };
        library::keep(folder, &game).map_err(|error| api_error(&error)).map(Json)
    })
    .await
}

fn record<G: Geometry>(game: &Game) -> Result<GameRecord, ApiError> {
    let session = game.session::<G>()?;
    Ok(GameRecord {
        moves: session.moves().iter().copied().map(MoveRecord::of).collect(),
        ..GameRecord::begin(session.start(), game.goal()?, 0)
    })
}
