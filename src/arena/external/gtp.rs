//! The client's side of the Go Text Protocol, version 2, as Othello engines use it.
//!
//! Squares are named as everywhere in Othello: columns from a without a gap at i, rows from the
//! top. The engine keeps the game; it is told what it does not know yet. The protocol has no
//! way to set a position, so a game that begins elsewhere than at the board's start can only
//! be played with engines that know this program's own command for it.

use std::marker::PhantomData;

use super::process::Process;
use super::{Dialog, read_move, shown};
use crate::arena::player::{PlayerError, Turn};
use crate::game::notation::{obf, square_name};
use crate::game::{Colour, Geometry, Position, Square};

/// A command beyond the protocol: makes an OBF position the start of the game.
pub const SET_POSITION: &str = "outflank_set_position";

pub(super) struct Gtp<G: Geometry> {
    process: Process,
    commands: u32,
    /// What the engine knows: the start of the game and the moves since.
    start: Option<Position<G>>,
    moves: Vec<Square>,
    geometry: PhantomData<G>,
}

impl<G: Geometry> Gtp<G> {
    /// Greets an engine and sets the size of its board.
    pub fn start(process: Process) -> Result<Gtp<G>, PlayerError> {
        let (start, moves) = (None, Vec::new());
        let mut dialog = Gtp { process, commands: 0, start, moves, geometry: PhantomData };
        let size = dialog.command(&format!("boardsize {}", G::WIDTH))?;
        size.map_err(|_| PlayerError::NotToldPosition { reason: "it does not play this board" })?;
        Ok(dialog)
    }

    /// Sends a command; the answer, or what the engine says is wrong.
    fn command(&mut self, command: &str) -> Result<Result<String, String>, PlayerError> {
        self.commands += 1;
        let id = self.commands.to_string();
        self.process.send(&format!("{id} {command}"));
        let mut listening = self.process.listen();
        loop {
            let line = listening.line()?;
            let (failed, rest) = match (line.strip_prefix('='), line.strip_prefix('?')) {
                (Some(rest), _) => (false, rest),
                (_, Some(rest)) => (true, rest),
                // Not an answer: engines chat.
                _ => continue,
            };
            let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            let mut answer = rest[digits..].trim().to_owned();
            // An answer ends with an empty line.
            loop {
                let more = listening.line()?;
                if more.trim().is_empty() {
                    break;
                }
                answer.push('\n');
                answer.push_str(&more);
            }
            if digits > 0 && rest[..digits] != id {
                continue;
            }
            return Ok(if failed { Err(answer) } else { Ok(answer) });
        }
    }

    /// Sends a command that must not fail.
    fn must(&mut self, command: &str, wanted: &'static str) -> Result<String, PlayerError> {
        let garbled = |answer: String| PlayerError::Garbled { shown: shown(&answer), wanted };
        self.command(command)?.map_err(garbled)
    }

    fn tell(&mut self, turn: &Turn<'_, G>) -> Result<(), PlayerError> {
        let known = self.start == Some(turn.start) && turn.moves.starts_with(&self.moves);
        if !known {
            self.must("clear_board", "a cleared board")?;
            self.moves.clear();
            self.start = None;
            if turn.start != Position::start() {
                let reason = "its protocol knows no start but the board's own";
                self.command(&format!("{SET_POSITION} {}", obf(turn.start)))?
                    .map_err(|_| PlayerError::NotToldPosition { reason })?;
            }
            self.start = Some(turn.start);
        }
        let mut position = turn.start;
        for (place, &square) in turn.moves.iter().enumerate() {
            let side = position.side;
            let illegal = || PlayerError::NotToldPosition { reason: "its game breaks the rules" };
            position = position.play(square).ok_or_else(illegal)?;
            let new = place >= self.moves.len();
            if new {
                let square = square_name::<G>(square);
                self.must(&format!("play {side} {square}"), "an accepted move")?;
            }
            let settled = position.settled();
            if settled.side != position.side && (new || place + 1 == self.moves.len()) {
                self.must(&format!("play {} pass", position.side), "an accepted pass")?;
            }
            position = settled;
        }
        self.moves = turn.moves.to_vec();
        Ok(())
    }
}

impl<G: Geometry> Dialog<G> for Gtp<G> {
    fn choose(&mut self, turn: &Turn<'_, G>) -> Result<(Square, Option<f32>), PlayerError> {
        self.tell(turn)?;
        let side = match turn.position.side {
            Colour::Black => "black",
            Colour::White => "white",
        };
        let answer = self.must(&format!("genmove {side}"), "a move")?;
        let square = read_move::<G>(answer.trim())?;
        // The engine has made its move on its own board.
        self.moves.push(square);
        Ok((square, None))
    }
}
