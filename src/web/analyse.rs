//! `POST /api/analyse`: a query of the JSON analysis (docs/analysis.md), answered with its lines.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde_json::{Map, Value};
use tokio::sync::mpsc;

use super::engines::{Place, Running};
use super::error::ApiError;
use super::menu::{find, menu};
use super::routes::{App, body};
use super::thinking::Flow;
use crate::game::{Goal, Shape};
use crate::players::demand::Bounds;
use crate::players::spec::{AlphaBetaSpec, EvaluatorSource, PlayerKind, PlayerSpec};
use crate::protocol::json::{Answer, Desk, DeskOptions, Query, Request as Line, Terms};
use crate::search::stop::Stop;

/// The longest answer to a query.
const TIME: Duration = Duration::from_secs(600);
/// Lines that wait to be sent, besides the last one of each position.
const WAITING: usize = 16;

/// Whether a request may name this player by its specification: only if nothing in it is a file or
/// a program.
fn allows(player: &PlayerSpec) -> Result<(), String> {
    let named =
        || "players with a file or a program are named by their id in /api/about".to_string();
    let has_file = match &player.kind {
        PlayerKind::Random(_) | PlayerKind::Greedy(_) | PlayerKind::Rollouts(_) => false,
        PlayerKind::AlphaBeta(AlphaBetaSpec { evaluator: EvaluatorSource::Model(_), .. }) => true,
        PlayerKind::AlphaBeta(_) => false,
        PlayerKind::Net(_) | PlayerKind::Policy(_) | PlayerKind::External(_) => true,
    };
    if has_file || player.book.is_some() { Err(named()) } else { Ok(()) }
}

/// The query of an object. `player` may be an id of the menu.
fn query(app: &App, mut fields: Map<String, Value>) -> Result<Query, ApiError> {
    fields.entry("id").or_insert_with(|| "1".into());
    let text = |field: &str| fields.get(field).and_then(Value::as_str);
    let shape = text("board").and_then(|name| name.parse().ok()).unwrap_or(Shape::Square8);
    let goal = text("goal").and_then(|name| name.parse().ok()).unwrap_or(Goal::Most);
    let known =
        text("player").and_then(|id| find(menu(shape, goal, &app.options.players), id).ok());
    if known.is_some() {
        fields.remove("player");
    }
    let player = known.map(|entry| entry.spec);
    let bounds = Some(Bounds::of_requests(app.options.context.cores));
    let terms = Terms { shape, goal, player: player.as_ref(), allows, bounds };
    match Line::read(&Value::Object(fields).to_string(), &terms) {
        Ok(Line::Analyse(query)) => Ok(*query),
        Ok(_) => Err(ApiError::bad("a request has one query").at("action").allowing("no action")),
        Err(problem) => Err(ApiError::bad(problem.to_string())
            .at(problem.field.as_deref().unwrap_or("body"))
            .allowing(problem.allowed.as_deref().unwrap_or("a query as in docs/analysis.md"))),
    }
}

/// The lines of the answer, as they come. The search ends when the client goes away.
pub(super) async fn analyse(
    State(app): State<Arc<App>>,
    request: Request,
) -> Result<Response, ApiError> {
    let fields: Map<String, Value> = body(request).await?;
    let query = query(&app, fields)?;
    let place = app.engines.place().await?;
    let running = Running::for_at_most(TIME);
    let (lines, receiver) = mpsc::channel(query.turns.len() + WAITING + 1);
    let desk = DeskOptions { device: app.options.context.device.clone(), cores: 1, seed: 1 };
    let work = Work { desk, query, stop: running.stop.clone(), lines };
    let thread = std::thread::Builder::new().name("analysis".into());
    let started = thread.spawn(move || work.answer(place));
    started.map_err(|error| ApiError::failed(format!("no thread: {error}")))?;
    let kind = [(header::CONTENT_TYPE, "application/x-ndjson")];
    Ok((kind, Body::from_stream(Flow::<Bytes>::new(receiver, running))).into_response())
}

struct Work {
    desk: DeskOptions,
    query: Query,
    stop: Stop,
    lines: mpsc::Sender<Bytes>,
}

impl Work {
    fn answer(self, _place: Place) {
        let mut desk = Desk::new(self.desk.clone());
        for (done, &turn) in self.query.turns.iter().enumerate() {
            // Every position still needs a place for its last line.
            let needed = self.query.turns.len() - done + 1;
            let mut sink = |answer: Answer| {
                if !answer.is_during_search || self.lines.capacity() > needed {
                    self.send(&answer);
                }
            };
            if let Err(problem) = desk.answer(&self.query, turn, &self.stop, &mut sink) {
                return self.send(&problem);
            }
            if self.lines.is_closed() {
                return;
            }
        }
    }

    fn send(&self, line: &impl Serialize) {
        // Strings and finite numbers can always be written.
        let Ok(mut bytes) = serde_json::to_vec(line) else { return };
        bytes.push(b'\n');
        let _ = self.lines.try_send(bytes.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_request_names_a_file_or_a_program() {
        for (spec, allowed) in [
            ("random", true),
            ("alphabeta:depth=4", true),
            ("alphabeta:depth=4,eval=positional", true),
            ("alphabeta:depth=4,eval=./model", false),
            ("net:/etc/passwd", false),
            ("policy:runs/mine", false),
            ("external:protocol=gtp,command=sh", false),
            ("greedy:book=/tmp/book", false),
        ] {
            let player: PlayerSpec = spec.parse().expect("a player");
            assert_eq!(allows(&player).is_ok(), allowed, "{spec}");
        }
    }
}
