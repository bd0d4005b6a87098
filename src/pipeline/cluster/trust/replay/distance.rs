//! How far the search results of two games are apart that have the same moves.

use std::fmt;
use std::ops::Range;

use super::Replay;
use crate::game::record::{GameRecord, MoveRecord};

/// The mean distance between two games over their searched moves.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Distance {
    /// The mean absolute difference of the values, 0 to 2.
    pub values: f32,
    /// The mean total variation distance of the policies, 0 to 1.
    pub policies: f32,
    /// The share of the moves that the replay would not have chosen, 0 to 1.
    pub moves: f32,
    /// The number of values that were compared.
    pub compared: usize,
}

impl fmt::Display for Distance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Distance { values, policies, moves, compared } = self;
        write!(
            f,
            "over {compared} moves, values differ by {values:.4}, policies by {policies:.4}, and \
             {:.0} % of the choices",
            100.0 * moves
        )
    }
}

/// The greatest distance of games that count.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Thresholds {
    /// The greatest [`Distance::values`].
    pub values: f32,
    /// The greatest [`Distance::policies`].
    pub policies: f32,
    /// The greatest [`Distance::moves`].
    pub moves: f32,
}

impl Default for Thresholds {
    /// They lie between honest games of other kernels and crude forgeries. Measured with 480 honest
    /// and 700 forged games by the nets of `checkpoints/6x6` and a 4x32 net of 8x8, with 32
    /// simulations (`cargo bench --bench replay`):
    ///
    /// | games | values | policies | moves |
    /// |---|---|---|---|
    /// | honest, float32 or bf16 against float32 with filters in f16: at most | 0.125 | 0.062 | 0.24 |
    /// | random values: at least | 0.36 | | |
    /// | all values 0: at least | 0.16 | | |
    /// | shuffled policies: at least | | 0.16 | |
    /// | all moves alike: at least | | 0.15 | |
    /// | another run's net: at least | 0.003 | 0.12 | 0.12 |
    ///
    /// A net that differs little cannot be told from another number format: with 1 % of noise in
    /// all weights most games pass.
    fn default() -> Thresholds {
        Thresholds { values: 0.15, policies: 0.1, moves: 0.35 }
    }
}

impl Thresholds {
    /// Whether a distance is within all of them.
    pub fn allow(&self, distance: &Distance) -> bool {
        distance.values <= self.values
            && distance.policies <= self.policies
            && distance.moves <= self.moves
    }
}

/// The distance between two games at one move.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Step {
    /// The absolute difference of the values.
    value: f32,
    /// The total variation distance of the policies, if both games have one.
    policy: Option<f32>,
    /// Whether the replay would have chosen another move.
    has_departed: bool,
}

/// The distances at the moves with these numbers, which both games must have.
pub(super) fn steps(claim: &GameRecord, replay: &Replay, moves: Range<usize>) -> Vec<Step> {
    let step = |index: usize| {
        let (a, b) = (&claim.moves[index], &replay.record.moves[index]);
        let has_policies = !a.policy.is_empty() && a.policy.len() == b.policy.len();
        Step {
            value: (value(a) - value(b)).abs(),
            policy: has_policies.then(|| total_variation(&a.policy, &b.policy)),
            has_departed: replay.departures.contains(&index),
        }
    };
    moves.map(step).collect()
}

/// The value of a searched move.
fn value(played: &MoveRecord) -> f32 {
    played.value.unwrap_or(0.0)
}

/// The total variation distance of two policies, given as weights of the same moves.
fn total_variation(a: &[u16], b: &[u16]) -> f32 {
    let sum = |weights: &[u16]| weights.iter().map(|&weight| f64::from(weight)).sum::<f64>();
    let (in_a, in_b) = (sum(a).max(1.0), sum(b).max(1.0));
    let difference = |(&a, &b): (&u16, &u16)| (f64::from(a) / in_a - f64::from(b) / in_b).abs();
    (a.iter().zip(b).map(difference).sum::<f64>() / 2.0) as f32
}

impl Distance {
    /// The means over some moves.
    pub(super) fn of(steps: &[Step]) -> Distance {
        let departed = steps.iter().filter(|step| step.has_departed).count();
        Distance {
            values: mean(steps.iter().map(|step| step.value)),
            policies: mean(steps.iter().filter_map(|step| step.policy)),
            moves: departed as f32 / steps.len().max(1) as f32,
            compared: steps.len(),
        }
    }
}

/// The mean of some numbers; 0 without any.
fn mean(numbers: impl Iterator<Item = f32>) -> f32 {
    let (count, sum) = numbers.fold((0u32, 0.0), |(count, sum), number| (count + 1, sum + number));
    sum / count.max(1) as f32
}

/// The steps of a game whose net changed at an unknown move: those of the replay with its first net
/// up to that move, and those with its last net from there on. It is the move for which the values
/// differ least.
pub(super) fn joined(first: &[Step], last: &[Step]) -> Vec<Step> {
    // How much the values differ more in all if the net changes after some moves than before all.
    let sums = first.iter().zip(last).scan(0.0, |sum, (first, last)| {
        *sum += first.value - last.value;
        Some(*sum)
    });
    let sums = std::iter::once(0.0).chain(sums).enumerate();
    let change = sums.min_by(|(_, a), (_, b)| a.total_cmp(b)).map_or(0, |(moves, _)| moves);
    [&first[..change], &last[change.min(last.len())..]].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn policies_are_compared_as_shares() {
        assert_eq!(total_variation(&[65535, 0], &[65535, 0]), 0.0);
        assert_eq!(total_variation(&[65535, 65535], &[3, 3]), 0.0, "scales do not matter");
        assert_eq!(total_variation(&[65535, 0], &[0, 65535]), 1.0);
        assert_eq!(total_variation(&[1, 1, 0, 0], &[0, 1, 1, 0]), 0.5);
        assert_eq!(total_variation(&[], &[]), 0.0);
    }

    fn step(value: f32) -> Step {
        Step { value, policy: None, has_departed: false }
    }

    #[test]
    fn means_leave_out_moves_without_a_policy() {
        let with_policy = Step { value: 0.5, policy: Some(0.25), has_departed: true };
        let found = Distance::of(&[step(0.0), with_policy]);
        let wanted = Distance { values: 0.25, policies: 0.25, moves: 0.5, compared: 2 };
        assert_eq!(found, wanted);
        assert_eq!(Distance::of(&[]), Distance::default());
    }

    /// The oracle tries all moves.
    #[test]
    fn a_changed_net_is_assumed_where_it_fits_best() {
        let first = [0.0, 0.1, 0.0, 0.5, 0.4].map(step);
        let last = [0.3, 0.4, 0.0, 0.1, 0.0].map(step);
        let sum = |steps: &[Step]| steps.iter().map(|step| step.value).sum::<f32>();
        for length in 0..=5 {
            let (first, last) = (&first[..length], &last[..length]);
            let split = |change: usize| sum(&first[..change]) + sum(&last[change..]);
            let best = (0..=length).map(split).fold(f32::INFINITY, f32::min);
            let found = joined(first, last);
            assert_eq!(found.len(), length);
            assert!((sum(&found) - best).abs() < 1e-6, "{found:?}");
        }
    }
}
