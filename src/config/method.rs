//! The methods by which a run learns.

use crate::choices::choices;

choices! {
    /// How a run learns.
    pub enum Method {
        /// Games of self-play by tree search train a net.
        #[default]
        AlphaZero = "alphazero",
        /// Minimax scores train a linear evaluator, stage by stage from the end of the game (Engel).
        Stages = "stages",
        /// Temporal differences train a linear evaluator, stage by stage from the end of the game
        /// (Perversi).
        Td = "td",
        /// Solved endings train an evaluator by patterns, from the end of the game to its start
        /// (Tothello).
        Endgame = "endgame",
        /// Games of its own train an n-tuple perceptron, or a net with one hidden layer (the n-tuple
        /// bot).
        NTuple = "ntuple",
    }
}

/// The names of methods in words, such as `"alphazero" or "stages"`.
pub(super) fn in_words(methods: &[Method]) -> String {
    let names: Vec<String> = methods.iter().map(|method| format!("\"{method}\"")).collect();
    names.join(" or ")
}
