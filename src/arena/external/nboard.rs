//! The client's side of the NBoard protocol (Welty's `nboard`, as NTest and Edax speak it).
//!
//! Each turn sends the whole game, waits for the echo of a ping, so that nothing said before
//! counts, and asks for a move: `=== F5/eval/time`, of which Edax separates the parts by blanks.

use super::process::Process;
use super::{Dialog, read_move, shown};
use crate::arena::player::{PlayerError, Turn};
use crate::game::{Geometry, Square};
use crate::store::ggf;

pub(super) struct Nboard {
    process: Process,
    pings: u32,
}

impl Nboard {
    /// Greets an engine and sets its depth.
    pub fn start(process: Process, depth: u32) -> Result<Nboard, PlayerError> {
        let mut dialog = Nboard { process, pings: 0 };
        dialog.process.send("nboard 2");
        dialog.process.send(&format!("set depth {depth}"));
        dialog.ping()?;
        Ok(dialog)
    }

    fn ping(&mut self) -> Result<(), PlayerError> {
        self.pings += 1;
        self.process.send(&format!("ping {}", self.pings));
        let mut listening = self.process.listen();
        loop {
            let line = listening.line()?;
            let echo = line.trim().strip_prefix("pong ").map(|echo| echo.trim().parse());
            if echo == Some(Ok(self.pings)) {
                return Ok(());
            }
        }
    }
}

impl<G: Geometry> Dialog<G> for Nboard {
    fn choose(&mut self, turn: &Turn<'_, G>) -> Result<(Square, Option<f32>), PlayerError> {
        let game = ggf::write(turn.start, turn.moves);
        self.process.send(&format!("set game {game}"));
        self.ping()?;
        self.process.send("go");
        let mut listening = self.process.listen();
        loop {
            let line = listening.line()?;
            let Some(answer) = line.trim().strip_prefix("===") else { continue };
            // An engine that does not evaluate leaves nothing between the slashes.
            let parts: Vec<_> = match answer.contains('/') {
                true => answer.split('/').map(str::trim).collect(),
                false => answer.split_whitespace().collect(),
            };
            let wanted = "a move after `===`";
            let name = parts.first().filter(|name| !name.is_empty());
            let name = name.ok_or_else(|| PlayerError::Garbled { shown: shown(&line), wanted })?;
            let score = parts.get(1).and_then(|score| score.parse().ok());
            return Ok((read_move::<G>(name)?, score.filter(|score: &f32| score.is_finite())));
        }
    }
}
