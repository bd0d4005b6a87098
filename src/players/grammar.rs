//! The syntax of player specifications: `kind`, or `kind:subject,key=value,...`.
//!
//! A value or subject with commas or quotes needs double quotes around it. Between them a backslash
//! makes the next character literal. This file knows the syntax only; `kinds/mod.rs` has the kinds,
//! whose options have the keys.

mod kind;
mod name;

use std::fmt;

pub use kind::SpecKind;
pub(super) use kind::{BOOK, BOOK_LOSS, COMMON, NAME};
pub use name::PlayerName;
pub(super) use name::is_printable;

use crate::game::notation::plain_excerpt;
use crate::keys::{Key, Keyed, Value, time_text};

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
    /// A key's value is not allowed.
    #[error("`{value}` is not allowed for key `{key}` of player `{kind}`; allowed: {allowed}")]
    BadValue {
        /// The kind of player.
        kind: &'static str,
        /// The key.
        key: &'static str,
        /// The value as given.
        value: Box<str>,
        /// The allowed values, in words.
        allowed: Box<str>,
    },
    /// Two keys exclude each other.
    #[error("keys `{first}` and `{second}` of player `{kind}` exclude each other")]
    Exclusive {
        /// The kind of player.
        kind: &'static str,
        /// One of the keys.
        first: &'static str,
        /// The other key.
        second: &'static str,
    },
    /// A key has no effect because of the other keys.
    #[error("key `{key}` of player `{kind}` has no effect {when}")]
    NoEffect {
        /// The kind of player.
        kind: &'static str,
        /// The key.
        key: &'static str,
        /// When it has none, such as `without KEY`.
        when: &'static str,
    },
    /// The subject or a key that the kind needs is missing.
    #[error("player `{kind}` needs {wanted}, such as `{example}`")]
    Missing {
        /// The kind of player.
        kind: &'static str,
        /// What is missing.
        wanted: &'static str,
        /// A full specification.
        example: &'static str,
    },
    /// A part of the specification is not `key=value`.
    #[error(
        "`{text}` in a specification of player `{kind}` is not `key=value`; allowed keys: {allowed}"
    )]
    NoPair {
        /// The kind of player.
        kind: &'static str,
        /// The part.
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

/// An error shows at most this many characters of a wrong text.
pub(super) const SHOWN: usize = 60;

/// The subject and keys of a specification.
pub(super) struct Fields {
    kind: &'static SpecKind,
    subject: Option<String>,
    /// The given keys with their values.
    pairs: Vec<(&'static Key, String)>,
}

impl Fields {
    /// Parses the text behind the colon of a specification of `kind`.
    pub fn parse(kind: &'static SpecKind, text: &str) -> Result<Fields, SpecError> {
        let mut fields = Fields { kind, subject: None, pairs: Vec::new() };
        for (place, piece) in split(text)?.into_iter().enumerate() {
            let pair = piece.split_once('=').map(|(key, value)| (key.trim(), value.trim()));
            match pair.filter(|(key, _)| is_key(key)) {
                Some((key, value)) => fields.add(key, value)?,
                None if place == 0 && kind.subject.is_some() => {
                    fields.subject = Some(unquote(piece.trim()));
                }
                None => {
                    let text = plain_excerpt(piece.trim(), SHOWN);
                    let (kind, allowed) = (kind.name, kind.key_names());
                    return Err(SpecError::NoPair { kind, text, allowed });
                }
            }
        }
        let keys = kind.keys();
        let mut limits = keys.iter().filter(|key| key.is_limit && fields.has(key.name));
        if let (Some(first), Some(second)) = (limits.next(), limits.next()) {
            let (first, second) = (first.name, second.name);
            return Err(SpecError::Exclusive { kind: kind.name, first, second });
        }
        Ok(fields)
    }

    fn add(&mut self, name: &str, value: &str) -> Result<(), SpecError> {
        let kind = self.kind;
        let Some(key) = kind.key(name) else {
            let (key, allowed) = (plain_excerpt(name, SHOWN), kind.key_names());
            return Err(SpecError::UnknownKey { kind: kind.name, key, allowed });
        };
        if self.pairs.iter().any(|(other, _)| other.name == name) {
            return Err(SpecError::Repeated { kind: kind.name, key: name.into() });
        }
        self.pairs.push((key, unquote(value)));
        Ok(())
    }

    /// The subject of a kind that has one.
    pub fn subject(&mut self) -> Result<String, SpecError> {
        let subject = self.subject.take().filter(|subject| !subject.is_empty());
        subject.ok_or_else(|| self.missing(self.kind.subject))
    }

    fn missing(&self, wanted: Option<&'static str>) -> SpecError {
        let example = self.kind.examples.first().map_or(self.kind.shortest, |example| example.0);
        SpecError::Missing { kind: self.kind.name, wanted: wanted.unwrap_or_default(), example }
    }

    /// Whether a key is given.
    pub fn has(&self, key: &str) -> bool {
        self.pairs.iter().any(|(given, _)| given.name == key)
    }

    /// The value of a common key, if it is given.
    pub fn common(&self, wanted: &Key) -> Result<Option<Value>, SpecError> {
        let given = self.pairs.iter().find(|(key, _)| key.name == wanted.name);
        let Some((key, text)) = given else { return Ok(None) };
        match key.allowed.parse(text) {
            Some(value) => Ok(Some(value)),
            None => Err(self.bad_value(key, text)),
        }
    }

    /// Sets the given keys that limit the player's thinking.
    pub fn read_limits(&self, options: &mut dyn Keyed) -> Result<(), SpecError> {
        self.read(options, |key| key.is_limit)
    }

    /// Sets the other given keys. Refuses the specification if a required key is missing.
    pub fn read_others(&self, options: &mut dyn Keyed) -> Result<(), SpecError> {
        self.read(options, |key| !key.is_limit)?;
        let missing = |key: &&Key| key.required.is_some() && !self.has(key.name);
        match self.kind.keys().into_iter().find(missing) {
            Some(key) => Err(self.missing(key.required)),
            None => Ok(()),
        }
    }

    fn read(&self, options: &mut dyn Keyed, wanted: fn(&Key) -> bool) -> Result<(), SpecError> {
        for (key, text) in &self.pairs {
            if COMMON.iter().any(|common| common.name == key.name) || !wanted(key) {
                continue;
            }
            let value = key.allowed.parse(text);
            if !value.is_some_and(|value| options.set(key.name, value)) {
                return Err(self.bad_value(key, text));
            }
        }
        Ok(())
    }

    fn bad_value(&self, key: &Key, value: &str) -> SpecError {
        SpecError::BadValue {
            kind: self.kind.name,
            key: key.name,
            value: plain_excerpt(value, SHOWN),
            allowed: key.allowed.to_string().into(),
        }
    }

    /// Refuses a key that is given but has no effect because of the other keys.
    pub fn refuse(&self, name: &str, has_no_effect: bool) -> Result<(), SpecError> {
        let key = self.pairs.iter().map(|(key, _)| key).find(|key| key.name == name);
        match key.filter(|_| has_no_effect) {
            Some(key) => Err(SpecError::NoEffect {
                kind: self.kind.name,
                key: key.name,
                when: key.refused.unwrap_or_default(),
            }),
            None => Ok(()),
        }
    }
}

fn is_key(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Splits a text at commas outside quotes. An empty text has no pieces.
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

/// The text without its quotes and escapes.
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

/// A value as a specification writes it: with quotes if it needs them.
pub(super) struct Quoted<'a>(pub &'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plain = !self.0.is_empty() && !self.0.contains([',', '"', ' ', '=', '\\']);
        if plain {
            return f.write_str(self.0);
        }
        f.write_str(&in_quotes(self.0))
    }
}

/// A key's value as a specification writes it. Texts always have quotes, names never, and paths if
/// they need them.
pub(super) fn written(value: &Value) -> String {
    match value {
        Value::Flag(flag) => flag.to_string(),
        Value::Whole(number) => number.to_string(),
        Value::Number(number) => number.to_string(),
        Value::Single(number) => number.to_string(),
        Value::Time(time) => time_text(*time),
        Value::Name(name) => (*name).into(),
        Value::Text(text) => in_quotes(text),
        Value::Path(path) => Quoted(path).to_string(),
        Value::List(list) => in_quotes(&list.iter().map(written).collect::<Vec<_>>().join(", ")),
    }
}

fn in_quotes(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
