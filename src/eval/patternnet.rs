//! A net over patterns: each arrangement of discs on a pattern has a row of numbers instead of one
//! weight. The rows of all images are summed, and small layers turn the sums into the value.
//!
//! The description of a model has its patterns ([`Options`]). The model has these arrays:
//!
//! | array | shape | numbers |
//! |---|---|---|
//! | `rows` | weights, 32 | the row of each arrangement, as in [`Patterns`](super::patterns::Patterns) |
//! | `bias` | 32 | what is added to the sum of the rows |
//! | `first` | stages, 18, 16 | the weights of the hidden layer: from the 16 products, and from the numbers of moves of both sides |
//! | `first_bias` | stages, 16 | what is added to them |
//! | `output` | stages, 16 | from the hidden units to the value, in discs |
//! | `direct` | stages, 16 | from the products to the value, in discs |
//! | `moves` | stages, 2, 32 | the weight of 0 to 31 legal moves, of the side to move and the other, in discs |
//! | `constant` | stages | a constant, in discs |
//! | `discs` | stages | the number of discs on the board at each stage, ascending |
//! | `win_scale` | 1 | the [`WinScale`], in discs |
//! | `probcut` | regressions, 6 | optional: as in [`Patterns`](super::patterns::Patterns) |
//! | `estimate` | stages, 34 | optional: a linear function of the sums that estimates the value: 32 slopes, a constant, and the standard deviation of the value from it, in discs |
//!
//! The sums are limited to 0 to 1. Each of the first 16 is multiplied by one of the last 16, as the
//! nets of chess programs do (nnue-pytorch, docs/nnue.md, "pairwise multiplication"). The hidden
//! units are limited to 0 to 1 too. Between two stages the weights of the layers are interpolated
//! linearly in the number of discs. The rows are integers of 16 bits in play, and so rounded in files
//! ([`one`]). Equal arrangements share their rows under the symmetries of the board, so the value of a
//! board is that of its images.

mod estimate;
mod layers;

use wide::{f32x16, i16x16, i32x16};

use super::model::{array, check_names, check_numbers, win_scale};
use super::patterns::{Codes, LANES, Pattern, PatternSet, probcut};
use super::probcut::ProbCut;
use super::stages::{discs_of_stages, weights_at};
use super::{Evaluator, ModelError, SCALE, Step, WinScale};
use crate::game::{Board, Geometry, Goal, SquareSet};
use crate::model::{Description, Kind, Weights};
use estimate::Estimate;
pub use layers::{LAYER, Layer, Layout, MOVES_UNIT, PRODUCTS, SUMS, UNITS};

pub use super::patterns::Options;

/// The largest number of a row.
pub const MAX_ROW: f32 = 0.6;
/// The largest bias.
pub const MAX_BIAS: f32 = 2.0;
/// The largest weight of a layer; those to the value are in discs.
pub const MAX_WEIGHT: f32 = 1000.0;

/// A row as integers.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Row([i16; SUMS]);

/// The name of the optional array of estimates.
pub const ESTIMATE: &str = "estimate";

/// The net of a model.
#[derive(Clone, Debug)]
pub struct PatternNet<G: Geometry> {
    goal: Goal,
    set: PatternSet,
    /// How many images there are.
    images: usize,
    /// For each image the place of code 0 in the table of rows. Lanes without an image have 0.
    centres: [u32; LANES],
    /// The rows of all codes of all patterns, one behind the other.
    rows: Box<[Row]>,
    bias: Row,
    /// 1 over the integer that stands for 1 in a row.
    unit: f32,
    /// For each number of discs.
    layers: Box<[Layer]>,
    win_scale: WinScale,
    probcut: Option<ProbCut>,
    estimate: Option<Estimate>,
    board: std::marker::PhantomData<G>,
}

/// The description of a model with these patterns, before its training.
pub fn description<G: Geometry>(options: &Options, goal: Goal) -> Description {
    Description { kind: Kind::PatternNet, ..options.description::<G>(goal) }
}

impl<G: Geometry> PatternNet<G> {
    /// The evaluator of a model with this description.
    ///
    /// # Errors
    ///
    /// An option or an array is missing, unknown or not allowed.
    pub fn read(description: &Description, model: &Weights) -> Result<Self, ModelError> {
        let set = PatternSet::read::<G>(&Options::read(&description.options)?.patterns)?;
        let discs = discs_of_stages::<G>(model)?;
        let layout = Layout::new(&set, discs.len());
        let names = Layout::NAMES.iter().copied();
        let names: Vec<&str> = names.chain(["discs", "win_scale", "probcut", ESTIMATE]).collect();
        check_names(model, &names)?;
        let mut parts = Vec::new();
        for (name, shape) in Layout::NAMES.into_iter().zip(layout.shapes()) {
            let found = array(model, name, |found| found == shape, &format!("{shape:?}"))?;
            let most = match name {
                "rows" => MAX_ROW,
                "bias" => MAX_BIAS,
                _ => MAX_WEIGHT,
            };
            check_numbers(name, found, |it| it.abs() <= most, &format!("-{most} to {most}"))?;
            parts.push(found);
        }
        let one = one(set.images().len());
        let quantised = |row: &[f32]| {
            Row(std::array::from_fn(|lane| (row[lane] * one).round_ties_even() as i16))
        };
        let row = |place: &u32| quantised(&parts[0][*place as usize * SUMS..][..SUMS]);
        let mut before = 0;
        let mut rows = Vec::with_capacity(set.codes());
        for pattern in set.patterns() {
            let places = pattern.weight_of().iter().map(|place| place + before);
            rows.extend(places.map(|place| row(&place)));
            before += pattern.weights() as u32;
        }
        let of_stages = layout.of_stages(&parts[2..]);
        let layer = |count: usize| {
            let numbers = weights_at(&of_stages, (discs, false), count as f32);
            Layer::of_units(&numbers)
        };
        let centre = |image: &super::patterns::Image| {
            let before = set.patterns()[..image.pattern].iter().map(Pattern::codes).sum::<usize>();
            (before + set.patterns()[image.pattern].codes() / 2) as u32
        };
        let mut centres = [0; LANES];
        for (lane, image) in centres.iter_mut().zip(set.images()) {
            *lane = centre(image);
        }
        let unit = one.recip();
        let estimate = estimate_of(model, (&set, parts[0], parts[1]), (discs, G::SQUARES))?;
        Ok(PatternNet {
            goal: description.goal,
            images: set.images().len(),
            centres,
            rows: rows.into(),
            bias: quantised(parts[1]),
            unit,
            layers: (0..=G::SQUARES).map(layer).collect(),
            win_scale: win_scale(model)?,
            probcut: probcut(model)?,
            estimate,
            set,
            board: std::marker::PhantomData,
        })
    }

