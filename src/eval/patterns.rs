//! An evaluator by patterns: a sum of one value for the discs on each of some sets of squares.
//!
//! Buro (1999) made such evaluators strong enough to beat the world champion (docs/references.md).
//! The description of a model has the patterns ([`Options`]). The model has these arrays:
//!
//! | array | shape | numbers |
//! |---|---|---|
//! | `weights` | stages, weights | the weights of all patterns, one behind the other, in discs |
//! | `moves` | stages, 2, 32 | the weight of 0 to 31 legal moves, of the side to move and the other |
//! | `constant` | stages | a constant |
//! | `discs` | stages | the number of discs on the board at each stage, ascending |
//! | `win_scale` | 1 | the [`WinScale`], in discs |
//! | `probcut` | regressions, 6 | optional: the numbers of each [`Regression`] of Multi-ProbCut; a stage is a number of empty squares |
//!
//! Between two stages the weights are interpolated linearly in the number of discs. Before the
//! first stage and after the last they are those of that stage. All images of a pattern under the
//! symmetries of the board share its weights, and so do arrangements that a symmetry of the pattern
//! exchanges. So the value of a board is that of its images.

mod options;
mod set;
mod table;

use std::marker::PhantomData;

use super::model::{array, check_names, check_numbers, win_scale};
use super::probcut::{ProbCut, Regression};
use super::stages::{discs_of_stages, weights_at};
use super::{Evaluator, ModelError, SCALE, Step, WinScale};
use crate::game::{Board, Geometry, Goal, SquareSet};
use crate::model::{Description, Weights};
pub use options::Options;
pub use set::{Codes, Image, LANES, MAX_PATTERN_SQUARES, Pattern, PatternSet};
pub(super) use table::{Centres, Table};

/// The largest weight in discs; 16 bits hold it in units of the evaluation.
const MAX_WEIGHT: f32 = 250.0;

/// Numbers of legal moves above this have the weight of this number.
pub const MOST_MOVES: usize = 31;

/// The pattern evaluator of a model.
///
/// ```
/// use outflank::eval::patterns::Patterns;
/// use outflank::eval::{Evaluator, TrackedBoard};
/// use outflank::game::{Board, Goal, Shape, Square6};
/// use outflank::players::models::LoadedModel;
/// use outflank::store::shipped;
///
/// let folder = shipped::patterns(Shape::Square6, Goal::Most).expect("a model of the source tree");
/// let model = LoadedModel::read(&folder)?;
/// let evaluator = Patterns::<Square6>::read(&model.description, model.weights())?;
/// // The four first moves lead to images of one board, whose values are equal.
/// let start = TrackedBoard::begin(&evaluator, Board::start());
/// let values = start.board.legal().map(|square| start.play(&evaluator, square).evaluate(&evaluator));
/// assert!(values.collect::<std::collections::HashSet<_>>().len() == 1);
/// assert!(evaluator.win_scale().chance(4.0) > 0.5);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Patterns<G: Geometry> {
    goal: Goal,
    set: PatternSet,
    centres: Centres,
    /// For each number of discs.
    stages: Box<[Stage]>,
    win_scale: WinScale,
    probcut: Option<ProbCut>,
    board: PhantomData<G>,
}

/// The weights for one number of discs, in units of the evaluation.
#[derive(Clone, Debug)]
struct Stage {
    /// The values of all patterns, one behind the other, by code.
    patterns: Table,
    moves: [[i32; MOST_MOVES + 1]; 2],
    constant: i32,
}

impl<G: Geometry> Patterns<G> {
    /// The evaluator of a model with this description.
    ///
    /// # Errors
    ///
    /// An option or an array is missing, unknown or not allowed.
    pub fn read(description: &Description, model: &Weights) -> Result<Self, ModelError> {
        let set = PatternSet::read::<G>(&Options::read(&description.options)?.patterns)?;
        Patterns::new(description.goal, set, model)
    }

