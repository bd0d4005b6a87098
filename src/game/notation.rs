//! Squares, moves, positions and games as text.
//!
//! - A square is a column letter and a row number: `f5`, on the large boards up to `j10`.
//! - A transcript is a sequence of moves: `f5d6c3`. Forced passes may be written (`pa`, `--`) or
//!   left out.
//! - A position is an OBF line: one character for each playable square in reading order (`X`
//!   black, `O` white, `-` empty), then the side to move, then optional `move:score` pairs.
//!   On 8x8 this is the format of the FFO test files.
//! - A diagram shows the board as rows of characters.

mod error;

use std::fmt::Write as _;

use super::board::{Board, Colour, Position};
use super::geometry::{Bitboard, Geometry, Square};
use super::layout::Layout;
pub use error::{NotationError, excerpt, plain_excerpt};

/// The most characters of an invalid text that an error shows.
const SHOWN: usize = 40;

impl Layout {
    /// The name of a square, such as `f5`.
    ///
    /// # Panics
    ///
    /// If the board has no square of this number.
    pub fn square_name(&self, square: Square) -> String {
        let cell = self.cell_of[square.index()] as usize;
        let column = (b'a' + (cell % self.width) as u8) as char;
        format!("{column}{}", cell / self.width + 1)
    }

    /// The square with a name, in lower or upper case; `None` if the board has no such square.
    pub fn parse_square(&self, name: &str) -> Option<Square> {
        let (square, rest) = self.split_square(name)?;
        rest.is_empty().then_some(square)
    }

    /// The square at the beginning of `text`, and the rest of the text.
    pub fn split_square<'a>(&self, text: &'a str) -> Option<(Square, &'a str)> {
        let letter = text.chars().next().filter(char::is_ascii_alphabetic)?;
        let column = (letter.to_ascii_lowercase() as u8 - b'a') as usize;
        let digits = text[1..].bytes().take(2).take_while(u8::is_ascii_digit).count();
        // A second digit belongs to the row only if the board has that many rows.
        for digits in (1..=digits).rev() {
            let row: usize = text[1..1 + digits].parse().ok()?;
            if column < self.width && (1..=self.width).contains(&row) {
                let cell = ((row - 1) * self.width + column) as u8;
                let square = self.cell_of.iter().position(|&c| c == cell)?;
                return Some((Square(square as u8), &text[1 + digits..]));
            }
        }
        None
    }
}

/// The name of a square of shape `G`, such as `f5`.
///
/// # Panics
///
/// If the board has no square of this number.
///
/// ```
/// use outflank::game::{Square, Square8, notation};
///
/// assert_eq!(notation::square_name::<Square8>(Square(63)), "h8");
/// ```
pub fn square_name<G: Geometry>(square: Square) -> String {
    G::SHAPE.layout().square_name(square)
}

/// The square of shape `G` with a name such as `f5`, in lower or upper case.
///
/// ```
/// use outflank::game::{Square, Square8, notation};
///
/// assert_eq!(notation::parse_square::<Square8>("H8"), Some(Square(63)));
/// assert_eq!(notation::parse_square::<Square8>("i9"), None);
/// ```
pub fn parse_square<G: Geometry>(name: &str) -> Option<Square> {
    G::SHAPE.layout().parse_square(name)
}

/// The transcript of a sequence of moves, without passes.
///
/// # Panics
///
/// If a square is not one of the board.
///
/// ```
/// use outflank::game::{Position, Square8, notation};
///
/// let (moves, _) = notation::parse_transcript::<Square8>("F5D6C3", Position::start())?;
/// assert_eq!(notation::transcript::<Square8>(moves), "f5d6c3");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn transcript<G: Geometry>(moves: impl IntoIterator<Item = Square>) -> String {
    moves.into_iter().map(square_name::<G>).collect()
}

fn legal_names<G: Geometry>(board: Board<G>) -> Box<str> {
    let names: Vec<_> = board.legal().map(square_name::<G>).collect();
    names.join(" ").into()
}

