//! Lessons: mistakes and puzzles that are asked until they are right twice, and new puzzles from the
//! games of the library.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use axum::extract::{Path, Request, State};
use axum::routing::{delete, get, post};
use axum::{Json, Router};
use serde::{Deserialize, Serialize};
use tokio::sync::oneshot;

use super::engines::{Engine, EngineError, Engines, Running};
use super::error::ApiError;
use super::game::Game;
use super::library::Shelf;
use super::routes::{App, body};
use super::runs::reading;
use crate::game::notation::{plain_excerpt, square_name};
use crate::game::record::GameRecord;
use crate::game::{Geometry, Goal, Position, Shape, Square};
use crate::players::control::{Control, Effort};
use crate::players::levels::LEVELS;
use crate::players::player::combine;
use crate::players::spec::{PlayerKind, ThinkingLimit};
use crate::search::endgame::Solver;
use crate::search::stop::Stop;
use crate::store::lessons::{self, Kind, Lesson, Lessons, LessonsError, MoveValue};
use crate::store::library::Row;
use crate::store::with_causes;

/// The allowed numbers of empty squares of a puzzle.
const EMPTIES: std::ops::RangeInclusive<u32> = 6..=16;
/// The longest search for a puzzle.
const TIME: Duration = Duration::from_secs(20);
/// Positions that are solved before the search is given up.
const TRIED: u64 = 200;
/// Bytes of the solver's table.
const TABLE_BYTES: usize = 16 << 20;
/// The most lessons that a request adds.
const MOST_ADDED: usize = 100;
/// The longest text of a lesson, in characters.
const LONGEST_TEXT: usize = 200;

/// The routes of lessons.
pub(super) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/api/lessons", get(list).post(add))
        .route("/api/lessons/puzzle", post(puzzle))
        .route("/api/lessons/{id}/answer", post(answer))
        .route("/api/lessons/{id}", delete(remove))
}

fn api_error(error: &LessonsError) -> ApiError {
    let message = with_causes(error);
    match error {
        LessonsError::Missing { .. } => ApiError::missing(message),
        LessonsError::TooMany => ApiError::bad(message),
        LessonsError::Busy { .. } => ApiError::busy(message),
        _ => ApiError::failed(message),
    }
}

