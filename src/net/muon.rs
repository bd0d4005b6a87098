//! Steps with orthogonal matrices (Muon, Jordan 2024).
//!
//! The gradient of a filter has a few large directions and many small ones. Muon gives all of them
//! the same length: the step is the orthogonal matrix that is nearest to the mean gradient.

use tch::{Kind, Tensor};

/// The polynomial `a x + b x^3 + c x^5` takes every singular value from 0 to 1 to one near 1 within
/// [`REPEATS`] repetitions (Jordan 2024).
const COEFFICIENTS: [f64; 3] = [3.4445, -4.7750, 2.0315];
const REPEATS: usize = 5;
/// Against division by 0.
const EPSILON: f64 = 1e-7;
/// The root mean square of a step's numbers. That of AdamW's steps lies near it, so that the same
/// learning rate suits both (Liu and others 2025, section 2.2).
const STEP: f64 = 0.2;

/// The direction of a step for a matrix with this mean gradient, in the shape of the array. An array
/// of shape `[out, in, ...]` is a matrix with a row for each output.
pub(super) fn direction(gradient: &Tensor) -> Tensor {
    let shape = gradient.size();
    let matrix = gradient.reshape([shape[0], -1]);
    let (rows, columns) = matrix.size2().unwrap_or((1, 1));
    let wide = rows <= columns;
    let wide_matrix = if wide { matrix } else { matrix.tr() };
    let found = orthogonal(&wide_matrix);
    let found = if wide { found } else { found.tr() };
    (found * (STEP * (rows.max(columns) as f64).sqrt())).reshape(shape)
}

/// A matrix with the same singular vectors and singular values near 1, by the iteration of Newton and
/// Schulz. It has at most as many rows as columns.
fn orthogonal(matrix: &Tensor) -> Tensor {
    let [a, b, c] = COEFFICIENTS;
    // The norm bounds all singular values.
    let mut x = matrix / (matrix.square().sum(Kind::Float).sqrt() + EPSILON);
    for _ in 0..REPEATS {
        let squared = x.matmul(&x.tr());
        let polynomial = &squared * b + squared.matmul(&squared) * c;
        x = &x * a + polynomial.matmul(&x);
    }
    x
}

#[cfg(test)]
mod tests {
    use nalgebra::DMatrix;
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    #[test]
    fn all_directions_of_a_step_are_about_as_long() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(3);
        for shape in [[8, 8, 3, 3], [24, 2, 1, 2], [1, 5, 1, 1]] {
            let count: i64 = shape.iter().product();
            let numbers: Vec<f32> = (0..count).map(|_| random.random_range(-1.0..1.0)).collect();
            let gradient = Tensor::from_slice(&numbers).reshape(shape);
            let found = direction(&gradient);
            assert_eq!(found.size(), shape);
            let found = Vec::<f32>::try_from(found.flatten(0, -1)).unwrap();
            let (rows, columns) = (shape[0] as usize, count as usize / shape[0] as usize);
            let scale = 0.2 * (rows.max(columns) as f32).sqrt();
            let matrix = DMatrix::from_row_slice(rows, columns, &found) / scale;
            for value in matrix.singular_values().iter() {
                assert!((0.6..1.3).contains(value), "{shape:?}: {value}");
            }
            // The step goes along the gradient.
            let along: f32 = found.iter().zip(&numbers).map(|(step, slope)| step * slope).sum();
            assert!(along > 0.0, "{shape:?}");
        }
    }

    #[test]
    fn no_gradient_gives_no_step() {
        let found = direction(&Tensor::zeros([4, 6], (Kind::Float, tch::Device::Cpu)));
        assert_eq!(f64::try_from(found.abs().max()).unwrap(), 0.0);
    }
}
