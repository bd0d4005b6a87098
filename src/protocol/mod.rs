//! Line protocols by which other programs, and people, play against this program's players.
//!
//! A server reads lines from untrusted peers. A wrong or long line gets an error as its answer and
//! never ends the server. A thread reads ahead, so that a line can end a search.

pub mod gtp;
mod inbox;
pub mod json;
pub mod lines;
pub mod nboard;
pub mod session;
