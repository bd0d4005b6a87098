//! Convolutions on tiles against plain sums over taps of the same bf16 numbers.

use half::bf16;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::*;
use crate::net::fixtures::skipped;
use crate::net::tile::emulated;
use crate::net::vector::{flat, flat_mut};

const W: usize = 6;
const POSITIONS: usize = 19;
/// Half of a row of inputs and one pair of outputs; and several of both, the last row half full.
const CASES: [Channels; 2] =
    [Channels { inputs: LANES, outputs: 2 }, Channels { inputs: 3 * LANES, outputs: 4 }];

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
    channels: Channels,
    boards: Vec<Vector>,
    gradients: Vec<Vector>,
    taps: Vec<Vector>,
    outputs: Vec<Vector>,
    of_taps: Vec<Vector>,
    of_inputs: Vec<Vector>,
}

impl Case {
    fn new(channels: Channels) -> Case {
        let Channels { inputs, outputs } = channels;
        let boards = random(POSITIONS * vectors(inputs) * W * W, 1);
        let gradients = random(POSITIONS * outputs * W * W, 2);
        let taps = random(9 * channels.size(), 3);
        let zeros = |like: &[Vector]| vec![Vector::ZERO; like.len()];
        let mut case = Case {
            channels,
            outputs: zeros(&gradients),
            of_taps: zeros(&taps),
            of_inputs: zeros(&boards),
            boards,
            gradients,
            taps,
        };
        for (position, (to, tap, from)) in (0..POSITIONS).flat_map(|p| steps().map(move |s| (p, s)))
        {
            for (c, input) in (0..outputs * inputs).map(|i| (i / inputs, i % inputs)) {
                let from = place(position, input / LANES, vectors(inputs)).start + from;
                let to = place(position, c, outputs).start + to;
                let tap = factor(channels, tap, input, c);
                let number = flat(&case.boards[from..=from])[input % LANES];
                case.outputs[to] += case.taps[tap] * number;
                case.of_taps[tap] += case.gradients[to] * number;
                let sum = (case.taps[tap] * case.gradients[to]).reduce_add();
                flat_mut(&mut case.of_inputs)[from * LANES + input % LANES] += sum;
            }
        }
        case
    }

    fn board(&self, position: usize, c: usize, plane: &mut Plane<W>) {
        let place = place(position, c, vectors(self.channels.inputs));
        plane.as_flattened_mut().copy_from_slice(&self.boards[place]);
    }

    fn outputs(&self, unit: &mut Tiled<W>) {
        let mut filter = Vec::new();
        unit.filter(&self.taps, self.channels, &mut filter);
        let mut found = vec![Vector::ZERO; self.outputs.len()];
        let read = |position: usize, c: usize, plane: &mut Plane<W>| self.board(position, c, plane);
        unit.convolve(&filter, self.channels, POSITIONS, read, |position, c, plane| {
            let place = place(position, c, self.channels.outputs);
            found[place].copy_from_slice(plane.as_flattened());
        });
        close(&found, &self.outputs, "outputs");
    }

    fn of_taps(&self, unit: &mut Tiled<W>) {
        let mut sums = vec![Vector::ZERO; Tiled::<W>::sums(self.channels)];
        let read = |position: usize, c: usize, plane: &mut Plane<W>| self.board(position, c, plane);
        unit.filter_gradients(&mut sums, self.channels, POSITIONS, read, |position, c, plane| {
            let place = place(position, c, self.channels.outputs);
            plane.as_flattened_mut().copy_from_slice(&self.gradients[place]);
        });
        let mut found = vec![Vector::ZERO; self.taps.len()];
        unit.taps(&sums, self.channels, &mut found);
        close(&found, &self.of_taps, "taps");
    }

    /// After [`Case::of_taps`], which has read the gradients. Planes are made in pairs, so there may be
    /// one more than inputs, whose taps are 0.
    fn of_inputs(&self, unit: &mut Tiled<W>) {
        let Channels { inputs, outputs } = self.channels;
        let made = vectors(inputs).next_multiple_of(SIDE_BY_SIDE);
        let back = Channels { inputs: outputs * LANES, outputs: made };
        let mut turned = vec![Vector::ZERO; 9 * back.size()];
        for (tap, c) in (0..9 * outputs).map(|i| (i / outputs, i % outputs)) {
            for (input, lane) in (0..inputs * LANES).map(|i| (i / LANES, i % LANES)) {
                let to = (tap * back.inputs + c * LANES + lane) * made * LANES + input;
                let from = factor(self.channels, tap, input, c);
                flat_mut(&mut turned)[to] = self.taps[from].to_array()[lane];
            }
        }
        let mut filter = Vec::new();
        unit.filter(&turned, back, &mut filter);
        let mut found = vec![Vector::ZERO; self.boards.len()];
        let all = Channels { inputs: made * LANES, outputs };
        unit.input_gradients(&filter, all, POSITIONS, |position, c, plane| {
            if c < vectors(inputs) {
                let place = place(position, c, vectors(inputs));
                found[place].copy_from_slice(plane.as_flattened());
            }
        });
        close(&found, &self.of_inputs, "inputs");
    }
}

/// Where the taps of an input lie, for a vector of outputs.
fn factor(channels: Channels, tap: usize, input: usize, c: usize) -> usize {
    (tap * channels.inputs + input) * channels.outputs + c
}

/// Leaves numbers in all of a unit's memory.
fn fill(unit: &mut Tiled<W>, depth: usize) {
    let channels = Channels { inputs: depth * LANES, outputs: depth };
    let mut sums = vec![Vector::ZERO; Tiled::<W>::sums(channels)];
    let ones = |_, _, plane: &mut Plane<W>| plane.as_flattened_mut().fill(Vector::ONE);
    unit.filter_gradients(&mut sums, channels, GROUP, ones, ones);
    let filter = vec![Vector::ZERO; Tiled::<W>::sums(channels) / 2];
    unit.convolve(&filter, channels, GROUP, ones, |_, _, _| ());
}

fn agree() {
    if !fits(32) {
        skipped("convolutions on tiles: this processor has no AMX for bf16, or no AVX-512 for it");
        return;
    }
    const DEPTH: usize = 4;
    let mut unit = Tiled::<W>::new(DEPTH);
    for channels in CASES {
        let case = Case::new(channels);
        fill(&mut unit, DEPTH);
        case.outputs(&mut unit);
        fill(&mut unit, DEPTH);
        case.of_taps(&mut unit);
        case.of_inputs(&mut unit);
    }
}

#[test]
fn products_on_tiles_are_sums_over_taps() {
    agree();
}

#[test]
fn products_on_tiles_in_memory_are_sums_over_taps() {
    emulated::with(agree);
}
