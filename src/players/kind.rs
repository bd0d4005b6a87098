//! What each kind of player provides. The kinds are in `kinds/mod.rs`, one line each.

use std::fmt;
use std::path::PathBuf;

use super::contestant::{OpenError, Origin, PlayerContext};
use super::grammar::{Fields, Quoted, SpecError, SpecKind, written};
use super::player::Player;
use crate::game::Geometry;
use crate::keys::{Allowed, Keyed, whole};

/// The allowed values of the key `threads`.
pub(super) const THREADS: Allowed = whole(1, 256);

/// The path of a player with a net, in words.
pub(super) const CHECKPOINT: &str = "a net file, a checkpoint or a run directory";

/// The largest default of `threads` with a time limit. The strength with more threads has not been
/// measured.
pub(super) const MAX_DEFAULT_THREADS: usize = 4;

/// The default of `threads` with a time limit, on a machine that has `cores` for the player.
pub(super) fn default_threads(cores: usize) -> usize {
    cores.clamp(1, MAX_DEFAULT_THREADS)
}

/// The options of one player.
pub(super) trait PlayerOptions: Keyed {
    /// The options of the same player with the default of every key that may be left out.
    fn with_defaults(&self) -> Box<dyn PlayerOptions>;

    /// Whether the player always plays the same move after the same moves, in every match and with
    /// any seed.
    fn is_deterministic(&self) -> bool;

    /// The net file, checkpoint or run directory of a player with a net.
    fn checkpoint(&self) -> Option<&PathBuf> {
        None
    }

    /// Positions with at most this many empty squares are solved exactly.
    fn solve_empties(&self) -> u32 {
        0
    }

    /// Fills in the defaults that depend on the number of cores for the player.
    fn set_cores(&mut self, _cores: usize) {}

    /// The value of a key as a specification writes it; `None` if it is not set or has no effect.
    fn value(&self, key: &str) -> Option<String> {
        self.get(key).map(|value| written(&value))
    }
}

/// A kind of player, as the type of its options.
pub(super) trait Kind: PlayerOptions + Sized {
    /// Its name and description.
    const ROW: SpecKind;

    /// Reads the options of a specification. Here are the defaults and refusals that depend on
    /// other keys.
    fn read(fields: &mut Fields) -> Result<Self, SpecError>;

    /// Reads what the player needs, such as its net.
    fn open<G: Geometry>(self, context: &PlayerContext) -> Result<Opened<Self, G>, OpenError>;
}

/// Makes a player from its name and a seed.
pub(super) type MakePlayer<G> =
    dyn Fn(String, u64) -> Result<Box<dyn Player<G>>, OpenError> + Send + Sync;

/// A kind of player with all that it needs to play.
pub(super) struct Opened<K, G: Geometry> {
    /// Its options; paths of models have the fingerprints of what was found there.
    pub options: K,
    /// Where its net comes from, if it has one.
    pub origin: Option<Origin>,
    /// Makes the player.
    pub make: Box<MakePlayer<G>>,
}

impl<K, G: Geometry> Opened<K, G> {
    /// A player without a net.
    pub fn new<P: Player<G> + 'static>(
        options: K,
        make: impl Fn(String, u64) -> Result<P, OpenError> + Send + Sync + 'static,
    ) -> Opened<K, G> {
        let make = move |name, seed| Ok(Box::new(make(name, seed)?) as Box<dyn Player<G>>);
        Opened { options, origin: None, make: Box::new(make) }
    }

    /// The same with the options of another type.
    pub fn map<T>(self, map: impl FnOnce(K) -> T) -> Opened<T, G> {
        Opened { options: map(self.options), origin: self.origin, make: self.make }
    }
}

/// Writes a specification in its canonical form.
pub(super) fn write_canonical(
    f: &mut fmt::Formatter<'_>,
    row: &SpecKind,
    options: &dyn PlayerOptions,
) -> fmt::Result {
    f.write_str(row.name)?;
    let mut separator = ':';
    if let Some(path) = options.checkpoint() {
        write!(f, ":{}", Quoted(&path.to_string_lossy()))?;
        separator = ',';
    }
    let default = options.with_defaults();
    for key in row.keys() {
        let Some(own) = options.value(key.name) else { continue };
        let is_always_written = key.is_limit || key.required.is_some();
        if is_always_written || default.value(key.name).as_ref() != Some(&own) {
            write!(f, "{separator}{}={own}", key.name)?;
            separator = ',';
        }
    }
    Ok(())
}
