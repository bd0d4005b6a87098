//! Positions: the squares of a board in one line or in rows, and the side to move.

use super::TextFault;
use crate::game::notation::{is_transcript, parse_obf};
use crate::game::{Geometry, Position, Shape};

/// A text is taken for a position if it begins with this many squares.
const BEGINNING: usize = 20;
/// A drawing has at most this many rows.
const MOST_ROWS: usize = 10;
/// The letters of columns are at least this many.
const FEWEST_COLUMNS: usize = 6;
/// How many squares a row of a drawing may have.
const ROW_LENGTHS: std::ops::RangeInclusive<usize> = 4..=10;

/// A position on any board.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Found {
    shape: Shape,
    /// The position as an OBF line, with the scores of its moves if it had some.
    line: String,
}

/// The mark of OBF for a character that programs use for a square.
fn square(letter: char) -> Option<char> {
    Some(match letter {
        'X' | 'x' | '*' | '@' | 'B' | 'b' | '●' | '⚫' | '⬤' => 'X',
        'O' | 'o' | '0' | 'W' | 'w' | '○' | '⚪' | '◯' => 'O',
        '-' | '.' | '_' | '·' | '・' | '+' => '-',
        _ => return None,
    })
}

/// The marks of squares. Digits alone are 0 empty, 1 black and 2 white. `None`: one is no square.
fn marks(raw: &str) -> Option<String> {
    let are_digits = raw.chars().all(|letter| matches!(letter, '0'..='2'));
    if are_digits && raw.contains(['1', '2']) {
        let mark = |digit| match digit {
            '1' => 'X',
            '2' => 'O',
            _ => '-',
        };
        return Some(raw.chars().map(mark).collect());
    }
    raw.chars().map(square).collect()
}

fn of_size(count: usize) -> Option<Shape> {
    Shape::ALL.iter().copied().find(|shape| shape.layout().squares == count)
}

/// The position at the beginning of a text, and the text after it; `None` if it begins with none.
pub(super) fn first(text: &str) -> Result<Option<(Found, &str)>, TextFault> {
    if let Some((shape, squares, side, rest)) = drawing(text) {
        let side = side.unwrap_or_else(|| side_by_count(&squares));
        return Ok(Some((Found { shape, line: format!("{squares} {side}") }, rest)));
    }
    let digits = text.split_whitespace().next().unwrap_or_default();
    if let Some(shape) =
        of_size(digits.len()).filter(|_| digits.chars().all(|it| matches!(it, '0'..='2')))
        && let Some(squares) = marks(digits)
    {
        let rest = &text[text.len() - text.trim_start().len() + digits.len()..];
        let side = side_by_count(&squares);
        return Ok(Some((Found { shape, line: format!("{squares} {side}") }, rest)));
    }
    if !begins_with_squares(text) {
        return Ok(None);
    }
    let (squares, end) = squares_of(text);
    let (shape, squares, side) = match (of_size(squares.len()), of_size(squares.len() - 1)) {
        (Some(shape), _) => (shape, squares.as_str(), None),
        (None, Some(shape)) if !squares.ends_with('-') => {
            let (squares, side) = squares.split_at(squares.len() - 1);
            (shape, squares, side.chars().next())
        }
        _ => return Err(wrong_size(squares.len(), end)),
    };
    let side = side.unwrap_or_else(|| side_by_count(squares));
    let line = format!("{squares} {side}");
    // What is behind: scores of moves, as OBF has them, or moves.
    let behind = &text[end..];
    let of_line = behind.lines().next().unwrap_or_default();
    if of_line.trim_start().starts_with(';') && of_line.contains(':') {
        return Ok(Some((Found { shape, line: line + of_line }, &behind[of_line.len()..])));
    }
    Ok(Some((Found { shape, line }, behind)))
}

/// Whether a text begins with a square and not with a move.
pub(super) fn begins_with_a_square(text: &str) -> bool {
    let text = text.trim_start();
    text.starts_with(|letter| square(letter).is_some()) && !is_transcript(text)
}

/// Whether a text begins with squares. Moves never do: they alternate letters and digits.
fn begins_with_squares(text: &str) -> bool {
    let mut letters = text.chars().filter(|letter| !letter.is_whitespace());
    (0..BEGINNING).all(|_| letters.next().is_some_and(|letter| square(letter).is_some()))
}

/// The marks of the squares, and of the side to move if it follows, and where they end.
fn squares_of(text: &str) -> (String, usize) {
    let mut squares = String::new();
    let mut letters = text.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        let is_move = letters.peek().is_some_and(|(_, next)| ('1'..='9').contains(next));
        match square(letter) {
            Some(mark) if !is_move => squares.push(mark),
            None if letter.is_whitespace() => {}
            _ => return (squares, at),
        }
    }
    (squares, text.len())
}

