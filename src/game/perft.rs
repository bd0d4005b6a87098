//! Counting the lines of play of a given length: the standard check of move generators.
//!
//! A pass is a ply of its own, and a game that ends before the last ply counts as one leaf
//! (Bik's counting, "mode 1"). Moves wait, level by level, until a bundle of boards is full;
//! the bundle then makes its moves and finds the replies in vector registers. The last ply is
//! not played but counted.

use super::board::{Board, SquareSet};
use super::geometry::{Geometry, Square, Word};
use super::kernel;
use super::lanes::{LANES, Lanes};

/// Leaves of the tree of `depth` plies below `board`.
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

/// [`count`] for each move of the first ply; `None` stands for a pass. Empty where the game is
/// over or `depth` is 0.
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

/// Moves that wait to be made together.
struct Bundle<G: Geometry> {
    mine: <G::Word as Word>::Lanes,
    theirs: <G::Word as Word>::Lanes,
    at: <G::Word as Word>::Lanes,
    filled: usize,
}

impl<G: Geometry> Bundle<G> {
    fn empty() -> Self {
        let none = <G::Word as Word>::Lanes::default();
        Bundle { mine: none, theirs: none, at: none, filled: 0 }
    }
}

struct Counter<G: Geometry> {
    /// `waiting[d]`: moves after which `d` plies are left.
    waiting: Vec<Bundle<G>>,
    leaves: u64,
}

impl<G: Geometry> Counter<G> {
    fn new(depth: u32) -> Self {
        Counter { waiting: (0..depth).map(|_| Bundle::empty()).collect(), leaves: 0 }
    }

    /// Counts the leaves below a board, `depth` plies from it.
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

    fn expand_moves(&mut self, board: Board<G>, mut legal: G::Word, depth: usize) {
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

    /// Makes the moves of a bundle, which is full or the last one of its level.
    fn play(&mut self, depth: usize) {
        let Bundle { mine, theirs, at, filled } =
            std::mem::replace(&mut self.waiting[depth], Bundle::empty());
        let flips = kernel::flips::<G, _>(at, mine, theirs);
        let (mine, theirs) = (theirs & !flips, mine | flips | at);
        let legal = kernel::legal::<G, _>(mine, theirs);
        if depth == 1 {
            // A board without a move has one continuation: the pass, or the end of the game.
            // So have the unused lanes, which hold no discs.
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
