//! The settings of a tree search.

use crate::choices::choices;

choices! {
    /// How the root divides its simulations among the moves.
    pub enum Root {
        /// PUCT at the root as everywhere below it, with Dirichlet noise in self-play.
        #[default]
        Puct = "puct",
        /// Gumbel samples of the moves, narrowed by sequential halving (Danihelka et al. 2022).
        Gumbel = "gumbel",
    }
}

choices! {
    /// What an unvisited move is taken to be worth.
    pub enum FirstPlay {
        /// The mean of its parent, less `fpu_reduction`.
        #[default]
        Parent = "parent",
        /// Zero, as in the paper of Fu and Xu.
        Zero = "zero",
    }
}

/// How a tree search spends its simulations.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Options {
    /// How the root divides its simulations.
    pub root: Root,
    /// Simulations of a full search; at least 1.
    pub simulations: u32,
    /// Weight of the prior against the value in PUCT; at least 0.
    pub c_puct: f32,
    /// What an unvisited move is taken to be worth.
    pub first_play: FirstPlay,
    /// How much worse than its parent an unvisited move is taken to be, in units of value,
    /// times the root of the visited priors' sum; 0 to 2.
    pub fpu_reduction: f32,
    /// How far exploration, which is `c_puct` and `fpu_reduction`, is proportional to the standard
    /// deviation of the utilities behind a position, 0 (not at all) to 1. At 0.4 it is the same
    /// either way.
    pub spread_scale: f32,
    /// Priors are the net's policy to the power of 1 / `prior_temperature`: above 1 they are
    /// evener, and more moves are looked at; 0.1 to 10.
    pub prior_temperature: f32,
    /// The Dirichlet noise's parameters sum to this over a position's legal moves, so that the
    /// noise is as spiky with many moves as with few; above 0.
    pub dirichlet_total: f32,
    /// The noise's share in the root's priors, 0 to 1; 0 switches it off.
    pub dirichlet_share: f32,
    /// Whether the policy that is learnt leaves out visits that noise alone has earned.
    pub prune_noise: bool,
    /// Whether the policy that is learnt is what the move is drawn from, visits^(1/temperature)
    /// and at 0 one move alone, and not the visits.
    pub tempered_targets: bool,
    /// A move is drawn with probability proportional to visits^(1/temperature); 0 picks the
    /// most visited.
    pub temperature: f32,
    /// How many moves from the start of the game, counted in plies, `temperature` holds for.
    pub temperature_plies: u32,
    /// The temperature of the later moves.
    pub temperature_late: f32,
    /// Whether the subtree of the move that was played is kept for the next search.
    pub tree_reuse: bool,
    /// How many moves the Gumbel root starts with; at least 1.
    pub gumbel_considered: u32,
    /// The visits that are added to the most visited move's when the Gumbel root scales values.
    pub gumbel_c_visit: f32,
    /// The scale of a value against a logit at the Gumbel root.
    pub gumbel_c_scale: f32,
    /// Positions of a game with at most this many empty squares are solved exactly instead of
    /// searched; 0 switches all solving off.
    pub solve_empties: u32,
    /// Leaves of the tree with at most this many empty squares are solved exactly instead of
    /// asked about; counts up to `solve_empties`. A game comes to its end once but its trees
    /// reach there a hundred times, so this is best lower.
    pub solve_leaves: u32,
    /// By how many empty squares that rises with each doubling of the simulations that have
    /// reached a position, up to `solve_empties`; at least 0. A solution costs about twice as
    /// much with a square more, so at 1 it never costs much more than the evaluations that the
    /// position has had.
    pub solve_growth: f32,
    /// Positions looked at, at a leaf where a side has at most three discs, for a line in which
    /// it loses its last one by force; 0 switches it off. Only where the most discs win.
    pub wipeout_nodes: u32,
    /// Share of the final disc difference in the utility that is backed up, 0 to 1; the rest is
    /// the value.
    pub score_weight: f32,
    /// With at most this many empty squares at the root the utility is the final disc difference
    /// alone, whatever `score_weight`; 0 switches it off. Where the tree solves what it comes back
    /// to, who plays for discs plays for the win as well.
    pub score_empties: u32,
}

impl Options {
    /// The weight of the final disc difference in the search of a position with so many empty
    /// squares.
    pub fn score_weight_at(&self, empties: u32) -> f32 {
        if empties <= self.score_empties { 1.0 } else { self.score_weight }
    }

    /// Empty squares up to which a position of the tree is solved that `2^doublings` simulations
    /// have reached.
    pub fn solvable(&self, doublings: u32) -> u32 {
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
