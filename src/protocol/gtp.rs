//! The engine's side of the Go Text Protocol, version 2, as Othello programs use it:
//! `outflank gtp SPEC`.
//!
//! Squares are named as everywhere in Othello: columns from a without a gap at i, rows from the
//! top. Forced passes may be sent and are implied where they are not; after the last move anybody
//! may pass. `undo` takes back a pass that was sent, as any other move, by itself.

use std::io::{self, BufRead, Write};

use super::lines::{Line, next_line};
use super::session::Session;
use crate::arena::external::SET_POSITION;
use crate::arena::player::Player;
use crate::game::notation::{diagram, parse_obf, parse_square, square_name};
use crate::game::{Colour, Geometry, Goal};

const COMMANDS: &[&str] = &[
    "boardsize",
    "clear_board",
    "final_score",
    "genmove",
    "known_command",
    "komi",
    "list_commands",
    "name",
    SET_POSITION,
    "play",
    "protocol_version",
    "quit",
    "reg_genmove",
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
    mut input: impl BufRead,
    mut output: impl Write,
) -> io::Result<()> {
    let mut server = Server { player, goal, session: Session::default(), games: 0 };
    while let Some(line) = next_line(&mut input)? {
        let (id, answer, quit) = match &line {
            Line::TooLong => (None, Err("the line is too long".into()), false),
            Line::Text(text) => {
                let Some((id, command, arguments)) = parse(text) else { continue };
                (id, server.obey(&command, &arguments), command == "quit")
            }
        };
        let id = id.map_or(String::new(), |id| id.to_string());
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

/// Takes a line apart into its number, command and arguments; `None` if nothing is left of it
/// once control characters and comments are gone.
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
}

type Answer = Result<String, String>;

impl<G: Geometry> Server<'_, G> {
    fn obey(&mut self, command: &str, arguments: &[String]) -> Answer {
        let argument = arguments.first().map_or("", String::as_str);
        let done = || Ok(String::new());
        match command {
            "protocol_version" => Ok("2".into()),
            "name" => Ok("Outflank".into()),
            "version" => Ok(env!("CARGO_PKG_VERSION").into()),
            "list_commands" => Ok(COMMANDS.join("\n")),
            "known_command" => Ok(COMMANDS.contains(&argument).to_string()),
            "quit" | "komi" | "time_settings" | "time_left" => done(),
            "boardsize" if argument.parse() == Ok(G::WIDTH) => self.restart(Session::default()),
            "boardsize" => Err("unacceptable size".into()),
            "clear_board" => self.restart(Session::default()),
            SET_POSITION => match parse_obf::<G>(&arguments.join(" ")) {
                Ok(line) => self.restart(Session::new(line.position)),
                Err(error) => Err(error.to_string()),
            },
            "play" => self.play(arguments),
            "genmove" => self.generate(argument, true),
            "reg_genmove" => self.generate(argument, false),
            "undo" if self.session.undo() => done(),
            "undo" => Err("cannot undo".into()),
            // An empty line would end the answer: the diagram has none.
            "showboard" => Ok(format!("\n{}", diagram(self.session.position()).trim_end())),
            "final_score" => self.final_score(),
            _ => Err("unknown command".into()),
        }
    }

    fn restart(&mut self, session: Session<G>) -> Answer {
        self.player.end_game(self.games);
        self.games = self.games.wrapping_add(1);
        self.session = session;
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
        if self.session.unspoken_pass() == Some(side) || self.session.is_over() {
            if make {
                // It is that side's pass, or anybody's, so it is accepted.
                let _ = self.session.pass(side);
            }
            return Ok("pass".into());
        }
        if side != self.session.position().side {
            return Err("it is the other side's turn".into());
        }
        let turn = self.session.turn(self.games);
        let choice = self.player.choose(&[turn]).pop();
        let choice = choice.ok_or("no move")?.map_err(|error| format!("no move: {error}"))?;
        if make {
            self.session.play(choice.square).map_err(|error| error.to_string())?;
        }
        Ok(square_name::<G>(choice.square).to_ascii_uppercase())
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
}

fn colour(name: &str) -> Result<Colour, String> {
    match name.to_ascii_lowercase().as_str() {
        "b" | "black" => Ok(Colour::Black),
        "w" | "white" => Ok(Colour::White),
        _ => Err("syntax error: the colour is black or white".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arena::players::Random;
    use crate::game::Square8;
    use proptest::prelude::*;

    fn answers(input: &[u8]) -> Vec<String> {
        let mut output = Vec::new();
        serve::<Square8>(&mut Random::new(1), Goal::Most, input, &mut output)
            .expect("memory does not fail");
        let text = String::from_utf8(output).expect("text");
        text.split_terminator("\n\n").map(str::to_owned).collect()
    }

    #[test]
    fn a_controller_plays_a_game() {
        let said = answers(
            b"1 boardsize 8\nclear_board\n# a comment\n\n2 play black F5\n3 genmove w\nundo\n4 showboard\n5 quit\n6 name\n",
        );
        assert_eq!(said[..3], ["=1 ", "= ", "=2 "]);
        let square = said[3].strip_prefix("=3 ").expect("a move");
        assert!(["D6", "F4", "F6"].contains(&square), "{square}");
        assert_eq!(said[4], "= ");
        assert!(said[5].starts_with("=4 \n   a b c d e f g h\n 1"), "{}", said[5]);
        assert_eq!(said[6], "=5 ");
        assert_eq!(said.len(), 7);
    }

    #[test]
    fn what_cannot_be_done_is_said() {
        for (line, wanted) in [
            ("fly", "unknown command"),
            ("7", "unknown command"),
            ("boardsize 19", "unacceptable size"),
            ("play", "syntax error"),
            ("play black", "syntax error"),
            ("play red f5", "black or white"),
            ("play black z9", "invalid coordinate"),
            ("play black a1", "illegal move"),
            ("play white f5", "illegal move: it is the other side's turn"),
            ("play black pass", "illegal move: there is no pass here"),
            ("genmove", "black or white"),
            ("genmove white", "other side"),
            ("undo", "cannot undo"),
            ("final_score", "not over"),
            ("outflank_set_position", "64 characters"),
            ("outflank_set_position XO- X", "64 characters"),
        ] {
            let said = answers(format!("{line}\n").as_bytes());
            assert!(said.len() == 1 && said[0].starts_with('?'), "{line}: {said:?}");
            assert!(said[0].contains(wanted), "{line}: {said:?}");
        }
        let long = [&[b'x'; 200_000][..], b"\n1 name\n"].concat();
        assert_eq!(answers(&long), ["? the line is too long", "=1 Outflank"]);
    }

    #[test]
    fn passes_and_the_end_are_known() {
        let position = format!("OX{} X", "-".repeat(62));
        let set = format!("outflank_set_position {position}\n");
        let said = answers(
            format!("{set}genmove black\ngenmove white\ngenmove black\nfinal_score\n").as_bytes(),
        );
        assert_eq!(said, ["= ", "= pass", "= C1", "= pass", "= W+64"]);
        let said = answers(format!("{set}play black pass\nplay white c1\n").as_bytes());
        assert_eq!(said, ["= ", "= ", "= "]);
    }

    /// After c1 white must pass, and f1 ends the game.
    fn before_a_pass(commands: &str) -> Vec<String> {
        let position = format!("XO-XO---{} X", "-".repeat(56));
        let said = answers(format!("outflank_set_position {position}\n{commands}").as_bytes());
        assert_eq!(said[0], "= ");
        said[1..].to_vec()
    }

    #[test]
    fn undo_takes_a_spoken_pass_back_alone() {
        let said = before_a_pass(
            "play b c1\ngenmove w\nundo\ngenmove w\nundo\nplay w pass\ngenmove b\nundo\ngenmove b\n",
        );
        assert_eq!(said, ["= ", "= pass", "= ", "= pass", "= ", "= ", "= F1", "= ", "= F1"]);
        // Taken back with the move before it where nobody spoke of it.
        let said = before_a_pass("play b c1\nreg_genmove w\nundo\nplay b c1\nundo\nundo\n");
        assert_eq!(said, ["= ", "= pass", "= ", "= ", "= ", "? cannot undo"]);
        // A pass that was said stays said when the move after it is taken back.
        let said = before_a_pass(
            "play b c1\nplay w pass\nplay b f1\nundo\nplay w pass\nundo\nundo\nundo\n",
        );
        assert_eq!(said[4], "? illegal move: there is no pass here");
        assert_eq!(said[5..], ["= ", "= ", "? cannot undo"]);
    }

    #[test]
    fn anybody_passes_after_the_end() {
        let said = before_a_pass(
            "play b c1\nplay b f1\ngenmove b\nplay b pass\nplay w pass\nplay w g1\nfinal_score\n",
        );
        assert_eq!(said[2..5], ["= pass", "= ", "= "]);
        assert!(said[5].starts_with("? illegal move"), "{said:?}");
        assert_eq!(said[6], "= B+64");
        let said = before_a_pass(
            "play b c1\nplay b f1\nplay w pass\ngenmove b\nundo\nundo\nfinal_score\nundo\nfinal_score\n",
        );
        assert_eq!(said[4..8], ["= ", "= ", "= B+64", "= "]);
        assert_eq!(said[8], "? the game is not over");
    }

    #[test]
    fn every_listed_command_is_known() {
        let said = answers(b"list_commands\n");
        for command in said[0].trim_start_matches("= ").lines() {
            let said = answers(format!("known_command {command}\n{command}\n").as_bytes());
            assert_eq!(said[0], "= true");
            assert!(!said[1].contains("unknown command"), "{command}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_survived(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            answers(&bytes);
        }

        #[test]
        fn any_commands_are_survived(lines in proptest::collection::vec(
            "([0-9]{1,3} )?(play |genmove |undo|boardsize |showboard)?[ -~]{0,10}", 0..12,
        )) {
            answers(lines.join("\n").as_bytes());
        }
    }
}
