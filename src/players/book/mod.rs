//! Opening books in play, and their growth.
//!
//! `BookPlayer` gives a book to any player. It moves only where the book knows how good the best
//! move is: a move is played if its value is certain to lose at most the allowed discs. A move that
//! was never searched is not played. Elsewhere the player itself moves.
//!
//! ```
//! use outflank::game::{Goal, Position, Square8, notation};
//! use outflank::players::open;
//! use outflank::players::player::Turn;
//! use outflank::store::book::{Book, Leaf};
//!
//! // A book in which e6 is the best first move.
//! let (start, folder) = (Position::<Square8>::start(), tempfile::tempdir()?);
//! let square = notation::parse_square::<Square8>("e6").expect("a square");
//! let mut book = Book::new(Goal::Most);
//! book.set_leaf(start.board, Leaf { square, score: 0, depth: 20 });
//! book.revalue();
//! let path = folder.path().join("mine.book");
//! book.write(&path)?;
//! let spec = format!("random:book={}", path.display()).parse()?;
//! let mut player = open::player::<Square8>(&spec, Goal::Most)?;
//! let choice = player.choose(&[Turn::at(start)]).remove(0)?;
//! assert_eq!((choice.square, choice.score), (square, Some(0.0)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod grow;
mod plan;

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use rand::RngExt;

use super::control::{Analysis, Control};
use super::grammar::{BOOK, BOOK_LOSS, Fields, Quoted, SpecError};
use super::player::{Choice, Player, PlayerError, Turn, stream};
use crate::game::{Board, Geometry, Goal};
use crate::keys::Value;
use crate::store::book::{Book, BookError, BookMove, DISC};

pub use grow::{Grower, Progress, Searcher};
pub use plan::Growth;

/// The book of a player specification.
#[derive(Clone, PartialEq, Debug)]
pub struct BookChoice {
    /// The file; in the specification of a player that was opened with the fingerprint of what was
    /// found there.
    pub path: PathBuf,
    /// The most discs that a move of the book may lose, from 0 to 64.
    pub loss: f32,
}

impl BookChoice {
    /// Reads the keys of a specification.
    pub(super) fn read(fields: &Fields) -> Result<Option<BookChoice>, SpecError> {
        let loss = match fields.common(&BOOK_LOSS)? {
            Some(Value::Number(loss)) => loss as f32,
            _ => 0.0,
        };
        let path = match fields.common(&BOOK)? {
            Some(Value::Text(path)) => Some(path),
            _ => None,
        };
        fields.refuse(BOOK_LOSS.name, path.is_none())?;
        Ok(path.map(|path| BookChoice { path: path.into(), loss }))
    }

    /// Reads the book.
    ///
    /// # Errors
    ///
    /// It cannot be read, is damaged, or is for another board or goal.
    pub(super) fn open<G: Geometry>(&self, goal: Goal) -> Result<OpenBook<G>, BookError> {
        let (book, fingerprint) = Book::read(&self.path, goal)?;
        let path = format!("{}#{fingerprint:08x}", self.path.display()).into();
        Ok(OpenBook { choice: BookChoice { path, ..self.clone() }, book: Arc::new(book) })
    }

    /// The book as a part of a player's label.
    pub(super) fn label(&self) -> String {
        let name = self.path.file_name().unwrap_or(self.path.as_os_str()).to_string_lossy();
        let name = name.split('#').next().unwrap_or_default();
        match self.loss {
            0.0 => format!(" book={name}"),
            loss => format!(" book={name} book_loss={loss}"),
        }
    }
}

impl fmt::Display for BookChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", BOOK.name, Quoted(&self.path.to_string_lossy()))?;
        match self.loss {
            0.0 => Ok(()),
            loss => write!(f, ",{}={loss}", BOOK_LOSS.name),
        }
    }
}

