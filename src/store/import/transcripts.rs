//! Files of transcripts and positions: texts that [`text`] reads.
//!
//! A text of moderate length is read as a whole, since one game may have many lines. In a longer one
//! each line is a game.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use super::text::{self, TextFault, Written};
use super::{Ending, Fault, Found, Game, Games, ImportError, name, pgn};
use crate::game::record::{GameRecord, MoveRecord, Source};
use crate::game::{Geometry, Goal, Position, Shape};
use crate::store::files::{Action, FileError};
use crate::store::lines::Lines;

/// A line that is a game without moves.
pub const NO_MOVES: &str = "start";

/// The games of a file.
pub(super) fn games(path: &Path, shape: Shape, goal: Goal) -> Result<Games, ImportError> {
    let at = || FileError::at(Action::Read, path);
    let mut file = BufReader::new(File::open(path).map_err(at())?);
    let mut beginning = Vec::new();
    file.by_ref().take(text::LONGEST as u64 + 1).read_to_end(&mut beginning).map_err(at())?;
    if beginning.len() <= text::LONGEST
        && let Ok(whole) = std::str::from_utf8(&beginning)
    {
        return Ok(Box::new(of_text(whole, shape, goal).into_iter().map(Ok)));
    }
    let path = path.to_path_buf();
    let input: Box<dyn BufRead> = Box::new(std::io::Cursor::new(beginning).chain(file));
    let games = Lines::new(input).map(move |line| {
        let line = line.map_err(FileError::at(Action::Read, &path))?;
        let number = line.number as u64;
        let game = line.text.map_err(Fault::from).and_then(|text| {
            dispatch!(shape, G => {
                let written = read_line::<G>(&text)?;
                Ok(game(&written, goal, number))
            })
        });
        Ok(Found { number, game })
    });
    Ok(Box::new(games))
}

/// The games of a text.
fn of_text(text: &str, shape: Shape, goal: Goal) -> Vec<Found> {
    if let Some(games) = pgn::games(text) {
        return (1..)
            .zip(games)
            .map(|(number, (tags, moves))| {
                let game =
                    dispatch!(shape, G => text::read::<G>(moves).map(|it| game(&it, goal, number)));
                let game = game.map(|game| Game {
                    black: tags.black.and_then(|text| name(text.as_bytes())),
                    white: tags.white.and_then(|text| name(text.as_bytes())),
                    date: tags.date.and_then(|text| name(text.as_bytes())),
                    event: tags.event.and_then(|text| name(text.as_bytes())),
                    ..game.with_stated(tags.result.map(|result| goal.apply(result) as i16))
                });
                Found { number, game: game.map_err(Fault::from) }
            })
            .collect();
    }
    dispatch!(shape, G => {
        let games = text::games_or::<G>(text, read_line::<G>).into_iter();
        games
            .map(|(line, written)| {
                let number = line as u64;
                let game = written.map(|it| game(&it, goal, number)).map_err(Fault::from);
                Found { number, game }
            })
            .collect()
    })
}

fn read_line<G: Geometry>(line: &str) -> Result<Written<G>, TextFault> {
    match line.trim().eq_ignore_ascii_case(NO_MOVES) {
        true => Ok(Written {
            form: text::Form::Transcript,
            start: Position::start(),
            moves: Vec::new(),
        }),
        false => text::read(line),
    }
}

fn game<G: Geometry>(written: &Written<G>, goal: Goal, id: u64) -> Game {
    let mut record =
        GameRecord { source: Source::Import, ..GameRecord::begin(written.start, goal, id) };
    record.moves = written.moves.iter().map(|&square| MoveRecord::of(square)).collect();
    let last = written.position();
    if !last.board.is_over() {
        return Game::plain(record, Ending::Unfinished);
    }
    record.score = last.black_view().final_score(goal) as i16;
    Game::plain(record, Ending::Finished)
}
