//! The engine's side of the NBoard protocol (Welty's `nboard`), for graphical boards that speak
//! it: `outflank nboard SPEC`.
//!
//! The board sends the game (`set game`, `move`), asks for a move (`go`) or for the best moves
//! (`hint N`), and uses `ping N`, echoed as `pong N`, to tell old answers from new ones. The
//! answer to `go` does not change the game: the board sends the move that was played. How deep
//! the player thinks is its specification's affair, so `set depth` is heard and not obeyed.

use std::io::{self, BufRead, Write};

use super::lines::{Line, next_line};
use super::session::Session;
use crate::arena::player::{Hint, Player};
use crate::game::Geometry;
use crate::game::notation::{parse_square, square_name, transcript};
use crate::store::ggf;

/// Serves one board until it quits or its input ends.
///
/// # Errors
///
/// The input or the output fails.
pub fn serve<G: Geometry>(
    player: &mut dyn Player<G>,
    mut input: impl BufRead,
    output: impl Write,
) -> io::Result<()> {
    let mut server = Server { player, output, session: Session::default(), games: 0 };
    while let Some(line) = next_line(&mut input)? {
        match line {
            Line::TooLong => server.status("the line is too long and is left out")?,
            Line::Text(text) if text.trim() == "quit" => break,
            Line::Text(text) => server.obey(text.trim())?,
        }
        server.output.flush()?;
    }
    Ok(())
}

