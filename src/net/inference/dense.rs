//! A fully connected layer for small batches, in bf16.
//!
//! The first fully connected layer of the `paper` tower has 8 million weights at 512 channels, and
//! an actor of `configs/paper.toml` computes about five positions at a time. That need not take
//! longer than reading the weights from memory, but oneDNN does (docs/journal/speed-dense.md). Here
//! each weight is read once for up to eight positions.

use bytemuck::must_cast;
use half::bf16;

use crate::net::fold::Affine;
use crate::net::vector::x86::Avx512;
use crate::net::vector::{Vector, prefetch};

/// The largest batch for which this is faster than oneDNN.
pub(super) const MAX_POSITIONS: i64 = 16;
/// bf16 numbers of a vector.
const LANES: usize = 32;
/// Predictions that are computed together, so that each input is loaded once for all of them.
const OUTPUTS: usize = 2;
/// Positions for which each weight is read once.
const CHUNK: usize = 8;
/// How many lines ahead weights are prefetched.
const PREFETCH_DISTANCE: usize = 16;

/// A cache line of 32 bf16 numbers.
type Line = Vector;

/// The weights and biases of a fully connected layer.
pub(super) struct Dense {
    /// `[outputs][inputs / 32]`.
    factors: Vec<Line>,
    bias: Vec<f32>,
    /// Lines of weights for one output.
    lines: usize,
    avx512: Avx512,
}

impl Dense {
    /// The layer in bf16. `None` where its sizes are not multiples of [`LANES`] inputs and
    /// [`OUTPUTS`] outputs, or the processor has no instructions for bf16.
    pub(super) fn new(affine: &Affine) -> Option<Dense> {
        let (outputs, inputs) = (affine.shape[0], affine.shape[1]);
        let fits = inputs.is_multiple_of(LANES) && outputs.is_multiple_of(OUTPUTS);
        let avx512 = Avx512::new().filter(|_| fits)?;
        Some(Dense {
            factors: lines(&affine.weight),
            bias: affine.bias.clone(),
            lines: inputs / LANES,
            avx512,
        })
    }

    /// The outputs `[n][outputs]` for the inputs `[n][inputs]` of `n` positions.
    pub(super) fn apply(&self, positions: &[f32]) -> Vec<f32> {
        let positions = lines(positions);
        let mut out = Vec::with_capacity(positions.len() / self.lines * self.bias.len());
        for chunk in positions.chunks(CHUNK * self.lines) {
            self.apply_chunk(chunk, &mut out);
        }
        out
    }

    /// Appends the outputs for at most [`CHUNK`] positions.
    fn apply_chunk(&self, positions: &[Line], out: &mut Vec<f32>) {
        let first = out.len();
        out.resize(first + positions.len() / self.lines * self.bias.len(), 0.0);
        let out = &mut out[first..];
        match positions.len() / self.lines {
            1 => self.apply_n::<1>(positions, out),
            2 => self.apply_n::<2>(positions, out),
            3 => self.apply_n::<3>(positions, out),
            4 => self.apply_n::<4>(positions, out),
            5 => self.apply_n::<5>(positions, out),
            6 => self.apply_n::<6>(positions, out),
            7 => self.apply_n::<7>(positions, out),
            _ => self.apply_n::<CHUNK>(positions, out),
        }
    }

    fn apply_n<const N: usize>(&self, positions: &[Line], out: &mut [f32]) {
        let position: [&[Line]; N] =
            std::array::from_fn(|n| &positions[n * self.lines..][..self.lines]);
        let outputs = self.bias.len();
        for (pair, factors) in self.factors.chunks_exact(OUTPUTS * self.lines).enumerate() {
            let (first, second) = factors.split_at(self.lines);
            let mut sums = [[Vector::ZERO; N]; OUTPUTS];
            for (line, (first, second)) in first.iter().zip(second).enumerate() {
                prefetch_ahead(first);
                prefetch_ahead(second);
                for n in 0..N {
                    let input = position[n][line];
                    sums[0][n] = self.avx512.add_products(sums[0][n], *first, input);
                    sums[1][n] = self.avx512.add_products(sums[1][n], *second, input);
                }
            }
            for (place, sums) in (OUTPUTS * pair..).zip(sums) {
                for (n, sum) in sums.into_iter().enumerate() {
                    out[n * outputs + place] = self.avx512.sum(sum) + self.bias[place];
                }
            }
        }
    }
}

/// Casts numbers to lines of bf16. Their count must be a multiple of [`LANES`].
fn lines(numbers: &[f32]) -> Vec<Line> {
    let (lines, _) = numbers.as_chunks::<LANES>();
    lines
        .iter()
        .map(|line| must_cast(line.map(|number| bf16::from_f32(number).to_bits())))
        .collect()
}

/// Prefetches the line [`PREFETCH_DISTANCE`] lines after this one, which need not exist.
#[inline(always)]
fn prefetch_ahead(line: &Line) {
    prefetch((&raw const *line).wrapping_add(PREFETCH_DISTANCE));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::fixtures::skipped;

    #[test]
    fn outputs_agree_with_direct_sums() {
        let (outputs, inputs) = (6, 96);
        // bf16 and sums in float32 hold small whole numbers exactly.
        let number = |index: usize, turn: usize| ((index * turn + 3) % 17) as f32 - 8.0;
        let affine = Affine {
            shape: vec![outputs, inputs],
            weight: (0..outputs * inputs).map(|index| number(index, 7)).collect(),
            bias: (0..outputs).map(|index| number(index, 5)).collect(),
        };
        let Some(dense) = Dense::new(&affine) else {
            skipped("the dense layer: the processor has no instructions for bf16");
            return;
        };
        for count in 0..20 {
            let input: Vec<f32> = (0..count * inputs).map(|index| number(index, 11)).collect();
            let wanted = input.chunks(inputs).flat_map(|input| {
                affine.weight.chunks(inputs).zip(&affine.bias).map(move |(factors, bias)| {
                    factors.iter().zip(input).map(|(factor, x)| factor * x).sum::<f32>() + bias
                })
            });
            assert_eq!(dense.apply(&input), wanted.collect::<Vec<f32>>(), "{count} positions");
        }
    }
}
