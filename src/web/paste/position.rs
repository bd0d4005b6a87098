//! Positions: the squares of a board in one line or in rows, and the side to move.

use super::{Fault, moves};
use crate::game::notation::{obf, parse_obf};
use crate::game::{Geometry, Goal, Position, Shape};
use crate::web::game::Game;

/// A text is taken for a position if it begins with this many squares.
const BEGINNING: usize = 20;

/// A position on any board.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Start {
    shape: Shape,
    /// The position as an OBF line.
    line: String,
}

/// The mark of OBF for a character that programs use for a square.
fn square(letter: char) -> Option<char> {
    Some(match letter {
        'X' | 'x' | '*' | 'B' | 'b' | '●' | '⚫' => 'X',
        'O' | 'o' | '0' | 'W' | 'w' | '○' | '⚪' => 'O',
        '-' | '.' | '_' => '-',
        _ => return None,
    })
}

/// Whether a text begins with squares. Moves never do: they alternate letters and digits.
pub(super) fn is_position(text: &str) -> bool {
    let mut letters = text.chars().filter(|letter| !letter.is_whitespace());
    (0..BEGINNING).all(|_| letters.next().is_some_and(|letter| square(letter).is_some()))
}

/// The position at the beginning of a text, and the text after it.
pub(super) fn first(text: &str) -> Result<(Start, &str), Fault> {
    let mut squares = String::new();
    let mut letters = text.char_indices().peekable();
    let mut end = text.len();
    while let Some((at, letter)) = letters.next() {
        let is_move = letters.peek().is_some_and(|(_, next)| ('1'..='9').contains(next));
        match square(letter) {
            Some(mark) if !is_move => squares.push(mark),
            None if letter.is_whitespace() => {}
            _ => {
                end = at;
                break;
            }
        }
    }
    let of_size =
        |count: usize| Shape::ALL.iter().copied().find(|shape| shape.layout().squares == count);
    let (shape, side) = match (of_size(squares.len()), of_size(squares.len().saturating_sub(1))) {
        (Some(shape), _) => (shape, None),
        (None, Some(shape)) => (shape, squares.pop()),
        (None, None) => return Err(wrong_size(squares.len(), end)),
    };
    let side = side.unwrap_or_else(|| side_by_count(&squares));
    // Scores of moves, as OBF has them, end with the line.
    let rest = match text[end..].strip_prefix([';', '%']) {
        Some(scores) => scores.split_once('\n').map_or("", |(_, rest)| rest),
        None => &text[end..],
    };
    Ok((Start { shape, line: format!("{squares} {side}") }, rest))
}

fn wrong_size(found: usize, offset: usize) -> Fault {
    let sizes = Shape::ALL.iter().map(|shape| format!("{} ({shape})", shape.layout().squares));
    let allowed = format!("{} squares, then X or O", sizes.collect::<Vec<_>>().join(", "));
    Fault {
        allowed: Some(allowed),
        ..Fault::new(offset, format!("the position has {found} squares before this place"))
    }
}

/// The side to move where the text does not say it: black moves when the number of discs is even.
fn side_by_count(squares: &str) -> char {
    let discs = squares.chars().filter(|&mark| mark != '-').count();
    if discs % 2 == 0 { 'X' } else { 'O' }
}

/// The game that begins at a position, with the moves of the rest of the text.
pub(super) fn with_moves(start: &Start, rest: &str, goal: Goal) -> Result<Game, Fault> {
    dispatch!(start.shape, G => {
        let position = checked::<G>(&start.line)?;
        let moves = moves::from(position, rest)?;
        Ok(Game::of(position, &moves, goal))
    })
}

fn checked<G: Geometry>(line: &str) -> Result<Position<G>, Fault> {
    let position = parse_obf::<G>(line).map_err(|error| Fault::new(0, error.to_string()))?.position;
    match position.board.discs() {
        0 => Err(Fault::new(0, "the position has no disc")),
        _ => Ok(position),
    }
}

/// The position of an OBF line, on the board with as many squares. Scores of moves are left out.
pub(super) fn line(line: &str, goal: Goal) -> Result<Game, Fault> {
    let squares = line.trim_start().chars().take_while(|&letter| square(letter).is_some()).count();
    let fitting = Shape::ALL.iter().copied().find(|shape| shape.layout().squares == squares);
    let shape = fitting.ok_or_else(|| wrong_size(squares, squares))?;
    dispatch!(shape, G => {
        let bare = line.split(['%', '#']).next().unwrap_or_default().trim();
        let whole = bare.split(';').next().unwrap_or_default().trim();
        let text = match whole.contains(char::is_whitespace) {
            true => bare.to_string(),
            false => format!("{whole} {}", side_by_count(whole)),
        };
        let position = checked::<G>(&text)?;
        Ok(Game { start: Some(obf(position).into()), ..Game::of::<G>(position, &[], goal) })
    })
}
