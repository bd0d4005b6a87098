//! The settings of a tree search.

use crate::choices::choices;

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

/// The settings of a tree search.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Options {
    /// How the root distributes simulations over its moves.
    pub root: Root,
    /// Simulations of a full search; at least 1.
    pub simulations: u32,
    /// Weight of the prior against the value in PUCT; at least 0.
    pub c_puct: f32,
    /// The value that PUCT assumes for an unvisited move.
    pub first_play: FirstPlay,
    /// First-play urgency: an unvisited move is assumed to be worse than its parent by this, in
    /// units of value, times the square root of the sum of the visited moves' priors; 0 to 2.
    pub fpu_reduction: f32,
    /// How strongly `c_puct` and `fpu_reduction` scale with the standard deviation of the utilities
    /// below a position: 0 (not at all) to 1 (proportionally). At a deviation of 0.4 the factor is
    /// always 1.
    pub spread_scale: f32,
    /// Priors are the net's policy to the power of 1 / `prior_temperature`, normalised. Above 1
    /// they are more even, so more moves are searched; 0.1 to 10.
    pub prior_temperature: f32,
    /// The sum of the Dirichlet noise's parameters over all legal moves; above 0. With a fixed sum
    /// the noise is as concentrated with many moves as with few.
    pub dirichlet_total: f32,
    /// The share of the noise in the root's priors, 0 to 1; 0 switches it off.
    pub dirichlet_share: f32,
    /// Whether policy targets leave out the visits that come from noise alone.
    pub prune_noise: bool,
    /// Whether policy targets are the distribution that the move is drawn from, instead of the
    /// visits: visits^(1/temperature), and at temperature 0 the chosen move alone.
    pub tempered_targets: bool,
    /// A move is drawn with probability proportional to visits^(1/temperature); at 0 it is the most
    /// visited move.
    pub temperature: f32,
    /// How many plies from the start of the game `temperature` applies to.
    pub temperature_plies: u32,
    /// The temperature of all later moves.
    pub temperature_late: f32,
    /// Whether the next search keeps the subtree of the move that was played.
    pub tree_reuse: bool,
    /// How many moves the Gumbel root samples; at least 1.
    pub gumbel_considered: u32,
    /// At the Gumbel root, the constant that is added to the visits of the most visited move, in
    /// the scale of values.
    pub gumbel_c_visit: f32,
    /// At the Gumbel root, the factor in the scale of values against logits.
    pub gumbel_c_scale: f32,
    /// Positions of a game with at most this many empty squares are solved exactly, not searched; 0
    /// switches all solving off.
    pub solve_empties: u32,
    /// Leaves with at most this many empty squares are solved exactly and need no prediction. It is
    /// capped at `solve_empties`. It should be lower: a game reaches its end once, but the search
    /// trees reach it a hundred times.
    pub solve_leaves: u32,
    /// By how many empty squares this limit grows with each doubling of the simulations that have
    /// reached a position, up to `solve_empties`; at least 0. One more empty square about doubles
    /// the cost of a solve. So at 1 a solve never costs much more than the predictions that its
    /// position has had.
    pub solve_growth: f32,
    /// The most positions in the search for a forced wipe-out, at a leaf where a side has at most
    /// three discs; 0 switches it off. Only for the goal `most`.
    pub wipeout_nodes: u32,
    /// The weight of the final disc difference in the utility that is backed up, 0 to 1. The value
    /// has the rest of the weight.
    pub score_weight: f32,
    /// With at most this many empty squares at the root, the utility is the final disc difference
    /// alone, whatever `score_weight` is; 0 switches it off. If the tree also solves positions, the
    /// search for the most discs finds the wins as well.
    pub score_empties: u32,
}

impl Options {
    /// The weight of the final disc difference in the search of a position with this many empty
    /// squares.
    pub fn score_weight_at(&self, empties: u32) -> f32 {
        if empties <= self.score_empties { 1.0 } else { self.score_weight }
    }

    /// The greatest number of empty squares with which the tree solves a position, after
    /// `2^doublings` simulations have reached it.
    pub fn max_solve_empties(&self, doublings: u32) -> u32 {
        let grown = match self.solve_leaves {
            0 => 0,
            leaves => leaves + (self.solve_growth * doublings as f32) as u32,
        };
        grown.min(self.solve_empties)
    }
}

impl Default for Options {
    fn default() -> Options {
        Options {
            root: Root::Puct,
            simulations: 64,
            c_puct: 1.5,
            first_play: FirstPlay::Parent,
            fpu_reduction: 0.2,
            spread_scale: 0.0,
            prior_temperature: 1.0,
            dirichlet_total: 10.0,
            dirichlet_share: 0.25,
            prune_noise: false,
            tempered_targets: false,
            temperature: 1.0,
            temperature_plies: 12,
            temperature_late: 0.0,
            tree_reuse: true,
            gumbel_considered: 16,
            gumbel_c_visit: 50.0,
            gumbel_c_scale: 1.0,
            solve_empties: 12,
            solve_leaves: 8,
            solve_growth: 0.0,
            wipeout_nodes: 400,
            score_weight: 0.1,
            score_empties: 0,
        }
    }
}
