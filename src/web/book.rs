//! The opening book whose scores the explorer shows beside the games.

use std::collections::HashSet;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use serde::Serialize;

use super::error::ApiError;
use super::game::Game;
use crate::game::{Colour, Geometry, Square};
use crate::store::book::{Book, BookError, BookMove, DISC, Header, Leaf, Next, Source, Value};

/// A book of any board.
#[derive(Clone)]
pub struct ShownBook {
    header: Header,
    scores: Arc<dyn Scores>,
}

/// What the book says of a move, in discs, for black.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub(super) struct Score {
    /// The score is at least this.
    low: f32,
    /// It is at most this.
    high: f32,
    /// Whether the move ends the game or was searched to its end.
    exact: bool,
}

trait Scores: Send + Sync {
    /// The moves of the last position that have a score, best first; none if the book lacks it.
    fn of(&self, game: &Game) -> Result<Vec<(Square, Score)>, ApiError>;
}

impl<G: Geometry> Scores for Book<G> {
    fn of(&self, game: &Game) -> Result<Vec<(Square, Score)>, ApiError> {
        let position = game.session::<G>()?.position();
        let is_black = position.side == Colour::Black;
        let discs = |score: i16| f32::from(score) / f32::from(DISC);
        let score = |Value { low, high }, source| {
            let (low, high) = if is_black { (low, high) } else { (-high, -low) };
            let exact = source == Source::End || source == Source::Leaf(Leaf::EXACT);
            Score { low: discs(low), high: discs(high), exact }
        };
        let moves = self.ranked_moves(position.board).unwrap_or_default();
        let mut seen = HashSet::new();
        // Of moves that are images of each other the first in reading order stands for all.
        let is_first = |one: &&BookMove<G>| match one.next {
            Next::Position { board, .. } => seen.insert(board),
            Next::End(_) => true,
        };
        let known = moves.iter().filter(is_first);
        let known = known.filter_map(|one| Some((one.square, score(one.value?, one.source))));
        Ok(known.collect())
    }
}

impl ShownBook {
    /// Reads a book.
    ///
    /// # Errors
    ///
    /// The file cannot be read, is damaged, or is no book.
    pub fn read(path: &Path) -> Result<ShownBook, BookError> {
        let header = Header::read(path)?;
        let scores: Arc<dyn Scores> = dispatch!(header.shape, G => {
            Arc::new(Book::<G>::read(path, header.goal)?.0)
        });
        Ok(ShownBook { header, scores })
    }

    /// The moves of the last position of a game that have a score, best first; none if the book lacks
    /// it or is for another board or goal.
    pub(super) fn scores(&self, game: &Game) -> Result<Vec<(Square, Score)>, ApiError> {
        let is_mine = game.shape()? == self.header.shape && game.goal()? == self.header.goal;
        if is_mine { self.scores.of(game) } else { Ok(Vec::new()) }
    }
}

impl fmt::Debug for ShownBook {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.header.fmt(to)
    }
}
