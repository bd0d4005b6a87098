//! Learning from labels: mini-batches, and Adam (Kingma and Ba 2015) for the least squared error.
//!
//! The result does not depend on the number of threads: a batch is divided into a fixed number of
//! parts, and sums are taken in the order of the parts.

use rand::seq::SliceRandom;
use rayon::prelude::*;

use super::students::{Student, UNIT};
use crate::game::Geometry;
use crate::store::labels::Label;
use crate::train::seeds::Random;
use crate::train::stagewise::UnitContext;

/// A batch is divided into this many parts.
const PARTS: usize = 4;

/// Steps between two reports.
const REPORT: usize = 16;

/// Adam's constants, as its authors give them.
const BETAS: [f32; 2] = [0.9, 0.999];
const EPSILON: f32 = 1e-8;

/// How a model learns.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Learning {
    /// How often each label is used.
    pub epochs: u32,
    /// Labels of a step.
    pub batch: usize,
    /// The learning rate of the first step. It falls to 0 on a straight line.
    pub rate: f32,
}

/// Adam's state: the means of the derivatives and of their squares.
struct Adam {
    means: Vec<f32>,
    squares: Vec<f32>,
    step: i32,
}

impl Adam {
    fn new(numbers: usize) -> Adam {
        Adam { means: vec![0.0; numbers], squares: vec![0.0; numbers], step: 0 }
    }

    /// Changes the numbers by their derivatives.
    fn step(&mut self, numbers: &mut [f32], derivatives: &[f32], rate: f32) {
        self.step += 1;
        let [mean_bias, square_bias] = BETAS.map(|beta| 1.0 - beta.powi(self.step));
        let state = self.means.iter_mut().zip(&mut self.squares);
        for ((number, &by), (mean, square)) in numbers.iter_mut().zip(derivatives).zip(state) {
            *mean += (1.0 - BETAS[0]) * (by - *mean);
            *square += (1.0 - BETAS[1]) * (by * by - *square);
            *number -= rate * (*mean / mean_bias) / ((*square / square_bias).sqrt() + EPSILON);
        }
    }
}

/// The numbers after learning, and the mean absolute error in discs on the labels of the last epoch,
/// each before it was learnt. `None` if it was stopped.
pub fn learn<G: Geometry>(
    student: &dyn Student<G>,
    mut numbers: Vec<f32>,
    labels: &[Label<G>],
    (learning, random): (Learning, &mut Random),
    context: &UnitContext<'_>,
) -> Option<(Vec<f32>, f64)> {
    let mut order: Vec<u32> = (0..labels.len() as u32).collect();
    let mut adam = Adam::new(numbers.len());
    let all = learning.epochs as usize * labels.len().div_ceil(learning.batch);
    let (mut steps, mut errors) = (0, 0.0);
    for _ in 0..learning.epochs {
        order.shuffle(random);
        errors = 0.0;
        for batch in order.chunks(learning.batch) {
            if steps % REPORT == 0 {
                if context.is_stopped() {
                    return None;
                }
                context.report(steps as f64 / all as f64);
            }
            let (derivatives, error) = derivatives(student, &numbers, labels, batch);
            let rate = learning.rate * (1.0 - steps as f32 / all as f32);
            adam.step(&mut numbers, &derivatives, rate);
            student.limit(&mut numbers);
            errors += error;
            steps += 1;
        }
    }
    Some((numbers, f64::from(UNIT) * errors / labels.len().max(1) as f64))
}

/// The derivatives of half the mean squared error of a batch, and the sum of the absolute errors.
fn derivatives<G: Geometry>(
    student: &dyn Student<G>,
    numbers: &[f32],
    labels: &[Label<G>],
    batch: &[u32],
) -> (Vec<f32>, f64) {
    let spread = student.spread(numbers);
    let part = |indices: &[u32]| {
        let mut sums = vec![0.0; spread.len()];
        let error = |&index: &u32| {
            f64::from(student.learn(&spread, &labels[index as usize], &mut sums).abs())
        };
        let error: f64 = indices.iter().map(error).sum();
        (student.gather(&sums), error)
    };
    let parts = batch.par_chunks(batch.len().div_ceil(PARTS).max(1));
    let parts: Vec<(Vec<f32>, f64)> = parts.map(part).collect();
    let mut total = vec![0.0; numbers.len()];
    let mut errors = 0.0;
    for (sums, error) in parts {
        total.iter_mut().zip(sums).for_each(|(total, sum)| *total += sum);
        errors += error;
    }
    total.iter_mut().for_each(|total| *total /= batch.len() as f32);
    (total, errors)
}

/// The mean absolute error of a model in discs on these labels, of which there is at least one.
pub fn error<G: Geometry>(student: &dyn Student<G>, numbers: &[f32], labels: &[Label<G>]) -> f64 {
    let spread = student.spread(numbers);
    let error = |label: &Label<G>| {
        let value = UNIT * student.value(&spread, label.board);
        f64::from((value - f32::from(label.score)).abs())
    };
    labels.iter().map(error).sum::<f64>() / labels.len() as f64
}
