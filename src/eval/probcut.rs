//! What an evaluator's shallow searches tell about its deep ones: the parameters of Multi-ProbCut.
//!
//! M. Buro, "Experiments with Multi-ProbCut and a new high-quality evaluation function for
//! Othello" (1997): the score of a deep search is a linear function of the score of a shallow
//! one of the same position, and an error with a normal distribution. Both are properties of an
//! evaluation, so an evaluator carries them.

use std::borrow::Cow;

/// What a shallow search tells about a deep one: `slope * score + offset`, give or take `sigma`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Forecast {
    /// The stage of the game that it holds for: the number of empty squares, divided by
    /// [`ProbCut::empties_per_stage`] and rounded down.
    pub stage: u32,
    /// Plies of the shallow search; 0 is the evaluation alone.
    pub shallow: u32,
    /// Plies of the deep search.
    pub deep: u32,
    /// What a unit of the shallow score counts.
    pub slope: f32,
    /// What is added, in units of the evaluation.
    pub offset: f32,
    /// The standard deviation of the deep score from what was foretold, in the same units.
    pub sigma: f32,
}

/// The forecasts of an evaluator.
#[derive(Clone, PartialEq, Debug)]
pub struct ProbCut {
    /// How many numbers of empty squares make a stage.
    pub empties_per_stage: u32,
    /// In any order. What is foretold for a stage and a deep depth must include what the
    /// evaluation alone foretells, or nothing is.
    pub forecasts: Cow<'static, [Forecast]>,
}
