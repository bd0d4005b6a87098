//! The engine's side of the NBoard protocol (Welty's `nboard`, version 2), for graphical boards
//! that speak it: `outflank nboard SPEC`.
//!
//! The board sends the game (`set game`, `move`), and asks for a move (`go`) or for the best moves
//! (`hint N`). It sends `ping N`, echoed as `pong N`, to tell old answers from new ones. The answer
//! to `go` does not change the game: the board sends the move that was played.
//!
//! A line that changes the position or asks for a new search ends the running search, and its
//! answer is dropped. `quit` ends a search for hints, and the hints found so far are printed. A
//! search for a move continues after `quit`. Every search continues after the end of the input, so
//! that a script gets the answer to its last line.

mod answers;

use std::io::{self, BufRead, Write};
use std::time::Duration;

use answers::{node_stats, search_lines};

use super::inbox::{Inbox, Urgency};
use super::lines::Line;
use super::session::Session;
use crate::game::Geometry;
use crate::game::notation::{parse_square, plain_excerpt, square_name, strip_pass};
use crate::players::control::{Analysis, Control, Effort};
use crate::players::player::{Player, Turn};
use crate::store::{ggf, openings};

/// The time between two reports of a running search.
const INTERVAL: Duration = Duration::from_millis(500);
/// The greatest depth that a board may set.
const DEEPEST: u32 = 60;
/// Characters of a wrong text that an answer shows.
const SHOWN: usize = 40;
/// The answer after a `set game` that was refused.
const NO_POSITION: &str = "no position: the last `set game` was refused";

/// Serves one board until it quits or its input ends.
///
/// # Errors
///
/// The input or the output fails.
pub fn serve<G: Geometry>(
    player: &mut dyn Player<G>,
    input: impl BufRead + Send + 'static,
    output: impl Write,
) -> io::Result<()> {
    let inbox = Inbox::open(input, urgency::<G>);
    let session = Some(Session::default());
    let mut server = Server { player, output, inbox, session, games: 0, level: None };
    while let Some(line) = server.inbox.receive()? {
        match line {
            Line::TooLong => server.status("the line is too long and is left out")?,
            Line::Text(text) if text.trim() == "quit" => break,
            Line::Text(text) => server.obey(text.trim())?,
        }
        server.output.flush()?;
    }
    Ok(())
}

/// The urgency of a line for a running search.
fn urgency<G: Geometry>(line: Option<&Line>) -> Urgency {
    let Some(Line::Text(text)) = line else { return Urgency::Patient };
    let mut words = text.split_whitespace();
    match (words.next(), words.next()) {
        (Some("quit"), None) => Urgency::Quit,
        (Some("ping" | "go" | "hint" | "move" | "analyze"), _) => Urgency::NewSearch,
        (Some("set"), Some("game")) => Urgency::NewSearch,
        (Some(name), _) if parse_square::<G>(name).is_some() => Urgency::NewSearch,
        _ => Urgency::Patient,
    }
}

struct Server<'a, G: Geometry, W> {
    player: &'a mut dyn Player<G>,
    output: W,
    inbox: Inbox,
    /// The game, or none after one that was refused.
    session: Option<Session<G>>,
    games: u32,
    /// The depth that the board has set.
    level: Option<u32>,
}

