//! The settings of the matches that a training run plays to see its strength.

/// Which matches a run plays against fixed opponents.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Options {
    /// Minutes of training between two evaluations; 0 plays none.
    pub every_minutes: f64,
    /// Games against each opponent; even, since an opening is played with both colours.
    pub games: u32,
    /// Simulations of the net's searches; at least 1.
    pub simulations: u32,
    /// The opponents, as player specifications.
    pub opponents: Vec<String>,
    /// How many of the run's own nets, the newest that have a rating, are opponents as well.
    pub earlier_nets: u32,
    /// Random moves that each pair of games starts with, 1 to 40.
    pub opening_plies: u32,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            every_minutes: 5.0,
            games: 20,
            simulations: 64,
            opponents: ["random", "greedy", "alphabeta:depth=2"].map(String::from).to_vec(),
            earlier_nets: 0,
            opening_plies: 6,
        }
    }
}
