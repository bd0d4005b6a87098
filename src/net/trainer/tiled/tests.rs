//! Convolutions on tiles against plain sums over taps of the same bf16 numbers.

use half::bf16;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::*;
use crate::net::tile::emulated;
use crate::net::winograd::{flat, flat_mut};

const W: usize = 6;
const POSITIONS: usize = 19;
/// One vector that is read, so that half of a row is empty, and two that are made.
const CHANNELS: Channels = Channels { inputs: LANES, outputs: 2 };

/// Numbers that bf16 holds exactly.
fn random(count: usize, seed: u64) -> Vec<Vector> {
    let mut source = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut vectors = vec![Vector::ZERO; count];
    for number in flat_mut(&mut vectors) {
        *number = bf16::from_f32(source.random_range(-1.0..1.0)).to_f32();
    }
    vectors
}

/// Planes of `depth` vectors of a group of positions, `[position][channel vector][cell]`.
fn place(position: usize, c: usize, depth: usize) -> std::ops::Range<usize> {
    let first = (position * depth + c) * W * W;
    first..first + W * W
}

/// `(output cell, tap, input cell)` of all taps on the board.
fn steps() -> impl Iterator<Item = (usize, usize, usize)> {
    (0..W * W * 9).filter_map(|index| {
        let (cell, tap) = (index / 9, index % 9);
        let row = (cell / W + tap / 3).checked_sub(1).filter(|&row| row < W)?;
        let column = (cell % W + tap % 3).checked_sub(1).filter(|&column| column < W)?;
        Some((cell, tap, row * W + column))
    })
}

fn close(found: &[Vector], wanted: &[Vector], what: &str) {
    assert_eq!(found.len(), wanted.len());
    for (found, wanted) in flat(found).iter().zip(flat(wanted)) {
        assert!((found - wanted).abs() < 1e-3, "{what}: {found} and {wanted}");
    }
}

/// Boards, gradients of outputs and taps, and what they should give.
struct Case {
    boards: Vec<Vector>,
    gradients: Vec<Vector>,
    taps: Vec<Vector>,
    outputs: Vec<Vector>,
    of_taps: Vec<Vector>,
    of_inputs: Vec<Vector>,
}

impl Case {
    fn new() -> Case {
        let Channels { inputs, outputs } = CHANNELS;
        let boards = random(POSITIONS * W * W, 1);
        let gradients = random(POSITIONS * outputs * W * W, 2);
        let taps = random(9 * CHANNELS.size(), 3);
        let zeros = |like: &[Vector]| vec![Vector::ZERO; like.len()];
        let mut case = Case {
            outputs: zeros(&gradients),
            of_taps: zeros(&taps),
            of_inputs: zeros(&boards),
            boards,
            gradients,
            taps,
        };
        for (position, (to, tap, from)) in (0..POSITIONS).flat_map(|p| steps().map(move |s| (p, s)))
        {
            let from = place(position, 0, 1).start + from;
            for (c, input) in (0..outputs * inputs).map(|i| (i / inputs, i % inputs)) {
                let (to, tap) = (place(position, c, outputs).start + to, factor(tap, input, c));
                let number = flat(&case.boards[from..=from])[input];
                case.outputs[to] += case.taps[tap] * number;
                case.of_taps[tap] += case.gradients[to] * number;
                let sum = (case.taps[tap] * case.gradients[to]).reduce_add();
                flat_mut(&mut case.of_inputs)[from * LANES + input] += sum;
            }
        }
        case
    }

    fn board(&self, position: usize, c: usize, plane: &mut Plane<W>) {
        plane.as_flattened_mut().copy_from_slice(&self.boards[place(position, c, 1)]);
    }

    fn outputs(&self, unit: &mut Tiled<W>) {
        let mut filter = Vec::new();
        unit.filter(&self.taps, CHANNELS, &mut filter);
        let mut found = vec![Vector::ZERO; self.outputs.len()];
        let read = |position: usize, c: usize, plane: &mut Plane<W>| self.board(position, c, plane);
        unit.convolve(&filter, CHANNELS, POSITIONS, read, |position, c, plane| {
            let place = place(position, c, CHANNELS.outputs);
            found[place].copy_from_slice(plane.as_flattened());
        });
        close(&found, &self.outputs, "outputs");
    }

    fn of_taps(&self, unit: &mut Tiled<W>) {
        let mut sums = vec![Vector::ZERO; Tiled::<W>::sums(CHANNELS)];
        let read = |position: usize, c: usize, plane: &mut Plane<W>| self.board(position, c, plane);
        unit.filter_gradients(&mut sums, CHANNELS, POSITIONS, read, |position, c, plane| {
            let place = place(position, c, CHANNELS.outputs);
            plane.as_flattened_mut().copy_from_slice(&self.gradients[place]);
        });
        let mut found = vec![Vector::ZERO; self.taps.len()];
        unit.taps(&sums, CHANNELS, &mut found);
        close(&found, &self.of_taps, "taps");
    }

    /// After [`Case::of_taps`], which has read the gradients. Planes are made in pairs, so there is a
    /// second one, whose taps are 0.
    fn of_inputs(&self, unit: &mut Tiled<W>) {
        let Channels { inputs, outputs } = CHANNELS;
        let back = Channels { inputs: outputs * LANES, outputs: 2 };
        let mut turned = vec![Vector::ZERO; 9 * back.size()];
        for (tap, c) in (0..9 * outputs).map(|i| (i / outputs, i % outputs)) {
            for (input, lane) in (0..inputs * LANES).map(|i| (i / LANES, i % LANES)) {
                let to = (tap * back.inputs + c * LANES + lane) * back.outputs * LANES + input;
                flat_mut(&mut turned)[to] = self.taps[factor(tap, input, c)].to_array()[lane];
            }
        }
        let mut filter = Vec::new();
        unit.filter(&turned, back, &mut filter);
        let mut found = vec![Vector::ZERO; self.boards.len()];
        let both = Channels { inputs: 2 * LANES, outputs };
        unit.input_gradients(&filter, both, POSITIONS, |position, c, plane| {
            if c == 0 {
                found[place(position, 0, 1)].copy_from_slice(plane.as_flattened());
            }
        });
        close(&found, &self.of_inputs, "inputs");
    }
}

/// Where the taps of an input lie, for a vector of outputs.
fn factor(tap: usize, input: usize, c: usize) -> usize {
    (tap * CHANNELS.inputs + input) * CHANNELS.outputs + c
}

fn agree() {
    if !fits(32) {
        eprintln!("skipped: this processor has no AMX for bf16, or no AVX-512 for it");
        return;
    }
    let case = Case::new();
    let mut unit = Tiled::<W>::new(CHANNELS.outputs);
    case.outputs(&mut unit);
    case.of_taps(&mut unit);
    case.of_inputs(&mut unit);
}

#[test]
fn products_on_tiles_are_sums_over_taps() {
    agree();
}

#[test]
fn products_on_tiles_in_memory_are_sums_over_taps() {
    emulated::with(agree);
}
