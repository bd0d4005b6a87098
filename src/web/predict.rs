//! `POST /api/predict`: what a net predicts for a position, without search.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::{Request, State};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};
use tokio::sync::oneshot;

use super::engines::Running;
use super::error::ApiError;
use super::game::Game;
use super::routes::{App, body};
use super::thinking::Question;
use crate::game::notation::square_name;
use crate::game::{Bitboard, Geometry, Goal, Position, Square};
use crate::players::contestant::PlayerContext;
use crate::players::models::LoadedModel;
use crate::players::spec::PlayerKind;
use crate::predict::{Backend, Input, Predictions};
use crate::search::stop::Stop;

/// The games that the net plays against itself for an owner map.
const PLAYED: usize = 48;
/// The longest time for an answer.
const LONGEST: Duration = Duration::from_secs(30);

/// A request.
#[derive(Deserialize)]
struct Asking {
    #[serde(flatten)]
    question: Question,
    /// Whether the answer has an owner map.
    #[serde(default)]
    owner: bool,
}

/// What a net predicts.
#[derive(Serialize)]
pub(super) struct Glance {
    /// The probability of each legal move.
    policy: Vec<(String, f32)>,
    /// The chance to win for the side to move.
    win: f32,
    /// The expected final disc difference for the side to move, if the net predicts it.
    score: Option<f32>,
    /// For each square who owns it at the end: 1 for Black, -1 for White.
    #[serde(skip_serializing_if = "Option::is_none")]
    owner: Option<Vec<(String, f32)>>,
}

/// A net's policy and value at the end of the game.
pub(super) async fn predict(
    State(app): State<Arc<App>>,
    request: Request,
) -> Result<Json<Glance>, ApiError> {
    let Asking { question, owner } = body(request).await?;
    let asked = question.check(&app).await?;
    let (spec, shape, goal) = asked.player;
    let path = match spec.kind {
        PlayerKind::Net(net) => net.path,
        PlayerKind::Policy(policy) => policy.path,
        _ => {
            let error = format!("{} has no policy", asked.word);
            return Err(ApiError::bad(error).at("player").allowing("a net"));
        }
    };
    if asked.line.over {
        return Err(ApiError::bad("the game is over, so there is nothing to predict").at("moves"));
    }
    let place = app.engines.place().await?;
    let context = app.options.context.clone();
    // Dropped with the answer that nobody waits for any more.
    let running = Running::for_at_most(LONGEST);
    let stop = running.stop.clone();
    let (sender, receiver) = oneshot::channel();
    let glance = move || {
        let owner = owner.then_some(&stop);
        dispatch!(shape, G => glance::<G>(&asked.line.game, &path, goal, &context, owner))
    };
    place.use_for(glance, move |result| drop(sender.send(result)))?;
    let result = receiver.await.map_err(|_| ApiError::failed("the net failed"))?;
    Ok(Json(result?))
}

fn failed(error: impl std::error::Error) -> ApiError {
    ApiError::failed(error.to_string())
}

fn glance<G: Geometry>(
    game: &Game,
    path: &Path,
    goal: Goal,
    context: &PlayerContext,
    owner: Option<&Stop>,
) -> Result<Glance, ApiError> {
    let position = game.session::<G>()?.position();
    let model = LoadedModel::read(path).and_then(|model| model.for_match(G::SHAPE, goal));
    let model = model.map_err(failed)?;
    let mut backend = model.backend(&context.inference, &context.device).map_err(failed)?;
    let mut predictions = Predictions::default();
    let input = Input::new(position.board, position.board.legal());
    backend.predict(&[input], &mut predictions).map_err(failed)?;
    let found = predictions.get(0, G::SQUARES);
    let policy = probabilities::<G>(position, found.policy);
    Ok(Glance {
        policy: policy.map(|(square, share)| (square_name::<G>(square), share)).collect(),
        win: f32::midpoint(found.value, 1.0),
        score: model.has_score().then_some(found.score),
        owner: owner.map(|stop| owners(position, backend.as_mut(), stop)).transpose()?,
    })
}

/// The legal moves with their probabilities, from the net's logits.
fn probabilities<G: Geometry>(
    position: Position<G>,
    logits: &[f32],
) -> impl Iterator<Item = (Square, f32)> {
    let legal = position.board.legal();
    let most = legal.map(|square| logits[square.index()]).fold(f32::MIN, f32::max);
    let weight = move |square: Square| (logits[square.index()] - most).exp();
    let total: f32 = legal.map(weight).sum();
    legal.map(move |square| (square, weight(square) / total))
}

/// The mean owner of each square at the end of games that the net plays by its policy alone. A net
/// in play has no owner head; these games show the same.
fn owners<G: Geometry>(
    from: Position<G>,
    backend: &mut dyn Backend,
    stop: &Stop,
) -> Result<Vec<(String, f32)>, ApiError> {
    // The same position has the same map.
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut playing = vec![from; PLAYED];
    let mut sums = vec![0.0; G::SQUARES];
    let mut predictions = Predictions::default();
    while !playing.is_empty() {
        if stop.is_set() {
            return Err(ApiError::failed("the owner map took too long"));
        }
        let input = |position: &Position<G>| Input::new(position.board, position.board.legal());
        let inputs: Vec<_> = playing.iter().map(input).collect();
        backend.predict(&inputs, &mut predictions).map_err(failed)?;
        for (index, position) in playing.iter_mut().enumerate() {
            let logits = predictions.get(index, G::SQUARES).policy;
            let next = position.play(draw(*position, logits, random.random()));
            // The square is legal.
            *position = next.unwrap_or(*position).pass_if_forced();
        }
        playing.retain(|position| {
            let over = position.board.is_over();
            if over {
                add(&mut sums, *position);
            }
            !over
        });
    }
    let name =
        |(number, sum): (usize, f32)| (square_name::<G>(Square(number as u8)), sum / PLAYED as f32);
    Ok(sums.into_iter().enumerate().map(name).collect())
}

/// A legal move; `chance` from 0 to 1 decides which.
fn draw<G: Geometry>(position: Position<G>, logits: &[f32], mut chance: f32) -> Square {
    let mut last = Square(0);
    for (square, share) in probabilities::<G>(position, logits) {
        last = square;
        chance -= share;
        if chance < 0.0 {
            break;
        }
    }
    last
}

fn add<G: Geometry>(sums: &mut [f32], end: Position<G>) {
    let view = end.black_view();
    let (black, white) = (view.mine.widen(), view.theirs.widen());
    let layout = G::SHAPE.layout();
    for (number, sum) in sums.iter_mut().enumerate() {
        let bit = 1u128 << layout.bit_of[number];
        *sum += f32::from(u8::from(black & bit != 0)) - f32::from(u8::from(white & bit != 0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::Square6;

    #[test]
    fn an_owner_map_that_nobody_waits_for_is_given_up() {
        let net = Path::new(env!("CARGO_MANIFEST_DIR")).join("checkpoints/6x6");
        let context = PlayerContext::new(Goal::Most);
        let model = LoadedModel::read(&net).expect("a net");
        let backend = model.backend(&context.inference, &context.device);
        let mut backend = backend.expect("a backend");
        let stop = Stop::default();
        let mut ask = || owners(Position::<Square6>::start(), backend.as_mut(), &stop);
        let Ok(map) = ask() else { panic!("a map") };
        assert_eq!(map.len(), 36);
        stop.set();
        assert!(ask().is_err());
    }
}