/// A book that was read, for all copies of a player.
pub(super) struct OpenBook<G: Geometry> {
    /// How it is used; the path has the fingerprint.
    pub choice: BookChoice,
    book: Arc<Book<G>>,
}

impl<G: Geometry> Clone for OpenBook<G> {
    fn clone(&self) -> Self {
        OpenBook { choice: self.choice.clone(), book: self.book.clone() }
    }
}

impl<G: Geometry> OpenBook<G> {
    /// The moves of a position that are certain to lose at most the allowed discs; none if the book
    /// does not know the best value.
    fn moves(&self, board: Board<G>) -> Vec<BookMove<G>> {
        let Some(value) = self.book.value(board) else { return Vec::new() };
        let loss = (self.choice.loss * f32::from(DISC)).round() as i32;
        let is_good = |one: &BookMove<G>| {
            one.value.is_some_and(|own| i32::from(own.low) + loss >= i32::from(value.high))
        };
        let mut moves = self.book.moves(board).unwrap_or_default();
        moves.retain(is_good);
        moves
    }
}

/// A player with an opening book.
pub(super) struct BookPlayer<G: Geometry> {
    player: Box<dyn Player<G>>,
    book: OpenBook<G>,
    seed: u64,
}

impl<G: Geometry> BookPlayer<G> {
    /// The player with this book. The seed decides between good moves.
    pub fn new(player: Box<dyn Player<G>>, book: OpenBook<G>, seed: u64) -> BookPlayer<G> {
        BookPlayer { player, book, seed }
    }

    /// A move of the book, with its value; `None` if there is none.
    fn book_move(&self, turn: &Turn<'_, G>) -> Option<Choice> {
        let begun = Instant::now();
        let moves = self.book.moves(turn.position.board);
        if moves.is_empty() {
            return None;
        }
        let chosen = moves[stream(self.seed, turn).random_range(0..moves.len())];
        let score = chosen.value.map(|value| f32::from(value.low) / f32::from(DISC));
        let seconds = begun.elapsed().as_secs_f64();
        Some(Choice { score, seconds, ..Choice::plain(chosen.square) })
    }
}

impl<G: Geometry> Player<G> for BookPlayer<G> {
    fn name(&self) -> String {
        self.player.name()
    }

    fn choose(&mut self, turns: &[Turn<'_, G>]) -> Vec<Result<Choice, PlayerError>> {
        let known: Vec<_> = turns.iter().map(|turn| self.book_move(turn)).collect();
        let unknown = turns.iter().zip(&known).filter(|(_, known)| known.is_none());
        let unknown: Vec<Turn<'_, G>> = unknown.map(|(turn, _)| *turn).collect();
        let mut own = match unknown.is_empty() {
            true => Vec::new(),
            false => self.player.choose(&unknown),
        }
        .into_iter();
        let nothing = || Err(PlayerError::IllegalMove { shown: "nothing".into() });
        let of_turn = |known: Option<Choice>| match known {
            Some(choice) => Ok(choice),
            None => own.next().unwrap_or_else(nothing),
        };
        known.into_iter().map(of_turn).collect()
    }

    fn end_game(&mut self, game: u32) {
        self.player.end_game(game);
    }

    fn think(
        &mut self,
        turn: &Turn<'_, G>,
        control: &mut Control<'_>,
    ) -> Result<Choice, PlayerError> {
        match self.book_move(turn) {
            Some(choice) => Ok(choice),
            None => self.player.think(turn, control),
        }
    }

    /// The player's own analysis: an analysis is asked for where the book is in doubt.
    fn analyze(
        &mut self,
        turn: &Turn<'_, G>,
        count: usize,
        control: &mut Control<'_>,
    ) -> Result<Analysis, PlayerError> {
        self.player.analyze(turn, count, control)
    }

    fn level(&self, level: u32) -> Option<String> {
        self.player.level(level)
    }

    fn batch(&self) -> usize {
        self.player.batch()
    }
}

#[cfg(test)]
mod tests;
