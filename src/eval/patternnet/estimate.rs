//! A cheap estimate of a net over patterns: a linear function of the sums of its rows.
//!
//! The function is folded into a table: each row of a stage becomes one number. So an estimate reads
//! two bytes for each image, and not a row. Chess programs call an evaluation lazy that is left out
//! where a cheap one decides.

use nalgebra::{DMatrix, DVector};

use super::{Row, SUMS};
use crate::eval::SCALE;

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
    /// For each stage the numbers of all codes, one stage behind the other.
    tables: Box<[i16]>,
    /// For each number of discs.
    stages: Box<[Stage]>,
}

#[derive(Clone, Copy, Debug)]
struct Stage {
    /// The first number of the stage in the tables.
    table: usize,
    constant: i32,
    deviation: i32,
}

impl Estimate {
    /// The estimates of a net with these rows, this bias and the array `numbers`. `stages` has the
    /// number of discs of each stage, and `unit` is 1 over the integer that stands for 1 in a row.
    pub fn new(
        numbers: &[f32],
        (rows, bias, unit): (&[Row], &Row, f32),
        (stages, most): (&[f32], usize),
    ) -> Self {
        let scaled = |number: f32| (number * SCALE as f32).round_ties_even();
        let times = |slopes: &[f32], row: &Row| {
            let terms = row.0.iter().zip(slopes).map(|(&number, slope)| f32::from(number) * slope);
            terms.sum::<f32>() * unit
        };
        // The cast saturates.
        let of_row = |slopes: &[f32], row: &Row| scaled(times(slopes, row)) as i16;
        let of_stage = |numbers: &[f32]| rows.iter().map(move |row| of_row(numbers, row)).collect();
        let tables: Vec<Vec<i16>> = numbers.chunks_exact(NUMBERS).map(of_stage).collect();
        let stage = |discs: usize| {
            let stage = nearest(stages, discs as u32);
            let numbers = &numbers[stage * NUMBERS..][..NUMBERS];
            let constant = scaled(numbers[SUMS] + times(numbers, bias)) as i32;
            let deviation = scaled(numbers[SUMS + 1]) as i32;
            Stage { table: stage * rows.len(), constant, deviation }
        };
        Estimate { tables: tables.concat().into(), stages: (0..=most).map(stage).collect() }
    }

    /// The estimate for a board with so many discs and codes at these places.
    #[inline(always)]
    pub fn value(&self, discs: u32, places: &[u32]) -> i32 {
        let Stage { table, constant, .. } = self.stages[discs as usize];
        let table = &self.tables[table..];
        constant + places.iter().map(|&place| i32::from(table[place as usize])).sum::<i32>()
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
