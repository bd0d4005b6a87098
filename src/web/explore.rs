//! `POST /api/library/explore`: how games went on from a position, and what the opening book says.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Request, State};
use serde::Serialize;

use super::book::Score;
use super::error::ApiError;
use super::game::Game;
use super::library::Wanted;
use super::routes::{App, body};
use super::runs::reading;
use crate::game::notation::square_name;
use crate::game::{Geometry, Position, Square};
use crate::store::library::{Explored as Found, Following, Query};
use crate::store::openings;

/// What was played in a position.
#[derive(Serialize)]
pub(super) struct Explored {
    games: u64,
    moves: Vec<Next>,
}

/// How games went on with a move. Wins and the mean score are black's and white's, not those of the
/// side to move.
#[derive(Serialize)]
struct Next {
    #[serde(rename = "move")]
    name: String,
    games: u64,
    black: u64,
    white: u64,
    draws: u64,
    mean: Option<f64>,
    /// The name of the opening after it, if that is a new one.
    opening: Option<&'static str>,
    /// The same in Japanese.
    opening_ja: Option<&'static str>,
    /// What the book says of it.
    book: Option<Score>,
}

pub(super) async fn explore(
    State(app): State<Arc<App>>,
    request: Request,
) -> Result<Json<Explored>, ApiError> {
    let wanted: Wanted = body(request).await?;
    let query = wanted.query()?;
    reading(move || {
        let game = wanted.game.ok_or_else(|| ApiError::bad("there is no game").at("game"))?;
        dispatch!(game.shape()?, G => explored::<G>(&app, &query, &game)).map(Json)
    })
    .await
}

fn explored<G: Geometry>(app: &App, query: &Query, game: &Game) -> Result<Explored, ApiError> {
    let (goal, session) = (game.goal()?, game.session::<G>()?);
    let position = session.position();
    let book = app.options.book.as_ref();
    let scores = book.map_or(Ok(Vec::new()), |book| book.scores(game))?;
    let found = match book.is_some() && app.options.library.is_none() {
        true => Found::default(),
        false => app.library.with(|library| {
            let among = library.among(query)?;
            library.explore(position, goal, among.as_ref())
        })?,
    };
    let mut moves = found.moves;
    for &(square, _) in &scores {
        if moves.iter().all(|following| following.square != square) {
            moves.push(Following::unplayed(square));
        }
    }
    let (start, before): (Position<G>, &[Square]) = (session.start(), session.moves());
    let named = openings::in_all_languages(start, before);
    let next = |following: &Following| {
        let after: Vec<Square> = before.iter().copied().chain([following.square]).collect();
        let after = openings::in_all_languages(start, &after);
        let score = scores.iter().find(|(square, _)| *square == following.square);
        Next {
            name: square_name::<G>(following.square),
            games: following.games,
            black: following.black,
            white: following.white,
            draws: following.draws,
            mean: following.mean(),
            opening: after.english.filter(|_| after.english != named.english),
            opening_ja: after.japanese.filter(|_| after.japanese != named.japanese),
            book: score.map(|&(_, score)| score),
        }
    };
    Ok(Explored { games: found.games, moves: moves.iter().map(next).collect() })
}
