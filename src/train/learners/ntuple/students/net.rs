//! A net with one hidden layer in training.

use rand_distr::{Distribution, Normal};

use super::{Student, UNIT, target};
use crate::eval::onehot::{MAX_BIAS, MAX_HIDDEN, MAX_OUTPUT, MAX_ROW, Options, Plan};
use crate::game::{Board, Geometry, Goal, MAX_SQUARES, SquareSet};
use crate::model::{Description, Weights, WeightsError};
use crate::store::labels::Label;
use crate::train::seeds::Random;

/// The standard deviation of the first weights: of the first layer, and of the second one. With some
/// forty marks on a board, the sums then have a deviation of a third.
const INITIAL: [f32; 2] = [0.05, 0.05];
/// The first bias. Sums between 0 and 1 learn.
const INITIAL_BIAS: f32 = 0.4;

/// The lanes that are summed at once.
const BLOCK: usize = 32;

/// A net that learns. Its numbers are in the order of [`Plan`].
pub struct Net {
    options: Options,
    plan: Plan,
    /// The numbers of discs of the stages, ascending.
    discs: Vec<f32>,
}

/// What a board is for a net: the rows of its marks, and its stages with their shares.
struct Sample {
    rows: [u32; MAX_SQUARES],
    count: usize,
    stages: [(usize, f32); 2],
}

/// A net on a board: the sums of the first layer, and the value.
struct Computed {
    sums: [f32; MAX_HIDDEN],
    value: f32,
}

impl Net {
    /// The net of a board with these stages.
    pub fn new<G: Geometry>(options: Options, discs: Vec<f32>) -> Net {
        Net { options, plan: Plan::new::<G>(&options, discs.len()), discs }
    }

    fn sample<G: Geometry>(&self, board: Board<G>) -> Sample {
        let marks = self.plan.marks();
        let (mut rows, mut count) = ([0; MAX_SQUARES], 0);
        for (&slot, set) in marks.slots().iter().zip(marks.sets(board)) {
            for square in SquareSet::<G>(set) {
                rows[count] = ((slot * G::SQUARES + square.index()) * self.plan.lanes()) as u32;
                count += 1;
            }
        }
        Sample { rows, count, stages: super::stages_at(&self.discs, board.discs() as f32) }
    }

    /// The first places of the bias, of the second layer and of the constants in the numbers spread
    /// out.
    fn starts(&self) -> [usize; 3] {
        let (rows, lanes) = (self.plan.rows(), self.plan.lanes());
        [rows, rows + lanes, rows + lanes * (1 + self.discs.len())]
    }

    /// The weights of the second layer for a sample.
    fn output(&self, spread: &[f32], sample: &Sample) -> [f32; MAX_HIDDEN] {
        let (lanes, [_, first, _]) = (self.plan.lanes(), self.starts());
        let mut output = [0.0; MAX_HIDDEN];
        for (stage, share) in sample.stages {
            let weights = &spread[first + stage * lanes..][..lanes];
            output.iter_mut().zip(weights).for_each(|(sum, weight)| *sum += share * weight);
        }
        output
    }

    fn compute(&self, spread: &[f32], sample: &Sample, output: &[f32; MAX_HIDDEN]) -> Computed {
        let [bias, _, constant] = self.starts();
        let mut sums = [0.0; MAX_HIDDEN];
        for first in (0..self.plan.lanes()).step_by(BLOCK) {
            let block = |place: usize| -> &[f32; BLOCK] {
                spread[place + first..].first_chunk().unwrap_or(&[0.0; BLOCK])
            };
            let mut sum = *block(bias);
            for &row in &sample.rows[..sample.count] {
                sum.iter_mut().zip(block(row as usize)).for_each(|(sum, weight)| *sum += weight);
            }
            sums[first..first + BLOCK].copy_from_slice(&sum);
        }
        let square = |sum: f32| sum.clamp(0.0, 1.0) * sum.clamp(0.0, 1.0);
        let hidden: f32 = sums.iter().zip(output).map(|(&sum, weight)| square(sum) * weight).sum();
        let constant = sample.stages.map(|(stage, share)| share * spread[constant + stage]);
        Computed { sums, value: hidden + constant[0] + constant[1] }
    }
}

