//! Errors of requests, as JSON: what is wrong, in which field, and what is allowed.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use super::game::Game;
use crate::game::notation::plain_excerpt;

/// A message shows at most this many characters of a text from outside.
const SHOWN: usize = 2_000;

/// Why a request has no answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct ApiError {
    #[serde(skip)]
    status: StatusCode,
    error: Box<str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    field: Option<Box<str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    allowed: Option<Box<str>>,
    /// The part of a game before its wrong move.
    #[serde(skip_serializing_if = "Option::is_none")]
    game: Option<Box<Game>>,
}

impl ApiError {
    /// An error with this status.
    pub fn new(status: StatusCode, error: impl AsRef<str>) -> ApiError {
        let error = plain_excerpt(error.as_ref(), SHOWN);
        ApiError { status, error, field: None, allowed: None, game: None }
    }

    /// The request is wrong (400).
    pub fn bad(error: impl AsRef<str>) -> ApiError {
        ApiError::new(StatusCode::BAD_REQUEST, error)
    }

    /// There is no such thing (404).
    pub fn missing(error: impl AsRef<str>) -> ApiError {
        ApiError::new(StatusCode::NOT_FOUND, error)
    }

    /// The server has too much to do (503).
    pub fn busy(error: impl AsRef<str>) -> ApiError {
        ApiError::new(StatusCode::SERVICE_UNAVAILABLE, error)
    }

    /// Something on this machine failed (500).
    pub fn failed(error: impl AsRef<str>) -> ApiError {
        ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, error)
    }

    /// The same error with the field that is wrong.
    pub fn at(self, field: &str) -> ApiError {
        ApiError { field: Some(plain_excerpt(field, SHOWN)), ..self }
    }

    /// The same error with what is allowed.
    pub fn allowing(self, allowed: impl AsRef<str>) -> ApiError {
        ApiError { allowed: Some(plain_excerpt(allowed.as_ref(), SHOWN)), ..self }
    }

    /// The same error with the part of a game that is right.
    pub fn after(self, game: Option<Box<Game>>) -> ApiError {
        ApiError { game, ..self }
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        (self.status, Json(self)).into_response()
    }
}
