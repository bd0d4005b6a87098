//! How far a run is from the limits of its configuration.

use std::fmt;

use super::RunState;
use crate::config::RunLimits;

/// A limit that a run has reached.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RunLimit {
    /// Its key in the configuration.
    pub key: &'static str,
    /// Its value.
    pub value: f64,
}

impl fmt::Display for RunLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} = {}", self.key, self.value)
    }
}

/// The limits that are set, each with the count that comes nearer to it.
fn counts(
    limits: &RunLimits,
    state: &RunState,
    seconds: f64,
) -> impl Iterator<Item = (RunLimit, f64)> {
    [
        ("limits.games", limits.games as f64, state.games as f64),
        ("limits.positions", limits.positions as f64, state.positions as f64),
        ("limits.steps", limits.steps as f64, state.steps as f64),
        ("limits.minutes", limits.minutes, seconds / 60.0),
    ]
    .into_iter()
    .filter(|&(_, value, _)| value > 0.0)
    .map(|(key, value, count)| (RunLimit { key, value }, count))
}

/// The share of a run that is done after so many seconds, 0 to 1, as its nearest limit says;
/// `None` without limits.
pub(super) fn done(limits: &RunLimits, state: &RunState, seconds: f64) -> Option<f64> {
    let shares =
        counts(limits, state, seconds).map(|(limit, count)| (count / limit.value).min(1.0));
    shares.reduce(f64::max)
}

/// A limit that is reached, if one is.
pub(super) fn reached(limits: &RunLimits, state: &RunState, seconds: f64) -> Option<RunLimit> {
    counts(limits, state, seconds)
        .find(|(limit, count)| *count >= limit.value)
        .map(|(limit, _)| limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_limit_counts_and_a_reached_one_is_named() {
        let limits = RunLimits { minutes: 10.0, games: 100, positions: 0, steps: 0 };
        let state = RunState { games: 50, positions: u64::MAX, ..RunState::default() };
        assert_eq!(done(&limits, &state, 60.0), Some(0.5));
        assert_eq!(reached(&limits, &state, 599.0), None);
        let limit = reached(&limits, &state, 600.0).expect("a limit");
        assert_eq!(limit.to_string(), "limits.minutes = 10");
        assert_eq!(done(&limits, &state, 6000.0), Some(1.0));
        let none = RunLimits { minutes: 0.0, games: 0, positions: 0, steps: 0 };
        assert_eq!((done(&none, &state, 1e9), reached(&none, &state, 1e9)), (None, None));
    }
}
