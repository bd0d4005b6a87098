//! The counters of a run, which its checkpoints save.

use serde::{Deserialize, Serialize};

use super::limits::RunLimit;
use super::sync::Schedule;
use crate::arena::rating::Rating;
use crate::store::run_dir;
use crate::train::selfplay::NetVersion;

/// The rating of one of a run's nets.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct NetRating {
    /// Training steps of the net.
    pub steps: u64,
    /// Its rating.
    pub rating: Rating,
}

/// More than any counter of a run reaches, and small enough that sums do not overflow.
pub(super) const MAX_COUNT: u64 = 1_000_000_000_000_000;
/// Half of the range of `u32`, so that later versions do not overflow.
const MAX_VERSION: u64 = 1 << 31;

/// A counter of a run that is out of its range.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[error("`{member}` is {value}; allowed: {allowed}")]
pub struct ImpossibleCounter {
    /// Its name in `state.json`.
    member: &'static str,
    /// Its value.
    value: String,
    /// The allowed values.
    allowed: String,
}

/// The counters of a run, saved with each checkpoint.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunState {
    /// The version of the newest published net; 0 is the net that the run started with.
    pub version: u32,
    /// Training steps done.
    pub steps: u64,
    /// Games stored.
    pub games: u64,
    /// Their training positions, including held-out ones.
    pub positions: u64,
    /// The number of the next game.
    pub next_game: u64,
    /// The length of the run's leases to workers, in bytes.
    #[serde(default)]
    pub leases: u64,
    /// Seconds of training over all starts of the run.
    pub seconds: f64,
    /// The best rating (Elo) of all evaluations.
    pub best_rating: Option<f64>,
    /// The rating of the newest evaluation.
    #[serde(default)]
    pub rating: Option<NetRating>,
    /// Steps of the newest net sent to the evaluation thread; its checkpoint keeps the net.
    #[serde(default)]
    pub evaluated: Option<u64>,
    /// The schedule that keeps the replay ratio; `None` before the first start and in checkpoints
    /// of older versions.
    #[serde(default)]
    pub schedule: Option<Schedule>,
}

impl RunState {
    /// Checks that the counters are possible for a run on a board of `squares` squares. This is
    /// needed because files of older versions have no checksum.
    ///
    /// # Errors
    ///
    /// A counter is out of its range, or contradicts another one.
    pub fn check(&self, squares: usize) -> Result<(), ImpossibleCounter> {
        let most_versions = self.steps.min(MAX_VERSION);
        let most_positions = self.games.saturating_mul(squares as u64).min(MAX_COUNT);
        for (member, value, most, reason) in [
            ("next_game", self.next_game, MAX_COUNT, ""),
            ("games", self.games, self.next_game.min(MAX_COUNT), ", the number of the next game"),
            ("positions", self.positions, most_positions, ", `games` times the board's squares"),
            ("steps", self.steps, MAX_COUNT, ""),
            ("version", self.version.into(), most_versions, ", no more than `steps`"),
        ] {
            if value > most {
                return Err(ImpossibleCounter::new(member, value, format!("0 to {most}{reason}")));
            }
        }
        if !(0.0..=MAX_COUNT as f64).contains(&self.seconds) {
            let allowed = format!("0 to {MAX_COUNT}");
            return Err(ImpossibleCounter::new("seconds", self.seconds, allowed));
        }
        self.schedule.map_or(Ok(()), |schedule| schedule.check(self.version))
    }

    /// The newest published net.
    pub(super) fn net(&self) -> NetVersion {
        NetVersion { version: self.version, positions: self.positions }
    }

    /// The counters as `run.json` holds them.
    pub fn summary(&self) -> run_dir::RunSummary {
        run_dir::RunSummary {
            games: self.games,
            positions: self.positions,
            steps: self.steps,
            minutes: self.seconds / 60.0,
            rating: self.rating.map(|found| found.rating.elo),
            rating_error: self.rating.map(|found| found.rating.error),
            best_rating: self.best_rating,
        }
    }

    /// Records the rating of an evaluation.
    pub fn note_rating(&mut self, found: NetRating) {
        let elo = found.rating.elo;
        self.best_rating = Some(self.best_rating.map_or(elo, |best| best.max(elo)));
        self.rating = Some(found);
    }

    /// The rating of the run's current net, if it was rated.
    pub fn last_rating(&self) -> Option<Rating> {
        self.rating.filter(|found| found.steps == self.steps).map(|found| found.rating)
    }
}

/// The end of a run: its last counters, and why it ended.
#[derive(Clone, Debug, PartialEq)]
pub struct RunEnd {
    /// The counters at the end.
    pub state: RunState,
    /// Why it ended.
    pub ending: Ending,
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Ending {
    /// It was interrupted, and continues when it is resumed.
    Stopped,
    /// It reached a limit of its configuration.
    Limit(RunLimit),
    /// All of its work is done: its method has an end.
    Complete,
}

impl Ending {
    /// The ending of a run with limits; `None` after an interrupt.
    pub(super) fn at(limit: Option<RunLimit>) -> Ending {
        limit.map_or(Ending::Stopped, Ending::Limit)
    }
}

impl ImpossibleCounter {
    pub(super) fn new(member: &'static str, value: impl ToString, allowed: String) -> Self {
        ImpossibleCounter { member, value: value.to_string(), allowed }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn a_state() -> RunState {
        RunState {
            version: 4,
            steps: 16,
            games: 100,
            positions: 3_000,
            next_game: 120,
            leases: 0,
            seconds: 60.0,
            best_rating: None,
            rating: None,
            evaluated: None,
            schedule: Some(Schedule { first: 2, warmup: 500, quota: 640.0, largest_quota: 640.0 }),
        }
    }

    #[test]
    fn impossible_counters_are_named() {
        assert_eq!(a_state().check(36), Ok(()));
        assert_eq!(RunState::default().check(36), Ok(()));
        type Fault = fn(&mut RunState);
        let faults: [(Fault, &str); 10] = [
            (|state| state.steps = u64::MAX, "`steps` is 18446744073709551615; allowed: 0 to 1"),
            (|state| state.next_game = u64::MAX, "`next_game` is 18446744073709551615"),
            (|state| state.games = 121, "`games` is 121; allowed: 0 to 120, the number of"),
            (|state| state.positions = 3_601, "`positions` is 3601; allowed: 0 to 3600, `games`"),
            (|state| state.version = 17, "`version` is 17; allowed: 0 to 16, no more than `steps`"),
            (|state| state.seconds = -1.0, "`seconds` is -1"),
            (|state| state.seconds = f64::NAN, "`seconds` is NaN"),
            (|state| schedule(state).first = 5, "`schedule.first` is 5; allowed: 0 to 4"),
            (
                |state| schedule(state).warmup = u64::MAX,
                "`schedule.warmup` is 18446744073709551615",
            ),
            (|state| schedule(state).quota = 0.0, "`schedule.quota` is 0"),
        ];
        for (fault, wanted) in faults {
            let mut state = a_state();
            fault(&mut state);
            let message = state.check(36).expect_err(wanted).to_string();
            assert!(message.starts_with(wanted), "{message}");
        }
    }

    fn schedule(state: &mut RunState) -> &mut Schedule {
        state.schedule.as_mut().expect("a schedule")
    }
}
