//! A net over patterns in training.

use rand_distr::{Distribution, Normal};

use super::{Student, UNIT, target};
use crate::eval::ModelError;
use crate::eval::patternnet::{
    LAYER, Layer, Layout, MAX_BIAS, MAX_ROW, MAX_WEIGHT, Options, SUMS, UNITS, description, one,
};
use crate::eval::patterns::{LANES, PatternSet};
use crate::game::{Board, Geometry, Goal, SquareSet};
use crate::model::{Description, Weights, WeightsError};
use crate::store::labels::Label;
use crate::train::seeds::Random;

/// The standard deviation of the first rows: sums of some fifty rows then have one of a third.
const INITIAL_ROWS: f32 = 0.05;
/// The first biases. Sums and units between 0 and 1 learn.
const INITIAL_BIAS: f32 = 0.4;
/// The standard deviation of the first weights from the products to the units.
const INITIAL_FIRST: f32 = 0.3;
/// The standard deviation of the first weights to the value.
const INITIAL_OUTPUT: f32 = 0.05;

/// A net over patterns that learns. Its numbers are in the order of [`Layout`].
pub struct OverPatterns {
    options: Options,
    set: PatternSet,
    layout: Layout,
    /// The numbers of discs of the stages, ascending.
    discs: Vec<f32>,
}

/// What a board is for the net.
struct Sample {
    /// The places of the rows.
    rows: [u32; LANES],
    count: usize,
    moves: [usize; 2],
    /// The stages with their shares.
    stages: [(usize, f32); 2],
}

impl OverPatterns {
    /// The net of a board with these patterns and stages.
    ///
    /// # Errors
    ///
    /// The patterns do not fit the board.
    pub fn new<G: Geometry>(options: Options, discs: Vec<f32>) -> Result<OverPatterns, ModelError> {
        let set = PatternSet::read::<G>(&options.patterns)?;
        let layout = Layout::new(&set, discs.len());
        Ok(OverPatterns { options, set, layout, discs })
    }

    fn sample<G: Geometry>(&self, board: Board<G>) -> Sample {
        let (mut rows, mut count) = ([0; LANES], 0);
        for place in self.set.places(board) {
            rows[count] = place * SUMS as u32;
            count += 1;
        }
        let moves = board.legal_of_both().map(SquareSet::len);
        Sample { rows, count, moves, stages: super::stages_at(&self.discs, board.discs() as f32) }
    }

    /// The limited sums of the rows, and whether a sum may change.
    fn sums(&self, numbers: &[f32], sample: &Sample) -> ([f32; SUMS], [bool; SUMS]) {
        let row = |place: usize| -> &[f32; SUMS] {
            numbers[place..].first_chunk().unwrap_or(&[0.0; SUMS])
        };
        let mut sums = *row(self.layout.bias());
        for &place in &sample.rows[..sample.count] {
            sums.iter_mut().zip(row(place as usize)).for_each(|(sum, number)| *sum += number);
        }
        (sums.map(|sum| sum.clamp(0.0, 1.0)), sums.map(|sum| sum > 0.0 && sum < 1.0))
    }

    /// The layers for a sample.
    fn layer(&self, numbers: &[f32], sample: &Sample) -> Layer {
        let mut layer = Layer([0.0; LAYER]);
        for (stage, share) in sample.stages {
            let weights = &numbers[self.layout.layer(stage)..][..LAYER];
            layer.0.iter_mut().zip(weights).for_each(|(sum, weight)| *sum += share * weight);
        }
        layer
    }
}

impl<G: Geometry> Student<G> for OverPatterns {
    fn description(&self, goal: Goal) -> Description {
        description::<G>(&self.options, goal)
    }

    fn initial(&self, random: &mut Random) -> Vec<f32> {
        let mut numbers = vec![0.0; self.layout.numbers()];
        let mut draw = |part: &mut [f32], deviation: f32| {
            // The deviations are above 0.
            if let Ok(normal) = Normal::new(0.0, deviation) {
                part.iter_mut().for_each(|number| *number = normal.sample(random));
            }
        };
        let (rows, rest) = numbers.split_at_mut(self.layout.bias());
        draw(rows, INITIAL_ROWS);
        let (bias, layers) = rest.split_at_mut(SUMS);
        bias.fill(INITIAL_BIAS);
        let (first, last) = layers.split_at_mut(LAYER);
        let (to_units, to_value) = first.split_at_mut(Layout::FIRST_BIAS);
        draw(to_units, INITIAL_FIRST);
        to_value[..UNITS].fill(INITIAL_BIAS);
        draw(&mut to_value[UNITS..][..2 * UNITS], INITIAL_OUTPUT);
        // All stages begin alike.
        last.chunks_exact_mut(LAYER).for_each(|layer| layer.copy_from_slice(first));
        numbers
    }

