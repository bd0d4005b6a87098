//! Compares convolutions on tiles with direct sums of the same bf16 numbers.

use half::bf16;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::*;
use crate::net::fixtures::skipped;
use crate::net::tile::emulated;
use crate::net::vector::{flat, flat_mut};

const W: usize = 6;
const POSITIONS: usize = 19;
/// First: inputs that fill half a row, and one pair of output vectors. Second: inputs that fill one
/// and a half rows, and two pairs.
const CASES: [Channels; 2] =
    [Channels { inputs: LANES, outputs: 2 }, Channels { inputs: 3 * LANES, outputs: 4 }];

/// Random numbers that bf16 holds exactly.
fn random(count: usize, seed: u64) -> Vec<Vector> {
    let mut source = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut vectors = vec![Vector::ZERO; count];
    for number in flat_mut(&mut vectors) {
        *number = bf16::from_f32(source.random_range(-1.0..1.0)).to_f32();
    }
    vectors
}

/// The range of a plane in `[position][channel vector][cell]` with `depth` channel vectors.
fn place(position: usize, c: usize, depth: usize) -> std::ops::Range<usize> {
    let first = (position * depth + c) * W * W;
    first..first + W * W
}

/// All taps on the board, as `(output cell, tap, input cell)`.
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

/// Inputs, gradients of outputs and taps, with the expected results.
struct Case {
    channels: Channels,
    boards: Vec<Vector>,
    gradients: Vec<Vector>,
    taps: Vec<Vector>,
    outputs: Vec<Vector>,
    tap_gradients: Vec<Vector>,
    input_gradients: Vec<Vector>,
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
            tap_gradients: zeros(&taps),
            input_gradients: zeros(&boards),
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
                case.tap_gradients[tap] += case.gradients[to] * number;
                let sum = (case.taps[tap] * case.gradients[to]).reduce_add();
                flat_mut(&mut case.input_gradients)[from * LANES + input % LANES] += sum;
            }
        }
        case
    }

    fn board(&self, position: usize, c: usize, plane: &mut Plane<W>) {
        let place = place(position, c, vectors(self.channels.inputs));
        plane.as_flattened_mut().copy_from_slice(&self.boards[place]);
    }

    fn check_outputs(&self, convolver: &mut TileConvolver<W>) {
        let mut filter = Vec::new();
        convolver.filter(&self.taps, self.channels, &mut filter);
        let mut found = vec![Vector::ZERO; self.outputs.len()];
        let read = |position: usize, c: usize, plane: &mut Plane<W>| self.board(position, c, plane);
        convolver.convolve(&filter, self.channels, POSITIONS, read, |position, c, plane| {
            let place = place(position, c, self.channels.outputs);
            found[place].copy_from_slice(plane.as_flattened());
        });
        close(&found, &self.outputs, "outputs");
    }

    fn check_tap_gradients(&self, convolver: &mut TileConvolver<W>) {
        let mut sums = vec![Vector::ZERO; TileConvolver::<W>::sums(self.channels)];
        let read = |position: usize, c: usize, plane: &mut Plane<W>| self.board(position, c, plane);
        convolver.filter_gradients(
            &mut sums,
            self.channels,
            POSITIONS,
            read,
            |position, c, plane| {
                let place = place(position, c, self.channels.outputs);
                plane.as_flattened_mut().copy_from_slice(&self.gradients[place]);
            },
        );
        let mut found = vec![Vector::ZERO; self.taps.len()];
        convolver.taps(&sums, self.channels, &mut found);
        close(&found, &self.tap_gradients, "taps");
    }

    /// Call [`Case::check_tap_gradients`] first, which makes the convolver read the gradients.
    /// Vectors are computed in pairs, so there may be one more than input vectors. Its taps are 0.
    fn check_input_gradients(&self, convolver: &mut TileConvolver<W>) {
        let Channels { inputs, outputs } = self.channels;
        let width = vectors(inputs).next_multiple_of(SIDE_BY_SIDE);
        let back = Channels { inputs: outputs * LANES, outputs: width };
        let mut transposed = vec![Vector::ZERO; 9 * back.size()];
        for (tap, c) in (0..9 * outputs).map(|i| (i / outputs, i % outputs)) {
            for (input, lane) in (0..inputs * LANES).map(|i| (i / LANES, i % LANES)) {
                let to = (tap * back.inputs + c * LANES + lane) * width * LANES + input;
                let from = factor(self.channels, tap, input, c);
                flat_mut(&mut transposed)[to] = self.taps[from].to_array()[lane];
            }
        }
        let mut filter = Vec::new();
        convolver.filter(&transposed, back, &mut filter);
        let mut found = vec![Vector::ZERO; self.boards.len()];
        let all = Channels { inputs: width * LANES, outputs };
        convolver.input_gradients(&filter, all, POSITIONS, |position, c, plane| {
            if c < vectors(inputs) {
                let place = place(position, c, vectors(inputs));
                found[place].copy_from_slice(plane.as_flattened());
            }
        });
        close(&found, &self.input_gradients, "inputs");
    }
}

/// The index of the taps from `input` to output vector `c`.
fn factor(channels: Channels, tap: usize, input: usize, c: usize) -> usize {
    (tap * channels.inputs + input) * channels.outputs + c
}

/// Fills a convolver's memory with numbers other than 0.
fn fill(convolver: &mut TileConvolver<W>, depth: usize) {
    let channels = Channels { inputs: depth * LANES, outputs: depth };
    let mut sums = vec![Vector::ZERO; TileConvolver::<W>::sums(channels)];
    let ones = |_, _, plane: &mut Plane<W>| plane.as_flattened_mut().fill(Vector::ONE);
    convolver.filter_gradients(&mut sums, channels, GROUP, ones, ones);
    let filter = vec![Vector::ZERO; TileConvolver::<W>::sums(channels) / 2];
    convolver.convolve(&filter, channels, GROUP, ones, |_, _, _| ());
}

fn agree() {
    if !fits(32) {
        skipped("convolutions on tiles: this processor has no AMX for bf16, or no AVX-512 for it");
        return;
    }
    const DEPTH: usize = 4;
    let mut convolver = TileConvolver::<W>::new(DEPTH);
    for channels in CASES {
        let case = Case::new(channels);
        fill(&mut convolver, DEPTH);
        case.check_outputs(&mut convolver);
        fill(&mut convolver, DEPTH);
        case.check_tap_gradients(&mut convolver);
        case.check_input_gradients(&mut convolver);
    }
}

#[test]
fn convolutions_on_tiles_agree_with_direct_sums() {
    agree();
}

#[test]
fn convolutions_on_emulated_tiles_agree_with_direct_sums() {
    emulated::with(agree);
}
