//! Games as rows of CSV.

use std::io::{self, Write};

use serde::Serialize;

use super::ending;
use crate::game::notation::{obf, transcript};
use crate::game::{Geometry, Position};
use crate::store::import::Game;

/// The columns. What is not known is empty.
#[derive(Serialize)]
struct Row<'a> {
    file: &'a str,
    id: u64,
    source: &'static str,
    worker: Option<&'a str>,
    board: &'static str,
    goal: &'static str,
    black: Option<&'a str>,
    white: Option<&'a str>,
    year: Option<u16>,
    date: Option<&'a str>,
    event: Option<&'a str>,
    ending: &'static str,
    score: Option<i16>,
    stated: Option<i16>,
    solved: usize,
    length: usize,
    moves: String,
    start: Option<String>,
}

pub(super) fn write<W: Write>(
    rows: &mut csv::Writer<W>,
    file: &str,
    game: &Game,
) -> io::Result<()> {
    let row = dispatch!(game.record.shape, G => row::<G>(file, game));
    rows.serialize(row).map_err(io::Error::from)
}

fn row<'a, G: Geometry>(file: &'a str, game: &'a Game) -> Row<'a> {
    let record = &game.record;
    let start = record.start::<G>().ok().filter(|&start| start != Position::start());
    Row {
        file,
        id: record.id,
        source: record.source.name(),
        worker: record.worker.as_deref(),
        board: record.shape.name(),
        goal: record.goal.name(),
        black: game.black.as_deref(),
        white: game.white.as_deref(),
        year: game.year(),
        date: game.date.as_deref(),
        event: game.event.as_deref(),
        ending: ending(game),
        score: game.score(),
        stated: game.stated,
        solved: record.moves.iter().filter(|played| played.exact.is_some()).count(),
        length: record.moves.len(),
        moves: transcript::<G>(game.squares()),
        start: start.map(obf),
    }
}
