//! A walk through a book from the start position, to list its positions as players reach them.

use std::collections::HashSet;

use super::{Book, BookMove, Next};
use crate::game::{Board, Geometry, Position, Square};

/// A position of a book with a line of play that leads to it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step<G: Geometry> {
    /// The moves from the start position, without passes.
    pub line: Vec<Square>,
    /// The position after them.
    pub position: Position<G>,
    /// Its moves, best first; moves without a value come last.
    pub moves: Vec<BookMove<G>>,
    /// Whether the walk goes on from here: another step's line begins with this one.
    pub goes_on: bool,
}

/// Iterator over the positions of a book that can be reached within it from the start position,
/// each once. A line comes before those that begin with it, and better moves come first.
pub struct Walk<'a, G: Geometry> {
    book: &'a Book<G>,
    seen: HashSet<Board<G>>,
    waiting: Vec<(Vec<Square>, Position<G>)>,
}

impl<G: Geometry> Book<G> {
    /// The positions of the book, from the start position on.
    ///
    /// ```
    /// use outflank::game::{Board, Goal, Square8};
    /// use outflank::store::book::Book;
    ///
    /// let (start, mut book) = (Board::<Square8>::start(), Book::new(Goal::Most));
    /// book.add(start);
    /// let first = start.legal().next().expect("a legal move");
    /// book.add(start.play_unchecked(first));
    /// let lengths: Vec<usize> = book.walk().map(|step| step.line.len()).collect();
    /// assert_eq!(lengths, [0, 1]);
    /// ```
    pub fn walk(&self) -> Walk<'_, G> {
        let start = Position::start();
        let (mut seen, mut waiting) = (HashSet::new(), Vec::new());
        if self.contains(start.board) {
            seen.insert(start.board.canonical());
            waiting.push((Vec::new(), start));
        }
        Walk { book: self, seen, waiting }
    }

    /// How many positions of the book can be reached from this one within the book, itself
    /// included; 0 if it is not in the book.
    pub fn count_from(&self, board: Board<G>) -> usize {
        let board = board.canonical();
        let mut seen = HashSet::new();
        let mut waiting = Vec::from_iter(self.contains(board).then_some(board));
        while let Some(board) = waiting.pop() {
            if seen.insert(board) {
                let nexts = board.legal().map(|square| Next::after(board, square, self.goal()));
                waiting.extend(nexts.filter_map(|next| match next {
                    Next::Position { board, .. } => self.contains(board).then_some(board),
                    Next::End(_) => None,
                }));
            }
        }
        seen.len()
    }

    /// The moves of a position, best first; moves without a value come last. `None` if the position
    /// is not in the book.
    pub fn ranked_moves(&self, board: Board<G>) -> Option<Vec<BookMove<G>>> {
        let mut moves = self.moves(board)?;
        moves.sort_by_key(|one| {
            let worth = one.value.map(|value| (value.low, value.high));
            (std::cmp::Reverse(worth), one.square)
        });
        Some(moves)
    }
}

impl<G: Geometry> Iterator for Walk<'_, G> {
    type Item = Step<G>;

    fn next(&mut self) -> Option<Step<G>> {
        let (line, position) = self.waiting.pop()?;
        let moves = self.book.ranked_moves(position.board)?;
        let before = self.waiting.len();
        for one in moves.iter().rev() {
            let Next::Position { board, .. } = one.next else { continue };
            if self.book.contains(board)
                && self.seen.insert(board)
                && let Some(after) = position.play(one.square)
            {
                let line = [&line[..], &[one.square]].concat();
                self.waiting.push((line, after.pass_if_forced()));
            }
        }
        let goes_on = self.waiting.len() > before;
        Some(Step { line, position, moves, goes_on })
    }
}