    /// The evaluator of a model that was made for `goal`.
    ///
    /// # Errors
    ///
    /// An array is missing or unknown, or has a shape or a number that is not allowed.
    pub fn new(goal: Goal, set: PatternSet, model: &Weights) -> Result<Self, ModelError> {
        check_names(model, &["weights", "moves", "constant", "discs", "win_scale", "probcut"])?;
        let discs = discs_of_stages::<G>(model)?;
        let numbers = |name, shape: &[usize]| {
            let found = array(model, name, |found| found == shape, &format!("{shape:?}"))?;
            let is_weight = |weight: f32| weight.abs() <= MAX_WEIGHT;
            check_numbers(name, found, is_weight, &format!("-{MAX_WEIGHT} to {MAX_WEIGHT}"))?;
            Ok(found)
        };
        let weights = numbers("weights", &[discs.len(), set.weights()])?;
        let moves = numbers("moves", &[discs.len(), 2, MOST_MOVES + 1])?;
        let constant = numbers("constant", &[discs.len()])?;
        let win_scale = win_scale(model)?;
        let stage = |count: usize| {
            let at = |weights| weights_at(weights, (discs, false), count as f32);
            let moves = at(moves);
            Stage {
                patterns: Table::of(&set, &at(weights)),
                moves: std::array::from_fn(|side| {
                    std::array::from_fn(|count| rounded(moves[side * (MOST_MOVES + 1) + count]))
                }),
                constant: rounded(at(constant)[0]),
            }
        };
        let stages = (0..=G::SQUARES).map(stage).collect();
        let centres = Centres::of(&set);
        let probcut = probcut(model)?;
        Ok(Patterns { goal, set, centres, stages, win_scale, probcut, board: PhantomData })
    }
}

/// The parameters of Multi-ProbCut of a model, if it has some.
///
/// # Errors
///
/// They have a shape or a number that is not allowed.
pub fn probcut(model: &Weights) -> Result<Option<ProbCut>, ModelError> {
    if model.array("probcut").is_none() {
        return Ok(None);
    }
    const NUMBERS: usize = Regression::NUMBERS;
    let fits = |shape: &[usize]| matches!(shape, [_, NUMBERS]);
    let numbers = array(model, "probcut", fits, "[regressions, 6]")?;
    let read = |(row, numbers): (usize, &[f32])| {
        Regression::from_numbers(numbers).ok_or_else(|| ModelError::Number {
            name: "probcut",
            index: row * NUMBERS,
            found: numbers[0],
            allowed: "in each row: stage, shallow depth and deep depth as whole numbers, the deep \
                      one larger; a slope above 0, an offset, and a deviation above 0"
                .into(),
        })
    };
    let regressions =
        numbers.chunks_exact(NUMBERS).enumerate().map(read).collect::<Result<Vec<_>, _>>()?;
    Ok(Some(ProbCut { empties_per_stage: 1, regressions: regressions.into() }))
}

fn rounded(weight: f32) -> i32 {
    weight.round_ties_even() as i32
}

impl<G: Geometry> Evaluator<G> for Patterns<G> {
    type State = Codes;

    fn begin(&self, board: Board<G>) -> Codes {
        self.set.begin(board)
    }

    #[inline(always)]
    fn follow(&self, codes: &Codes, step: &Step<G>) -> Codes {
        self.set.follow(codes, step.square, step.flips)
    }

    #[inline(always)]
    fn pass(&self, codes: &Codes) -> Codes {
        codes.reversed()
    }

    #[inline]
    fn evaluate(&self, board: Board<G>, codes: &Codes) -> i32 {
        let legal = board.legal_of_both();
        if legal.into_iter().all(SquareSet::is_empty) {
            return SCALE * board.final_score(self.goal);
        }
        let stage = &self.stages[board.discs() as usize];
        let mut value = stage.constant;
        for (side, legal) in stage.moves.iter().zip(legal) {
            value += side[(legal.len()).min(MOST_MOVES)];
        }
        value += stage.patterns.sum(&self.centres, codes);
        let most = SCALE * G::SQUARES as i32;
        value.clamp(-most, most)
    }

    /// The value without the weights of the legal moves, and without a look whether the game is
    /// over.
    #[inline(always)]
    fn ordering_value(&self, board: Board<G>, codes: &Codes) -> i32 {
        let stage = &self.stages[board.discs() as usize];
        stage.constant + stage.patterns.sum(&self.centres, codes)
    }

    fn probcut(&self) -> Option<&ProbCut> {
        self.probcut.as_ref()
    }

    fn win_scale(&self) -> WinScale {
        self.win_scale
    }
}

#[cfg(test)]
mod tests;
