//! The configuration of a run: a TOML file plus `--set key=value`, checked as a whole.
//!
//! All problems are reported at once, each with its place, key, value and the allowed values.
//! [`Config::resolved`] writes the configuration with every default filled in. Reading it gives the
//! same configuration again. The readers that check the values also generate
//! `docs/configuration.md`.

mod checks;
mod entries;
mod fixed;
mod problem;
mod reader;
mod reference;
mod removed;
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
use crate::store::checkpoint::{self, Retention};
use crate::store::{self, limits, run_dir};
use crate::train::{learner, replay, selfplay};
use entries::Entries;
use reader::Reader;

/// When a run ends by itself: at the first limit that it reaches. 0 means no limit.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunLimits {
    /// Minutes of training, all starts of the run added up.
    pub minutes: f64,
    /// Games of self-play.
    pub games: u64,
    /// Positions of self-play, without the opening moves.
    pub positions: u64,
    /// Training steps.
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
    /// The random seed.
    pub seed: u64,
    /// The device that trains and plays: `auto`, `cpu`, `cuda` or `cuda:N`.
    pub device: String,
    /// When the run ends by itself.
    pub limits: RunLimits,
    /// The net's architecture.
    pub net: TowerOptions,
    /// The settings of the tree search.
    pub search: mcts::Options,
    /// The settings of self-play.
    pub selfplay: selfplay::Options,
    /// The code that computes the net in play.
    pub inference: inference::Options,
    /// Which positions training samples, and how often.
    pub replay: replay::Options,
    /// The settings of training.
    pub learner: learner::Options,
    /// When checkpoints are written and which ones are kept.
    pub checkpoint: Retention,
    /// The matches that measure a run's strength.
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
    /// Reads a file. `overrides` have the form `key=value` of `--set` and replace the file's
    /// values. The `config.toml` of a run directory or of an exported net's folder is read by
    /// [`Config::parse_stored`].
    ///
    /// # Errors
    ///
    /// The file cannot be read, or it or an override has problems; the error holds them all.
    pub fn load(path: &Path, overrides: &[String]) -> Result<Config, ConfigError> {
        let bytes = store::read(path, limits::CONFIG)?;
        let name = path.display().to_string();
        let text = String::from_utf8(bytes).map_err(|error| ConfigError::NotText {
            name: name.as_str().into(),
            offset: error.utf8_error().valid_up_to(),
        })?;
        match is_stored(path) {
            true => Config::parse_stored(&name, &text, overrides),
            false => Config::parse(&name, &text, overrides),
        }
    }

    /// Reads a text as [`Config::load`] reads a file. Problems give `name` as its place.
    ///
    /// # Errors
    ///
    /// The text or an override has problems; the error holds them all.
    pub fn parse(name: &str, text: &str, overrides: &[String]) -> Result<Config, ConfigError> {
        Config::read(name, text, overrides, |_| ())
    }

    /// Reads a configuration that this program or an earlier version wrote. Keys that have been
    /// removed since then are allowed if they have their default.
    ///
    /// # Errors
    ///
    /// As for [`Config::parse`].
    pub fn parse_stored(
        name: &str,
        text: &str,
        overrides: &[String],
    ) -> Result<Config, ConfigError> {
        Config::read(name, text, overrides, removed::drop_removed_defaults)
    }

    /// Reads a text. `prepare` changes its entries before the overrides are read.
    fn read(
        name: &str,
        text: &str,
        overrides: &[String],
        prepare: fn(&mut Entries<'_>),
    ) -> Result<Config, ConfigError> {
        let is_section = |path: &str| sections::SECTIONS.contains(&path);
        let mut entries = Entries::default();
        entries.read_file(name, text, is_section);
        prepare(&mut entries);
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
    /// A whole number exceeds 2^63 - 1. No configuration that was read holds such a number.
    pub fn resolved(&self) -> String {
        toml::to_string(self).expect("a configuration is TOML")
    }

    /// [`Config::resolved`] with a comment above each key: its meaning and the allowed values.
    pub fn explained(&self) -> String {
        reference::explain(&self.resolved())
    }
}

/// Whether a file is the stored configuration of a run directory or an exported net's folder.
fn is_stored(path: &Path) -> bool {
    let is_in_run = || path.parent().is_some_and(|dir| run_dir::is_run(dir).unwrap_or(false));
    let is_beside_net = || path.with_file_name(checkpoint::NET).is_file();
    path.file_name().is_some_and(|name| name == run_dir::CONFIG) && (is_in_run() || is_beside_net())
}

/// All keys, in the order of the sections.
pub fn keys() -> Vec<Key> {
    let mut reader = Reader::new(Entries::default());
    sections::read(&mut reader);
    reader.finish().0
}

#[cfg(test)]
mod hostile_tests;
#[cfg(test)]
mod tests;
