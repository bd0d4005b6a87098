//! Why a text is not a square, a move, a game or a position; and excerpts of texts for messages.

/// Why a text cannot be parsed. Offsets are in bytes from 0.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NotationError {
    /// The text at `offset` is not a square of the board.
    NoSquare {
        /// Where the text starts.
        offset: usize,
        /// The text.
        text: Box<str>,
        /// The number of columns, and rows, of the board.
        width: usize,
    },
    /// The move at `offset` is not legal.
    IllegalMove {
        /// Where the move starts.
        offset: usize,
        /// The square.
        text: Box<str>,
        /// The legal moves, separated by blanks; empty if the game is over.
        legal: Box<str>,
    },
    /// There is a pass at `offset`, but the side to move has a legal move.
    IllegalPass {
        /// Where the pass starts.
        offset: usize,
    },
    /// A position does not have one character for each playable square.
    WrongLength {
        /// The number of characters found.
        found: usize,
        /// The number of characters expected.
        wanted: usize,
    },
    /// A character of a position is none of `X`, `O`, `-` and their common variants.
    NoDisc {
        /// Where the character is.
        offset: usize,
        /// The character.
        found: char,
    },
    /// The side to move of a position is missing or unknown.
    NoSide {
        /// The text in its place; empty if there is none.
        found: Box<str>,
    },
    /// A `move:score` pair of an OBF line is malformed.
    NoScore {
        /// The pair.
        text: Box<str>,
    },
}

impl std::fmt::Display for NotationError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            NotationError::NoSquare { offset, text, width } => {
                let last = (b'a' + *width as u8 - 1) as char;
                write!(
                    f,
                    "`{text}` at offset {offset} is not a square of this board (columns a to {last}, rows 1 to {width}, holes excluded)"
                )
            }
            NotationError::IllegalMove { offset, text, legal } if legal.is_empty() => {
                write!(f, "move `{text}` at offset {offset} comes after the end of the game")
            }
            NotationError::IllegalMove { offset, text, legal } => {
                write!(f, "move `{text}` at offset {offset} is not legal; legal: {legal}")
            }
            NotationError::IllegalPass { offset } => {
                write!(f, "pass at offset {offset}, but the side to move has a move")
            }
            NotationError::WrongLength { found, wanted } => {
                write!(f, "a position of this board has {wanted} characters, found {found}")
            }
            NotationError::NoDisc { offset, found } => write!(
                f,
                "`{found}` at offset {offset} is neither a disc nor an empty square; allowed: X (black), O (white), - (empty)"
            ),
            NotationError::NoSide { found } => {
                write!(f, "side to move is `{found}`; allowed: X (black), O (white)")
            }
            NotationError::NoScore { text } => {
                write!(f, "`{text}` is not a `move:score` pair, such as `f5:+4`")
            }
        }
    }
}

impl std::error::Error for NotationError {}

/// The beginning of a text for a message: at most `max_chars` characters, and `...` if more follow.
///
/// ```
/// use outflank::game::notation::excerpt;
///
/// assert_eq!(&*excerpt("f5d6c3", 4), "f5d6...");
/// assert_eq!(&*excerpt("f5d6", 4), "f5d6");
/// ```
pub fn excerpt(text: &str, max_chars: usize) -> Box<str> {
    match text.char_indices().nth(max_chars) {
        Some((end, _)) => format!("{}...", &text[..end]).into(),
        None => text.into(),
    }
}

/// An [`excerpt`] that is safe to print: `?` replaces each control character and each character
/// that changes the direction of the text.
///
/// ```
/// use outflank::game::notation::plain_excerpt;
///
/// assert_eq!(&*plain_excerpt("f5\u{1b}[31m", 40), "f5?[31m");
/// ```
pub fn plain_excerpt(text: &str, max_chars: usize) -> Box<str> {
    let redirects = |c: char| matches!(c, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}');
    let plain = |c: char| if c.is_control() || redirects(c) { '?' } else { c };
    excerpt(&text.chars().take(max_chars + 1).map(plain).collect::<String>(), max_chars)
}
