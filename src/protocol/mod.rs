//! Line protocols by which other programs, and people, play against this program's players.
//!
//! A server reads lines from anybody: none of them, however wrong or long, ends it or makes it
//! answer anything but an error. A thread reads ahead, so that a line can end a search.

pub mod gtp;
mod inbox;
pub mod lines;
pub mod nboard;
pub mod session;
