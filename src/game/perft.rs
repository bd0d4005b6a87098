//! Perft: the number of lines of play of a given length, the standard test of move generators.
//!
//! A pass is a ply of its own. A game that ends before the last ply counts as one leaf (Aart Bik's
//! "mode 1"). Moves of each level are collected until a bundle of eight boards is full. Then
//! all of them are played, and the replies found, in vector registers. Moves of the last ply are
//! counted without playing them.

use super::board::{Board, SquareSet};
use super::geometry::{Bitboard, Geometry, Square};
use super::kernel;
use super::lanes::{BitboardVector, LANES};

/// The number of leaves of the tree of `depth` plies below `board`.
///
/// ```
/// use outflank::game::{Board, Square8, perft};
///
/// assert_eq!(perft::count(Board::<Square8>::start(), 6), 8200);
/// ```
pub fn count<G: Geometry>(board: Board<G>, depth: u32) -> u64 {
    let mut counter = Counter::<G>::new(depth);
    counter.expand(board, depth);
    counter.finish()
}

/// [`count`] for each move of the first ply; `None` stands for a pass. Empty if the game is over
/// or `depth` is 0.
///
/// ```
/// use outflank::game::{Board, Square8, notation, perft};
///
/// let counts = perft::divide(Board::<Square8>::start(), 6);
/// let (square, lines) = counts[0];
/// assert_eq!(square.map(notation::square_name::<Square8>).as_deref(), Some("d3"));
/// assert_eq!((lines, counts.iter().map(|(_, lines)| lines).sum()), (2050, 8200u64));
/// ```
pub fn divide<G: Geometry>(board: Board<G>, depth: u32) -> Vec<(Option<Square>, u64)> {
    if depth == 0 || board.is_over() {
        return Vec::new();
    }
    if board.legal().is_empty() {
        return vec![(None, count(board.pass(), depth - 1))];
    }
    let moves = board.legal();
    moves.map(|square| (Some(square), count(board.play_unchecked(square), depth - 1))).collect()
}

/// Moves on up to [`LANES`] boards, to be played together.
struct Bundle<G: Geometry> {
    mine: <G::Bitboard as Bitboard>::Vector,
    theirs: <G::Bitboard as Bitboard>::Vector,
    at: <G::Bitboard as Bitboard>::Vector,
    filled: usize,
}

impl<G: Geometry> Bundle<G> {
    fn empty() -> Self {
        let none = <G::Bitboard as Bitboard>::Vector::default();
        Bundle { mine: none, theirs: none, at: none, filled: 0 }
    }
}

struct Counter<G: Geometry> {
    /// `waiting[d]`: moves that leave `d` plies to go.
    waiting: Vec<Bundle<G>>,
    leaves: u64,
}

impl<G: Geometry> Counter<G> {
    fn new(depth: u32) -> Self {
        Counter { waiting: (0..depth).map(|_| Bundle::empty()).collect(), leaves: 0 }
    }

    /// Counts the leaves `depth` plies below a board.
    fn expand(&mut self, board: Board<G>, depth: u32) {
        let legal = board.legal();
        if depth == 0 {
            self.leaves += 1;
        } else if !legal.is_empty() {
            self.expand_moves(board, legal.0, depth as usize);
        } else {
            self.expand_pass(board, depth as usize);
        }
    }

    fn expand_pass(&mut self, board: Board<G>, depth: usize) {
        let passed = board.pass();
        let SquareSet(legal) = passed.legal();
        if depth == 1 || legal.is_zero() {
            self.leaves += 1;
        } else {
            self.expand_moves(passed, legal, depth - 1);
        }
    }

    fn expand_moves(&mut self, board: Board<G>, mut legal: G::Bitboard, depth: usize) {
        if depth == 1 {
            self.leaves += u64::from(legal.count());
            return;
        }
        while !legal.is_zero() {
            let rest = legal.without_lowest();
            let bundle = &mut self.waiting[depth - 1];
            bundle.mine.set(bundle.filled, board.mine);
            bundle.theirs.set(bundle.filled, board.theirs);
            bundle.at.set(bundle.filled, legal ^ rest);
            bundle.filled += 1;
            if bundle.filled == LANES {
                self.play(depth - 1);
            }
            legal = rest;
        }
    }

    /// Plays the moves of a bundle. It is full, or the last one of its level.
    fn play(&mut self, depth: usize) {
        let Bundle { mine, theirs, at, filled } =
            std::mem::replace(&mut self.waiting[depth], Bundle::empty());
        let flips = kernel::flips::<G, _>(at, mine, theirs);
        let (mine, theirs) = (theirs & !flips, mine | flips | at);
        let legal = kernel::legal::<G, _>(mine, theirs);
        if depth == 1 {
            // A board without a move counts as one leaf: the pass, or the end of the game. The
            // unused lanes have no discs and count as one each, which is subtracted.
            self.leaves += legal.count_at_least_one() - (LANES - filled) as u64;
            return;
        }
        for lane in 0..filled {
            let board = Board { mine: mine.get(lane), theirs: theirs.get(lane) };
            let legal = legal.get(lane);
            if legal.is_zero() {
                self.expand_pass(board, depth);
            } else {
                self.expand_moves(board, legal, depth);
            }
        }
    }

    fn finish(mut self) -> u64 {
        for depth in (1..self.waiting.len()).rev() {
            self.play(depth);
        }
        self.leaves
    }
}
