//! The name that a user gives a player with `name=`, for tables and pictures.

use std::fmt;

/// A user's name for a player: short and printable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PlayerName(String);

impl PlayerName {
    /// The most characters of a name.
    pub const LONGEST: usize = 40;
    /// The allowed names, in words.
    pub const ALLOWED: &str = "1 to 40 printable characters, without blanks at either end";

    /// The text as a name; `None` if it is not allowed.
    pub fn new(text: &str) -> Option<PlayerName> {
        let length = text.chars().count();
        let fits = (1..=PlayerName::LONGEST).contains(&length) && text.trim() == text;
        (fits && text.chars().all(is_printable)).then(|| PlayerName(text.into()))
    }
}

impl fmt::Display for PlayerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Whether a character can be shown: it is not a control character and not one of Unicode's
/// invisible characters that change the layout of the text around them.
pub(in crate::players) fn is_printable(letter: char) -> bool {
    let is_layout = matches!(
        letter,
        '\u{ad}'
            | '\u{61c}'
            | '\u{180e}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e007f}'
    );
    !letter.is_control() && !is_layout
}
