//! The observed information matrix of the ratings.
//!
//! It is the Laplacian of the graph of players and pairs that have met, plus the prior on the
//! diagonal. It is sparse: most pairs of players have not met. Newton steps only multiply by it.
//! Variances need its inverse.

use nalgebra::DMatrix;

/// The information matrix: symmetric and positive definite.
#[derive(Default)]
pub(super) struct Information {
    /// The diagonal, one number for each player.
    pub diagonal: Vec<f64>,
    /// Two players and the information of the games between them. The entries off the diagonal are
    /// its negative.
    pairs: Vec<(usize, usize, f64)>,
}

impl Information {
    /// Adds the information that games between two players give about their difference.
    pub fn add_pair(&mut self, first: usize, second: usize, weight: f64) {
        self.diagonal[first] += weight;
        self.diagonal[second] += weight;
        self.pairs.push((first, second, weight));
    }

    fn times(&self, vector: &[f64]) -> Vec<f64> {
        let mut product: Vec<f64> =
            self.diagonal.iter().zip(vector).map(|(entry, part)| entry * part).collect();
        for &(first, second, weight) in &self.pairs {
            product[first] -= weight * vector[second];
            product[second] -= weight * vector[first];
        }
        product
    }

    /// The solution of `self * solution = right` by conjugate gradients, preconditioned by the
    /// diagonal (Hestenes and Stiefel 1952).
    ///
    /// With too few iterations the solution for a gradient is still a direction of ascent, which is
    /// enough for Newton's method.
    pub fn solve(&self, right: &[f64]) -> Vec<f64> {
        const PRECISION: f64 = 1e-11;
        let scaled = |residual: &[f64]| -> Vec<f64> {
            residual.iter().zip(&self.diagonal).map(|(part, entry)| part / entry).collect()
        };
        let mut solution = vec![0.0; right.len()];
        let mut residual = right.to_vec();
        let mut direction = scaled(&residual);
        let mut square = dot(&residual, &direction);
        let enough = square * PRECISION * PRECISION;
        for _ in 0..2 * right.len() + 20 {
            if square <= enough {
                break;
            }
            let image = self.times(&direction);
            let length = square / dot(&direction, &image);
            add(&mut solution, length, &direction);
            add(&mut residual, -length, &image);
            let next = scaled(&residual);
            let before = std::mem::replace(&mut square, dot(&residual, &next));
            let kept = square / before;
            direction = next.iter().zip(&direction).map(|(part, old)| part + kept * old).collect();
        }
        solution
    }

    /// The variance of each player's strength, minus the mean of all strengths by `weights`, which
    /// sum to 1. The games do not determine a common shift of all strengths; it cancels out.
    pub fn variances(&self, weights: &[f64]) -> Vec<f64> {
        let Some(inverse) = self.inverse() else { return vec![f64::INFINITY; weights.len()] };
        let row = |place| (0..weights.len()).map(move |other| (place, other));
        let entry = |at: (usize, usize)| inverse[at] * weights[at.1];
        let with_shift: Vec<f64> =
            (0..weights.len()).map(|place| row(place).map(entry).sum()).collect();
        let shift = dot(&with_shift, weights);
        let variance = |(place, both): (usize, &f64)| inverse[(place, place)] - 2.0 * both + shift;
        with_shift.iter().enumerate().map(variance).collect()
    }

    /// The inverse; `None` if rounding errors make the matrix look singular.
    fn inverse(&self) -> Option<DMatrix<f64>> {
        let size = self.diagonal.len();
        // Larger than rounding errors, negligible beside the information of one game.
        let ridge = 1e-13 * self.diagonal.iter().copied().fold(0.0, f64::max);
        let mut matrix = DMatrix::zeros(size, size);
        for (place, entry) in self.diagonal.iter().enumerate() {
            matrix[(place, place)] = entry + ridge;
        }
        for &(first, second, weight) in &self.pairs {
            matrix[(first, second)] -= weight;
            matrix[(second, first)] -= weight;
        }
        Some(matrix.cholesky()?.inverse())
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Adds `length` times `direction` to `vector`.
fn add(vector: &mut [f64], length: f64, direction: &[f64]) {
    vector.iter_mut().zip(direction).for_each(|(part, change)| *part += length * change);
}
