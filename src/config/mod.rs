//! The configuration of a run: a TOML file plus `--set key=value`, checked as a whole.
//!
//! All problems are reported at once, each with its place, key, value and what is allowed.
//! [`Config::resolved`] writes the configuration with every default filled in; it reads back
//! as the same configuration. `docs/configuration.md` is made from the same readers that check
//! the values.

mod checks;
mod entries;
mod fixed;
mod problem;
mod reader;
mod reference;
mod sections;
mod unknown;

use std::path::Path;

use serde::{Serialize, Serializer};

pub use fixed::{FIXED_KEYS, FixedKey};
pub use problem::{ConfigError, Fault, Place, Problem};
pub use reader::Key;
pub use reference::reference;

use crate::arena;
use crate::game::{Goal, Shape};
use crate::net::{TowerOptions, inference};
use crate::search::mcts;
use crate::store::checkpoint::Retention;
use crate::store::{self, limits};
use crate::train::{learner, replay, selfplay};
use entries::Entries;
use reader::Reader;

/// When a run ends by itself: at the first limit that it reaches. 0 is no limit.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunLimits {
    /// Minutes of training over all starts.
    pub minutes: f64,
    /// Games of self-play.
    pub games: u64,
    /// Positions of self-play that can be learnt from.
    pub positions: u64,
    /// Steps of the learner.
    pub steps: u64,
}

impl Default for RunLimits {
    fn default() -> RunLimits {
        RunLimits { minutes: 60.0, games: 0, positions: 0, steps: 0 }
    }
}

/// The configuration of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Config {
    /// The board.
    #[serde(serialize_with = "by_name")]
    pub board: Shape,
    /// Which disc count wins.
    #[serde(serialize_with = "by_name")]
    pub goal: Goal,
    /// What everything random follows from.
    pub seed: u64,
    /// Where the net is trained and played: `auto`, `cpu`, `cuda` or `cuda:N`.
    pub device: String,
    /// When the run ends by itself.
    pub limits: RunLimits,
    /// What the net is made of.
    pub net: TowerOptions,
    /// How a tree search spends its simulations.
    pub search: mcts::Options,
    /// How games are made.
    pub selfplay: selfplay::Options,
    /// How the net is computed in play.
    pub inference: inference::Options,
    /// Which positions are learnt from, and how often.
    pub replay: replay::Options,
    /// How the net is fitted.
    pub learner: learner::Options,
    /// When checkpoints are written and which ones stay.
    pub checkpoint: Retention,
    /// Which matches a run plays to see its strength.
    pub evaluation: arena::Options,
}

fn by_name<S: Serializer>(name: &impl std::fmt::Display, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(name)
}

impl Default for Config {
    fn default() -> Config {
        Config {
            board: Shape::Square8,
            goal: Goal::Most,
            seed: 1,
            device: "auto".into(),
            limits: RunLimits::default(),
            net: TowerOptions::default(),
            search: mcts::Options::default(),
            selfplay: selfplay::Options::default(),
            inference: inference::Options::default(),
            replay: replay::Options::default(),
            learner: learner::Options::default(),
            checkpoint: Retention::default(),
            evaluation: arena::Options::default(),
        }
    }
}

impl Config {
    /// Reads a file; `overrides` are `key=value` as `--set` takes them, and win.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or all that is wrong with it and the overrides.
    pub fn load(path: &Path, overrides: &[String]) -> Result<Config, ConfigError> {
        let bytes = store::read(path, limits::CONFIG)?;
        let name = path.display().to_string();
        let text = String::from_utf8(bytes).map_err(|error| ConfigError::NotText {
            name: name.as_str().into(),
            offset: error.utf8_error().valid_up_to(),
        })?;
        Config::parse(&name, &text, overrides)
    }

    /// Reads a text as [`Config::load`] reads a file; `name` is what problems call it.
    ///
    /// # Errors
    ///
    /// All that is wrong with the text and the overrides.
    pub fn parse(name: &str, text: &str, overrides: &[String]) -> Result<Config, ConfigError> {
        let is_section = |path: &str| sections::SECTIONS.contains(&path);
        let mut entries = Entries::default();
        entries.read_file(name, text, is_section);
        for argument in overrides {
            entries.read_override(argument, is_section);
        }
        let mut reader = Reader::new(entries);
        let config = sections::read(&mut reader);
        checks::contradictions(&mut reader, &config);
        match reader.finish() {
            (_, problems, _) if problems.is_empty() => Ok(config),
            (_, problems, more) => Err(ConfigError::Problems { problems, more }),
        }
    }

    /// The configuration as TOML with every key. It reads back as the same configuration.
    ///
    /// # Panics
    ///
    /// A whole number exceeds 2^63 - 1, which no configuration that was read holds.
    pub fn resolved(&self) -> String {
        toml::to_string(self).expect("a configuration is TOML")
    }

    /// [`Config::resolved`] with a comment above each key: what it sets and what is allowed.
    pub fn explained(&self) -> String {
        reference::explain(&self.resolved())
    }
}

/// Every key, in the order of the sections.
pub fn keys() -> Vec<Key> {
    let mut reader = Reader::new(Entries::default());
    sections::read(&mut reader);
    reader.finish().0
}

#[cfg(test)]
mod hostile_tests;
#[cfg(test)]
mod tests;
