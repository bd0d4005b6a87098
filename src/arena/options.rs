//! The settings of a run's evaluation: the matches that measure its strength.

/// The settings of a run's evaluation.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Options {
    /// Minutes of training between two evaluations; 0 means none.
    pub every_minutes: f64,
    /// Games against each opponent; even, because each opening is played with both colours.
    pub games: u32,
    /// Simulations a move of the net; at least 1.
    pub simulations: u32,
    /// The opponents, as player specifications.
    pub opponents: Vec<String>,
    /// How many of the newest rated nets of the run are opponents as well.
    pub earlier_nets: u32,
    /// Random moves at the start of each pair of games, 1 to 40.
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
