//! The policy that the visits of PUCT converge to, computed from priors and utilities (Grill et
//! al. 2020).
//!
//! It replaces the visits if a move's score is exact: the search does not visit such a move again,
//! so its visits are too few.

use super::root::{MoveStats, ProvenScore};

/// Halvings of the interval that holds the normalising constant: enough for a float.
const HALVINGS: u32 = 24;

/// Writes to `out`, for each move, `l * prior / (a - utility)` with `l = c * sqrt(n) / (n + m)` for
/// `n` visits to `m` moves. The constant `a` makes the sum 1. Unvisited moves and those that are
/// proven not to be the best get 0. If no move is left, all get 0.
pub(super) fn policy(moves: &[MoveStats], c_puct: f32, out: &mut Vec<f32>) {
    let proven = ProvenScore::of(moves);
    let visited = || {
        let useful = moves.iter().filter(|stats| stats.may_be_best(proven));
        useful.filter_map(|stats| stats.utility.map(|utility| (stats.prior, utility)))
    };
    let visits: u32 = moves.iter().map(|stats| stats.visits).sum();
    // The minimum keeps the weight positive if `c_puct` is 0.
    let weight = (c_puct * (visits as f32).sqrt() / (visits as usize + moves.len()) as f32)
        .max(f32::MIN_POSITIVE);
    let share =
        |a: f32, prior: f32, utility: f32| weight * prior / (a - utility).max(f32::MIN_POSITIVE);
    // The sum falls in `a`; it is at least 1 at the lower end and at most 1 at the upper one.
    let mut low = visited().map(|(prior, q)| q + weight * prior).fold(f32::MIN, f32::max);
    let mut high = visited().map(|(_, q)| q + weight).fold(f32::MIN, f32::max);
    for _ in 0..HALVINGS {
        let middle = (low + high) / 2.0;
        let sum: f32 = visited().map(|(prior, q)| share(middle, prior, q)).sum();
        if sum > 1.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    out.clear();
    out.extend(moves.iter().map(|stats| match stats.utility {
        Some(utility) if stats.may_be_best(proven) => share(high, stats.prior, utility),
        _ => 0.0,
    }));
    let sum: f32 = out.iter().sum();
    out.iter_mut().for_each(|share| *share /= sum.max(f32::MIN_POSITIVE));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::Square;

    #[test]
    fn a_move_that_is_proven_lost_gets_nothing() {
        let open = |square, utility| MoveStats {
            square: Square(square),
            visits: 3,
            prior: 0.3,
            utility,
            lower: -64,
            upper: 64,
        };
        let lost = MoveStats { upper: -64, ..open(7, Some(-1.0)) };
        let mut out = Vec::new();
        policy(&[lost, open(8, Some(0.2)), open(9, Some(-0.4))], 1.5, &mut out);
        assert!(out[0] == 0.0 && out[1] > out[2] && out[2] > 0.0, "{out:?}");
        policy(&[lost, open(8, None)], 1.5, &mut out);
        assert_eq!(out, [0.0, 0.0]);
        // A move that can still exceed a proven score is preferred to the move that proves it.
        let proven = MoveStats { lower: 4, upper: 4, ..open(7, Some(0.9)) };
        let better = MoveStats { lower: 4, ..open(8, Some(0.95)) };
        policy(&[proven, better], 1.5, &mut out);
        assert!(out[0] == 0.0 && out[1] > 0.0, "{out:?}");
    }

    #[test]
    fn visits_converge_to_the_policy() {
        let (priors, values) = ([0.5f32, 0.25, 0.15, 0.1], [0.1f32, 0.35, -0.5, 0.3]);
        let c_puct = 1.5;
        let mut visits = [1u32; 4];
        for n in 4..800u32 {
            let score = |place: usize| {
                values[place]
                    + c_puct * priors[place] * (n as f32).sqrt() / (1.0 + visits[place] as f32)
            };
            let best = (0..4).max_by(|&a, &b| score(a).total_cmp(&score(b))).expect("a move");
            visits[best] += 1;
        }
        let moves: Vec<_> = (0..4)
            .map(|place| MoveStats {
                square: Square(place as u8),
                visits: visits[place],
                prior: priors[place],
                utility: Some(values[place]),
                lower: -64,
                upper: 64,
            })
            .collect();
        let mut out = Vec::new();
        policy(&moves, c_puct, &mut out);
        for (share, count) in out.iter().zip(visits) {
            assert!((share - count as f32 / 800.0).abs() < 0.01, "{out:?} {visits:?}");
        }
    }
}
