//! Moves as people write them: `f5d6`, `F5 D6`, `1. f5 2. d6`, with commas and passes.

use super::Fault;
use crate::game::notation::{plain_excerpt, square_name, strip_pass};
use crate::game::{Geometry, Position, Square};

/// Among other words, fewer moves than this are no game.
const FEWEST: usize = 4;
/// A message shows at most this many characters of a wrong text.
const SHOWN: usize = 12;

/// The moves of a text from the board's own start. Blanks, punctuation and numbers of moves are left
/// out.
pub(super) fn lenient<G: Geometry>(text: &str) -> Result<Vec<Square>, Fault> {
    from(Position::<G>::start(), text)
}

/// The moves of a text from a position.
pub(super) fn from<G: Geometry>(start: Position<G>, text: &str) -> Result<Vec<Square>, Fault> {
    let mut position = start.pass_if_forced();
    let mut moves = Vec::new();
    let mut rest = text;
    loop {
        rest = skip(rest);
        if rest.is_empty() {
            return Ok(moves);
        }
        let offset = text.len() - rest.len();
        if let Some(after) = strip_pass(rest) {
            // A forced pass is made in any case, so a written one says nothing new.
            rest = after;
            continue;
        }
        let Some((square, after)) = G::SHAPE.layout().split_square(rest) else {
            let word = rest.split_whitespace().next().unwrap_or_default();
            let shown = plain_excerpt(word, SHOWN);
            return Err(Fault {
                allowed: Some(super::ALLOWED.into()),
                ..Fault::new(offset, format!("`{shown}` is no move on board {}", G::SHAPE))
            });
        };
        let illegal = || {
            let name = square_name::<G>(square);
            let legal: Vec<_> = position.board.legal().map(square_name::<G>).collect();
            let legal =
                if legal.is_empty() { "none, the game is over".into() } else { legal.join(" ") };
            Fault {
                allowed: Some(legal),
                ..Fault::new(offset, format!("move {}, `{name}`, is not legal", moves.len() + 1))
            }
        };
        position = position.play(square).ok_or_else(illegal)?.pass_if_forced();
        moves.push(square);
        rest = after;
    }
}

/// The text after blanks, punctuation and a move's number.
fn skip(text: &str) -> &str {
    let is_filler = |letter: char| letter.is_whitespace() || ",;.:|/()[]".contains(letter);
    let rest = text.trim_start_matches(is_filler);
    let number = rest.trim_start_matches(|letter: char| letter.is_ascii_digit());
    if number.len() < rest.len() { number.trim_start_matches(is_filler) } else { rest }
}

/// The longest word of a text that consists of legal moves only.
pub(super) fn among_words<G: Geometry>(text: &str) -> Option<Vec<Square>> {
    let words = text.split(|letter: char| !letter.is_ascii_alphanumeric());
    let games = words.filter(|word| word.len() >= 2 * FEWEST && word.len().is_multiple_of(2));
    let games = games.filter_map(|word| lenient::<G>(word).ok());
    games.max_by_key(Vec::len).filter(|moves| moves.len() >= FEWEST)
}
