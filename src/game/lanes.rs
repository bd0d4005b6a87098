//! Eight boards side by side: the fills of [`super::kernel`] over vectors of words.
//!
//! Written as plain loops over arrays, which the compiler turns into vector instructions of
//! whatever width the machine has. A word of 128 bits is a pair of 64-bit halves, since no
//! vector unit shifts 128 bits.

use std::ops::{BitAnd, BitOr, Not};

use super::geometry::Word;
use super::kernel::Bits;

/// How many boards go side by side: a 512-bit vector of 64-bit words.
pub const LANES: usize = 8;

/// A word for each of [`LANES`] boards.
#[expect(private_bounds, reason = "fills are the kernel's business")]
pub trait Lanes<W: Word>: Bits<W> + Default {
    /// The word in a lane.
    fn get(&self, lane: usize) -> W;
    /// Puts a word into a lane.
    fn set(&mut self, lane: usize, word: W);
    /// The bits of each lane counted, but at least 1 for each, in all lanes together.
    fn count_at_least_one(self) -> u64;
}

/// Lanes of 64-bit words.
#[derive(Clone, Copy, Default)]
#[repr(align(64))]
pub struct NarrowLanes([u64; LANES]);

impl NarrowLanes {
    #[inline(always)]
    fn zip(self, other: Self, f: impl Fn(u64, u64) -> u64) -> Self {
        NarrowLanes(std::array::from_fn(|lane| f(self.0[lane], other.0[lane])))
    }

    #[inline(always)]
    fn map(self, f: impl Fn(u64) -> u64) -> Self {
        NarrowLanes(self.0.map(f))
    }
}

impl BitAnd for NarrowLanes {
    type Output = Self;
    #[inline(always)]
    fn bitand(self, other: Self) -> Self {
        self.zip(other, |a, b| a & b)
    }
}

impl BitOr for NarrowLanes {
    type Output = Self;
    #[inline(always)]
    fn bitor(self, other: Self) -> Self {
        self.zip(other, |a, b| a | b)
    }
}

impl Not for NarrowLanes {
    type Output = Self;
    #[inline(always)]
    fn not(self) -> Self {
        self.map(|a| !a)
    }
}

impl Bits<u64> for NarrowLanes {
    #[inline(always)]
    fn splat(word: u64) -> Self {
        NarrowLanes([word; LANES])
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

impl Lanes<u64> for NarrowLanes {
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

/// Lanes of 128-bit words, as halves.
#[derive(Clone, Copy, Default)]
pub struct WideLanes {
    low: NarrowLanes,
    high: NarrowLanes,
}

impl BitAnd for WideLanes {
    type Output = Self;
    #[inline(always)]
    fn bitand(self, other: Self) -> Self {
        WideLanes { low: self.low & other.low, high: self.high & other.high }
    }
}

impl BitOr for WideLanes {
    type Output = Self;
    #[inline(always)]
    fn bitor(self, other: Self) -> Self {
        WideLanes { low: self.low | other.low, high: self.high | other.high }
    }
}

impl Not for WideLanes {
    type Output = Self;
    #[inline(always)]
    fn not(self) -> Self {
        WideLanes { low: !self.low, high: !self.high }
    }
}

/// Shifts are by 1 to 63.
impl Bits<u128> for WideLanes {
    #[inline(always)]
    fn splat(word: u128) -> Self {
        WideLanes {
            low: NarrowLanes::splat(word as u64),
            high: NarrowLanes::splat((word >> 64) as u64),
        }
    }
    #[inline(always)]
    fn up(self, by: usize) -> Self {
        WideLanes {
            low: self.low.up(by),
            high: self.high.zip(self.low, |high, low| high << by | low >> (64 - by)),
        }
    }
    #[inline(always)]
    fn down(self, by: usize) -> Self {
        WideLanes {
            low: self.low.zip(self.high, |low, high| low >> by | high << (64 - by)),
            high: self.high.down(by),
        }
    }
    #[inline(always)]
    fn where_any(self, condition: Self) -> Self {
        let any = condition.low | condition.high;
        WideLanes { low: self.low.where_any(any), high: self.high.where_any(any) }
    }
}

impl Lanes<u128> for WideLanes {
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
