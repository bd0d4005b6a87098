//! A cheap estimate of a net over patterns: a linear function of the sums of its rows.
//!
//! The function is folded into a table: each row of a stage becomes one number. So an estimate reads
//! two bytes for each image, and not a row. Chess programs call an evaluation lazy that is left out
//! where a cheap one decides.

use nalgebra::{DMatrix, DVector};

use super::SUMS;
use crate::eval::SCALE;
use crate::eval::patterns::{Centres, Codes, PatternSet, Table};

/// The numbers of a stage in the array `estimate`: a slope for each sum, a constant, and the standard
/// deviation of the value from the estimate; all in discs.
pub const NUMBERS: usize = SUMS + 2;
/// The deviation of a stage without boards. No estimate of it decides anything.
const UNKNOWN: f32 = 64.0;
/// A board is worth so much more to the diagonal of the equations, so that they have a solution.
const RIDGE: f64 = 1e-3;

/// Estimates of a net's values.
#[derive(Clone, Debug)]
pub(super) struct Estimate {
    centres: Centres,
    /// For each stage the numbers of all codes.
    tables: Box<[Table]>,
    /// For each number of discs.
    stages: Box<[Stage]>,
}

#[derive(Clone, Copy, Debug)]
struct Stage {
    /// The stage's place among the tables.
    table: usize,
    constant: i32,
    deviation: i32,
}

impl Estimate {
    /// The estimates of a net with these rows and this bias, from the array `numbers`. `stages` has
    /// the number of discs of each stage.
    pub fn new(
        numbers: &[f32],
        (set, rows, bias): (&PatternSet, &[f32], &[f32]),
        (stages, most): (&[f32], usize),
    ) -> Self {
        let scale = SCALE as f32;
        let times = |slopes: &[f32], row: &[f32]| {
            scale * row.iter().zip(slopes).map(|(number, slope)| number * slope).sum::<f32>()
        };
        let of_stage = |slopes: &[f32]| {
            let weights: Vec<f32> = rows.chunks_exact(SUMS).map(|row| times(slopes, row)).collect();
            Table::of(set, &weights)
        };
        let tables = numbers.chunks_exact(NUMBERS).map(of_stage).collect();
        let stage = |discs: usize| {
            let table = nearest(stages, discs as u32);
            let numbers = &numbers[table * NUMBERS..][..NUMBERS];
            let constant = scale * numbers[SUMS] + times(numbers, bias);
            let deviation = scale * numbers[SUMS + 1];
            let [constant, deviation] = [constant, deviation].map(|it| it.round_ties_even() as i32);
            Stage { table, constant, deviation }
        };
        let stages = (0..=most).map(stage).collect();
        Estimate { centres: Centres::of(set), tables, stages }
    }

    /// The estimate for a board with so many discs and these codes.
    #[inline(always)]
    pub fn value(&self, discs: u32, codes: &Codes) -> i32 {
        let Stage { table, constant, .. } = self.stages[discs as usize];
        constant + self.tables[table].sum(&self.centres, codes)
    }

    /// The standard deviation of a net's value from the estimate, on a board with so many discs.
    #[inline]
    pub fn deviation(&self, discs: u32) -> i32 {
        self.stages[discs as usize].deviation
    }
}

/// The stage whose number of discs is nearest.
fn nearest(stages: &[f32], discs: u32) -> usize {
    let distance = |&(_, stage): &(usize, &f32)| (stage - discs as f32).abs();
    let found = stages.iter().enumerate().min_by(|a, b| distance(a).total_cmp(&distance(b)));
    found.map_or(0, |(index, _)| index)
}

/// Sums of a stage for the least squared error.
#[derive(Clone)]
struct Equations {
    matrix: DMatrix<f64>,
    right: DVector<f64>,
    squares: f64,
    boards: f64,
}

impl Equations {
    fn new() -> Equations {
        let (matrix, right) = (DMatrix::zeros(SUMS + 1, SUMS + 1), DVector::zeros(SUMS + 1));
        Equations { matrix, right, squares: 0.0, boards: 0.0 }
    }

    /// Adds a board with these sums and this value in discs.
    fn add(&mut self, sums: &[f32; SUMS], value: f64) {
        let inputs = sums.iter().map(|&sum| f64::from(sum)).chain([1.0]);
        let inputs = DVector::from_iterator(SUMS + 1, inputs);
        self.matrix.ger(1.0, &inputs, &inputs, 1.0);
        self.right.axpy(value, &inputs, 1.0);
        self.squares += value * value;
        self.boards += 1.0;
    }

    /// The numbers of the stage.
    fn solved(mut self) -> [f32; NUMBERS] {
        let mut numbers = [0.0; NUMBERS];
        numbers[SUMS + 1] = UNKNOWN;
        // With fewer boards the errors would say nothing.
        if self.boards < 10.0 * NUMBERS as f64 {
            return numbers;
        }
        for place in 0..=SUMS {
            self.matrix[(place, place)] += RIDGE * self.boards;
        }
        let Some(cholesky) = self.matrix.clone().cholesky() else { return numbers };
        let solution = cholesky.solve(&self.right);
        for (number, found) in numbers.iter_mut().zip(solution.iter()) {
            *number = *found as f32;
        }
        let explained = 2.0 * solution.dot(&self.right) - solution.dot(&(&self.matrix * &solution));
        numbers[SUMS + 1] = ((self.squares - explained) / self.boards).max(0.0).sqrt() as f32;
        numbers
    }
}

/// The array `estimate` for these stages, from boards with their numbers of discs, sums, and values in
/// discs.
pub(super) fn fit(
    stages: &[f32],
    boards: impl Iterator<Item = (u32, [f32; SUMS], f64)>,
) -> Vec<f32> {
    let mut equations = vec![Equations::new(); stages.len()];
    for (discs, sums, value) in boards {
        equations[nearest(stages, discs)].add(&sums, value);
    }
    equations.into_iter().flat_map(Equations::solved).collect()
}
