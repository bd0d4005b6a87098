//! The keys of configurations and player specifications, each declared once.
//!
//! The macro `keys!` declares an options struct. One line has a field's type, its default, the
//! allowed values and its meaning, which is the first paragraph of the doc comment. From these
//! lines come the struct, its `Default` and its [`Keyed`]. The readers and writers of
//! configurations and of specifications, their error messages and the reference pages know an
//! options struct only by `Keyed`.

mod allowed;
mod declare;
#[cfg(test)]
pub(crate) mod samples;
#[cfg(test)]
mod tests;
mod value;

pub use allowed::{
    Allowed, Bounds, MAX_WHOLE, above, at_least, below, even, one_of, range, schedule, text, texts,
    whole, within,
};
pub(crate) use declare::{keys, limits};
pub use value::{FieldValue, NaturalValues, Value, read_field, time_text};

/// A key: what the reference pages and error messages say about it.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// The name.
    pub name: &'static str,
    /// The lines of the field's doc comment.
    doc: &'static [&'static str],
    /// The allowed values.
    pub allowed: Allowed,
    /// For a key of a larger struct that player specifications may set too: its place among the
    /// keys of their canonical form. Ladders identify players by that form, so a new key takes the
    /// next free place.
    pub player: Option<u8>,
    /// Whether the key limits a player's thinking. A specification may have at most one such key.
    /// The canonical form always has one.
    pub is_limit: bool,
    /// For a key that a specification must have, its name in the error for a missing key.
    pub required: Option<&'static str>,
    /// When the key has no effect in a specification and is refused, such as `without KEY`.
    pub refused: Option<&'static str>,
}

impl Key {
    /// A key that may be left out.
    pub const fn new(name: &'static str, doc: &'static [&'static str], allowed: Allowed) -> Key {
        Key { name, doc, allowed, player: None, is_limit: false, required: None, refused: None }
    }

    /// Marks a key that player specifications may set too; see [`Key::player`].
    #[must_use]
    pub const fn player(self, place: u8) -> Key {
        Key { player: Some(place), ..self }
    }

    /// Marks a key that limits a player's thinking.
    #[must_use]
    pub const fn limit(self) -> Key {
        Key { is_limit: true, ..self }
    }

    /// Marks a key that a specification must have; an error calls it `wanted`.
    #[must_use]
    pub const fn required(self, wanted: &'static str) -> Key {
        Key { required: Some(wanted), ..self }
    }

    /// Marks a key that a specification may not have in some cases; `when` is such as
    /// `without KEY`.
    #[must_use]
    pub const fn refused(self, when: &'static str) -> Key {
        Key { refused: Some(when), ..self }
    }

    /// The meaning, with its unit: the first paragraph of the doc comment, on one line.
    pub fn meaning(&self) -> String {
        let lines = self.doc.iter().map(|line| line.trim());
        lines.take_while(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
    }
}

/// Options that have keys.
pub trait Keyed {
    /// The keys, in the order of their declaration.
    fn keys(&self) -> Vec<&'static Key> {
        Vec::new()
    }

    /// The value of a key; `None` if there is no such key, or if it is not set.
    fn get(&self, _name: &str) -> Option<Value> {
        None
    }

    /// Sets a key, unless there is no such key or the value is not allowed. Returns whether the key
    /// was set.
    fn set(&mut self, _name: &str, _value: Value) -> bool {
        false
    }
}

/// Whether a key of a part is also one of the whole struct.
pub(crate) fn is_shared(part: &dyn Keyed, name: &str) -> bool {
    part.keys().iter().any(|key| key.name == name && key.player.is_some())
}

/// Limits of a player's thinking of which it has one at a time, each with a key.
pub trait Limit: Sized {
    /// The keys of all limits.
    fn limit_keys() -> Vec<&'static Key>;

    /// The value of a key; `None` if this is another limit.
    fn value(&self, name: &str) -> Option<Value>;

    /// The limit that a key sets; `None` if there is no such key or the value is not allowed.
    fn read(name: &str, value: Value) -> Option<Self>;
}

impl<L: Limit> Keyed for L {
    fn keys(&self) -> Vec<&'static Key> {
        L::limit_keys()
    }

    fn get(&self, name: &str) -> Option<Value> {
        self.value(name)
    }

    fn set(&mut self, name: &str, value: Value) -> bool {
        L::read(name, value).map(|limit| *self = limit).is_some()
    }
}

impl<L: Limit> Keyed for Option<L> {
    fn keys(&self) -> Vec<&'static Key> {
        L::limit_keys()
    }

    fn get(&self, name: &str) -> Option<Value> {
        self.as_ref()?.value(name)
    }

    fn set(&mut self, name: &str, value: Value) -> bool {
        L::read(name, value).map(|limit| *self = Some(limit)).is_some()
    }
}
