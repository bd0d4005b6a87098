//! Fuzz tests of all parsers: arbitrary bytes, and valid texts and files with parts changed, cut,
//! moved and repeated.
//!
//! A test tries some thousand inputs; `scripts/fuzz.sh` tries any number. All tests look for panics
//! and endless loops, and check that memory and messages do not grow beyond the input's size. Each
//! test also checks properties of accepted inputs.

mod files;
mod games;
mod input;
mod limits;
mod protocols;
mod samples;
mod texts;