fn file(app: &App) -> Result<PathBuf, ApiError> {
    Ok(app.library.folder()?.join(lessons::LESSONS))
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

/// A lesson with its state.
#[derive(Serialize)]
struct Listed {
    #[serde(flatten)]
    lesson: Lesson,
    due: bool,
    learnt: bool,
}

#[derive(Serialize)]
struct All {
    lessons: Vec<Listed>,
}

async fn list(State(app): State<Arc<App>>) -> Result<Json<All>, ApiError> {
    reading(move || {
        let all = Lessons::read(&file(&app)?).map_err(|error| api_error(&error))?;
        let now = now();
        let listed =
            |lesson: Lesson| Listed { due: lesson.is_due(now), learnt: lesson.is_learnt(), lesson };
        Ok(Json(All { lessons: all.items.into_iter().map(listed).collect() }))
    })
    .await
}

#[derive(Deserialize)]
struct New {
    lessons: Vec<Lesson>,
}

#[derive(Serialize)]
struct Added {
    added: usize,
}

async fn add(State(app): State<Arc<App>>, request: Request) -> Result<Json<Added>, ApiError> {
    let New { lessons } = body(request).await?;
    if lessons.len() > MOST_ADDED {
        let allowed = format!("at most {MOST_ADDED}");
        return Err(ApiError::bad("too many lessons at once").at("lessons").allowing(allowed));
    }
    reading(move || {
        let checked: Vec<Lesson> = lessons.into_iter().map(checked).collect::<Result<_, _>>()?;
        let added = lessons::change(&file(&app)?, |all| all.add(checked));
        Ok(Json(Added { added: added.map_err(|error| api_error(&error))? }))
    })
    .await
}

/// A lesson whose position and moves are right.
fn checked(lesson: Lesson) -> Result<Lesson, ApiError> {
    let game = Game {
        board: lesson.board.as_str().into(),
        goal: lesson.goal.as_str().into(),
        start: lesson.start.as_deref().map(Box::from),
        moves: lesson.moves.as_str().into(),
    };
    game.goal()?;
    dispatch!(game.shape()?, G => {
        let position = game.session::<G>()?.position();
        let legal: Vec<String> = position.board.legal().map(square_name::<G>).collect();
        let moves = lesson.values.iter().map(|value| &value.name).chain(&lesson.played);
        if let Some(wrong) = moves.into_iter().find(|name| !legal.contains(name)) {
            return Err(ApiError::bad(format!("`{}` is no move here", plain_excerpt(wrong, 10)))
                .at("values, played")
                .allowing(legal.join(" ")));
        }
    });
    if lesson.values.is_empty() || lesson.values.iter().any(|value| !value.score.is_finite()) {
        return Err(ApiError::bad("a lesson needs a best move with a score").at("values"));
    }
    let mut lesson = lesson;
    lesson.values.sort_by(|one, other| other.score.total_cmp(&one.score));
    lesson.source = plain_excerpt(&lesson.source, LONGEST_TEXT).to_string();
    Ok(lesson)
}

#[derive(Deserialize)]
struct Answer {
    right: bool,
}

/// What is left of a lesson after an answer.
#[derive(Serialize)]
struct Answered {
    right: u32,
    learnt: bool,
}

async fn answer(
    State(app): State<Arc<App>>,
    Path(id): Path<u64>,
    request: Request,
) -> Result<Json<Answered>, ApiError> {
    let Answer { right } = body(request).await?;
    reading(move || {
        let answered = lessons::change(&file(&app)?, |all| {
            let lesson = all.answer(id, right, now())?;
            Ok(Answered { right: lesson.right, learnt: lesson.is_learnt() })
        });
        answered.map_err(|error| api_error(&error)).map(Json)
    })
    .await
}

async fn remove(State(app): State<Arc<App>>, Path(id): Path<u64>) -> Result<Json<()>, ApiError> {
    reading(move || {
        let removed = lessons::change(&file(&app)?, |all| all.remove(id));
        removed.map_err(|error| api_error(&error)).map(Json)
    })
    .await
}

/// Which puzzle is wanted.
#[derive(Deserialize)]
struct Wanted {
    #[serde(flatten)]
    game: Game,
    /// Empty squares.
    empties: u32,
    /// The same seed and library give the same puzzle.
    #[serde(default)]
    seed: Option<u64>,
}

/// A position of a game of the library with one winning move. It is not added.
async fn puzzle(State(app): State<Arc<App>>, request: Request) -> Result<Json<Lesson>, ApiError> {
    let wanted: Wanted = body(request).await?;
    if !EMPTIES.contains(&wanted.empties) {
        let allowed = format!("{} to {}", EMPTIES.start(), EMPTIES.end());
        return Err(ApiError::bad("no such puzzle").at("empties").allowing(allowed));
    }
    let (shape, goal) = (wanted.game.shape()?, wanted.game.goal()?);
    let seed = wanted.seed.unwrap_or_else(|| {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        combine(&[since.as_secs(), since.subsec_nanos().into()])
    });
    let place = app.engines.place().await?;
    let running = Running::for_at_most(TIME);
    let stop = running.stop.clone();
    let (sender, receiver) = oneshot::channel();
    let maker = Maker { app: app.clone(), goal, empties: wanted.empties, seed, stop };
    let work = move || dispatch!(shape, G => maker.puzzle::<G>());
    place.use_for(work, move |result| drop(sender.send(result)))?;
    receiver.await.map_err(|_| ApiError::failed("the search failed"))?.map(Json)
}

/// Looks for a puzzle.
struct Maker {
    app: Arc<App>,
    goal: Goal,
    empties: u32,
    seed: u64,
    stop: Stop,
}

impl Maker {
    fn puzzle<G: Geometry>(&self) -> Result<Lesson, ApiError> {
        let mut solver = Solver::<G>::new(self.goal, TABLE_BYTES);
        solver.set_stop(self.stop.clone());
        let mut seen = HashSet::new();
        for number in 0..TRIED {
            if self.stop.is_set() {
                break;
            }
            let random = combine(&[self.seed, number]);
            let Some((row, record)) = some_game(&self.app.library, (G::SHAPE, self.goal), random)?
            else {
                return Err(ApiError::missing(
                    "the library has no finished game of this board; puzzles are made from them",
                ));
            };
            // A small library gives the same game again.
            if !seen.insert(row.id) {
                continue;
            }
            let Some((start, moves, position)) = self.ending::<G>(&record) else { continue };
            let Some(values) = self.one_winner(&mut solver, position) else { continue };
            let game = Game::of::<G>(start, &moves, self.goal);
            let found = self.levels(&game, &values[0].name);
            return Ok(Lesson {
                id: 0,
                kind: Kind::Puzzle,
                board: game.board.into(),
                goal: game.goal.into(),
                start: game.start.map(String::from),
                moves: game.moves.into(),
                values,
                played: None,
                source: source(&row),
                found: Some(found),
                right: 0,
                wrong: 0,
                asked: None,
            });
        }
        Err(ApiError::missing("no puzzle was found; try again, or with other empty squares"))
    }

    /// The moves of a game to the position with the wanted number of empty squares.
    fn ending<G: Geometry>(
        &self,
        record: &GameRecord,
    ) -> Option<(Position<G>, Vec<Square>, Position<G>)> {
        let positions = record.replay::<G>().ok()?;
        let ply = positions.iter().position(|it| it.board.empties() == self.empties)?;
        let moves = record.moves.iter().take(ply).map(|made| made.square).collect();
        Some((positions[0], moves, positions[ply]))
    }

    /// The exact values of all moves, the best first, if one of them alone wins.
    fn one_winner<G: Geometry>(
        &self,
        solver: &mut Solver<G>,
        position: Position<G>,
    ) -> Option<Vec<MoveValue>> {
        let (mut values, mut winners) = (Vec::new(), 0);
        for square in position.board.legal() {
            let score = -solver.score_in_time(position.board.play(square)?)?;
            winners += u32::from(score > 0);
            if winners > 1 {
                return None;
            }
            let name = square_name::<G>(square);
            values.push(MoveValue { name, score: score as f32, exact: true });
        }
        values.sort_by(|one, other| other.score.total_cmp(&one.score));
        (winners == 1 && values.len() > 1).then_some(values)
    }

    /// How many levels without a net find a move, and of how many.
    fn levels(&self, game: &Game, best: &str) -> (u32, u32) {
        let engines: &Engines = &self.app.engines;
        let (Ok(shape), goal) = (game.shape(), self.goal) else { return (0, 0) };
        let (mut found, mut all) = (0, 0);
        for level in LEVELS {
            let Some(spec) = level.player(shape, goal) else { continue };
            let is_quick = match &spec.kind {
                PlayerKind::Greedy(_) => true,
                PlayerKind::AlphaBeta(spec) => matches!(spec.limit, ThinkingLimit::Depth(_)),
                _ => false,
            };
            if !is_quick {
                continue;
            }
            let work = |engine: &mut dyn Engine| -> Result<Square, EngineError> {
                let mut control = Control::new(self.stop.clone(), Effort::default());
                Ok(engine.choose(game, (0.0, 0), &mut control)?.square)
            };
            let chosen = engines.with_player(&spec, shape, goal, work);
            let name = chosen.map(|square| shape.layout().square_name(square));
            all += 1;
            found += u32::from(name.is_ok_and(|name| name == best));
        }
        (found, all)
    }
}

fn some_game(
    shelf: &Shelf,
    game: (Shape, Goal),
    number: u64,
) -> Result<Option<(Row, GameRecord)>, ApiError> {
    shelf.with(|library| library.finished_game(game, number))
}

/// A game in words.
fn source(row: &Row) -> String {
    let name = |name: &Option<String>| name.clone().unwrap_or_else(|| "?".into());
    let date = row.date.as_ref().map_or(String::new(), |date| format!(", {date}"));
    let text = format!("{} – {}{date}", name(&row.black), name(&row.white));
    plain_excerpt(&text, LONGEST_TEXT).to_string()
}
