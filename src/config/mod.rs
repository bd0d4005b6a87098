//! The configuration of a run: a TOML file plus `--set key=value`, checked as a whole.
//!
//! All problems are reported at once, each with its place, key, value and the allowed values.
//! [`Config::resolved`] writes the configuration with every default filled in. Reading it gives the
//! same configuration again. [`crate::keys`] says where the keys are declared.

mod checks;
mod entries;
mod fixed;
mod method;
mod problem;
mod reader;
mod reference;
mod removed;
mod sections;
mod unknown;
mod value;

use std::path::Path;

pub use fixed::{FIXED_KEYS, FixedKey};
pub use method::Method;
pub use problem::{ConfigError, Fault, Place, Problem};
pub use reference::reference;
pub use sections::{ConfigKey, keys};

use crate::arena;
use crate::game::{Goal, Shape};
use crate::keys::{Allowed, Value, keys, text, whole, within};
use crate::net::{TowerOptions, inference};
use crate::search::mcts;
use crate::store::checkpoint::{self, Retention};
use crate::store::{self, limits, run_dir};
use crate::train::learners::{endgame, ntuple, stages, td};
use crate::train::{learner, replay, selfplay};
use entries::Entries;
use reader::Reader;
use sections::SECTIONS;
use value::as_toml;

keys! {
    /// When a run ends by itself: at the first limit that it reaches.
    #[derive(Clone, Debug, PartialEq)]
    pub struct RunLimits {
        /// Minutes of training, all starts of the run added up; 0 means no limit.
        key minutes: f64 = 60.0, within(0.0, 1e6);

        /// Games of self-play; 0 means no limit.
        key games: u64 = 0;

        /// Positions of self-play; 0 means no limit.
        ///
        /// The opening moves do not count.
        key positions: u64 = 0;

        /// Training steps; 0 means no limit.
        key steps: u64 = 0;
    }
}

keys! {
    /// The configuration of a run.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Config {
        /// How the run learns: from self-play with tree search (`alphazero`), or stage by stage:
        /// from minimax scores (`stages`), by temporal differences (`td`), from solved endings
        /// (`endgame`), or n-tuples and small nets from their own games (`ntuple`).
        ///
        /// Each method has sections of its own.
        key method: Method = Method::default();

        /// The board.
        key board: Shape = Shape::Square8;

        /// Which disc count wins: the most (Othello) or the fewest (reversed Othello).
        key goal: Goal = Goal::Most;

        /// The random seed.
        key seed: u64 = 1;

        /// The device that trains and plays: `auto` takes a GPU if there is one.
        key device: String = "auto".into(), DEVICE;

        /// Threads that compute the scores of a stage; 0 means one for each processor core. The
        /// model does not depend on it.
        key threads: u32 = 0, whole(0, 1024);

        /// When the run ends by itself.
        field limits: RunLimits = RunLimits::default();
        /// The net's architecture.
        field net: TowerOptions = TowerOptions::default();
        /// The settings of the tree search.
        field search: mcts::Options = mcts::Options::default();
        /// The settings of self-play.
        field selfplay: selfplay::Options = selfplay::Options::default();
        /// The code that computes the net in play.
        field inference: inference::Options = inference::Options::default();
        /// Which positions training samples, and how often.
        field replay: replay::Options = replay::Options::default();
        /// The settings of training.
        field learner: learner::Options = learner::Options::default();
        /// When checkpoints are written and which ones are kept.
        field checkpoint: Retention = Retention::default();
        /// The matches that measure a run's strength.
        field evaluation: arena::Options = arena::Options::default();
        /// The settings of training stage by stage from minimax scores.
        field stages: stages::Options = stages::Options::default();
        /// The settings of training stage by stage by temporal differences.
        field td: td::Options = td::Options::default();
        /// The settings of training by patterns from solved endings.
        field endgame: endgame::Options = endgame::Options::default();
        /// The settings of training n-tuples and one-hot nets.
        field ntuple: ntuple::Options = ntuple::Options::default();
    }
}

const DEVICE: Allowed =
    text("\"auto\", \"cpu\", \"cuda\", \"cuda:N\" (N is a GPU's number)", is_device);

fn is_device(name: &str) -> bool {
    let number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    matches!(name, "auto" | "cpu" | "cuda") || name.strip_prefix("cuda:").is_some_and(number)
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
        let is_section = |path: &str| SECTIONS.iter().any(|section| section.name == path);
        let mut entries = Entries::default();
        entries.read_file(name, text, is_section);
        prepare(&mut entries);
        for argument in overrides {
            entries.read_override(argument, is_section);
        }
        let mut reader = Reader::new(entries);
        let config = reader.config();
        reader.refuse_keys_of_other_methods(config.method);
        checks::contradictions(&mut reader, &config);
        match reader.finish() {
            (problems, _) if problems.is_empty() => Ok(config),
            (problems, more) => Err(ConfigError::Problems { problems, more }),
        }
    }

    /// The value of a key, given with its section; `None` if there is no such key.
    fn value(&self, path: &str) -> Option<Value> {
        let (section, name) = path.split_once('.').unwrap_or(("", path));
        let section = SECTIONS.iter().find(|other| other.name == section)?;
        (section.options)(self).get(name)
    }

    /// The configuration as TOML with every key of its method. It reads back as the same
    /// configuration, if the keys of other methods have their defaults.
    pub fn resolved(&self) -> String {
        let mut text = String::new();
        for section in SECTIONS {
            if !section.methods.contains(&self.method) {
                continue;
            }
            if !section.name.is_empty() {
                text += &format!("\n[{}]\n", section.name);
            }
            let options = (section.options)(self);
            for key in options.keys() {
                let value = options.get(key.name);
                if let Some(value) =
                    value.filter(|_| section.owners(key.name).contains(&self.method))
                {
                    text += &format!("{} = {}\n", key.name, as_toml(&value));
                }
            }
        }
        text
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

#[cfg(test)]
mod hostile_tests;
#[cfg(test)]
mod keys_tests;
#[cfg(test)]
mod tests;