    fn arrays(&self, numbers: &[f32]) -> Weights {
        let (first, layers) = numbers.split_at(self.layout.layer(0));
        let (rows, bias) = first.split_at(self.layout.bias());
        let scaled = layers.iter().enumerate().map(|(place, number)| match place % LAYER {
            place if Layout::is_in_discs(place) => UNIT * number,
            _ => *number,
        });
        let layers: Vec<f32> = scaled.collect();
        let mut model = Weights::default();
        let parts =
            [rows.to_vec(), bias.to_vec()].into_iter().chain(self.layout.arrays_of(&layers));
        for ((name, shape), part) in Layout::NAMES.into_iter().zip(self.layout.shapes()).zip(parts)
        {
            model.insert(name, shape, part);
        }
        model.insert("discs", vec![self.discs.len()], self.discs.clone());
        model
    }

    fn rounded(&self, numbers: &[f32]) -> Vec<f32> {
        let one = one(self.set.images().len());
        let (rows, layers) = numbers.split_at(self.layout.layer(0));
        let rows = rows.iter().map(|number| (number * one).round_ties_even() / one);
        rows.chain(layers.iter().copied()).collect()
    }

    fn numbers(&self, model: &Weights) -> Result<Vec<f32>, WeightsError> {
        let arrays = Layout::NAMES.into_iter().zip(self.layout.shapes());
        let arrays = arrays.map(|(name, shape)| model.get(name, &shape));
        let arrays = arrays.collect::<Result<Vec<_>, _>>()?;
        let mut layers = self.layout.of_stages(&arrays[2..]);
        for (place, number) in layers.iter_mut().enumerate() {
            *number /= if Layout::is_in_discs(place % LAYER) { UNIT } else { 1.0 };
        }
        Ok([arrays[0], arrays[1], &layers].concat())
    }

    fn spread(&self, numbers: &[f32]) -> Vec<f32> {
        numbers.to_vec()
    }

    fn gather(&self, spread: &[f32]) -> Vec<f32> {
        spread.to_vec()
    }

    fn value(&self, spread: &[f32], board: Board<G>) -> f32 {
        let sample = self.sample(board);
        self.layer(spread, &sample).value(&self.sums(spread, &sample).0, sample.moves)
    }

    fn learn(&self, spread: &[f32], label: &Label<G>, sums: &mut [f32]) -> f32 {
        let sample = self.sample(label.board);
        let layer = self.layer(spread, &sample);
        let (limited, may_change) = self.sums(spread, &sample);
        let computed = layer.compute(&limited, sample.moves);
        let error = computed.value - target(label);
        let mut by_layer = Layer([0.0; LAYER]);
        let mut slopes = layer.learn((&limited, sample.moves), &computed, error, &mut by_layer);
        for (slope, may_change) in slopes.iter_mut().zip(may_change) {
            *slope = if may_change { *slope } else { 0.0 };
        }
        let mut add = |place: usize, values: &[f32], times: f32| {
            let sums = &mut sums[place..][..values.len()];
            sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += times * value);
        };
        for &row in &sample.rows[..sample.count] {
            add(row as usize, &slopes, 1.0);
        }
        add(self.layout.bias(), &slopes, 1.0);
        for (stage, share) in sample.stages {
            add(self.layout.layer(stage), &by_layer.0, share);
        }
        error
    }

    fn limit(&self, numbers: &mut [f32]) {
        let limit = |part: &mut [f32], most: f32| {
            part.iter_mut().for_each(|number| *number = number.clamp(-most, most));
        };
        let (rows, rest) = numbers.split_at_mut(self.layout.bias());
        limit(rows, MAX_ROW);
        let (bias, layers) = rest.split_at_mut(SUMS);
        limit(bias, MAX_BIAS);
        limit(layers, MAX_WEIGHT / UNIT);
    }
}
