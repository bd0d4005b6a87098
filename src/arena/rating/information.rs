//! The observed information of ratings, and what is solved with it.
//!
//! It is the Laplacian of a graph whose edges are the pairs of players that have met, with
//! something added on the diagonal: few numbers beside the square of the number of players. Steps
//! towards the ratings only multiply by it. Variances need its inverse, which libtorch computes.

use tch::Tensor;

/// A symmetric, positive definite matrix: what the games say about the players' strengths.
#[derive(Default)]
pub(super) struct Information {
    /// The numbers on the diagonal, one for each player.
    pub diagonal: Vec<f64>,
    /// Two players and how much the games between them say; off the diagonal stands its negative.
    pairs: Vec<(usize, usize, f64)>,
}

impl Information {
    /// Adds what the games between two players say about the difference of their strengths.
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
    /// A solution that is cut short still points uphill for a gradient, as Newton's method needs.
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

    /// The variance of each player's strength less the mean of all strengths by `weights`, which
    /// sum to 1. The common shift of all strengths, of which games say nothing, drops out.
    pub fn variances(&self, weights: &[f64]) -> Vec<f64> {
        let inverse = self.inverse();
        let column = inverse.mv(&Tensor::from_slice(weights));
        let shift = numbers(&column).iter().zip(weights).map(|(a, b)| a * b).sum::<f64>();
        let own = numbers(&inverse.diagonal(0, 0, 1));
        let with_shift = numbers(&column);
        own.iter().zip(with_shift).map(|(own, both)| own - 2.0 * both + shift).collect()
    }

    fn inverse(&self) -> Tensor {
        let size = self.diagonal.len();
        // More than rounding takes away, and nothing beside what a game says.
        let ridge = 1e-13 * self.diagonal.iter().copied().fold(0.0, f64::max);
        let mut entries = vec![0.0; size * size];
        for (place, entry) in self.diagonal.iter().enumerate() {
            entries[place * (size + 1)] = entry + ridge;
        }
        for &(first, second, weight) in &self.pairs {
            entries[first * size + second] -= weight;
            entries[second * size + first] -= weight;
        }
        let side = size as i64;
        let matrix = Tensor::from_slice(&entries).view([side, side]);
        drop(entries);
        matrix.linalg_cholesky(false).cholesky_inverse(false)
    }
}

fn numbers(vector: &Tensor) -> Vec<f64> {
    let mut numbers = vec![0.0; vector.numel()];
    let count = numbers.len();
    vector.contiguous().copy_data(&mut numbers, count);
    numbers
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Adds `length` times `direction` to `vector`.
fn add(vector: &mut [f64], length: f64, direction: &[f64]) {
    vector.iter_mut().zip(direction).for_each(|(part, change)| *part += length * change);
}
