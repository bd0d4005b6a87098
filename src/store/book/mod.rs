//! An opening book: positions with the scores of their moves, as a graph.
//!
//! Positions that differ by a symmetry of the board only are one position, the canonical one. A
//! position follows another one if a move leads to it; a forced pass belongs to the move before. So
//! the graph needs no links: the rules give them. It has no cycles, since every move adds a disc.
//!
//! Each position has at most one score of its own: that of its best move outside the book, the
//! leaf move. The value of a position is the negamax of the values of its moves inside the book and
//! of the leaf move (Buro 1999). Moves that were not searched count for nothing.
//!
//! A value is a range. It is wider than one score if the leaf move itself was added to the book
//! and the other moves were not searched again since: they are worth at most the old score. A
//! position has no value as long as its moves outside the book were never searched.
//!
//! Scores are in hundredths of a disc for the side to move, up to those of the largest board.

mod file;
mod walk;

use std::collections::HashMap;

use crate::game::{Bitboard, Board, Geometry, Goal, Square, SquareSet, Symmetry};

pub use file::{BookError, Header};
pub use walk::{Step, Walk};

/// The score of one disc.
pub const DISC: i16 = 100;

/// The best move of a position that leads out of the book.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Leaf {
    /// The move, on the canonical board.
    pub square: Square,
    /// Its score for the side to move, in hundredths of a disc.
    pub score: i16,
    /// The depth of the search in plies, at least 1, or [`Leaf::EXACT`].
    pub depth: u8,
}

impl Leaf {
    /// The depth of a score that is the result of perfect play.
    pub const EXACT: u8 = u8::MAX;

    /// Whether the score is the result of perfect play.
    pub fn is_exact(self) -> bool {
        self.depth == Leaf::EXACT
    }
}

/// The value of a position or move for the side to move, in hundredths of a disc.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Value {
    /// It is at least this.
    pub low: i16,
    /// It is at most this.
    pub high: i16,
}

impl Value {
    /// A value that is one score.
    pub fn exactly(score: i16) -> Value {
        Value { low: score, high: score }
    }

    fn reversed(self) -> Value {
        Value { low: -self.high, high: -self.low }
    }
}

/// Where the value of a move comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Source {
    /// The move leads to a position of the book that has a value.
    Book,
    /// The move ends the game.
    End,
    /// The move is the leaf move, of this depth ([`Leaf::depth`]).
    Leaf(u8),
    /// The move has no value of its own. If the position has a leaf move, this one is worth at
    /// most the same.
    Unknown,
}

/// A move of a position in the book.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BookMove<G: Geometry> {
    /// The move.
    pub square: Square,
    /// Its value for the side that plays it; `None` for [`Source::Unknown`].
    pub value: Option<Value>,
    /// Where the value comes from.
    pub source: Source,
    /// What it leads to.
    pub next: Next<G>,
}

/// What a move leads to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Next<G: Geometry> {
    /// A position whose side to move has a move.
    Position {
        /// The canonical board.
        board: Board<G>,
        /// Whether the same side moves again, since the other one must pass.
        passed: bool,
    },
    /// The end of the game, with the final score for the side that moved, in discs.
    End(i32),
}

impl<G: Geometry> Next<G> {
    /// What a legal move leads to.
    pub fn after(board: Board<G>, square: Square, goal: Goal) -> Next<G> {
        let board = board.play_unchecked(square);
        if !board.legal().is_empty() {
            return Next::Position { board: board.canonical(), passed: false };
        }
        let back = board.pass();
        match back.legal().is_empty() {
            true => Next::End(back.final_score(goal)),
            false => Next::Position { board: back.canonical(), passed: true },
        }
    }
}

/// A position's own data.
#[derive(Clone, Copy, Default)]
struct Entry {
    leaf: Option<Leaf>,
    value: Option<Value>,
    is_open: bool,
}

