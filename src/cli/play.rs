//! `outflank play`: a game against a player in the terminal, or through a pipe.

use std::io::{self, BufRead, BufReader, IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;

use anyhow::Context as _;

use super::contest::{contestants, context};
use super::interrupt::end_at_once;
use super::machine::cores;
use crate::arena::player::{Hint, Player};
use crate::arena::report::table;
use crate::arena::shipped;
use crate::arena::spec::PlayerSpec;
use crate::game::notation::{
    NotationError, diagram, is_transcript, obf, parse_obf, parse_square, parse_transcript,
    square_name, transcript,
};
use crate::game::{Colour, Geometry, Goal, Position, Shape};
use crate::protocol::lines::{Line, next_line};
use crate::protocol::session::Session;

/// A side as the command line names it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
enum Side {
    Black,
    White,
}

/// Plays against you in the terminal: moves like f5, and hint, undo, save, load, help
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Your opponent, such as alphabeta:depth=8 or net:CHECKPOINT,simulations=400; by default the
    /// net that comes with the program for the board and goal, or alphabeta:depth=8
    #[arg(value_name = "SPEC")]
    player: Option<PlayerSpec>,
    /// Your colour; black moves first
    #[arg(long, value_name = "COLOUR", default_value = "black")]
    colour: Side,
    /// The board
    #[arg(long, value_name = "BOARD", default_value = "8x8")]
    shape: Shape,
    /// Who wins: most or fewest discs
    #[arg(long, value_name = "GOAL", default_value = "most")]
    goal: Goal,
    /// A saved game to go on with
    #[arg(long, value_name = "FILE")]
    load: Option<std::path::PathBuf>,
    /// Where nets are computed: auto, cpu, cuda or cuda:N
    #[arg(long, value_name = "DEVICE", default_value = "auto")]
    device: String,
    /// Decides random moves
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    seed: u64,
}

/// Runs the subcommand.
///
/// # Errors
///
/// A player that cannot be made, a game that cannot be loaded, or a closed terminal.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    dispatch!(args.shape, G => play::<G>(&args))
}

fn play<G: Geometry>(args: &Args) -> anyhow::Result<ExitCode> {
    let context = context(args.goal, &args.device, cores());
    let player = args.player.clone().unwrap_or_else(|| shipped::opponent(G::SHAPE, args.goal));
    let contestants = contestants::<G>(&[player], &context)?;
    end_at_once();
    let human = match args.colour {
        Side::Black => Colour::Black,
        Side::White => Colour::White,
    };
    let session = match &args.load {
        Some(path) => load::<G>(path)?,
        None => Session::default(),
    };
    let prompt = io::stdin().is_terminal() && io::stdout().is_terminal();
    let table = Table {
        player: (contestants[0].open)(args.seed)?,
        human,
        goal: args.goal,
        session,
        games: 0,
        output: io::stdout().lock(),
    };
    table.run(BufReader::new(io::stdin()), prompt)?;
    Ok(ExitCode::SUCCESS)
}

const HELP: &str = "\
f5            play there (any square of the board; a dot marks where you may)
hint [N]      the N best moves: win chance, expected final disc difference (`=` is exact,
              `<=` and `>=` are proven bounds), plies or simulations searched, and the line of play that is expected
go            let the player make your move
undo          take back your last move and what followed it
new           begin again
save FILE     write the game as a transcript
load FILE     read one, or a position as an OBF line
board         show the board again
help          show this
quit          leave (so does the end of the input)
";

struct Table<G: Geometry, W> {
    player: Box<dyn Player<G>>,
    human: Colour,
    goal: Goal,
    session: Session<G>,
    games: u32,
    output: W,
}

impl<G: Geometry, W: Write> Table<G, W> {
    fn run(mut self, mut input: impl BufRead, prompt: bool) -> io::Result<()> {
        writeln!(self.output, "you play {} against {}", self.human, self.player.name())?;
        self.show()?;
        self.answer()?;
        loop {
            if prompt {
                write!(self.output, "> ")?;
            }
            self.output.flush()?;
            let text = match next_line(&mut input)? {
                None => return Ok(()),
                Some(Line::TooLong) => {
                    writeln!(self.output, "that line is too long")?;
                    continue;
                }
                Some(Line::Text(text)) => text,
            };
            let (word, rest) =
                text.trim().split_once(char::is_whitespace).unwrap_or((text.trim(), ""));
            if matches!(word, "quit" | "exit" | "q") {
                return Ok(());
            }
            self.obey(word, rest.trim())?;
        }
    }

    fn obey(&mut self, word: &str, rest: &str) -> io::Result<()> {
        match word {
            "" => Ok(()),
            "help" | "?" => self.output.write_all(HELP.as_bytes()),
            "board" => self.show(),
            "hint" => self.hint(rest),
            "go" if self.session.is_over() => writeln!(self.output, "the game is over"),
            "go" => {
                self.think()?;
                self.answer()
            }
            "undo" => self.undo(),
            "new" => self.restart(Session::default()),
            "save" => self.save(rest),
            "load" if rest.is_empty() => writeln!(self.output, "load what? load FILE"),
            "load" => match load(Path::new(rest)) {
                Ok(session) => self.restart(session),
                Err(error) => writeln!(self.output, "{error:#}"),
            },
            name => self.make(name),
        }
    }

    fn make(&mut self, name: &str) -> io::Result<()> {
        let Some(square) = parse_square::<G>(name) else {
            let plain = name.chars().map(|letter| if letter.is_control() { '?' } else { letter });
            let short: String = plain.take(40).collect();
            return writeln!(self.output, "`{short}` is neither a square nor a command; try help");
        };
        if self.session.is_over() {
            return writeln!(self.output, "the game is over");
        }
        if self.session.play(square).is_err() {
            let legal: Vec<_> =
                self.session.position().board.legal().map(square_name::<G>).collect();
            return writeln!(self.output, "{name} is not legal; legal: {}", legal.join(" "));
        }
        self.show()?;
        self.answer()
    }

