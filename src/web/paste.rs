//! `POST /api/paste`: games and positions in any of the formats that players use.
//!
//! - WTHOR and GGF: files of many games;
//! - OBF: positions, one a line;
//! - a position of a board's squares, in one line or drawn in rows, with or without the side to move;
//! - moves, with or without blanks, numbers and passes (`moves`);
//! - a line that has moves among other words, as OthelloQuest and other sites share games.
//!
//! What cannot be read gets one error with its line and character.

mod files;
mod moves;
mod position;

use axum::Json;
use axum::extract::{Query, Request};
use axum::response::IntoResponse;
use serde::{Deserialize, Serialize};

use super::error::ApiError;
use super::game::Game;
use super::routes::bytes;
use crate::game::{Geometry, Goal, Shape};

/// The most games in an answer.
const MOST_GAMES: usize = 2_000;
/// The longest text that is no file of games.
const LONGEST_TEXT: usize = 1 << 20;

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

/// Why a text is no game: what is wrong, at which character, and what is allowed.
#[derive(Clone, Debug, PartialEq)]
struct Fault {
    /// In bytes from the beginning of the text.
    offset: usize,
    message: String,
    allowed: Option<String>,
}

impl Fault {
    fn new(offset: usize, message: impl Into<String>) -> Fault {
        Fault { offset, message: message.into(), allowed: None }
    }

    /// The error with the place in the text.
    fn within(&self, text: &str) -> ApiError {
        let (mut line, mut character) = (1, 1);
        for (at, letter) in text.char_indices() {
            if at >= self.offset {
                break;
            }
            (line, character) = if letter == '\n' { (line + 1, 1) } else { (line, character + 1) };
        }
        let place = format!("line {line}, character {character}: {}", self.message);
        let error = ApiError::bad(place).at("text");
        match &self.allowed {
            Some(allowed) => error.allowing(allowed),
            None => error,
        }
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
    let Ok(text) = std::str::from_utf8(bytes) else { return files::wthor(bytes, goal) };
    // A header of WTHOR has such bytes, and no text has.
    if text.contains('\0') {
        return files::wthor(bytes, goal);
    }
    let text = text.trim_start_matches('\u{feff}');
    if text.contains("(;") {
        return files::ggf(text, shape);
    }
    if text.len() > LONGEST_TEXT {
        return Err(ApiError::bad("the text is too long")
            .at("text")
            .allowing(format!("at most {LONGEST_TEXT} bytes")));
    }
    if text.trim().is_empty() {
        return Err(ApiError::bad("the text is empty").at("text").allowing(ALLOWED));
    }
    plain(text, shape, goal).map_err(|fault| fault.within(text))
}

const ALLOWED: &str =
    "moves such as f5d6c3, a position of 64 characters, OBF, GGF, or a WTHOR file";

/// The games of a text without the marks of a file.
fn plain(text: &str, shape: Shape, goal: Goal) -> Result<Pasted, Fault> {
    if position::is_position(text) {
        return positions(text, goal);
    }
    let whole = on_any_board(
        shape,
        |shape| dispatch!(shape, G => moves::lenient::<G>(text).map(|moves| from_start::<G>(&moves, goal))),
    );
    let fault = match whole {
        Ok(game) => return Ok(Pasted::one("transcript", game)),
        Err(fault) => fault,
    };
    if let Some(found) = lines(text, shape, goal) {
        return found;
    }
    let among = on_any_board(shape, |shape| {
        let found = dispatch!(shape, G => moves::among_words::<G>(text).map(|moves| {
            from_start::<G>(&moves, goal)
        }));
        found.ok_or_else(|| fault.clone())
    });
    among.map(|game| Pasted::one("othelloquest", game))
}

impl Pasted {
    fn one(format: &'static str, game: Game) -> Pasted {
        Pasted { format, games: vec![PastedGame::plain(game)], left_out: 0 }
    }

    /// As many of the games as an answer has.
    fn of(format: &'static str, mut games: Vec<PastedGame>) -> Pasted {
        let left_out = games.len().saturating_sub(MOST_GAMES);
        games.truncate(MOST_GAMES);
        Pasted { format, games, left_out }
    }
}

fn from_start<G: Geometry>(moves: &[crate::game::Square], goal: Goal) -> Game {
    Game::of::<G>(crate::game::Position::start(), moves, goal)
}

/// The result on the preferred board or else on the first other board where `read` succeeds; the
/// error is that of the preferred one.
fn on_any_board<T>(
    preferred: Shape,
    mut read: impl FnMut(Shape) -> Result<T, Fault>,
) -> Result<T, Fault> {
    read(preferred).or_else(|fault| {
        let others = Shape::ALL.iter().filter(|&&shape| shape != preferred);
        others.copied().find_map(|shape| read(shape).ok()).ok_or(fault)
    })
}

/// Lines that are games of their own, if the first line is one.
fn lines(text: &str, shape: Shape, goal: Goal) -> Option<Result<Pasted, Fault>> {
    let all: Vec<_> = numbered(text).collect();
    if all.len() < 2 {
        return None;
    }
    let read = |line: &str| {
        on_any_board(shape, |shape| {
            dispatch!(shape, G => moves::lenient::<G>(line).map(|moves| {
                from_start::<G>(&moves, goal)
            }))
        })
    };
    read(all[0].1).ok()?;
    let games = all.into_iter().map(|(offset, line)| {
        let game = read(line).map(PastedGame::plain);
        game.map_err(|fault| Fault { offset: offset + fault.offset, ..fault })
    });
    Some(games.collect::<Result<_, _>>().map(|games| Pasted::of("transcript", games)))
}

/// The lines that are neither empty nor comments, with their offsets.
fn numbered(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let offset = move |line: &str| line.as_ptr() as usize - text.as_ptr() as usize;
    let lines = text.lines().map(move |line| (offset(line), line));
    lines.filter(|(_, line)| !line.trim().is_empty() && !line.trim_start().starts_with(['#', '%']))
}

/// Positions: one on each line, or one that may have moves after it.
fn positions(text: &str, goal: Goal) -> Result<Pasted, Fault> {
    let all: Vec<_> = numbered(text).collect();
    if let [(_, first), (_, second), ..] = all[..]
        && position::line(first, goal).is_ok()
        && position::is_position(second)
    {
        let games = all.into_iter().map(|(offset, line)| {
            let game = position::line(line, goal).map(PastedGame::plain);
            game.map_err(|fault| Fault { offset: offset + fault.offset, ..fault })
        });
        return Ok(Pasted::of("obf", games.collect::<Result<_, _>>()?));
    }
    let (start, rest) = position::first(text)?;
    let offset = text.len() - rest.len();
    let game = position::with_moves(&start, rest, goal);
    let game = game.map_err(|fault| Fault { offset: offset + fault.offset, ..fault })?;
    Ok(Pasted::one("position", game))
}

#[cfg(test)]
mod tests;
