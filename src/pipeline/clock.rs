//! The training time of a run, and timers for periodic work.

use std::time::{Duration, Instant};

/// Training time over all starts of a run.
pub(super) struct TrainingClock {
    /// `None` after the clock was stopped.
    started: Option<Instant>,
    /// Seconds before `started`.
    before: f64,
}

impl TrainingClock {
    /// A clock that starts now at `before` seconds, the time of earlier starts.
    pub(super) fn starting_at(before: f64) -> TrainingClock {
        TrainingClock { started: Some(Instant::now()), before }
    }

    /// This clock, stopped: time after this does not count as training.
    pub(super) fn stopped(self) -> TrainingClock {
        TrainingClock { started: None, before: self.seconds() }
    }

    /// Seconds of training over all starts.
    pub(super) fn seconds(&self) -> f64 {
        self.before + self.started.map_or(0.0, |started| started.elapsed().as_secs_f64())
    }
}

/// A periodic timer.
pub(super) struct Timer {
    every: Option<Duration>,
    last: Instant,
}

impl Timer {
    /// A timer that is due every `minutes` minutes; with 0 it is never due.
    pub(super) fn every(minutes: f64) -> Timer {
        let every = (minutes > 0.0).then(|| Duration::from_secs_f64(minutes * 60.0));
        Timer { every, last: Instant::now() }
    }

    /// Whether the time has passed; if so, the timer starts again.
    pub(super) fn is_due(&mut self) -> bool {
        let due = self.every.is_some_and(|every| self.last.elapsed() >= every);
        if due {
            self.last = Instant::now();
        }
        due
    }
}