/// An opening book for a board and a goal.
///
/// ```
/// use outflank::game::{Board, Goal, Square8, notation};
/// use outflank::store::book::{Book, DISC, Leaf, Value};
///
/// let (start, mut book) = (Board::<Square8>::start(), Book::new(Goal::Most));
/// let square = notation::parse_square::<Square8>("f5").expect("a square");
/// book.set_leaf(start, Leaf { square, score: DISC / 2, depth: 12 });
/// book.revalue();
/// assert_eq!(book.value(start), Some(Value::exactly(50)));
/// // The position after another first move is an image of the one after f5.
/// let after = start.play(square).expect("a legal move");
/// assert!(book.add(after) && !book.add(after));
/// assert!(start.legal().all(|first| book.contains(start.play_unchecked(first))));
/// ```
pub struct Book<G: Geometry> {
    goal: Goal,
    entries: HashMap<Board<G>, Entry>,
}

impl<G: Geometry> Book<G> {
    /// A book without positions.
    pub fn new(goal: Goal) -> Book<G> {
        Book { goal, entries: HashMap::new() }
    }

    /// Which score wins.
    pub fn goal(&self) -> Goal {
        self.goal
    }

    /// The number of positions.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether it has no position.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Whether it has this position or an image of it.
    pub fn contains(&self, board: Board<G>) -> bool {
        self.entries.contains_key(&board.canonical())
    }

    /// Adds a position, unless the book has it or its side to move has no move. Returns whether it
    /// was added. The values are then out of date; see [`Book::revalue`].
    pub fn add(&mut self, board: Board<G>) -> bool {
        let (board, before) = (board.canonical(), self.entries.len());
        if !board.legal().is_empty() {
            self.entries.entry(board).or_default();
        }
        self.entries.len() > before
    }

    /// Sets the leaf move of a position, which is added if the book does not have it. The board is
    /// any image of the position, and the move is one of that image. A score outside the board's
    /// range is cut to it. The values are then out of date; see [`Book::revalue`].
    pub fn set_leaf(&mut self, board: Board<G>, leaf: Leaf) {
        let symmetry = to_canonical(board);
        let most = G::SQUARES as i16 * DISC;
        let square = symmetry.square::<G>(leaf.square);
        let leaf = Leaf { square, score: leaf.score.clamp(-most, most), ..leaf };
        self.entries.entry(symmetry.board(board)).or_default().leaf = Some(leaf);
    }

    /// The leaf move of a position, as a move on this board; `None` if the book does not have the
    /// position or its leaf move.
    pub fn leaf(&self, board: Board<G>) -> Option<Leaf> {
        let symmetry = to_canonical(board);
        let leaf = self.entries.get(&symmetry.board(board))?.leaf?;
        Some(Leaf { square: symmetry.inverse().square::<G>(leaf.square), ..leaf })
    }

    /// The value of a position; `None` if it is not in the book or has no value.
    pub fn value(&self, board: Board<G>) -> Option<Value> {
        self.entries.get(&board.canonical())?.value
    }

    /// The moves of a position, in reading order; `None` if it is not in the book.
    pub fn moves(&self, board: Board<G>) -> Option<Vec<BookMove<G>>> {
        let symmetry = to_canonical(board);
        let canonical = symmetry.board(board);
        let entry = self.entries.get(&canonical)?;
        let back = symmetry.inverse();
        let mut moves = self.moves_of(canonical, entry.leaf);
        for one in &mut moves {
            one.square = back.square::<G>(one.square);
        }
        moves.sort_by_key(|one| one.square);
        Some(moves)
    }

    /// The moves of a canonical board with this leaf move.
    fn moves_of(&self, board: Board<G>, leaf: Option<Leaf>) -> Vec<BookMove<G>> {
        // Two moves of a board that is its own image may lead to one position.
        let searched = leaf.map(|leaf| (leaf, Next::after(board, leaf.square, self.goal)));
        let describe = |square| {
            let next = Next::after(board, square, self.goal);
            let of_next = self.value_of(next);
            let (value, source) = match (next, of_next, searched) {
                (Next::End(_), value, _) => (value, Source::End),
                (_, Some(value), _) => (Some(value), Source::Book),
                (_, None, Some((leaf, target))) if target == next => {
                    (Some(Value::exactly(leaf.score)), Source::Leaf(leaf.depth))
                }
                _ => (None, Source::Unknown),
            };
            BookMove { square, value, source, next }
        };
        board.legal().map(describe).collect()
    }

