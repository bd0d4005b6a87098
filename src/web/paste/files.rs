//! Files of many games: WTHOR and GGF.

use std::path::Path;

use super::{Fault, MOST_GAMES, Pasted, PastedGame};
use crate::game::{Goal, Position, Shape, Square, Square8};
use crate::protocol::session::Session;
use crate::store::ggf::GgfError;
use crate::store::import;
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
    let game = import::on_any_board(text, preferred, 0).map_err(|fault| {
        let offset = match &fault {
            import::Fault::Ggf(GgfError::NoTag { offset, .. }) => *offset,
            _ => 0,
        };
        Fault::new(offset, fault.to_string())
    })?;
    let (record, squares) = (&game.record, game.squares().collect::<Vec<_>>());
    let result = game.stated.or(game.score()).map(|score| record.goal.apply(score.into()));
    let start = dispatch!(record.shape, G => {
        record.start::<G>().map(|start| Game::of::<G>(start, &squares, record.goal))
    });
    Ok(PastedGame {
        black: game.black.map(String::from),
        white: game.white.map(String::from),
        date: game.date.map(String::from),
        result,
        game: start.map_err(|error| Fault::new(0, error.to_string()))?,
    })
}
