//! Analysis as lines of JSON, in the manner of KataGo's analysis engine: a query a line, and for
//! each of its positions a line with the moves, which may be preceded by lines that improve.
//!
//! [`Request::read`] reads a line, [`Desk::answer`] answers one position of a query, and [`serve`]
//! does both for many queries at a time. `docs/analysis.md` has every field.

mod answer;
mod desk;
mod fields;
mod problem;
mod query;
mod queue;
mod server;

pub use answer::{Answer, MoveAnswer, RootAnswer};
pub use desk::{Desk, DeskOptions};
pub use problem::Problem;
pub use query::{DEEPEST, Limits, MOST_NODES, MOST_SIMULATIONS, Query, Request, SECONDS, Terms};
pub use server::{Settings, serve};

#[cfg(test)]
mod tests;
