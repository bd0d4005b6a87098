//! The parameters of Multi-ProbCut: they predict the score of a deep search from a shallow one.
//!
//! Buro (1997) models the deep score of a position as a linear function of its shallow score plus
//! a normally distributed error. The coefficients and the error depend on the evaluator, so each
//! evaluator has its own.

use std::borrow::Cow;

/// The linear regression of deep scores on shallow ones: `deep = slope * shallow + offset`, with
/// standard deviation `sigma`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Regression {
    /// The stage of the game: the number of empty squares divided by
    /// [`ProbCut::empties_per_stage`], rounded down.
    pub stage: u32,
    /// Plies of the shallow search; 0 is the evaluation without search.
    pub shallow: u32,
    /// Plies of the deep search.
    pub deep: u32,
    /// The factor of the shallow score.
    pub slope: f32,
    /// The constant term, in units of the evaluation.
    pub offset: f32,
    /// The standard deviation of the deep score from its prediction, in units of the evaluation.
    pub sigma: f32,
}

/// All regressions of one evaluator.
#[derive(Clone, PartialEq, Debug)]
pub struct ProbCut {
    /// How many numbers of empty squares share one stage.
    pub empties_per_stage: u32,
    /// The regressions, in any order. Those of a stage and a deep depth are used only if one of
    /// them has `shallow` 0.
    pub regressions: Cow<'static, [Regression]>,
}
