//! Training runs as a user starts and resumes them.

mod begin;
mod common;
mod rated;
mod resume;
