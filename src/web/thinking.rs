//! Requests that search: a move, and hints.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use axum::Json;
use axum::extract::{Request, State};
use axum::response::Sse;
use axum::response::sse::{Event, KeepAlive, KeepAliveStream};
use serde::{Deserialize, Serialize};
use tokio::sync::{mpsc, oneshot};
use tokio_stream::Stream;

use super::advice::Scope;
use super::engines::{Engine, EngineError, Running};
use super::error::ApiError;
use super::game::{Game, Line, Ply, line};
use super::menu::{find, menu};
use super::routes::{App, body};
use super::runs;
use crate::game::{Goal, Shape};
use crate::players::control::{Analysis, Caps, Control, Effort};
use crate::players::endings;
use crate::players::player::combine;
use crate::players::spec::{PlayerKind, PlayerSpec};
use crate::search::alphabeta::Allotment;

/// The longest search for a move.
const MOVE_TIME: Duration = Duration::from_secs(30);
/// The longest search for hints, in seconds.
const MOST_SECONDS: u32 = 300;
/// The first hints come after this time, and further ones at this interval.
const INTERVAL: Duration = Duration::from_millis(80);
/// A comment is sent this often, so that a broken connection is noticed.
const HEARTBEAT: Duration = Duration::from_secs(2);
/// Events that wait to be sent. When there are more, intermediate hints are left out.
const EVENTS: usize = 16;
/// The most simulations for a position that a request may set.
const MOST_SIMULATIONS: u32 = 100_000;

/// The most seconds that a clock may have.
const MOST_LEFT: f64 = 86_400.0;
/// The share of an increment that a move uses: answers take time too.
const USED: f64 = 0.9;
/// The largest share of a clock's time that a move uses.
const MOST_OF_LEFT: f64 = 0.5;
/// The greatest depth that a request may set, in plies.
const MOST_DEPTH: u32 = 60;

/// Who thinks about which game.
#[derive(Debug, Deserialize)]
pub(super) struct Question {
    #[serde(flatten)]
    game: Game,
    /// An id of the menu, or `run/RUN/STEP` for a checkpoint of a run.
    player: Box<str>,
    /// The most hints.
    #[serde(default = "all_hints")]
    count: usize,
    /// Whether the search goes on until the answer is no longer read.
    #[serde(default)]
    endless: bool,
    /// The longest time.
    #[serde(default = "default_seconds")]
    seconds: u32,
    /// Simulations of a net, in place of the number in its specification.
    #[serde(default)]
    simulations: Option<u32>,
    /// The depth of alpha-beta, in place of that in its specification.
    #[serde(default)]
    depth: Option<u32>,
    /// The seed of varied play; by default another one for each request.
    #[serde(default)]
    seed: Option<u64>,
    /// The seconds that the player's clock has left; by default it has no clock.
    #[serde(default)]
    left: Option<f64>,
    /// The seconds that its clock gets for each move.
    #[serde(default)]
    increment: f64,
}

fn all_hints() -> usize {
    crate::game::MAX_SQUARES
}

fn default_seconds() -> u32 {
    60
}

/// A question that was checked.
pub(super) struct Asked {
    /// The game with its positions.
    pub line: Line,
    /// Who thinks, and the game's rules.
    pub player: (PlayerSpec, Shape, Goal),
    /// How long it thinks.
    pub effort: Effort,
    /// What it may answer.
    pub scope: Scope,
    /// Its word in the menu.
    pub word: String,
    /// The discs that it may lose by a move for the sake of variety.
    pub variety: f32,
}

