//! Fits the weights of a stage to the features and scores of its boards.
//!
//! Least squares fits the scores themselves. The two classifiers, logistic regression and a support
//! vector machine (SVM), fit their signs only; their weights are then scaled so that the sum of
//! squared errors is least. So the weights of all three are in discs.

mod svm;
#[cfg(test)]
mod tests;

use nalgebra::DMatrix;

use crate::choices::choices;

choices! {
    /// The model that is fitted to the scores of a stage.
    pub enum Fit {
        /// Least squares of the scores.
        Linear = "linear",
        /// Logistic regression of the scores' signs.
        Logistic = "logistic",
        /// A linear support vector machine for the scores' signs.
        #[default]
        Svm = "svm",
    }
}

/// The boards of a stage.
pub struct Samples {
    /// One row for each board, one column for each feature.
    pub features: DMatrix<f64>,
    /// The scores in discs.
    pub scores: Vec<f64>,
    /// The column that is the same for all boards, whose weight is not regularised.
    pub offset: usize,
    /// Whether a classifier tells scores above their mean from those below it, and not wins from
    /// losses.
    pub centred: bool,
}

/// Fitted weights, and how well they fit their own boards.
#[derive(Clone, PartialEq, Debug)]
pub struct Fitted {
    /// The weights in discs.
    pub weights: Vec<f64>,
    /// Engel's sigma: the root of the mean squared error in discs.
    pub sigma: f64,
    /// Engel's p: the share of boards whose sign is right, 0 to 1. A draw counts a half.
    pub right: f64,
}

/// Why a fit fails.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum FitError {
    /// The solver of linear equations did not converge.
    #[error("the equations of the fit cannot be solved: their numbers are not finite")]
    Equations,
}

impl Samples {
    /// Fits weights to the boards.
    ///
    /// # Errors
    ///
    /// The features or the scores are not finite.
    pub fn fit(&self, fit: Fit) -> Result<Fitted, FitError> {
        let weights = match fit {
            Fit::Linear => self.least_squares()?,
            Fit::Logistic => self.scaled(self.signed().logistic()?),
            Fit::Svm => self.scaled(self.signed().svm()?),
        };
        let (sigma, right) = self.errors(&weights);
        Ok(Fitted { weights, sigma, right })
    }

    /// Weights that were fitted to other scores, with the scale that suits these scores best.
    pub fn rescaled(&self, weights: Vec<f64>) -> Fitted {
        let weights = self.scaled(weights);
        let (sigma, right) = self.errors(&weights);
        Fitted { weights, sigma, right }
    }

    /// Engel's sigma and p of weights on these boards.
    pub fn errors(&self, weights: &[f64]) -> (f64, f64) {
        let predicted = times(&self.features, weights);
        let pairs = || predicted.iter().zip(&self.scores);
        let count = self.scores.len().max(1) as f64;
        let squares: f64 = pairs().map(|(found, score)| (found - score).powi(2)).sum();
        let right = |found: f64, score: f64| match found * score {
            product if product > 0.0 => 1.0,
            product if product < 0.0 => 0.0,
            _ => 0.5,
        };
        let right: f64 = pairs().map(|(&found, &score)| right(found, score)).sum();
        ((squares / count).sqrt(), right / count)
    }

    /// The weights with the least sum of squared errors; of several such weights, the shortest.
    fn least_squares(&self) -> Result<Vec<f64>, FitError> {
        let gram = self.features.transpose() * &self.features;
        solve(&gram, &times_transposed(&self.features, &self.scores))
    }

    /// What a classifier takes from the scores before it looks at their signs.
    fn centre(&self) -> f64 {
        let count = self.scores.len().max(1) as f64;
        if self.centred { self.scores.iter().sum::<f64>() / count } else { 0.0 }
    }

    /// The multiple of a classifier's weights with the least sum of squared errors, with the centre
    /// added to it.
    fn scaled(&self, weights: Vec<f64>) -> Vec<f64> {
        let centre = self.centre();
        let predicted = times(&self.features, &weights);
        let centred: Vec<f64> = self.scores.iter().map(|score| score - centre).collect();
        let square = dot(&predicted, &predicted);
        let scale = if square > 0.0 { dot(&predicted, &centred) / square } else { 0.0 };
        let mut scaled: Vec<f64> = weights.into_iter().map(|weight| scale * weight).collect();
        if centre != 0.0 {
            scaled[self.offset] += centre / self.features[(0, self.offset)];
        }
        scaled
    }

    /// The boards without draws, each row multiplied by the sign of its score.
    fn signed(&self) -> Signed {
        let centre = self.centre();
        let score = |row: usize| self.scores[row] - centre;
        let rows: Vec<usize> = (0..self.scores.len()).filter(|&row| score(row) != 0.0).collect();
        let rows = DMatrix::from_fn(rows.len(), self.features.ncols(), |row, column| {
            score(rows[row]).signum() * self.features[(rows[row], column)]
        });
        Signed { rows, offset: self.offset }
    }
}

