//! Policy target pruning: visits without those that come from noise alone.
//!
//! Noise makes a search visit moves that both the net and the search find bad. A net trained on
//! these visits learns to predict the noise. Wu (2019, section 3.2) removes the visits that PUCT
//! would not have given to a move. There they come from forced playouts, here from the noise in the
//! priors.

use super::root::MoveStats;

/// Writes to `out`, for each move, the visits that PUCT would have given it with `priors`, the
/// priors without noise: the number at which its PUCT score equals that of the most visited move,
/// but at most its own visits. A move with less than one visit left gets 0.
pub(super) fn visits(moves: &[MoveStats], priors: &[f32], c_puct: f32, out: &mut Vec<f32>) {
    let all: u32 = moves.iter().map(|stats| stats.visits).sum();
    let scale = c_puct * (all as f32).sqrt();
    let value = |stats: &MoveStats| stats.utility.unwrap_or(-1.0);
    let pairs = || moves.iter().zip(priors);
    let most = pairs().max_by_key(|(stats, _)| stats.visits);
    let Some((most, &prior)) = most else { return out.clear() };
    let highest = value(most) + scale * prior / (1.0 + most.visits as f32);
    out.clear();
    out.extend(pairs().map(|(stats, &prior)| {
        let visits = stats.visits as f32;
        let distance = highest - value(stats);
        if stats.square == most.square || distance <= 0.0 {
            return visits;
        }
        let deserved = (scale * prior / distance - 1.0).min(visits);
        if deserved < 1.0 { 0.0 } else { deserved }
    }));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::Square;

    const C_PUCT: f32 = 1.5;

    /// A bandit whose moves have fixed values, searched with `priors`.
    fn searched(priors: &[f32], values: &[f32], simulations: u32) -> Vec<MoveStats> {
        let mut visits = vec![0u32; priors.len()];
        for n in 0..simulations {
            let score = |place: usize| {
                let count = visits[place] as f32;
                values[place] + C_PUCT * (n as f32).sqrt() * priors[place] / (1.0 + count)
            };
            let best = (0..priors.len()).max_by(|&a, &b| score(a).total_cmp(&score(b)));
            visits[best.expect("a move")] += 1;
        }
        let moves = visits.iter().zip(priors).zip(values).enumerate();
        let stats = moves.map(|(place, ((&visits, &prior), &value))| MoveStats {
            square: Square(place as u8),
            visits,
            prior,
            utility: (visits > 0).then_some(value),
            lower: -64,
            upper: 64,
        });
        stats.collect()
    }

    #[test]
    fn without_noise_almost_no_visits_are_removed() {
        let (priors, values) = ([0.5, 0.25, 0.15, 0.1], [0.1, 0.35, -0.5, 0.3]);
        let moves = searched(&priors, &values, 400);
        let mut pruned = Vec::new();
        visits(&moves, &priors, C_PUCT, &mut pruned);
        for (stats, left) in moves.iter().zip(&pruned) {
            assert!((stats.visits as f32 - left).abs() <= 2.0, "{left} of {}", stats.visits);
        }
    }

    #[test]
    fn visits_that_come_from_noise_are_removed() {
        let (plain, noisy) = ([0.9, 0.08, 0.02], [0.7, 0.06, 0.24]);
        let values = [0.2, 0.1, -0.6];
        let moves = searched(&noisy, &values, 200);
        let mut pruned = Vec::new();
        visits(&moves, &plain, C_PUCT, &mut pruned);
        assert!(moves[2].visits >= 5, "noise was followed: {moves:?}");
        assert_eq!(pruned[2], 0.0, "{pruned:?}");
        assert_eq!(pruned[0], moves[0].visits as f32);
        // The pruned visits are close to those of a search without noise.
        let quiet = searched(&plain, &values, 200);
        assert!((pruned[1] - quiet[1].visits as f32).abs() <= 3.0, "{pruned:?} {quiet:?}");
    }

    #[test]
    fn a_better_move_keeps_its_visits() {
        // Late in a search a move can be better than the most visited one.
        let mut moves = searched(&[0.8, 0.2], &[0.0, -0.1], 50);
        moves[1].utility = Some(0.9);
        let mut pruned = Vec::new();
        visits(&moves, &[0.99, 0.01], C_PUCT, &mut pruned);
        assert_eq!(pruned, [moves[0].visits as f32, moves[1].visits as f32]);
    }
}
