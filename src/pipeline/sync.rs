//! How actors and the learner keep step: the replay ratio, held by both sides.
//!
//! The learner makes version `v` of the net from positions up to `v - 1` quotas beyond the
//! warm-up; an actor that plays with version `v` may go on until `v + 1` quotas are made, then
//! waits for the next version. So the two work at the same time, the learner one quota behind,
//! and neither can run away from the other. With one actor on a processor the games that each version
//! is trained on, and the version that each move is played with, depend on the seed alone. (On a GPU
//! a server thread takes the next net while questions are under way.)
//!
//! Where the ratio is a band, the learner's quota is the smaller one and the actors' the larger:
//! between the two neither side waits, whatever the machine makes the faster one, and what a
//! version is trained on depends on time.
//!
//! A run that is resumed with other quotas counts them from where it stands: the nets so far were
//! due by the quotas of then.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use serde::{Deserialize, Serialize};

use super::state::{ImpossibleCounter, MOST};

/// The schedule of versions against positions made.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Schedule {
    /// The version from which quotas are counted: 0, or that of the run when it got other ones.
    pub first: u32,
    /// Positions made by then, as far as the actors were allowed to make them; with version 0,
    /// positions before learning starts.
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

    /// This schedule for a run that has followed `before` so far and stands at `version`, with so
    /// many positions made.
    pub fn going_on(self, before: Schedule, version: u32, positions: u64) -> Schedule {
        let quotas = |schedule: Schedule| (schedule.quota, schedule.largest_quota);
        if version == 0 {
            self
        } else if quotas(self) == quotas(before) {
            before
        } else {
            // More than the actors were allowed to make is still to be learnt at this ratio: games
            // of earlier runs, or of a kill.
            Schedule { first: version, warmup: positions.min(before.allowed(version)), ..self }
        }
    }

    /// Whether a run that stands at `version` can have this schedule.
    pub(super) fn check(&self, version: u32) -> Result<(), ImpossibleCounter> {
        for (member, value, most) in [
            ("schedule.first", u64::from(self.first), u64::from(version)),
            ("schedule.warmup", self.warmup, MOST),
        ] {
            if value > most {
                return Err(ImpossibleCounter::new(member, value, format!("0 to {most}")));
            }
        }
        let quotas =
            [("schedule.quota", self.quota), ("schedule.largest_quota", self.largest_quota)];
        for (member, value) in quotas {
            if !(value > 0.0 && value.is_finite()) {
                return Err(ImpossibleCounter::new(member, value, "above 0".into()));
            }
        }
        Ok(())
    }

    fn after(&self, version: u32, quota: f64) -> u64 {
        let quotas = (f64::from(version.saturating_sub(self.first)) * quota) as u64;
        self.warmup.saturating_add(quotas)
    }
}

/// What all threads of a run share.
#[derive(Debug)]
pub struct Shared<'a> {
    /// Positions made by all actors, sent or about to be.
    pub made: AtomicU64,
    /// Whether there is nothing to learn from yet, in all that actors have sent: then they go on
    /// whatever the schedule says, for all that they have made may be held out.
    pub starved: AtomicBool,
    /// Set when the run is to end at once: by an interrupt, or because a part of it has failed. An
    /// interrupt also ends outside opponents. A run that fails waits for the answer that one of
    /// them owes, up to its `timeout`.
    pub stop: &'a AtomicBool,
    /// Set when a limit is reached: no more games are made, and the last net is still rated.
    pub finished: AtomicBool,
}

impl Shared<'_> {
    /// Whether no more games are to be made.
    pub fn stopping(&self) -> bool {
        self.interrupted() || self.finished.load(Ordering::Relaxed)
    }

    /// Whether the run is to end at once.
    pub fn interrupted(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Ends the run at once.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Ends the games, as a limit is reached.
    pub fn finish(&self) {
        self.finished.store(true, Ordering::Relaxed);
    }

    /// Ends the run at once, unless it is ending already.
    pub fn end(&self) {
        if !self.stopping() {
            self.stop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_quotas_count_from_where_the_run_stands() {
        let before = Schedule { first: 0, warmup: 20_000, quota: 1_000.0, largest_quota: 8_000.0 };
        let wanted = Schedule { first: 0, warmup: 50_000, quota: 8_000.0, largest_quota: 8_000.0 };
        let (version, positions) = (2_500, 5_000_000);
        let now = wanted.going_on(before, version, positions);
        // The learner has what it needs for the next version, and the actors what they may make.
        assert_eq!(now.needed(version + 1), positions);
        assert_eq!(now.needed(version + 2), positions + 8_000);
        assert_eq!(now.allowed(version), positions + 8_000);
        // Resumed again, by the same quotas or by those of before.
        assert_eq!(wanted.going_on(now, version + 9, positions + 70_000), now);
        let again = before.going_on(now, version + 9, positions + 70_000);
        assert_eq!(again.needed(version + 11), positions + 71_000);
        // What the run began with is learnt before the actors go on.
        let behind = wanted.going_on(before, 10, positions);
        assert_eq!(behind.needed(11), before.allowed(10));
        assert!(behind.allowed(10) < positions && behind.needed(600) < positions);
        // Nothing is learnt yet: the warm-up may still change.
        assert_eq!(wanted.going_on(before, 0, 10_000), wanted);
    }
}
