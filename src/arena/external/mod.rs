//! Outside engines as players, each in a process of its own.
//!
//! An engine may crash, hang, lie or flood: whatever it does costs it the game at hand and no
//! more. It is then ended with all that it has started, and started again for the next game.

mod gtp;
mod nboard;
mod process;
mod running;

use std::path::Path;
use std::time::Instant;

use super::player::{Choice, Player, PlayerError, Turn};
use super::spec::{ExternalSpec, Protocol};
use crate::game::notation::parse_square;
use crate::game::{Geometry, Square};
pub use gtp::SET_POSITION;
use process::Process;
pub use running::end_all;

/// The program of a command, if there is no such file: neither at its path nor, for a bare name,
/// in a folder of `PATH`.
pub fn missing_program(command: &str) -> Option<String> {
    let program = shlex::split(command)?.into_iter().next()?;
    let found = if program.contains('/') {
        Path::new(&program).is_file()
    } else {
        let folders = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&folders).any(|folder| folder.join(&program).is_file())
    };
    (!found).then_some(program)
}

/// A conversation with a running engine.
trait Dialog<G: Geometry>: Send {
    /// The engine's move, and the score that it expects for itself if it says so.
    fn choose(&mut self, turn: &Turn<'_, G>) -> Result<(Square, Option<f32>), PlayerError>;
}

/// An engine in a process of its own, started when it is first asked for a move.
pub struct External<G: Geometry> {
    name: String,
    spec: ExternalSpec,
    dialog: Option<Box<dyn Dialog<G>>>,
}

impl<G: Geometry> External<G> {
    /// A player for an engine that is not started yet.
    pub fn new(name: String, spec: ExternalSpec) -> External<G> {
        External { name, spec, dialog: None }
    }

    fn start(&self) -> Result<Box<dyn Dialog<G>>, PlayerError> {
        let process = Process::start(&self.spec.command, self.spec.timeout)?;
        Ok(match self.spec.protocol {
            Protocol::Nboard => Box::new(nboard::Nboard::start(process, self.spec.depth)?),
            Protocol::Gtp => Box::new(gtp::Gtp::<G>::start(process)?),
        })
    }

    fn choose_one(&mut self, turn: &Turn<'_, G>) -> Result<Choice, PlayerError> {
        let mut dialog = match self.dialog.take() {
            Some(dialog) => dialog,
            None => self.start()?,
        };
        let begun = Instant::now();
        let (square, score) = dialog.choose(turn)?;
        if !turn.position.board.legal().contains(square) {
            let shown = crate::game::notation::square_name::<G>(square).into();
            return Err(PlayerError::IllegalMove { shown });
        }
        // Only an engine that did all right is kept.
        self.dialog = Some(dialog);
        let seconds = begun.elapsed().as_secs_f64();
        Ok(Choice { score, seconds, ..Choice::plain(square) })
    }
}

impl<G: Geometry> Player<G> for External<G> {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn choose(&mut self, turns: &[Turn<'_, G>]) -> Vec<Result<Choice, PlayerError>> {
        turns.iter().map(|turn| self.choose_one(turn)).collect()
    }

    fn end_game(&mut self, _game: u32) {}
}

/// What an engine said, short enough for a log.
fn shown(text: &str) -> Box<str> {
    const MOST: usize = 60;
    let plain = text.chars().map(|letter| if letter.is_control() { '?' } else { letter });
    let mut short: String = plain.clone().take(MOST).collect();
    if plain.count() > MOST {
        short.push_str("...");
    }
    short.into()
}

/// The square that an engine named as its move.
fn read_move<G: Geometry>(text: &str) -> Result<Square, PlayerError> {
    if text.eq_ignore_ascii_case("resign") {
        return Err(PlayerError::Resigned);
    }
    // A pass is no square: the engine is asked only where it has a move.
    parse_square::<G>(text).ok_or_else(|| PlayerError::IllegalMove { shown: shown(text) })
}

#[cfg(all(test, unix))]
mod tests;
