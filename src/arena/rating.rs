//! Ratings by maximum likelihood over all games of a pool.
//!
//! The model of Bradley and Terry, a draw counted as half a win: a player scores
//! `1 / (1 + 10^(-d/400))` against one that is rated `d` lower. Games alone leave the rating of
//! somebody who only ever won infinite, and of two groups that never met undetermined; so each
//! player is also given half a drawn game ([`PRIOR_GAMES`]) against an imaginary opponent in the
//! middle of the pool. That is the whole regularisation.

use serde::{Deserialize, Serialize};

/// The weight of the imaginary draw that each player is given, in games.
pub const PRIOR_GAMES: f64 = 0.5;

/// Elo points in one unit of log-odds.
const ELO: f64 = 400.0 / std::f64::consts::LN_10;

/// All games between two players, from the view of the first.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Encounter {
    /// Index of a player.
    pub first: usize,
    /// Index of the other.
    pub second: usize,
    /// Points of the first: a win is one, a draw half.
    pub points: f64,
    /// How many games.
    pub games: f64,
}

/// How strong a player is, and how sure that is.
#[derive(Clone, Copy, Default, PartialEq, Debug, Serialize, Deserialize)]
pub struct Rating {
    /// In Elo points; the reference is 0.
    pub elo: f64,
    /// Standard error of the difference to the reference.
    pub error: f64,
}

impl Rating {
    /// Half the width of the 95 % interval.
    pub fn half_width(&self) -> f64 {
        1.96 * self.error
    }
}

/// The rating with its 95 % interval, such as `1650 +- 80`.
impl std::fmt::Display for Rating {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:.0} +- {:.0}", self.elo, self.half_width())
    }
}

/// The ratings of players `0..players`, seen from a reference: one of them, or the mean of all.
pub fn ratings(players: usize, encounters: &[Encounter], reference: Option<usize>) -> Vec<Rating> {
    if players == 0 {
        return Vec::new();
    }
    let mut strengths = vec![0.0; players];
    let mut likelihood = log_likelihood(&strengths, encounters);
    for _ in 0..200 {
        let (gradient, information) = slope(&strengths, encounters);
        let step = Cholesky::new(information).solve(&gradient);
        // The likelihood is concave, so a short enough Newton step never goes down.
        let mut length = 1.0 / step.iter().fold(1.0f64, |most, part| most.max(part.abs()));
        let taken = loop {
            let next: Vec<_> =
                strengths.iter().zip(&step).map(|(old, part)| old + length * part).collect();
            let reached = log_likelihood(&next, encounters);
            if reached >= likelihood || length < 1e-9 {
                (strengths, likelihood) = (next, reached);
                break length;
            }
            length /= 2.0;
        };
        if step.iter().all(|part| (taken * part).abs() < 1e-9) {
            break;
        }
    }
    let mean = strengths.iter().sum::<f64>() / players as f64;
    let zero = reference.map_or(mean, |place| strengths[place]);
    let errors = standard_errors(&strengths, encounters, reference);
    let rating = |(strength, error): (&f64, f64)| Rating { elo: ELO * (strength - zero), error };
    strengths.iter().zip(errors).map(rating).collect()
}

fn win_chance(difference: f64) -> f64 {
    1.0 / (1.0 + (-difference).exp())
}

/// `ln(1 / (1 + exp(-difference)))`, without overflow.
fn log_chance(difference: f64) -> f64 {
    -(-difference.abs()).exp().ln_1p() + difference.min(0.0)
}

fn log_likelihood(strengths: &[f64], encounters: &[Encounter]) -> f64 {
    let played = |met: &Encounter| {
        let difference = strengths[met.first] - strengths[met.second];
        met.points * log_chance(difference) + (met.games - met.points) * log_chance(-difference)
    };
    let imagined =
        |&strength: &f64| PRIOR_GAMES / 2.0 * (log_chance(strength) + log_chance(-strength));
    encounters.iter().map(played).sum::<f64>() + strengths.iter().map(imagined).sum::<f64>()
}

/// The gradient of the log-likelihood, and the negative of its second derivatives.
fn slope(strengths: &[f64], encounters: &[Encounter]) -> (Vec<f64>, Vec<Vec<f64>>) {
    let count = strengths.len();
    let (mut gradient, mut information) = (vec![0.0; count], vec![vec![0.0; count]; count]);
    for (index, &strength) in strengths.iter().enumerate() {
        let chance = win_chance(strength);
        gradient[index] += PRIOR_GAMES * (0.5 - chance);
        information[index][index] += PRIOR_GAMES * chance * (1.0 - chance);
    }
    for met in encounters {
        let chance = win_chance(strengths[met.first] - strengths[met.second]);
        let surplus = met.points - met.games * chance;
        gradient[met.first] += surplus;
        gradient[met.second] -= surplus;
        let weight = met.games * chance * (1.0 - chance);
        information[met.first][met.first] += weight;
        information[met.second][met.second] += weight;
        information[met.first][met.second] -= weight;
        information[met.second][met.first] -= weight;
    }
    (gradient, information)
}

