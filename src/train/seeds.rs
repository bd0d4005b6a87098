//! Random streams whose state need not be saved.
//!
//! A stream follows from the run's seed, its purpose, and a counter that the run saves anyway: the
//! number of a game or of a training step. A resumed run continues its counters, so it uses the
//! same streams as an uninterrupted run.

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

/// The random number generator of training.
pub type Random = Xoshiro256PlusPlus;

/// The purpose of a stream. Two purposes never share a stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u64)]
pub enum Purpose {
    /// Opening, noise and drawn moves of one game.
    Game = 1,
    /// Samples and symmetries of one training step.
    Batch = 2,
    /// Samples of held-out games for one report.
    HeldOut = 4,
    /// Openings and play of one evaluation match.
    Match = 3,
    /// One board of a stage; the number has the unit in its upper half.
    Stage = 5,
}

/// The stream of a run's `seed` for a purpose and a counter.
pub fn stream(seed: u64, purpose: Purpose, number: u64) -> Random {
    let mixed = [seed, purpose as u64, number]
        .into_iter()
        .fold(0x9E37_79B9_7F4A_7C15u64, |state, part| mix(state ^ mix(part)));
    Random::seed_from_u64(mixed)
}

/// The finaliser of SplitMix64 (Steele, Lea and Flood 2014).
fn mix(value: u64) -> u64 {
    let value = value.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let value = (value ^ value >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let value = (value ^ value >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    value ^ value >> 31
}
