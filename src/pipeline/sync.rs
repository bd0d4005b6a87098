//! Synchronisation of actors and learner, so that the replay ratio is kept.
//!
//! A quota is the number of new positions per version of the net. The learner starts to train
//! version `v` when the warm-up and `v - 1` quotas are generated. An actor with version `v` plays
//! until the warm-up and `v + 1` quotas are generated, then waits for the next version. So both
//! work at the same time, and neither gets far ahead of the other.
//!
//! With one actor on a CPU, the seed alone determines the games that each version is trained on and
//! the version that plays each move. On a GPU this does not hold, because the server's threads load
//! a new net while queries are in progress.
//!
//! If the replay ratio is a range, the learner has the smaller quota and the actors the larger one.
//! Between the two neither side waits, but then the training data of a version depend on timing.
//!
//! If a run is resumed with other quotas, they count from its current version and positions.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::state::{ImpossibleCounter, MAX_COUNT};
use crate::train::selfplay::GameNumbers;

/// Time between two activity reports, and the longest time before a waiting actor notices a stop.
pub(super) const REPORT_EVERY: Duration = Duration::from_millis(500);

/// How many positions must be, and may be, generated for each version of the net.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Schedule {
    /// The version from which quotas are counted: 0, or the run's version when its quotas changed.
    pub first: u32,
    /// Positions generated when `first` was current, but not more than the actors were allowed to
    /// generate. For version 0, the positions before training starts.
    pub warmup: u64,
    /// New positions per version that the learner waits for: steps x batch / largest ratio.
    pub quota: f64,
    /// New positions per version that the actors may generate: steps x batch / smallest ratio.
    pub largest_quota: f64,
}

impl Schedule {
    /// Positions that must be generated before the learner trains `version`, which is 1 or more.
    pub fn positions_needed(&self, version: u32) -> u64 {
        self.after(version.max(1) - 1, self.quota)
    }

    /// Positions that may be generated while an actor plays with `version`.
    pub fn positions_allowed(&self, version: u32) -> u64 {
        self.after(version + 1, self.largest_quota)
    }

    /// Whether the replay ratio is a range, not a single number.
    pub fn has_ratio_range(&self) -> bool {
        self.largest_quota > self.quota
    }

    /// This schedule for a resumed run, which followed the schedule `before` up to `version` and
    /// has generated `positions` positions.
    pub fn resumed_from(self, before: Schedule, version: u32, positions: u64) -> Schedule {
        let quotas = |schedule: Schedule| (schedule.quota, schedule.largest_quota);
        if version == 0 {
            self
        } else if quotas(self) == quotas(before) {
            before
        } else {
            // Positions beyond what the actors were allowed to generate are not trained on yet:
            // games copied from earlier runs, or played before a kill. They count for this ratio.
            Schedule {
                first: version,
                warmup: positions.min(before.positions_allowed(version)),
                ..self
            }
        }
    }

