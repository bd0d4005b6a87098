//! The settings of a run's evaluation: the matches that measure its strength.

use crate::keys::{even, keys, texts, whole, within};
use crate::players::spec::PlayerSpec;
use crate::search::mcts::options::MOST_SIMULATIONS;

keys! {
    /// The settings of a run's evaluation.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Options {
        /// Minutes of training between two evaluations; 0 means none.
        key every_minutes: f64 = 5.0, within(0.0, 1e6);

        /// Games against each opponent; each opening is played with both colours.
        key games: u32 = 20, even(2, 100_000);

        /// Simulations a move of the net.
        key simulations: u32 = 64, whole(1, MOST_SIMULATIONS);

        /// The opponents, as player specifications.
        key opponents: Vec<String> = default_opponents(),
            texts("a list of players such as \"random\" or \"alphabeta:depth=2\"", check_player);

        /// How many of the newest rated nets of this run are opponents as well.
        key earlier_nets: u32 = 0, whole(0, 1000);

        /// Random moves at the start of each pair of games.
        key opening_plies: u32 = 6, whole(1, 40);
    }
}

fn default_opponents() -> Vec<String> {
    ["random", "greedy", "alphabeta:depth=2"].map(String::from).to_vec()
}

fn check_player(text: &str) -> Result<(), Box<str>> {
    text.parse::<PlayerSpec>().map(drop).map_err(|error| error.to_string().into())
}
