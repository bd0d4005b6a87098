//! Batch norms. Statistics are accumulated while a convolution's outputs are stored, and gradients
//! are computed where they are used.
//!
//! With the mean `m` and the standard deviation `s` of a channel over the batch, an output `y`
//! becomes `scale (y - m) / s + shift`, an affine map of `y`. The gradient of `y` is an affine
//! function of the gradient after the norm and of `y` (Ioffe and Szegedy 2015, section 3).
//! Therefore neither normalised outputs nor gradients before the norm are stored.

use super::arrays::{ArrayMap, Vectors};
use crate::net::plan::{NORM_EPSILON, NORM_MOMENTUM};
use crate::net::vector::{LANES, Vector, flat_mut, vectors};

/// Two sums over all cells of a batch, for each channel.
#[derive(Clone, Debug)]
struct Sums {
    /// Sums of the current group. They have few terms, so that float32 is exact enough.
    part: [Vec<Vector>; 2],
    /// Sums of all earlier groups.
    whole: [Vec<f64>; 2],
}

impl Sums {
    fn new(depth: usize) -> Sums {
        let (part, whole) = (vec![Vector::ZERO; depth], vec![0.0; depth * LANES]);
        Sums { part: [part.clone(), part], whole: [whole.clone(), whole] }
    }

    #[inline(always)]
    fn add(&mut self, c: usize, first: Vector, second: Vector) {
        self.part[0][c] += first;
        self.part[1][c] += second;
    }

    fn end_group(&mut self) {
        for (part, whole) in self.part.iter_mut().zip(&mut self.whole) {
            for (part, whole) in flat_mut(part).iter_mut().zip(whole) {
                *whole += f64::from(std::mem::take(part));
            }
        }
    }

    fn take(&mut self) -> [Vec<f64>; 2] {
        self.whole.each_mut().map(|whole| std::mem::replace(whole, vec![0.0; whole.len()]))
    }
}

/// The batch norm after a convolution.
#[derive(Debug)]
pub(super) struct Norm {
    name: String,
    sums: Sums,
    mean: Vec<Vector>,
    /// `1 / s`.
    inverse: Vec<Vector>,
    /// See [`Forward`].
    factor: Vec<Vector>,
    offset: Vec<Vector>,
    /// See [`Backward`].
    slope: Vec<Vector>,
    constant: Vec<Vector>,
}

/// The map from an output `y` to `y` after the norm.
#[derive(Clone, Copy)]
pub(super) struct Forward {
    /// `scale / s`.
    factor: Vector,
    /// `shift - m scale / s`.
    offset: Vector,
}

impl Forward {
    /// The output `y` after the norm.
    #[inline(always)]
    pub(super) fn apply(self, y: Vector) -> Vector {
        y.mul_add(self.factor, self.offset)
    }
}

/// The map from a gradient after the norm to the gradient of `y`.
#[derive(Clone, Copy)]
pub(super) struct Backward {
    /// The factor of the gradient after the norm.
    factor: Vector,
    /// The factor of `y`.
    slope: Vector,
    constant: Vector,
}

impl Backward {
    /// The gradient of the output `y`.
    #[inline(always)]
    pub(super) fn apply(self, y: Vector, gradient: Vector) -> Vector {
        gradient.mul_add(self.factor, y.mul_add(self.slope, self.constant))
    }
}

impl Norm {
    /// The norm called `name` over `depth` channel vectors.
    pub(super) fn new(name: impl Into<String>, depth: usize) -> Norm {
        let zeros = || vec![Vector::ZERO; depth];
        Norm {
            name: name.into(),
            sums: Sums::new(depth),
            mean: zeros(),
            inverse: zeros(),
            factor: zeros(),
            offset: zeros(),
            slope: zeros(),
            constant: zeros(),
        }
    }

