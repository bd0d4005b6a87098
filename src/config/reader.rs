//! Takes values out of the entries one by one, checks each, and collects descriptions of the keys.
//!
//! A reader never stops at a problem: it notes the problem and uses the default. From no entries
//! it reads the defaults and the list of all keys. The reference page is generated from that list,
//! so it always agrees with the program.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::ops::RangeInclusive;

use serde::Serialize;
use toml::Spanned;
use toml::de::DeValue;

use super::entries::{Entries, Entry, MAX_NAME_CHARS, Source};
use super::problem::{Fault, MAX_PROBLEMS, Place, Problem, nearest};
use super::removed::removed;
use super::unknown::unknown;
use crate::arena::spec::PlayerSpec;
use crate::game::notation::excerpt;

/// A key, as the reference page shows it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Key {
    /// The section, empty at the top level.
    pub section: &'static str,
    /// The name within the section.
    pub name: &'static str,
    /// The meaning, with its unit.
    pub meaning: &'static str,
    /// The allowed values, in words.
    pub allowed: String,
    /// The default, as TOML.
    pub default: String,
}

impl Key {
    /// The key with its section.
    pub fn path(&self) -> String {
        join(self.section, self.name)
    }
}

pub(super) fn join(section: &str, name: &str) -> String {
    if section.is_empty() { name.to_string() } else { format!("{section}.{name}") }
}

/// The range of a number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    low: f64,
    low_open: bool,
    high: f64,
    high_open: bool,
}

impl Bounds {
    /// From `low` to `high`, both included.
    pub const fn within(low: f64, high: f64) -> Bounds {
        Bounds { low, low_open: false, high, high_open: false }
    }

    /// Above `low` to `high`, which is included.
    pub const fn above(low: f64, high: f64) -> Bounds {
        Bounds { low_open: true, ..Bounds::within(low, high) }
    }

    /// From `low`, which is included, to below `high`.
    pub const fn below(low: f64, high: f64) -> Bounds {
        Bounds { high_open: true, ..Bounds::within(low, high) }
    }

    fn contains(self, value: f64) -> bool {
        let low = if self.low_open { value > self.low } else { value >= self.low };
        let high = if self.high_open { value < self.high } else { value <= self.high };
        low && high
    }
}

impl Display for Bounds {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let above = if self.low_open { "above " } else { "" };
        let below = if self.high_open { "below " } else { "" };
        write!(f, "a number, {above}{} to {below}{}", self.low, self.high)
    }
}

/// The part of a value that is wrong, as a range of bytes in its source, and the fault.
type Refusal = (std::ops::Range<usize>, Fault);
type Value<'a> = Spanned<DeValue<'a>>;
/// A key's name and meaning.
type Name = (&'static str, &'static str);

/// Reads the values of all keys; see the module's documentation.
pub(super) struct Reader<'a> {
    /// The entries that were not read yet.
    entries: BTreeMap<String, Entry<'a>>,
    section: &'static str,
    /// The keys that were given, with the source and offset of each value.
    given: BTreeMap<String, (Source<'a>, usize)>,
    /// The keys whose value was refused.
    refused: BTreeSet<String>,
    problems: Vec<Problem>,
    /// How many further problems there are, which are only counted.
    more: usize,
    keys: Vec<Key>,
}