    /// The places of the rows, one for each lane.
    #[inline(always)]
    fn places(&self, codes: &Codes) -> [u32; LANES] {
        std::array::from_fn(|lane| {
            self.centres[lane].wrapping_add_signed(codes.lanes()[lane].into())
        })
    }

    /// The array `estimate` of this net for these stages, fitted to boards. Finished games among them
    /// are left out.
    pub fn fit_estimate(&self, stages: &[f32], boards: &[Board<G>]) -> Vec<f32> {
        let boards = boards.iter().filter(|board| !board.is_over());
        estimate::fit(
            stages,
            boards.map(|&board| {
                let codes = self.begin(board);
                let value = f64::from(self.evaluate(board, &codes)) / f64::from(SCALE);
                let sums: [i16; SUMS] = bytemuck::cast(self.sums_of_rows(&codes));
                (board.discs(), sums.map(|sum| f32::from(sum) * self.unit), value)
            }),
        )
    }

    /// The sums of the rows, limited to 0 to 1.
    #[inline(always)]
    fn sums(&self, codes: &Codes) -> [f32; SUMS] {
        let limited = self.sums_of_rows(codes).map(|sum| {
            let sum = f32x16::from_i32x16(i32x16::from_i16x16(sum)) * f32x16::splat(self.unit);
            sum.fast_max(f32x16::ZERO).fast_min(f32x16::ONE).to_array()
        });
        bytemuck::cast(limited)
    }

    #[inline(always)]
    fn sums_of_rows(&self, codes: &Codes) -> [i16x16; 2] {
        // All places first, so that the rows are read as soon as memory has them.
        let places = self.places(codes);
        let mut sums = halves(&self.bias);
        for &place in &places[..self.images] {
            // The scale is such that no sum leaves 16 bits.
            for (sum, numbers) in sums.iter_mut().zip(halves(&self.rows[place as usize])) {
                *sum += numbers;
            }
        }
        sums
    }
}

/// The estimates of a model, if it has them.
fn estimate_of(
    model: &Weights,
    net: (&PatternSet, &[f32], &[f32]),
    (stages, most): (&[f32], usize),
) -> Result<Option<Estimate>, ModelError> {
    if model.array(ESTIMATE).is_none() {
        return Ok(None);
    }
    let wanted = [stages.len(), estimate::NUMBERS];
    let found = array(model, ESTIMATE, |found| found == wanted, &format!("{wanted:?}"))?;
    let allowed = format!("-{MAX_WEIGHT} to {MAX_WEIGHT}");
    check_numbers(ESTIMATE, found, |it| it.abs() <= MAX_WEIGHT, &allowed)?;
    Ok(Some(Estimate::new(found, net, (stages, most))))
}

/// The nearest possible score.
#[inline(always)]
fn limited<G: Geometry>(score: i32) -> i32 {
    let most = SCALE * G::SQUARES as i32;
    score.clamp(-most, most)
}

/// The numbers of a row as two vectors.
#[inline(always)]
fn halves(row: &Row) -> [i16x16; 2] {
    bytemuck::cast(row.0)
}

/// The integer that stands for 1 in a row: the largest power of two with which the sum of so many
/// rows fits 16 bits.
pub fn one(images: usize) -> f32 {
    let most = images as f32 * MAX_ROW + MAX_BIAS;
    let room = f32::from(i16::MAX) - 0.5 * (images + 1) as f32;
    (room / most).log2().floor().exp2()
}

impl<G: Geometry> Evaluator<G> for PatternNet<G> {
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
        let layer = &self.layers[board.discs() as usize];
        let value = layer.value(&self.sums(codes), legal.map(SquareSet::len));
        limited::<G>(value.round_ties_even() as i32)
    }

    #[inline(always)]
    fn ordering_value(&self, board: Board<G>, codes: &Codes) -> i32 {
        match &self.estimate {
            // A bound beyond all scores would not end a search.
            Some(estimate) => limited::<G>(estimate.value(board.discs(), codes)),
            None => self.evaluate(board, codes),
        }
    }

    #[inline(always)]
    fn ordering_deviation(&self, discs: u32) -> Option<i32> {
        self.estimate.as_ref().map(|estimate| estimate.deviation(discs))
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
