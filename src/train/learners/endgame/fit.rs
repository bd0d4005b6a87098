//! Fits the weights of patterns to scores by least squares with a penalty on large weights (ridge
//! regression), by the method of conjugate gradients (Hestenes and Stiefel 1952) with a diagonal
//! preconditioner.
//!
//! The result does not depend on the number of threads: the samples are divided into a fixed number
//! of parts, and sums are taken in the order of the parts.

use rayon::prelude::*;

use crate::eval::patterns::{MOST_MOVES, PatternSet};
use crate::game::{Board, Geometry};
use crate::model::{Weights, WeightsError};
use crate::train::stagewise::UnitContext;

/// The samples are divided into this many parts.
const PARTS: usize = 8;

/// The numbers of a model: for each stage the weights of the patterns, those of the numbers of
/// legal moves, and the constant.
#[derive(Clone, PartialEq, Debug)]
pub struct Shape {
    /// The numbers of discs of the stages, ascending.
    pub discs: Vec<f32>,
    /// The weights of the patterns at one stage.
    patterns: usize,
}

impl Shape {
    const MOVES: usize = 2 * (MOST_MOVES + 1);

    /// The numbers for a set of patterns and these stages.
    pub fn new(set: &PatternSet, discs: Vec<f32>) -> Shape {
        Shape { discs, patterns: set.weights() }
    }

    /// The numbers of one stage.
    fn stage(&self) -> usize {
        self.patterns + Shape::MOVES + 1
    }

    /// All numbers.
    pub fn count(&self) -> usize {
        self.discs.len() * self.stage()
    }

    /// The stages on both sides of a number of discs, and the share of the later one.
    fn stages_of(&self, discs: f32) -> (usize, usize, f32) {
        let above = self.discs.partition_point(|&stage| stage < discs).min(self.discs.len() - 1);
        let below = if self.discs[above] > discs { above.saturating_sub(1) } else { above };
        match self.discs[above] - self.discs[below] {
            0.0 => (below, above, 0.0),
            span => (below, above, (discs - self.discs[below]) / span),
        }
    }

    /// The arrays of a model with these numbers, in discs.
    pub fn arrays(&self, numbers: &[f32], win_scale: f32) -> Weights {
        let stages = self.discs.len();
        let part = |from: usize, length: usize| {
            let rows = numbers.chunks(self.stage());
            rows.flat_map(|row| row[from..][..length].iter().copied()).collect::<Vec<_>>()
        };
        let mut model = Weights::default();
        model.insert("weights", vec![stages, self.patterns], part(0, self.patterns));
        let moves = part(self.patterns, Shape::MOVES);
        model.insert("moves", vec![stages, 2, MOST_MOVES + 1], moves);
        model.insert("constant", vec![stages], part(self.patterns + Shape::MOVES, 1));
        model.insert("discs", vec![stages], self.discs.clone());
        model.insert("win_scale", vec![1], vec![win_scale]);
        model
    }

    /// The numbers of a model with these arrays.
    ///
    /// # Errors
    ///
    /// An array is missing or has another shape.
    pub fn numbers(&self, model: &Weights) -> Result<Vec<f32>, WeightsError> {
        let stages = self.discs.len();
        let weights = model.get("weights", &[stages, self.patterns])?;
        let moves = model.get("moves", &[stages, 2, MOST_MOVES + 1])?;
        let constant = model.get("constant", &[stages])?;
        let rows = weights.chunks(self.patterns).zip(moves.chunks(Shape::MOVES)).zip(constant);
        let row = |((weights, moves), &constant): ((&[f32], &[f32]), &f32)| {
            [weights, moves, &[constant]].concat()
        };
        Ok(rows.flat_map(row).collect())
    }
}