    /// The value, for the side that moved, of what a move leads to, if the book or the rules have
    /// it.
    fn value_of(&self, next: Next<G>) -> Option<Value> {
        match next {
            Next::End(score) => Some(Value::exactly(score as i16 * DISC)),
            Next::Position { board, passed } => {
                let value = self.entries.get(&board)?.value?;
                Some(if passed { value } else { value.reversed() })
            }
        }
    }

    /// The moves of a board whose values need no search: they lead to positions that have values,
    /// or end the game.
    pub fn known_moves(&self, board: Board<G>) -> SquareSet<G> {
        let is_known =
            |&square: &Square| self.value_of(Next::after(board, square, self.goal)).is_some();
        let known = board.legal().filter(is_known);
        SquareSet(known.fold(G::Bitboard::ZERO, |set, square| set | G::mask(square)))
    }

    /// The boards by the number of discs, fewest first, each level sorted.
    pub fn levels(&self) -> Vec<Vec<Board<G>>> {
        let mut levels = vec![Vec::new(); G::SQUARES + 1];
        for &board in self.entries.keys() {
            levels[board.discs() as usize].push(board);
        }
        levels.iter_mut().for_each(|level| level.sort_unstable());
        levels.retain(|level| !level.is_empty());
        levels
    }

    /// Computes all values. This takes some microseconds for each position.
    pub fn revalue(&mut self) {
        for board in self.levels().into_iter().rev().flatten() {
            let leaf = self.entries.get(&board).and_then(|entry| entry.leaf);
            let (value, is_open) = assess(&self.moves_of(board, leaf), leaf);
            self.entries.insert(board, Entry { leaf, value, is_open });
        }
    }

    /// Whether the moves of a position need a search: they were never searched, or the leaf move is
    /// now in the book.
    pub fn is_open(&self, board: Board<G>) -> bool {
        self.entries.get(&board.canonical()).is_some_and(|entry| entry.is_open)
    }

    /// Adds the positions of another book for the same goal. Of two leaf moves of a position the
    /// one with the deeper search stays.
    pub fn merge(&mut self, other: &Book<G>) {
        for (&board, theirs) in &other.entries {
            let own = self.entries.entry(board).or_default();
            let depth = |leaf: Option<Leaf>| leaf.map(|leaf| leaf.depth);
            if depth(theirs.leaf) > depth(own.leaf) {
                own.leaf = theirs.leaf;
            }
        }
        self.revalue();
    }
}

/// The value of a position with these moves, and whether they need a search.
fn assess<G: Geometry>(moves: &[BookMove<G>], leaf: Option<Leaf>) -> (Option<Value>, bool) {
    let is_certain = |one: &BookMove<G>| matches!(one.source, Source::Book | Source::End);
    if leaf.is_none() && !moves.iter().all(is_certain) {
        return (None, true);
    }
    let best = moves
        .iter()
        .filter_map(|one| one.value)
        .reduce(|a, b| Value { low: a.low.max(b.low), high: a.high.max(b.high) });
    let has_leaf = moves.iter().any(|one| matches!(one.source, Source::Leaf(_)));
    let has_unknown = moves.iter().any(|one| one.source == Source::Unknown);
    match (best, leaf) {
        // The other moves are worth at most what the leaf move was.
        (Some(best), Some(leaf)) if has_unknown && !has_leaf => {
            (Some(Value { high: best.high.max(leaf.score), ..best }), true)
        }
        (best, _) => (best, false),
    }
}

/// The symmetry that maps a board to its canonical image.
fn to_canonical<G: Geometry>(board: Board<G>) -> Symmetry {
    let image = |symmetry: &Symmetry| symmetry.board(board);
    Symmetry::ALL.into_iter().min_by_key(image).unwrap_or(Symmetry::IDENTITY)
}

#[cfg(test)]
mod tests;
