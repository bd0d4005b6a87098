//! The arithmetic of one-hot nets, in lanes of 16 bits. All of it is plain loops over arrays, which the
//! compiler turns into vector instructions.

use super::options::MAX_HIDDEN;

/// The lanes of a chunk: those of a vector register of 512 bits.
pub const CHUNK: usize = 32;

/// The most chunks of a net.
pub const MAX_CHUNKS: usize = MAX_HIDDEN / CHUNK;

/// The value of a hidden unit whose sum is 1: a power of two.
const FULL: i32 = 1 << 14;

/// A sum of this many times `FULL` fits 32 bits.
const MOST_OUTPUT: f32 = 130_000.0;

/// Some lanes.
#[derive(Clone, Copy, PartialEq, Debug)]
#[repr(align(64))]
pub struct Chunk([i16; CHUNK]);

impl Chunk {
    const ZERO: Chunk = Chunk([0; CHUNK]);

    /// Adds a row. A sum on the way may wrap around: the sums of a board fit.
    #[inline(always)]
    pub fn add(&mut self, row: &Chunk) {
        self.0 = std::array::from_fn(|lane| self.0[lane].wrapping_add(row.0[lane]));
    }

    /// Takes a row away.
    #[inline(always)]
    pub fn subtract(&mut self, row: &Chunk) {
        self.0 = std::array::from_fn(|lane| self.0[lane].wrapping_sub(row.0[lane]));
    }
}

/// The sums of the first layer. Chunks that a net does not use are 0.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Sums(pub [Chunk; MAX_CHUNKS]);

impl Sums {
    pub const ZERO: Sums = Sums([Chunk::ZERO; MAX_CHUNKS]);

    /// The sums for the other side to move, if this many chunks are used.
    #[inline(always)]
    pub fn passed(&self, chunks: usize) -> Sums {
        let mut passed = Sums::ZERO;
        for (passed, sums) in passed.0[..chunks].iter_mut().zip(&self.0) {
            passed.0 = std::array::from_fn(|lane| sums.0[(lane + CHUNK / 2) % CHUNK]);
        }
        passed
    }
}

/// How a sum of integers becomes the value of a hidden unit: the sum 1 is an integer, a power of two.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Activation {
    /// The logarithm of that integer.
    bits: u32,
}

impl Activation {
    /// The finest scale with which no sum of a board is too large for its lane. The rows are those of
    /// all squares for the first mark, then for the next one; no square has two marks.
    pub fn new(rows: &[f32], bias: &[f32], lanes: usize, squares: usize) -> Activation {
        let mut most = 0.0f32;
        for (lane, &bias) in bias.iter().enumerate() {
            let (mut low, mut high) = (bias, bias);
            for square in 0..squares {
                let weights = rows[square * lanes..].iter().skip(lane).step_by(squares * lanes);
                low += weights.clone().fold(0.0, |low, &weight| weight.min(low));
                high += weights.fold(0.0f32, |high, &weight| weight.max(high));
            }
            most = most.max(high).max(-low);
        }
        // Each weight is rounded by up to a half.
        let room = f32::from(i16::MAX) - 0.5 * (squares + 1) as f32;
        let fits = |bits: &u32| most * (1u32 << bits) as f32 <= room;
        Activation { bits: (0..=12).rev().find(fits).unwrap_or_default() }
    }

    /// Numbers of the first layer as integers.
    pub fn chunk(self, numbers: &[f32]) -> Chunk {
        let mut chunk = Chunk::ZERO;
        for (lane, number) in chunk.0.iter_mut().zip(numbers) {
            *lane = (number * (1u32 << self.bits) as f32).round_ties_even() as i16;
        }
        chunk
    }

    /// The bias as integers.
    pub fn sums(self, bias: &[f32]) -> Sums {
        let mut sums = Sums::ZERO;
        for (sums, bias) in sums.0.iter_mut().zip(bias.chunks_exact(CHUNK)) {
            *sums = self.chunk(bias);
        }
        sums
    }
}

/// The second layer for one number of discs.
#[derive(Clone, Debug)]
pub struct OutputLayer {
    weights: [Chunk; MAX_CHUNKS],
    /// The value of a unit of the integer sum, in units of the evaluation.
    unit: f32,
    /// In the same units.
    constant: f32,
}

impl OutputLayer {
    /// The layer with these weights of all lanes, in units of the evaluation.
    pub fn new(weights: &[f32], constant: f32) -> OutputLayer {
        let sum: f32 = weights.iter().map(|weight| weight.abs()).sum();
        let most = weights.iter().fold(0.0f32, |most, weight| most.max(weight.abs()));
        let scale = (MOST_OUTPUT / sum).min(f32::from(i16::MAX - 1) / most);
        let scale = if scale.is_finite() { scale } else { 1.0 };
        let mut layer = OutputLayer { weights: [Chunk::ZERO; MAX_CHUNKS], unit: 0.0, constant };
        layer.unit = 1.0 / (scale * FULL as f32);
        for (chunk, weights) in layer.weights.iter_mut().zip(weights.chunks_exact(CHUNK)) {
            for (lane, weight) in chunk.0.iter_mut().zip(weights) {
                *lane = (weight * scale).round_ties_even() as i16;
            }
        }
        layer
    }

    /// The value of a board with these sums, in units of the evaluation.
    #[inline(always)]
    pub fn value(&self, sums: &[Chunk], activation: Activation) -> i32 {
        let (most, shift) = (1i16 << activation.bits, 15 - activation.bits);
        let mut total = 0i32;
        for (sums, weights) in sums.iter().zip(&self.weights) {
            for lane in 0..CHUNK {
                // From 0 to 2^15; the square of it has 30 bits, of which the upper half is used.
                let limited = (sums.0[lane].clamp(0, most) as u16) << shift;
                let value = ((u32::from(limited) * u32::from(limited)) >> 16) as i16;
                total += i32::from(value) * i32::from(weights.0[lane]);
            }
        }
        (total as f32 * self.unit + self.constant).round_ties_even() as i32
    }
}
