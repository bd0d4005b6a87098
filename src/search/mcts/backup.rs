//! What a simulation leaves on its path when it ends: visits and utilities, and what has become
//! certain.

use super::tree::{Gathered, Tree};
use super::utility::Worth;
use crate::game::Geometry;

impl<G: Geometry> Tree<G> {
    /// Ends a simulation at a position whose exact score, for the side to move there, has just
    /// been found.
    pub(super) fn settle(&mut self, path: &[u32], score: i8) -> Gathered<G> {
        if let [.., leaf] = path {
            self.edges[*leaf as usize].set_bounds_behind(score, score);
        }
        self.tighten(path);
        self.back_up(path, self.utility.proven(score));
        Gathered::Known
    }

    /// Narrows the bounds along a path whose last edge has just become exact.
    fn tighten(&mut self, path: &[u32]) {
        let [above @ .., _] = path else { return };
        for &place in above.iter().rev() {
            let here = &self.edges[place as usize];
            let opened = &self.edges[here.behind()][..here.opened as usize];
            let all = here.opened == here.moves;
            let most = G::SQUARES as i8;
            let lower = opened.iter().map(|edge| edge.lower).max().unwrap_or(-most);
            let seen = opened.iter().map(|edge| edge.upper).max().unwrap_or(most);
            let upper = if all { seen } else { most };
            if !self.edges[place as usize].set_bounds_behind(lower, upper) {
                return;
            }
        }
    }

    /// Adds what a leaf is worth, seen by the side to move there, to everything on its path.
    /// Above a position with bounds it is worth no more and no less than they allow: the side
    /// that has proven a score would not let a simulation end below it.
    #[inline]
    pub(super) fn back_up(&mut self, path: &[u32], mut worth: Worth) {
        let most = G::SQUARES as i8;
        for &place in path.iter().rev() {
            let edge = &mut self.edges[place as usize];
            if !edge.same_side {
                worth = worth.reversed();
            }
            if edge.lower > -most || edge.upper < most {
                worth = self.utility.within(worth, edge.lower, edge.upper);
            }
            edge.visits += 1;
            edge.in_flight -= 1;
            edge.utility_sum += worth.utility;
            edge.square_sum += worth.utility * worth.utility;
        }
        self.sums.simulations += 1;
        self.sums.value += worth.value;
        self.sums.score += worth.score;
    }
}
