//! Games in GGF, the Generic Game Format of the GGS server, as far as Othello engines use it.
//!
//! `(;GM[Othello]PC[..]PB[..]PW[..]RE[?]TI[15:00]TY[8]BO[8 <squares> *]B[F5]W[F6/0.2/1.5];)`:
//! the board as rows of `-`, `*` (black) and `O` (white), then who is to move, then the moves
//! with what the player thought of them. Passes are written, as `PA`. On boards with holes the
//! squares of the bounding box that are no squares of the board are written as `.`.

use std::fmt::Write as _;

use crate::game::notation::{excerpt, obf, parse_obf, square_name};
use crate::game::{Colour, Geometry, Position, Square};

/// Why text is no game in GGF.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum GgfError {
    /// It does not begin with `(;`.
    #[error("a game begins with `(;`")]
    NoGame,
    /// A bracket is not closed, or text stands outside of brackets.
    #[error("`{shown}` is no `NAME[value]`")]
    NoTag {
        /// The beginning of the text.
        shown: Box<str>,
    },
    /// It is another game.
    #[error("the game is `{found}`, not Othello")]
    OtherGame {
        /// Its name.
        found: Box<str>,
    },
    /// The board is missing, of another size, or impossible.
    #[error("`{shown}` is no position of this board")]
    NoBoard {
        /// The text in its place.
        shown: Box<str>,
    },
    /// A move is not legal where it stands.
    #[error("move {number}, `{shown}`, is not legal for {side}")]
    IllegalMove {
        /// Counted from 1, passes included.
        number: usize,
        /// The move as written.
        shown: Box<str>,
        /// Who makes it.
        side: Colour,
    },
}

/// A game read from GGF.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Game<G: Geometry> {
    /// Where the game begins, as written: the side to move may have to pass.
    pub start: Position<G>,
    /// The moves; `None` is a pass that is written.
    pub moves: Vec<Option<Square>>,
}

/// A game that begins at `start` and goes on with `moves`, passes implied.
pub fn write<G: Geometry>(start: Position<G>, moves: &[Square]) -> String {
    let layout = G::SHAPE.layout();
    let (line, mut position) = (obf(start), start);
    let marks = line.as_bytes();
    let mut text =
        format!("(;GM[Othello]PC[Outflank]PB[black]PW[white]RE[?]TI[15:00]TY[{}]BO[", layout.width);
    let _ = write!(text, "{} ", layout.width);
    for cell in 0..layout.cells() {
        let square = layout.cell_of.iter().position(|&other| other as usize == cell);
        text.push(square.map_or('.', |square| mark(marks[square])));
    }
    let _ = write!(text, " {}]", if start.side == Colour::Black { '*' } else { 'O' });
    for &square in moves {
        let Some(next) = position.play(square) else { break };
        let name = square_name::<G>(square).to_ascii_uppercase();
        let _ = write!(text, "{}[{name}]", letter(position.side));
        position = next.settled();
        if position.side != next.side {
            let _ = write!(text, "{}[PA]", letter(next.side));
        }
    }
    text.push_str(";)");
    text
}

fn letter(side: Colour) -> char {
    if side == Colour::Black { 'B' } else { 'W' }
}

fn mark(obf: u8) -> char {
    if obf == b'X' { '*' } else { obf as char }
}

/// The first game of a text.
///
/// # Errors
///
/// What is wrong with it.
pub fn read<G: Geometry>(text: &str) -> Result<Game<G>, GgfError> {
    let start = text.find("(;").ok_or(GgfError::NoGame)?;
    let mut rest = text[start + 2..].trim_start();
    let mut game = Game { start: Position::start(), moves: Vec::new() };
    let mut position = game.start;
    while !rest.is_empty() && !rest.starts_with([';', ')']) {
        let (name, value, after) = tag(rest)?;
        rest = after.trim_start();
        match name.to_ascii_uppercase().as_str() {
            "GM" if !value.eq_ignore_ascii_case("othello") => {
                return Err(GgfError::OtherGame { found: shown(&value) });
            }
            "BO" => {
                game.start = board(&value)?;
                position = game.start;
                game.moves.clear();
            }
            name @ ("B" | "W") => {
                let side = if name == "B" { Colour::Black } else { Colour::White };
                let illegal = || GgfError::IllegalMove {
                    number: game.moves.len() + 1,
                    shown: shown(&value),
                    side,
                };
                let (made, next) = step(position, side, &value).ok_or_else(illegal)?;
                game.moves.push(made);
                position = next;
            }
            _ => {}
        }
    }
    Ok(game)
}

