//! `POST /api/paste`: games and positions in any of the formats that players use.
//!
//! - WTHOR and GGF: files of many games;
//! - texts with moves or positions, which [`text`] reads.
//!
//! What cannot be read gets one error with its line and character.

mod files;

use axum::Json;
use axum::extract::{Query, Request};
use axum::response::IntoResponse;
use serde::{Deserialize, Serialize};

use super::error::ApiError;
use super::game::Game;
use super::routes::bytes;
use crate::game::{Geometry, Goal, Shape};
use crate::store::import::text::{self, Form, TextFault, Written};

/// The most games in an answer.
const MOST_GAMES: usize = 2_000;

/// The board and goal that the page shows. Texts that name their own are read with those.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Preferred {
    #[serde(default = "super::game::default_board")]
    board: Box<str>,
    #[serde(default = "super::game::default_goal")]
    goal: Box<str>,
}

/// What a text has.
#[derive(Debug, Serialize)]
pub(super) struct Pasted {
    /// `transcript`, `position`, `obf`, `ggf`, `othelloquest` or `wthor`.
    format: &'static str,
    games: Vec<PastedGame>,
    /// Further games that are not in the answer.
    left_out: usize,
}

/// A game with what the text says about it.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct PastedGame {
    #[serde(flatten)]
    game: Game,
    #[serde(skip_serializing_if = "Option::is_none")]
    black: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    white: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    date: Option<String>,
    /// Black's final disc difference as the text has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<i32>,
}

impl PastedGame {
    fn plain(game: Game) -> PastedGame {
        PastedGame { game, black: None, white: None, date: None, result: None }
    }
}

/// The games of a text or file.
pub(super) async fn read(
    Query(preferred): Query<Preferred>,
    request: Request,
) -> Result<impl IntoResponse, ApiError> {
    let game = Game { board: preferred.board, goal: preferred.goal, start: None, moves: "".into() };
    let (shape, goal) = (game.shape()?, game.goal()?);
    let bytes = bytes(request).await?;
    let reading = tokio::task::spawn_blocking(move || pasted(&bytes, shape, goal));
    reading.await.map_err(|_| ApiError::failed("the text cannot be read"))?.map(Json)
}

/// The games of a text or file.
fn pasted(bytes: &[u8], shape: Shape, goal: Goal) -> Result<Pasted, ApiError> {
    if bytes.windows(2).any(|pair| pair == b"(;") && !bytes.contains(&0) {
        return files::ggf(bytes, shape);
    }
    let Ok(text) = std::str::from_utf8(bytes) else { return files::wthor(bytes, goal) };
    // A header of WTHOR has such bytes, and no text has.
    if text.contains('\0') {
        return files::wthor(bytes, goal);
    }
    let text = text.trim_start_matches('\u{feff}');
    if text.len() > text::LONGEST {
        return Err(ApiError::bad("the text is too long")
            .at("text")
            .allowing(format!("at most {} bytes", text::LONGEST)));
    }
    if text.trim().is_empty() {
        return Err(ApiError::bad("the text is empty").at("text").allowing(ALLOWED));
    }
    plain(text, shape, goal).map_err(|error| fault(&error))
}

const ALLOWED: &str =
    "moves such as f5d6c3, a position of 64 characters, OBF, GGF, or a WTHOR file";

fn fault(fault: &TextFault) -> ApiError {
    let TextFault { line, character, message, allowed, .. } = fault;
    let error = ApiError::bad(format!("line {line}, character {character}: {message}")).at("text");
    match allowed {
        Some(allowed) => error.allowing(allowed),
        None => error,
    }
}

/// The games of a text without the marks of a file.
fn plain(text: &str, shape: Shape, goal: Goal) -> Result<Pasted, TextFault> {
    text::on_any_board(shape, |shape| dispatch!(shape, G => plain_on::<G>(text, goal)))
}

fn plain_on<G: Geometry>(text: &str, goal: Goal) -> Result<Pasted, TextFault> {
    let games = text::games::<G>(text).into_iter();
    let games = games.map(|(line, game)| game.map_err(|fault| fault.on_line(line)));
    let games: Vec<Written<G>> = games.collect::<Result<_, _>>()?;
    let format = match games[..] {
        [Written { form: Form::Position, .. }, _, ..] => "obf",
        [Written { form: Form::Position, .. }] => "position",
        [Written { form: Form::Words, .. }, ..] => "othelloquest",
        _ => "transcript",
    };
    let game = |game: Written<G>| PastedGame::plain(Game::of(game.start, &game.moves, goal));
    Ok(Pasted::of(format, games.into_iter().map(game).collect()))
}

impl Pasted {
    /// As many of the games as an answer has.
    fn of(format: &'static str, mut games: Vec<PastedGame>) -> Pasted {
        let left_out = games.len().saturating_sub(MOST_GAMES);
        games.truncate(MOST_GAMES);
        Pasted { format, games, left_out }
    }
}

#[cfg(test)]
mod tests;
