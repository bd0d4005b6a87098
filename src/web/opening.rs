//! `POST /api/opening`: a random opening in which neither side is much better, such as XOT has.
//!
//! Random games are searched until one is even. So every board has openings, and no list of them is
//! needed.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use axum::Json;
use axum::extract::{Request, State};
use serde::{Deserialize, Serialize};
use tokio::sync::oneshot;

use super::engines::{Engine, EngineError, Running};
use super::error::ApiError;
use super::game::{Game, Line, line};
use super::routes::{App, body};
use super::thinking::api_error;
use crate::arena::openings::OpeningSource;
use crate::game::{Geometry, Goal, Shape};
use crate::players::control::{Control, Effort};
use crate::players::player::combine;
use crate::players::spec::PlayerSpec;
use crate::search::stop::Stop;

/// The player that decides whether an opening is even.
const JUDGE: &str = "alphabeta:depth=8";
/// An opening is even if the side that is better has at most this many discs more at the end.
const EVEN: f32 = 3.0;
/// Openings that are looked at; if none is even, the most even one is taken.
const TRIED: usize = 40;
/// The longest search for an opening.
const TIME: Duration = Duration::from_secs(5);
/// The allowed numbers of moves.
const PLIES: std::ops::RangeInclusive<u32> = 2..=20;

/// A request.
#[derive(Debug, Deserialize)]
struct Wanted {
    /// The board and the goal.
    #[serde(flatten)]
    game: Game,
    /// The number of moves.
    #[serde(default = "default_plies")]
    plies: u32,
    /// The same seed gives the same opening.
    #[serde(default)]
    seed: Option<u64>,
}

/// XOT has openings of eight moves.
fn default_plies() -> u32 {
    8
}

/// An opening.
#[derive(Serialize)]
pub(super) struct Opening {
    #[serde(flatten)]
    line: Line,
    /// The expected final disc difference for the side to move, if it was searched.
    balance: Option<f32>,
}

/// An even random opening.
pub(super) async fn generate(
    State(app): State<Arc<App>>,
    request: Request,
) -> Result<Json<Opening>, ApiError> {
    let wanted: Wanted = body(request).await?;
    let (shape, goal) = (wanted.game.shape()?, wanted.game.goal()?);
    if !PLIES.contains(&wanted.plies) {
        return Err(ApiError::bad("so many moves are not allowed").at("plies").allowing(format!(
            "{} to {}",
            PLIES.start(),
            PLIES.end()
        )));
    }
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let seed =
        wanted.seed.unwrap_or_else(|| combine(&[since.as_secs(), since.subsec_nanos().into()]));
    let candidates = dispatch!(shape, G => candidates::<G>(wanted.plies, goal, seed))?;
    let place = app.engines.place().await?;
    let running = Running::for_at_most(TIME);
    let stop = running.stop.clone();
    let (sender, receiver) = oneshot::channel();
    let work = move |engine: &mut dyn Engine| most_even(engine, candidates, &stop);
    let finish = move |result| drop(sender.send(result));
    app.engines.start(place, judge(shape, goal)?, work, finish)?;
    let result = receiver.await.map_err(|_| ApiError::failed("the search failed"))?;
    let (game, balance) = result.map_err(api_error)?;
    Ok(Json(Opening { line: line(&game)?, balance }))
}

fn judge(shape: Shape, goal: Goal) -> Result<(PlayerSpec, Shape, Goal), ApiError> {
    let spec = JUDGE.parse::<PlayerSpec>().map_err(|error| ApiError::failed(error.to_string()))?;
    Ok((spec, shape, goal))
}

/// Random openings, distinct up to symmetry.
fn candidates<G: Geometry>(plies: u32, goal: Goal, seed: u64) -> Result<Vec<Game>, ApiError> {
    let book = OpeningSource::Random { plies }.book::<G>(TRIED, seed);
    let book = book.map_err(|error| ApiError::bad(error.to_string()).at("plies"))?;
    let game = |opening: &crate::arena::openings::Opening<G>| {
        Game::of(opening.start, &opening.moves, goal)
    };
    Ok(book.openings.iter().map(game).collect())
}

/// The first even game, or else the most even one of those searched. There is at least one candidate.
fn most_even(
    engine: &mut dyn Engine,
    candidates: Vec<Game>,
    stop: &Stop,
) -> Result<(Game, Option<f32>), EngineError> {
    let mut best: Option<(Game, Option<f32>)> = None;
    for game in candidates {
        let mut control = Control::new(stop.clone(), Effort::default());
        let analysis = engine.analyze(&game, usize::MAX, 1, &mut control)?;
        let score = analysis.hints.first().and_then(|hint| hint.score);
        let uneven = |score: Option<f32>| score.map_or(f32::INFINITY, f32::abs);
        if best.as_ref().is_none_or(|(_, known)| uneven(score) < uneven(*known)) {
            best = Some((game, score));
        }
        if uneven(score) <= EVEN || stop.is_set() {
            break;
        }
    }
    best.ok_or(EngineError::NoTurn)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn candidates_have_the_wanted_number_of_moves_and_follow_the_seed() {
        for shape in Shape::ALL {
            let games = |seed| dispatch!(shape, G => candidates::<G>(6, Goal::Most, seed));
            let found = games(3).expect("openings");
            assert_eq!(found, games(3).expect("openings"));
            assert_ne!(found, games(4).expect("openings"));
            for game in &found {
                assert_eq!(line(game).expect("a legal game").plies.len(), 7, "{shape}");
            }
        }
    }

    #[test]
    fn the_judge_is_a_player() {
        judge(Shape::Square6, Goal::Fewest).expect("a player");
    }
}
