//! Files of games in GGF.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use super::{Fault, Found, Game, Games, ImportError, name};
use crate::game::record::{GameRecord, MoveRecord, Source};
use crate::game::{Geometry, Shape};
use crate::store::files::{Action, FileError};
use crate::store::ggf::{self, GgfError};

/// The longest game that is read, in bytes. One of 60 moves with times and comments has 4 kB.
const LONGEST_GAME: usize = 1 << 16;
/// What begins a game, and what ends it outside of brackets.
const BEGIN: &[u8] = b"(;";
const END: &[u8] = b";)";
/// What begins a game even within a bracket: the bracket of the game before was not closed.
const BEGIN_WITH_TAG: &[u8] = b"(;GM[";

/// The games of a text in GGF.
pub fn ggf_games(bytes: &[u8]) -> impl Iterator<Item = Result<String, Fault>> {
    let texts = Texts { input: bytes, scanner: Scanner::default() };
    texts.filter_map(Result::ok).map(|text| match text {
        Text::Game(bytes) => Ok(plain_text(&bytes)),
        Text::TooLong => Err(Fault::TooLong { most: LONGEST_GAME }),
        Text::NoEnd => Err(Fault::NoEnd),
    })
}

/// The games of a file.
pub(super) fn games(path: &Path) -> Result<Games, ImportError> {
    let file = File::open(path).map_err(FileError::at(Action::Read, path))?;
    let path = path.to_path_buf();
    let texts = Texts { input: BufReader::new(file), scanner: Scanner::default() };
    let games = texts.zip(1..).map(move |(text, number)| {
        let text = text.map_err(FileError::at(Action::Read, &path))?;
        let game = match text {
            Text::Game(bytes) => game(&bytes, number),
            Text::TooLong => Err(Fault::TooLong { most: LONGEST_GAME }),
            Text::NoEnd => Err(Fault::NoEnd),
        };
        Ok(Found { number, game })
    });
    Ok(Box::new(games))
}

fn game(bytes: &[u8], number: u64) -> Result<Game, Fault> {
    on_any_board(&plain_text(bytes), Shape::Square8, number)
}

/// Bytes as text; those that are not UTF-8 are read as Latin-1.
fn plain_text(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => bytes.iter().map(|&byte| char::from(byte)).collect(),
    }
}

/// Reads the first game of a text, on the board that fits its `BO`. If none does, the error is
/// about the `preferred` one.
///
/// # Errors
///
/// The text is no game in GGF, or the game breaks the rules.
pub fn on_any_board(text: &str, preferred: Shape, id: u64) -> Result<Game, Fault> {
    let others = Shape::ALL.into_iter().filter(|&shape| shape != preferred);
    let mut no_board = None;
    for shape in std::iter::once(preferred).chain(others) {
        match dispatch!(shape, G => on_board::<G>(text, id)) {
            Err(Fault::Ggf(error @ GgfError::NoBoard { .. })) => {
                no_board.get_or_insert(error);
            }
            found => return found,
        }
    }
    Err(no_board.unwrap_or(GgfError::NoGame).into())
}

fn on_board<G: Geometry>(text: &str, id: u64) -> Result<Game, Fault> {
    let game = ggf::read::<G>(text)?;
    let header = game.header;
    let begin = GameRecord::begin(game.start, header.goal, id);
    let mut record = GameRecord { source: Source::Import, ..begin };
    record.moves = game.moves.into_iter().flatten().map(MoveRecord::of).collect();
    if let Some(last) = record.replay::<G>()?.last().filter(|last| last.board.is_over()) {
        record.score = last.black_view().final_score(header.goal) as i16;
    }
    let stated = header.result.and_then(|result| i16::try_from(header.goal.apply(result)).ok());
    let text = |text: String| name(text.as_bytes());
    Ok(Game {
        black: text(header.black),
        white: text(header.white),
        date: header.date.and_then(text),
        event: header.place.and_then(text),
        ended: header.ended,
        ..Game::checked(record)?.with_stated(stated)
    })
}

enum Text {
    Game(Vec<u8>),
    TooLong,
    NoEnd,
}

/// The texts of the games in a file. What stands between them is left out.
struct Texts<R> {
    input: R,
    scanner: Scanner,
}

impl<R: BufRead> Iterator for Texts<R> {
    type Item = io::Result<Text>;

    fn next(&mut self) -> Option<io::Result<Text>> {
        let Texts { input, scanner } = self;
        loop {
            let bytes = match input.fill_buf() {
                Ok(bytes) => bytes,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Some(Err(error)),
            };
            if bytes.is_empty() {
                let is_open = std::mem::replace(&mut scanner.state, State::Between);
                return (is_open != State::Between).then_some(Ok(Text::NoEnd));
            }
            let length = bytes.len();
            let take = |(&byte, count)| scanner.take(byte).map(|text| (text, count));
            match bytes.iter().zip(1..).find_map(take) {
                Some((text, count)) => {
                    input.consume(count);
                    return Some(Ok(text));
                }
                None => input.consume(length),
            }
        }
    }
}

/// Finds the texts of games in a sequence of bytes.
#[derive(Default)]
struct Scanner {
    game: Vec<u8>,
    state: State,
    /// Whether the game is longer than [`LONGEST_GAME`]. Only its last bytes are then kept.
    is_too_long: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Default)]
enum State {
    #[default]
    Between,
    Tags,
    Value,
    Escaped,
}

impl Scanner {
    /// Takes a byte; returns the text that it ends.
    fn take(&mut self, byte: u8) -> Option<Text> {
        self.game.push(byte);
        if self.game.len() > LONGEST_GAME {
            self.is_too_long = true;
            self.game.drain(..LONGEST_GAME - BEGIN_WITH_TAG.len());
        }
        let ends_with = |mark: &[u8]| self.game.ends_with(mark);
        let begins = match self.state {
            State::Between | State::Tags => ends_with(BEGIN),
            State::Value | State::Escaped => ends_with(BEGIN_WITH_TAG),
        };
        if begins {
            return self.begin();
        }
        match (self.state, byte) {
            // Only what may begin a game is kept.
            (State::Between, _) => drop(self.game.drain(..self.game.len() - 1)),
            (State::Tags, b'[') => self.state = State::Value,
            (State::Tags, b')') if ends_with(END) => {
                self.state = State::Between;
                let game = std::mem::take(&mut self.game);
                let is_too_long = std::mem::take(&mut self.is_too_long);
                return Some(if is_too_long { Text::TooLong } else { Text::Game(game) });
            }
            (State::Value, b'\\') => self.state = State::Escaped,
            (State::Value, b']') => self.state = State::Tags,
            (State::Escaped, _) => self.state = State::Value,
            (State::Tags | State::Value, _) => {}
        }
        None
    }

    /// Begins a game. The one before it, if any, has no end.
    fn begin(&mut self) -> Option<Text> {
        let (mark, state) = match self.state {
            State::Between | State::Tags => (BEGIN, State::Tags),
            State::Value | State::Escaped => (BEGIN_WITH_TAG, State::Value),
        };
        self.game.clear();
        self.game.extend_from_slice(mark);
        self.is_too_long = false;
        let before = std::mem::replace(&mut self.state, state);
        (before != State::Between).then_some(Text::NoEnd)
    }
}
