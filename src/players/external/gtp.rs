//! The client side of the Go Text Protocol, version 2, as Othello engines use it.
//!
//! Squares have their Othello names: columns from a with no gap at i, rows from the top. The engine
//! keeps the game and gets only new moves. The protocol has no command to set a position. So games
//! that do not begin at the board's start position need an engine that knows this program's own
//! command ([`SET_POSITION`]).

use std::marker::PhantomData;

use super::process::Process;
use super::{Session, read_move, shown};
use crate::game::notation::{obf, square_name};
use crate::game::{Colour, Geometry, Position, Square};
use crate::players::player::{PlayerError, Turn};
use crate::search::stop::Stop;

/// A command that is not part of the protocol: sets the start of the game to an OBF position.
pub const SET_POSITION: &str = "outflank_set_position";

pub(super) struct Gtp<G: Geometry> {
    process: Process,
    commands: u32,
    /// The start of the game that the engine has, and the moves since.
    start: Option<Position<G>>,
    moves: Vec<Square>,
    geometry: PhantomData<G>,
}

impl<G: Geometry> Gtp<G> {
    /// Begins a session and sets the size of the board.
    pub fn start(process: Process) -> Result<Gtp<G>, PlayerError> {
        let (start, moves) = (None, Vec::new());
        let mut session = Gtp { process, commands: 0, start, moves, geometry: PhantomData };
        let size = session.command(&format!("boardsize {}", G::WIDTH))?;
        size.map_err(|_| PlayerError::UnsupportedPosition {
            reason: "it does not play this board",
        })?;
        Ok(session)
    }

    /// Sends a command. Returns the engine's answer, or as the inner error its error message.
    fn command(&mut self, command: &str) -> Result<Result<String, String>, PlayerError> {
        self.commands += 1;
        let id = self.commands.to_string();
        self.process.send(&format!("{id} {command}"));
        let mut reader = self.process.answer_reader();
        loop {
            let line = reader.line()?;
            let (failed, rest) = match (line.strip_prefix('='), line.strip_prefix('?')) {
                (Some(rest), _) => (false, rest),
                (_, Some(rest)) => (true, rest),
                // Not an answer. Engines may print other lines.
                _ => continue,
            };
            let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            let mut answer = rest[digits..].trim().to_owned();
            // An answer ends with an empty line.
            loop {
                let more = reader.line()?;
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

    /// Sends a command. An error message of the engine is an error.
    fn command_ok(&mut self, command: &str, wanted: &'static str) -> Result<String, PlayerError> {
        let failed =
            |answer: String| PlayerError::UnexpectedAnswer { shown: shown(&answer), wanted };
        self.command(command)?.map_err(failed)
    }

    /// Sends the game: only new moves, if the engine has the beginning of the game.
    fn send_game(&mut self, turn: &Turn<'_, G>) -> Result<(), PlayerError> {
        let has_beginning = self.start == Some(turn.start) && turn.moves.starts_with(&self.moves);
        if !has_beginning {
            self.command_ok("clear_board", "a cleared board")?;
            self.moves.clear();
            self.start = None;
            if turn.start != Position::start() {
                let reason = "its protocol has the board's own start position only";
                self.command(&format!("{SET_POSITION} {}", obf(turn.start)))?
                    .map_err(|_| PlayerError::UnsupportedPosition { reason })?;
            }
            self.start = Some(turn.start);
        }
        let mut position = turn.start;
        for (place, &square) in turn.moves.iter().enumerate() {
            let side = position.side;
            let illegal =
                || PlayerError::UnsupportedPosition { reason: "the game breaks the rules" };
            position = position.play(square).ok_or_else(illegal)?;
            let new = place >= self.moves.len();
            if new {
                let square = square_name::<G>(square);
                self.command_ok(&format!("play {side} {square}"), "an accepted move")?;
            }
            let settled = position.pass_if_forced();
            if settled.side != position.side && (new || place + 1 == self.moves.len()) {
                self.command_ok(&format!("play {} pass", position.side), "an accepted pass")?;
            }
            position = settled;
        }
        self.moves = turn.moves.to_vec();
        Ok(())
    }
}

impl<G: Geometry> Session<G> for Gtp<G> {
    fn set_stop(&mut self, stop: Stop) {
        self.process.stop = stop;
    }

    fn choose(&mut self, turn: &Turn<'_, G>) -> Result<(Square, Option<f32>), PlayerError> {
        self.send_game(turn)?;
        let side = match turn.position.side {
            Colour::Black => "black",
            Colour::White => "white",
        };
        let answer = self.command_ok(&format!("genmove {side}"), "a move")?;
        let square = read_move::<G>(answer.trim())?;
        // The engine has played its move on its own board.
        self.moves.push(square);
        Ok((square, None))
    }
}
