//! External engines as players, each in a process of its own.
//!
//! An engine may crash, hang, play illegal moves or print without end. Each such error costs the
//! engine the current game only. Then the engine and all processes that it started are killed, and
//! it is started again for the next game.

mod gtp;
mod nboard;
mod options;
mod process;
mod running;

use std::path::Path;
use std::time::Instant;

use super::control::{Analysis, Control};
use super::player::{Choice, Hint, Player, PlayerError, Source, Turn};
use crate::game::notation::parse_square;
use crate::game::{Geometry, Square};
pub use gtp::SET_POSITION;
pub use options::{ExternalSpec, Protocol};
use process::Process;
pub use running::end_all;

use crate::search::stop::Stop;

/// The program of a command, if it does not exist. A name without a slash is looked for in the
/// folders of `PATH`.
fn missing_program(command: &str) -> Option<String> {
    let program = shlex::split(command)?.into_iter().next()?;
    let found = if program.contains('/') {
        Path::new(&program).is_file()
    } else {
        let folders = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&folders).any(|folder| folder.join(&program).is_file())
    };
    (!found).then_some(program)
}

/// A session with a running engine.
trait Session<G: Geometry>: Send {
    /// Sets the flag that ends a wait for an answer. The session cannot be used after that.
    fn set_stop(&mut self, stop: Stop);

    /// The engine's move, and its expected final disc difference if it reports one.
    fn choose(&mut self, turn: &Turn<'_, G>) -> Result<(Square, Option<f32>), PlayerError>;
}

/// An engine in a process of its own, which is started for its first move.
pub struct ExternalPlayer<G: Geometry> {
    name: String,
    spec: ExternalSpec,
    session: Option<Box<dyn Session<G>>>,
}

impl<G: Geometry> ExternalPlayer<G> {
    /// A player for an engine. The engine is not started yet.
    pub fn new(name: String, spec: ExternalSpec) -> ExternalPlayer<G> {
        ExternalPlayer { name, spec, session: None }
    }

    fn start(&self, stop: &Stop) -> Result<Box<dyn Session<G>>, PlayerError> {
        let process = Process::start(&self.spec.command, self.spec.timeout, stop.clone())?;
        Ok(match self.spec.protocol {
            Protocol::Nboard => Box::new(nboard::Nboard::start(process, self.spec.depth)?),
            Protocol::Gtp => Box::new(gtp::Gtp::<G>::start(process)?),
        })
    }

    fn choose_one(&mut self, turn: &Turn<'_, G>, stop: &Stop) -> Result<Choice, PlayerError> {
        let mut session = match self.session.take() {
            Some(session) => session,
            None => self.start(stop)?,
        };
        session.set_stop(stop.clone());
        let begun = Instant::now();
        let (square, score) = session.choose(turn)?;
        if !turn.position.board.legal().contains(square) {
            let shown = crate::game::notation::square_name::<G>(square).into();
            return Err(PlayerError::IllegalMove { shown });
        }
        // After an error the engine is not kept.
        self.session = Some(session);
        let seconds = begun.elapsed().as_secs_f64();
        Ok(Choice { score, seconds, ..Choice::plain(square) })
    }
}

impl<G: Geometry> Player<G> for ExternalPlayer<G> {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn choose(&mut self, turns: &[Turn<'_, G>]) -> Vec<Result<Choice, PlayerError>> {
        turns.iter().map(|turn| self.choose_one(turn, &Stop::default())).collect()
    }

    fn end_game(&mut self, _game: u32) {}

    /// The engine's move. An analysis that is stopped before it comes ends the engine, since the
    /// protocols have no command for this.
    fn analyze(
        &mut self,
        turn: &Turn<'_, G>,
        count: usize,
        control: &mut Control<'_>,
    ) -> Result<Analysis, PlayerError> {
        let choice = self.choose_one(turn, &control.stop)?;
        let hint = Hint { score: choice.score, ..Hint::plain(choice.square, Source::Engine) };
        Ok(control.analysis(Vec::from_iter((count > 0).then_some(hint)), 0))
    }
}

/// The text of an engine, shortened for messages, with `?` for control characters.
fn shown(text: &str) -> Box<str> {
    const MOST: usize = 60;
    let plain = text.chars().map(|letter| if letter.is_control() { '?' } else { letter });
    let mut short: String = plain.clone().take(MOST).collect();
    if plain.count() > MOST {
        short.push_str("...");
    }
    short.into()
}

/// Reads an engine's move.
fn read_move<G: Geometry>(text: &str) -> Result<Square, PlayerError> {
    if text.eq_ignore_ascii_case("resign") {
        return Err(PlayerError::Resigned);
    }
    // A pass is an illegal move: the engine is asked only if it has a legal move.
    parse_square::<G>(text).ok_or_else(|| PlayerError::IllegalMove { shown: shown(text) })
}

#[cfg(all(test, unix))]
mod tests;
