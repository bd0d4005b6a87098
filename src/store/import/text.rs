//! Games and positions as people write them: the one reader of texts.
//!
//! It is lenient in form and strict in the rules. `docs/games.md` has a table of the forms.
//!
//! - Moves with or without blanks, commas, hyphens, numbers and passes, over any number of lines; a
//!   score or a comment may follow them.
//! - A position in one line or drawn in rows, with or without labels and the side to move. Moves may
//!   follow.
//! - A line that has moves among other words, as sites share games.
//!
//! What cannot be read is an error with its line and character, never a shorter game.

mod moves;
mod position;

use std::fmt;

use super::pgn;
use crate::game::notation::{NotationError, obf, parse_obf};
use crate::game::{Geometry, Position, Shape, Square};

/// The longest text that is read as a whole, in bytes.
pub const LONGEST: usize = 1 << 20;
/// What a text may have, for messages.
pub const ALLOWED: &str = "moves such as f5d6c3, or a position such as 64 of X, O and -";

/// What kind of text a game was.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// Moves from the board's own start.
    Transcript,
    /// A position, perhaps with moves.
    Position,
    /// Moves among other words.
    Words,
}

/// A game or a position.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Written<G: Geometry> {
    /// How it was written.
    pub form: Form,
    /// Where it begins.
    pub start: Position<G>,
    /// The moves, without passes.
    pub moves: Vec<Square>,
}

impl<G: Geometry> Written<G> {
    /// The position after the moves; a forced pass has been made.
    pub fn position(&self) -> Position<G> {
        let played = |position: Position<G>, &square: &Square| {
            position.play(square).unwrap_or(position).pass_if_forced()
        };
        self.moves.iter().fold(self.start.pass_if_forced(), played)
    }
}

/// Why a text cannot be read: what is wrong, where, and what is allowed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TextFault {
    /// In bytes from the beginning, after [`normal`].
    offset: usize,
    /// The line, from 1.
    pub line: usize,
    /// The character in the line, from 1.
    pub character: usize,
    /// What is wrong.
    pub message: Box<str>,
    /// What is allowed in its place.
    pub allowed: Option<Box<str>>,
    /// The moves before it, which are right.
    pub moves: Box<[Square]>,
    /// The position where they begin, as an OBF line; `None` for the board's own start.
    pub start: Option<Box<str>>,
    /// Whether the rules are broken. Otherwise the text has no known form.
    pub is_illegal: bool,
}

impl TextFault {
    fn new(offset: usize, message: impl Into<Box<str>>) -> TextFault {
        let message = message.into();
        TextFault {
            offset,
            line: 1,
            character: 1,
            message,
            allowed: None,
            moves: Box::default(),
            start: None,
            is_illegal: false,
        }
    }

    fn allowing(self, allowed: impl Into<Box<str>>) -> TextFault {
        TextFault { allowed: Some(allowed.into()), ..self }
    }

    fn illegal(self) -> TextFault {
        TextFault { is_illegal: true, ..self }
    }

    /// The error of a position as an OBF line.
    fn of(error: &NotationError, text: &str) -> TextFault {
        let offset = match error {
            NotationError::NoSquare { offset, .. }
            | NotationError::IllegalMove { offset, .. }
            | NotationError::IllegalPass { offset }
            | NotationError::NoDisc { offset, .. } => *offset,
            NotationError::WrongLength { .. } => 0,
            NotationError::NoSide { .. } => {
                text.find(char::is_whitespace).map_or(text.len(), |at| at + 1)
            }
            NotationError::NoScore { text: score } => text.find(&**score).unwrap_or(0),
        };
        TextFault::new(offset, error.to_string())
    }

    fn after(self, offset: usize) -> TextFault {
        TextFault { offset: self.offset + offset, ..self }
    }

    /// The same fault of a text that begins on this line of a larger one.
    #[must_use]
    pub fn on_line(self, first: usize) -> TextFault {
        TextFault { line: self.line.max(first), ..self }
    }

