//! Matches between players of any kind, and their ratings.

pub mod close;
pub mod fu_xu;
pub mod ladder;
pub mod loss;
pub mod matches;
pub mod openings;
mod options;
pub mod people;
pub mod rating;
pub mod report;
pub mod run_curve;
pub mod standings;
pub mod svg;
pub mod tally;
pub mod times;

pub use options::Options;