    /// Checks that this schedule is possible for a run at `version`.
    pub(super) fn check(&self, version: u32) -> Result<(), ImpossibleCounter> {
        for (member, value, most) in [
            ("schedule.first", u64::from(self.first), u64::from(version)),
            ("schedule.warmup", self.warmup, MAX_COUNT),
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

/// Counters of self-play, shared by the actors and by what speaks to workers.
#[derive(Debug)]
pub struct Counters {
    /// The numbers of new games.
    pub numbers: GameNumbers,
    /// Positions of all games that the actors have finished, including those not yet received.
    pub positions: AtomicU64,
    /// Whether there is no position to train on yet, also not in the games that actors have just
    /// finished. Then actors ignore the schedule, because all games so far may be held out.
    pub learner_starved: AtomicBool,
}

/// How far an actor may play, and when it takes a newer net.
#[derive(Clone, Debug)]
pub enum Pace {
    /// By the schedule of a run in this process.
    Schedule(Schedule),
    /// By what a run elsewhere allows this worker.
    Leased(Arc<Allowance>),
}

/// What a run elsewhere allows a worker.
#[derive(Debug, Default)]
pub struct Allowance {
    /// The number of positions up to which the run wants games.
    pub positions: AtomicU64,
    /// With fewer numbers left than this, actors wait.
    pub reserve: u64,
}

impl Pace {
    /// Whether an actor with net `version` must wait.
    pub fn has_enough(&self, version: u32, counters: &Counters) -> bool {
        let (allowed, lacks_numbers) = match self {
            Pace::Schedule(schedule) => (schedule.positions_allowed(version), false),
            Pace::Leased(allowance) => (
                allowance.positions.load(Ordering::Relaxed),
                counters.numbers.left() < allowance.reserve,
            ),
        };
        let is_wanted = counters.learner_starved.load(Ordering::Relaxed)
            || counters.positions.load(Ordering::Acquire) < allowed;
        lacks_numbers || !is_wanted
    }

    /// Whether an actor takes a newer net as soon as there is one. If the replay ratio is a range, an
    /// actor may play with its net for long.
    pub fn takes_nets_at_once(&self) -> bool {
        match self {
            Pace::Schedule(schedule) => schedule.has_ratio_range(),
            Pace::Leased(_) => true,
        }
    }

    /// How long an actor waits for a net before it looks again whether it may play. A worker's
    /// allowance changes without a new net.
    pub fn patience(&self) -> Duration {
        match self {
            Pace::Schedule(_) => REPORT_EVERY,
            Pace::Leased(_) => Duration::from_millis(20),
        }
    }

    /// Whether an actor that waits skips the next net, `version`: by a schedule, if its positions are
    /// all generated, because a newer one follows.
    pub fn skips(&self, version: u32, counters: &Counters) -> bool {
        matches!(self, Pace::Schedule(_)) && self.has_enough(version, counters)
    }
}

/// The state that all threads of a run share.
#[derive(Debug)]
pub struct Shared<'a> {
    /// The counters that actors change, and games of workers.
    pub counters: Arc<Counters>,
    /// Set to end the run at once: by an interrupt, or because one of its parts failed. An
    /// interrupt also ends external opponents. After a failure, the run waits for an opponent that
    /// is thinking, up to its `timeout`.
    pub stop: &'a AtomicBool,
    /// Set when a limit is reached: no more games are played, but the last net is still rated.
    pub finished: AtomicBool,
}

impl Shared<'_> {
    /// Whether the actors must stop.
    pub fn stopping(&self) -> bool {
        self.interrupted() || self.finished.load(Ordering::Relaxed)
    }

    /// Whether the run must end at once.
    pub fn interrupted(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Ends the run at once.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Ends self-play because a limit is reached.
    pub fn finish(&self) {
        self.finished.store(true, Ordering::Relaxed);
    }

    /// Ends the run at once, unless it is already ending.
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
    fn new_quotas_count_from_the_current_version() {
        let before = Schedule { first: 0, warmup: 20_000, quota: 1_000.0, largest_quota: 8_000.0 };
        let wanted = Schedule { first: 0, warmup: 50_000, quota: 8_000.0, largest_quota: 8_000.0 };
        let (version, positions) = (2_500, 5_000_000);
        let now = wanted.resumed_from(before, version, positions);
        // The next version needs no new positions, and the actors may generate one quota.
        assert_eq!(now.positions_needed(version + 1), positions);
        assert_eq!(now.positions_needed(version + 2), positions + 8_000);
        assert_eq!(now.positions_allowed(version), positions + 8_000);
        // Resumed again, with the same quotas or with the first ones.
        assert_eq!(wanted.resumed_from(now, version + 9, positions + 70_000), now);
        let again = before.resumed_from(now, version + 9, positions + 70_000);
        assert_eq!(again.positions_needed(version + 11), positions + 71_000);
        // Copied games are trained on before the actors continue.
        let behind = wanted.resumed_from(before, 10, positions);
        assert_eq!(behind.positions_needed(11), before.positions_allowed(10));
        assert!(
            behind.positions_allowed(10) < positions && behind.positions_needed(600) < positions
        );
        // Training has not started: the warm-up may still change.
        assert_eq!(wanted.resumed_from(before, 0, 10_000), wanted);
    }
}