struct Server<'a, G: Geometry, W> {
    player: &'a mut dyn Player<G>,
    output: W,
    session: Session<G>,
    games: u32,
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
            "learn" => writeln!(self.output, "learn"),
            "analyze" => self.status("retrograde analysis is not supported"),
            // Some boards send a move alone.
            name if parse_square::<G>(name).is_some() => self.make(line),
            _ => self.status(&format!("unknown command `{}`", shorten(command))),
        }
    }

    fn status(&mut self, text: &str) -> io::Result<()> {
        writeln!(self.output, "status {text}")
    }

    fn introduce(&mut self) -> io::Result<()> {
        // Boards take one word for the name.
        let name: String = self.player.name().split_whitespace().collect();
        writeln!(self.output, "set myname {name}")
    }

    fn set(&mut self, rest: &str) -> io::Result<()> {
        let (variable, value) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        match variable {
            "game" => match read_game::<G>(value) {
                Ok(session) => {
                    // The same game, one move on, goes by the same number: trees are kept.
                    let goes_on = session.start() == self.session.start()
                        && session.moves().starts_with(self.session.moves());
                    if !goes_on {
                        self.player.end_game(self.games);
                        self.games = self.games.wrapping_add(1);
                    }
                    self.session = session;
                    Ok(())
                }
                Err(error) => self.status(&format!("the game is left out: {error}")),
            },
            "depth" => self.introduce(),
            _ => Ok(()),
        }
    }

    fn make(&mut self, text: &str) -> io::Result<()> {
        let name = text.split(['/', ' ']).next().unwrap_or_default();
        let made = match is_pass(name) {
            true => match self.session.unspoken_pass() {
                Some(side) => self.session.pass(side).is_ok(),
                None => false,
            },
            false => {
                parse_square::<G>(name).is_some_and(|square| self.session.play(square).is_ok())
            }
        };
        if made { Ok(()) } else { self.status(&format!("`{}` is no move here", shorten(name))) }
    }

    fn go(&mut self) -> io::Result<()> {
        if self.session.unspoken_pass().is_some() {
            return writeln!(self.output, "=== PA");
        }
        if self.session.is_over() {
            return self.status("the game is over");
        }
        self.status("thinking")?;
        self.output.flush()?;
        let turn = self.session.turn(self.games);
        match self.player.choose(&[turn]).pop() {
            Some(Ok(choice)) => {
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
        let passes = self.session.unspoken_pass().is_some();
        // Who must pass has nothing else to consider.
        let most = if passes { 1 } else { G::SQUARES };
        let count = rest.parse().unwrap_or(1usize).clamp(1, most);
        if self.session.is_over() {
            return self.status("the game is over");
        }
        self.status("analyzing")?;
        self.output.flush()?;
        let turn = self.session.turn(self.games);
        match self.player.hints(&turn, count) {
            Ok(hints) => hints.iter().try_for_each(|hint| self.search_line(hint, passes))?,
            Err(error) => self.status(&format!("no hints: {error}"))?,
        }
        writeln!(self.output, "status")
    }

    /// `search LINE EVAL 0 DEPTH TEXT`; without an estimate of the discs the win chance stands
    /// for it, from -1 to 1. Where the side to move `passes`, the hint is the other side's: then
    /// the line begins with the pass, and all is told as the side that passes sees it.
    fn search_line(&mut self, hint: &Hint, passes: bool) -> io::Result<()> {
        let line = transcript::<G>(hint.line.iter().copied()).to_ascii_uppercase();
        let pass = if passes { "PA" } else { "" };
        let (win_chance, score) = match passes {
            // Taken from 0 an even score does not come out as -0.
            true => (hint.win_chance.map(|chance| 1.0 - chance), hint.score.map(|s| 0.0 - s)),
            false => (hint.win_chance, hint.score),
        };
        let score = score.or(win_chance.map(|chance| 2.0 * chance - 1.0)).unwrap_or(0.0);
        let depth = match (hint.exact, hint.depth) {
            (true, _) => "100%".into(),
            (false, depth) => depth.unwrap_or(0).to_string(),
        };
        let chance = win_chance.map_or(String::new(), |chance| format!(" {:.1} %", 100.0 * chance));
        writeln!(self.output, "search {pass}{line} {score:.2} 0 {depth}{chance}")
    }
}

fn is_pass(name: &str) -> bool {
    ["pa", "pass", "--"].iter().any(|pass| name.eq_ignore_ascii_case(pass))
}

fn shorten(text: &str) -> String {
    text.chars().take(40).collect()
}

fn read_game<G: Geometry>(text: &str) -> Result<Session<G>, ggf::GgfError> {
    let game = ggf::read::<G>(text)?;
    let mut session = Session::new(game.start);
    for made in game.moves {
        // The reader has checked them against the rules.
        let _ = match (made, session.unspoken_pass()) {
            (Some(square), _) => session.play(square),
            (None, Some(side)) => session.pass(side),
            (None, None) => Ok(()),
        };
    }
    Ok(session)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arena::players::{Random, RolloutsPlayer};
    use crate::game::{Goal, Position, Square8};
    use crate::search::rollouts::Options;
    use proptest::prelude::*;

    fn answers_of(player: &mut dyn Player<Square8>, input: &[u8]) -> Vec<String> {
        let mut output = Vec::new();
        serve::<Square8>(player, input, &mut output).expect("memory does not fail");
        String::from_utf8(output).expect("text").lines().map(str::to_owned).collect()
    }

    fn answers(input: &[u8]) -> Vec<String> {
        answers_of(&mut Random::new(1), input)
    }

    #[test]
    fn a_board_plays_a_game() {
        let game = ggf::write(Position::<Square8>::start(), &[]);
        let input = format!(
            "nboard 2\nset depth 8\nset game {game}\nping 7\nmove F5/1.0/2\ngo\nquit\ngo\n"
        );
        let answers = answers(input.as_bytes());
        assert_eq!(
            answers[..4],
            ["set myname random", "set myname random", "pong 7", "status thinking"]
        );
        let square = answers[4].strip_prefix("=== ").expect("a move");
        assert!(["D6", "F4", "F6"].contains(&&square[..2]), "{square}");
        assert_eq!(answers.len(), 6);
    }

    #[test]
    fn hints_name_a_line() {
        let answers = answers(b"hint 3\n");
        assert!(answers[1].starts_with("search "), "{answers:?}");
    }

    /// A position in which black must pass: the side that the board names may say so or not.
    #[test]
    fn a_pass_is_answered_where_it_is_due() {
        let board = "O*------".to_owned() + &"-".repeat(56);
        let set = format!("set game (;GM[Othello]BO[8 {board} *];)\n");
        let said = answers(format!("{set}go\nmove PA\ngo\n").as_bytes());
        assert_eq!(said[0], "=== PA");
        assert!(said[2].starts_with("=== C1/"), "{said:?}");
        // As black sees it the pass loses all; as white does, whose turn it is then, c1 wins all.
        for (commands, wanted) in [
            ("hint 3\n", "search PAC1 -64.00 0 20 0.0 %"),
            ("move PA\nhint 3\n", "search C1 64.00 0 20 100.0 %"),
        ] {
            let options = Options { simulations: 20, ..Options::default() };
            let mut player = RolloutsPlayer::<Square8>::new("test".into(), Goal::Most, options, 1);
            let said = answers_of(&mut player, format!("{set}{commands}").as_bytes());
            assert_eq!(said, ["status analyzing", wanted, "status"]);
        }
        let said = answers(format!("{set}hint 3\n").as_bytes());
        assert_eq!(said[1], "search PAC1 0.00 0 0", "even is not -0");
        let over = answers(format!("{set}move PA\nmove C1\ngo\nhint 1\n").as_bytes());
        assert_eq!(over, ["status the game is over"; 2]);
    }

    #[test]
    fn every_wrong_line_gets_a_status_and_nothing_more() {
        for line in [
            "set game",
            "set game (;GM[Chess];)",
            "set game (;B[a1];)",
            "move",
            "move a1",
            "move PA",
            "move z99",
            "a1",
            "analyze",
            "fly",
            "\u{fffd}\u{1f600}",
        ] {
            let said = answers(format!("{line}\n").as_bytes());
            assert!(said.len() == 1 && said[0].starts_with("status "), "{line}: {said:?}");
        }
        for line in ["", "   ", "set", "set nothing 5", "set contempt -3"] {
            assert_eq!(answers(format!("{line}\n").as_bytes()), [""; 0], "{line}");
        }
        let long = [b"go ".as_slice(), &[b'x'; 200_000], b"\nping 1\n"].concat();
        assert_eq!(answers(&long), ["status the line is too long and is left out", "pong 1"]);
    }

    proptest! {
        #[test]
        fn any_bytes_are_survived(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            answers(&bytes);
        }

        #[test]
        fn any_commands_are_survived(lines in proptest::collection::vec(
            "(set game |move |go|hint |ping |set depth |set )?[ -~]{0,12}", 0..12,
        )) {
            answers(lines.join("\n").as_bytes());
        }
    }
}
