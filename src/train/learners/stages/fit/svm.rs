//! The linear support vector machine, by the alternating direction method of multipliers (ADMM;
//! Boyd and others 2011, docs/references.md).
//!
//! It minimises half of the squared weights, without that of the offset, plus the hinge losses
//! `max(1 - a w, 0)` of all rows `a`. ADMM splits the margins `z = a w` from the weights. In turn it
//! minimises over the weights (linear equations), over the margins (each alone), and adds the
//! difference to the scaled multipliers.

use nalgebra::DMatrix;

use super::{FitError, Signed, dot, inverse, times, times_transposed};

/// The most iterations. The classifiers of this program need some hundreds to thousands.
const MOST_ITERATIONS: usize = 20_000;
/// The residuals at the end, relative to the quantities that they compare.
const TOLERANCE: f64 = 1e-6;
/// Over-relaxation: how far an iteration goes beyond the new margins (Boyd and others, 3.4.3).
const RELAXATION: f64 = 1.6;
/// The penalty changes if one residual is this many times the other (Boyd and others, 3.4.1).
const IMBALANCE: f64 = 10.0;
/// The iterations between two looks at the residuals.
const CHECK_EVERY: usize = 20;

impl Signed {
    /// The weights of the support vector machine.
    pub(super) fn svm(&self) -> Result<Vec<f64>, FitError> {
        self.svm_within(TOLERANCE, MOST_ITERATIONS)
    }

    /// The same to a tolerance, with at most this many iterations.
    pub(super) fn svm_within(&self, tolerance: f64, most: usize) -> Result<Vec<f64>, FitError> {
        let rows = self.rows.nrows();
        let gram = self.rows.transpose() * &self.rows;
        let mut penalty = 1.0;
        let mut equations = self.equations(&gram, penalty)?;
        let mut weights = vec![0.0; self.rows.ncols()];
        let (mut margins, mut multipliers) = (vec![0.0; rows], vec![0.0; rows]);
        for iteration in 1..=most {
            let difference: Vec<f64> =
                margins.iter().zip(&multipliers).map(|(z, u)| z - u).collect();
            let right = times_transposed(&self.rows, &difference);
            weights = times(&equations, &right).into_iter().map(|part| penalty * part).collect();
            let products = times(&self.rows, &weights);
            let before = margins.clone();
            for ((margin, multiplier), product) in
                margins.iter_mut().zip(&mut multipliers).zip(&products)
            {
                let relaxed = RELAXATION * product + (1.0 - RELAXATION) * *margin;
                *margin = hinge_step(relaxed + *multiplier, 1.0 / penalty);
                *multiplier += relaxed - *margin;
            }
            if iteration % CHECK_EVERY != 0 {
                continue;
            }
            let apart: Vec<f64> = products.iter().zip(&margins).map(|(p, z)| p - z).collect();
            let moved: Vec<f64> = margins.iter().zip(&before).map(|(z, old)| z - old).collect();
            let norm = |vector: &[f64]| dot(vector, vector).sqrt();
            let dual = penalty * norm(&times_transposed(&self.rows, &moved));
            let dual_size = penalty * norm(&times_transposed(&self.rows, &multipliers));
            let primal = norm(&apart) / norm(&products).max(norm(&margins)).max(1.0);
            let dual = dual / dual_size.max(1.0);
            if primal <= tolerance && dual <= tolerance {
                break;
            }
            let factor = match primal / dual.max(f64::MIN_POSITIVE) {
                ratio if ratio > IMBALANCE => 2.0,
                ratio if ratio < 1.0 / IMBALANCE => 0.5,
                _ => continue,
            };
            penalty *= factor;
            multipliers.iter_mut().for_each(|multiplier| *multiplier /= factor);
            equations = self.equations(&gram, penalty)?;
        }
        Ok(weights)
    }

    /// The inverse of the matrix of the equations for the weights.
    fn equations(&self, gram: &DMatrix<f64>, penalty: f64) -> Result<DMatrix<f64>, FitError> {
        let count = gram.ncols();
        inverse(&DMatrix::from_fn(count, count, |row, column| {
            let is_regularised = row == column && row != self.offset;
            penalty * gram[(row, column)] + if is_regularised { 1.0 } else { 0.0 }
        }))
    }
}

/// The margin that minimises its hinge loss, times `weight`, plus half of its squared distance from
/// `margin`.
fn hinge_step(margin: f64, weight: f64) -> f64 {
    if margin >= 1.0 { margin } else { (margin + weight).min(1.0) }
}
