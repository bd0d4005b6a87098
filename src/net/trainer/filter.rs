//! Converts filters and matrices between a net's arrays and the layout of the kernels.

use super::arrays::{ArrayMap, Vectors};
use super::convolver::Convolver;
use crate::net::vector::{LANES, Vector, flat, flat_mut, vectors};
use crate::net::winograd::Channels;

/// A 3x3 convolution of the trunk.
#[derive(Debug)]
pub(super) struct Convolution {
    name: String,
    /// Input channels of the array, without padding.
    in_channels: usize,
    /// Whether this is the stem. Its inputs are data and need no gradient.
    first: bool,
    /// The padded sizes.
    pub channels: Channels,
    /// The filter in the layout of [`Convolver::filter`].
    pub filter: Vec<Vector>,
    /// The same with inputs and outputs exchanged. Empty for the stem.
    pub back: Vec<Vector>,
}

impl Convolution {
    /// The convolution called `name`. `in_channels` are input planes if it is the `first`.
    pub(super) fn new(
        name: impl Into<String>,
        in_channels: usize,
        out_channels: usize,
        first: bool,
    ) -> Self {
        let inputs = if first { in_channels } else { vectors(in_channels) * LANES };
        let channels = Channels { inputs, outputs: vectors(out_channels) };
        let (filter, back) = (Vec::new(), Vec::new());
        Convolution { name: name.into(), in_channels, first, channels, filter, back }
    }

    /// Loads the filter from a net's arrays. `taps` is reused memory.
    pub(super) fn load<const W: usize>(
        &mut self,
        convolver: &impl Convolver<W>,
        arrays: &ArrayMap,
        vectors: &Vectors,
        taps: &mut Vec<Vector>,
    ) {
        let weights = arrays.get(vectors, &format!("{}.weight", self.name));
        let (inputs, outputs) = (self.channels.inputs, self.channels.outputs * LANES);
        let size = self.channels.size();
        for (filter, back) in [(&mut self.filter, false), (&mut self.back, true)] {
            if back && self.first {
                continue;
            }
            taps.clear();
            taps.resize(9 * size, Vector::ZERO);
            let numbers = flat_mut(taps);
            for (index, weights) in weights.chunks_exact(9).enumerate() {
                let (output, input) = (index / self.in_channels, index % self.in_channels);
                let index = if back { output * inputs + input } else { input * outputs + output };
                for (tap, &weight) in weights.iter().enumerate() {
                    numbers[tap * inputs * outputs + index] = weight;
                }
            }
            let channels = match back {
                true => Channels { inputs: outputs, outputs: inputs / LANES },
                false => self.channels,
            };
            convolver.filter(taps, channels, filter);
        }
    }

    /// Writes a convolver's sums as the gradients of the net's array. `taps` is reused memory.
    pub(super) fn store<const W: usize>(
        &self,
        convolver: &impl Convolver<W>,
        sums: &[Vector],
        (arrays, gradients): (&ArrayMap, &mut Vectors),
        taps: &mut Vec<Vector>,
    ) {
        let outputs = self.channels.outputs * LANES;
        let size = self.channels.size();
        taps.resize(9 * size, Vector::ZERO);
        convolver.taps(sums, self.channels, taps);
        let numbers = flat(taps);
        let to = arrays.get_mut(gradients, &format!("{}.weight", self.name));
        for (index, weights) in to.chunks_exact_mut(9).enumerate() {
            let (output, input) = (index / self.in_channels, index % self.in_channels);
            for (tap, weight) in weights.iter_mut().enumerate() {
                *weight = numbers[tap * size * LANES + input * outputs + output];
            }
        }
    }
}

/// The matrix of a fully connected layer or a 1x1 convolution.
///
/// The net's array is `[output][input]`. The kernels use `[input][output vector]` and
/// `[output][input vector]`.
#[derive(Debug)]
pub(super) struct Matrix {
    name: String,
    in_features: usize,
    /// Input `i` is row `i` in the first half of the inputs, and row `i + gap` in the second.
    /// `gap` is above 0 where each half is padded to whole vectors.
    gap: usize,
    /// Inputs with padding.
    pub inputs: usize,
    /// Vectors of outputs.
    pub outputs: usize,
    /// `[input][output vector]`.
    pub forward: Vec<Vector>,
    /// `[output][input vector]`.
    pub back: Vec<Vector>,
    /// Sums of gradients in the layout of `forward`.
    pub sums: Vec<Vector>,
}

impl Matrix {
    /// The matrix called `name`. The inputs lie in `pieces` (1 or 2) equal pieces, each padded to
    /// whole vectors.
    pub(super) fn new(
        name: impl Into<String>,
        in_features: usize,
        out_features: usize,
        pieces: usize,
    ) -> Matrix {
        let each = in_features / pieces;
        let padded = vectors(each) * LANES;
        let (inputs, outputs) = (pieces * padded, vectors(out_features));
        let zeros = vec![Vector::ZERO; inputs * outputs];
        Matrix {
            name: name.into(),
            in_features,
            gap: if pieces > 1 { padded - each } else { 0 },
            inputs,
            outputs,
            forward: zeros.clone(),
            back: zeros.clone(),
            sums: zeros,
        }
    }

    fn row(&self, input: usize) -> usize {
        if input < self.in_features / 2 { input } else { input + self.gap }
    }

    /// Loads the weights from a net's arrays, and clears the sums.
    pub(super) fn load(&mut self, arrays: &ArrayMap, vectors: &Vectors) {
        let weights = arrays.get(vectors, &format!("{}.weight", self.name));
        let width = self.outputs * LANES;
        for (output, weights) in weights.chunks_exact(self.in_features).enumerate() {
            for (input, &weight) in weights.iter().enumerate() {
                let row = self.row(input);
                flat_mut(&mut self.forward)[row * width + output] = weight;
                flat_mut(&mut self.back)[output * self.inputs + row] = weight;
            }
        }
        self.sums.fill(Vector::ZERO);
    }

    /// Writes the sums as the gradients of the net's array.
    pub(super) fn store(&self, arrays: &ArrayMap, gradients: &mut Vectors) {
        let width = self.outputs * LANES;
        let sums = flat(&self.sums);
        let to = arrays.get_mut(gradients, &format!("{}.weight", self.name));
        for (output, weights) in to.chunks_exact_mut(self.in_features).enumerate() {
            for (input, weight) in weights.iter_mut().enumerate() {
                *weight = sums[self.row(input) * width + output];
            }
        }
    }
}
