//! Why a query cannot be answered.

use serde::Serialize;

/// An error as a line of JSON. It names the query, the field, its value and what is allowed, as far
/// as they are known.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, thiserror::Error)]
#[error("{error}")]
pub struct Problem {
    /// The query, if its `id` could be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<Box<str>>,
    /// The ply, if a position of the query cannot be analysed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn: Option<usize>,
    /// What is wrong.
    pub error: Box<str>,
    /// The field that is wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<Box<str>>,
    /// The beginning of its value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Box<str>>,
    /// The values that are allowed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allowed: Option<Box<str>>,
}

impl Problem {
    /// The same problem of the query with this `id`.
    #[must_use]
    pub fn of(self, id: Option<&str>) -> Problem {
        Problem { id: id.map(Box::from), ..self }
    }
}
