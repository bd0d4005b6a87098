//! What a growing book searches next: drop-out expansion (Lincke 2000).
//!
//! A leaf move costs the discs that the moves up to it lose against the best ones, of both sides
//! together, and a penalty for each move. The cheapest leaf moves are added first. So the book
//! follows the best line far, and worse lines less far.

use std::collections::HashMap;

use crate::game::{Board, Geometry, Position, SquareSet};
use crate::store::book::{Book, DISC, Leaf, Next, Source};

/// How a book grows.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Growth {
    /// The discs that each move of a line counts in the cost of its leaf move, above 0.
    pub penalty: f32,
    /// No position is added after more moves than this.
    pub plies: u32,
    /// The book has at most so many positions.
    pub positions: usize,
}

/// A position to search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Job<G: Geometry> {
    /// The canonical board. Unless the book has it, it is added.
    pub board: Board<G>,
    /// The moves that need no search.
    pub skipped: SquareSet<G>,
}

/// The positions to search next, in a fixed order. None if the book has grown.
///
/// First come positions whose moves need a search. Of those that were never searched, the ones with
/// the most discs come first, since the search of a position leaves out the moves that have values.
/// Then come the cheapest leaf moves, a few at a time, more in a larger book.
pub(super) fn jobs<G: Geometry>(book: &Book<G>, growth: &Growth) -> Vec<Job<G>> {
    let levels = book.levels();
    let job = |board| Job { board, skipped: book.known_moves(board) };
    let open: Vec<Board<G>> =
        levels.iter().flatten().copied().filter(|&board| book.is_open(board)).collect();
    if !open.is_empty() {
        let is_new = |board: &&Board<G>| book.value(**board).is_none();
        let deepest = open.iter().filter(is_new).map(|board| board.discs()).max();
        let in_turn = open.into_iter().filter(|board| Some(board.discs()) >= deepest);
        return in_turn.map(job).collect();
    }
    let room = growth.positions.saturating_sub(book.len());
    if book.is_empty() && room > 0 {
        return vec![job(Board::<G>::start().canonical())];
    }
    let mut leaves = leaves(book, &levels, growth);
    leaves.truncate(room.min(1 + book.len() / 32));
    leaves.into_iter().map(job).collect()
}

/// The positions after the leaf moves that can be reached from the start position, cheapest first.
fn leaves<G: Geometry>(book: &Book<G>, levels: &[Vec<Board<G>>], growth: &Growth) -> Vec<Board<G>> {
    let penalty = (growth.penalty * f32::from(DISC)).round().max(1.0) as i64;
    let start = Position::<G>::start().board;
    let most = start.discs() + growth.plies;
    let mut costs = HashMap::from([(start.canonical(), 0)]);
    let mut leaves = HashMap::<Board<G>, i64>::new();
    for &board in levels.iter().flatten() {
        let Some(&cost) = costs.get(&board) else { continue };
        let Some(best) = book.value(board) else { continue };
        for one in book.moves(board).unwrap_or_default() {
            let (Next::Position { board: next, .. }, Some(value)) = (one.next, one.value) else {
                continue;
            };
            let loss = i64::from(best.low) - i64::from(value.low);
            let cost = cost + loss.max(0) + penalty;
            let costs = match one.source {
                Source::Book => &mut costs,
                // An exact score cannot get better.
                Source::Leaf(depth) if depth < Leaf::EXACT && next.discs() <= most => &mut leaves,
                _ => continue,
            };
            costs.entry(next).and_modify(|old| *old = cost.min(*old)).or_insert(cost);
        }
    }
    let mut leaves: Vec<_> = leaves.into_iter().map(|(board, cost)| (cost, board)).collect();
    leaves.sort_unstable();
    leaves.into_iter().map(|(_, board)| board).collect()
}
