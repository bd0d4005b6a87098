//! The last four empties: one function for each number of them, without move lists or a table.
//!
//! A function with a parameter `alpha` decides whether the score exceeds `alpha`. It returns a
//! bound on the same side of `alpha` as the score. All functions count the positions they visit.

use crate::game::{Bitboard, Board, Geometry, Goal};

use super::parity::quadrant;

/// Solves the last empties, and counts positions.
pub(super) struct LeafSolver {
    goal: Goal,
    /// Positions visited. Passes and full boards are not counted.
    pub(super) nodes: u64,
}

impl LeafSolver {
    pub(super) fn new(goal: Goal) -> LeafSolver {
        LeafSolver { goal, nodes: 0 }
    }

    /// The score of a finished game.
    pub(super) fn finished<G: Geometry>(&self, board: Board<G>) -> i32 {
        board.final_score(self.goal)
    }

    /// An upper bound on the score from stable discs, if it is at most `alpha`.
    #[inline(always)]
    pub(super) fn stable_bound<G: Geometry>(&self, board: Board<G>, alpha: i32) -> Option<i32> {
        let most = G::SQUARES as i32;
        // The opponent's stable discs limit the score, or one's own if the fewest discs win.
        let limiting = match self.goal {
            Goal::Most => board,
            Goal::Fewest => board.pass(),
        };
        if most - 2 * limiting.theirs.count() as i32 > alpha {
            return None;
        }
        let bound = most - 2 * limiting.opponent_stable().len() as i32;
        (bound <= alpha).then_some(bound)
    }

    /// The exact score with one empty square.
    #[inline(always)]
    pub(super) fn solve_1<G: Geometry>(&mut self, board: Board<G>, x: usize) -> i32 {
        self.nodes += 1;
        let difference = 2 * board.mine.count() as i32 - (G::SQUARES as i32 - 1);
        let turned = board.count_last_flips(x) as i32;
        let most = if turned > 0 {
            difference + 2 * turned + 1
        } else {
            let turned = board.pass().count_last_flips(x) as i32;
            if turned > 0 { difference - 2 * turned - 1 } else { difference + difference.signum() }
        };
        self.goal.apply(most)
    }

    /// A bound on the score with two empty squares.
    #[inline(always)]
    pub(super) fn solve_2<G: Geometry>(
        &mut self,
        board: Board<G>,
        [x, y]: [usize; 2],
        alpha: i32,
    ) -> i32 {
        self.nodes += 1;
        let best = self.best_of_2(board, [x, y], alpha);
        if best > NO_MOVE {
            return best;
        }
        let best = self.best_of_2(board.pass(), [x, y], -alpha - 1);
        if best > NO_MOVE { -best } else { self.finished(board) }
    }

    #[inline(always)]
    fn best_of_2<G: Geometry>(&mut self, board: Board<G>, [x, y]: [usize; 2], alpha: i32) -> i32 {
        let mut best = NO_MOVE;
        if let Some(child) = play_at(board, x) {
            best = -self.solve_1(child, y);
            if best > alpha {
                return best;
            }
        }
        if let Some(child) = play_at(board, y) {
            best = best.max(-self.solve_1(child, x));
        }
        best
    }

    /// A bound on the score with three empty squares.
    pub(super) fn solve_3<G: Geometry>(
        &mut self,
        board: Board<G>,
        empties: [usize; 3],
        alpha: i32,
    ) -> i32 {
        self.nodes += 1;
        let [mut x, mut y, mut z] = empties;
        // A square alone in its quadrant comes first: its move is the last one in that region.
        if quadrant::<G>(x) == quadrant::<G>(y) {
            (x, y, z) = (z, x, y);
        } else if quadrant::<G>(x) == quadrant::<G>(z) {
            (x, y) = (y, x);
        }
        let best = self.best_of_3(board, [x, y, z], alpha);
        if best > NO_MOVE {
            return best;
        }
        let best = self.best_of_3(board.pass(), [x, y, z], -alpha - 1);
        if best > NO_MOVE { -best } else { self.finished(board) }
    }

    #[inline(always)]
    fn best_of_3<G: Geometry>(
        &mut self,
        board: Board<G>,
        [x, y, z]: [usize; 3],
        alpha: i32,
    ) -> i32 {
        let mut best = NO_MOVE;
        for (at, rest) in [(x, [y, z]), (y, [x, z]), (z, [x, y])] {
            if let Some(child) = play_at(board, at) {
                best = best.max(-self.solve_2(child, rest, -alpha - 1));
                if best > alpha {
                    return best;
                }
            }
        }
        best
    }

    /// A bound on the score with four empty squares, which are tried in the given order.
    pub(super) fn solve_4<G: Geometry>(
        &mut self,
        board: Board<G>,
        empties: [usize; 4],
        alpha: i32,
    ) -> i32 {
        self.nodes += 1;
        let best = self.best_of_4(board, empties, alpha);
        if best > NO_MOVE {
            return best;
        }
        let best = self.best_of_4(board.pass(), empties, -alpha - 1);
        if best > NO_MOVE { -best } else { self.finished(board) }
    }

    #[inline(always)]
    fn best_of_4<G: Geometry>(&mut self, board: Board<G>, empties: [usize; 4], alpha: i32) -> i32 {
        let [w, x, y, z] = empties;
        let mut best = NO_MOVE;
        for (at, rest) in [(w, [x, y, z]), (x, [w, y, z]), (y, [w, x, z]), (z, [w, x, y])] {
            if let Some(child) = play_at(board, at) {
                best = best.max(-self.solve_3(child, rest, -alpha - 1));
                if best > alpha {
                    return best;
                }
            }
        }
        best
    }
}

/// The value without a legal move, less than any score.
pub(super) const NO_MOVE: i32 = -1000;

/// The board after a move at bit index `at`; `None` if the move is not legal.
#[inline(always)]
pub(super) fn play_at<G: Geometry>(board: Board<G>, at: usize) -> Option<Board<G>> {
    if !board.touches_opponent(at) {
        return None;
    }
    let flips = board.flips_at(at);
    let after =
        Board { mine: board.theirs ^ flips, theirs: board.mine | flips | G::Bitboard::bit(at) };
    (!flips.is_zero()).then_some(after)
}
