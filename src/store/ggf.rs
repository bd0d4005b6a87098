//! Games in GGF, the Generic Game Format of the GGS server (Buro): the part that Othello uses.
//!
//! `(;GM[Othello]PC[..]DT[..]PB[..]PW[..]RE[?]TI[15:00]TY[8]BO[8 <squares> *]B[F5]W[F6/0.2/1.5];)`
//!
//! `BO` has the board as rows of `-`, `*` (black) and `O` (white), then the side to move. The moves
//! follow, each with an optional evaluation and time. Passes are written as `PA`. A board with
//! holes has a `.` for each cell of its bounding box that is not a square.

use std::fmt::Write as _;

use time::OffsetDateTime;

use crate::game::notation::{obf, parse_obf, parse_square, plain_excerpt, square_name, strip_pass};
use crate::game::{Board, Colour, Geometry, Goal, Position, Square};

/// Longer names are cut to this many characters. Edax refuses values of more than 255 bytes.
const LONGEST_NAME: usize = 60;
/// The place of games that have no other.
const PROGRAM: &str = "Outflank";
/// An error message shows at most this many characters of a wrong text.
const EXCERPT: usize = 40;

/// Why a text is not a game in GGF.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum GgfError {
    /// It does not begin with `(;`.
    #[error("a game begins with `(;`")]
    NoGame,
    /// A bracket is not closed, or text stands outside of brackets.
    #[error("`{shown}` at offset {offset} is not `NAME[value]`")]
    NoTag {
        /// Offset of the text, in bytes from 0.
        offset: usize,
        /// The start of the text.
        shown: Box<str>,
    },
    /// The game is not Othello.
    #[error("the game, GM, is `{found}`; allowed: Othello")]
    OtherGame {
        /// Its name.
        found: Box<str>,
    },
    /// The board is missing, of another size, or impossible.
    #[error(
        "the board, BO, is `{shown}`, not a position of this board; allowed: `{width}`, then {cells} of `-`, `*` (black) and `O` (white), then `*` or `O` for the side to move"
    )]
    NoBoard {
        /// The value of `BO`.
        shown: Box<str>,
        /// Columns of this board.
        width: usize,
        /// Squares of its bounding box.
        cells: usize,
    },
    /// A move is not legal in its position.
    #[error("move {number}, `{shown}`, is not legal for {side}; allowed: {allowed}")]
    IllegalMove {
        /// Counted from 1, passes included.
        number: usize,
        /// Offset of its tag, in bytes from 0.
        offset: usize,
        /// The move as written.
        shown: Box<str>,
        /// The side that moves.
        side: Colour,
        /// The legal moves.
        allowed: Box<str>,
    },
}

/// A game's tags besides its board and moves.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Header {
    /// Black's name.
    pub black: String,
    /// White's name.
    pub white: String,
    /// The place, PC; `None` for this program.
    pub place: Option<String>,
    /// The date; this program writes it as `year.month.day_hour:minute:second.zone`.
    pub date: Option<String>,
    /// Black's discs minus white's at the end; `None` if the game is not over.
    pub result: Option<i32>,
    /// How the game ended before its last move: `r` by resigning, `t` by time, `s` as agreed, `l` by
    /// a lost connection.
    pub ended: Option<char>,
    /// Which score wins.
    pub goal: Goal,
}

impl Default for Header {
    fn default() -> Header {
        Header {
            black: "black".into(),
            white: "white".into(),
            place: None,
            date: None,
            result: None,
            ended: None,
            goal: Goal::Most,
        }
    }
}

/// A game read from GGF.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GgfGame<G: Geometry> {
    /// The players, the date, the result and the goal.
    pub header: Header,
    /// The first position, as written: the side to move may have to pass.
    pub start: Position<G>,
    /// The moves; `None` is a written pass.
    pub moves: Vec<Option<Square>>,
    /// Whether the text has another game after this one.
    pub is_followed: bool,
}

/// Writes a game with a default header, for an engine. It starts at `start`; `moves` are without
/// passes.
pub fn write<G: Geometry>(start: Position<G>, moves: &[Square]) -> String {
    write_with(&Header::default(), start, moves)
}

/// Writes a game with its header. It starts at `start`; `moves` are without passes.
///
/// The text is one line, and brackets in names become parentheses: NBoard and Edax cannot read line
/// ends between tags or escaped brackets. The time `TI` is required, so a fixed value is written.
pub fn write_with<G: Geometry>(header: &Header, start: Position<G>, moves: &[Square]) -> String {
    write_valued(header, start, moves, &[])
}

