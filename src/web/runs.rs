//! Training runs for the page: a list, and for each run its curves, newest game and checkpoints.
//!
//! A request names a run by its id. The id is looked up in a new listing of the folders that were
//! given at the start, so no text of a request becomes a path. Files are read on the pool of the
//! runtime.

mod curves;
mod listing;
mod ratings;

use std::path::PathBuf;
use std::sync::Arc;

use axum::extract::{Path, State};
use axum::routing::get;
use axum::{Json, Router};
use serde::Serialize;

pub(super) use listing::{Run, find};
pub(super) use ratings::Known;

use super::error::ApiError;
use super::game::{Game, Line, line};
use super::routes::App;
use crate::game::record::GameRecord;
use crate::game::{Geometry, Goal, Shape, Square};
use crate::players::levels::with_net;
use crate::players::spec::PlayerSpec;
use crate::store::run_dir::{CHECKPOINTS, GAMES};
use crate::store::{checkpoint, games};

/// The player of a checkpoint, `NET` in the place of its path.
const PLAYER: &str = "net:NET,simulations=100";
/// A damaged record at the end of the games is skipped, but not more of them than this.
const NEWEST_POSITIONS: u64 = 500;

/// The routes of runs.
pub(super) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/api/runs", get(list))
        .route("/api/runs/{run}", get(details))
        .route("/api/runs/{run}/curves", get(curves))
        .route("/api/runs/{run}/game", get(game))
        .route("/api/runs/{run}/checkpoints", get(checkpoints))
}

/// Does some work with files on the pool.
pub(super) async fn reading<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ApiError> + Send + 'static,
) -> Result<T, ApiError> {
    let result = tokio::task::spawn_blocking(work).await;
    result.map_err(|_| ApiError::failed("the files cannot be read"))?
}

#[derive(Serialize)]
struct Runs {
    runs: Vec<Run>,
}

async fn list(State(app): State<Arc<App>>) -> Result<Json<Runs>, ApiError> {
    let running = app.training.running();
    let server = app.clone();
    let mut runs = reading(move || Ok(listing::list(&server.options.runs))).await?;
    for run in &mut runs {
        run.controlled = running.contains(&run.path);
        run.ending = run.controlled && app.training.is_ending(&run.path);
    }
    Ok(Json(Runs { runs }))
}

#[derive(Serialize)]
struct Details {
    #[serde(flatten)]
    run: Run,
    config: String,
}

async fn details(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
) -> Result<Json<Details>, ApiError> {
    let running = app.training.running();
    reading(move || {
        let mut run = find(&app.options.runs, &id)?;
        run.controlled = running.contains(&run.path);
        run.ending = run.controlled && app.training.is_ending(&run.path);
        let config = listing::config(&run.path)?;
        Ok(Json(Details { run, config }))
    })
    .await
}

#[derive(Serialize)]
struct Curves {
    #[serde(flatten)]
    curves: curves::Curves,
    #[serde(flatten)]
    ratings: ratings::Ratings,
}

async fn curves(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
) -> Result<Json<Curves>, ApiError> {
    reading(move || {
        let run = find(&app.options.runs, &id)?;
        let curves = curves::read(&run.path)?;
        let game = run.game().unwrap_or((Shape::Square8, Goal::Most));
        let ratings = ratings::read(&run.path, game, &app.ratings)?;
        let ratings = ratings.unwrap_or_else(|| ratings::Ratings::of_curves(&curves));
        Ok(Json(Curves { curves, ratings }))
    })
    .await
}

/// A game of self-play.
#[derive(Serialize)]
struct NewestGame {
    #[serde(flatten)]
    line: Line,
    /// Its number in the run.
    number: u64,
}

async fn game(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
) -> Result<Json<Option<NewestGame>>, ApiError> {
    reading(move || {
        let run = find(&app.options.runs, &id)?;
        let folder = run.path.join(GAMES);
        if !folder.is_dir() {
            return Ok(Json(None));
        }
        let found = games::read_tail(&folder, NEWEST_POSITIONS);
        let found = found.map_err(|error| ApiError::failed(error.to_string()))?;
        let Some(newest) = found.filter_map(Result::ok).last() else { return Ok(Json(None)) };
        let game = dispatch!(newest.shape, G => as_game::<G>(&newest))?;
        Ok(Json(Some(NewestGame { line: line(&game)?, number: newest.id })))
    })
    .await
}

fn as_game<G: Geometry>(record: &GameRecord) -> Result<Game, ApiError> {
    let start = record.start::<G>().map_err(|error| ApiError::failed(error.to_string()))?;
    let moves: Vec<Square> = record.moves.iter().map(|made| made.square).collect();
    Ok(Game::of(start, &moves, record.goal))
}

#[derive(Serialize)]
struct Checkpoints {
    checkpoints: Vec<Checkpoint>,
}

/// A checkpoint of a run.
#[derive(Serialize)]
struct Checkpoint {
    step: u64,
    minutes: Option<f64>,
    games: Option<u64>,
    /// What requests name its player by.
    player: String,
}

async fn checkpoints(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
) -> Result<Json<Checkpoints>, ApiError> {
    reading(move || {
        let run = find(&app.options.runs, &id)?;
        let checkpoints = saved(&run)?.into_iter().map(|(step, path)| {
            let training = checkpoint::training_at(&path);
            Checkpoint {
                step,
                minutes: training.map(|(_, minutes)| minutes),
                games: training.and_then(|(games, _)| games),
                player: format!("run/{id}/{step}"),
            }
        });
        Ok(Json(Checkpoints { checkpoints: checkpoints.collect() }))
    })
    .await
}

fn saved(run: &Run) -> Result<Vec<(u64, PathBuf)>, ApiError> {
    let found = checkpoint::list(&run.path.join(CHECKPOINTS));
    found.map_err(|error| ApiError::failed(error.to_string()))
}

/// The player of a checkpoint, named `RUN/STEP`, with a word for it.
pub(super) fn player(folders: &[PathBuf], name: &str) -> Result<(String, PlayerSpec), ApiError> {
    let unknown = || ApiError::bad("there is no such checkpoint").at("player");
    let (id, step) = name.rsplit_once('/').ok_or_else(unknown)?;
    let run = find(folders, id)?;
    let step: u64 = step.parse().map_err(|_| unknown())?;
    let all = saved(&run)?;
    let path = all.iter().find(|(found, _)| *found == step).map(|(_, path)| path);
    let path = path.ok_or_else(|| {
        let steps: Vec<_> = all.iter().map(|(step, _)| step.to_string()).collect();
        unknown().allowing(format!("steps {}", steps.join(", ")))
    })?;
    let spec = with_net(PLAYER, Some(path)).ok_or_else(unknown)?;
    Ok((format!("{} at step {step}", run.name), spec))
}
