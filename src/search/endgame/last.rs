//! The last few empties: code for each number of them, without lists and without the table.
//!
//! Every function answers one question: is the score above `alpha`? It returns a bound on the
//! same side of `alpha` as the score, and counts the positions it visits.

use crate::game::{Board, Geometry, Goal, Word};

use super::parity::quadrant;

/// Rules of a solver's leaves, and its count of positions.
pub(super) struct Leaves {
    goal: Goal,
    /// Positions visited. A side that passes, and the full board at the end, are not counted.
    pub(super) nodes: u64,
}

impl Leaves {
    pub(super) fn new(goal: Goal) -> Leaves {
        Leaves { goal, nodes: 0 }
    }

    /// The score of a finished game.
    pub(super) fn finished<G: Geometry>(&self, board: Board<G>) -> i32 {
        board.final_score(self.goal)
    }

    /// A bound at or below `alpha` from discs that can never turn.
    #[inline(always)]
    pub(super) fn stable_bound<G: Geometry>(&self, board: Board<G>, alpha: i32) -> Option<i32> {
        let most = G::SQUARES as i32;
        let harmful = match self.goal {
            Goal::Most => board,
            Goal::Fewest => board.pass(),
        };
        if most - 2 * harmful.theirs.count() as i32 > alpha {
            return None;
        }
        let bound = most - 2 * harmful.their_stable().len() as i32;
        (bound <= alpha).then_some(bound)
    }

    /// The score with one square empty.
    #[inline(always)]
    pub(super) fn last1<G: Geometry>(&mut self, board: Board<G>, x: usize) -> i32 {
        self.nodes += 1;
        let difference = 2 * board.mine.count() as i32 - (G::SQUARES as i32 - 1);
        let turned = board.last_flips(x) as i32;
        let most = if turned > 0 {
            difference + 2 * turned + 1
        } else {
            let turned = board.pass().last_flips(x) as i32;
            if turned > 0 { difference - 2 * turned - 1 } else { difference + difference.signum() }
        };
        self.goal.apply(most)
    }

    /// Two squares empty.
    #[inline(always)]
    pub(super) fn last2<G: Geometry>(
        &mut self,
        board: Board<G>,
        [x, y]: [usize; 2],
        alpha: i32,
    ) -> i32 {
        self.nodes += 1;
        let best = self.try2(board, [x, y], alpha);
        if best > NONE {
            return best;
        }
        let best = self.try2(board.pass(), [x, y], -alpha - 1);
        if best > NONE { -best } else { self.finished(board) }
    }

    #[inline(always)]
    fn try2<G: Geometry>(&mut self, board: Board<G>, [x, y]: [usize; 2], alpha: i32) -> i32 {
        let mut best = NONE;
        if let Some(child) = played(board, x) {
            best = -self.last1(child, y);
            if best > alpha {
                return best;
            }
        }
        if let Some(child) = played(board, y) {
            best = best.max(-self.last1(child, x));
        }
        best
    }

    /// Three squares empty.
    pub(super) fn last3<G: Geometry>(
        &mut self,
        board: Board<G>,
        empties: [usize; 3],
        alpha: i32,
    ) -> i32 {
        self.nodes += 1;
        let [mut x, mut y, mut z] = empties;
        // A square alone in its quadrant comes first: whoever fills it has the last word there.
        if quadrant::<G>(x) == quadrant::<G>(y) {
            (x, y, z) = (z, x, y);
        } else if quadrant::<G>(x) == quadrant::<G>(z) {
            (x, y) = (y, x);
        }
        let best = self.try3(board, [x, y, z], alpha);
        if best > NONE {
            return best;
        }
        let best = self.try3(board.pass(), [x, y, z], -alpha - 1);
        if best > NONE { -best } else { self.finished(board) }
    }

    #[inline(always)]
    fn try3<G: Geometry>(&mut self, board: Board<G>, [x, y, z]: [usize; 3], alpha: i32) -> i32 {
        let mut best = NONE;
        for (at, rest) in [(x, [y, z]), (y, [x, z]), (z, [x, y])] {
            if let Some(child) = played(board, at) {
                best = best.max(-self.last2(child, rest, -alpha - 1));
                if best > alpha {
                    return best;
                }
            }
        }
        best
    }

    /// Four squares empty, in the order in which they are to be tried.
    pub(super) fn last4<G: Geometry>(
        &mut self,
        board: Board<G>,
        empties: [usize; 4],
        alpha: i32,
    ) -> i32 {
        self.nodes += 1;
        let best = self.try4(board, empties, alpha);
        if best > NONE {
            return best;
        }
        let best = self.try4(board.pass(), empties, -alpha - 1);
        if best > NONE { -best } else { self.finished(board) }
    }

    #[inline(always)]
    fn try4<G: Geometry>(&mut self, board: Board<G>, empties: [usize; 4], alpha: i32) -> i32 {
        let [w, x, y, z] = empties;
        let mut best = NONE;
        for (at, rest) in [(w, [x, y, z]), (x, [w, y, z]), (y, [w, x, z]), (z, [w, x, y])] {
            if let Some(child) = played(board, at) {
                best = best.max(-self.last3(child, rest, -alpha - 1));
                if best > alpha {
                    return best;
                }
            }
        }
        best
    }
}

/// Less than any score: no move was possible.
pub(super) const NONE: i32 = -1000;

/// The board after a move, or `None` if it is not legal.
#[inline(always)]
pub(super) fn played<G: Geometry>(board: Board<G>, at: usize) -> Option<Board<G>> {
    if !board.touches(at) {
        return None;
    }
    let flips = board.flips_at(at);
    let made = Board { mine: board.theirs ^ flips, theirs: board.mine | flips | G::Word::bit(at) };
    (!flips.is_zero()).then_some(made)
}
