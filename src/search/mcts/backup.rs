//! The end of a simulation: its result and new bounds are backed up along its path.

use super::tree::{Gathered, Tree};
use super::utility::LeafValue;
use crate::game::Geometry;

impl<G: Geometry> Tree<G> {
    /// Ends a simulation at a position whose exact score has just been found. `score` is for the
    /// side to move there.
    pub(super) fn back_up_exact(&mut self, path: &[u32], score: i8) -> Gathered<G> {
        if let [.., leaf] = path {
            self.edges[*leaf as usize].set_child_bounds(score, score);
        }
        self.tighten(path);
        self.back_up(path, self.utility.proven(score));
        Gathered::Known
    }

    /// Tightens the bounds along a path whose last edge has just become exact.
    fn tighten(&mut self, path: &[u32]) {
        let [above @ .., _] = path else { return };
        for &place in above.iter().rev() {
            let here = &self.edges[place as usize];
            let followed = &self.edges[here.children()][..here.followed as usize];
            let all = here.followed == here.moves;
            let most = G::SQUARES as i8;
            let lower = followed.iter().map(|edge| edge.lower).max().unwrap_or(-most);
            let seen = followed.iter().map(|edge| edge.upper).max().unwrap_or(most);
            let upper = if all { seen } else { most };
            if !self.edges[place as usize].set_child_bounds(lower, upper) {
                return;
            }
        }
    }

    /// Adds the result of a leaf, which is for the side to move there, to all edges of the path.
    /// At each edge with bounds the result is first clamped to them: a side that has proven a score
    /// would not accept less.
    #[inline]
    pub(super) fn back_up(&mut self, path: &[u32], mut leaf_value: LeafValue) {
        let most = G::SQUARES as i8;
        for &place in path.iter().rev() {
            let edge = &mut self.edges[place as usize];
            if !edge.same_side {
                leaf_value = leaf_value.reversed();
            }
            if edge.lower > -most || edge.upper < most {
                leaf_value = self.utility.within(leaf_value, edge.lower, edge.upper);
            }
            edge.in_flight -= 1;
            edge.add(leaf_value.utility);
        }
        self.sums.simulations += 1;
        self.sums.value += f64::from(leaf_value.value);
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
    fn means_and_spreads_stay_exact_over_millions_of_simulations() {
        let tree = tree(std::iter::repeat_n(0.55, 4_000_000));
        let leaf_value = tree.utility.estimated(0.55, 0.0);
        assert!((tree.root_utility() - leaf_value.utility).abs() < 1e-6, "{}", tree.root_utility());
        assert!((tree.root_value() - leaf_value.value).abs() < 1e-6, "{}", tree.root_value());
        // Equal results have no spread.
        assert!(tree.root_c_puct() < 0.1 * Options::default().c_puct, "{}", tree.root_c_puct());
    }

    #[test]
    fn a_mean_that_changes_later_leaves_the_spread_unchanged() {
        let waves = |mean: f32, count: usize| (0..count).map(move |i| mean + [-0.15, 0.15][i % 2]);
        let early = tree(waves(0.3, 60_000)).root_c_puct();
        for moved in [0.0, 0.6] {
            let tree = tree(waves(0.3, 1 << 16).chain(waves(moved, 300_000)));
            let late = tree.root_c_puct();
            assert!((late / early - 1.0).abs() < 0.01, "{early}, then {late} at mean {moved}");
        }
    }
}
