//! The problems of a configuration: faults and their places.

use std::fmt;
use std::sync::Arc;

use strsim::osa_distance;

use super::method::Method;
use crate::store::FileError;

/// Where a value was given.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Place {
    /// In a file.
    File {
        /// Its path as given.
        name: Arc<str>,
        /// Counted from 1.
        line: usize,
        /// In characters, counted from 1.
        column: usize,
    },
    /// On the command line, by `--set`.
    Set {
        /// The whole argument.
        argument: Arc<str>,
    },
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::File { name, line, column } => write!(f, "{name}:{line}:{column}"),
            Place::Set { argument } => write!(f, "--set {argument}"),
        }
    }
}

/// What is wrong with a value or key.
#[derive(Clone, PartialEq, Debug)]
pub enum Fault {
    /// The file is not TOML.
    Syntax {
        /// The parser's message.
        message: Box<str>,
    },
    /// An argument of `--set` is not `key=value`.
    NoPair,
    /// There is no such key or section.
    Unknown {
        /// The key that may be meant.
        suggestion: Option<Box<str>>,
        /// The keys that exist in its section.
        allowed: Box<str>,
    },
    /// The key was removed in an earlier version.
    Removed {
        /// What the program does instead, or which key to use.
        instead: &'static str,
    },
    /// The value is of another type.
    Type {
        /// Its type.
        found: &'static str,
        /// What is allowed.
        allowed: Box<str>,
    },
    /// The value is of the right type, but not allowed.
    Value {
        /// The value that may be meant.
        suggestion: Option<Box<str>>,
        /// What is allowed.
        allowed: Box<str>,
    },
    /// An item of a list is not allowed.
    Item {
        /// Why, and what is allowed.
        why: Box<str>,
    },
    /// A pair of a schedule does not follow from the pairs before it.
    Pair {
        /// What must hold.
        why: &'static str,
        /// What is allowed.
        allowed: Box<str>,
    },
    /// The key belongs to another method.
    OtherMethod {
        /// The methods that have the key, in words.
        methods: Box<str>,
        /// The method of the configuration.
        method: Method,
    },
    /// The value contradicts another key's value.
    Contradiction {
        /// The other key.
        other: &'static str,
        /// Its value.
        other_value: Box<str>,
        /// Why they contradict each other, and often what would be allowed.
        why: &'static str,
    },
}

/// One thing that is wrong with a configuration.
#[derive(Clone, PartialEq, Debug)]
pub struct Problem {
    /// The place in the file or on the command line.
    pub place: Place,
    /// The key with its section, such as `search.simulations`; empty for a syntax error.
    pub key: Box<str>,
    /// The value as given; empty if the fault is in the key.
    pub value: Box<str>,
    /// The fault.
    pub fault: Fault,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Problem { place, key, value, fault } = self;
        match fault {
            Fault::Syntax { message } => write!(f, "{place}: not TOML: {message}"),
            Fault::NoPair => write!(f, "{place}: not of the form key=value"),
            Fault::Unknown { suggestion, allowed } => {
                write!(f, "{place}: unknown key `{key}`")?;
                suggest(f, suggestion)?;
                write!(f, "; allowed: {allowed}")
            }
            Fault::Removed { instead } => {
                let fix = match place {
                    Place::File { .. } => "delete the line",
                    Place::Set { .. } => "leave it out",
                };
                write!(f, "{place}: `{key}` was removed: {instead}; {fix}")
            }
            Fault::Type { found, allowed } => {
                write!(f, "{place}: {key} = {value} is {found}; allowed: {allowed}")
            }
            Fault::Value { suggestion, allowed } => {
                write!(f, "{place}: {key} = {value} is not allowed")?;
                suggest(f, suggestion)?;
                write!(f, "; allowed: {allowed}")
            }
            Fault::Item { why } => write!(f, "{place}: {key} = {value}: {why}"),
            Fault::Pair { why, allowed } => {
                write!(f, "{place}: {key}: pair {value} is not allowed: {why}; allowed: {allowed}")
            }
            Fault::OtherMethod { methods, method } => {
                write!(
                    f,
                    "{place}: `{key}` is a key of method {methods}; here method = \"{method}\""
                )
            }
            Fault::Contradiction { other, other_value, why } => {
                write!(f, "{place}: {key} = {value} contradicts {other} = {other_value}: {why}")
            }
        }
    }
}

fn suggest(f: &mut fmt::Formatter<'_>, suggestion: &Option<Box<str>>) -> fmt::Result {
    match suggestion {
        Some(name) => write!(f, "; did you mean `{name}`?"),
        None => Ok(()),
    }
}

/// The configuration cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// The file is not text.
    #[error("{name} is not a text file: byte {offset} is not UTF-8")]
    NotText {
        /// The file.
        name: Box<str>,
        /// The offset of the first bad byte.
        offset: usize,
    },
    /// The configuration has problems.
    #[error("the configuration has {}:{}", count(problems, *more), lines(problems))]
    Problems {
        /// The first ones in the order of their places, at least one.
        problems: Vec<Problem>,
        /// How many others there are.
        more: usize,
    },
}

/// How many problems are reported; the others are only counted.
pub(super) const MAX_PROBLEMS: usize = 20;

fn count(problems: &[Problem], more: usize) -> String {
    match (problems.len(), more) {
        (1, 0) => "a problem".into(),
        (count, 0) => format!("{count} problems"),
        (count, more) => format!("{} problems, of which these are the first {count}", count + more),
    }
}

fn lines(problems: &[Problem]) -> String {
    problems.iter().map(|problem| format!("\n  {problem}")).collect()
}

/// The candidate that is most similar to `name`, if it is near enough. Allowed are as many wrong
/// letters as a third of the name's letters, but at least 1 and at most 4.
pub(super) fn nearest<'a>(
    name: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let letters = name.chars().count();
    let allowed = (letters / 3).clamp(1, 4);
    candidates
        .into_iter()
        // A comparison takes time and memory in proportion to the product of both lengths.
        .filter(|candidate| candidate.chars().count().abs_diff(letters) <= allowed)
        .map(|candidate| (osa_distance(name, candidate), candidate))
        .filter(|&(distance, _)| distance <= allowed)
        .min()
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misspellings_are_recognised() {
        let keys = ["simulations", "c_puct", "temperature", "temperature_plies", "solve_empties"];
        for (name, wanted) in [
            ("simulation", Some("simulations")),
            ("simulatoins", Some("simulations")),
            ("cpuct", Some("c_puct")),
            ("temprature_plys", Some("temperature_plies")),
            ("ünïts", None),
            ("batch", None),
            ("", None),
        ] {
            assert_eq!(nearest(name, keys), wanted, "{name}");
        }
    }
}