/// Boards for a classifier: a row times the weights should be positive.
struct Signed {
    rows: DMatrix<f64>,
    offset: usize,
}

impl Signed {
    /// The weights `w` that minimise the sum over the rows `a` of `ln(1 + exp(-a w))`.
    ///
    /// Newton's method with a line search finds the minimum that Engel finds by gradient descent. A
    /// small multiple of the squared weights is added, because without it there is no minimum if
    /// the signs can be separated.
    fn logistic(&self) -> Result<Vec<f64>, FitError> {
        const RIDGE: f64 = 1e-6;
        const MOST_STEPS: usize = 100;
        let mut weights = vec![0.0; self.rows.ncols()];
        let objective = |weights: &[f64]| -> f64 {
            let margins = times(&self.rows, weights);
            let losses: f64 = margins.into_iter().map(|margin| softplus(-margin)).sum();
            losses + 0.5 * RIDGE * dot(weights, weights)
        };
        let mut value = objective(&weights);
        for _ in 0..MOST_STEPS {
            let wrong: Vec<f64> =
                times(&self.rows, &weights).into_iter().map(|margin| sigmoid(-margin)).collect();
            let mut downhill = times_transposed(&self.rows, &wrong);
            downhill.iter_mut().zip(&weights).for_each(|(part, weight)| *part -= RIDGE * weight);
            let curved = DMatrix::from_fn(self.rows.nrows(), self.rows.ncols(), |row, column| {
                wrong[row] * (1.0 - wrong[row]) * self.rows[(row, column)]
            });
            let mut hessian = self.rows.transpose() * &curved;
            (0..weights.len()).for_each(|index| hessian[(index, index)] += RIDGE);
            let step = solve(&hessian, &downhill)?;
            let gain = dot(&downhill, &step);
            let mut length = 1.0;
            let (next, next_value) = loop {
                let next: Vec<f64> = weights
                    .iter()
                    .zip(&step)
                    .map(|(weight, part)| weight + length * part)
                    .collect();
                let next_value = objective(&next);
                if next_value <= value - 0.25 * length * gain || length < 1e-9 {
                    break (next, next_value);
                }
                length /= 2.0;
            };
            // The gain is half of what the value can still fall by.
            let is_done = gain <= 1e-14 * (1.0 + value) || next_value >= value;
            if next_value < value {
                (weights, value) = (next, next_value);
            }
            if is_done {
                break;
            }
        }
        Ok(weights)
    }
}

/// `ln(1 + exp(x))` without overflow.
fn softplus(x: f64) -> f64 {
    x.max(0.0) + (-x.abs()).exp().ln_1p()
}

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

fn dot(left: &[f64], right: &[f64]) -> f64 {
    left.iter().zip(right).map(|(left, right)| left * right).sum()
}

/// The product of a matrix and a vector.
fn times(matrix: &DMatrix<f64>, vector: &[f64]) -> Vec<f64> {
    let mut product = vec![0.0; matrix.nrows()];
    for (column, &factor) in vector.iter().enumerate() {
        let entries = matrix.column(column);
        product.iter_mut().zip(&entries).for_each(|(sum, entry)| *sum += factor * entry);
    }
    product
}

/// The product of a transposed matrix and a vector.
fn times_transposed(matrix: &DMatrix<f64>, vector: &[f64]) -> Vec<f64> {
    let column =
        |column| matrix.column(column).iter().zip(vector).map(|(entry, x)| entry * x).sum();
    (0..matrix.ncols()).map(column).collect()
}

/// The shortest of the vectors that solve the equations best. `matrix` is symmetric and has no
/// negative eigenvalues.
fn solve(matrix: &DMatrix<f64>, right: &[f64]) -> Result<Vec<f64>, FitError> {
    Ok(times(&inverse(matrix)?, right))
}

/// The pseudoinverse of a symmetric matrix without negative eigenvalues.
fn inverse(matrix: &DMatrix<f64>) -> Result<DMatrix<f64>, FitError> {
    /// Eigenvalues below this part of the largest one count as 0.
    const RANK_TOLERANCE: f64 = 1e-11;
    /// Far more than finite numbers need; others would have no end.
    const MOST_ITERATIONS: usize = 100_000;
    let eigen = matrix.clone().try_symmetric_eigen(f64::EPSILON, MOST_ITERATIONS);
    let eigen = eigen.ok_or(FitError::Equations)?;
    let (values, vectors) = (&eigen.eigenvalues, &eigen.eigenvectors);
    let largest = values.iter().copied().fold(0.0, f64::max);
    if !values.iter().all(|value| value.is_finite()) {
        return Err(FitError::Equations);
    }
    let reciprocal = |value: f64| if value > RANK_TOLERANCE * largest { 1.0 / value } else { 0.0 };
    let scaled = DMatrix::from_fn(values.len(), values.len(), |row, column| {
        vectors[(row, column)] * reciprocal(values[column])
    });
    Ok(&scaled * vectors.transpose())
}
