//! The settings of a tree search.

use crate::choices::choices;
use crate::keys::{keys, whole, within};

choices! {
    /// How the root distributes simulations over its moves.
    pub enum Root {
        /// PUCT, as below the root, with Dirichlet noise in self-play.
        #[default]
        Puct = "puct",
        /// Gumbel sampling of moves and sequential halving (Danihelka et al. 2022).
        Gumbel = "gumbel",
    }
}

choices! {
    /// The value that PUCT assumes for an unvisited move.
    pub enum FirstPlay {
        /// The mean of the parent position, less `fpu_reduction`.
        #[default]
        Parent = "parent",
        /// Zero, as Fu and Xu do.
        Zero = "zero",
    }
}

/// The most simulations of a search.
pub const MOST_SIMULATIONS: u64 = 100_000_000;
/// The most empty squares with which positions are solved.
pub const MOST_SOLVED: u64 = 30;

keys! {
    /// The settings of a tree search.
    ///
    /// ```
    /// use outflank::search::mcts::{Options, Root};
    ///
    /// let options = Options { simulations: 400, root: Root::Gumbel, ..Options::default() };
    /// assert_eq!((options.simulations, options.solve_empties), (400, 12));
    /// ```
    #[derive(Clone, Debug, PartialEq)]
    pub struct Options {
        /// How the root distributes simulations over its moves.
        key root: Root = Root::Puct;

        /// Simulations of a full search for a move.
        key simulations: u32 = 64, whole(1, MOST_SIMULATIONS) => player(0).limit();

        /// Weight of the prior against the value in PUCT.
        key c_puct: f32 = 1.5, within(0.0, 100.0) => player(7);

        /// The value assumed for an unvisited move: its parent's mean less `fpu_reduction`
        /// (`parent`), or 0 (`zero`).
        key first_play: FirstPlay = FirstPlay::Parent => player(8);

        /// How much worse than its parent an unvisited move is assumed to be, in units of value.
        ///
        /// This first-play urgency is multiplied by the square root of the sum of the visited
        /// moves' priors.
        key fpu_reduction: f32 = 0.2, within(0.0, 2.0)
            => player(9).refused("with `first_play=zero`");

        /// How strongly `c_puct` and `fpu_reduction` scale with the standard deviation of the
        /// utilities below a position: 0 not at all, 1 in proportion. At a deviation of 0.4 they
        /// are as given.
        key spread_scale: f32 = 0.0, within(0.0, 1.0) => player(10);

        /// Priors are the net's policy to the power of 1 / `prior_temperature`: above 1 they are
        /// more even.
        key prior_temperature: f32 = 1.0, within(0.1, 10.0) => player(11);

        /// Share of the noise in the root's priors in self-play; 0 means off.
        key dirichlet_share: f32 = 0.25, within(0.0, 1.0);

        /// Whether policy targets leave out the visits that come from noise alone.
        key prune_noise: bool = false;

        /// Whether policy targets are the distribution that the move is drawn from,
        /// visits^(1/temperature), instead of the visits.
        ///
        /// At temperature 0 the target is the chosen move alone.
        key tempered_targets: bool = false;

        /// Moves are drawn with probability ~ visits^(1/temperature); 0 plays the most visited
        /// move.
        key temperature: f32 = 1.0, within(0.0, 100.0)
            => player(6).refused("without `temperature_plies`");

        /// How many plies from the start of a game `temperature` applies to. Later a player plays
        /// the most visited move, and self-play draws at `temperature_late`.
        key temperature_plies: u32 = 12, whole(0, 100) => player(5);

        /// The temperature of all later moves.
        key temperature_late: f32 = 0.0, within(0.0, 100.0);

        /// Whether the next search keeps the subtree of the played move.
        key tree_reuse: bool = true => player(14);

        /// Factor in a Gumbel root's scale of values against logits.
        key gumbel_c_scale: f32 = 1.0, within(0.0, 1000.0);

        /// Positions of a game with at most this many empty squares are solved exactly, by a
        /// player with a time limit as far as the time allows; 0 switches all solving off.
        key solve_empties: u32 = 12, whole(0, MOST_SOLVED) => player(1);

        /// Leaves of the tree with at most this many empty squares are solved exactly, up to
        /// `solve_empties`; 0 means off.
        ///
        /// It should be lower than `solve_empties`: a game reaches its end once, but the search
        /// trees reach it a hundred times.
        key solve_leaves: u32 = 8, whole(0, MOST_SOLVED) => player(2);

        /// How many empty squares `solve_leaves` grows by, each time that the visits of a node
        /// double, up to `solve_empties`.
        ///
        /// One more empty square about doubles the cost of a solve. So at 1 a solve never costs
        /// much more than the predictions that its position has had.
        key solve_growth: f32 = 0.0, within(0.0, 4.0) => player(3);

        /// The most positions in the search for a forced wipe-out, at a leaf where a side has at
        /// most 3 discs; 0 means off. Only for the goal `most`.
        key wipeout_nodes: u32 = 400, whole(0, 1_000_000) => player(4);

        /// Weight of the final disc difference in the utility that is backed up; the value has the
        /// rest.
        key score_weight: f32 = 0.1, within(0.0, 1.0) => player(12);

        /// With at most this many empty squares at the root, the utility is the final disc
        /// difference alone; 0 means off.
        ///
        /// If the tree also solves positions, the search for the most discs finds the wins as well.
        key score_empties: u32 = 0, whole(0, 92) => player(13);
    }
}

impl Options {
    /// The weight of the final disc difference in the search of a position with this many empty
    /// squares.
    ///
    /// ```
    /// use outflank::search::mcts::Options;
    ///
    /// // In the last 20 empty squares only the disc difference counts.
    /// let options = Options { score_empties: 20, ..Options::default() };
    /// assert_eq!([30, 20].map(|empties| options.score_weight_at(empties)), [0.1, 1.0]);
    /// ```
    pub fn score_weight_at(&self, empties: u32) -> f32 {
        if empties <= self.score_empties { 1.0 } else { self.score_weight }
    }

    /// The greatest number of empty squares with which the tree solves a position, after
    /// `2^doublings` simulations have reached it.
    ///
    /// ```
    /// use outflank::search::mcts::Options;
    ///
    /// let options = Options { solve_leaves: 8, solve_growth: 1.0, ..Options::default() };
    /// let solved = [0, 2, 9].map(|doublings| options.max_solve_empties(doublings));
    /// assert_eq!(solved, [8, 10, 12], "at most `solve_empties`");
    /// ```
    pub fn max_solve_empties(&self, doublings: u32) -> u32 {
        let grown = match self.solve_leaves {
            0 => 0,
            leaves => leaves + (self.solve_growth * doublings as f32) as u32,
        };
        grown.min(self.solve_empties)
    }
}
