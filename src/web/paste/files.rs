//! Files of many games: WTHOR and GGF.

use std::path::Path;

use super::{MOST_GAMES, Pasted, PastedGame};
use crate::game::{Goal, Position, Shape, Square, Square8};
use crate::protocol::session::Session;
use crate::store::ggf::GgfError;
use crate::store::import;
use crate::store::import::names::{Kind, Names};
use crate::store::import::wthor::WthorFile;
use crate::web::error::ApiError;
use crate::web::game::Game;

/// The games of a WTHOR file, behind the lists of players and of events with these numbers of bytes.
/// A game with an illegal move ends before it.
pub(super) fn wthor(
    bytes: &[u8],
    (players, events): (usize, usize),
    goal: Goal,
) -> Result<Pasted, ApiError> {
    let (players, rest) = names(bytes, players, Kind::Players)?;
    let (events, rest) = names(rest, events, Kind::Tournaments)?;
    let file = WthorFile::from_bytes(rest, Path::new("the file"));
    let file = file.map_err(|error| ApiError::bad(error.to_string()).at("text"))?;
    let games = file.games.iter().take(MOST_GAMES).map(|game| {
        let mut session = Session::<Square8>::default();
        let legal: Vec<Square> =
            game.moves().take_while(|&square| session.play(square).is_ok()).collect();
        let [event, black, white] = game.numbers();
        PastedGame {
            black: players.get(black).map(String::from),
            white: players.get(white).map(String::from),
            date: (file.year != 0).then(|| file.year.to_string()),
            event: events.get(event).map(String::from),
            result: Some(2 * i32::from(game.recorded_discs()) - 64),
            ..PastedGame::plain(Game::of::<Square8>(Position::start(), &legal, goal))
        }
    });
    let games: Vec<_> = games.collect();
    Ok(Pasted { format: "wthor", left_out: file.games.len() - games.len(), games })
}

/// The list of names in the first bytes of a text, and the rest. Without bytes it is empty.
fn names(bytes: &[u8], length: usize, kind: Kind) -> Result<(Names, &[u8]), ApiError> {
    let (field, path) = match kind {
        Kind::Players => ("players", "the list of players"),
        Kind::Tournaments => ("events", "the list of events"),
    };
    let Some((list, rest)) = bytes.split_at_checked(length) else {
        let allowed = format!("at most {}, the bytes that are there", bytes.len());
        return Err(ApiError::bad("the list is longer than the body").at(field).allowing(allowed));
    };
    if list.is_empty() {
        return Ok((Names::default(), rest));
    }
    let names = Names::of(list, Path::new(path), kind);
    let names = names.map_err(|error| ApiError::bad(error.to_string()).at(field))?;
    Ok((names, rest))
}

/// The games of a GGF text. Games that cannot be read are left out, unless all are such. The error of
/// a single game has the part before its wrong move.
pub(super) fn ggf(bytes: &[u8], preferred: Shape) -> Result<Pasted, ApiError> {
    let all = import::ggf_games(bytes).take(MOST_GAMES + 1);
    let (mut games, mut left_out, mut first_fault) = (Vec::new(), 0, None);
    for (number, text) in (1..).zip(all) {
        let game = text.map_err(|fault| (fault, None)).and_then(|text| {
            ggf_game(&text, preferred).map_err(|fault| {
                let before = before_fault(&text, &fault, preferred);
                (fault, before)
            })
        });
        match game {
            Ok(game) if games.len() < MOST_GAMES => games.push(game),
            Ok(_) => left_out += 1,
            Err(fault) => {
                left_out += 1;
                first_fault.get_or_insert((number, fault));
            }
        }
    }
    match first_fault {
        Some((number, (fault, before))) if games.is_empty() => {
            let before = before.filter(|_| left_out == 1);
            Err(ApiError::bad(format!("game {number}: {fault}")).at("text").after(before))
        }
        _ => Ok(Pasted { format: "ggf", left_out, games }),
    }
}

/// The part of a game before its wrong move; `None` if something else is wrong.
fn before_fault(text: &str, fault: &import::Fault, preferred: Shape) -> Option<Box<Game>> {
    let import::Fault::Ggf(GgfError::IllegalMove { offset, .. }) = fault else { return None };
    let before = format!("{};)", &text[..*offset]);
    ggf_game(&before, preferred).ok().map(|pasted| Box::new(pasted.game))
}

/// A game on the board that fits its `BO`. If none does, the error is about the preferred one.
fn ggf_game(text: &str, preferred: Shape) -> Result<PastedGame, import::Fault> {
    let game = import::on_any_board(text, preferred, 0)?;
    let (record, squares) = (&game.record, game.squares().collect::<Vec<_>>());
    let result = game.stated.or(game.score()).map(|score| record.goal.apply(score.into()));
    let start = dispatch!(record.shape, G => {
        record.start::<G>().map(|start| Game::of::<G>(start, &squares, record.goal))
    });
    Ok(PastedGame {
        black: game.black.map(String::from),
        white: game.white.map(String::from),
        date: game.date.map(String::from),
        event: game.event.map(String::from),
        result,
        game: start.map_err(import::Fault::from)?,
    })
}
