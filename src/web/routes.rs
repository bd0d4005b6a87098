//! The addresses of the page and of its interface.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, Uri, header};
use axum::response::Response;
use axum::routing::{get, post};
use axum::{Json, Router, middleware};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::engines::Engines;
use super::error::ApiError;
use super::game::{BoardShape, Game, Line, boards, line};
use super::guard::{Guard, check};
use super::library::Shelf;
use super::menu::{DEFAULT_OPINION, Entry, menu};
use super::runs::Known;
use super::training::Training;
use super::{
    Options, analyse, assets, export, lessons, library, opening, paste, predict, review, runs,
    thinking, training,
};
use crate::game::{Goal, Shape};
use crate::players::endings;

/// The longest body of a request: a pasted text, or a file of games.
pub(super) const MOST_BODY: usize = 4 << 20;
/// A client has this long to send it.
const BODY_TIME: Duration = Duration::from_secs(10);

/// What the routes share.
pub(super) struct App {
    pub options: Options,
    pub engines: Arc<Engines>,
    pub training: Training,
    pub ratings: Known,
    pub library: Shelf,
}

/// The routes behind the guard.
pub(super) fn router(options: Options, guard: Guard) -> Router {
    let threads = options.context.cores.max(1);
    let context = crate::players::contestant::PlayerContext { cores: 1, ..options.context.clone() };
    let app = Arc::new(App {
        engines: Arc::new(Engines::new(context, threads)),
        training: Training::new(options.trainer.clone()),
        ratings: Known::default(),
        library: Shelf::new(options.library.clone()),
        options,
    });
    Router::new()
        .route("/api/about", get(about))
        .route("/api/line", post(positions))
        .route("/api/move", post(thinking::choose))
        .route("/api/hints", post(thinking::hints))
        .route("/api/review", post(review::review))
        .route("/api/opening", post(opening::generate))
        .route("/api/paste", post(paste::read))
        .route("/api/file", get(opened))
        .route("/api/export", post(export::write))
        .route("/api/predict", post(predict::predict))
        .route("/api/analyse", post(analyse::analyse))
        .merge(lessons::routes())
        .merge(library::routes())
        .merge(runs::routes())
        .merge(training::routes())
        .fallback(get(file))
        .layer(middleware::from_fn_with_state(Arc::new(guard), check))
        .with_state(app)
}

async fn file(uri: Uri, headers: HeaderMap) -> Response {
    assets::respond(uri.path().trim_start_matches('/'), &headers)
}

/// The body of a request as JSON. Its type must be declared, since a browser asks before it sends
/// JSON to another site.
pub(super) async fn body<T: DeserializeOwned>(request: Request) -> Result<T, ApiError> {
    let kind = request.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let is_json = kind.is_some_and(|kind| kind.split(';').next() == Some("application/json"));
    if !is_json {
        return Err(ApiError::bad("the body is no JSON")
            .at("Content-Type")
            .allowing("application/json"));
    }
    let bytes = bytes(request).await?;
    serde_json::from_slice(&bytes).map_err(|error| ApiError::bad(error.to_string()).at("body"))
}

/// The body of a request.
pub(super) async fn bytes(request: Request) -> Result<axum::body::Bytes, ApiError> {
    let reading = axum::body::to_bytes(request.into_body(), MOST_BODY);
    match tokio::time::timeout(BODY_TIME, reading).await {
        Ok(Ok(bytes)) => Ok(bytes),
        Ok(Err(_)) => Err(ApiError::bad("the body is too long, or it broke off")
            .at("body")
            .allowing(format!("at most {MOST_BODY} bytes"))),
        Err(_) => Err(ApiError::bad("the body came too slowly").at("body")),
    }
}

/// What the page must know at first.
#[derive(Serialize)]
struct About {
    version: u32,
    program: &'static str,
    boards: Vec<BoardShape>,
    /// The menu of each board and goal.
    menus: Vec<Menu>,
    default_level: &'static str,
    default_opinion: &'static str,
    /// From this many empty squares on, hints have the exact score of each move.
    solved_from: u32,
    /// The name of the file that the page opens at first.
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    /// Whether there is a library.
    library: bool,
    /// Whether there is an opening book.
    book: bool,
    /// Whether there are folders of runs.
    runs: bool,
    /// Whether the page may start and stop runs.
    training: bool,
}

#[derive(Serialize)]
struct Menu {
    board: &'static str,
    goal: &'static str,
    players: Vec<Entry>,
}

async fn about(State(app): State<Arc<App>>) -> Json<About> {
    let games =
        Shape::ALL.iter().flat_map(|&shape| [Goal::Most, Goal::Fewest].map(|goal| (shape, goal)));
    let menus = games.map(|(shape, goal)| Menu {
        board: shape.name(),
        goal: goal.name(),
        players: menu(shape, goal, &app.options.players),
    });
    Json(About {
        version: 1,
        program: env!("CARGO_PKG_VERSION"),
        boards: boards(),
        menus: menus.collect(),
        default_level: crate::players::levels::FIRST,
        default_opinion: DEFAULT_OPINION,
        solved_from: endings::EMPTIES,
        file: app.options.file.as_ref().map(|file| file.name.clone()),
        library: app.options.library.is_some(),
        book: app.options.book.is_some(),
        runs: !app.options.runs.is_empty(),
        training: app.options.trainer.is_some(),
    })
}

/// The content of the file that the page opens at first.
async fn opened(State(app): State<Arc<App>>) -> Result<Vec<u8>, ApiError> {
    let file = app.options.file.as_ref().map(|file| file.bytes.clone());
    file.ok_or_else(|| ApiError::missing("the server was started without a file"))
}

async fn positions(request: Request) -> Result<Json<Line>, ApiError> {
    let game: Game = body(request).await?;
    Ok(Json(line(&game)?))
}