fn wrong_size(found: usize, offset: usize) -> TextFault {
    let sizes = Shape::ALL.iter().map(|shape| format!("{} ({shape})", shape.layout().squares));
    let allowed = format!("{} squares, then X or O", sizes.collect::<Vec<_>>().join(", "));
    TextFault::new(offset, format!("the position has {found} squares before this place"))
        .allowing(allowed)
}

/// The side to move where the text does not say it: black moves when the number of discs is even.
fn side_by_count(squares: &str) -> char {
    let discs = squares.chars().filter(|&mark| mark != '-').count();
    if discs % 2 == 0 { 'X' } else { 'O' }
}

/// What a line of a drawing is.
enum Line {
    Empty,
    /// The letters of the columns, or that the game is over.
    Labels,
    /// Who moves.
    Side(char),
    /// Squares, without blanks and the number of the row.
    Row(String),
    Other,
}

impl Line {
    fn of(line: &str, rows: usize) -> Line {
        let mut words: Vec<&str> = line.split_whitespace().collect();
        let joined = words.concat().to_ascii_lowercase();
        if joined.is_empty() {
            return Line::Empty;
        }
        let is_label = joined.len() >= FEWEST_COLUMNS && "abcdefghij".starts_with(&joined);
        if is_label || line.contains("the game is over") {
            return Line::Labels;
        }
        if let Some(side) = side_of(line) {
            return Line::Side(side);
        }
        let number = (rows + 1).to_string();
        if words.len() > 1 && words[0] == number {
            words.remove(0);
        }
        if words.len() > 1 && words.last() == Some(&number.as_str()) {
            words.pop();
        }
        let mut row = words.concat();
        let bare = row.strip_prefix(&number).filter(|bare| marks(bare).is_some());
        if let Some(bare) = bare.filter(|_| marks(&row).is_none()) {
            row = bare.to_string();
        }
        let is_row = ROW_LENGTHS.contains(&row.chars().count())
            && row.chars().all(|letter| square(letter).is_some() || matches!(letter, '1' | '2'));
        if is_row { Line::Row(row) } else { Line::Other }
    }
}

/// The side to move that a line names: `black to move`, `X`, `white must pass`.
fn side_of(line: &str) -> Option<char> {
    let line = line.trim().to_ascii_lowercase();
    let sentence = [("to move", false), ("to play", false), ("turn", false), ("must pass", true)];
    let found = sentence.iter().find_map(|&(words, passes)| Some((line.find(words)?, passes)));
    let (text, passes) =
        found.map_or((line.as_str(), false), |(end, passes)| (&line[..end], passes));
    let is_mark = |letter: char| letter.is_alphanumeric() || letter == '*';
    let word = text.split(|letter| !is_mark(letter)).rfind(|word| !word.is_empty())?;
    let is_black = match word {
        "black" | "x" | "b" | "*" => true,
        "white" | "o" | "w" => false,
        _ => return None,
    };
    // A word alone, or one in such a sentence.
    let is_named = found.is_some() || line.len() == word.len();
    is_named.then_some(if is_black == passes { 'O' } else { 'X' })
}

/// A position drawn in rows at the beginning of a text: its board, squares and side, and the text
/// after it.
fn drawing(text: &str) -> Option<(Shape, String, Option<char>, &str)> {
    let (mut rows, mut side, mut end): (Vec<String>, _, _) = (Vec::new(), None, 0);
    // What follows the last row belongs to the drawing only if it names the side to move.
    let mut found = None;
    for line in text.split_inclusive('\n') {
        match Line::of(line, rows.len()) {
            Line::Empty | Line::Labels => {}
            Line::Side(named) => side = Some(named),
            Line::Row(row) => rows.push(row),
            Line::Other => break,
        }
        end += line.len();
        if let Some(shape) = drawn(&rows) {
            found = Some((shape, rows.len(), side, end));
        } else if found.is_some() || rows.len() > MOST_ROWS {
            break;
        }
    }
    let (shape, count, side, end) = found?;
    Some((shape, marks(&rows[..count].concat())?, side, &text[end..]))
}

/// The board whose rows have as many squares as these.
fn drawn(rows: &[String]) -> Option<Shape> {
    let lengths: Vec<usize> = rows.iter().map(|row| row.chars().count()).collect();
    Shape::ALL.into_iter().find(|shape| {
        let layout = shape.layout();
        let mut wanted = vec![0; layout.width];
        layout.cell_of.iter().for_each(|&cell| wanted[usize::from(cell) / layout.width] += 1);
        wanted == lengths
    })
}

/// The position on the board `G`.
pub(super) fn on_board<G: Geometry>(found: &Found) -> Result<Position<G>, TextFault> {
    if found.shape != G::SHAPE {
        let message = format!("the position is of board {}, not {}", found.shape, G::SHAPE);
        return Err(TextFault::new(0, message));
    }
    let line = parse_obf::<G>(&found.line);
    let position = line.map_err(|error| TextFault::new(0, error.to_string()))?.position;
    match position.board.discs() {
        0 => Err(TextFault::new(0, "the position has no disc")),
        _ => Ok(position),
    }
}
