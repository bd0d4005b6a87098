//! Where a run stands.

use serde::{Deserialize, Serialize};

use super::limits::RunLimit;
use super::sync::Schedule;
use crate::arena::rating::Rating;
use crate::store::run_dir;

/// The rating of one of a run's nets.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct NetRating {
    /// Learning steps that made the net.
    pub steps: u64,
    /// How strong it was found to be.
    pub rating: Rating,
}

/// More than any run counts, and little enough to be added up without an overflow.
pub(super) const MOST: u64 = 1_000_000_000_000_000;
/// Room for the versions to come in 32 bits.
const MOST_VERSIONS: u64 = 1 << 31;

/// A counter of a run that holds what it cannot hold.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[error("`{member}` is {value}; allowed: {allowed}")]
pub struct ImpossibleCounter {
    /// Its name in `state.json`.
    member: &'static str,
    /// What it holds.
    value: String,
    /// What it may hold.
    allowed: String,
}

/// The counters of a run, saved with each checkpoint.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunState {
    /// Nets published; 0 is the one that the run began with.
    pub version: u32,
    /// Learning steps done.
    pub steps: u64,
    /// Games recorded.
    pub games: u64,
    /// Positions made by self-play.
    pub positions: u64,
    /// The number of the next game.
    pub next_game: u64,
    /// Seconds of training over all starts of the run.
    pub seconds: f64,
    /// The best rating an evaluation has found.
    pub best_rating: Option<f64>,
    /// What the newest evaluation has found.
    #[serde(default)]
    pub rating: Option<NetRating>,
    /// Steps of the newest net that the evaluator was given: its checkpoint keeps the net.
    #[serde(default)]
    pub evaluated: Option<u64>,
    /// How it keeps its replay ratio; none before its first start, and of older versions.
    #[serde(default)]
    pub schedule: Option<Schedule>,
}

impl RunState {
    /// Whether the counters can be those of a run on a board of so many squares: files of older
    /// versions have no checksum.
    ///
    /// # Errors
    ///
    /// One of them is out of its range, or does not go together with another one.
    pub fn check(&self, squares: usize) -> Result<(), ImpossibleCounter> {
        let most_versions = self.steps.min(MOST_VERSIONS);
        let most_positions = self.games.saturating_mul(squares as u64).min(MOST);
        for (member, value, most, reason) in [
            ("next_game", self.next_game, MOST, ""),
            ("games", self.games, self.next_game.min(MOST), ", the number of the next game"),
            ("positions", self.positions, most_positions, ", what so many games can hold"),
            ("steps", self.steps, MOST, ""),
            ("version", self.version.into(), most_versions, ", no more than steps"),
        ] {
            if value > most {
                return Err(ImpossibleCounter::new(member, value, format!("0 to {most}{reason}")));
            }
        }
        if !(0.0..=MOST as f64).contains(&self.seconds) {
            let allowed = format!("0 to {MOST}");
            return Err(ImpossibleCounter::new("seconds", self.seconds, allowed));
        }
        self.schedule.map_or(Ok(()), |schedule| schedule.check(self.version))
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

    /// Takes note of what an evaluation has found.
    pub fn note_rating(&mut self, found: NetRating) {
        let elo = found.rating.elo;
        self.best_rating = Some(self.best_rating.map_or(elo, |best| best.max(elo)));
        self.rating = Some(found);
    }

    /// The rating of the net that the run has now, if it has been rated.
    pub fn last_rating(&self) -> Option<Rating> {
        self.rating.filter(|found| found.steps == self.steps).map(|found| found.rating)
    }
}

/// Why a run has ended, and where it stood.
#[derive(Clone, Debug, PartialEq)]
pub struct RunEnd {
    /// The counters at the end.
    pub state: RunState,
    /// The limit of the configuration that was reached; none after an interrupt.
    pub limit: Option<RunLimit>,
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
            seconds: 60.0,
            best_rating: None,
            rating: None,
            evaluated: None,
            schedule: Some(Schedule { first: 2, warmup: 500, quota: 640.0, largest_quota: 640.0 }),
        }
    }

    #[test]
    fn counters_that_no_run_can_have_are_named() {
        assert_eq!(a_state().check(36), Ok(()));
        assert_eq!(RunState::default().check(36), Ok(()));
        type Harm = fn(&mut RunState);
        let harms: [(Harm, &str); 10] = [
            (|state| state.steps = u64::MAX, "`steps` is 18446744073709551615; allowed: 0 to 1"),
            (|state| state.next_game = u64::MAX, "`next_game` is 18446744073709551615"),
            (|state| state.games = 121, "`games` is 121; allowed: 0 to 120, the number of"),
            (|state| state.positions = 3_601, "`positions` is 3601; allowed: 0 to 3600, what"),
            (|state| state.version = 17, "`version` is 17; allowed: 0 to 16, no more than steps"),
            (|state| state.seconds = -1.0, "`seconds` is -1"),
            (|state| state.seconds = f64::NAN, "`seconds` is NaN"),
            (|state| schedule(state).first = 5, "`schedule.first` is 5; allowed: 0 to 4"),
            (
                |state| schedule(state).warmup = u64::MAX,
                "`schedule.warmup` is 18446744073709551615",
            ),
            (|state| schedule(state).quota = 0.0, "`schedule.quota` is 0"),
        ];
        for (harm, wanted) in harms {
            let mut state = a_state();
            harm(&mut state);
            let message = state.check(36).expect_err(wanted).to_string();
            assert!(message.starts_with(wanted), "{message}");
        }
    }

    fn schedule(state: &mut RunState) -> &mut Schedule {
        state.schedule.as_mut().expect("a schedule")
    }
}
