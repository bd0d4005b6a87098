//! Null windows near the end: a small table that stays in the processor's cache, and moves
//! ordered by how few replies they leave.

use super::last::{Leaves, NONE, played};
use super::parity;
use super::searcher::{Candidate, take_best};
use crate::game::{Board, Geometry, Goal, Square, SquareSet, Word};

/// With at most this many empties a null window is this module's.
pub(super) const NEAR: u32 = 11;
/// With at most this many empties neither table nor sorting pays.
const SHALLOW: u32 = 6;
/// Slots of the small table.
const SLOTS: usize = 1 << 14;

/// What is known of a position. The whole position is kept, so that none is taken for another.
#[derive(Clone, Copy)]
struct Slot<G: Geometry> {
    board: Board<G>,
    lower: i8,
    upper: i8,
    best: Square,
}

/// Solves null windows with few empties.
pub(super) struct Near<G: Geometry> {
    pub(super) leaves: Leaves,
    slots: Box<[Slot<G>]>,
}

/// Where a board stands in the small table.
#[inline(always)]
fn place<G: Geometry>(board: Board<G>) -> usize {
    let fold = |word: G::Word| {
        let wide = word.widen();
        (wide ^ wide >> 64) as u64
    };
    let mixed = (fold(board.mine).wrapping_mul(0x9E37_79B9_7F4A_7C15)
        ^ fold(board.theirs).rotate_left(31))
    .wrapping_mul(0xD134_2543_DE82_EF95);
    (mixed >> (64 - SLOTS.ilog2())) as usize
}

impl<G: Geometry> Near<G> {
    pub(super) fn new(goal: Goal) -> Self {
        // No position has both sides' discs on one square.
        let board = Board { mine: G::PLAYABLE, theirs: G::PLAYABLE };
        let slot = Slot { board, lower: 0, upper: 0, best: Square(0) };
        Near { leaves: Leaves::new(goal), slots: vec![slot; SLOTS].into() }
    }

    /// A bound on the score that tells whether it is above `alpha`.
    #[inline]
    pub(super) fn search(
        &mut self,
        board: Board<G>,
        legal: SquareSet<G>,
        alpha: i32,
        empties: u32,
    ) -> i32 {
        if empties <= SHALLOW {
            return self.shallow(board, alpha, empties);
        }
        self.node(board, legal, alpha, empties)
    }

    fn node(&mut self, board: Board<G>, legal: SquareSet<G>, alpha: i32, empties: u32) -> i32 {
        self.leaves.nodes += 1;
        if legal.is_empty() {
            let passed = board.pass();
            let legal = passed.legal();
            self.leaves.nodes -= 1;
            if legal.is_empty() {
                return self.leaves.finished(board);
            }
            return -self.node(passed, legal, -alpha - 1, empties);
        }
        if let Some(bound) = self.leaves.stable_bound(board, alpha) {
            return bound;
        }
        let place = place(board);
        let known = self.slots[place];
        let mut hint = None;
        if known.board == board {
            if i32::from(known.lower) > alpha {
                return i32::from(known.lower);
            } else if i32::from(known.upper) <= alpha {
                return i32::from(known.upper);
            }
            hint = Some(known.best);
        }
        let (best, square) = self.moves(board, legal, alpha, empties, hint);
        let most = G::SQUARES as i32;
        let (lower, upper) = if best > alpha { (best, most) } else { (-most, best) };
        self.slots[place] = Slot { board, lower: lower as i8, upper: upper as i8, best: square };
        best
    }

    fn moves(
        &mut self,
        board: Board<G>,
        legal: SquareSet<G>,
        alpha: i32,
        empties: u32,
        hint: Option<Square>,
    ) -> (i32, Square) {
        let nothing = Candidate { square: Square(0), board, legal, value: 0 };
        let mut candidates = [nothing; NEAR as usize];
        let mut count = 0;
        let odd = parity::squares::<G>(parity::odd::<G>(board.empty().0));
        for square in legal {
            candidates[count] = valued(board, square, odd, hint);
            count += 1;
        }
        let (mut best, mut chosen) = (NONE, candidates[0].square);
        for index in 0..count {
            let Some(candidate) = take_best(&mut candidates[..count], index) else { break };
            let score = -self.search(candidate.board, candidate.legal, -alpha - 1, empties - 1);
            if score > best {
                (best, chosen) = (score, candidate.square);
                if best > alpha {
                    break;
                }
            }
        }
        (best, chosen)
    }

    /// Appends the moves of a node with their values; returns where they start.
    pub(super) fn push(
        &self,
        candidates: &mut Vec<Candidate<G>>,
        board: Board<G>,
        legal: SquareSet<G>,
        hint: Option<Square>,
    ) -> usize {
        let start = candidates.len();
        let odd = parity::squares::<G>(parity::odd::<G>(board.empty().0));
        candidates.extend(legal.map(|square| valued(board, square, odd, hint)));
        start
    }

    /// Few empties.
    fn shallow(&mut self, board: Board<G>, alpha: i32, empties: u32) -> i32 {
        if empties <= 4 {
            return self.last(board, alpha, empties);
        }
        self.leaves.nodes += 1;
        let empty = board.empty().0;
        let first = parity::squares::<G>(parity::odd::<G>(empty));
        let mut best = NONE;
        for mut set in [empty & first, empty & !first] {
            while !set.is_zero() {
                if let Some(child) = played(board, set.lowest()) {
                    best = best.max(-self.shallow(child, -alpha - 1, empties - 1));
                    if best > alpha {
                        return best;
                    }
                }
                set = set.without_lowest();
            }
        }
        if best > NONE {
            return best;
        }
        self.leaves.nodes -= 1;
        if board.pass().legal().is_empty() {
            return self.leaves.finished(board);
        }
        -self.shallow(board.pass(), -alpha - 1, empties)
    }

    fn last(&mut self, board: Board<G>, alpha: i32, empties: u32) -> i32 {
        let empty = board.empty().0;
        let mut bits = [0; 4];
        let first = parity::squares::<G>(parity::odd::<G>(empty));
        let mut count = 0;
        for mut set in [empty & first, empty & !first] {
            while !set.is_zero() && count < 4 {
                bits[count] = set.lowest();
                count += 1;
                set = set.without_lowest();
            }
        }
        let [w, x, y, z] = bits;
        match empties {
            4 => self.leaves.last4(board, [w, x, y, z], alpha),
            3 => self.leaves.last3(board, [w, x, y], alpha),
            2 => self.leaves.last2(board, [w, x], alpha),
            1 => self.leaves.last1(board, w),
            _ => self.leaves.finished(board),
        }
    }
}

/// A move with its value: few replies are good, and so is the last word in a region.
#[inline(always)]
fn valued<G: Geometry>(
    board: Board<G>,
    square: Square,
    odd: G::Word,
    hint: Option<Square>,
) -> Candidate<G> {
    let child = board.play_unchecked(square);
    let legal = child.legal();
    let mut value = -(legal.len() as i32) * 4;
    if !(odd & G::mask(square)).is_zero() {
        value += 2;
    }
    if hint == Some(square) {
        value = i32::MAX;
    }
    Candidate { square, board: child, legal, value }
}