/// Parses a transcript that starts at `position`. Returns its moves, without passes, and the
/// position after them, in which a forced pass has been made.
///
/// Forced passes may be left out; passes in the text (`pa`, `pass`, `ps`, `--`, `@@`) are checked. Blanks
/// between moves, commas, move numbers and dots are errors.
///
/// # Errors
///
/// The first part of the text that is not a square, not a legal move, or not a legal pass.
///
/// ```
/// use outflank::game::{Colour, Position, Square8, notation};
///
/// let start = Position::<Square8>::start();
/// let (moves, position) = notation::parse_transcript("f5d6c3", start)?;
/// assert_eq!((moves.len(), position.side), (3, Colour::White));
/// let error = notation::parse_transcript("f5f6a1", start).expect_err("a1 turns no disc");
/// assert!(error.to_string().starts_with("move `a1` at offset 4 is not legal; legal: "));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn parse_transcript<G: Geometry>(
    text: &str,
    position: Position<G>,
) -> Result<(Vec<Square>, Position<G>), NotationError> {
    let layout = G::SHAPE.layout();
    let given = position;
    let mut position = given.pass_if_forced();
    let mut moves = Vec::new();
    let mut rest = text.trim();
    let start = text.len() - text.trim_start().len();
    let total = rest.len();
    // `pass_if_forced` has already made the forced passes. A pass in the text is legal exactly
    // where that has just happened.
    let mut passed = position.side != given.side;
    while !rest.is_empty() {
        let offset = start + total - rest.len();
        if let Some(after) = strip_pass(rest) {
            if !passed {
                return Err(NotationError::IllegalPass { offset });
            }
            passed = false;
            rest = after;
            continue;
        }
        let invalid = || rest.chars().take(3).collect::<String>().into();
        let (square, after) = layout.split_square(rest).ok_or_else(|| NotationError::NoSquare {
            offset,
            text: invalid(),
            width: layout.width,
        })?;
        let next = position.play(square).ok_or_else(|| NotationError::IllegalMove {
            offset,
            text: layout.square_name(square).into(),
            legal: legal_names(position.board),
        })?;
        position = next.pass_if_forced();
        passed = position.side != next.side;
        moves.push(square);
        rest = after;
    }
    Ok((moves, position))
}

/// The text after a pass (`pa`, `pass`, `ps`, `--`, `@@`); `None` if `text` does not begin with one.
///
/// ```
/// use outflank::game::notation;
///
/// assert_eq!(notation::strip_pass("--f5"), Some("f5"));
/// assert_eq!(notation::strip_pass("f5"), None);
/// ```
pub fn strip_pass(text: &str) -> Option<&str> {
    ["pass", "pa", "ps", "--", "@@"].into_iter().find_map(|pass| {
        let head = text.get(..pass.len())?;
        head.eq_ignore_ascii_case(pass).then(|| &text[pass.len()..])
    })
}

fn parse_side(text: &str) -> Result<Colour, NotationError> {
    match text {
        "X" | "x" | "*" | "B" | "b" => Ok(Colour::Black),
        "O" | "o" | "0" | "W" | "w" => Ok(Colour::White),
        other => Err(NotationError::NoSide { found: excerpt(other, SHOWN) }),
    }
}

/// A line of an OBF file: a position, and scores of some of its moves for the side to move.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ObfLine<G: Geometry> {
    /// The position.
    pub position: Position<G>,
    /// Moves (`None` for a pass) with their scores in discs, in the order of the line.
    pub scores: Vec<(Option<Square>, i32)>,
}

impl<G: Geometry> ObfLine<G> {
    /// The best score of the line, in discs for the side to move; `None` if it has no scores.
    pub fn best(&self) -> Option<i32> {
        self.scores.iter().map(|&(_, score)| score).max()
    }
}

/// Whether a line is a transcript and not a position: it begins with a letter and a digit from 1
/// to 9. The only digit in a position is 0, for a white disc.
///
/// ```
/// use outflank::game::{Position, Square8, notation};
///
/// assert!(notation::is_transcript("f5d6c3"));
/// assert!(!notation::is_transcript(&notation::obf(Position::<Square8>::start())));
/// ```
pub fn is_transcript(line: &str) -> bool {
    matches!(line.as_bytes(), [letter, b'1'..=b'9', ..] if letter.is_ascii_alphabetic())
}

