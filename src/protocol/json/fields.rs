//! The fields of a JSON object, each taken once and checked.

use std::ops::RangeInclusive;

use serde_json::{Map, Value};

use super::problem::Problem;
use crate::game::notation::plain_excerpt;

/// Characters of a wrong value that an error shows.
const SHOWN: usize = 60;
/// The most characters of an `id`.
const LONGEST_ID: usize = 200;

/// What is left of an object.
pub(super) struct Fields(Map<String, Value>);

impl Fields {
    /// The object of a line.
    pub fn read(line: &str) -> Result<Fields, Problem> {
        match serde_json::from_str(line) {
            Ok(Value::Object(fields)) => Ok(Fields(fields)),
            Ok(other) => Err(Problem {
                error: "the line is JSON, but not an object".into(),
                value: Some(shown(&other)),
                allowed: Some("an object such as {\"id\":\"1\",\"moves\":\"f5d6\"}".into()),
                ..Problem::default()
            }),
            Err(error) => Err(Problem {
                error: format!("the line is not JSON: {error}").into(),
                value: Some(plain_excerpt(line, SHOWN)),
                allowed: Some("one JSON object a line".into()),
                ..Problem::default()
            }),
        }
    }

    /// The `id`, which every object must have.
    pub fn id(&mut self) -> Result<String, Problem> {
        const ALLOWED: &str = "a text of 1 to 200 characters";
        match self.0.remove("id") {
            Some(Value::String(id)) if (1..=LONGEST_ID).contains(&id.chars().count()) => Ok(id),
            Some(other) => Err(wrong("id", &other, ALLOWED)),
            None => Err(Problem {
                error: "there is no `id`".into(),
                field: Some("id".into()),
                allowed: Some(ALLOWED.into()),
                ..Problem::default()
            }),
        }
    }

    pub fn take(&mut self, field: &str) -> Option<Value> {
        self.0.remove(field)
    }

    pub fn text(&mut self, field: &str, allowed: &str) -> Result<Option<String>, Problem> {
        match self.take(field) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(wrong(field, &other, allowed)),
        }
    }

    /// A text that is read by `read`, which gives the reason why it cannot.
    pub fn parsed<T>(
        &mut self,
        field: &str,
        allowed: &str,
        read: impl FnOnce(&str) -> Result<T, String>,
    ) -> Result<Option<T>, Problem> {
        let Some(text) = self.text(field, allowed)? else { return Ok(None) };
        read(&text).map(Some).map_err(|reason| because(field, &text, allowed, &reason))
    }

    /// A whole number within a range.
    pub fn whole(
        &mut self,
        field: &str,
        range: RangeInclusive<i64>,
    ) -> Result<Option<i64>, Problem> {
        let Some(value) = self.take(field) else { return Ok(None) };
        let allowed = format!("a whole number from {} to {}", range.start(), range.end());
        let number = value.as_i64().filter(|number| range.contains(number));
        number.map(Some).ok_or_else(|| wrong(field, &value, &allowed))
    }

    /// A number within a range.
    pub fn number(
        &mut self,
        field: &str,
        range: RangeInclusive<f64>,
    ) -> Result<Option<f64>, Problem> {
        let Some(value) = self.take(field) else { return Ok(None) };
        let allowed = format!("a number from {} to {}", range.start(), range.end());
        let number = value.as_f64().filter(|number| range.contains(number));
        number.map(Some).ok_or_else(|| wrong(field, &value, &allowed))
    }

    /// Refuses fields that nothing has taken.
    pub fn end(self, allowed: &[&str]) -> Result<(), Problem> {
        let Some((field, value)) = self.0.into_iter().next() else { return Ok(()) };
        let field = plain_excerpt(&field, SHOWN);
        Err(Problem {
            error: format!("there is no field `{field}`").into(),
            field: Some(field),
            value: Some(shown(&value)),
            allowed: Some(allowed.join(", ").into()),
            ..Problem::default()
        })
    }
}

/// A value that is not allowed.
pub(super) fn wrong(field: &str, value: &Value, allowed: &str) -> Problem {
    let value = shown(value);
    Problem {
        error: format!("`{field}` cannot be `{value}`; allowed: {allowed}").into(),
        field: Some(field.into()),
        value: Some(value),
        allowed: Some(allowed.into()),
        ..Problem::default()
    }
}

/// A text that is not allowed, with the reason.
pub(super) fn because(field: &str, text: &str, allowed: &str, reason: &str) -> Problem {
    Problem {
        error: format!("`{field}`: {reason}").into(),
        field: Some(field.into()),
        value: Some(plain_excerpt(text, SHOWN)),
        allowed: Some(allowed.into()),
        ..Problem::default()
    }
}

/// The beginning of a value; a text without its quotes.
fn shown(value: &Value) -> Box<str> {
    match value {
        Value::String(text) => plain_excerpt(text, SHOWN),
        other => plain_excerpt(&other.to_string(), SHOWN),
    }
}
