//! The text form that player specifications share: `kind`, or `kind:subject,key=value,...`.
//!
//! A value, or the subject, that holds commas or quotes stands between double quotes, where a
//! backslash makes the next character literal. This file knows the form only; which kinds and
//! keys there are, `spec.rs` says.

use std::fmt;

use crate::game::notation::plain_excerpt;

/// What is wrong with a player specification.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SpecError {
    /// No kind of player has this name.
    #[error("unknown player `{found}`; allowed: {allowed}")]
    UnknownKind {
        /// The name as given.
        found: Box<str>,
        /// The kinds that exist.
        allowed: Box<str>,
    },
    /// The kind has no key of this name.
    #[error("player `{kind}` has no key `{key}`; allowed: {allowed}")]
    UnknownKey {
        /// The kind of player.
        kind: &'static str,
        /// The key as given.
        key: Box<str>,
        /// The keys that the kind has.
        allowed: Box<str>,
    },
    /// A key is given twice.
    #[error("key `{key}` of player `{kind}` is given twice")]
    Repeated {
        /// The kind of player.
        kind: &'static str,
        /// The key.
        key: Box<str>,
    },
    /// A key's value is not one that it can have.
    #[error("`{value}` is no value for key `{key}` of player `{kind}`; allowed: {allowed}")]
    BadValue {
        /// The kind of player.
        kind: &'static str,
        /// The key.
        key: &'static str,
        /// The value as given.
        value: Box<str>,
        /// What it may be.
        allowed: Box<str>,
    },
    /// Two keys exclude each other.
    #[error("keys `{first}` and `{second}` of player `{kind}` exclude each other")]
    Exclusive {
        /// The kind of player.
        kind: &'static str,
        /// A key.
        first: &'static str,
        /// The other.
        second: &'static str,
    },
    /// A key's value would make no difference.
    #[error("key `{key}` of player `{kind}` does nothing {beside}")]
    Unread {
        /// The kind of player.
        kind: &'static str,
        /// The key.
        key: &'static str,
        /// Beside which other keys.
        beside: &'static str,
    },
    /// Something that the kind cannot do without is not given.
    #[error("player `{kind}` needs {wanted}, such as `{example}`")]
    Missing {
        /// The kind of player.
        kind: &'static str,
        /// What is missing.
        wanted: &'static str,
        /// A full specification.
        example: &'static str,
    },
    /// A piece is no `key=value`.
    #[error(
        "`{text}` in a specification of player `{kind}` is no `key=value`; allowed keys: {allowed}"
    )]
    NoPair {
        /// The kind of player.
        kind: &'static str,
        /// The piece.
        text: Box<str>,
        /// The keys that the kind has.
        allowed: Box<str>,
    },
    /// A double quote is never closed.
    #[error("a double quote is not closed in `{text}`")]
    OpenQuote {
        /// The specification.
        text: Box<str>,
    },
}

/// Characters of a wrong text that an error shows.
pub(super) const SHOWN: usize = 60;

/// A specification taken apart. Keys are taken out one by one; what is left over is unknown.
pub(super) struct Fields {
    kind: &'static str,
    keys: &'static [&'static str],
    subject: Option<String>,
    pairs: Vec<(String, String)>,
}

