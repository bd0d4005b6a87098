//! A position of a game with what is wanted of its analysis.

use std::time::Duration;

use super::control::Effort;
use super::player::Turn;
use crate::game::{Geometry, Position, Square};

/// A position to analyse.
///
/// ```
/// use outflank::game::{Position, Square8, notation};
/// use outflank::players::question::Question;
///
/// let start = Position::<Square8>::start();
/// let (moves, position) = notation::parse_transcript("f5d6c3", start)?;
/// let question = Question::new(start, moves).expect("legal moves");
/// assert_eq!((question.position(), question.turn().ply()), (position, 3));
/// assert!(question.effort.endless, "until it is stopped");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct Question<G: Geometry> {
    start: Position<G>,
    moves: Vec<Square>,
    position: Position<G>,
    /// The most moves in an update.
    pub count: usize,
    /// How long to search; by default until it is stopped.
    pub effort: Effort,
    /// The least time between two updates.
    pub interval: Duration,
}

impl<G: Geometry> Question<G> {
    /// The position after `moves` from `start`, passes left out, to be analysed until it is stopped,
    /// with all moves in an update and ten updates a second. `None` if a move is not legal.
    pub fn new(start: Position<G>, moves: Vec<Square>) -> Option<Question<G>> {
        let start = start.pass_if_forced();
        let play = |position: Position<G>, &square: &Square| {
            position.play(square).map(Position::pass_if_forced)
        };
        let position = moves.iter().try_fold(start, play)?;
        let effort = Effort { endless: true, ..Effort::default() };
        let interval = Duration::from_millis(100);
        Some(Question { start, moves, position, count: usize::MAX, effort, interval })
    }

    /// The position. Its side to move has a move unless the game is over.
    pub fn position(&self) -> Position<G> {
        self.position
    }

    /// The position as a player gets it.
    pub fn turn(&self) -> Turn<'_, G> {
        Turn { game: 0, start: self.start, moves: &self.moves, position: self.position }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::Square8;

    #[test]
    fn illegal_moves_are_no_question() {
        let start = Position::<Square8>::start();
        let first = start.board.legal().next().expect("a move");
        let question = Question::new(start, vec![first]).expect("a legal move");
        assert_eq!(
            (question.position(), question.turn().ply()),
            (start.play(first).expect("it is"), 1)
        );
        for wrong in [Square(0), Square(255)] {
            assert!(Question::new(start, vec![wrong]).is_none());
        }
    }
}