impl Question {
    pub(super) async fn check(&self, app: &App) -> Result<Asked, ApiError> {
        let line = line(&self.game)?;
        let (shape, goal) = (self.game.shape()?, self.game.goal()?);
        let (word, spec, variety, answers_from) = match self.player.strip_prefix("run/") {
            Some(name) => {
                let (folders, name) = (app.options.runs.clone(), name.to_string());
                let (word, spec) = runs::reading(move || runs::player(&folders, &name)).await?;
                (word, spec, 0.0, None)
            }
            None => {
                let entry = find(menu(shape, goal, &app.options.players), &self.player)?;
                (entry.word, entry.spec, entry.variety, entry.answers_from)
            }
        };
        if !(1..=MOST_SECONDS).contains(&self.seconds) {
            return Err(ApiError::bad("the time is too short or too long")
                .at("seconds")
                .allowing(format!("1 to {MOST_SECONDS}")));
        }
        if self.simulations.is_some_and(|count| !(1..=MOST_SIMULATIONS).contains(&count)) {
            return Err(ApiError::bad("so many simulations are not allowed")
                .at("simulations")
                .allowing(format!("1 to {MOST_SIMULATIONS}")));
        }
        if self.depth.is_some_and(|depth| !(1..=MOST_DEPTH).contains(&depth)) {
            return Err(ApiError::bad("this depth is not allowed")
                .at("depth")
                .allowing(format!("1 to {MOST_DEPTH}")));
        }
        let effort = self.effort(&spec.kind);
        let scope = Scope { answers_from };
        Ok(Asked { line, player: (spec, shape, goal), effort, scope, word, variety })
    }

    fn effort(&self, kind: &PlayerKind) -> Effort {
        let is_net = matches!(kind, PlayerKind::Net(_));
        let is_alphabeta = matches!(kind, PlayerKind::AlphaBeta(_));
        let caps = Caps {
            simulations: self.simulations.filter(|_| is_net),
            depth: self.depth.filter(|_| is_alphabeta),
            ..Caps::default()
        };
        let endless = self.endless || caps != Caps::default();
        Effort { endless, caps, ..Effort::default() }
    }

    fn limit(&self) -> Duration {
        Duration::from_secs(self.seconds.into())
    }

    /// The most time for a move with so many empty squares, by the player's clock.
    fn clock(&self, empties: u32) -> Result<Option<Duration>, ApiError> {
        let seconds = |name: &str, value: f64| match (0.0..=MOST_LEFT).contains(&value) {
            true => Ok(Duration::from_secs_f64(value)),
            false => Err(ApiError::bad("the clock cannot have this time")
                .at(name)
                .allowing(format!("0 to {MOST_LEFT} seconds"))),
        };
        let increment = seconds("increment", self.increment)?;
        let Some(left) = self.left else { return Ok(None) };
        let left = seconds("left", left)?;
        let share = Allotment::Even.time_for_move(left, empties) + increment.mul_f64(USED);
        Ok(Some(share.min(left.mul_f64(MOST_OF_LEFT))))
    }
}

impl Asked {
    /// Whether the player cannot answer in a position of the game, because the game is not old
    /// enough.
    pub fn is_too_early(&self, ply: usize) -> bool {
        self.scope.is_too_early(self.line.plies[ply].empties())
    }
}

/// The answer to a request for a move.
#[derive(Serialize)]
pub(super) struct Move {
    #[serde(rename = "move")]
    square: String,
    /// The expected final disc difference for the player.
    score: Option<f32>,
    depth: Option<u32>,
    nodes: u64,
    seconds: f64,
}

/// `POST /api/move`: the move that a player makes.
pub(super) async fn choose(
    State(app): State<Arc<App>>,
    request: Request,
) -> Result<Json<Move>, ApiError> {
    let question: Question = body(request).await?;
    let asked = question.check(&app).await?;
    if asked.is_too_early(asked.line.plies.len() - 1) {
        return Err(ApiError::bad("it is too early for this player").at("player").allowing(
            format!("at most {} empty squares", asked.scope.answers_from.unwrap_or_default()),
        ));
    }
    let empties = asked.line.plies.last().map_or(0, Ply::empties);
    let time = question.clock(empties)?;
    let place = app.engines.place().await?;
    let running = Running::for_at_most(MOVE_TIME);
    let (stop, shape, game) = (running.stop.clone(), asked.player.1, asked.line.game);
    let (sender, receiver) = oneshot::channel();
    let (variety, effort) = (asked.variety, Effort { time, ..asked.effort });
    let seed = question.seed.unwrap_or_else(new_seed);
    let work = move |engine: &mut dyn Engine| {
        let mut control = Control::new(stop, effort);
        engine.choose(&game, (variety, seed), &mut control)
    };
    app.engines.start(place, asked.player, work, move |result| drop(sender.send(result)))?;
    let result = receiver.await.map_err(|_| ApiError::failed("the player failed"))?;
    let choice = result.map_err(api_error)?;
    Ok(Json(Move {
        square: shape.layout().square_name(choice.square),
        score: choice.score,
        depth: choice.depth,
        nodes: choice.nodes,
        seconds: choice.seconds,
    }))
}

