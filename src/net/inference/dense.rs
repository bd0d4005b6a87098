//! A large matrix times few vectors, in bf16.
//!
//! The paper's first fully connected layer has 8 million factors at 512 channels, and its
//! episodes ask about five positions at a time. All that this need take is the time to read the
//! factors, and oneDNN takes longer (docs/performance.md). So here each factor is read once for up
//! to eight positions.

use bytemuck::must_cast;
use half::bf16;

use crate::net::fold::Affine;
use crate::net::vector::x86::Avx512;
use crate::net::vector::{Vector, prefetch};

/// Positions up to which this is faster than oneDNN.
pub(super) const FEW: i64 = 16;
/// Numbers that one instruction multiplies.
const LANES: usize = 32;
/// Outputs computed side by side, so that what is read of a position serves them all.
const OUTPUTS: usize = 2;
/// Positions that share a reading of the factors.
const POSITIONS: usize = 8;
/// How far ahead factors are asked for, in lines.
const AHEAD: usize = 16;

/// A cache line of numbers of bf16.
type Line = Vector;

/// A matrix and what it adds.
pub(super) struct Dense {
    /// `[outputs][inputs / 32]`.
    factors: Vec<Line>,
    bias: Vec<f32>,
    /// Lines of an output's factors.
    lines: usize,
    avx512: Avx512,
}

impl Dense {
    /// The layer for this machine; `None` where its sizes do not fit or the processor has no
    /// instructions for bf16.
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

    /// Outputs `[n][outputs]` for positions `[n][inputs]`.
    pub(super) fn apply(&self, positions: &[f32]) -> Vec<f32> {
        let positions = lines(positions);
        let mut out = Vec::with_capacity(positions.len() / self.lines * self.bias.len());
        for few in positions.chunks(POSITIONS * self.lines) {
            self.few(few, &mut out);
        }
        out
    }

    /// The same for at most [`POSITIONS`] positions.
    fn few(&self, positions: &[Line], out: &mut Vec<f32>) {
        let first = out.len();
        out.resize(first + positions.len() / self.lines * self.bias.len(), 0.0);
        let out = &mut out[first..];
        match positions.len() / self.lines {
            1 => self.exactly::<1>(positions, out),
            2 => self.exactly::<2>(positions, out),
            3 => self.exactly::<3>(positions, out),
            4 => self.exactly::<4>(positions, out),
            5 => self.exactly::<5>(positions, out),
            6 => self.exactly::<6>(positions, out),
            7 => self.exactly::<7>(positions, out),
            _ => self.exactly::<POSITIONS>(positions, out),
        }
    }

    fn exactly<const N: usize>(&self, positions: &[Line], out: &mut [f32]) {
        let position: [&[Line]; N] =
            std::array::from_fn(|n| &positions[n * self.lines..][..self.lines]);
        let outputs = self.bias.len();
        for (pair, factors) in self.factors.chunks_exact(OUTPUTS * self.lines).enumerate() {
            let (first, second) = factors.split_at(self.lines);
            let mut sums = [[Vector::ZERO; N]; OUTPUTS];
            for (line, (first, second)) in first.iter().zip(second).enumerate() {
                ask_ahead(first);
                ask_ahead(second);
                for n in 0..N {
                    let seen = position[n][line];
                    sums[0][n] = self.avx512.add_products(sums[0][n], *first, seen);
                    sums[1][n] = self.avx512.add_products(sums[1][n], *second, seen);
                }
            }
            for (place, sums) in (OUTPUTS * pair..).zip(sums) {
                for (n, sum) in sums.into_iter().enumerate() {
                    out[n * outputs + place] = self.avx512.total(sum) + self.bias[place];
                }
            }
        }
    }
}

/// Numbers in lines; there are whole ones only.
fn lines(numbers: &[f32]) -> Vec<Line> {
    let (lines, _) = numbers.as_chunks::<LANES>();
    lines
        .iter()
        .map(|line| must_cast(line.map(|number| bf16::from_f32(number).to_bits())))
        .collect()
}

/// Asks for a line some way behind this one, which need not exist.
#[inline(always)]
fn ask_ahead(line: &Line) {
    prefetch((&raw const *line).wrapping_add(AHEAD));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::fixtures::skipped;

    #[test]
    fn few_positions_are_multiplied_as_sums_say() {
        let (outputs, inputs) = (6, 96);
        // Small whole numbers, which bf16 holds and sums keep exactly.
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
            let seen: Vec<f32> = (0..count * inputs).map(|index| number(index, 11)).collect();
            let wanted = seen.chunks(inputs).flat_map(|seen| {
                affine.weight.chunks(inputs).zip(&affine.bias).map(move |(factors, bias)| {
                    factors.iter().zip(seen).map(|(factor, x)| factor * x).sum::<f32>() + bias
                })
            });
            assert_eq!(dense.apply(&seen), wanted.collect::<Vec<f32>>(), "{count} positions");
        }
    }
}
