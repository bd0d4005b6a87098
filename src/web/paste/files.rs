//! Files of many games: WTHOR and GGF.

use std::path::Path;

use super::{Fault, MOST_GAMES, Pasted, PastedGame};
use crate::game::{Goal, Position, Shape, Square, Square8};
use crate::protocol::session::Session;
use crate::store::ggf::{self, GgfError};
use crate::store::import::wthor::WthorFile;
use crate::web::error::ApiError;
use crate::web::game::Game;

/// The games of a WTHOR file. A game with an illegal move ends before it.
pub(super) fn wthor(bytes: &[u8], goal: Goal) -> Result<Pasted, ApiError> {
    let file = WthorFile::from_bytes(bytes, Path::new("the file"));
    let file = file.map_err(|error| ApiError::bad(error.to_string()).at("text"))?;
    let games = file.games.iter().take(MOST_GAMES).map(|game| {
        let mut session = Session::<Square8>::default();
        let legal: Vec<Square> =
            game.moves().take_while(|&square| session.play(square).is_ok()).collect();
        PastedGame {
            date: Some(file.year.to_string()),
            result: Some(2 * i32::from(game.recorded_discs()) - 64),
            ..PastedGame::plain(Game::of::<Square8>(Position::start(), &legal, goal))
        }
    });
    let games: Vec<_> = games.collect();
    Ok(Pasted { format: "wthor", left_out: file.games.len() - games.len(), games })
}

/// The games of a GGF text.
pub(super) fn ggf(text: &str, preferred: Shape) -> Result<Pasted, ApiError> {
    let starts: Vec<usize> = text.match_indices("(;").map(|(at, _)| at).collect();
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    let all = starts.iter().zip(ends).take(MOST_GAMES);
    let games = all.map(|(&start, end)| {
        let game = ggf_game(&text[start..end], preferred);
        game.map_err(|fault| Fault { offset: start + fault.offset, ..fault }.within(text))
    });
    let games: Vec<_> = games.collect::<Result<_, _>>()?;
    Ok(Pasted { format: "ggf", left_out: starts.len() - games.len(), games })
}

/// A game on the board that fits its `BO`. If none does, the error is about the preferred one.
fn ggf_game(text: &str, preferred: Shape) -> Result<PastedGame, Fault> {
    let others = Shape::ALL.iter().copied().filter(|&shape| shape != preferred);
    let mut first = None;
    for shape in [preferred].into_iter().chain(others) {
        match dispatch!(shape, G => ggf::read::<G>(text).map(|game| {
            let session = Session::<G>::replay(game.start, &game.moves);
            let header = game.header;
            PastedGame {
                black: Some(header.black),
                white: Some(header.white),
                date: header.date,
                result: header.result,
                game: Game::of(session.start(), session.moves(), header.goal),
            }
        })) {
            Ok(game) => return Ok(game),
            Err(error @ GgfError::NoBoard { .. }) => {
                first.get_or_insert(error);
            }
            Err(error) => {
                first = Some(error);
                break;
            }
        }
    }
    let offset = match &first {
        Some(GgfError::NoTag { offset, .. }) => *offset,
        _ => 0,
    };
    let message = first.map_or_else(|| "it is no game".into(), |error| error.to_string());
    Err(Fault::new(offset, message))
}
