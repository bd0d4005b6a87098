//! Null-window search near the end of the game: at most [`NEAR_END`] empties.
//!
//! It has a small table that stays in the processor's cache, and tries moves with few replies
//! first.

use super::leaf_solver::{LeafSolver, NO_MOVE, play_at};
use super::order::{Candidate, take_best};
use super::parity;
use crate::game::{Bitboard, Board, Geometry, Goal, Square, SquareSet};

/// Null windows with at most this many empties are searched by this module.
pub(in crate::search) const NEAR_END: u32 = 11;
/// With at most this many empties, neither the table nor move ordering saves time.
const SHALLOW: u32 = 6;
/// The number of slots of the small table.
const SLOTS: usize = 1 << 14;

/// The bounds on the score of a position. A slot has the whole position and not a hash, so two
/// positions are never confused.
#[derive(Clone, Copy)]
struct Slot<G: Geometry> {
    board: Board<G>,
    lower: i8,
    upper: i8,
    best: Square,
}

/// Solves null windows with few empties.
pub(in crate::search) struct NearEndSearch<G: Geometry> {
    pub(super) leaf_solver: LeafSolver,
    slots: Box<[Slot<G>]>,
}

/// The index of a board's slot in the small table.
#[inline(always)]
fn place<G: Geometry>(board: Board<G>) -> usize {
    let fold = |word: G::Bitboard| {
        let wide = word.widen();
        (wide ^ wide >> 64) as u64
    };
    let mixed = (fold(board.mine).wrapping_mul(0x9E37_79B9_7F4A_7C15)
        ^ fold(board.theirs).rotate_left(31))
    .wrapping_mul(0xD134_2543_DE82_EF95);
    (mixed >> (64 - SLOTS.ilog2())) as usize
}

impl<G: Geometry> NearEndSearch<G> {
    pub(in crate::search) fn new(goal: Goal) -> Self {
        // An empty slot has a board that cannot occur: both sides have discs on every square.
        let board = Board { mine: G::PLAYABLE, theirs: G::PLAYABLE };
        let slot = Slot { board, lower: 0, upper: 0, best: Square(0) };
        NearEndSearch { leaf_solver: LeafSolver::new(goal), slots: vec![slot; SLOTS].into() }
    }

    /// The positions visited since the last call.
    pub(in crate::search) fn take_nodes(&mut self) -> u64 {
        std::mem::take(&mut self.leaf_solver.nodes)
    }

    /// A bound on the score on the same side of `alpha` as the score.
    #[inline]
    pub(in crate::search) fn search(
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
        self.leaf_solver.nodes += 1;
        if legal.is_empty() {
            let passed = board.pass();
            let legal = passed.legal();
            self.leaf_solver.nodes -= 1;
            if legal.is_empty() {
                return self.leaf_solver.finished(board);
            }
            return -self.node(passed, legal, -alpha - 1, empties);
        }
        if let Some(bound) = self.leaf_solver.stable_bound(board, alpha) {
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
        let mut candidates = [nothing; NEAR_END as usize];
        let mut count = 0;
        let odd = parity::squares::<G>(parity::odd::<G>(board.empty().0));
        for square in legal {
            candidates[count] = valued(board, square, odd, hint);
            count += 1;
        }
        let (mut best, mut chosen) = (NO_MOVE, candidates[0].square);
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

    /// Appends the moves of a node with their values. Returns the index of the first one.
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

    /// Searches a node with at most [`SHALLOW`] empties.
    fn shallow(&mut self, board: Board<G>, alpha: i32, empties: u32) -> i32 {
        if empties <= 4 {
            return self.solve_leaf(board, alpha, empties);
        }
        self.leaf_solver.nodes += 1;
        let empty = board.empty().0;
        let first = parity::squares::<G>(parity::odd::<G>(empty));
        let mut best = NO_MOVE;
        for mut set in [empty & first, empty & !first] {
            while !set.is_zero() {
                if let Some(child) = play_at(board, set.lowest()) {
                    best = best.max(-self.shallow(child, -alpha - 1, empties - 1));
                    if best > alpha {
                        return best;
                    }
                }
                set = set.without_lowest();
            }
        }
        if best > NO_MOVE {
            return best;
        }
        self.leaf_solver.nodes -= 1;
        if board.pass().legal().is_empty() {
            return self.leaf_solver.finished(board);
        }
        -self.shallow(board.pass(), -alpha - 1, empties)
    }

    fn solve_leaf(&mut self, board: Board<G>, alpha: i32, empties: u32) -> i32 {
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
            4 => self.leaf_solver.solve_4(board, [w, x, y, z], alpha),
            3 => self.leaf_solver.solve_3(board, [w, x, y], alpha),
            2 => self.leaf_solver.solve_2(board, [w, x], alpha),
            1 => self.leaf_solver.solve_1(board, w),
            _ => self.leaf_solver.finished(board),
        }
    }
}

/// A move with its value for ordering: the fewer replies, the greater, with a bonus for a region
/// with an odd number of empties.
#[inline(always)]
fn valued<G: Geometry>(
    board: Board<G>,
    square: Square,
    odd: G::Bitboard,
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
