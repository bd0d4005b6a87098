//! Transcripts: a game on each line, with what follows it after a blank left out.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use super::{Ending, Fault, Found, Game, Games, ImportError};
use crate::game::notation::parse_transcript;
use crate::game::record::{GameRecord, MoveRecord, Source};
use crate::game::{Geometry, Goal, Position, Shape};
use crate::store::files::{Action, FileError};
use crate::store::lines::Lines;

/// A line that is a game without moves.
pub const NO_MOVES: &str = "start";

/// The games of a file.
pub(super) fn games(path: &Path, shape: Shape, goal: Goal) -> Result<Games, ImportError> {
    let file = File::open(path).map_err(FileError::at(Action::Read, path))?;
    let path = path.to_path_buf();
    let games = Lines::new(BufReader::new(file)).map(move |line| {
        let line = line.map_err(FileError::at(Action::Read, &path))?;
        let number = line.number as u64;
        let game = line.text.map_err(Fault::from).and_then(|text| {
            dispatch!(shape, G => record::<G>(&text, goal, number)).map_err(Fault::from)
        });
        Ok(Found { number, game })
    });
    Ok(Box::new(games))
}

fn record<G: Geometry>(
    line: &str,
    goal: Goal,
    id: u64,
) -> Result<Game, crate::game::notation::NotationError> {
    let start = Position::<G>::start();
    let text = line.split_whitespace().next().unwrap_or_default();
    let text = if text.eq_ignore_ascii_case(NO_MOVES) { "" } else { text };
    let (moves, last) = parse_transcript::<G>(text, start)?;
    let mut record = GameRecord { source: Source::Import, ..GameRecord::begin(start, goal, id) };
    record.moves = moves.into_iter().map(MoveRecord::of).collect();
    if !last.board.is_over() {
        return Ok(Game::plain(record, Ending::Unfinished));
    }
    record.score = last.black_view().final_score(goal) as i16;
    Ok(Game::plain(record, Ending::Finished))
}