impl<'a> Reader<'a> {
    pub fn new(entries: Entries<'a>) -> Reader<'a> {
        let given = entries.values.iter();
        let place = |entry: &Entry<'a>| (entry.source.clone(), entry.value.span().start);
        let given = given.map(|(path, entry)| (path.clone(), place(entry))).collect();
        Reader {
            entries: entries.values,
            section: "",
            given,
            refused: BTreeSet::new(),
            problems: entries.problems,
            more: entries.more,
            keys: Vec::new(),
        }
    }

    /// Starts a section: the keys that are read next belong to it.
    pub fn section(&mut self, section: &'static str) {
        self.section = section;
    }

    fn take<T: Serialize>(
        &mut self,
        (name, meaning): Name,
        default: T,
        allowed: String,
        read: impl FnOnce(&Value<'a>) -> Result<T, Refusal>,
    ) -> T {
        let (section, path) = (self.section, join(self.section, name));
        self.keys.push(Key { section, name, meaning, allowed, default: as_toml(&default) });
        let Some(entry) = self.entries.remove(&path) else { return default };
        match read(&entry.value) {
            Ok(value) => value,
            Err((span, fault)) => {
                self.refused.insert(path.clone());
                self.problems.push(Problem {
                    place: entry.source.place(span.start),
                    key: path.into(),
                    value: entry.source.written(span),
                    fault,
                });
                default
            }
        }
    }

    /// `true` or `false`.
    pub fn flag(&mut self, name: Name, default: bool) -> bool {
        let allowed = "true or false";
        self.take(name, default, allowed.into(), |value| {
            value.get_ref().as_bool().ok_or_else(|| wrong_type(value, allowed))
        })
    }

    /// A whole number.
    pub fn whole<T>(&mut self, name: Name, default: T, range: RangeInclusive<T>) -> T
    where
        T: Copy + Serialize + Display + TryFrom<i128> + PartialOrd,
    {
        let allowed = whole_text(&range);
        self.take(name, default, allowed.clone(), |value| read_whole(value, &range, &allowed))
    }

    /// An even whole number.
    pub fn even(&mut self, name: Name, default: u32, range: RangeInclusive<u32>) -> u32 {
        let allowed = format!("an even number, {} to {}", range.start(), range.end());
        self.take(name, default, allowed.clone(), |value| {
            let number = read_whole(value, &range, &allowed)?;
            if number % 2 == 0 { Ok(number) } else { Err(not_allowed(value, &allowed)) }
        })
    }

    /// A number.
    pub fn number(&mut self, name: Name, default: f64, bounds: Bounds) -> f64 {
        let allowed = bounds.to_string();
        self.take(name, default, allowed.clone(), |value| read_number(value, bounds, &allowed))
    }

    /// A number in single precision.
    pub fn single(&mut self, name: Name, default: f32, bounds: Bounds) -> f32 {
        let allowed = bounds.to_string();
        self.take(name, default, allowed.clone(), |value| {
            let number = read_number(value, bounds, &allowed)? as f32;
            // Rounding may reach an excluded bound.
            if bounds.contains(number.into()) {
                Ok(number)
            } else {
                Err(not_allowed(value, &allowed))
            }
        })
    }

    /// One of the names of `all` values.
    pub fn choice<T: Copy + PartialEq>(
        &mut self,
        name: Name,
        default: T,
        all: &[T],
        name_of: fn(T) -> &'static str,
    ) -> T {
        let names: Vec<&str> = all.iter().map(|&choice| name_of(choice)).collect();
        let allowed = names.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ");
        let chosen = self.take(name, name_of(default).to_string(), allowed.clone(), |value| {
            let found = value.get_ref().as_str().ok_or_else(|| wrong_type(value, &allowed))?;
            if names.contains(&found) {
                return Ok(found.to_string());
            }
            let suggestion = nearest(found, names.iter().copied()).map(Box::from);
            Err((value.span(), Fault::Value { suggestion, allowed: allowed.as_str().into() }))
        });
        all.iter().copied().find(|&choice| name_of(choice) == chosen).unwrap_or(default)
    }

    /// A string for which `fits` returns true.
    pub fn word(
        &mut self,
        name: Name,
        default: String,
        allowed: &str,
        fits: fn(&str) -> bool,
    ) -> String {
        self.take(name, default, allowed.to_string(), |value| {
            let found = value.get_ref().as_str().ok_or_else(|| wrong_type(value, allowed))?;
            if fits(found) { Ok(found.to_string()) } else { Err(not_allowed(value, allowed)) }
        })
    }

    /// A list of player specifications.
    pub fn players(&mut self, name: Name, default: Vec<String>) -> Vec<String> {
        let allowed = "a list of players such as \"random\" or \"alphabeta:depth=2\"";
        self.take(name, default, allowed.into(), |value| {
            let list = value.get_ref().as_array().ok_or_else(|| wrong_type(value, allowed))?;
            let read = |value: &Value<'a>| {
                let spec = value.get_ref().as_str().ok_or_else(|| wrong_type(value, allowed))?;
                match spec.parse::<PlayerSpec>() {
                    Ok(_) => Ok(spec.to_string()),
                    Err(error) => Err((value.span(), Fault::Player(error))),
                }
            };
            list.iter().map(read).collect()
        })
    }

    /// A schedule: pairs of a number of positions and the value from there on, sorted by positions.
    /// With `from_zero` there is at least one pair, and the first starts at 0. `read_step` reads
    /// the second part of a pair.
    pub fn schedule<T: Copy + Serialize>(
        &mut self,
        name: Name,
        default: Vec<(u64, T)>,
        allowed: String,
        from_zero: bool,
        read_step: impl Fn(&Value<'a>, &str) -> Result<T, Refusal>,
    ) -> Vec<(u64, T)> {
        self.take(name, default, allowed.clone(), |value| {
            let list = value.get_ref().as_array().ok_or_else(|| wrong_type(value, &allowed))?;
            let mut pairs: Vec<(u64, T)> = Vec::new();
            for item in list.iter() {
                let pair = item.get_ref().as_array().filter(|pair| pair.len() == 2);
                let pair = pair.ok_or_else(|| wrong_type(item, &allowed))?;
                let least = pairs.last().map_or(0, |&(last, _)| last + 1);
                let most = if from_zero && pairs.is_empty() { 0 } else { MAX_WHOLE };
                let positions = read_whole(&pair[0], &(least..=most), &allowed)?;
                pairs.push((positions, read_step(&pair[1], &allowed)?));
            }
            if from_zero && pairs.is_empty() {
                Err(not_allowed(value, &allowed))
            } else {
                Ok(pairs)
            }
        })
    }

    /// Reports that the values of two keys contradict each other, unless one of them was refused.
    /// The problem's place is that of the first key, or of the second if only that one was given.
    pub fn contradiction(
        &mut self,
        (key, value): (&'static str, String),
        (other, other_value): (&'static str, String),
        why: &'static str,
    ) {
        if self.refused.contains(key) || self.refused.contains(other) {
            return;
        }
        let given = self.given.get(key).or_else(|| self.given.get(other));
        let Some((source, offset)) = given else { return };
        self.problems.push(Problem {
            place: source.place(*offset),
            key: key.into(),
            value: value.into(),
            fault: Fault::Contradiction { other, other_value: other_value.into(), why },
        });
    }

    /// Ends the reading; entries that were not read become unknown keys. Returns the keys that were
    /// read, the first problems sorted by place, and the number of the other problems.
    pub fn finish(mut self) -> (Vec<Key>, Vec<Problem>, usize) {
        let mut unread: Vec<_> = std::mem::take(&mut self.entries).into_iter().collect();
        unread.sort_by_key(|(_, entry)| entry.order());
        self.more += unread.len().saturating_sub(MAX_PROBLEMS);
        for (path, entry) in unread.into_iter().take(MAX_PROBLEMS) {
            let key = excerpt(&path, MAX_NAME_CHARS);
            let fault = match removed(&path) {
                Some(gone) => Fault::Removed { instead: gone.instead },
                None => unknown(&self.keys, &key),
            };
            self.problems.push(Problem { place: entry.key_place(), key, value: "".into(), fault });
        }
        self.problems.sort_by_key(|problem| order(&problem.place));
        self.more += self.problems.len().saturating_sub(MAX_PROBLEMS);
        self.problems.truncate(MAX_PROBLEMS);
        (self.keys, self.problems, self.more)
    }
}

/// The order of problems: files before overrides, then by line and column.
fn order(place: &Place) -> (bool, usize, usize) {
    match place {
        Place::File { line, column, .. } => (false, *line, *column),
        Place::Set { .. } => (true, 0, 0),
    }
}

/// The largest whole number that a configuration can hold.
pub(super) const MAX_WHOLE: u64 = i64::MAX as u64;

/// The allowed values of a whole number in words.
pub(super) fn whole_text<T: Copy + Display>(range: &RangeInclusive<T>) -> String {
    let most = range.end().to_string();
    if most == MAX_WHOLE.to_string() {
        format!("a whole number, {} or more", range.start())
    } else {
        format!("a whole number, {} to {most}", range.start())
    }
}

/// A value as TOML writes it behind a key.
pub(super) fn as_toml(value: &impl Serialize) -> String {
    let mut text = String::new();
    // This fails only for a value that TOML cannot express, and no key has such a value.
    let _ = value.serialize(toml::ser::ValueSerializer::new(&mut text));
    text
}

fn wrong_type(value: &Value<'_>, allowed: &str) -> Refusal {
    let found = match value.get_ref() {
        DeValue::String(_) => "a string",
        DeValue::Integer(_) => "a whole number",
        DeValue::Float(_) => "a fractional number",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    };
    (value.span(), Fault::Type { found, allowed: allowed.into() })
}

fn not_allowed(value: &Value<'_>, allowed: &str) -> Refusal {
    (value.span(), Fault::Value { suggestion: None, allowed: allowed.into() })
}

pub(super) fn read_whole<T: TryFrom<i128> + PartialOrd>(
    value: &Value<'_>,
    range: &RangeInclusive<T>,
    allowed: &str,
) -> Result<T, Refusal> {
    let number = value.get_ref().as_integer().ok_or_else(|| wrong_type(value, allowed))?;
    i128::from_str_radix(number.as_str(), number.radix())
        .ok()
        .and_then(|number| T::try_from(number).ok())
        .filter(|number| range.contains(number))
        .ok_or_else(|| not_allowed(value, allowed))
}

pub(super) fn read_number(
    value: &Value<'_>,
    bounds: Bounds,
    allowed: &str,
) -> Result<f64, Refusal> {
    let text = match value.get_ref() {
        DeValue::Float(number) => number.as_str(),
        DeValue::Integer(number) if number.radix() == 10 => number.as_str(),
        _ => return Err(wrong_type(value, allowed)),
    };
    text.parse::<f64>()
        .ok()
        .filter(|&number| number.is_finite() && bounds.contains(number))
        .ok_or_else(|| not_allowed(value, allowed))
}