impl<G: Geometry, W: Write> Server<'_, G, W> {
    fn obey(&mut self, line: &str) -> io::Result<()> {
        let (command, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let rest = rest.trim();
        match command {
            "" => Ok(()),
            "nboard" => self.introduce(),
            "ping" => writeln!(self.output, "pong {rest}"),
            "set" => self.set(rest),
            "move" => self.make(rest),
            "go" => self.go(),
            "hint" => self.hint(rest),
            // There is no book to add it to.
            "learn" => writeln!(self.output, "learned"),
            "analyze" => self.status("retrograde analysis is not supported"),
            // Some boards send a move alone.
            name if parse_square::<G>(name).is_some() => self.make(line),
            _ => self.status(&format!("unknown command `{}`", shorten(command))),
        }
    }

    fn status(&mut self, text: &str) -> io::Result<()> {
        writeln!(self.output, "status {text}")
    }

    /// Sends the player's name, and its level if the board has set a depth and the player has
    /// levels.
    fn introduce(&mut self) -> io::Result<()> {
        let level = self.level.and_then(|level| self.player.level(level));
        let level = level.map_or(String::new(), |level| format!("({level})"));
        // Boards take one word for the name.
        let name = self.player.name().split_whitespace().collect::<Vec<_>>().join("_");
        writeln!(self.output, "set myname {name}{level}")
    }

    fn set(&mut self, rest: &str) -> io::Result<()> {
        let (variable, value) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        match variable {
            "game" => match read_game::<G>(value) {
                Ok(session) => {
                    self.set_game(session);
                    Ok(())
                }
                Err(error) => {
                    // Otherwise its moves would be played in the older game.
                    self.session = None;
                    self.status(&format!("the game is refused: {error}"))
                }
            },
            "depth" => match value.trim().parse() {
                Ok(level @ 1..=DEEPEST) => {
                    self.level = Some(level);
                    self.introduce()
                }
                _ => {
                    let shown = shorten(value.trim());
                    self.status(&format!("`{shown}` is no depth; allowed: 1 to {DEEPEST}"))
                }
            },
            _ => Ok(()),
        }
    }

    fn set_game(&mut self, session: Session<G>) {
        // A continued game keeps its number, so that players keep their trees.
        let continues = self.session.as_ref().is_some_and(|before| {
            session.start() == before.start() && session.moves().starts_with(before.moves())
        });
        if !continues {
            self.player.end_game(self.games);
            self.games = self.games.wrapping_add(1);
        }
        self.session = Some(session);
    }

    fn make(&mut self, text: &str) -> io::Result<()> {
        let Some(session) = &mut self.session else { return self.status(NO_POSITION) };
        let name = text.split(['/', ' ']).next().unwrap_or_default();
        let made = match strip_pass(name) == Some("") {
            true => session.unannounced_pass().is_some_and(|side| session.pass(side).is_ok()),
            false => parse_square::<G>(name).is_some_and(|square| session.play(square).is_ok()),
        };
        if made { Ok(()) } else { self.status(&format!("`{}` is no move here", shorten(name))) }
    }

    fn go(&mut self) -> io::Result<()> {
        let Some(session) = &self.session else { return self.status(NO_POSITION) };
        if session.unannounced_pass().is_some() {
            return writeln!(self.output, "=== PA");
        }
        if session.is_over() {
            return self.status("the game is over");
        }
        let doing = format!("thinking{}", opening(session));
        self.status(&doing)?;
        let ask = |player: &mut dyn Player<G>, turn: &Turn<'_, G>, control: &mut Control<'_>| {
            player.think(turn, control)
        };
        match self.ask(Urgency::NewSearch, ask)? {
            Some(Ok(choice)) => {
                node_stats(&mut self.output, choice.nodes, choice.seconds)?;
                let name = square_name::<G>(choice.square).to_ascii_uppercase();
                let score = choice.score.map_or(String::new(), |score| format!("{score:.2}"));
                writeln!(self.output, "=== {name}/{score}/{:.2}", choice.seconds)?;
            }
            Some(Err(error)) => self.status(&format!("no move: {error}"))?,
            None => {}
        }
        writeln!(self.output, "status")
    }

    fn hint(&mut self, rest: &str) -> io::Result<()> {
        let Some(session) = &self.session else { return self.status(NO_POSITION) };
        let passes = session.unannounced_pass().is_some();
        // A side that must pass has only this move.
        let most = if passes { 1 } else { G::SQUARES };
        let count = rest.parse().unwrap_or(1usize).clamp(1, most);
        if session.is_over() {
            return self.status("the game is over");
        }
        let doing = format!("analyzing{}", opening(session));
        self.status(&doing)?;
        let ask = |player: &mut dyn Player<G>, turn: &Turn<'_, G>, control: &mut Control<'_>| {
            player.analyze(turn, count, control)
        };
        match self.ask(Urgency::Quit, ask)? {
            Some(Ok(analysis)) => search_lines::<G>(&mut self.output, &analysis, passes)?,
            Some(Err(error)) => self.status(&format!("no hints: {error}"))?,
            None => {}
        }
        writeln!(self.output, "status")
    }

    /// Asks the player about the position and sends reports. A line of at least this urgency ends
    /// the search. `None` if a newer line asks for a new search, so that the answer is outdated.
    fn ask<R>(
        &mut self,
        least: Urgency,
        ask: impl FnOnce(&mut dyn Player<G>, &Turn<'_, G>, &mut Control<'_>) -> R,
    ) -> io::Result<Option<R>> {
        self.output.flush()?;
        let stop = self.inbox.stop_at(least);
        let Some(session) = self.session.as_ref().filter(|_| !self.inbox.holds(Urgency::NewSearch))
        else {
            return Ok(None);
        };
        let passes = session.unannounced_pass().is_some();
        let (output, mut written) = (&mut self.output, Ok(()));
        let mut sink = |analysis: &Analysis| {
            written = search_lines::<G>(output, analysis, passes).and_then(|()| output.flush());
            if written.is_err() {
                // The reader is gone.
                stop.set();
            }
        };
        let effort = Effort { level: self.level, ..Effort::default() };
        let mut control = Control::new(stop.clone(), effort).reporting(INTERVAL, &mut sink);
        let answer = ask(self.player, &session.turn(self.games), &mut control);
        written?;
        Ok((!self.inbox.holds(Urgency::NewSearch)).then_some(answer))
    }
}

fn shorten(text: &str) -> Box<str> {
    plain_excerpt(text, SHOWN)
}

fn read_game<G: Geometry>(text: &str) -> Result<Session<G>, ggf::GgfError> {
    let game = ggf::read::<G>(text)?;
    Ok(Session::replay(game.start, &game.moves))
}

/// The name of the opening behind a status, which a board shows.
fn opening<G: Geometry>(session: &Session<G>) -> String {
    let name = openings::name(session.start(), session.moves());
    name.map_or(String::new(), |name| format!(" ({name})"))
}

#[cfg(test)]
mod tests;
