//! Fits the parameters of Multi-ProbCut for an evaluator (Buro 1997).
//!
//! Boards of the last round are searched to all depths. The score of a deep search is modelled as
//! that of a shallow one with the same parity plus a normal error. Few numbers give its standard
//! deviation: a linear function of the two depths and of the empty squares gives its logarithm, so
//! it is positive and also holds for depths that nobody searched. Mean absolute errors measure it,
//! since a few large errors would spoil squares.

use nalgebra::DMatrix;
use rayon::prelude::*;

use crate::eval::probcut::{ProbCut, Regression};
use crate::eval::{AnyEvaluator, SCALE};
use crate::game::{Geometry, Goal};
use crate::model::Weights;
use crate::search::alphabeta::{self, SearchLimits};
use crate::store::labels::Label;
use crate::train::stagewise::UnitContext;

/// The deepest search whose result is predicted.
const DEEPEST: u32 = 30;
/// The least deep depth that is worth a check.
const LEAST_DEEP: u32 = 3;
/// Groups with fewer boards say little about their deviation.
const LEAST_BOARDS: usize = 20;
/// Empty squares of a group of boards.
const BAND: u32 = 4;
/// A normal distribution's standard deviation over its mean absolute value.
const DEVIATION_OF_MEAN: f64 = 1.2533;
/// The table of a search takes so many bytes. It is cleared for each board.
const TABLE_BYTES: usize = 1 << 20;

/// A board that was searched.
pub struct Searched {
    /// Its empty squares.
    pub empties: u32,
    /// The scores in discs by the depth of the search; depth 0 is the evaluation alone.
    pub scores: Vec<f32>,
    /// The exact score, if it is known.
    pub exact: Option<f32>,
}

/// Labels of whose boards the parameters are fitted: of each part, the first `wanted` with each
/// number of empty squares, over all parts.
///
/// # Errors
///
/// Those of the parts.
pub fn boards<G: Geometry, E>(
    parts: impl Iterator<Item = Result<Vec<Label<G>>, E>>,
    wanted: usize,
) -> Result<Vec<Label<G>>, E> {
    let mut boards: Vec<Vec<Label<G>>> = vec![Vec::new(); G::SQUARES + 1];
    for labels in parts {
        for label in labels? {
            let of_number = &mut boards[label.board.empties() as usize];
            if of_number.len() < wanted {
                of_number.push(label);
            }
        }
    }
    Ok(boards.concat())
}

/// Adds the parameters to a model.
pub fn put(probcut: &ProbCut, model: &mut Weights) {
    let numbers = probcut.regressions.iter().flat_map(Regression::numbers).collect();
    model.insert("probcut", vec![probcut.regressions.len(), Regression::NUMBERS], numbers);
}

/// Searches boards to depths 0 to `deepest`. Scores of boards with at most `solved` empty squares
/// are exact. `None` if it was stopped.
pub fn search<G: Geometry>(
    goal: Goal,
    evaluator: &AnyEvaluator<G>,
    labels: &[Label<G>],
    (deepest, solved): (u32, u32),
    context: &UnitContext<'_>,
) -> Option<Vec<Searched>> {
    let searched = |label: &Label<G>| {
        if context.is_stopped() {
            return None;
        }
        let board = label.board;
        let mut search = alphabeta::plain(goal, evaluator, TABLE_BYTES);
        let mut scores = vec![evaluator.score(board)];
        let depth = deepest.min(board.empties().saturating_sub(1));
        let mut report = |found: &alphabeta::SearchResult| scores.push(found.score);
        if depth > 0 {
            let last =
                search.think_with_progress(board, &SearchLimits::depth(depth), Some(&mut report));
            scores.extend(last.map(|found| found.score));
        }
        let exact = (board.empties() <= solved).then(|| f32::from(label.score));
        Some(Searched { empties: board.empties(), scores, exact })
    };
    labels.par_iter().map(searched).collect()
}

/// One group of boards: how far deep scores lie from shallow ones.
struct Group {
    shallow: u32,
    deep: u32,
    empties: f64,
    /// The mean of the deep scores less the shallow ones, and their standard deviation, in discs.
    offset: f64,
    sigma: f64,
    boards: usize,
}

/// The parameters for boards with up to `squares` empty squares.
pub fn fit(searched: &[Searched], squares: u32) -> ProbCut {
    let deep = groups(searched, |board, deep| board.scores.get(deep as usize).copied());
    let exact = groups(searched, |board, deep| board.exact.filter(|_| deep == board.empties));
    let (deep, exact) = (Deviations::fit(&deep, features), Deviations::fit(&exact, exact_features));
    let mut regressions = Vec::new();
    for empties in LEAST_DEEP..=squares {
        for depth in LEAST_DEEP..=DEEPEST.min(empties) {
            let model = if depth == empties { &exact } else { &deep };
            let Some(model) = model else { continue };
            for shallow in checks(depth) {
                let (offset, sigma) = model.at(shallow, depth, empties);
                regressions.push(Regression {
                    stage: empties,
                    shallow,
                    deep: depth,
                    slope: 1.0,
                    offset: offset * SCALE as f32,
                    sigma: sigma * SCALE as f32,
                });
            }
        }
    }
    ProbCut { empties_per_stage: 1, regressions: regressions.into() }
}

