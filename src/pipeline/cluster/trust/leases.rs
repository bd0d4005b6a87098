//! The game numbers that one worker may use.
//!
//! The opening and all random numbers of a game follow from its number. A worker gets numbers in
//! ranges, called leases, and may use each number once. So it can neither choose its openings nor
//! send a game twice.

use std::collections::VecDeque;
use std::ops::Range;

/// The most leases of a worker that are kept. A new one replaces the oldest.
pub const MOST_LEASES: usize = 256;
/// The most numbers in a lease.
pub const LARGEST_LEASE: u64 = 1 << 16;

/// What a worker may do with a game number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NumberState {
    /// It is leased, and no game has used it.
    Free,
    /// A game has used it.
    Used,
    /// It is in no lease.
    NotLeased,
}

/// The leases of one worker. They take at most 2 MiB.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Leases(VecDeque<Lease>);

#[derive(Clone, PartialEq, Eq, Debug)]
struct Lease {
    numbers: Range<u64>,
    /// One bit for each number: whether a game has used it.
    used: Box<[u64]>,
}

impl Lease {
    /// The word and the bit of a number that is in the lease.
    fn place(&self, number: u64) -> (usize, u64) {
        let offset = number - self.numbers.start;
        ((offset / 64) as usize, 1 << (offset % 64))
    }
}

impl Leases {
    /// Adds the numbers of a range, at most [`LARGEST_LEASE`]; the rest of a longer range is left
    /// out. Returns the range that was added. Numbers of the oldest leases end if there are more
    /// than [`MOST_LEASES`].
    pub fn grant(&mut self, numbers: Range<u64>) -> Range<u64> {
        let end = numbers.end.min(numbers.start.saturating_add(LARGEST_LEASE));
        let numbers = numbers.start..end.max(numbers.start);
        let words = (numbers.end - numbers.start).div_ceil(64) as usize;
        if self.0.len() == MOST_LEASES {
            self.0.pop_front();
        }
        self.0.push_back(Lease { numbers: numbers.clone(), used: vec![0; words].into() });
        numbers
    }

    /// Whether a game may have this number.
    pub fn state(&self, number: u64) -> NumberState {
        let Some(lease) = self.0.iter().find(|lease| lease.numbers.contains(&number)) else {
            return NumberState::NotLeased;
        };
        let (word, bit) = lease.place(number);
        if lease.used[word] & bit == 0 { NumberState::Free } else { NumberState::Used }
    }

    /// Marks a number as used. Returns whether it was free.
    pub fn use_up(&mut self, number: u64) -> bool {
        let is_free = self.state(number) == NumberState::Free;
        let lease = self.0.iter_mut().find(|lease| lease.numbers.contains(&number));
        if let Some(lease) = lease.filter(|_| is_free) {
            let (word, bit) = lease.place(number);
            lease.used[word] |= bit;
        }
        is_free
    }

    /// The number of leased numbers that no game has used.
    pub fn free(&self) -> u64 {
        let free = |lease: &Lease| {
            let used: u32 = lease.used.iter().map(|word| word.count_ones()).sum();
            lease.numbers.end - lease.numbers.start - u64::from(used)
        };
        self.0.iter().map(free).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_leased_number_can_be_used_once() {
        let mut leases = Leases::default();
        assert_eq!(leases.grant(10..80), 10..80);
        leases.grant(1000..1001);
        assert_eq!(leases.free(), 71);
        for number in [10, 79, 1000] {
            assert_eq!(leases.state(number), NumberState::Free);
            assert!(leases.use_up(number));
            assert_eq!(leases.state(number), NumberState::Used);
            assert!(!leases.use_up(number), "{number} was used before");
        }
        for number in [0, 9, 80, 999, 1001, u64::MAX] {
            assert_eq!(leases.state(number), NumberState::NotLeased);
            assert!(!leases.use_up(number));
        }
        assert_eq!(leases.free(), 68);
    }

    #[test]
    fn memory_is_bounded() {
        let mut leases = Leases::default();
        assert_eq!(leases.grant(5..u64::MAX), 5..5 + LARGEST_LEASE);
        assert_eq!(leases.grant(u64::MAX - 1..u64::MAX), u64::MAX - 1..u64::MAX);
        // A range from a higher to a lower number has no numbers.
        let backwards = Range { start: 9, end: 3 };
        assert!(leases.grant(backwards).is_empty());
        for first in 0..MOST_LEASES as u64 {
            leases.grant(first * 10..first * 10 + 1);
        }
        assert_eq!((leases.0.len(), leases.free()), (MOST_LEASES, MOST_LEASES as u64));
        assert_eq!(leases.state(100_000), NumberState::NotLeased, "the oldest lease has ended");
    }
}
