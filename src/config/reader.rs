//! Takes values out of the entries one by one, checks each, and sets the keys of a configuration.
//!
//! A reader never stops at a problem: it notes the problem and keeps the default.

use std::collections::{BTreeMap, BTreeSet};

use super::Config;
use super::entries::{Entries, Entry, MAX_NAME_CHARS, Source};
use super::method::{Method, in_words};
use super::problem::{Fault, MAX_PROBLEMS, Place, Problem};
use super::removed::removed;
use super::sections::{SECTIONS, join, keys, set_dependent_defaults};
use super::unknown::unknown;
use super::value::{not_allowed, read_value};
use crate::game::notation::excerpt;
use crate::keys::{Key, Keyed};

/// Reads the values of all keys; see the module's documentation.
pub(super) struct Reader<'a> {
    /// The entries that were not read yet.
    entries: BTreeMap<String, Entry<'a>>,
    /// The keys that were given, with the source and offset of each value.
    given: BTreeMap<String, (Source<'a>, usize)>,
    /// The keys whose value was refused.
    refused: BTreeSet<String>,
    problems: Vec<Problem>,
    /// How many further problems there are, which are only counted.
    more: usize,
}

impl<'a> Reader<'a> {
    pub fn new(entries: Entries<'a>) -> Reader<'a> {
        let given = entries.values.iter();
        let place = |entry: &Entry<'a>| (entry.source.clone(), entry.value.span().start);
        let given = given.map(|(path, entry)| (path.clone(), place(entry))).collect();
        Reader {
            entries: entries.values,
            given,
            refused: BTreeSet::new(),
            problems: entries.problems,
            more: entries.more,
        }
    }

    /// Reads all keys. A key without an entry has its default.
    pub fn config(&mut self) -> Config {
        let mut config = Config::default();
        for section in SECTIONS {
            for key in (section.options)(&config).keys() {
                let path = join(section.name, key.name);
                self.read(&path, key, (section.options_mut)(&mut config));
                set_dependent_defaults(&mut config, &path);
            }
        }
        config
    }

    fn read(&mut self, path: &str, key: &Key, options: &mut dyn Keyed) {
        let Some(entry) = self.entries.remove(path) else { return };
        let set = read_value(&entry.value, &key.allowed).and_then(|value| {
            let is_set = options.set(key.name, value);
            is_set.then_some(()).ok_or_else(|| not_allowed(&entry.value, &key.allowed))
        });
        if let Err((span, fault)) = set {
            self.refused.insert(path.into());
            self.problems.push(Problem {
                place: entry.source.place(span.start),
                key: path.into(),
                value: entry.source.written(span),
                fault,
            });
        }
    }

    /// Reports each given key that the method of the run does not have.
    pub fn refuse_keys_of_other_methods(&mut self, method: Method) {
        if self.refused.contains("method") {
            return;
        }
        for key in keys() {
            let path = key.path();
            let Some((source, offset)) = self.given.get(&path) else { continue };
            if !key.methods.contains(&method) {
                self.problems.push(Problem {
                    place: source.place(*offset),
                    key: path.into(),
                    value: "".into(),
                    fault: Fault::OtherMethod { methods: in_words(key.methods).into(), method },
                });
            }
        }
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

    /// Ends the reading; entries that were not read become unknown keys. Returns the first problems
    /// sorted by place, and the number of the other problems.
    pub fn finish(mut self) -> (Vec<Problem>, usize) {
        let mut unread: Vec<_> = std::mem::take(&mut self.entries).into_iter().collect();
        let known = if unread.is_empty() { Vec::new() } else { keys() };
        unread.sort_by_key(|(_, entry)| entry.order());
        self.more += unread.len().saturating_sub(MAX_PROBLEMS);
        for (path, entry) in unread.into_iter().take(MAX_PROBLEMS) {
            let key = excerpt(&path, MAX_NAME_CHARS);
            let fault = match removed(&path) {
                Some(gone) => Fault::Removed { instead: gone.instead },
                None => unknown(&known, &key),
            };
            self.problems.push(Problem { place: entry.key_place(), key, value: "".into(), fault });
        }
        self.problems.sort_by_key(|problem| order(&problem.place));
        self.more += self.problems.len().saturating_sub(MAX_PROBLEMS);
        self.problems.truncate(MAX_PROBLEMS);
        (self.problems, self.more)
    }
}

/// The order of problems: files before overrides, then by line and column.
fn order(place: &Place) -> (bool, usize, usize) {
    match place {
        Place::File { line, column, .. } => (false, *line, *column),
        Place::Set { .. } => (true, 0, 0),
    }
}