/// The depths of the checks before a search of this depth: the evaluation, and shallow searches of
/// the same parity.
fn checks(deep: u32) -> impl Iterator<Item = u32> {
    let half = deep / 2;
    let even = half - (deep - half) % 2;
    let quarter = deep / 4 + (deep + deep / 4) % 2;
    let mut depths = [0, quarter, even];
    depths.sort_unstable();
    let mut last = None;
    depths.into_iter().filter(move |&depth| last.replace(depth) != Some(depth) && depth + 1 < deep)
}

/// The groups of the boards by shallow and deep depth and by empty squares.
fn groups(searched: &[Searched], deep_score: impl Fn(&Searched, u32) -> Option<f32>) -> Vec<Group> {
    let mut by_key = std::collections::BTreeMap::<_, Vec<(u32, f64)>>::new();
    for board in searched {
        for deep in LEAST_DEEP..=DEEPEST {
            let Some(score) = deep_score(board, deep) else { continue };
            for shallow in checks(deep) {
                let Some(&found) = board.scores.get(shallow as usize) else { continue };
                let differences = by_key.entry((shallow, deep, board.empties / BAND)).or_default();
                differences.push((board.empties, f64::from(score - found)));
            }
        }
    }
    let group = |((shallow, deep, _), differences): ((u32, u32, u32), Vec<(u32, f64)>)| {
        let boards = differences.len();
        let mean = |of: &dyn Fn(&(u32, f64)) -> f64| {
            differences.iter().map(of).sum::<f64>() / boards as f64
        };
        let (empties, offset) = (mean(&|pair| pair.0.into()), mean(&|pair| pair.1));
        let sigma = DEVIATION_OF_MEAN * mean(&|pair| (pair.1 - offset).abs());
        Group { shallow, deep, empties, offset, sigma, boards }
    };
    let groups = by_key.into_iter().map(group);
    groups.filter(|group| group.boards >= LEAST_BOARDS && group.sigma > 0.0).collect()
}

type FeaturesOf = fn(f64, f64, f64) -> Vec<f64>;

/// What the logarithm of the deviation is linear in.
fn features(shallow: f64, deep: f64, empties: f64) -> Vec<f64> {
    let is_static = if shallow == 0.0 { 1.0 } else { 0.0 };
    vec![1.0, is_static, (1.0 + shallow).ln(), (deep - shallow).ln(), empties, empties * empties]
}

/// The same for exact scores, whose depth is the number of empty squares.
fn exact_features(shallow: f64, _: f64, empties: f64) -> Vec<f64> {
    let is_static = if shallow == 0.0 { 1.0 } else { 0.0 };
    vec![1.0, is_static, (1.0 + shallow).ln(), empties.ln()]
}

/// The fitted deviations, and the mean differences, which only the evaluation alone has: a search
/// of the same parity has none.
struct Deviations {
    features: FeaturesOf,
    weights: Vec<f64>,
    /// The mean difference from the evaluation by the parity of the deep search.
    offsets: [f64; 2],
}

impl Deviations {
    /// `None` without groups.
    fn fit(groups: &[Group], features: FeaturesOf) -> Option<Deviations> {
        let of = |group: &Group| features(group.shallow.into(), group.deep.into(), group.empties);
        let columns = of(groups.first()?).len();
        let rows: Vec<_> = groups
            .iter()
            .map(|group| ((group.boards as f64).sqrt(), of(group), group.sigma.ln()))
            .collect();
        // A little of each weight's square is added, so that few groups decide all weights too.
        let count = rows.len();
        let matrix =
            DMatrix::from_fn(count + columns, columns, |row, column| match rows.get(row) {
                Some((weight, features, _)) => weight * features[column],
                None => f64::from(u8::from(row - count == column)) * 0.1,
            });
        let target = DMatrix::from_fn(count + columns, 1, |row, _| match rows.get(row) {
            Some((weight, _, logarithm)) => weight * logarithm,
            None => 0.0,
        });
        let solution = matrix.svd(true, true).solve(&target, f64::EPSILON).ok()?;
        let weights = solution.iter().copied().collect();
        let offsets = [0, 1].map(|parity| {
            let own = groups.iter().filter(|group| group.shallow == 0 && group.deep % 2 == parity);
            let (sum, boards) = own.fold((0.0, 0), |(sum, boards), group| {
                (sum + group.offset * group.boards as f64, boards + group.boards)
            });
            sum / boards.max(1) as f64
        });
        Some(Deviations { features, weights, offsets })
    }

    /// Offset and standard deviation in discs.
    fn at(&self, shallow: u32, deep: u32, empties: u32) -> (f32, f32) {
        let features = (self.features)(shallow.into(), deep.into(), empties.into());
        let logarithm: f64 = features.iter().zip(&self.weights).map(|(x, weight)| x * weight).sum();
        let offset = if shallow == 0 { self.offsets[(deep % 2) as usize] } else { 0.0 };
        (offset as f32, logarithm.exp() as f32)
    }
}

#[cfg(test)]
mod tests;
