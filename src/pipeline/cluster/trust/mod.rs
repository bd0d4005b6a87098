//! Decides which games of other machines count.
//!
//! A run may get self-play games from workers on machines that it does not control. A game that is
//! damaged or forged would be trained on, so each one passes these checks:
//!
//! | module | check | games |
//! |---|---|---|
//! | `rules` | the record is one that self-play of this run can produce | all |
//! | `exact` | scores that are said to be exact are solved again | a random share |
//! | `replay` | the game is played again from its net and its number | a random share |
//!
//! `ledger` has the standing of each worker. A worker that fails a check is not listened to any
//! more, and its games of the last hour are set aside.
//!
//! Nothing here uses a network, a file or a clock: callers pass in what the checks need.

pub mod exact;
pub mod ledger;
mod refusal;
pub mod replay;
pub mod rules;

pub use exact::ExactChecker;
pub use ledger::Ledger;
pub use refusal::Refusal;
pub use replay::Replayer;
pub use rules::{Checked, Facts, check};

#[cfg(test)]
mod fixtures;
#[cfg(test)]
mod forged_searches;
#[cfg(test)]
mod forged_tests;
#[cfg(test)]
mod honest_tests;
