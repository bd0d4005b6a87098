//! The client side of the NBoard protocol (Welty's `nboard`, as NTest and Edax implement it).
//!
//! Each turn sends the whole game and a ping, and waits for the pong, so that earlier output is
//! ignored. Then it asks for a move. The answer is `=== F5/eval/time`; Edax separates the parts by
//! blanks.

use super::process::Process;
use super::{Session, read_move, shown};
use crate::game::{Geometry, Square};
use crate::players::player::{PlayerError, Turn};
use crate::search::stop::Stop;
use crate::store::ggf;

pub(super) struct Nboard {
    process: Process,
    pings: u32,
}

impl Nboard {
    /// Begins a session and sets the search depth.
    pub fn start(process: Process, depth: u32) -> Result<Nboard, PlayerError> {
        let mut session = Nboard { process, pings: 0 };
        session.process.send("nboard 2");
        session.process.send(&format!("set depth {depth}"));
        session.ping()?;
        Ok(session)
    }

    fn ping(&mut self) -> Result<(), PlayerError> {
        self.pings += 1;
        self.process.send(&format!("ping {}", self.pings));
        let mut reader = self.process.answer_reader();
        loop {
            let line = reader.line()?;
            let echo = line.trim().strip_prefix("pong ").map(|echo| echo.trim().parse());
            if echo == Some(Ok(self.pings)) {
                return Ok(());
            }
        }
    }
}

impl<G: Geometry> Session<G> for Nboard {
    fn set_stop(&mut self, stop: Stop) {
        self.process.stop = stop;
    }

    fn choose(&mut self, turn: &Turn<'_, G>) -> Result<(Square, Option<f32>), PlayerError> {
        let game = ggf::write(turn.start, turn.moves);
        self.process.send(&format!("set game {game}"));
        self.ping()?;
        self.process.send("go");
        let mut reader = self.process.answer_reader();
        loop {
            let line = reader.line()?;
            let Some(answer) = line.trim().strip_prefix("===") else { continue };
            // The evaluation may be empty.
            let parts: Vec<_> = match answer.contains('/') {
                true => answer.split('/').map(str::trim).collect(),
                false => answer.split_whitespace().collect(),
            };
            let wanted = "a move after `===`";
            let name = parts.first().filter(|name| !name.is_empty());
            let name =
                name.ok_or_else(|| PlayerError::UnexpectedAnswer { shown: shown(&line), wanted })?;
            let score = parts.get(1).and_then(|score| score.parse().ok());
            return Ok((read_move::<G>(name)?, score.filter(|score: &f32| score.is_finite())));
        }
    }
}
