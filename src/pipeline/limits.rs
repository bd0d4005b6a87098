//! The limits of a run: how near they are, and which one is reached.

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

/// The limits that are set, each with the counter that it limits.
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

/// The share of a run that is done after `seconds` of training, 0 to 1, by its nearest limit;
/// `None` without limits.
pub(super) fn share_done(limits: &RunLimits, state: &RunState, seconds: f64) -> Option<f64> {
    let shares =
        counts(limits, state, seconds).map(|(limit, count)| (count / limit.value).min(1.0));
    shares.reduce(f64::max)
}

/// The first limit that is reached, if any.
pub(super) fn reached_limit(
    limits: &RunLimits,
    state: &RunState,
    seconds: f64,
) -> Option<RunLimit> {
    counts(limits, state, seconds)
        .find(|(limit, count)| *count >= limit.value)
        .map(|(limit, _)| limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_limit_gives_the_share_and_a_reached_limit_is_named() {
        let limits = RunLimits { minutes: 10.0, games: 100, positions: 0, steps: 0 };
        let state = RunState { games: 50, positions: u64::MAX, ..RunState::default() };
        assert_eq!(share_done(&limits, &state, 60.0), Some(0.5));
        assert_eq!(reached_limit(&limits, &state, 599.0), None);
        let limit = reached_limit(&limits, &state, 600.0).expect("a limit");
        assert_eq!(limit.to_string(), "limits.minutes = 10");
        assert_eq!(share_done(&limits, &state, 6000.0), Some(1.0));
        let none = RunLimits { minutes: 0.0, games: 0, positions: 0, steps: 0 };
        assert_eq!(
            (share_done(&none, &state, 1e9), reached_limit(&none, &state, 1e9)),
            (None, None)
        );
    }
}
