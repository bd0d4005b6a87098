//! Training runs as a user starts and resumes them.

mod begin;
mod common;
mod faults;
mod rated;
mod resume;
