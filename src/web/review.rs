//! `POST /api/review`: the value of every position of a game, streamed as it is found.
//!
//! Up to two threads share the positions, the last ones first: those are solved exactly, and the
//! solver's table helps with the positions before them.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::extract::{Request, State};
use axum::response::sse::Event;
use serde::Serialize;
use tokio::sync::mpsc;

use super::advice::{Advice, Scope};
use super::engines::{Engine, EngineError, Place, Running};
use super::error::ApiError;
use super::game::Game;
use super::routes::{App, body};
use super::thinking::{Question, Streamed, api_error, event, streamed};
use crate::game::Shape;
use crate::players::control::{Analysis, Control, Effort};
use crate::players::player::Bound;
use crate::search::stop::Stop;

/// The longest review of a game.
const TIME: Duration = Duration::from_secs(600);
/// Threads that review one game.
const THREADS: usize = 2;
/// The most hints for each position.
const HINTS: usize = 16;
/// How often a search looks whether the best score is proven.
const LOOK: Duration = Duration::from_millis(10);

/// The advice for one position of a game.
#[derive(Serialize)]
struct Reviewed {
    ply: usize,
    #[serde(flatten)]
    advice: Advice,
}

/// What the threads of a review share.
struct Review {
    game: Game,
    shape: Shape,
    effort: Effort,
    scope: Scope,
    /// Positions before this ply are too early for the player.
    first: usize,
    /// Positions that no thread has taken yet: those before this ply.
    left: AtomicUsize,
    /// Threads that have not ended.
    working: AtomicUsize,
    stop: Stop,
    events: mpsc::Sender<Event>,
}

/// Events: `ply` with the ply and an [`Advice`] for each position, in any order; then `done`; or
/// `failed` with an error.
pub(super) async fn review(
    State(app): State<Arc<App>>,
    request: Request,
) -> Result<Streamed, ApiError> {
    let question: Question = body(request).await?;
    let asked = question.check(&app).await?;
    let first = app.engines.place().await?;
    let others = (1..THREADS).map_while(|_| app.engines.free_place());
    let places: Vec<Place> = std::iter::once(first).chain(others).collect();
    let running = Running::for_at_most(TIME);
    let plies = asked.line.plies.len() - usize::from(asked.line.over);
    // Room for every event, so no thread waits for a slow client.
    let (events, receiver) = mpsc::channel(plies + THREADS + 1);
    let first = (0..plies).take_while(|&ply| asked.is_too_early(ply)).count();
    let review = Arc::new(Review {
        game: asked.line.game,
        shape: asked.player.1,
        effort: asked.effort,
        scope: asked.scope,
        first,
        left: AtomicUsize::new(plies),
        working: AtomicUsize::new(places.len()),
        stop: running.stop.clone(),
        events,
    });
    for place in places {
        let (working, ended) = (review.clone(), review.clone());
        let work = move |engine: &mut dyn Engine| working.work(engine);
        app.engines.start(place, asked.player.clone(), work, move |result| ended.finish(result))?;
    }
    Ok(streamed(receiver, running))
}

impl Review {
    /// Analyses positions until all are taken.
    fn work(&self, engine: &mut dyn Engine) -> Result<(), EngineError> {
        let take = |left: usize| left.checked_sub(1);
        while !self.stop.is_set() {
            let taken = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take);
            let Ok(left) = taken else { break };
            let ply = left - 1;
            let advice = match ply < self.first {
                true => self.scope.refusal(),
                false => self.scope.advice(self.shape, &self.analysis(engine, ply)?, true),
            };
            let _ = self.events.try_send(event("ply", &Reviewed { ply, advice }));
        }
        Ok(())
    }

    /// The analysis of a position. It ends early when the best move's exact score is known: the
    /// other moves are not needed then.
    fn analysis(&self, engine: &mut dyn Engine, ply: usize) -> Result<Analysis, EngineError> {
        let stop = self.stop.part();
        let enough = stop.clone();
        let mut sink = |analysis: &Analysis| {
            let proven = analysis.hints.first().is_some_and(|hint| hint.bound == Bound::Exact);
            if proven {
                enough.set();
            }
        };
        let mut control = Control::new(stop, self.effort).reporting(LOOK, &mut sink);
        engine.analyze(&self.game, ply, HINTS, &mut control)
    }

    /// The last thread says that all is done.
    fn finish(&self, result: Result<(), EngineError>) {
        let is_last = self.working.fetch_sub(1, Ordering::AcqRel) == 1;
        if let Err(error) = result {
            let _ = self.events.try_send(event("failed", &api_error(error)));
            self.stop.set();
        } else if is_last && !self.stop.is_set() {
            let _ = self.events.try_send(event("done", &true));
        }
    }
}
