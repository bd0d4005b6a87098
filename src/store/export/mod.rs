//! Writes games in formats that other programs read.

mod npz;
mod rows;

use std::io::{self, Write};

pub use npz::{NpzError, NpzWriter, Planes};

use super::ggf::{self, Header};
use super::import::{Ending, Game, NO_MOVES, json};
use crate::choices::choices;
use crate::game::notation::{obf, square_name, transcript};
use crate::game::record::MoveRecord;
use crate::game::{Geometry, Goal, Position};

choices! {
    /// A text format that games are written in.
    pub enum TextFormat {
        /// A transcript on each line.
        #[default]
        Transcript = "transcript",
        /// The Generic Game Format, a game on each line.
        Ggf = "ggf",
        /// A position on each line, with its best move where that is exact.
        Obf = "obf",
        /// A game on each line, with everything that is known about it.
        Json = "json",
        /// A row for each game, after a row of the columns' names.
        Csv = "csv",
    }
}

/// Why a format cannot hold a game.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum LeftOut {
    /// A transcript begins with the board's own start.
    #[error("it does not begin with the board's own start position")]
    OtherStart,
    /// Learning needs a result.
    #[error("it is unfinished, so it has no result")]
    NoResult,
    /// One file has one board.
    #[error("it is on another board than the first game")]
    OtherBoard,
}

/// Writes games as text.
///
/// ```
/// use std::path::Path;
///
/// use outflank::game::{Goal, Shape};
/// use outflank::store::export::{TextFormat, TextWriter};
/// use outflank::store::import;
///
/// let mut writer = TextWriter::new(TextFormat::Csv, Vec::new());
/// for file in import::files(Path::new("tests/data/run-1"), None)? {
///     for found in file.games(Shape::Square6, Goal::Most)? {
///         writer.write("run-1", &found?.game?)??;
///     }
/// }
/// let text = String::from_utf8(writer.finish()?)?;
/// assert_eq!(text.lines().count(), 1 + 24, "a head and the games");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct TextWriter<W: Write> {
    format: TextFormat,
    output: Output<W>,
}

enum Output<W: Write> {
    Lines(W),
    Rows(Box<csv::Writer<W>>),
}

impl<W: Write> TextWriter<W> {
    /// Writes in `format` to `output`.
    pub fn new(format: TextFormat, output: W) -> TextWriter<W> {
        let output = match format {
            TextFormat::Csv => Output::Rows(Box::new(csv::Writer::from_writer(output))),
            _ => Output::Lines(output),
        };
        TextWriter { format, output }
    }

    /// Writes a game. `file` is what it is from.
    ///
    /// # Errors
    ///
    /// The output cannot be written.
    pub fn write(&mut self, file: &str, game: &Game) -> io::Result<Result<(), LeftOut>> {
        let out = match &mut self.output {
            Output::Rows(rows) => return rows::write(rows, file, game).map(Ok),
            Output::Lines(out) => out,
        };
        match self.format {
            TextFormat::Json => writeln!(out, "{}", json::line(game))?,
            _ => return dispatch!(game.record.shape, G => write::<G>(self.format, game, out)),
        }
        Ok(Ok(()))
    }

    /// Writes what is buffered, and returns the output.
    ///
    /// # Errors
    ///
    /// The output cannot be written.
    pub fn finish(self) -> io::Result<W> {
        let mut output = match self.output {
            Output::Lines(output) => output,
            Output::Rows(rows) => rows.into_inner().map_err(|error| error.into_error())?,
        };
        output.flush()?;
        Ok(output)
    }
}

fn write<G: Geometry>(
    format: TextFormat,
    game: &Game,
    out: &mut impl Write,
) -> io::Result<Result<(), LeftOut>> {
    let record = &game.record;
    // A game that was read has been replayed, so it has a start and positions.
    let positions = record.replay::<G>().unwrap_or_default();
    let Some(&start) = positions.first() else { return Ok(Ok(())) };
    match format {
        TextFormat::Transcript if start != Position::start() => {
            return Ok(Err(LeftOut::OtherStart));
        }
        TextFormat::Transcript if record.moves.is_empty() => writeln!(out, "{NO_MOVES}")?,
        TextFormat::Transcript => writeln!(out, "{}", transcript::<G>(game.squares()))?,
        TextFormat::Obf => {
            for (index, played) in record.moves.iter().enumerate() {
                let best = proven(game, &positions, index, played);
                writeln!(out, "{}{best}", obf(positions[index]))?;
            }
        }
        _ => {
            let squares: Vec<_> = game.squares().collect();
            writeln!(out, "{}", ggf::write_with(&header(game), start, &squares))?;
        }
    }
    Ok(Ok(()))
}

fn header(game: &Game) -> Header {
    let goal = game.record.goal;
    let usual = Header::default();
    let name = |name: &Option<Box<str>>, usual: String| name.as_deref().map_or(usual, Into::into);
    let result = game.stated.or(game.score());
    Header {
        black: name(&game.black, usual.black),
        white: name(&game.white, usual.white),
        place: game.event.as_deref().map(Into::into),
        date: game.date.as_deref().map(Into::into),
        result: result.map(|score| goal.apply(score.into())),
        ended: game.ended,
        goal,
    }
}

/// The move of a position as `; f5:+4;` if it is known to reach the position's exact score: the
/// position after it is solved too, or is the end of the game.
fn proven<G: Geometry>(
    game: &Game,
    positions: &[Position<G>],
    index: usize,
    played: &MoveRecord,
) -> String {
    let (Some(exact), Some(next)) = (played.exact, positions.get(index + 1)) else {
        return String::new();
    };
    let side = positions[index].side;
    let reached = match game.record.moves.get(index + 1) {
        Some(reply) => {
            let own = |score: i8| if next.side == side { score } else { -score };
            reply.exact.map(|score| i32::from(own(score)))
        }
        None if next.board.is_over() => Some(final_score(*next, side, game.record.goal)),
        None => None,
    };
    match reached == Some(i32::from(exact)) {
        true => format!("; {}:{exact:+};", square_name::<G>(played.square)),
        false => String::new(),
    }
}

/// The score of a finished game for `side`.
fn final_score<G: Geometry>(last: Position<G>, side: crate::game::Colour, goal: Goal) -> i32 {
    let black = last.black_view().final_score(goal);
    if side == crate::game::Colour::Black { black } else { -black }
}

/// How a game ends, in a word.
fn ending(game: &Game) -> &'static str {
    match game.ending {
        Ending::Finished => "finished",
        Ending::Resigned => "resigned",
        Ending::Unfinished => "unfinished",
    }
}

#[cfg(test)]
mod tests;
