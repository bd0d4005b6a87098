//! Descriptions of the kinds of players.
//!
//! The reader, error messages and `docs/players.md` all use them.

use super::PlayerName;
use crate::keys::{Allowed, Key, Keyed, text};

/// The key that every player may have.
pub(in crate::players) const NAME: Key = Key::new(
    "name",
    &["The player's name in tables, pictures and messages; it has no other effect."],
    ALLOWED_NAMES,
);

const ALLOWED_NAMES: Allowed = text(PlayerName::ALLOWED, |text| PlayerName::new(text).is_some());

/// A kind of player, such as `net`.
#[derive(Clone, Copy, Debug)]
pub struct SpecKind {
    /// The name that a specification begins with.
    pub name: &'static str,
    /// What the player does, after the words `This player`.
    pub description: &'static str,
    /// The subject before the keys, in words, if the kind needs one.
    pub subject: Option<&'static str>,
    /// The kind's default options, which have its keys besides `name`.
    pub options: fn() -> Box<dyn Keyed>,
    /// The shortest valid specification.
    pub shortest: &'static str,
    /// Specifications whose defaults differ from those of the shortest one.
    pub variants: &'static [&'static str],
    /// Specifications with their meanings; errors show the first one.
    pub examples: &'static [(&'static str, &'static str)],
}

impl SpecKind {
    /// The keys, in the order of the canonical form: those that limit the thinking, those of the
    /// search, and the others.
    pub fn keys(&self) -> Vec<&'static Key> {
        let mut own = (self.options)().keys();
        own.sort_by_key(|key| (!key.is_limit, key.player.unwrap_or(u8::MAX)));
        [&[&NAME][..], &own].concat()
    }

    /// The key of this name.
    pub fn key(&self, name: &str) -> Option<&'static Key> {
        self.keys().into_iter().find(|key| key.name == name)
    }

    /// The names of all keys, separated by commas.
    pub(super) fn key_names(&self) -> Box<str> {
        let names: Vec<&str> = self.keys().iter().map(|key| key.name).collect();
        names.join(", ").into()
    }
}