    /// Adds outputs of channel vector `c` to the sums.
    #[inline(always)]
    pub(super) fn accumulate<'a>(&mut self, c: usize, outputs: impl Iterator<Item = &'a Vector>) {
        let (mut sum, mut squares) = (Vector::ZERO, Vector::ZERO);
        for y in outputs {
            sum += *y;
            squares = y.mul_add(*y, squares);
        }
        self.sums.add(c, sum, squares);
    }

    /// Adds gradients after the norm to the sums. Items are `(y, gradient)`.
    #[inline(always)]
    pub(super) fn accumulate_gradients(
        &mut self,
        c: usize,
        gradients: impl Iterator<Item = (Vector, Vector)>,
    ) {
        let (mean, inverse) = (self.mean[c], self.inverse[c]);
        let (mut sum, mut normalised) = (Vector::ZERO, Vector::ZERO);
        for (y, gradient) in gradients {
            sum += gradient;
            normalised = gradient.mul_add(y - mean, normalised);
        }
        self.sums.add(c, sum, normalised * inverse);
    }

    /// Ends a group of outputs or of gradients.
    pub(super) fn end_group(&mut self) {
        self.sums.end_group();
    }

    /// The forward map of channel vector `c`.
    #[inline(always)]
    pub(super) fn forward(&self, c: usize) -> Forward {
        Forward { factor: self.factor[c], offset: self.offset[c] }
    }

    /// The backward map of channel vector `c`.
    #[inline(always)]
    pub(super) fn backward(&self, c: usize) -> Backward {
        Backward { factor: self.factor[c], slope: self.slope[c], constant: self.constant[c] }
    }

    /// Computes the statistics from the sums of `count` outputs per channel, and updates the
    /// running statistics in `vectors`.
    pub(super) fn finish_statistics(
        &mut self,
        arrays: &ArrayMap,
        vectors: &mut Vectors,
        count: usize,
    ) {
        let [sums, squares] = self.sums.take();
        let name = |part| format!("{}.{part}", self.name);
        let channels = arrays.get(vectors, &name("scale")).len();
        let count = count as f64;
        for channel in 0..channels {
            let mean = sums[channel] / count;
            let variance = (squares[channel] / count - mean * mean).max(0.0);
            let inverse = 1.0 / (variance + NORM_EPSILON).sqrt();
            let scale = f64::from(arrays.get(vectors, &name("scale"))[channel]);
            let shift = f64::from(arrays.get(vectors, &name("shift"))[channel]);
            for (numbers, value) in [
                (&mut self.mean, mean),
                (&mut self.inverse, inverse),
                (&mut self.factor, scale * inverse),
                (&mut self.offset, shift - mean * scale * inverse),
            ] {
                flat_mut(numbers)[channel] = value as f32;
            }
            // The running variance is the unbiased estimate.
            let unbiased = variance * count / (count - 1.0).max(1.0);
            for (part, value) in [("mean", mean), ("variance", unbiased)] {
                let running = &mut arrays.get_mut(vectors, &name(part))[channel];
                *running += NORM_MOMENTUM as f32 * (value as f32 - *running);
            }
        }
    }

    /// Computes the gradients of scale and shift and the maps [`Backward`] from the sums of `count`
    /// gradients per channel.
    pub(super) fn finish_gradients(
        &mut self,
        arrays: &ArrayMap,
        gradients: &mut Vectors,
        count: usize,
    ) {
        let [plain, normalised] = self.sums.take();
        for (part, sums) in [("scale", &normalised), ("shift", &plain)] {
            let to = arrays.get_mut(gradients, &format!("{}.{part}", self.name));
            to.iter_mut().zip(sums).for_each(|(to, sum)| *to = *sum as f32);
        }
        let depth = vectors(plain.len());
        let share = 1.0 / count as f64;
        for c in 0..depth {
            let of = |sums: &[f64]| {
                Vector::new(std::array::from_fn(|lane| (sums[c * LANES + lane] * share) as f32))
            };
            let slope = self.factor[c] * of(&normalised) * self.inverse[c];
            self.slope[c] = -slope;
            self.constant[c] = slope * self.mean[c] - self.factor[c] * of(&plain);
        }
    }
}
