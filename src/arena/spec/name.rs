//! The name that a user gives a player, for tables and pictures.

use std::fmt;
use std::str::FromStr;

/// What a user calls a player: short and printable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PlayerName(String);

impl PlayerName {
    /// The most characters of a name.
    pub const LONGEST: usize = 40;
    /// Which texts are names.
    pub const ALLOWED: &str = "1 to 40 printable characters, without blanks at either end";
}

/// Text that is no name.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{}` is no name for a player; allowed: {}", text.escape_debug(), PlayerName::ALLOWED)]
pub struct NoName {
    text: Box<str>,
}

impl FromStr for PlayerName {
    type Err = NoName;

    fn from_str(text: &str) -> Result<PlayerName, NoName> {
        let length = text.chars().count();
        let fits = (1..=PlayerName::LONGEST).contains(&length) && text.trim() == text;
        match fits && text.chars().all(is_printable) {
            true => Ok(PlayerName(text.into())),
            false => Err(NoName { text: text.into() }),
        }
    }
}

impl fmt::Display for PlayerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Whether a character shows as itself: no control or formatting character.
pub(in crate::arena) fn is_printable(letter: char) -> bool {
    matches!(letter, '\'' | '"' | '\\') || letter.escape_debug().count() == 1
}