/// Boards with scores, as the numbers of a model that each board uses.
#[derive(Clone, PartialEq, Debug)]
pub struct Samples {
    /// How many numbers each board uses at one stage.
    width: usize,
    /// For each board, the places of these numbers within a stage.
    places: Vec<u32>,
    /// For each board, the number of discs and the score in discs.
    targets: Vec<(u8, f32)>,
}

impl Samples {
    /// No boards yet.
    pub fn new(set: &PatternSet) -> Samples {
        let width = set.images().len() + 3;
        Samples { width, places: Vec::new(), targets: Vec::new() }
    }

    /// The number of boards.
    pub fn len(&self) -> usize {
        self.targets.len()
    }

    /// Adds a board that has a legal move of either side, with its score in discs for the side to
    /// move.
    pub fn push<G: Geometry>(&mut self, set: &PatternSet, board: Board<G>, score: f32) {
        self.places.extend(set.places(board));
        let moves = board.legal_of_both().map(|legal| legal.len().min(MOST_MOVES));
        let first = set.weights();
        let other = first + MOST_MOVES + 1;
        let places = [first + moves[0], other + moves[1], first + Shape::MOVES];
        self.places.extend(places.map(|place| place as u32));
        self.targets.push((board.discs() as u8, score));
    }

    /// The boards of one part.
    fn part(&self, part: usize) -> impl Iterator<Item = (&[u32], &(u8, f32))> {
        let range = self.len() * part / PARTS..self.len() * (part + 1) / PARTS;
        let places = &self.places[self.width * range.start..self.width * range.end];
        places.chunks_exact(self.width).zip(&self.targets[range])
    }
}

/// Fits a model to boards.
pub struct Fitter<'a> {
    /// The numbers of the model.
    pub shape: &'a Shape,
    /// The boards.
    pub samples: &'a Samples,
    /// A number that is used by as many boards as this is drawn half of the way to 0.
    pub ridge: f32,
}

/// The state of the method: the fitted numbers so far.
struct Conjugate {
    numbers: Vec<f32>,
    residual: Vec<f32>,
    direction: Vec<f32>,
    /// The product of the residual with itself after preconditioning.
    length: f64,
}