fn new_seed() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    combine(&[since.as_secs(), since.subsec_nanos().into()])
}

pub(super) fn api_error(error: EngineError) -> ApiError {
    match error {
        EngineError::NoTurn => ApiError::bad(error.to_string()).at("moves"),
        EngineError::Player(_) | EngineError::Open(_) => ApiError::failed(error.to_string()),
    }
}

/// The parts of an answer that come during a search. When the client goes away, the stream is dropped
/// and the search ends.
pub(super) struct Flow<T> {
    receiver: mpsc::Receiver<T>,
    _running: Running,
}

impl<T> Flow<T> {
    /// What `receiver` gets from the search that `running` can end.
    pub fn new(receiver: mpsc::Receiver<T>, running: Running) -> Flow<T> {
        Flow { receiver, _running: running }
    }
}

impl<T> Stream for Flow<T> {
    type Item = Result<T, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.receiver.poll_recv(context).map(|part| part.map(Ok))
    }
}

pub(super) type Streamed = Sse<KeepAliveStream<Flow<Event>>>;

pub(super) fn streamed(receiver: mpsc::Receiver<Event>, running: Running) -> Streamed {
    Sse::new(Flow::new(receiver, running)).keep_alive(KeepAlive::new().interval(HEARTBEAT))
}

pub(super) fn event(kind: &str, data: &impl Serialize) -> Event {
    // Strings and finite numbers can always be written.
    let text = serde_json::to_string(data).unwrap_or_else(|_| "null".into());
    Event::default().event(kind).data(text)
}

/// The analysis of the last position of a game, in an ending with the exact score of each move.
fn completed(
    game: &Game,
    analysis: Analysis,
    control: &mut Control<'_>,
) -> Result<Analysis, EngineError> {
    // Requests are checked before a search begins.
    let wrong = |_| EngineError::NoTurn;
    let goal = game.goal().map_err(wrong)?;
    dispatch!(game.shape().map_err(wrong)?, G => {
        let position = game.session::<G>().map_err(wrong)?.position();
        Ok(endings::complete(position, goal, analysis, control))
    })
}

/// `POST /api/hints`: the best moves, improving until the search has ended.
///
/// Events: `hints` with an [`Advice`], the last one with `done`; or `failed` with an error.
pub(super) async fn hints(
    State(app): State<Arc<App>>,
    request: Request,
) -> Result<Streamed, ApiError> {
    let question: Question = body(request).await?;
    let asked = question.check(&app).await?;
    let (sender, receiver) = mpsc::channel(EVENTS);
    let scope = asked.scope;
    if asked.is_too_early(asked.line.plies.len() - 1) {
        // The channel is empty.
        let _ = sender.try_send(event("hints", &scope.refusal()));
        return Ok(streamed(receiver, Running::for_at_most(question.limit())));
    }
    let place = app.engines.place().await?;
    // The time begins when the search does.
    let running = Running::for_at_most(question.limit());
    let (stop, shape, game) = (running.stop.clone(), asked.player.1, asked.line.game);
    let (count, plies) = (question.count, asked.line.plies.len() - 1);
    let reports = sender.clone();
    let work = move |engine: &mut dyn Engine| {
        let mut sink = |analysis: &Analysis| {
            // If the client reads too slowly, it gets the next report.
            let mut advice = scope.advice(shape, analysis, false);
            advice.hints.truncate(count);
            let _ = reports.try_send(event("hints", &advice));
        };
        let mut control = Control::new(stop, asked.effort).reporting(INTERVAL, &mut sink);
        let found = engine.analyze(&game, plies, count, &mut control)?;
        let mut analysis = completed(&game, found, &mut control)?;
        analysis.hints.truncate(count);
        Ok(scope.advice(shape, &analysis, true))
    };
    app.engines.start(place, asked.player, work, move |result| {
        // The place is free by now, so a slow client holds nothing but its own connection.
        let _ = sender.blocking_send(match result {
            Ok(advice) => event("hints", &advice),
            Err(error) => event("failed", &api_error(error)),
        });
    })?;
    Ok(streamed(receiver, running))
}