/// The same, with the value of each move behind it: the expected disc difference after the move, for
/// the side that made it. Fewer values than moves, and moves without one, are allowed.
pub fn write_valued<G: Geometry>(
    header: &Header,
    start: Position<G>,
    moves: &[Square],
    values: &[Option<f32>],
) -> String {
    let layout = G::SHAPE.layout();
    let line = obf(start);
    let marks = line.as_bytes();
    let place = plain(header.place.as_deref().unwrap_or(PROGRAM));
    let mut text = format!("(;GM[Othello]PC[{place}]");
    if let Some(date) = &header.date {
        let _ = write!(text, "DT[{}]", plain(date));
    }
    let _ = write!(text, "PB[{}]PW[{}]", plain(&header.black), plain(&header.white));
    let ended = header.ended.map_or(String::new(), |how| format!(":{how}"));
    let _ = match header.result {
        Some(result) => write!(text, "RE[{result:+}.00{ended}]"),
        None => write!(text, "RE[?{ended}]"),
    };
    let anti = if header.goal == Goal::Fewest { "a" } else { "" };
    let _ = write!(text, "TI[15:00]TY[{}{anti}]BO[{} ", layout.width, layout.width);
    for cell in 0..layout.cells() {
        let square = layout.cell_of.iter().position(|&other| other as usize == cell);
        text.push(square.map_or('.', |square| mark(marks[square])));
    }
    let _ = write!(text, " {}]", if start.side == Colour::Black { '*' } else { 'O' });
    let mut position = write_forced_pass(start, &mut text);
    for (number, &square) in moves.iter().enumerate() {
        let Some(next) = position.play(square) else { break };
        let name = square_name::<G>(square).to_ascii_uppercase();
        let value = values.get(number).copied().flatten().filter(|value| value.is_finite());
        let value = value.map_or(String::new(), |value| format!("/{value:.2}"));
        let _ = write!(text, "{}[{name}{value}]", letter(position.side));
        position = write_forced_pass(next, &mut text);
    }
    text.push_str(";)");
    text
}

/// Writes a pass if the side to move must pass, and returns the position after it.
fn write_forced_pass<G: Geometry>(position: Position<G>, text: &mut String) -> Position<G> {
    let next = position.pass_if_forced();
    if next.side != position.side {
        let _ = write!(text, "{}[PA]", letter(position.side));
    }
    next
}

/// A value without the characters that some programs cannot read.
fn plain(value: &str) -> String {
    let plain = |letter: char| match letter {
        '[' => '(',
        ']' => ')',
        '\\' => '/',
        letter if letter.is_control() => ' ',
        letter => letter,
    };
    value.chars().take(LONGEST_NAME).map(plain).collect()
}

fn letter(side: Colour) -> char {
    if side == Colour::Black { 'B' } else { 'W' }
}

fn mark(obf: u8) -> char {
    if obf == b'X' { '*' } else { obf as char }
}

/// Reads the first game of a text.
///
/// # Errors
///
/// The text has no game, or the game has a wrong tag, board or move.
///
/// ```
/// use outflank::game::{Position, Square8, notation};
/// use outflank::store::ggf::{self, Header};
///
/// let start = Position::<Square8>::start();
/// let (moves, _) = notation::parse_transcript("f5d6c3", start)?;
/// let header = Header { black: "Ann".into(), white: "Ben".into(), ..Header::default() };
/// let text = ggf::write_with(&header, start, &moves);
/// assert!(text.starts_with("(;GM[Othello]"));
/// let game = ggf::read::<Square8>(&text)?;
/// assert_eq!((game.header.white.as_str(), game.start), ("Ben", start));
/// assert!(game.moves.into_iter().flatten().eq(moves));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read<G: Geometry>(text: &str) -> Result<GgfGame<G>, GgfError> {
    let start = text.find("(;").ok_or(GgfError::NoGame)?;
    let mut rest = text[start + 2..].trim_start();
    let mut game = GgfGame {
        header: Header::default(),
        start: Position::start(),
        moves: Vec::new(),
        is_followed: false,
    };
    let mut position = game.start;
    while !rest.is_empty() && !rest.starts_with([';', ')']) {
        let offset = text.len() - rest.len();
        let no_tag = || GgfError::NoTag { offset, shown: shown(rest) };
        let (name, value, after) = tag(rest).ok_or_else(no_tag)?;
        rest = after.trim_start();
        match name.to_ascii_uppercase().as_str() {
            "GM" if !value.eq_ignore_ascii_case("othello") => {
                return Err(GgfError::OtherGame { found: shown(&value) });
            }
            "PB" => game.header.black = value,
            "PW" => game.header.white = value,
            "PC" => game.header.place = Some(value).filter(|place| place != PROGRAM),
            "DT" => game.header.date = Some(date(value)),
            "RE" => {
                game.header.result = result(&value);
                game.header.ended = ended(&value);
            }
            "TY" if is_anti(&value) => game.header.goal = Goal::Fewest,
            "BO" => {
                game.start = board(&value)?;
                position = game.start;
                game.moves.clear();
            }
            name @ ("B" | "W") => {
                let side = if name == "B" { Colour::Black } else { Colour::White };
                let illegal = || GgfError::IllegalMove {
                    number: game.moves.len() + 1,
                    offset,
                    shown: shown(&value),
                    side,
                    allowed: allowed(position),
                };
                let (played, next) = step(position, side, &value).ok_or_else(illegal)?;
                game.moves.push(played);
                position = next;
            }
            _ => {}
        }
    }
    game.is_followed = rest.contains("(;");
    Ok(game)
}

