//! Multi-ProbCut: a subtree is left out where shallower searches foretell what it would show.
//!
//! At a node with a null window the evaluator's forecasts (see [`crate::eval::probcut`]) say
//! which shallow score makes it unlikely, by so many standard deviations, that the full search
//! would come out on the other side of the window. A shallow search around that score settles
//! the node if it can; there may be several, from the cheapest on. Never in an exact iteration,
//! never where the window is open, and never within such a shallow search.

use super::worker::Worker;
use crate::eval::Evaluator;
use crate::eval::probcut::{Forecast, ProbCut};
use crate::game::{Board, Geometry, SquareSet};

/// Nodes are not worth a check whose score the evaluation alone puts this close to the window,
/// as a share of the margin of that forecast: it would seldom succeed.
const UNDECIDED: f32 = 0.5;

/// A search asks for ProbCut and its evaluator carries no parameters.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the evaluator carries no parameters of ProbCut for this board and goal")]
pub struct NoProbCut;

/// A shallow search that may settle a deep one.
#[derive(Clone, Copy, Debug)]
struct Check {
    depth: u32,
    slope: f32,
    offset: f32,
    /// How far off the forecast may be.
    margin: f32,
}

impl Check {
    fn new(forecast: &Forecast, deviations: f32) -> Check {
        let &Forecast { shallow: depth, slope, offset, sigma, .. } = forecast;
        Check { depth, slope, offset, margin: deviations * sigma }
    }

    /// The deep score that a shallow one foretells.
    fn foretold(&self, score: i32) -> f32 {
        self.slope * score as f32 + self.offset
    }

    /// The least shallow score that foretells at least `beta` with the margin to spare.
    fn enough(&self, beta: i32) -> i32 {
        ((beta as f32 + self.margin - self.offset) / self.slope).ceil() as i32
    }

    /// The greatest shallow score that foretells at most `alpha` with the margin to spare.
    fn little(&self, alpha: i32) -> i32 {
        ((alpha as f32 - self.margin - self.offset) / self.slope).floor() as i32
    }
}

/// The checks of all stages and depths.
pub(super) struct Checks {
    empties_per_stage: u32,
    /// One more than the greatest depth that is checked.
    depths: u32,
    /// By stage and depth: none, or some from depth 0 on.
    table: Vec<Vec<Check>>,
}

impl Checks {
    /// Cuts where a forecast would have to be off by `deviations` standard deviations.
    pub(super) fn new(parameters: &ProbCut, deviations: f32) -> Checks {
        let forecasts = &parameters.forecasts;
        let beyond = |of: fn(&Forecast) -> u32| forecasts.iter().map(of).max().map_or(0, |n| n + 1);
        let (stages, depths) = (beyond(|f| f.stage), beyond(|f| f.deep));
        let mut table = vec![Vec::new(); (stages * depths) as usize];
        for forecast in forecasts.iter().filter(|forecast| forecast.slope > 0.0) {
            let place = (forecast.stage * depths + forecast.deep) as usize;
            table[place].push(Check::new(forecast, deviations));
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

impl<G: Geometry, E: Evaluator<G> + ?Sized> Worker<'_, G, E> {
    /// Which side of the null window below `beta` a search of this depth would very likely come
    /// out on, as a bound; `None` where shallower searches leave that open.
    pub(super) fn foretell(
        &mut self,
        board: Board<G>,
        legal: SquareSet<G>,
        depth: u32,
        beta: i32,
    ) -> Option<i32> {
        let checks = self.checks?.of(board.empties(), depth);
        let first = checks.first()?;
        let now = self.search.evaluator.evaluate(board);
        let distance = first.foretold(now) - beta as f32;
        if distance.abs() < UNDECIDED * first.margin {
            return None;
        }
        let high = distance > 0.0;
        let outer = self.checks.take();
        let mut found = None;
        for check in checks {
            let bound = if high { check.enough(beta) } else { check.little(beta - 1) + 1 };
            let score = match check.depth {
                0 => now,
                depth => self.negamax(board, legal, depth, bound - 1, bound),
            };
            if self.halted {
                break;
            } else if (score >= bound) == high {
                found = Some(if high { beta } else { beta - 1 });
                break;
            }
        }
        self.checks = outer;
        found
    }
}