/// Parses a position written as an OBF line.
///
/// Entries such as `--:-127`, which some files use as padding, are skipped.
///
/// # Errors
///
/// The first part of the line that cannot be parsed.
///
/// ```
/// use outflank::game::{Colour, Square6, notation};
///
/// let line = "--------------O*----*O-------------- X; c2:-4; d5:-6;";
/// let found = notation::parse_obf::<Square6>(line)?;
/// assert_eq!((found.position.side, found.scores.len()), (Colour::Black, 2));
/// assert_eq!(found.best(), Some(-4));
/// let error = notation::parse_obf::<Square6>("-- X").expect_err("it is too short");
/// assert_eq!(error.to_string(), "a position of this board has 36 characters, found 2");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn parse_obf<G: Geometry>(line: &str) -> Result<ObfLine<G>, NotationError> {
    let mut fields = line.split(';');
    let head = fields.next().unwrap_or_default();
    let mut words = head.split_whitespace();
    let squares = words.next().unwrap_or_default();
    // Some tools write the side to move directly after the squares.
    let count = squares.chars().count();
    let (squares, side) = match words.next() {
        Some(side) => (squares, side),
        None if count == G::SQUARES + 1 && squares.is_ascii() => squares.split_at(G::SQUARES),
        None => (squares, ""),
    };
    let found = squares.chars().count();
    if found != G::SQUARES {
        return Err(NotationError::WrongLength { found, wanted: G::SQUARES });
    }
    let (mut black, mut white) = (G::Bitboard::ZERO, G::Bitboard::ZERO);
    for (index, (offset, character)) in squares.char_indices().enumerate() {
        let mask = G::mask(Square(index as u8));
        match character {
            'X' | 'x' | '*' | 'B' | 'b' => black |= mask,
            'O' | 'o' | '0' | 'W' | 'w' => white |= mask,
            '-' | '.' | '_' => {}
            found => return Err(NotationError::NoDisc { offset, found }),
        }
    }
    let side = parse_side(side)?;
    let board = match side {
        Colour::Black => Board { mine: black, theirs: white },
        Colour::White => Board { mine: white, theirs: black },
    };
    if let Some(extra) = words.next() {
        return Err(NotationError::NoSide { found: format!("{} {extra}", side_mark(side)).into() });
    }
    let mut scores = Vec::new();
    for field in fields {
        let field = field.trim();
        if field.is_empty() || field.starts_with('%') {
            continue;
        }
        scores.extend(parse_score::<G>(field)?);
    }
    Ok(ObfLine { position: Position { board, side }, scores })
}

fn parse_score<G: Geometry>(field: &str) -> Result<Option<(Option<Square>, i32)>, NotationError> {
    let malformed = || NotationError::NoScore { text: excerpt(field, SHOWN) };
    let (name, score) = field.split_once(':').ok_or_else(malformed)?;
    let score: i32 = score.trim().parse().map_err(|_| malformed())?;
    if score.unsigned_abs() as usize > G::SQUARES {
        return if name.trim() == "--" { Ok(None) } else { Err(malformed()) };
    }
    match name.trim() {
        pass if strip_pass(pass) == Some("") => Ok(Some((None, score))),
        name => {
            let square = parse_square::<G>(name).ok_or_else(malformed)?;
            Ok(Some((Some(square), score)))
        }
    }
}

fn side_mark(side: Colour) -> char {
    match side {
        Colour::Black => 'X',
        Colour::White => 'O',
    }
}

/// A position as an OBF line without scores: squares in reading order, a blank, the side to move.
///
/// ```
/// use outflank::game::{Position, Square6, notation};
///
/// let start = Position::<Square6>::start();
/// assert_eq!(notation::obf(start), "--------------OX----XO-------------- X");
/// assert_eq!(notation::parse_obf(&notation::obf(start))?.position, start);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn obf<G: Geometry>(position: Position<G>) -> String {
    let black_view = position.black_view();
    let mut line: String = (0..G::SQUARES)
        .map(|index| {
            let mask = G::mask(Square(index as u8));
            if !(black_view.mine & mask).is_zero() {
                'X'
            } else if !(black_view.theirs & mask).is_zero() {
                'O'
            } else {
                '-'
            }
        })
        .collect();
    line.push(' ');
    line.push(side_mark(position.side));
    line
}

/// A position as rows of characters, with column letters and row numbers: `X` black, `O` white,
/// `.` a legal move of the side to move, `-` other empty squares, a blank for a hole.
///
/// ```
/// use outflank::game::{Position, Square6, notation};
///
/// let rows = notation::diagram(Position::<Square6>::start());
/// let rows: Vec<&str> = rows.lines().collect();
/// assert_eq!(rows[0], "   a b c d e f");
/// assert_eq!(rows[3..5], [" 3 - . O X - -", " 4 - - X O . -"]);
/// ```
pub fn diagram<G: Geometry>(position: Position<G>) -> String {
    let layout = G::SHAPE.layout();
    let legal = position.board.legal();
    let line = obf(position);
    let marks = line.as_bytes();
    let mut text = String::from("  ");
    for column in 0..layout.width {
        let _ = write!(text, " {}", (b'a' + column as u8) as char);
    }
    for row in 0..layout.width {
        let _ = write!(text, "\n{:2}", row + 1);
        for column in 0..layout.width {
            let cell = (row * layout.width + column) as u8;
            let mark = match layout.cell_of.iter().position(|&c| c == cell) {
                None => ' ',
                Some(index) if legal.contains(Square(index as u8)) => '.',
                Some(index) => marks[index] as char,
            };
            let _ = write!(text, " {mark}");
        }
    }
    text.push('\n');
    text
}

impl<G: Geometry> std::fmt::Debug for Board<G> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&obf(Position { board: *self, side: Colour::Black }))
    }
}

impl<G: Geometry> std::fmt::Debug for Position<G> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&obf(*self))
    }
}