    /// The fault with its line and character.
    fn within(self, text: &str) -> TextFault {
        let before = text.get(..self.offset).unwrap_or(text);
        let line = before.matches('\n').count() + 1;
        let last = before.rsplit('\n').next().unwrap_or_default();
        TextFault { line, character: last.chars().count() + 1, ..self }
    }
}

impl fmt::Display for TextFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line > 1 {
            write!(f, "line {}, ", self.line)?;
        }
        write!(f, "character {}: {}", self.character, self.message)?;
        self.allowed.iter().try_for_each(|allowed| write!(f, "; allowed: {allowed}"))
    }
}

impl std::error::Error for TextFault {}

/// The text without a byte order mark, with plain letters, digits and signs for full-width ones.
fn normal(text: &str) -> String {
    let plain = |letter: char| match letter {
        '\u{FF01}'..='\u{FF5E}' => char::from_u32(u32::from(letter) - 0xFEE0).unwrap_or(letter),
        '\u{3000}' => ' ',
        _ => letter,
    };
    text.trim_start_matches('\u{feff}').chars().map(plain).collect()
}

/// The game or position of a text.
///
/// # Errors
///
/// The text has neither, or a move that is not legal.
///
/// ```
/// use outflank::game::{Square8, notation};
/// use outflank::store::import::text;
///
/// let written = text::read::<Square8>("1. F5 d6  2. c3, d3")?;
/// assert_eq!(notation::transcript::<Square8>(written.moves.iter().copied()), "f5d6c3d3");
/// assert_eq!(written.position().board.discs(), 8);
/// let fault = text::read::<Square8>("f5 d6\na1").expect_err("a1 is not legal");
/// assert_eq!((fault.line, fault.character, fault.moves.len()), (2, 1, 2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read<G: Geometry>(text: &str) -> Result<Written<G>, TextFault> {
    let text = normal(text);
    whole(&text).map_err(|fault| fault.within(&text))
}

/// The same for a line of a file of positions: what begins with a square is meant as an OBF line.
///
/// # Errors
///
/// As those of [`read`].
pub fn read_line<G: Geometry>(text: &str) -> Result<Written<G>, TextFault> {
    read(text).map_err(|fault| match parse_obf::<G>(text) {
        Err(error) if position::begins_with_a_square(text) => {
            TextFault::of(&error, text).within(text)
        }
        _ => fault,
    })
}

/// The moves of a text from a position, without passes.
///
/// # Errors
///
/// The first part that is no move, or a move that is not legal.
///
/// ```
/// use outflank::game::{Position, Square8};
/// use outflank::store::import::text;
///
/// assert_eq!(text::moves("f5-d6-c3", Position::<Square8>::start())?.len(), 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn moves<G: Geometry>(text: &str, start: Position<G>) -> Result<Vec<Square>, TextFault> {
    let text = normal(text);
    let untagged = pgn::after_tags(&text);
    let offset = text.len() - untagged.len();
    moves::from(start, untagged).map_err(|fault| fault.after(offset).within(&text))
}

fn whole<G: Geometry>(text: &str) -> Result<Written<G>, TextFault> {
    if text.trim().is_empty() {
        return Err(TextFault::new(0, "the text is empty").allowing(ALLOWED));
    }
    if let Some((found, rest)) = position::first(text)? {
        let start = position::on_board::<G>(&found)?;
        let offset = text.len() - rest.len();
        let moves = moves::from(start, rest).map_err(|fault| {
            let start = Some(obf(start).into());
            TextFault { start, ..fault.after(offset) }
        })?;
        return Ok(Written { form: Form::Position, start, moves });
    }
    let start = Position::<G>::start();
    let written = |form, moves| Written { form, start, moves };
    let untagged = pgn::after_tags(text);
    let offset = text.len() - untagged.len();
    match moves::from(start, untagged).map_err(|fault| fault.after(offset)) {
        Ok(moves) if moves.is_empty() => {
            Err(TextFault::new(0, "the text has no move").allowing(ALLOWED))
        }
        Ok(moves) => Ok(written(Form::Transcript, moves)),
        // Only before the first move: words behind moves would hide a wrong one.
        Err(fault) if fault.moves.is_empty() => {
            let among = moves::among_words::<G>(text);
            among.map(|moves| written(Form::Words, moves)).ok_or(fault)
        }
        Err(fault) => Err(fault),
    }
}

