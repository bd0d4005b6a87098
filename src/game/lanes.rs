//! Vectors of eight bitboards, one for each of eight boards, for the fills of [`super::kernel`].
//!
//! The code is plain loops over arrays. The compiler turns them into vector instructions of the
//! width that the processor has. A 128-bit bitboard is stored as two 64-bit halves, since vector
//! units cannot shift 128-bit numbers.

use std::ops::{BitAnd, BitOr, Not};

use super::geometry::Bitboard;
use super::kernel::Bits;

/// The number of boards in a vector. Eight 64-bit bitboards fill a 512-bit register.
pub const LANES: usize = 8;

/// A vector with one bitboard for each of [`LANES`] boards.
#[expect(private_bounds, reason = "only the kernel needs the operations of a fill")]
pub trait BitboardVector<W: Bitboard>: Bits<W> + Default {
    /// The bitboard in a lane.
    fn get(&self, lane: usize) -> W;
    /// Sets the bitboard in a lane.
    fn set(&mut self, lane: usize, word: W);
    /// The sum over all lanes of the number of set bits, where an empty lane counts as 1.
    fn count_at_least_one(self) -> u64;
}

/// Eight 64-bit bitboards.
#[derive(Clone, Copy, Default)]
#[repr(align(64))]
pub struct U64x8([u64; LANES]);

impl U64x8 {
    #[inline(always)]
    fn zip(self, other: Self, f: impl Fn(u64, u64) -> u64) -> Self {
        U64x8(std::array::from_fn(|lane| f(self.0[lane], other.0[lane])))
    }

    #[inline(always)]
    fn map(self, f: impl Fn(u64) -> u64) -> Self {
        U64x8(self.0.map(f))
    }
}

impl BitAnd for U64x8 {
    type Output = Self;
    #[inline(always)]
    fn bitand(self, other: Self) -> Self {
        self.zip(other, |a, b| a & b)
    }
}

impl BitOr for U64x8 {
    type Output = Self;
    #[inline(always)]
    fn bitor(self, other: Self) -> Self {
        self.zip(other, |a, b| a | b)
    }
}

impl Not for U64x8 {
    type Output = Self;
    #[inline(always)]
    fn not(self) -> Self {
        self.map(|a| !a)
    }
}

impl Bits<u64> for U64x8 {
    #[inline(always)]
    fn splat(word: u64) -> Self {
        U64x8([word; LANES])
    }
    #[inline(always)]
    fn up(self, by: usize) -> Self {
        self.map(|a| a << by)
    }
    #[inline(always)]
    fn down(self, by: usize) -> Self {
        self.map(|a| a >> by)
    }
    #[inline(always)]
    fn where_any(self, condition: Self) -> Self {
        self.zip(condition, |a, c| if c != 0 { a } else { 0 })
    }
}

impl BitboardVector<u64> for U64x8 {
    #[inline(always)]
    fn get(&self, lane: usize) -> u64 {
        self.0[lane]
    }
    #[inline(always)]
    fn set(&mut self, lane: usize, word: u64) {
        self.0[lane] = word;
    }
    #[inline(always)]
    fn count_at_least_one(self) -> u64 {
        self.0.iter().map(|a| u64::from(a.count_ones()).max(1)).sum()
    }
}

/// Eight 128-bit bitboards, as low and high halves.
#[derive(Clone, Copy, Default)]
pub struct U128x8 {
    low: U64x8,
    high: U64x8,
}

impl BitAnd for U128x8 {
    type Output = Self;
    #[inline(always)]
    fn bitand(self, other: Self) -> Self {
        U128x8 { low: self.low & other.low, high: self.high & other.high }
    }
}

impl BitOr for U128x8 {
    type Output = Self;
    #[inline(always)]
    fn bitor(self, other: Self) -> Self {
        U128x8 { low: self.low | other.low, high: self.high | other.high }
    }
}

impl Not for U128x8 {
    type Output = Self;
    #[inline(always)]
    fn not(self) -> Self {
        U128x8 { low: !self.low, high: !self.high }
    }
}

/// Shifts must be by 1 to 63 bits.
impl Bits<u128> for U128x8 {
    #[inline(always)]
    fn splat(word: u128) -> Self {
        U128x8 { low: U64x8::splat(word as u64), high: U64x8::splat((word >> 64) as u64) }
    }
    #[inline(always)]
    fn up(self, by: usize) -> Self {
        U128x8 {
            low: self.low.up(by),
            high: self.high.zip(self.low, |high, low| high << by | low >> (64 - by)),
        }
    }
    #[inline(always)]
    fn down(self, by: usize) -> Self {
        U128x8 {
            low: self.low.zip(self.high, |low, high| low >> by | high << (64 - by)),
            high: self.high.down(by),
        }
    }
    #[inline(always)]
    fn where_any(self, condition: Self) -> Self {
        let any = condition.low | condition.high;
        U128x8 { low: self.low.where_any(any), high: self.high.where_any(any) }
    }
}

impl BitboardVector<u128> for U128x8 {
    #[inline(always)]
    fn get(&self, lane: usize) -> u128 {
        u128::from(self.high.0[lane]) << 64 | u128::from(self.low.0[lane])
    }
    #[inline(always)]
    fn set(&mut self, lane: usize, word: u128) {
        self.low.0[lane] = word as u64;
        self.high.0[lane] = (word >> 64) as u64;
    }
    #[inline(always)]
    fn count_at_least_one(self) -> u64 {
        let both = self.low.0.iter().zip(&self.high.0);
        both.map(|(low, high)| u64::from(low.count_ones() + high.count_ones()).max(1)).sum()
    }
}
