//! The engine's side of the Go Text Protocol, version 2, as Othello programs use it:
//! `outflank gtp SPEC`.
//!
//! Squares have their Othello names: columns from a, with i, and rows from the top. Forced passes
//! may be sent and are implied otherwise. After the last move each side may pass. `undo` takes back
//! a pass that was sent as a step of its own.
//!
//! Commands are executed one after the other. Only `lz-analyze` and `kata-analyze` run until the
//! next line, or the end of the input.

mod analysis;
mod gogui;
mod load;
mod timing;

use std::io::{self, BufRead, Write};
use std::time::Instant;

use analysis::Request;
use timing::Timing;

use super::inbox::{Inbox, Urgency};
use super::lines::Line;
use super::session::Session;
use crate::game::notation::{diagram, parse_square, square_name};
use crate::game::{Colour, Geometry, Goal, SquareSet};
use crate::players::control::{Control, Effort};
use crate::players::external::SET_POSITION;
use crate::players::player::{Player, PlayerError, Turn};
use crate::search::stop::Stop;

const COMMANDS: &[&str] = &[
    "boardsize",
    "clear_board",
    "final_score",
    "genmove",
    "kata-analyze",
    "known_command",
    "komi",
    "list_commands",
    "list_games",
    "loadsgf",
    "lz-analyze",
    "name",
    SET_POSITION,
    "play",
    "protocol_version",
    "quit",
    "reg_genmove",
    "set_game",
    "showboard",
    "time_left",
    "time_settings",
    "undo",
    "version",
];

/// Serves one controller until it quits or its input ends.
///
/// # Errors
///
/// The input or the output fails.
pub fn serve<G: Geometry>(
    player: &mut dyn Player<G>,
    goal: Goal,
    input: impl BufRead + Send + 'static,
    mut output: impl Write,
) -> io::Result<()> {
    // Every line ends an analysis. No other command can be ended.
    let mut inbox = Inbox::open(input, |_| Urgency::NewSearch);
    let (session, timing) = (Session::default(), Timing::default());
    let mut server = Server { player, goal, session, games: 0, timing };
    while let Some(line) = inbox.receive()? {
        let (id, answer, quit) = match &line {
            Line::TooLong => (None, Err("the line is too long".into()), false),
            Line::Text(text) => {
                let Some((id, command, arguments)) = parse(text) else { continue };
                let answer = match Request::of(&command, &arguments) {
                    None => server.obey(&command, &arguments),
                    Some(Err(error)) => Err(error),
                    Some(Ok(request)) => {
                        match server.analyze(&request, id, &mut inbox, &mut output)? {
                            Ok(()) => continue,
                            Err(error) => Err(error),
                        }
                    }
                };
                (id, answer, command == "quit")
            }
        };
        let id = shown(id);
        match answer {
            Ok(text) => write!(output, "={id} {text}\n\n")?,
            Err(text) => write!(output, "?{id} {text}\n\n")?,
        }
        output.flush()?;
        if quit {
            break;
        }
    }
    Ok(())
}

fn shown(id: Option<u64>) -> String {
    id.map_or(String::new(), |id| id.to_string())
}

/// Splits a line into its id, command and arguments; `None` if it is empty without control
/// characters and comments.
fn parse(text: &str) -> Option<(Option<u64>, String, Vec<String>)> {
    let text = text.split('#').next().unwrap_or_default();
    let plain: String = text
        .chars()
        .filter_map(|letter| match letter {
            '\t' => Some(' '),
            letter => (!letter.is_control()).then_some(letter),
        })
        .collect();
    let mut words = plain.split_whitespace().map(str::to_owned).peekable();
    let id = words.peek()?.parse().ok();
    if id.is_some() {
        words.next();
    }
    Some((id, words.next().unwrap_or_default(), words.collect()))
}

struct Server<'a, G: Geometry> {
    player: &'a mut dyn Player<G>,
    goal: Goal,
    session: Session<G>,
    games: u32,
    timing: Timing,
}

type Answer = Result<String, String>;

