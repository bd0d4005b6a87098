//! Moves as people write them: `f5d6`, `F5 D6`, `1. f5 2. d6`, `f5-d6`, with passes and a score
//! behind them.

use super::{ALLOWED, TextFault};
use crate::game::notation::{plain_excerpt, square_name, strip_pass};
use crate::game::{Geometry, Position, Square};

/// Among other words, fewer moves than this are no game.
const FEWEST: usize = 4;
/// Behind fewer moves than this, words are no comment.
const FEWEST_BEFORE_WORDS: usize = 2;
/// A message shows at most this many characters of a wrong text.
const SHOWN: usize = 12;

/// The moves of a text from a position. Blanks, punctuation, numbers and comments are left out.
pub(super) fn from<G: Geometry>(start: Position<G>, text: &str) -> Result<Vec<Square>, TextFault> {
    let mut position = start.pass_if_forced();
    // A forced pass is made in any case. One may be written where that has just happened.
    let mut may_pass = position.side != start.side;
    let mut moves = Vec::new();
    let mut rest = text;
    loop {
        rest = skip(rest);
        if rest.is_empty() {
            return Ok(moves);
        }
        let offset = text.len() - rest.len();
        if let Some(after) = strip_pass(rest) {
            if !std::mem::take(&mut may_pass) && !position.board.is_over() {
                let legal = legal_names(position);
                let message = "a pass where the side to move has a move";
                let fault = TextFault::new(offset, message).allowing(legal).illegal();
                return Err(TextFault { moves: moves.into(), ..fault });
            }
            rest = after;
            continue;
        }
        if let Some(after) = rest.strip_prefix('-') {
            rest = after;
            continue;
        }
        let Some((square, after)) = G::SHAPE.layout().split_square(rest) else {
            let line = rest.lines().next().unwrap_or_default();
            if moves.len() >= FEWEST_BEFORE_WORDS && is_comment::<G>(line) {
                rest = &rest[line.len()..];
                continue;
            }
            let word = rest.split_whitespace().next().unwrap_or_default();
            let message =
                format!("`{}` is no move on board {}", plain_excerpt(word, SHOWN), G::SHAPE);
            let fault = TextFault::new(offset, message).allowing(ALLOWED);
            return Err(TextFault { moves: moves.into(), ..fault });
        };
        let illegal = || {
            let name = square_name::<G>(square);
            let legal = legal_names(position);
            let legal = if legal.is_empty() { "none, the game is over".into() } else { legal };
            let message = format!("move {}, `{name}`, is not legal", moves.len() + 1);
            let fault = TextFault::new(offset, message).allowing(legal).illegal();
            TextFault { moves: moves.clone().into(), ..fault }
        };
        let next = position.play(square).ok_or_else(illegal)?;
        position = next.pass_if_forced();
        may_pass = position.side != next.side;
        moves.push(square);
        rest = after;
    }
}

fn legal_names<G: Geometry>(position: Position<G>) -> String {
    let names: Vec<_> = position.board.legal().map(square_name::<G>).collect();
    names.join(" ")
}

/// The text after blanks, punctuation, comments and numbers: those of moves, and a score.
fn skip(text: &str) -> &str {
    let is_filler = |letter: char| letter.is_whitespace() || ",;.:|/()[]+".contains(letter);
    let mut rest = text;
    loop {
        let after = rest.trim_start_matches(is_filler);
        let after = match after.starts_with(['#', '%']) {
            true => after.find('\n').map_or("", |end| &after[end..]),
            false => after.trim_start_matches(|letter: char| letter.is_ascii_digit()),
        };
        if after.len() == rest.len() {
            return rest;
        }
        rest = after;
    }
}

/// Whether the rest of a line is words: it begins with a word and has nothing like a move.
fn is_comment<G: Geometry>(line: &str) -> bool {
    let mut words =
        line.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
    let is_move = |word: &str| {
        let digits = word.trim_start_matches(char::is_alphabetic);
        G::SHAPE.layout().split_square(word).is_some()
            || !digits.is_empty()
                && digits.len() + 1 == word.len()
                && digits.chars().all(|it| it.is_ascii_digit())
    };
    let first = words.clone().next().unwrap_or_default();
    first.chars().all(char::is_alphabetic) && !words.any(is_move)
}

/// The longest word of a text that consists of legal moves only.
pub(super) fn among_words<G: Geometry>(text: &str) -> Option<Vec<Square>> {
    let words = text.split(|letter: char| !letter.is_ascii_alphanumeric());
    let games = words.filter(|word| word.len() >= 2 * FEWEST && word.is_char_boundary(1));
    let games = games.filter(|word| G::SHAPE.layout().split_square(word).is_some());
    let games = games.filter_map(|word| from(Position::<G>::start(), word).ok());
    games.max_by_key(Vec::len).filter(|moves| moves.len() >= FEWEST)
}