/// A move or pass, with the position after it, in which nobody has passed yet.
fn step<G: Geometry>(
    mut position: Position<G>,
    side: Colour,
    value: &str,
) -> Option<(Option<Square>, Position<G>)> {
    let name = value.split(['/', ' ']).next().unwrap_or_default().to_ascii_lowercase();
    if position.side != side {
        // A pass that is not written.
        position = position.settled();
    }
    if position.side != side {
        return None;
    }
    if matches!(name.as_str(), "pa" | "pass" | "--") {
        return position.board.legal().is_empty().then(|| (None, position.pass()));
    }
    let square = crate::game::notation::parse_square::<G>(&name)?;
    Some((Some(square), position.play(square)?))
}

/// The first `NAME[value]`, and what follows. A backslash makes the next character literal.
fn tag(text: &str) -> Result<(&str, String, &str), GgfError> {
    let no_tag = || GgfError::NoTag { shown: shown(text) };
    let (name, rest) = text.split_once('[').ok_or_else(no_tag)?;
    let (mut value, mut escaped) = (String::new(), false);
    for (index, letter) in rest.char_indices() {
        match letter {
            _ if std::mem::take(&mut escaped) => value.push(letter),
            '\\' => escaped = true,
            ']' => return Ok((name.trim(), value, &rest[index + 1..])),
            _ => value.push(letter),
        }
    }
    Err(no_tag())
}

fn board<G: Geometry>(value: &str) -> Result<Position<G>, GgfError> {
    let no_board = || GgfError::NoBoard { shown: shown(value) };
    let layout = G::SHAPE.layout();
    let (size, marks) = value.trim().split_once(char::is_whitespace).ok_or_else(no_board)?;
    let marks: Vec<char> = marks.chars().filter(|mark| !mark.is_whitespace()).collect();
    let (Some(side), cells) = (marks.last(), layout.cells()) else { return Err(no_board()) };
    if size.parse() != Ok(layout.width) || marks.len() != cells + 1 {
        return Err(no_board());
    }
    let plain = |mark: char| if mark == '*' { 'X' } else { mark.to_ascii_uppercase() };
    let mut line: String = layout.cell_of.iter().map(|&cell| plain(marks[cell as usize])).collect();
    line.push(' ');
    line.push(plain(*side));
    Ok(parse_obf::<G>(&line).map_err(|_| no_board())?.position)
}

fn shown(text: &str) -> Box<str> {
    excerpt(text, 40)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::{Shape, Square8};
    use proptest::prelude::*;

    /// A line of play that leads through passes, if the shape has one near.
    fn some_game<G: Geometry>(seed: usize) -> (Position<G>, Vec<Square>) {
        let (mut position, mut moves) = (Position::<G>::start(), Vec::new());
        let mut number = seed;
        while !position.board.legal().is_empty() {
            let legal: Vec<_> = position.board.legal().collect();
            number = number.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let square = legal[(number >> 33) % legal.len()];
            position = position.play(square).expect("a legal move").settled();
            moves.push(square);
        }
        (Position::start(), moves)
    }

    fn round_trip<G: Geometry>() {
        for seed in 0..40 {
            let (start, moves) = some_game::<G>(seed);
            let game = read::<G>(&write(start, &moves)).expect("own writing");
            assert_eq!(game.start, start);
            assert_eq!(game.moves.iter().flatten().copied().collect::<Vec<_>>(), moves);
            let middle = moves[..moves.len() / 2]
                .iter()
                .fold(start, |position, &square| position.play(square).expect("legal").settled());
            let game = read::<G>(&write(middle, &moves[moves.len() / 2..])).expect("own writing");
            assert_eq!(game.start, middle);
        }
    }

    #[test]
    fn games_come_back_on_every_shape() {
        for shape in Shape::ALL {
            dispatch!(shape, G => round_trip::<G>());
        }
    }

    #[test]
    fn foreign_games_are_read() {
        let text = "(;GM[Othello]PC[NBoard]DT[2014-02-21 20:52:27 GMT]PB[a\\]b]PW[chris]RE[?]TI[15:00]TY[8]BO[8 ---------------------------O*------*O--------------------------- *]B[F5//0.01]W[f6/-1.5]B[D3];)";
        let game = read::<Square8>(text).expect("a game");
        assert_eq!((game.start, game.moves.len()), (Position::start(), 3));
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, wanted) in [
            ("", "begins with"),
            ("(;GM[Chess];)", "Chess"),
            ("(;GM[Othello", "no `NAME[value]`"),
            ("(;GM[Othello]BO[6 ------ *];)", "no position"),
            (
                "(;BO[8 ---------------------------O*------*O---------------------------];)",
                "no position",
            ),
            ("(;B[a1];)", "move 1, `a1`, is not legal for black"),
            ("(;W[f5];)", "not legal for white"),
            ("(;B[F5]W[PA];)", "move 2, `PA`"),
        ] {
            let error = read::<Square8>(text).expect_err(text).to_string();
            assert!(error.contains(wanted), "{text}: {error}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "(\\(;)?([A-Z]{1,2}\\[[ -~]{0,12}\\]?){0,6}") {
            let _ = read::<Square8>(&text);
        }
    }
}