/// From the inverse of the observed information, of the difference to the reference: the common
/// shift of all ratings is known from nothing but the imaginary draws and says nothing.
fn standard_errors(
    strengths: &[f64],
    encounters: &[Encounter],
    reference: Option<usize>,
) -> Vec<f64> {
    let count = strengths.len();
    let factor = Cholesky::new(slope(strengths, encounters).1);
    let contrast = |player: usize| -> Vec<f64> {
        let weight = |other: usize| match reference {
            Some(reference) => f64::from(u8::from(other == reference)),
            None => 1.0 / count as f64,
        };
        (0..count).map(|other| f64::from(u8::from(other == player)) - weight(other)).collect()
    };
    let variance = |player: usize| -> f64 {
        let contrast = contrast(player);
        let solved = factor.solve(&contrast);
        contrast.iter().zip(&solved).map(|(a, b)| a * b).sum()
    };
    (0..count).map(|player| ELO * variance(player).max(0.0).sqrt()).collect()
}

/// The lower triangle `L` with `L L^T` equal to a positive definite matrix.
struct Cholesky(Vec<Vec<f64>>);

impl Cholesky {
    fn new(mut matrix: Vec<Vec<f64>>) -> Cholesky {
        let count = matrix.len();
        for column in 0..count {
            for row in column..count {
                let known: f64 = (0..column).map(|k| matrix[row][k] * matrix[column][k]).sum();
                let rest = matrix[row][column] - known;
                matrix[row][column] = if row == column {
                    rest.max(1e-12).sqrt()
                } else {
                    rest / matrix[column][column]
                };
            }
        }
        Cholesky(matrix)
    }

    fn solve(&self, right: &[f64]) -> Vec<f64> {
        let (lower, count) = (&self.0, right.len());
        let mut solution = right.to_vec();
        for row in 0..count {
            let known: f64 = (0..row).map(|k| lower[row][k] * solution[k]).sum();
            solution[row] = (solution[row] - known) / lower[row][row];
        }
        for row in (0..count).rev() {
            let known: f64 = (row + 1..count).map(|k| lower[k][row] * solution[k]).sum();
            solution[row] = (solution[row] - known) / lower[row][row];
        }
        solution
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arena::tally::expected_score;
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    fn simulate(truth: &[f64], games: u32, random: &mut Xoshiro256PlusPlus) -> Vec<Encounter> {
        let mut encounters = Vec::new();
        for first in 0..truth.len() {
            for second in first + 1..truth.len() {
                let chance = expected_score(truth[first] - truth[second]);
                let points =
                    (0..games).map(|_| f64::from(u8::from(random.random::<f64>() < chance))).sum();
                encounters.push(Encounter { first, second, points, games: f64::from(games) });
            }
        }
        encounters
    }

    #[test]
    fn known_strengths_are_recovered_within_their_errors() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(21);
        let truth = [-300.0, -120.0, 0.0, 20.0, 150.0, 250.0];
        let (mut within, mut all) = (0, 0);
        for _ in 0..200 {
            let found = ratings(truth.len(), &simulate(&truth, 60, &mut random), None);
            for (rating, truth) in found.iter().zip(truth) {
                all += 1;
                within += u32::from((rating.elo - truth).abs() < 1.96 * rating.error);
            }
        }
        let share = f64::from(within) / f64::from(all);
        assert!((0.92..0.98).contains(&share), "{share}");
    }

    #[test]
    fn many_games_pin_ratings_down() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(22);
        let truth = [-200.0, 0.0, 200.0];
        let found = ratings(3, &simulate(&truth, 20_000, &mut random), None);
        for (rating, truth) in found.iter().zip(truth) {
            assert!((rating.elo - truth).abs() < 8.0 && rating.error < 3.0, "{rating:?} {truth}");
        }
    }

    /// The reference shifts all ratings alike, has no error itself, and between two players the
    /// error is that of their difference.
    #[test]
    fn a_reference_is_zero_without_error() {
        let met = Encounter { first: 0, second: 1, points: 60.0, games: 100.0 };
        let (mean, first) = (ratings(2, &[met], None), ratings(2, &[met], Some(0)));
        assert_eq!((first[0].elo, first[0].error), (0.0, 0.0));
        assert!((first[1].elo - (mean[1].elo - mean[0].elo)).abs() < 1e-6);
        assert!((first[1].error - 2.0 * mean[1].error).abs() < 1e-6);
    }

    #[test]
    fn one_sided_and_separate_results_stay_finite() {
        let won = |first, second| Encounter { first, second, points: 500.0, games: 500.0 };
        let found = ratings(5, &[won(0, 1), won(2, 3)], None);
        assert!(found.iter().all(|rating| rating.elo.is_finite() && rating.error.is_finite()));
        assert!(found[0].elo > found[1].elo + 600.0);
        assert!((found[0].elo - found[2].elo).abs() < 1e-6);
        assert!(found[4].elo.abs() < 1e-6);
        assert_eq!(ratings(0, &[], None), []);
    }

    /// A chain of many players, each beating the next by 100 to 0: the steps stay finite.
    #[test]
    fn a_long_chain_of_sweeps_is_solved() {
        let won = |first| Encounter { first, second: first + 1, points: 100.0, games: 100.0 };
        let chain: Vec<_> = (0..30).map(won).collect();
        let found = ratings(31, &chain, None);
        assert!(found.windows(2).all(|pair| pair[0].elo > pair[1].elo));
        let (gradient, _) =
            slope(&found.iter().map(|rating| rating.elo / ELO).collect::<Vec<_>>(), &chain);
        let sum: f64 = gradient.iter().map(|part| part.abs()).sum();
        assert!(sum < 1e-3, "{sum}");
    }
}
