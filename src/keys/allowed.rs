//! The allowed values of a key, and their description in words.

use std::fmt;
use std::ops::RangeInclusive;
use std::time::Duration;

use super::Value;

/// The largest whole number that a configuration can hold.
pub const MAX_WHOLE: u64 = i64::MAX as u64;

/// The allowed values of a key.
#[derive(Clone, Copy, Debug)]
pub enum Allowed {
    /// `true` or `false`.
    Flag,
    /// A whole number within a range.
    Whole {
        /// The smallest one.
        least: u64,
        /// The largest one.
        most: u64,
    },
    /// An even number within a range.
    Even {
        /// The smallest one.
        least: u64,
        /// The largest one.
        most: u64,
    },
    /// One of these whole numbers, of which there are at least two.
    OneOf(&'static [u64]),
    /// A number within bounds.
    Number(Bounds),
    /// A duration from 1 ms to a day.
    Time,
    /// One of these names.
    Names(&'static [&'static str]),
    /// A text for which `fits` returns true.
    Text {
        /// The allowed texts, in words.
        words: &'static str,
        /// Whether a text is allowed.
        fits: fn(&str) -> bool,
    },
    /// A list of texts that `check` accepts.
    Texts {
        /// The allowed lists, in words.
        words: &'static str,
        /// Returns why a text of the list is not allowed.
        check: fn(&str) -> Result<(), Box<str>>,
    },
    /// A list of pairs: a number of positions, and the value from there on. The numbers rise.
    Schedule {
        /// The allowed values of the second part of a pair.
        step: &'static Allowed,
        /// Whether there must be a pair, and the first one starts at 0.
        from_zero: bool,
        /// An example.
        example: &'static str,
    },
}

/// A whole number within a range.
pub const fn whole(least: u64, most: u64) -> Allowed {
    Allowed::Whole { least, most }
}

/// A whole number within a range.
pub const fn range(range: RangeInclusive<u32>) -> Allowed {
    whole(*range.start() as u64, *range.end() as u64)
}

/// A whole number that is not below `least`.
pub const fn at_least(least: u64) -> Allowed {
    whole(least, MAX_WHOLE)
}

/// An even number within a range.
pub const fn even(least: u64, most: u64) -> Allowed {
    Allowed::Even { least, most }
}

/// One of these whole numbers.
pub const fn one_of(numbers: &'static [u64]) -> Allowed {
    Allowed::OneOf(numbers)
}

/// A number from `low` to `high`, both included.
pub const fn within(low: f64, high: f64) -> Allowed {
    Allowed::Number(Bounds { low, low_open: false, high, high_open: false })
}

/// A number above `low`, up to `high`, which is included.
pub const fn above(low: f64, high: f64) -> Allowed {
    Allowed::Number(Bounds { low, low_open: true, high, high_open: false })
}

/// A number from `low`, which is included, to below `high`.
pub const fn below(low: f64, high: f64) -> Allowed {
    Allowed::Number(Bounds { low, low_open: false, high, high_open: true })
}

/// A text for which `fits` returns true.
pub const fn text(words: &'static str, fits: fn(&str) -> bool) -> Allowed {
    Allowed::Text { words, fits }
}

/// A list of texts that `check` accepts.
pub const fn texts(words: &'static str, check: fn(&str) -> Result<(), Box<str>>) -> Allowed {
    Allowed::Texts { words, check }
}

/// Pairs of a number of positions and a value that `step` allows.
pub const fn schedule(step: &'static Allowed, from_zero: bool, example: &'static str) -> Allowed {
    Allowed::Schedule { step, from_zero, example }
}

/// The bounds of a number.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Bounds {
    /// The lower one.
    pub low: f64,
    /// Whether the lower bound itself is excluded.
    pub low_open: bool,
    /// The upper one.
    pub high: f64,
    /// Whether the upper bound itself is excluded.
    pub high_open: bool,
}

impl Bounds {
    /// Whether a number is allowed. No bound allows `nan`.
    pub fn contain(self, number: f64) -> bool {
        let low = if self.low_open { number > self.low } else { number >= self.low };
        let high = if self.high_open { number < self.high } else { number <= self.high };
        low && high
    }

    /// The bounds for numbers in single precision.
    fn single(self) -> Bounds {
        let round = |bound: f64| f64::from(bound as f32);
        Bounds { low: round(self.low), high: round(self.high), ..self }
    }
}

impl fmt::Display for Bounds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let above = if self.low_open { "above " } else { "" };
        let below = if self.high_open { "below " } else { "" };
        write!(f, "{above}{} to {below}{}", self.low, self.high)
    }
}

/// The allowed times.
const TIMES: RangeInclusive<f64> = 0.001..=86_400.0;

