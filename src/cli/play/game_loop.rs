//! The game loop of `play`: commands of a person, moves of the player.

use std::io::{self, Write};
use std::path::Path;

use super::commands::{Command, HELP};
use super::display::{self, BoardStyle, printable};
use super::game_file::{self, Loaded};
use super::input::{Entry, Input};
use super::moves::{BadMove, play_all};
use crate::game::notation::parse_square;
use crate::game::{Colour, Geometry, Goal};
use crate::players::control::Control;
use crate::players::player::{Player, combine};
use crate::players::variety;
use crate::protocol::session::Session;
use crate::store::ggf::Header;

/// The person's name in a saved game.
const PERSON: &str = "human";

/// How the loop ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// By `quit` or the end of the input.
    Quit,
    /// By Ctrl-C at the prompt.
    Interrupt,
}

/// A game between a person and a player.
pub struct GameLoop<G: Geometry, W> {
    player: Box<dyn Player<G>>,
    /// The discs that a move of the player may lose for the sake of variety, and the seed of that.
    varied: (f32, u64),
    human: Colour,
    goal: Goal,
    style: BoardStyle,
    session: Session<G>,
    /// The number of the current game, for the player.
    game: u32,
    /// The final disc difference for black that the player expected with its last move.
    expected: Option<f32>,
    output: W,
}

impl<G: Geometry, W: Write> GameLoop<G, W> {
    /// A game at the start position.
    pub fn new(
        player: Box<dyn Player<G>>,
        varied: (f32, u64),
        human: Colour,
        goal: Goal,
        style: BoardStyle,
        output: W,
    ) -> GameLoop<G, W> {
        let (session, expected) = (Session::default(), None);
        GameLoop { player, varied, human, goal, style, session, game: 0, expected, output }
    }

    /// Plays until the person leaves.
    ///
    /// # Errors
    ///
    /// The input or the output fails.
    pub fn run(mut self, input: &mut dyn Input) -> io::Result<End> {
        writeln!(self.output, "you play {} against {}", self.human, self.player.name())?;
        self.show()?;
        self.answer()?;
        loop {
            self.output.flush()?;
            match input.next()? {
                Entry::End => return Ok(End::Quit),
                Entry::Interrupt => return Ok(End::Interrupt),
                Entry::Unusable(reason) => writeln!(self.output, "{reason}")?,
                Entry::Line(line) => match Command::of(&line) {
                    Command::Quit => return Ok(End::Quit),
                    command => self.execute(command)?,
                },
            }
        }
    }

    fn execute(&mut self, command: Command<'_>) -> io::Result<()> {
        match command {
            // `run` handles `quit`.
            Command::Quit | Command::Nothing => Ok(()),
            Command::Help => write!(self.output, "{HELP}{}", self.style.legend()),
            Command::Board => self.show(),
            Command::Moves if self.session.moves().is_empty() => {
                writeln!(self.output, "no move has been made")
            }
            Command::Moves => write!(self.output, "{}", display::moves_list(&self.session)),
            Command::Hint(count) => self.hint(count),
            Command::Go if self.session.is_over() => self.is_over(),
            Command::Go => {
                self.think()?;
                self.answer()
            }
            Command::Undo => self.undo(),
            Command::New => self.begin(Session::default()),
            Command::Save(file) => self.save(file),
            Command::Load("") => writeln!(self.output, "load what? load FILE"),
            Command::Load(file) => match self.load(Path::new(file)) {
                Ok(()) => {
                    self.show()?;
                    self.answer()
                }
                Err(error) => writeln!(self.output, "{error:#}"),
            },
            Command::Play(line) => self.play(line),
        }
    }

    /// Plays the moves of a line, all or none.
    fn play(&mut self, line: &str) -> io::Result<()> {
        match play_all(&self.session, line) {
            Ok(session) if session == self.session && session.is_over() => self.is_over(),
            Ok(session) if session == self.session => {
                writeln!(self.output, "passes are made for you; name a square")
            }
            Ok(session) => {
                self.session = session;
                self.show()?;
                self.answer()
            }
            Err(BadMove::NoSquare { number: 1, shown, .. }) => {
                writeln!(self.output, "`{shown}` is neither a square nor a command; try help")
            }
            Err(_) if self.session.is_over() => self.is_over(),
            Err(BadMove::Illegal { name, legal, .. }) if parse_square::<G>(line).is_some() => {
                writeln!(self.output, "{name} is not legal; legal: {legal}")
            }
            Err(error) => writeln!(self.output, "{error}; nothing of this line was played"),
        }
    }

    /// Plays the player's moves until it is the person's turn.
    fn answer(&mut self) -> io::Result<()> {
        while !self.session.is_over() && self.session.position().side != self.human {
            if !self.think()? {
                return Ok(());
            }
        }
        if self.session.is_over() { self.result() } else { Ok(()) }
    }

