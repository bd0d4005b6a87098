//! The methods by which a run learns, and the keys that each of them has.

use super::sections::Section;
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

/// The methods that train stage by stage, without actors and a replay window.
const STAGEWISE: &[Method] = &[Method::Stages, Method::Td, Method::Endgame, Method::NTuple];

/// The keys above the first section that some methods do not have.
const TOP_LEVEL: &[(&str, &[Method])] = &[("device", &[Method::AlphaZero]), ("threads", STAGEWISE)];

impl Method {
    /// Whether the method has a key of a section.
    pub(super) fn has(self, section: &Section, key: &str) -> bool {
        owners(section, key).contains(&self)
    }
}

/// The methods that have a key of a section.
pub(super) fn owners(section: &Section, key: &str) -> &'static [Method] {
    let top_level = TOP_LEVEL.iter().find(|(name, _)| section.name.is_empty() && *name == key);
    top_level.map_or(section.methods, |(_, methods)| methods)
}

/// The names of methods in words, such as `"alphazero" or "stages"`.
pub(super) fn in_words(methods: &[Method]) -> String {
    let names: Vec<String> = methods.iter().map(|method| format!("\"{method}\"")).collect();
    names.join(" or ")
}
