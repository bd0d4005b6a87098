//! Lines of moves, from the prompt or a file. All moves of a line are played, or none.

use super::display::printable;
use crate::game::notation::{square_name, strip_pass};
use crate::game::{Colour, Geometry};
use crate::protocol::session::Session;

/// A move that cannot be played. Moves are counted from 1, without passes.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum BadMove {
    /// The text is no square of the board.
    #[error(
        "move {number}, `{shown}`, is no square of this board (columns a to {last_column}, rows 1 to {rows}, holes excluded)"
    )]
    NoSquare {
        /// Which move it would be.
        number: usize,
        /// The text, shortened.
        shown: Box<str>,
        /// The board's last column.
        last_column: char,
        /// How many rows the board has.
        rows: usize,
    },
    /// The move is not legal in its position.
    #[error("move {number}, {name}, is not legal; legal: {legal}")]
    Illegal {
        /// Which move it is.
        number: usize,
        /// Its square.
        name: String,
        /// The legal squares of that position.
        legal: String,
    },
    /// Neither side can move any more.
    #[error("move {number}, {name}, comes after the end of the game")]
    AfterTheEnd {
        /// Which move it would be.
        number: usize,
        /// Its square.
        name: String,
    },
    /// A pass is written where no side passes.
    #[error("there is no pass before move {number}: {side} has a move")]
    NoPass {
        /// Which move comes next.
        number: usize,
        /// Who is to move.
        side: Colour,
    },
}

/// Separators between moves.
const SEPARATORS: [char; 5] = [' ', '\t', '\r', '\n', ','];

/// Plays all moves of a text: squares such as `f5 d6 c3`, with or without spaces or commas between
/// them. Passes are implied. A forced pass may be written, and any number of passes after the end
/// of the game.
///
/// # Errors
///
/// The first move that cannot be played.
pub fn play_all<G: Geometry>(session: &Session<G>, text: &str) -> Result<Session<G>, BadMove> {
    let layout = G::SHAPE.layout();
    let mut session = session.clone();
    let (mut number, mut may_pass) = (1, session.unannounced_pass().is_some());
    let mut rest = text.trim_start_matches(SEPARATORS);
    while !rest.is_empty() {
        let after = if let Some(after) = strip_pass(rest) {
            // The session has made the pass already.
            if !std::mem::take(&mut may_pass) && !session.is_over() {
                return Err(BadMove::NoPass { number, side: session.position().side });
            }
            after
        } else if let Some((square, after)) = layout.split_square(rest) {
            if session.play(square).is_err() {
                let name = layout.square_name(square);
                let legal: Vec<_> =
                    session.position().board.legal().map(square_name::<G>).collect();
                return Err(match session.is_over() {
                    true => BadMove::AfterTheEnd { number, name },
                    false => BadMove::Illegal { number, name, legal: legal.join(" ") },
                });
            }
            number += 1;
            may_pass = session.unannounced_pass().is_some();
            after
        } else {
            let word = rest.split(SEPARATORS).next().unwrap_or(rest);
            let last_column = (b'a' + layout.width as u8 - 1) as char;
            let rows = layout.width;
            return Err(BadMove::NoSquare { number, shown: printable(word), last_column, rows });
        };
        rest = after.trim_start_matches(SEPARATORS);
    }
    Ok(session)
}