    /// Plays the player's move for the side to move; false if the player has failed.
    fn think(&mut self) -> io::Result<bool> {
        let side = self.session.position().side;
        let turn = self.session.turn(self.game);
        let (discs, seed) = self.varied;
        let varied = (discs, combine(&[seed, self.game.into()]));
        let control = &mut Control::plain();
        let made = match variety::choose(self.player.as_mut(), &turn, varied, control) {
            Ok(choice) => self.session.play(choice.square).is_ok().then_some(choice),
            Err(error) => {
                writeln!(self.output, "{side} has no answer: {error}")?;
                None
            }
        };
        let Some(choice) = made else { return Ok(false) };
        let sign = if side == Colour::Black { 1.0 } else { -1.0 };
        self.expected = choice.score.map(|score| sign * score);
        writeln!(self.output, "{}", display::move_made::<G>(side, &choice))?;
        self.show()?;
        Ok(true)
    }

    fn show(&mut self) -> io::Result<()> {
        let screen = display::screen(&self.session, self.expected, self.style);
        write!(self.output, "\n{screen}")
    }

    fn result(&mut self) -> io::Result<()> {
        writeln!(self.output, "{}", display::result(self.score()))?;
        writeln!(self.output, "new for another game, undo, save FILE, or quit")
    }

    fn is_over(&mut self) -> io::Result<()> {
        writeln!(self.output, "the game is over; new for another, undo, save FILE, or quit")
    }

    /// The final score for black.
    fn score(&self) -> i32 {
        self.session.black_view().final_score(self.goal)
    }

    fn hint(&mut self, count: &str) -> io::Result<()> {
        if self.session.is_over() {
            return self.is_over();
        }
        let count = match count {
            "" => 3,
            count => match count.parse() {
                Ok(count @ 1..=99) => count,
                _ => return writeln!(self.output, "hint how many? hint N with N from 1 to 99"),
            },
        };
        match self.player.hints(&self.session.turn(self.game), count) {
            Ok(hints) => write!(self.output, "{}", display::hints_table::<G>(&hints)),
            Err(error) => writeln!(self.output, "no hint: {error}"),
        }
    }

    fn undo(&mut self) -> io::Result<()> {
        let before = self.session.clone();
        while self.session.undo() {
            // A pass from a file is a step of its own and not a move.
            let is_shorter = self.session.moves().len() < before.moves().len();
            if is_shorter && self.session.position().side == self.human {
                self.expected = None;
                return self.show();
            }
        }
        self.session = before;
        writeln!(self.output, "there is no move of yours to take back")
    }

    fn begin(&mut self, session: Session<G>) -> io::Result<()> {
        self.replace(session);
        self.show()?;
        self.answer()
    }

    fn replace(&mut self, session: Session<G>) {
        self.player.end_game(self.game);
        self.game = self.game.wrapping_add(1);
        self.expected = None;
        self.session = session;
    }

    /// Replaces the game by one from a file. A refused file leaves the game unchanged.
    ///
    /// # Errors
    ///
    /// The file holds no game of this board, or the output fails.
    pub fn load(&mut self, path: &Path) -> anyhow::Result<()> {
        let Loaded { session, header, is_followed } = game_file::load::<G>(path)?;
        if is_followed {
            writeln!(self.output, "{} holds more games; this is the first", path.display())?;
        }
        if let Some(header) = header {
            let (black, white) = (printable(&header.black), printable(&header.white));
            let date = header.date.map_or(String::new(), |date| format!(", {}", printable(&date)));
            writeln!(self.output, "loaded: {black} (black) against {white} (white){date}")?;
            if header.goal != self.goal {
                let (theirs, ours) = (header.goal, self.goal);
                writeln!(self.output, "it was played for the {theirs} discs; now the {ours} win")?;
            }
        }
        self.replace(session);
        Ok(())
    }

    fn save(&mut self, file: &str) -> io::Result<()> {
        if file.is_empty() {
            return writeln!(self.output, "save where? save FILE");
        }
        let (own, opponent) = (PERSON.to_string(), self.player.name());
        let (black, white) = match self.human {
            Colour::Black => (own, opponent),
            Colour::White => (opponent, own),
        };
        let result = self.session.is_over().then(|| self.score());
        let date = Some(game_file::now());
        let header =
            Header { black, white, place: None, date, result, ended: None, goal: self.goal };
        match game_file::save(Path::new(file), &self.session, &header) {
            Ok(()) => writeln!(self.output, "saved as {file}"),
            Err(error) => writeln!(self.output, "cannot write {file}: {error}"),
        }
    }
}
