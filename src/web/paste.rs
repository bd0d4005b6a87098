//! `POST /api/paste`: games and positions in any of the formats that players use.
//!
//! - WTHOR and GGF: files of many games;
//! - texts with moves or positions, which [`text`] reads.
//!
//! What cannot be read gets one error with its line and character. If a game has a wrong move, the
//! error has the game before it.

mod files;

use axum::Json;
use axum::extract::{Query, Request};
use axum::response::IntoResponse;
use serde::{Deserialize, Serialize};

use super::error::ApiError;
use super::game::Game;
use super::routes::bytes;
use crate::game::{Geometry, Goal, Position, Shape};
use crate::store::import::text::{self, Form, TextFault, Written};

/// The most games in an answer: more than a body of WTHOR has.
const MOST_GAMES: usize = 65_536;

/// The board and goal that the page shows. Texts that name their own are read with those.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Preferred {
    #[serde(default = "super::game::default_board")]
    board: Box<str>,
    #[serde(default = "super::game::default_goal")]
    goal: Box<str>,
    /// The bytes of WTHOR's lists of names that come before the games: first players, then events.
    #[serde(default)]
    players: usize,
    #[serde(default)]
    events: usize,
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
    #[serde(skip_serializing_if = "Option::is_none")]
    event: Option<String>,
    /// Black's final disc difference as the text has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<i32>,
}

impl PastedGame {
    fn plain(game: Game) -> PastedGame {
        PastedGame { game, black: None, white: None, date: None, event: None, result: None }
    }
}

/// The games of a text or file.
pub(super) async fn read(
    Query(preferred): Query<Preferred>,
    request: Request,
) -> Result<impl IntoResponse, ApiError> {
    let Preferred { board, goal, players, events } = preferred;
    let game = Game { board, goal, start: None, moves: "".into() };
    let (shape, goal) = (game.shape()?, game.goal()?);
    let bytes = bytes(request).await?;
    let reading = tokio::task::spawn_blocking(move || match (players, events) {
        (0, 0) => pasted(&bytes, shape, goal),
        lists => files::wthor(&bytes, lists, goal),
    });
    reading.await.map_err(|_| ApiError::failed("the text cannot be read"))?.map(Json)
}

/// The games of a text or file.
fn pasted(bytes: &[u8], shape: Shape, goal: Goal) -> Result<Pasted, ApiError> {
    if bytes.windows(2).any(|pair| pair == b"(;") && !bytes.contains(&0) {
        return files::ggf(bytes, shape);
    }
    let Ok(text) = std::str::from_utf8(bytes) else { return files::wthor(bytes, (0, 0), goal) };
    // A header of WTHOR has such bytes, and no text has.
    if text.contains('\0') {
        return files::wthor(bytes, (0, 0), goal);
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
    plain(text, shape, goal)
}

const ALLOWED: &str =
    "moves such as f5d6c3, a position of 64 characters, OBF, GGF, or a WTHOR file";

/// Why a text cannot be read, and the right part of it if it is one game.
struct Wrong {
    fault: TextFault,
    game: Option<Box<Game>>,
}

impl Wrong {
    fn error(self) -> ApiError {
        let TextFault { line, character, message, allowed, .. } = self.fault;
        let message = format!("line {line}, character {character}: {message}");
        let error = ApiError::bad(message).at("text").after(self.game);
        match allowed {
            Some(allowed) => error.allowing(allowed),
            None => error,
        }
    }
}

/// The games of a text without the marks of a file. An error is that of the board on which most moves
/// are right; the preferred board comes first.
fn plain(text: &str, preferred: Shape, goal: Goal) -> Result<Pasted, ApiError> {
    let read = |shape| dispatch!(shape, G => plain_on::<G>(text, goal));
    let mut wrong = match read(preferred) {
        Ok(found) => return Ok(found),
        Err(wrong) => wrong,
    };
    for shape in Shape::ALL.into_iter().filter(|&shape| shape != preferred) {
        match read(shape) {
            Ok(found) => return Ok(found),
            Err(other) if other.fault.moves.len() > wrong.fault.moves.len() => wrong = other,
            Err(_) => {}
        }
    }
    Err(wrong.error())
}

fn plain_on<G: Geometry>(text: &str, goal: Goal) -> Result<Pasted, Box<Wrong>> {
    let games = text::games::<G>(text);
    let is_single = games.len() == 1;
    let wrong = |line, fault: TextFault| {
        let game = (is_single && !fault.moves.is_empty()).then(|| {
            let game = Game::of::<G>(Position::start(), &fault.moves, goal);
            Box::new(Game { start: fault.start.clone(), ..game })
        });
        Box::new(Wrong { fault: fault.on_line(line), game })
    };
    let games = games.into_iter().map(|(line, game)| game.map_err(|fault| wrong(line, fault)));
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
