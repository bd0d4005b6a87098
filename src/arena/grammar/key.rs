//! Descriptions of the kinds of players and their keys.
//!
//! The reader checks values with them, error messages quote them, and `docs/players.md` is
//! generated from them, so all three always agree.

use std::fmt;
use std::time::Duration;

/// A kind of player, such as `net`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SpecKind {
    /// The name that a specification begins with.
    pub name: &'static str,
    /// What the player does, after the words `This player`.
    pub description: &'static str,
    /// The subject before the keys, in words, if the kind needs one.
    pub subject: Option<&'static str>,
    /// The keys, in the order of the canonical form.
    pub keys: &'static [SpecKey],
    /// The shortest valid specification.
    pub shortest: &'static str,
    /// Specifications whose defaults differ from those of the shortest one.
    pub variants: &'static [&'static str],
    /// Specifications with their meanings; errors show the first one.
    pub examples: &'static [(&'static str, &'static str)],
}

impl SpecKind {
    /// The key of this name.
    pub fn key(&self, name: &str) -> Option<&'static SpecKey> {
        self.keys.iter().find(|key| key.name == name)
    }

    /// The names of all keys, separated by commas.
    pub(super) fn key_names(&self) -> Box<str> {
        let names: Vec<&str> = self.keys.iter().map(|key| key.name).collect();
        names.join(", ").into()
    }
}

/// A key of a kind of player.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SpecKey {
    /// The name.
    pub name: &'static str,
    /// The allowed values.
    pub allowed: AllowedValues,
    /// The meaning, with its unit.
    pub meaning: &'static str,
    /// Whether the key limits the player's thinking. A specification may have at most one such key.
    /// The canonical form always has one.
    pub is_limit: bool,
    /// For a key that must be given, its name in the error for a missing key.
    pub required: Option<&'static str>,
    /// When the key has no effect and is refused, such as `without KEY`.
    pub refused: Option<&'static str>,
}

impl SpecKey {
    /// A key that may be left out.
    pub const fn new(name: &'static str, allowed: AllowedValues, meaning: &'static str) -> SpecKey {
        SpecKey { name, allowed, meaning, is_limit: false, required: None, refused: None }
    }

    /// Marks the key as one that limits the player's thinking.
    #[must_use]
    pub const fn limit(self) -> SpecKey {
        SpecKey { is_limit: true, ..self }
    }

    /// Marks the key as one that must be given; an error calls it `wanted`.
    #[must_use]
    pub const fn required(self, wanted: &'static str) -> SpecKey {
        SpecKey { required: Some(wanted), ..self }
    }

    /// Marks the key as one that is refused in some cases; `when` is such as `without KEY`.
    #[must_use]
    pub const fn refused(self, when: &'static str) -> SpecKey {
        SpecKey { refused: Some(when), ..self }
    }
}

/// The allowed values of a key.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum AllowedValues {
    /// A whole number from the first to the second.
    Whole(u64, u64),
    /// One of these whole numbers, of which there are at least two.
    Counts(&'static [u64]),
    /// A number from the first to the second.
    Number(f32, f32),
    /// A duration from 1 ms to a day.
    Time,
    /// One of these names.
    Names(&'static [&'static str]),
    /// A text; the string describes the allowed ones.
    Text(&'static str),
}

impl AllowedValues {
    /// Reads a text as a whole number; `None` if it is not allowed.
    pub(super) fn whole(self, text: &str) -> Option<u64> {
        let number: u64 = text.parse().ok()?;
        let fits = match self {
            AllowedValues::Whole(least, most) => (least..=most).contains(&number),
            AllowedValues::Counts(counts) => counts.contains(&number),
            _ => false,
        };
        fits.then_some(number)
    }

    /// Reads a text as a number; `None` if it is not allowed.
    pub(super) fn number(self, text: &str) -> Option<f32> {
        let AllowedValues::Number(least, most) = self else { return None };
        text.parse::<f32>().ok().filter(|number| (least..=most).contains(number))
    }

    /// Reads a text as a name; `None` if it is not allowed.
    pub(super) fn name(self, text: &str) -> Option<&'static str> {
        let AllowedValues::Names(names) = self else { return None };
        names.iter().copied().find(|&name| name == text)
    }

    /// Reads a text such as `100ms`, `2s` or `1.5m` as a duration; `None` if it is not allowed.
    pub(super) fn duration(self, text: &str) -> Option<Duration> {
        if self != AllowedValues::Time {
            return None;
        }
        let units = [("ms", 0.001), ("s", 1.0), ("m", 60.0)];
        let (number, unit) =
            units.iter().find_map(|&(unit, seconds)| Some((text.strip_suffix(unit)?, seconds)))?;
        let seconds: f64 = number.trim().parse::<f64>().ok()? * unit;
        let fits = (0.001..=86_400.0).contains(&seconds);
        fits.then(|| Duration::from_millis((seconds * 1000.0).round() as u64))
    }
}

impl fmt::Display for AllowedValues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            AllowedValues::Whole(least, u64::MAX) => write!(f, "a whole number from {least}"),
            AllowedValues::Whole(least, most) => write!(f, "a whole number from {least} to {most}"),
            AllowedValues::Counts(counts) => {
                let texts: Vec<String> = counts.iter().map(u64::to_string).collect();
                let (last, first) = texts.split_last().ok_or(fmt::Error)?;
                write!(f, "{} or {last}", first.join(", "))
            }
            AllowedValues::Number(least, most) => write!(f, "a number from {least} to {most}"),
            AllowedValues::Time => {
                f.write_str("a time above 0 such as 100ms, 2s or 1.5m, at most a day")
            }
            AllowedValues::Names(names) => f.write_str(&names.join(", ")),
            AllowedValues::Text(words) => f.write_str(words),
        }
    }
}
