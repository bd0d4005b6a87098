//! Matches between players of any kind, and their ratings.

pub mod control;
pub mod external;
pub mod fu_xu;
mod grammar;
pub mod labels;
pub mod ladder;
pub mod loss;
pub mod matches;
pub mod nets;
pub mod open;
pub mod openings;
mod options;
pub mod player;
pub mod players;
pub mod rating;
pub mod report;
pub mod run_curve;
pub mod shipped;
pub mod spec;
pub mod standings;
pub mod svg;
pub mod tally;

pub use grammar::SpecError;
pub use options::Options;
