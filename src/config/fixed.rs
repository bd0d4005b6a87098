//! Keys that cannot change during a run.
//!
//! The games, the net's arrays and the optimiser's state in a run's files depend on the values that
//! these keys had at its start.

use super::Config;
use super::method::Method;
use super::sections::{ConfigKey, keys};
use super::value::as_toml;

/// The keys with their sections, without those of whole sections that cannot change either.
pub const FIXED_KEYS: [&str; 13] = [
    "method",
    "board",
    "goal",
    "seed",
    "net.tower",
    "net.inputs",
    "net.inputs_evaluator",
    "net.blocks",
    "net.channels",
    "net.global_pooling",
    "net.score_head",
    "net.owner_head",
    "learner.optimizer",
];

/// A key that cannot change during a run, with a different value in a new configuration.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FixedKey {
    /// The key with its section.
    pub key: String,
    /// Its value in the run.
    pub stored: String,
    /// Its value in the new configuration.
    pub wanted: String,
}

impl std::fmt::Display for FixedKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let FixedKey { key, stored, wanted } = self;
        write!(f, "{key} is {stored} in the run, {wanted} in the configuration")
    }
}

impl Config {
    /// The keys that keep a run with the configuration `stored` from continuing with this one.
    pub fn fixed_keys_changed(&self, stored: &Config) -> Vec<FixedKey> {
        let show = |config: &Config, key: &str| {
            config.value(key).map_or_else(String::new, |value| as_toml(&value))
        };
        // A model that is trained in stages depends on all keys of its method's section.
        let is_of_stages =
            |key: &ConfigKey| !key.section.is_empty() && !key.methods.contains(&Method::AlphaZero);
        let of_sections = keys().into_iter().filter(is_of_stages);
        FIXED_KEYS
            .into_iter()
            .map(String::from)
            .chain(of_sections.map(|key| key.path()))
            .map(|key| FixedKey { stored: show(stored, &key), wanted: show(self, &key), key })
            .filter(|change| change.stored != change.wanted)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(changes: &[&str]) -> Config {
        let changes: Vec<String> = changes.iter().map(|&change| change.into()).collect();
        Config::parse("config.toml", "", &changes).unwrap()
    }

    #[test]
    fn every_key_is_one_of_the_configuration() {
        assert!(FIXED_KEYS.iter().all(|key| Config::default().value(key).is_some()));
    }

    #[test]
    fn changed_fixed_keys_are_listed_with_both_values() {
        for (change, stored, wanted) in [
            ("method=stages", "\"alphazero\"", "\"stages\""),
            ("board=6x6", "\"8x8\"", "\"6x6\""),
            ("goal=fewest", "\"most\"", "\"fewest\""),
            ("seed=7", "1", "7"),
            ("net.inputs=discs", "\"lookahead\"", "\"discs\""),
            ("net.blocks=2", "4", "2"),
            ("net.channels=64", "32", "64"),
            ("net.global_pooling=false", "true", "false"),
            ("net.owner_head=false", "true", "false"),
            ("learner.optimizer=adam", "\"sgd\"", "\"adam\""),
        ] {
            let found = config(&[change]).fixed_keys_changed(&config(&[]));
            let key = change.split_once('=').unwrap().0;
            let wanted = FixedKey { key: key.into(), stored: stored.into(), wanted: wanted.into() };
            assert_eq!(found, [wanted]);
        }
        let free = ["search.simulations=9", "learner.batch=8", "device=cpu", "limits.games=3"];
        assert_eq!(config(&free).fixed_keys_changed(&config(&[])), []);
    }
}
