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
            edge.in_flight -= 1;
            edge.add(worth.utility);
        }
        self.sums.simulations += 1;
        self.sums.value += f64::from(worth.value);
    }
}

#[cfg(test)]
mod tests {
    use crate::game::{Goal, Square8};
    use crate::search::mcts::Options;
    use crate::search::mcts::tree::{ROOT, Tree};

    /// A tree whose root has had simulations of these values.
    fn tree(values: impl IntoIterator<Item = f32>) -> Tree<Square8> {
        let mut tree = Tree::new(Goal::Most, &Options { spread_scale: 1.0, ..Options::default() });
        for value in values {
            tree.edges[ROOT].in_flight += 1;
            tree.back_up(&[ROOT as u32], tree.utility.estimated(value, 0.0));
        }
        tree
    }

    #[test]
    fn means_and_spreads_stay_true_through_millions_of_simulations() {
        let tree = tree(std::iter::repeat_n(0.55, 4_000_000));
        let worth = tree.utility.estimated(0.55, 0.0);
        assert!((tree.root_utility() - worth.utility).abs() < 1e-6, "{}", tree.root_utility());
        assert!((tree.root_value() - worth.value).abs() < 1e-6, "{}", tree.root_value());
        // What is always worth the same does not spread.
        assert!(tree.root_c_puct() < 0.1 * Options::default().c_puct, "{}", tree.root_c_puct());
    }

    #[test]
    fn a_mean_that_moves_later_is_no_spread_and_takes_none_away() {
        let waves = |mean: f32, count: usize| (0..count).map(move |i| mean + [-0.15, 0.15][i % 2]);
        let early = tree(waves(0.3, 60_000)).root_c_puct();
        for moved in [0.0, 0.6] {
            let tree = tree(waves(0.3, 1 << 16).chain(waves(moved, 300_000)));
            let late = tree.root_c_puct();
            assert!((late / early - 1.0).abs() < 0.01, "{early}, then {late} at {moved}");
        }
    }
}
