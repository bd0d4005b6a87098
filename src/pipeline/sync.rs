//! How actors and the learner keep step: the replay ratio, held by both sides.
//!
//! The learner makes version `v` of the net from positions up to `v - 1` quotas beyond the
//! warm-up; an actor that plays with version `v` may go on until `v + 1` quotas are made, then
//! waits for the next version. So the two work at the same time, the learner one quota behind,
//! and neither can run away from the other. With one actor the games that each version is
//! trained on, and the version that each move is played with, depend on the seed alone.
//!
//! Where the ratio is a band, the learner's quota is the smaller one and the actors' the larger:
//! between the two neither side waits, whatever the machine makes the faster one, and what a
//! version is trained on depends on time.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The schedule of versions against positions made.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Schedule {
    /// Positions before learning starts.
    pub warmup: u64,
    /// New positions between two versions that the learner waits for: steps x batch / the largest
    /// ratio.
    pub quota: f64,
    /// New positions between two versions that actors may make: the same over the smallest ratio.
    pub largest_quota: f64,
}

impl Schedule {
    /// Positions that must be made before the learner starts on `version`, the first being 1.
    pub fn needed(&self, version: u32) -> u64 {
        self.after(version.max(1) - 1, self.quota)
    }

    /// Positions up to which an actor may play with `version`.
    pub fn allowed(&self, version: u32) -> u64 {
        self.after(version + 1, self.largest_quota)
    }

    /// Whether learner and actors have room between them in which neither waits.
    pub fn is_band(&self) -> bool {
        self.largest_quota > self.quota
    }

    fn after(&self, quotas: u32, quota: f64) -> u64 {
        self.warmup + (f64::from(quotas) * quota) as u64
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