impl<G: Geometry> Student<G> for Net {
    fn description(&self, goal: Goal) -> Description {
        self.options.description::<G>(goal)
    }

    fn initial(&self, random: &mut Random) -> Vec<f32> {
        let [bias, output, constant] = self.plan.starts();
        let mut numbers = vec![0.0; self.plan.numbers()];
        let mut draw = |part: &mut [f32], deviation: f32| {
            // The deviations are above 0.
            if let Ok(normal) = Normal::new(0.0, deviation) {
                part.iter_mut().for_each(|number| *number = normal.sample(random));
            }
        };
        draw(&mut numbers[..bias], INITIAL[0]);
        draw(&mut numbers[output..constant], INITIAL[1]);
        numbers[bias..output].fill(INITIAL_BIAS);
        numbers
    }

    fn arrays(&self, numbers: &[f32]) -> Weights {
        let [bias, output, constant] = self.plan.starts();
        let [of_rows, of_bias, of_output, of_constant] = self.plan.shapes::<G>();
        let discs = |part: &[f32]| part.iter().map(|number| UNIT * number).collect::<Vec<_>>();
        let mut model = Weights::default();
        model.insert("rows", of_rows, numbers[..bias].to_vec());
        model.insert("bias", of_bias, numbers[bias..output].to_vec());
        model.insert("output", of_output, discs(&numbers[output..constant]));
        model.insert("constant", of_constant, discs(&numbers[constant..]));
        model.insert("discs", vec![self.discs.len()], self.discs.clone());
        model
    }

    fn numbers(&self, model: &Weights) -> Result<Vec<f32>, WeightsError> {
        let [rows, bias, output, constant] = self.plan.shapes::<G>();
        let first = [model.get("rows", &rows)?, model.get("bias", &bias)?].concat();
        let second = [model.get("output", &output)?, model.get("constant", &constant)?].concat();
        Ok(first.into_iter().chain(second.into_iter().map(|weight| weight / UNIT)).collect())
    }

    fn spread(&self, numbers: &[f32]) -> Vec<f32> {
        self.plan.spread(numbers)
    }

    fn gather(&self, spread: &[f32]) -> Vec<f32> {
        self.plan.gather(spread)
    }

    fn value(&self, spread: &[f32], board: Board<G>) -> f32 {
        let sample = self.sample(board);
        self.compute(spread, &sample, &self.output(spread, &sample)).value
    }

    fn learn(&self, spread: &[f32], label: &Label<G>, sums: &mut [f32]) -> f32 {
        let sample = self.sample(label.board);
        let output = self.output(spread, &sample);
        let computed = self.compute(spread, &sample, &output);
        let error = computed.value - target(label);
        let (lanes, [bias, first_output, constant]) = (self.plan.lanes(), self.starts());
        // The derivatives by the sums of the first layer, and the hidden units' values.
        let (mut slopes, mut hidden) = ([0.0; MAX_HIDDEN], [0.0; MAX_HIDDEN]);
        for lane in 0..MAX_HIDDEN {
            let sum = computed.sums[lane].clamp(0.0, 1.0);
            hidden[lane] = sum * sum;
            // Beyond 1 a unit does not change.
            let inner = if computed.sums[lane] < 1.0 { 2.0 * sum } else { 0.0 };
            slopes[lane] = error * output[lane] * inner;
        }
        let mut add = |place: usize, values: &[f32], times: f32| {
            let sums = &mut sums[place..][..values.len()];
            sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += times * value);
        };
        for &row in &sample.rows[..sample.count] {
            add(row as usize, &slopes[..lanes], 1.0);
        }
        add(bias, &slopes[..lanes], 1.0);
        for (stage, share) in sample.stages {
            add(first_output + stage * lanes, &hidden[..lanes], share * error);
            add(constant + stage, &[error], share);
        }
        error
    }

    fn limit(&self, numbers: &mut [f32]) {
        let [bias, output, _] = self.plan.starts();
        let limit = |part: &mut [f32], most: f32| {
            part.iter_mut().for_each(|number| *number = number.clamp(-most, most));
        };
        limit(&mut numbers[..bias], MAX_ROW);
        limit(&mut numbers[bias..output], MAX_BIAS);
        limit(&mut numbers[output..], MAX_OUTPUT / UNIT);
    }
}
