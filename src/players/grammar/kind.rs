//! Descriptions of the kinds of players, and the keys that all kinds have.
//!
//! The reader, error messages and `docs/players.md` all use them.

use super::PlayerName;
use crate::keys::{Allowed, Key, Keyed, text, within};

/// The key that names a player.
pub(in crate::players) const NAME: Key = Key::new(
    "name",
    &["The player's name in tables, pictures and messages; it has no other effect."],
    ALLOWED_NAMES,
);

const ALLOWED_NAMES: Allowed = text(PlayerName::ALLOWED, |text| PlayerName::new(text).is_some());

/// The key that gives a player an opening book.
pub(in crate::players) const BOOK: Key = Key::new(
    "book",
    &["An opening book (`outflank book`). In its positions the player moves without a search, as \
         long as the book knows how good the best move is."],
    text("the path of a book", |text| !text.is_empty()),
);

/// The key that lets a player choose among the moves of its book.
pub(in crate::players) const BOOK_LOSS: Key = Key::new(
    "book_loss",
    &["The player chooses at random among the moves of its book that lose at most this many \
         discs, by the book's values. With 0 it chooses among equally good moves only."],
    within(0.0, 64.0),
)
.refused("without `book`");

/// The keys that every player may have. They are not part of the options of its kind.
pub(in crate::players) const COMMON: [&Key; 3] = [&NAME, &BOOK, &BOOK_LOSS];

/// A kind of player, such as `net`.
#[derive(Clone, Copy, Debug)]
pub struct SpecKind {
    /// The name that a specification begins with.
    pub name: &'static str,
    /// What the player does, after the words `This player`.
    pub description: &'static str,
    /// The subject before the keys, in words, if the kind needs one.
    pub subject: Option<&'static str>,
    /// The kind's default options, which have its keys besides the common ones.
    pub options: fn() -> Box<dyn Keyed>,
    /// The shortest valid specification.
    pub shortest: &'static str,
    /// Specifications whose defaults differ from those of the shortest one.
    pub variants: &'static [&'static str],
    /// Specifications with their meanings; errors show the first one.
    pub examples: &'static [(&'static str, &'static str)],
}

impl SpecKind {
    /// The keys: `name`, then in the order of the canonical form those that limit the thinking,
    /// those of the search, the others, and the other common ones.
    pub fn keys(&self) -> Vec<&'static Key> {
        let mut own = (self.options)().keys();
        own.sort_by_key(|key| (!key.is_limit, key.player.unwrap_or(u8::MAX)));
        let [first, last @ ..] = COMMON;
        [&[first][..], &own, &last].concat()
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
