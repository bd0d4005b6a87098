//! The sections of a configuration, and the list of all keys.

use super::Config;
use super::method::Method;
use super::value::as_toml;
use crate::game::{Goal, Shape};
use crate::keys::{Allowed, FieldValue, Keyed, NaturalValues, Value};
use crate::net::{Inputs, Tower};

/// A section.
pub(super) struct Section {
    /// The name, empty for the keys above the first section.
    pub name: &'static str,
    /// The purpose, as the reference page shows it.
    pub purpose: &'static str,
    /// The methods that have the section.
    pub methods: &'static [Method],
    /// The options of the section.
    pub options: fn(&Config) -> &dyn Keyed,
    /// The same, to be changed.
    pub options_mut: fn(&mut Config) -> &mut dyn Keyed,
}

/// Declares the sections: one row for each field of [`Config`] that is a section, with the methods
/// that have it.
macro_rules! sections {
    ($($field:ident of $methods:expr, $purpose:literal;)+) => {
        /// The sections in the order in which they are read and shown.
        pub(super) const SECTIONS: &[Section] = &[
            Section {
                name: "",
                purpose: "Keys above the first section.",
                methods: Method::ALL,
                options: |config| config,
                options_mut: |config| config,
            },
            $(Section {
                name: stringify!($field),
                purpose: $purpose,
                methods: $methods,
                options: |config| &config.$field,
                options_mut: |config| &mut config.$field,
            },)+
        ];
    };
}

impl Section {
    /// The methods that have a key of the section.
    pub(super) fn owners(&self, key: &str) -> &'static [Method] {
        let top_level = TOP_LEVEL.iter().find(|(name, _)| self.name.is_empty() && *name == key);
        top_level.map_or(self.methods, |(_, methods)| methods)
    }
}

const ALPHAZERO: &[Method] = &[Method::AlphaZero];

/// The methods that train stage by stage, without actors and a replay window.
const STAGEWISE: &[Method] = &[Method::Stages, Method::Td, Method::Endgame, Method::NTuple];

/// The keys above the first section that some methods do not have.
const TOP_LEVEL: &[(&str, &[Method])] = &[("device", &[Method::AlphaZero]), ("threads", STAGEWISE)];

sections! {
    limits of ALPHAZERO, "When the run ends by itself: at the first limit that it reaches.";
    net of ALPHAZERO, "The net's architecture.";
    search of ALPHAZERO, "The settings of the tree search.";
    selfplay of ALPHAZERO, "How games of self-play are played.";
    inference of ALPHAZERO, "The code that computes the net in play.";
    replay of ALPHAZERO, "Which positions training samples, and how often.";
    learner of ALPHAZERO, "How the net is trained.";
    checkpoint of ALPHAZERO, "When checkpoints are written and which ones are kept.";
    evaluation of ALPHAZERO, "The matches that measure the strength of a run's net.";
    stages of &[Method::Stages], "How minimax scores train a linear evaluator, stage by stage.";
    td of &[Method::Td], "How play trains a linear evaluator by temporal differences.";
    endgame of &[Method::Endgame], "How solved endings train an evaluator by patterns.";
    ntuple of &[Method::NTuple], "How games train an n-tuple perceptron or a small net.";
}

/// Sets the defaults that depend on the value of the key `path`. Keys are read in their order, so
/// a key whose default depends on another one comes after it.
pub(super) fn set_dependent_defaults(config: &mut Config, path: &str) {
    match path {
        "net.tower" if config.net.tower == Tower::Paper => {
            config.net.inputs = Inputs::Discs;
            config.net.global_pooling = false;
            config.net.score_head = false;
            config.net.owner_head = false;
            config.net.dropout = 0.3;
        }
        "net.score_head" if !config.net.score_head => config.search.score_weight = 0.0,
        _ => {}
    }
}

/// A key, as the reference page shows it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ConfigKey {
    /// The section, empty at the top level.
    pub section: &'static str,
    /// The name within the section.
    pub name: &'static str,
    /// The meaning, with its unit.
    pub meaning: String,
    /// The allowed values, in words.
    pub allowed: String,
    /// The default, as TOML.
    pub default: String,
    /// The methods that have the key.
    pub methods: &'static [Method],
}

impl ConfigKey {
    /// The key with its section.
    pub fn path(&self) -> String {
        join(self.section, self.name)
    }
}

/// A key's name with its section.
pub(super) fn join(section: &str, name: &str) -> String {
    if section.is_empty() { name.to_string() } else { format!("{section}.{name}") }
}

/// All keys, in the order of the sections.
pub fn keys() -> Vec<ConfigKey> {
    let config = Config::default();
    let mut keys = Vec::new();
    for section in SECTIONS {
        let options = (section.options)(&config);
        keys.extend(options.keys().into_iter().map(|key| ConfigKey {
            section: section.name,
            name: key.name,
            meaning: key.meaning(),
            allowed: key.allowed.words("\""),
            default: options.get(key.name).map_or_else(String::new, |value| as_toml(&value)),
            methods: section.owners(key.name),
        }));
    }
    keys
}

/// Makes the values of a key of a type of `game`, which itself uses no other module.
macro_rules! game_choice {
    ($type:ty, $all:expr) => {
        impl FieldValue for $type {
            fn to_value(&self) -> Option<Value> {
                Some(Value::Name(self.name()))
            }

            fn from_value(value: Value) -> Option<$type> {
                let Value::Name(name) = value else { return None };
                $all.into_iter().find(|choice| choice.name() == name)
            }
        }

        impl NaturalValues for $type {
            const ALLOWED: Allowed = Allowed::Names(&{
                let mut names = [""; $all.len()];
                let mut index = 0;
                while index < names.len() {
                    names[index] = $all[index].name();
                    index += 1;
                }
                names
            });
        }
    };
}

game_choice!(Shape, Shape::ALL);
game_choice!(Goal, [Goal::Most, Goal::Fewest]);