    /// Lets the player move until it is the human's turn.
    fn answer(&mut self) -> io::Result<()> {
        while !self.session.is_over() && self.session.position().side != self.human {
            if !self.think()? {
                return Ok(());
            }
        }
        if self.session.is_over() { self.result() } else { Ok(()) }
    }

    /// Makes the player's move for whoever is to move; false if it has none.
    fn think(&mut self) -> io::Result<bool> {
        let side = self.session.position().side;
        let choice = self.player.choose(&[self.session.turn(self.games)]).pop();
        let made = match choice {
            Some(Ok(choice)) => self.session.play(choice.square).is_ok().then_some(choice),
            Some(Err(error)) => {
                writeln!(self.output, "{side} has no answer: {error}")?;
                None
            }
            None => None,
        };
        let Some(choice) = made else { return Ok(false) };
        write!(self.output, "{side} plays {}", square_name::<G>(choice.square))?;
        if let Some(score) = choice.score {
            write!(self.output, ", expects {score:+.1} discs")?;
        }
        writeln!(self.output, " ({:.2} s)", choice.seconds)?;
        self.show()?;
        Ok(true)
    }

    fn show(&mut self) -> io::Result<()> {
        let position = self.session.position();
        let black = position.black_view();
        let count = |set: G::Word| crate::game::SquareSet::<G>(set).len();
        write!(self.output, "\n{}", diagram(position))?;
        write!(self.output, "black (X) {}, white (O) {}", count(black.mine), count(black.theirs))?;
        if self.session.is_over() {
            return writeln!(self.output);
        }
        if let Some(passed) = self.session.unspoken_pass() {
            write!(self.output, "; {passed} must pass")?;
        }
        writeln!(self.output, "; {} to move", position.side)
    }

    fn result(&mut self) -> io::Result<()> {
        let score = self.session.black_view().final_score(self.goal);
        match score {
            0 => writeln!(self.output, "a draw"),
            1.. => writeln!(self.output, "black wins by {score}"),
            _ => writeln!(self.output, "white wins by {}", -score),
        }
    }

    fn hint(&mut self, rest: &str) -> io::Result<()> {
        if self.session.is_over() {
            return writeln!(self.output, "the game is over");
        }
        let count = match rest {
            "" => 3,
            rest => match rest.parse() {
                Ok(count @ 1..=99) => count,
                _ => return writeln!(self.output, "hint how many? hint N with N from 1 to 99"),
            },
        };
        match self.player.hints(&self.session.turn(self.games), count) {
            Ok(hints) => self.output.write_all(hints_table::<G>(&hints).as_bytes()),
            Err(error) => writeln!(self.output, "no hint: {error}"),
        }
    }

    fn undo(&mut self) -> io::Result<()> {
        let before = self.session.clone();
        while self.session.undo() {
            if self.session.position().side == self.human {
                return self.show();
            }
        }
        self.session = before;
        writeln!(self.output, "there is no move of yours to take back")
    }

    fn restart(&mut self, session: Session<G>) -> io::Result<()> {
        self.player.end_game(self.games);
        self.games = self.games.wrapping_add(1);
        self.session = session;
        self.show()?;
        self.answer()
    }

    fn save(&mut self, rest: &str) -> io::Result<()> {
        if rest.is_empty() {
            return writeln!(self.output, "save where? save FILE");
        }
        let moves = transcript::<G>(self.session.moves().iter().copied());
        let text = match self.session.start() == Position::start() {
            true => format!("{moves}\n"),
            false => format!("{}\n{moves}\n", obf(self.session.start())),
        };
        match std::fs::write(rest, text) {
            Ok(()) => writeln!(self.output, "saved as {rest}"),
            Err(error) => writeln!(self.output, "cannot write {rest}: {error}"),
        }
    }
}

fn hints_table<G: Geometry>(hints: &[Hint]) -> String {
    let mut rows = vec![["move", "win", "discs", "searched", "line"].map(String::from).to_vec()];
    for hint in hints {
        let chance = hint.win_chance.map(|chance| format!("{:.0} %", 100.0 * chance));
        let score = hint.score.map(|score| format!("{}{score:+.1}", hint.bound.mark()));
        rows.push(vec![
            hint.line.first().map_or(String::new(), |&square| square_name::<G>(square)),
            chance.unwrap_or("-".into()),
            score.unwrap_or("-".into()),
            hint.depth.map_or("-".into(), |depth| depth.to_string()),
            transcript::<G>(hint.line.iter().copied()),
        ]);
    }
    table(&rows, 1)
}

/// A saved game: a transcript, or a position in OBF and, on the next line, the moves from it.
fn load<G: Geometry>(path: &Path) -> anyhow::Result<Session<G>> {
    let bytes = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    let text = String::from_utf8_lossy(&bytes);
    read_session(&text).with_context(|| path.display().to_string())
}

fn read_session<G: Geometry>(text: &str) -> Result<Session<G>, NotationError> {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty()).peekable();
    let start = match lines.next_if(|line| !is_transcript(line)) {
        Some(line) => parse_obf::<G>(line)?.position,
        None => Position::start(),
    };
    let (moves, _) = parse_transcript(&lines.collect::<String>(), start)?;
    let mut session = Session::new(start);
    for square in moves {
        // The transcript was checked against the rules.
        let _ = session.play(square);
    }
    Ok(session)
}

#[cfg(test)]
#[path = "play_tests.rs"]
mod tests;
