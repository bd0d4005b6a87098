//! The n-tuple perceptron: one weight for the discs on each of some lines and corners, and one for
//! each of some counts, without a hidden layer.
//!
//! It is the first evaluator of the n-tuple bot (docs/references.md). The description of a model has
//! its [`Options`]. The model has three arrays:
//!
//! | array | shape | numbers |
//! |---|---|---|
//! | `weights` | weights | the weights of all tuples, one behind the other, in discs |
//! | `counts` | counts, squares + 1 | for each count a weight of each number, in discs |
//! | `win_scale` | 1 | the [`WinScale`], in discs |
//!
//! The counts are discs, frontier discs, legal moves and, if the model has them, stable discs; each
//! of the side to move and then of the other side. A frontier disc has an empty square beside it. The
//! weights do not depend on the stage of the game, but for the counts of discs.
//!
//! A tuple is a [pattern](super::patterns): all of its images share its weights. So the value of a
//! board is that of its images.

mod options;

use std::marker::PhantomData;

use super::model::{array, check_names, check_numbers, win_scale};
use super::patterns::{Centres, Codes, PatternSet, Table};
use super::{Evaluator, ModelError, SCALE, Step, WinScale};
use crate::game::{Bitboard, Board, Geometry, Goal, SquareSet};
use crate::model::{Description, Weights};
pub use options::Options;

/// The largest weight in discs; 16 bits hold it in units of the evaluation.
pub const MAX_WEIGHT: f32 = 250.0;

/// The most counts.
const MAX_COUNTS: usize = 8;

/// The tuples and the counts of a model.
#[derive(Clone, PartialEq, Debug)]
pub struct Tuples {
    patterns: PatternSet,
    /// Whether stable discs are counted.
    stable: bool,
}

impl Tuples {
    /// Those that the options name.
    ///
    /// # Errors
    ///
    /// A tuple does not fit the board.
    pub fn read<G: Geometry>(options: &Options) -> Result<Tuples, ModelError> {
        let patterns = PatternSet::read::<G>(&options.tuples)?;
        Ok(Tuples { patterns, stable: options.stable })
    }

    /// The tuples.
    pub fn patterns(&self) -> &PatternSet {
        &self.patterns
    }

    /// The number of counts.
    pub fn counts(&self) -> usize {
        if self.stable { MAX_COUNTS } else { MAX_COUNTS - 2 }
    }

    /// The counts of a board, whose legal moves of both sides are known. Those that the model does
    /// not have are 0.
    #[inline(always)]
    fn count<G: Geometry>(&self, board: Board<G>, moves: [SquareSet<G>; 2]) -> [usize; MAX_COUNTS] {
        let of_both = |set: G::Bitboard| {
            [(board.mine & set).count() as usize, (board.theirs & set).count() as usize]
        };
        let discs = of_both(G::PLAYABLE);
        let frontier = of_both(board.frontier().0);
        let moves = moves.map(SquareSet::len);
        let stable = if self.stable { of_both(board.stable().0) } else { [0; 2] };
        let mut counts = [0; MAX_COUNTS];
        for (pair, found) in counts.chunks_exact_mut(2).zip([discs, frontier, moves, stable]) {
            pair.copy_from_slice(&found);
        }
        counts
    }

    /// The places of the weights that a board uses, among those of the tuples and then of the counts.
    pub fn places<G: Geometry>(&self, board: Board<G>) -> impl Iterator<Item = u32> + '_ {
        let counts = self.count(board, board.legal_of_both());
        let first = self.patterns.weights();
        let place = move |kind: usize| (first + kind * (G::SQUARES + 1) + counts[kind]) as u32;
        self.patterns.places(board).chain((0..self.counts()).map(place))
    }
}

/// The n-tuple perceptron of a model.
#[derive(Clone, Debug)]
pub struct NTuple<G: Geometry> {
    goal: Goal,
    tuples: Tuples,
    centres: Centres,
    /// The values of all codes of the tuples, in units of the evaluation.
    table: Table,
    /// For each count the value of each number, in the same units.
    counts: Box<[i32]>,
    win_scale: WinScale,
    board: PhantomData<G>,
}

impl<G: Geometry> NTuple<G> {
    /// The evaluator of a model with this description.
    ///
    /// # Errors
    ///
    /// An option or an array is missing, unknown or not allowed.
    pub fn read(description: &Description, model: &Weights) -> Result<Self, ModelError> {
        check_names(model, &["weights", "counts", "win_scale"])?;
        let tuples = Tuples::read::<G>(&Options::read(&description.options)?)?;
        let numbers = |name, shape: &[usize]| {
            let found = array(model, name, |found| found == shape, &format!("{shape:?}"))?;
            let is_weight = |weight: f32| weight.abs() <= MAX_WEIGHT;
            check_numbers(name, found, is_weight, &format!("-{MAX_WEIGHT} to {MAX_WEIGHT}"))?;
            Ok::<_, ModelError>(found.iter().map(|&weight| SCALE as f32 * weight))
        };
        let weights: Vec<f32> = numbers("weights", &[tuples.patterns.weights()])?.collect();
        let counts = numbers("counts", &[tuples.counts(), G::SQUARES + 1])?;
        Ok(NTuple {
            goal: description.goal,
            centres: Centres::of(&tuples.patterns),
            table: Table::of(&tuples.patterns, &weights),
            counts: counts.map(|weight| weight.round_ties_even() as i32).collect(),
            tuples,
            win_scale: win_scale(model)?,
            board: PhantomData,
        })
    }
}

impl<G: Geometry> Evaluator<G> for NTuple<G> {
    type State = Codes;

    fn begin(&self, board: Board<G>) -> Codes {
        self.tuples.patterns.begin(board)
    }

    #[inline(always)]
    fn follow(&self, codes: &Codes, step: &Step<G>) -> Codes {
        self.tuples.patterns.follow(codes, step.square, step.flips)
    }

    #[inline(always)]
    fn pass(&self, codes: &Codes) -> Codes {
        codes.reversed()
    }

    #[inline]
    fn evaluate(&self, board: Board<G>, codes: &Codes) -> i32 {
        let moves = board.legal_of_both();
        if moves.into_iter().all(SquareSet::is_empty) {
            return SCALE * board.final_score(self.goal);
        }
        let counts = self.tuples.count(board, moves);
        let rows = self.counts.chunks_exact(G::SQUARES + 1);
        let value: i32 = rows.zip(counts).map(|(row, count)| row[count]).sum();
        let most = SCALE * G::SQUARES as i32;
        (value + self.table.sum(&self.centres, codes)).clamp(-most, most)
    }

    /// The value of the tuples alone, without a look whether the game is over.
    #[inline(always)]
    fn ordering_value(&self, _: Board<G>, codes: &Codes) -> i32 {
        self.table.sum(&self.centres, codes)
    }

    fn win_scale(&self) -> WinScale {
        self.win_scale
    }
}

#[cfg(test)]
mod tests;
