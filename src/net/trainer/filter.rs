//! Filters and matrices between a net's arrays and the layout of products.

use super::arrays::{Places, Vectors};
use super::unit::Unit;
use crate::net::vector::{LANES, Vector, flat, flat_mut, vectors};
use crate::net::winograd::Channels;

/// A 3x3 convolution of the trunk.
#[derive(Debug)]
pub(super) struct Convolution {
    name: String,
    /// Inputs of the array, without padding.
    read: usize,
    /// Whether it is the first, whose inputs are data and need no gradient.
    first: bool,
    pub channels: Channels,
    /// As [`Unit::filter`] lays it out.
    pub filter: Vec<Vector>,
    /// The same with inputs and outputs exchanged; empty for the first.
    pub back: Vec<Vector>,
}

impl Convolution {
    /// The convolution called `name` from `read` channels, or planes if it is the first.
    pub(super) fn new(name: impl Into<String>, read: usize, made: usize, first: bool) -> Self {
        let inputs = if first { read } else { vectors(read) * LANES };
        let channels = Channels { inputs, outputs: vectors(made) };
        let (filter, back) = (Vec::new(), Vec::new());
        Convolution { name: name.into(), read, first, channels, filter, back }
    }

    /// Takes the filter from a net's arrays.
    pub(super) fn load<const W: usize>(
        &mut self,
        unit: &impl Unit<W>,
        places: &Places,
        vectors: &Vectors,
        taps: &mut Vec<Vector>,
    ) {
        let weights = places.get(vectors, &format!("{}.weight", self.name));
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
                let (output, input) = (index / self.read, index % self.read);
                let place = if back { output * inputs + input } else { input * outputs + output };
                for (tap, &weight) in weights.iter().enumerate() {
                    numbers[tap * inputs * outputs + place] = weight;
                }
            }
            let channels = match back {
                true => Channels { inputs: outputs, outputs: inputs / LANES },
                false => self.channels,
            };
            unit.filter(taps, channels, filter);
        }
    }

    /// Writes a unit's sums as the gradients of the net's array.
    pub(super) fn store<const W: usize>(
        &self,
        unit: &impl Unit<W>,
        sums: &[Vector],
        (places, gradients): (&Places, &mut Vectors),
        taps: &mut Vec<Vector>,
    ) {
        let outputs = self.channels.outputs * LANES;
        let size = self.channels.size();
        taps.resize(9 * size, Vector::ZERO);
        unit.taps(sums, self.channels, taps);
        let numbers = flat(taps);
        let to = places.get_mut(gradients, &format!("{}.weight", self.name));
        for (index, weights) in to.chunks_exact_mut(9).enumerate() {
            let (output, input) = (index / self.read, index % self.read);
            for (tap, weight) in weights.iter_mut().enumerate() {
                *weight = numbers[tap * size * LANES + input * outputs + output];
            }
        }
    }
}

/// A matrix of a net, stored there as `[output][input]`, as `[input][output vector]` and
/// `[output][input vector]`.
#[derive(Debug)]
pub(super) struct Matrix {
    name: String,
    read: usize,
    /// The row of input `i` is `i`, or `i + gap` from `read / 2` on, where two halves are padded.
    gap: usize,
    pub inputs: usize,
    pub outputs: usize,
    pub forward: Vec<Vector>,
    pub back: Vec<Vector>,
    /// Sums of gradients in the layout of `forward`.
    pub sums: Vec<Vector>,
}

impl Matrix {
    /// The matrix called `name` from `read` numbers, which lie in `parts` parts that fill
    /// vectors each, to `made` numbers.
    pub(super) fn new(name: impl Into<String>, read: usize, made: usize, parts: usize) -> Matrix {
        let each = read / parts;
        let padded = vectors(each) * LANES;
        let (inputs, outputs) = (parts * padded, vectors(made));
        let zeros = vec![Vector::ZERO; inputs * outputs];
        Matrix {
            name: name.into(),
            read,
            gap: if parts > 1 { padded - each } else { 0 },
            inputs,
            outputs,
            forward: zeros.clone(),
            back: zeros.clone(),
            sums: zeros,
        }
    }

    fn row(&self, input: usize) -> usize {
        if input < self.read / 2 { input } else { input + self.gap }
    }

    /// Takes the factors from a net's arrays, and clears the sums.
    pub(super) fn load(&mut self, places: &Places, vectors: &Vectors) {
        let weights = places.get(vectors, &format!("{}.weight", self.name));
        let width = self.outputs * LANES;
        for (output, weights) in weights.chunks_exact(self.read).enumerate() {
            for (input, &weight) in weights.iter().enumerate() {
                let row = self.row(input);
                flat_mut(&mut self.forward)[row * width + output] = weight;
                flat_mut(&mut self.back)[output * self.inputs + row] = weight;
            }
        }
        self.sums.fill(Vector::ZERO);
    }

    /// Writes the sums as gradients of the net's array.
    pub(super) fn store(&self, places: &Places, gradients: &mut Vectors) {
        let width = self.outputs * LANES;
        let sums = flat(&self.sums);
        let to = places.get_mut(gradients, &format!("{}.weight", self.name));
        for (output, weights) in to.chunks_exact_mut(self.read).enumerate() {
            for (input, weight) in weights.iter_mut().enumerate() {
                *weight = sums[self.row(input) * width + output];
            }
        }
    }
}