impl Fields {
    /// Takes apart what follows the colon of a specification of `kind`, whose keys are `keys`.
    pub fn parse(
        kind: &'static str,
        keys: &'static [&'static str],
        takes_subject: bool,
        text: &str,
    ) -> Result<Fields, SpecError> {
        let mut fields = Fields { kind, keys, subject: None, pairs: Vec::new() };
        for (place, piece) in split(text)?.into_iter().enumerate() {
            let pair = piece.split_once('=').map(|(key, value)| (key.trim(), value.trim()));
            match pair.filter(|(key, _)| is_key(key)) {
                Some((key, _)) if !keys.contains(&key) => {
                    let (key, allowed) = (plain_excerpt(key, SHOWN), list(keys).into());
                    return Err(SpecError::UnknownKey { kind, key, allowed });
                }
                Some((key, _)) if fields.pairs.iter().any(|(other, _)| other == key) => {
                    return Err(SpecError::Repeated { kind, key: key.into() });
                }
                Some((key, value)) => fields.pairs.push((key.into(), unquote(value))),
                None if place == 0 && takes_subject => fields.subject = Some(unquote(piece.trim())),
                None => {
                    let (text, allowed) = (plain_excerpt(piece.trim(), SHOWN), list(keys).into());
                    return Err(SpecError::NoPair { kind, text, allowed });
                }
            }
        }
        Ok(fields)
    }

    /// The subject, which `example` shows.
    pub fn subject(
        &mut self,
        wanted: &'static str,
        example: &'static str,
    ) -> Result<String, SpecError> {
        let missing = SpecError::Missing { kind: self.kind, wanted, example };
        self.subject.take().filter(|subject| !subject.is_empty()).ok_or(missing)
    }

    /// The value of a key, read by `read`; `None` if the key is not given.
    pub fn take<T>(
        &mut self,
        key: &'static str,
        allowed: &str,
        read: impl FnOnce(&str) -> Option<T>,
    ) -> Result<Option<T>, SpecError> {
        debug_assert!(self.keys.contains(&key), "`{key}` is missing in the list of keys");
        let Some(place) = self.pairs.iter().position(|(other, _)| other == key) else {
            return Ok(None);
        };
        let (_, value) = self.pairs.swap_remove(place);
        let bad = || SpecError::BadValue {
            kind: self.kind,
            key,
            value: plain_excerpt(&value, SHOWN),
            allowed: allowed.into(),
        };
        read(&value).map(Some).ok_or_else(bad)
    }

    /// What to say of a key that nothing would read.
    pub fn unread(&self, key: &'static str, beside: &'static str) -> SpecError {
        SpecError::Unread { kind: self.kind, key, beside }
    }

    /// A whole number within a range.
    pub fn whole<T>(
        &mut self,
        key: &'static str,
        range: std::ops::RangeInclusive<T>,
    ) -> Result<Option<T>, SpecError>
    where
        T: std::str::FromStr + PartialOrd + fmt::Display,
    {
        let allowed = format!("a whole number from {} to {}", range.start(), range.end());
        self.take(key, &allowed, |value| value.parse().ok().filter(|number| range.contains(number)))
    }

    /// A number within a range.
    pub fn number(
        &mut self,
        key: &'static str,
        range: std::ops::RangeInclusive<f32>,
    ) -> Result<Option<f32>, SpecError> {
        let allowed = format!("a number from {} to {}", range.start(), range.end());
        self.take(key, &allowed, |value| value.parse().ok().filter(|number| range.contains(number)))
    }

    /// One of the names of an enumeration.
    pub fn choice<T: std::str::FromStr>(
        &mut self,
        key: &'static str,
        names: impl Iterator<Item = &'static str>,
    ) -> Result<Option<T>, SpecError> {
        let allowed = names.collect::<Vec<_>>().join(", ");
        self.take(key, &allowed, |value| value.parse().ok())
    }
}

/// Names separated by commas; what a list without any says.
pub(super) fn list(names: &[&str]) -> String {
    if names.is_empty() { "none".into() } else { names.join(", ") }
}

fn is_key(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// The pieces between commas that stand outside quotes; none of an empty text.
fn split(text: &str) -> Result<Vec<&str>, SpecError> {
    let (mut pieces, mut start) = (Vec::new(), 0);
    let (mut quoted, mut escaped) = (false, false);
    for (index, character) in text.char_indices() {
        match character {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            ',' if !quoted => {
                pieces.push(&text[start..index]);
                start = index + 1;
            }
            _ => {}
        }
    }
    if quoted {
        return Err(SpecError::OpenQuote { text: plain_excerpt(text, SHOWN) });
    }
    if !text[start..].trim().is_empty() || !pieces.is_empty() {
        pieces.push(&text[start..]);
    }
    Ok(pieces)
}

fn unquote(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let (mut quoted, mut escaped) = (false, false);
    for character in text.chars() {
        match character {
            _ if std::mem::take(&mut escaped) => plain.push(character),
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            _ => plain.push(character),
        }
    }
    plain
}

/// A value as it is written in a specification: between quotes where it must be.
pub(super) struct Quoted<'a>(pub &'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plain = !self.0.is_empty() && !self.0.contains([',', '"', ' ', '=', '\\']);
        if plain {
            return f.write_str(self.0);
        }
        write!(f, "\"{}\"", self.0.replace('\\', "\\\\").replace('"', "\\\""))
    }
}