/// The games of a text, with the line on which each begins. The fault of a line of its own counts
/// lines from there.
///
/// A text that is one game or one position is that, however many lines it has. Otherwise each line
/// is a game or a position of its own. Lines that are empty or begin with `#` or `%` are left out.
///
/// ```
/// use outflank::game::Square8;
/// use outflank::store::import::text;
///
/// let games = text::games::<Square8>("# two games\nf5d6c3\nf5f6e6\n");
/// let lines: Vec<(usize, bool)> = games.iter().map(|(line, game)| (*line, game.is_ok())).collect();
/// assert_eq!(lines, [(2, true), (3, true)]);
/// ```
pub fn games<G: Geometry>(text: &str) -> Vec<(usize, Result<Written<G>, TextFault>)> {
    games_or(text, read)
}

/// The same, with a reader of its own for lines.
pub(super) fn games_or<G: Geometry>(
    text: &str,
    read: impl Fn(&str) -> Result<Written<G>, TextFault>,
) -> Vec<(usize, Result<Written<G>, TextFault>)> {
    let text = normal(text);
    let lines: Vec<(usize, &str)> = (1..)
        .zip(text.lines())
        .filter(|(_, line)| !line.trim().is_empty() && !line.trim_start().starts_with(['#', '%']))
        .collect();
    let first = lines.first().map_or(1, |&(number, _)| number);
    let whole_text = whole::<G>(&text).map_err(|fault| fault.within(&text));
    // A single move on a line is part of a game that has a wrong move somewhere.
    let is_own = |line: &str| read(line).is_ok_and(|written| written.moves.len() != 1);
    // A game without moves, as the reader of files has them, is no part of another one.
    let is_empty =
        |line: &str| read(line).is_ok_and(|it| it.form == Form::Transcript && it.moves.is_empty());
    let is_position = |line: &str| matches!(position::first(line), Ok(Some(_)));
    // Right moves go on behind the first line, and the second one is no game: one with a wrong move.
    let is_broken = |fault: &TextFault| match lines[..] {
        [(_, first), (_, second), ..] => {
            let is_longer = |written: Written<G>| fault.moves.len() > written.moves.len();
            read(second).is_err() && read(first).is_ok_and(is_longer)
        }
        _ => false,
    };
    let has_games = || match (&whole_text, &lines[..]) {
        (_, lines) if lines.iter().any(|(_, line)| is_empty(line)) => true,
        (Ok(_), [(_, first), (_, second), ..]) => is_position(first) && is_position(second),
        (Ok(_), _) => false,
        (Err(fault), _) if is_broken(fault) => false,
        (Err(_), lines) => {
            let has_some = lines.iter().any(|(_, line)| read(line).is_ok());
            lines.iter().any(|(_, line)| is_own(line))
                || !has_some && matches!(position::first(&text), Ok(None))
        }
    };
    match lines[..] {
        [] => return Vec::new(),
        [(number, line)] => return vec![(number, read(line))],
        _ if !has_games() => return vec![(first, whole_text)],
        _ => {}
    }
    lines.into_iter().map(|(number, line)| (number, read(line))).collect()
}

/// The game or position of a text of several lines that is one; `None` if each line is one of its
/// own, or none.
pub fn single<G: Geometry>(text: &str) -> Option<Written<G>> {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    lines.nth(1)?;
    let mut games = games::<G>(text);
    let game = games.pop().filter(|_| games.is_empty())?;
    game.1.ok()
}

/// What `read` gives on the preferred board, or else on the first other one where it succeeds. The
/// error is that of the preferred one.
///
/// # Errors
///
/// It succeeds on no board.
pub fn on_any_board<T, E>(
    preferred: Shape,
    mut read: impl FnMut(Shape) -> Result<T, E>,
) -> Result<T, E> {
    read(preferred).or_else(|fault| {
        let others = Shape::ALL.iter().filter(|&&shape| shape != preferred);
        others.copied().find_map(|shape| read(shape).ok()).ok_or(fault)
    })
}

#[cfg(test)]
mod tests;