impl Allowed {
    /// Whether a value is allowed.
    pub fn allows(&self, value: &Value) -> bool {
        match (self, value) {
            (Allowed::Flag, Value::Flag(_)) => true,
            (Allowed::Whole { least, most }, Value::Whole(number)) => {
                (least..=most).contains(&number)
            }
            (Allowed::Even { least, most }, Value::Whole(number)) => {
                (least..=most).contains(&number) && number % 2 == 0
            }
            (Allowed::OneOf(numbers), Value::Whole(number)) => numbers.contains(number),
            (Allowed::Number(bounds), Value::Number(number)) => bounds.contain(*number),
            (Allowed::Number(bounds), Value::Single(number)) => {
                bounds.single().contain((*number).into())
            }
            (Allowed::Time, Value::Time(time)) => TIMES.contains(&time.as_secs_f64()),
            (Allowed::Names(names), Value::Name(name)) => names.contains(name),
            (Allowed::Text { fits, .. }, Value::Text(text) | Value::Path(text)) => fits(text),
            (Allowed::Text { fits, .. }, Value::Name(name)) => fits(name),
            (Allowed::Texts { check, .. }, Value::List(list)) => {
                list.iter().all(|item| matches!(item, Value::Text(text) if check(text).is_ok()))
            }
            (Allowed::Schedule { step, from_zero, .. }, Value::List(list)) => {
                is_schedule(list, step, *from_zero)
            }
            _ => false,
        }
    }

    /// Reads a text without lists, as a player specification writes it; `None` if it is not
    /// allowed. A time is such as `100ms`, `2s` or `1.5m`.
    pub fn parse(&self, text: &str) -> Option<Value> {
        let value = match self {
            Allowed::Flag => Value::Flag(text.parse().ok()?),
            Allowed::Whole { .. } | Allowed::Even { .. } | Allowed::OneOf(_) => {
                Value::Whole(text.parse().ok()?)
            }
            Allowed::Number(_) => Value::Number(text.parse().ok()?),
            Allowed::Time => Value::Time(parse_time(text)?),
            Allowed::Names(_) => Value::Name(self.name(text)?),
            Allowed::Text { .. } => Value::Text(text.into()),
            Allowed::Texts { .. } | Allowed::Schedule { .. } => return None,
        };
        self.allows(&value).then_some(value)
    }

    /// The allowed name that equals a text.
    pub fn name(&self, text: &str) -> Option<&'static str> {
        let Allowed::Names(names) = self else { return None };
        names.iter().copied().find(|&name| name == text)
    }

    /// The description in words, with `quote` around each name.
    pub fn words(&self, quote: &str) -> String {
        let range = |kind: &str, least: u64, most: u64| match most {
            MAX_WHOLE.. => format!("{kind}, {least} or more"),
            _ => format!("{kind}, {least} to {most}"),
        };
        match *self {
            Allowed::Flag => "true or false".into(),
            Allowed::Whole { least, most } => range("a whole number", least, most),
            Allowed::Even { least, most } => range("an even number", least, most),
            Allowed::OneOf(numbers) => {
                let mut texts: Vec<String> = numbers.iter().map(u64::to_string).collect();
                let last = texts.pop().unwrap_or_default();
                format!("{} or {last}", texts.join(", "))
            }
            Allowed::Number(bounds) => format!("a number, {bounds}"),
            Allowed::Time => "a time above 0 such as 100ms, 2s or 1.5m, at most a day".into(),
            Allowed::Names(names) => {
                let quoted = names.iter().map(|name| format!("{quote}{name}{quote}"));
                quoted.collect::<Vec<_>>().join(", ")
            }
            Allowed::Text { words, .. } | Allowed::Texts { words, .. } => words.into(),
            Allowed::Schedule { step, from_zero, example } => {
                let step = step.words(quote).replacen(", ", " from ", 1);
                let step = step.trim_start_matches("a ");
                let rise = if from_zero { "rise from 0" } else { "rise" };
                format!(
                    "a list of pairs [whole number, {step}] whose first numbers {rise}, such as \
                     {example}"
                )
            }
        }
    }
}

impl fmt::Display for Allowed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words(""))
    }
}

fn is_schedule(list: &[Value], step: &Allowed, from_zero: bool) -> bool {
    let mut last = None;
    let mut fits = |pair: &Value| {
        let Value::List(pair) = pair else { return false };
        let [Value::Whole(start), value] = &pair[..] else { return false };
        let rises = last.is_none_or(|last| *start > last) && *start <= MAX_WHOLE;
        let starts = last.is_some() || !from_zero || *start == 0;
        last = Some(*start);
        rises && starts && step.allows(value)
    };
    (!from_zero || !list.is_empty()) && list.iter().all(&mut fits)
}

fn parse_time(text: &str) -> Option<Duration> {
    let units = [("ms", 0.001), ("s", 1.0), ("m", 60.0)];
    let (number, unit) =
        units.iter().find_map(|&(unit, seconds)| Some((text.strip_suffix(unit)?, seconds)))?;
    let seconds: f64 = number.trim().parse::<f64>().ok()? * unit;
    TIMES.contains(&seconds).then(|| Duration::from_millis((seconds * 1000.0).round() as u64))
}
