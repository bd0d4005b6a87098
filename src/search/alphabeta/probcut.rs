//! Multi-ProbCut (Buro 1997): a shallow search replaces a deep one whose result it predicts.
//!
//! The evaluator's regressions ([`crate::eval::probcut`]) predict a deep score from a shallow one.
//! At a node with a null window they give a bound for the shallow score. Beyond this bound the deep
//! score lies on one side of the window, unless the prediction is off by the configured number of
//! standard deviations. A shallow search with a null window at the bound then decides the node. One
//! node can have several such checks; the cheapest is tried first. The evaluation without a search
//! says which side to check, and decides only for searches of a few plies: now and then it is wrong by
//! far more than normal errors are. Exact iterations, open windows and the shallow searches themselves
//! use no ProbCut.

use super::worker::Worker;
use crate::eval::probcut::{ProbCut, Regression};
use crate::eval::{Evaluator, TrackedBoard};
use crate::game::{Geometry, SquareSet};

/// A node is not checked if the evaluation predicts a deep score this close to the window, as a
/// share of the margin: a check there would rarely succeed.
const UNDECIDED: f32 = 0.25;
/// The evaluation alone replaces searches to at most this depth. When it could replace all of them,
/// margins below 2.5 lost games by 40 discs and more.
const STATIC_DEEPEST: u32 = 4;

/// The error for ProbCut with an evaluator that has no parameters.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the evaluator has no ProbCut parameters for this board and goal")]
pub struct NoProbCut;

/// A shallow search that can replace a deep one.
#[derive(Clone, Copy, Debug)]
struct Check {
    /// Plies of the shallow search.
    depth: u32,
    slope: f32,
    offset: f32,
    /// The greatest tolerated error of the prediction, in units of the evaluation.
    margin: f32,
}

impl Check {
    fn new(regression: &Regression, deviations: f32) -> Check {
        let &Regression { shallow: depth, slope, offset, sigma, .. } = regression;
        Check { depth, slope, offset, margin: deviations * sigma }
    }

    /// The deep score predicted from a shallow one.
    fn predicted(&self, score: i32) -> f32 {
        self.slope * score as f32 + self.offset
    }

    /// The least shallow score that predicts a deep score of at least `beta` plus the margin.
    fn shallow_beta(&self, beta: i32) -> i32 {
        ((beta as f32 + self.margin - self.offset) / self.slope).ceil() as i32
    }

    /// The greatest shallow score that predicts a deep score of at most `alpha` minus the margin.
    fn shallow_alpha(&self, alpha: i32) -> i32 {
        ((alpha as f32 - self.margin - self.offset) / self.slope).floor() as i32
    }
}

/// The checks of all stages and depths.
pub(super) struct Checks {
    empties_per_stage: u32,
    /// One more than the greatest deep depth with checks.
    depths: u32,
    /// The checks of a stage and a deep depth, at `stage * depths + deep`, by ascending shallow
    /// depth. Either there are none, or the first one has shallow depth 0.
    table: Vec<Vec<Check>>,
}

impl Checks {
    /// The checks whose margin is this many standard deviations of the prediction.
    pub(super) fn new(parameters: &ProbCut, deviations: f32) -> Checks {
        let regressions = &parameters.regressions;
        let beyond =
            |of: fn(&Regression) -> u32| regressions.iter().map(of).max().map_or(0, |n| n + 1);
        let (stages, depths) = (beyond(|f| f.stage), beyond(|f| f.deep));
        let mut table = vec![Vec::new(); (stages * depths) as usize];
        for regression in regressions.iter().filter(|regression| regression.slope > 0.0) {
            let place = (regression.stage * depths + regression.deep) as usize;
            table[place].push(Check::new(regression, deviations));
        }
        for checks in &mut table {
            checks.sort_by_key(|check| check.depth);
            if checks.first().is_some_and(|check| check.depth > 0) {
                checks.clear();
            }
        }
        Checks { empties_per_stage: parameters.empties_per_stage.max(1), depths, table }
    }

    fn of(&self, empties: u32, depth: u32) -> &[Check] {
        if depth >= self.depths {
            return &[];
        }
        let place = empties / self.empties_per_stage * self.depths + depth;
        self.table.get(place as usize).map_or(&[], Vec::as_slice)
    }
}

impl<G: Geometry, E: Evaluator<G>> Worker<'_, G, E> {
    /// A bound on the score, if shallow searches predict the side of the null window `beta - 1` to
    /// `beta` that a search of this depth would return; `None` if they do not.
    pub(super) fn probcut(
        &mut self,
        node: TrackedBoard<G, E::State>,
        legal: SquareSet<G>,
        depth: u32,
        beta: i32,
    ) -> Option<i32> {
        let checks = self.checks?.of(node.board.empties(), depth);
        let first = checks.first()?;
        let evaluation = node.evaluate(&*self.search.evaluator);
        let distance = first.predicted(evaluation) - beta as f32;
        if distance.abs() < UNDECIDED * first.margin {
            return None;
        }
        let fails_high = distance > 0.0;
        // The shallow searches use no ProbCut.
        let outer = self.checks.take();
        let mut found = None;
        // The first check is the evaluation alone.
        let from = usize::from(depth > STATIC_DEEPEST && checks.len() > 1);
        for check in &checks[from..] {
            let bound = match fails_high {
                true => check.shallow_beta(beta),
                false => check.shallow_alpha(beta - 1) + 1,
            };
            let score = match check.depth {
                0 => evaluation,
                depth => self.negamax(node, legal, depth, bound - 1, bound),
            };
            if self.halted {
                break;
            } else if (score >= bound) == fails_high {
                found = Some(if fails_high { beta } else { beta - 1 });
                break;
            }
        }
        self.checks = outer;
        found
    }
}
