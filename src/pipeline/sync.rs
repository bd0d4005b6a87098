//! How actors and the learner keep step: the replay ratio, held by both sides.
//!
//! The learner makes version `v` of the net from positions up to `v - 1` quotas beyond the
//! warm-up; an actor that plays with version `v` may go on until `v + 1` quotas are made, then
//! waits for the next version. So the two work at the same time, the learner one quota behind,
//! and neither can run away from the other. With one actor the games that each version is
//! trained on, and the version that each move is played with, depend on the seed alone.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The schedule of versions against positions made.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Schedule {
    /// Positions before learning starts.
    pub warmup: u64,
    /// New positions between two versions: steps x batch / ratio.
    pub quota: f64,
}

impl Schedule {
    /// Positions that must be made before the learner starts on `version`, the first being 1.
    pub fn needed(&self, version: u32) -> u64 {
        self.warmup + ((version.max(1) - 1) as f64 * self.quota) as u64
    }

    /// Positions up to which an actor may play with `version`.
    pub fn allowed(&self, version: u32) -> u64 {
        self.needed(version + 2)
    }
}

/// What all threads of a run share.
#[derive(Debug)]
pub struct Shared<'a> {
    /// Positions made by all actors, sent or about to be.
    pub made: AtomicU64,
    /// Set when the run is to end.
    pub stop: &'a AtomicBool,
}

impl Shared<'_> {
    /// Whether the run is to end.
    pub fn stopping(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Ends the run.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}
