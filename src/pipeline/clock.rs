//! How long a run has trained, and what comes due meanwhile.

use std::time::{Duration, Instant};

/// Training time over all starts of a run.
pub(super) struct TrainingClock {
    /// None once it is stopped.
    started: Option<Instant>,
    before: f64,
}

impl TrainingClock {
    /// A clock that starts now, after so many seconds of earlier starts.
    pub(super) fn after(before: f64) -> TrainingClock {
        TrainingClock { started: Some(Instant::now()), before }
    }

    /// This clock, stopped: what follows is not training.
    pub(super) fn stopped(self) -> TrainingClock {
        TrainingClock { started: None, before: self.seconds() }
    }

    /// Seconds of all starts.
    pub(super) fn seconds(&self) -> f64 {
        self.before + self.started.map_or(0.0, |started| started.elapsed().as_secs_f64())
    }
}

/// Comes due again and again.
pub(super) struct Timer {
    every: Option<Duration>,
    last: Instant,
}

impl Timer {
    /// A timer of so many minutes; one of 0 never comes due.
    pub(super) fn every(minutes: f64) -> Timer {
        let every = (minutes > 0.0).then(|| Duration::from_secs_f64(minutes * 60.0));
        Timer { every, last: Instant::now() }
    }

    /// Whether its time has come; if so, the next one begins.
    pub(super) fn is_due(&mut self) -> bool {
        let due = self.every.is_some_and(|every| self.last.elapsed() >= every);
        if due {
            self.last = Instant::now();
        }
        due
    }
}