impl Fitter<'_> {
    /// The numbers after `steps` steps from `start`; `None` if it was stopped.
    pub fn fit(&self, start: Vec<f32>, steps: u32, context: &UnitContext<'_>) -> Option<Vec<f32>> {
        let scale = self.preconditioner();
        let residual =
            self.transposed(|stage, places, &(_, score)| score - stage.value(&start, places));
        let residual: Vec<f32> = residual
            .iter()
            .zip(&start)
            .map(|(gradient, number)| gradient - self.ridge * number)
            .collect();
        let direction: Vec<f32> = residual.iter().zip(&scale).map(|(r, s)| r * s).collect();
        let length = product(&residual, &direction);
        let mut state = Conjugate { numbers: start, residual, direction, length };
        for _ in 0..steps {
            if context.is_stopped() {
                return None;
            }
            if state.length <= f64::MIN_POSITIVE {
                break;
            }
            self.step(&mut state, &scale);
        }
        Some(state.numbers)
    }

    fn step(&self, state: &mut Conjugate, scale: &[f32]) {
        let direction = &state.direction;
        let mut image = self.transposed(|stage, places, _| stage.value(direction, places));
        image.iter_mut().zip(direction).for_each(|(sum, number)| *sum += self.ridge * number);
        let step = (state.length / product(direction, &image)) as f32;
        state.numbers.iter_mut().zip(direction).for_each(|(number, by)| *number += step * by);
        state.residual.iter_mut().zip(&image).for_each(|(residual, by)| *residual -= step * by);
        let scaled: Vec<f32> = state.residual.iter().zip(scale).map(|(r, s)| r * s).collect();
        let length = product(&state.residual, &scaled);
        let keep = (length / state.length) as f32;
        let pairs = state.direction.iter_mut().zip(scaled);
        pairs.for_each(|(direction, new)| *direction = new + keep * *direction);
        state.length = length;
    }

    /// For each number, 1 over how much of it the boards use.
    fn preconditioner(&self) -> Vec<f32> {
        let mut used = self.sums(|stage, places, _, sums| stage.add_squares(sums, places));
        used.iter_mut().for_each(|used| *used = 1.0 / (*used + self.ridge).max(1.0));
        used
    }

    /// The sum over all boards of the numbers that they use, each times a factor of the board.
    fn transposed(
        &self,
        factor: impl Fn(&StageOf<'_>, &[u32], &(u8, f32)) -> f32 + Sync,
    ) -> Vec<f32> {
        self.sums(|stage, places, target, sums| {
            stage.add(sums, places, factor(stage, places, target));
        })
    }

    fn sums(&self, add: impl Fn(&StageOf<'_>, &[u32], &(u8, f32), &mut [f32]) + Sync) -> Vec<f32> {
        let part = |part| {
            let mut sums = vec![0.0; self.shape.count()];
            for (places, target) in self.samples.part(part) {
                let stage = StageOf::new(self.shape, f32::from(target.0));
                add(&stage, places, target, &mut sums);
            }
            sums
        };
        let parts: Vec<Vec<f32>> = (0..PARTS).into_par_iter().map(part).collect();
        let mut total = vec![0.0f32; self.shape.count()];
        for part in parts {
            total.iter_mut().zip(part).for_each(|(total, sum)| *total += sum);
        }
        total
    }

    /// The mean absolute error of a model in discs on these boards.
    pub fn error(&self, numbers: &[f32]) -> f64 {
        let of_part = |part| {
            let errors = self.samples.part(part).map(|(places, &(discs, score))| {
                let stage = StageOf::new(self.shape, f32::from(discs));
                f64::from((score - stage.value(numbers, places)).abs())
            });
            errors.sum::<f64>()
        };
        let parts: Vec<f64> = (0..PARTS).into_par_iter().map(of_part).collect();
        parts.iter().sum::<f64>() / self.samples.len().max(1) as f64
    }
}

/// The stages that a board uses.
struct StageOf<'a> {
    shape: &'a Shape,
    below: usize,
    above: usize,
    share: f32,
}

impl StageOf<'_> {
    fn new(shape: &Shape, discs: f32) -> StageOf<'_> {
        let (below, above, share) = shape.stages_of(discs);
        StageOf { shape, below, above, share }
    }

    fn both(&self) -> [(usize, f32); 2] {
        let at = |stage: usize| stage * self.shape.stage();
        [(at(self.below), 1.0 - self.share), (at(self.above), self.share)]
    }

    /// The value of a board by these numbers.
    fn value(&self, numbers: &[f32], places: &[u32]) -> f32 {
        let of = |(start, share): (usize, f32)| {
            let row = &numbers[start..][..self.shape.stage()];
            let sum: f32 = places.iter().map(|&place| row[place as usize]).sum();
            if share == 0.0 { 0.0 } else { share * sum }
        };
        self.both().into_iter().map(of).sum()
    }

    /// Adds `factor` to the numbers that a board uses.
    fn add(&self, sums: &mut [f32], places: &[u32], factor: f32) {
        for (start, share) in self.both() {
            if share > 0.0 {
                let row = &mut sums[start..][..self.shape.stage()];
                places.iter().for_each(|&place| row[place as usize] += share * factor);
            }
        }
    }

    /// Adds the square of each number's share in the value of a board.
    fn add_squares(&self, sums: &mut [f32], places: &[u32]) {
        for (start, share) in self.both() {
            let row = &mut sums[start..][..self.shape.stage()];
            places.iter().for_each(|&place| row[place as usize] += share * share);
        }
    }
}

fn product(a: &[f32], b: &[f32]) -> f64 {
    a.iter().zip(b).map(|(&a, &b)| f64::from(a) * f64::from(b)).sum()
}

#[cfg(test)]
mod tests;