/// Reads a move or pass. Returns it with the position after it, before any forced pass.
fn step<G: Geometry>(
    mut position: Position<G>,
    side: Colour,
    value: &str,
) -> Option<(Option<Square>, Position<G>)> {
    let name = value.split(['/', ' ']).next().unwrap_or_default();
    if position.side != side {
        // A pass that was not written.
        position = position.pass_if_forced();
    }
    if position.side != side {
        return None;
    }
    if strip_pass(name) == Some("") {
        return position.board.legal().is_empty().then(|| (None, position.pass()));
    }
    let square = parse_square::<G>(name)?;
    Some((Some(square), position.play(square)?))
}

/// The legal moves as tags of this format.
fn allowed<G: Geometry>(position: Position<G>) -> Box<str> {
    let names = |board: Board<G>, side| {
        let tag = |square| format!("{}[{}]", letter(side), square_name::<G>(square));
        board.legal().map(tag).collect::<Vec<_>>()
    };
    if position.board.is_over() {
        return "none, the game is over".into();
    }
    let mut tags = names(position.board, position.side);
    if tags.is_empty() {
        tags.push(format!("{}[PA]", letter(position.side)));
        tags.extend(names(position.board.pass(), !position.side));
    }
    tags.join(" ").into()
}

/// Parses black's disc difference: `+12.00`, or `+64.00:r` if white resigned.
fn result(value: &str) -> Option<i32> {
    let number: f64 = value.split(':').next()?.trim().parse().ok()?;
    (number.fract() == 0.0 && number.abs() < 1000.0).then_some(number as i32)
}

/// How a game ended early: the letter behind a result.
fn ended(value: &str) -> Option<char> {
    let letter = value.split_once(':')?.1.trim().chars().next()?.to_ascii_lowercase();
    ['r', 't', 's', 'l'].into_iter().find(|&known| known == letter)
}

/// A date; one in seconds since 1970, which the format allows, as a date and time.
fn date(value: String) -> String {
    let seconds = value.trim().parse().ok().filter(|&seconds| seconds > 100_000_000);
    let date = seconds.and_then(|seconds| OffsetDateTime::from_unix_timestamp(seconds).ok());
    date.map_or(value, |date| {
        let (year, month, day) = (date.year(), u8::from(date.month()), date.day());
        let (hour, minute, second) = date.to_hms();
        format!("{year:04}.{month:02}.{day:02}_{hour:02}:{minute:02}:{second:02}.GMT")
    })
}

/// Whether a type such as `8a` or `s8r18a` is that of the reversed game: a size, then letters with
/// an `a`. Words such as `rated` say nothing about it.
fn is_anti(value: &str) -> bool {
    let value = value.trim().to_ascii_lowercase();
    let kind = value.trim_start_matches('s');
    let is_type = kind.starts_with(|letter: char| letter.is_ascii_digit())
        && kind.chars().all(|letter| letter.is_ascii_digit() || "rkaw".contains(letter));
    is_type && kind.contains('a')
}

/// Splits off the first `NAME[value]`. A backslash makes the next character literal.
fn tag(text: &str) -> Option<(&str, String, &str)> {
    let (name, rest) = text.split_once('[')?;
    let (mut value, mut escaped) = (String::new(), false);
    for (index, letter) in rest.char_indices() {
        match letter {
            _ if std::mem::take(&mut escaped) => value.push(letter),
            '\\' => escaped = true,
            ']' => return Some((name.trim(), value, &rest[index + 1..])),
            _ => value.push(letter),
        }
    }
    None
}

fn board<G: Geometry>(value: &str) -> Result<Position<G>, GgfError> {
    let layout = G::SHAPE.layout();
    let (width, cells) = (layout.width, layout.cells());
    let no_board = || GgfError::NoBoard { shown: shown(value), width, cells };
    let (size, marks) = value.trim().split_once(char::is_whitespace).ok_or_else(no_board)?;
    let marks: Vec<char> = marks.chars().filter(|mark| !mark.is_whitespace()).collect();
    let Some(side) = marks.last() else { return Err(no_board()) };
    if size.parse() != Ok(width) || marks.len() != cells + 1 {
        return Err(no_board());
    }
    // Two boards have the same bounding box and other holes.
    let is_square = |cell: usize| layout.cell_of.iter().any(|&own| usize::from(own) == cell);
    let has_holes = layout.squares < cells;
    if has_holes && (0..cells).any(|cell| is_square(cell) != (marks[cell] != '.')) {
        return Err(no_board());
    }
    let plain = |mark: char| if mark == '*' { 'X' } else { mark.to_ascii_uppercase() };
    let mut line: String = layout.cell_of.iter().map(|&cell| plain(marks[cell as usize])).collect();
    line.push(' ');
    line.push(plain(*side));
    Ok(parse_obf::<G>(&line).map_err(|_| no_board())?.position)
}

fn shown(text: &str) -> Box<str> {
    plain_excerpt(text, EXCERPT)
}

#[cfg(test)]
#[path = "ggf_tests.rs"]
mod tests;
