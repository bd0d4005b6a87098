//! Splits a configuration's text into entries: each key with its value and place, not yet checked.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::problem::{Fault, MAX_PROBLEMS, Place, Problem};
use crate::game::notation::excerpt;

/// Characters of a key, or of an argument of `--set`, that a problem shows.
pub(super) const MAX_NAME_CHARS: usize = 200;

/// The text that a value comes from.
#[derive(Clone, Debug)]
pub(super) enum Source<'a> {
    File { name: Arc<str>, text: &'a str },
    Set { argument: Arc<str>, text: &'a str },
}

impl<'a> Source<'a> {
    /// The place of the byte at `offset`.
    pub fn place(&self, offset: usize) -> Place {
        match self {
            Source::Set { argument, .. } => Place::Set { argument: argument.clone() },
            Source::File { name, text } => {
                let before = text.get(..offset).unwrap_or(text);
                let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
                Place::File {
                    name: name.clone(),
                    line: before.matches('\n').count() + 1,
                    column: before[line_start..].chars().count() + 1,
                }
            }
        }
    }

    /// The text in `span` on one line, shortened to 60 characters.
    pub fn written(&self, span: Range<usize>) -> Box<str> {
        const LONGEST: usize = 60;
        let (Source::File { text, .. } | Source::Set { text, .. }) = self;
        // Each word has at least one character, so more words than this are cut off anyway.
        let words = text.get(span).unwrap_or_default().split_whitespace().take(LONGEST + 1);
        excerpt(&words.collect::<Vec<_>>().join(" "), LONGEST)
    }
}

/// A value with its source.
#[derive(Clone, Debug)]
pub(super) struct Entry<'a> {
    pub source: Source<'a>,
    /// The offset at which the key begins.
    pub key: usize,
    pub value: Spanned<DeValue<'a>>,
}

impl Entry<'_> {
    /// The place of the key.
    pub fn key_place(&self) -> Place {
        self.source.place(self.key)
    }

    /// A sort key: files before overrides, then by offset.
    pub fn order(&self) -> (bool, usize) {
        match self.source {
            Source::File { .. } => (false, self.key),
            Source::Set { .. } => (true, 0),
        }
    }
}

/// All values by their dotted paths, such as `search.simulations`.
#[derive(Debug, Default)]
pub(super) struct Entries<'a> {
    pub values: BTreeMap<String, Entry<'a>>,
    pub problems: Vec<Problem>,
    /// How many further problems there are, which are only counted.
    pub more: usize,
}

impl<'a> Entries<'a> {
    /// Reads a file's text. If it is not TOML, only its syntax errors are reported, because the
    /// rest would be guesswork.
    pub fn read_file(&mut self, name: &str, text: &'a str, is_section: impl Fn(&str) -> bool) {
        let source = Source::File { name: name.into(), text };
        let (table, errors) = DeTable::parse_recoverable(text);
        self.more = errors.len().saturating_sub(MAX_PROBLEMS);
        for error in errors.iter().take(MAX_PROBLEMS) {
            let offset = error.span().map_or(0, |span| span.start);
            self.problems.push(Problem {
                place: source.place(offset),
                key: "".into(),
                value: "".into(),
                fault: Fault::Syntax {
                    message: excerpt(error.message().trim_end(), MAX_NAME_CHARS),
                },
            });
        }
        if errors.is_empty() {
            self.add_table("", table.into_inner(), &source, &is_section);
        }
    }

    /// Reads an argument of `--set`; its value replaces an earlier one of the same key.
    pub fn read_override(&mut self, argument: &'a str, is_section: impl Fn(&str) -> bool) {
        let shared: Arc<str> = excerpt(argument, MAX_NAME_CHARS).into();
        let Some((key, text)) = argument.split_once('=') else {
            return self.problems.push(Problem {
                place: Place::Set { argument: shared },
                key: "".into(),
                value: "".into(),
                fault: Fault::NoPair,
            });
        };
        let (key, text) = (key.trim(), text.trim());
        let source = Source::Set { argument: shared, text };
        // A text that is not a TOML value is a string without quotes, such as a board's name.
        let value = DeValue::parse(text)
            .unwrap_or_else(|_| Spanned::new(0..text.len(), DeValue::String(text.into())));
        self.add(key.to_string(), 0, value, &source, &is_section);
    }

    fn add_table(
        &mut self,
        prefix: &str,
        table: DeTable<'a>,
        source: &Source<'a>,
        is_section: &impl Fn(&str) -> bool,
    ) {
        for (key, value) in table {
            let path = match prefix {
                "" => key.get_ref().to_string(),
                section => format!("{section}.{}", key.get_ref()),
            };
            self.add(path, key.span().start, value, source, is_section);
        }
    }

    fn add(
        &mut self,
        path: String,
        key: usize,
        value: Spanned<DeValue<'a>>,
        source: &Source<'a>,
        is_section: &impl Fn(&str) -> bool,
    ) {
        let span = value.span();
        match value.into_inner() {
            DeValue::Table(table) if is_section(&path) => {
                self.add_table(&path, table, source, is_section);
            }
            value => {
                let value = Spanned::new(span, value);
                self.values.insert(path, Entry { source: source.clone(), key, value });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_lines_and_characters_from_one() {
        let text = "a = 1\n# ü\n[ü]\nb = 2 # x\n";
        let source = Source::File { name: "f".into(), text };
        for (offset, line, column) in [(0, 1, 1), (4, 1, 5), (6, 2, 1), (16, 4, 1), (9999, 5, 1)] {
            assert_eq!(
                source.place(offset),
                Place::File { name: "f".into(), line, column },
                "{offset}"
            );
        }
    }

    #[test]
    fn an_override_replaces_the_value_of_the_file() {
        let mut entries = Entries::default();
        let sections = |path: &str| path == "search";
        entries.read_file("f", "[search]\na = 1\nb = 2", sections);
        entries.read_override("search.a=word", sections);
        entries.read_override("search = { b = 3 }", sections);
        entries.read_override("nonsense", sections);
        let written = |path: &str| {
            let entry = &entries.values[path];
            entry.source.written(entry.value.span())
        };
        assert_eq!((&*written("search.a"), &*written("search.b")), ("word", "3"));
        assert_eq!(entries.problems.len(), 1);
    }
}