impl<G: Geometry> Server<'_, G> {
    fn obey(&mut self, command: &str, arguments: &[String]) -> Answer {
        let argument = arguments.first().map_or("", String::as_str);
        let done = |()| String::new();
        match command {
            "protocol_version" => Ok("2".into()),
            "name" => Ok("Outflank".into()),
            "version" => Ok(env!("CARGO_PKG_VERSION").into()),
            "list_commands" => Ok([COMMANDS, gogui::COMMANDS].concat().join("\n")),
            "known_command" => Ok((COMMANDS.contains(&argument)
                || gogui::COMMANDS.contains(&argument))
            .to_string()),
            "list_games" => Ok(gogui::GAME.into()),
            "set_game" if argument.eq_ignore_ascii_case(gogui::GAME) => Ok(String::new()),
            "set_game" => Err(format!("unknown game; allowed: {}", gogui::GAME)),
            "quit" | "komi" => Ok(String::new()),
            "time_settings" => self.timing.set(arguments).map(done),
            "time_left" => match arguments {
                [side, rest @ ..] => self.timing.set_left(colour(side)?, rest).map(done),
                [] => Err("syntax error: the colour is black or white".into()),
            },
            "boardsize" if argument.parse() == Ok(G::WIDTH) => self.restart(Session::default()),
            "boardsize" => Err("unacceptable size".into()),
            "clear_board" => self.restart(Session::default()),
            SET_POSITION => match load::position(&arguments.join(" ")) {
                Ok(session) => self.restart(session),
                Err(error) => Err(error.to_string()),
            },
            "loadsgf" => match load::load(arguments) {
                Ok(session) => self.restart(session),
                Err(error) => Err(format!("cannot load file: {error}")),
            },
            "play" => self.play(arguments),
            "genmove" => self.generate(argument, true),
            "reg_genmove" => self.generate(argument, false),
            "undo" if self.session.undo() => Ok(String::new()),
            "undo" => Err("cannot undo".into()),
            "showboard" => Ok(self.board()),
            "final_score" => self.final_score(),
            _ if gogui::COMMANDS.contains(&command) => self.rules(command),
            _ => Err("unknown command".into()),
        }
    }

    fn restart(&mut self, session: Session<G>) -> Answer {
        self.player.end_game(self.games);
        self.games = self.games.wrapping_add(1);
        self.session = session;
        self.timing.restart();
        Ok(String::new())
    }

    fn play(&mut self, arguments: &[String]) -> Answer {
        let [side, square] = arguments else { return Err("syntax error".into()) };
        let side = colour(side)?;
        let made = if square.eq_ignore_ascii_case("pass") {
            self.session.pass(side)
        } else {
            let square = parse_square::<G>(square).ok_or("invalid coordinate")?;
            self.session.play_as(side, square)
        };
        made.map(|()| String::new()).map_err(|error| format!("illegal move: {error}"))
    }

    fn generate(&mut self, side: &str, make: bool) -> Answer {
        let side = colour(side)?;
        if self.session.unannounced_pass() == Some(side) || self.session.is_over() {
            if make {
                // Either side may pass after the end, so this cannot fail.
                let _ = self.session.pass(side);
            }
            return Ok("pass".into());
        }
        if side != self.session.position().side {
            return Err("it is the other side's turn".into());
        }
        let begun = Instant::now();
        let empties = self.session.position().board.empties();
        let time = self.timing.for_move(side, empties).filter(|_| make);
        let mut control = Control::new(Stop::default(), Effort { time, ..Effort::default() });
        let turn = self.session.turn(self.games);
        let choice = self.player.think(&turn, &mut control);
        let choice = choice.map_err(|error: PlayerError| format!("no move: {error}"))?;
        if make {
            self.timing.spend(side, begun.elapsed());
            self.session.play(choice.square).map_err(|error| error.to_string())?;
        }
        Ok(square_name::<G>(choice.square).to_ascii_uppercase())
    }

    /// The diagram, the discs, and the side to move. An empty line would end the answer, so there
    /// is none.
    fn board(&self) -> String {
        let black = self.session.black_view();
        let count = |set: G::Bitboard| SquareSet::<G>(set).len();
        let next = match (self.session.is_over(), self.session.unannounced_pass()) {
            (true, _) => "the game is over".into(),
            (false, Some(side)) => format!("{side} must pass"),
            (false, None) => format!("{} to move", self.session.position().side),
        };
        let diagram = diagram(self.session.position());
        let (blacks, whites) = (count(black.mine), count(black.theirs));
        format!("\n{}\nblack (X) {blacks}, white (O) {whites}; {next}", diagram.trim_end())
    }

    fn final_score(&self) -> Answer {
        if !self.session.is_over() {
            return Err("the game is not over".into());
        }
        Ok(match self.session.black_view().final_score(self.goal) {
            0 => "0".into(),
            score @ 1.. => format!("B+{score}"),
            score => format!("W+{}", -score),
        })
    }

    /// The turn to analyze for `side`.
    fn turn_of(&self, side: Option<Colour>) -> Result<Turn<'_, G>, String> {
        if self.session.is_over() {
            return Err("the game is over".into());
        }
        if let Some(passed) = self.session.unannounced_pass() {
            return Err(format!("{passed} must pass"));
        }
        if side.is_some_and(|side| side != self.session.position().side) {
            return Err("it is the other side's turn".into());
        }
        Ok(self.session.turn(self.games))
    }
}

fn colour(name: &str) -> Result<Colour, String> {
    match name.to_ascii_lowercase().as_str() {
        "b" | "black" => Ok(Colour::Black),
        "w" | "white" => Ok(Colour::White),
        _ => Err("syntax error: the colour is black or white".into()),
    }
}

#[cfg(test)]
mod tests;
