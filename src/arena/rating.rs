//! Maximum-likelihood ratings from all games of a group of players.
//!
//! The model is that of Bradley and Terry, with a draw counted as half a win: a player scores
//! `1 / (1 + 10^(-d/400))` against a player that is rated `d` lower. From games alone the rating of
//! a player that won all of its games would be infinite, and the difference between two groups that
//! never met would be undetermined. So each player also gets half a drawn game ([`PRIOR_GAMES`])
//! against an imaginary opponent in the middle of the group. There is no other regularisation.
//!
//! The likelihood and its gradient take time in proportion to the number of pairs that have met.
//! Only the standard errors need the whole information matrix, once.

mod information;

use information::Information;

use serde::{Deserialize, Serialize};

/// The weight of the imaginary draw of each player, in games.
pub const PRIOR_GAMES: f64 = 0.5;

/// Elo points of one unit of log-odds.
const ELO: f64 = 400.0 / std::f64::consts::LN_10;

/// The result of all games between two players.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PairResult {
    /// The index of one player.
    pub first: usize,
    /// The index of the other player.
    pub second: usize,
    /// Points of the first player: 1 for a win, 0.5 for a draw.
    pub points: f64,
    /// The number of games.
    pub games: f64,
}

/// A player's rating and its standard error.
#[derive(Clone, Copy, Default, PartialEq, Debug, Serialize, Deserialize)]
pub struct Rating {
    /// Elo points; the reference has 0.
    pub elo: f64,
    /// The standard error of the difference to the reference, in Elo points.
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

/// The ratings of the players `0..players`. The reference, with rating 0, is one of the players or
/// the mean of all.
///
/// # Panics
///
/// If a result is that of a player that does not exist.
///
/// ```
/// use outflank::arena::rating::{PairResult, ratings};
///
/// // Player 1 has 75 % of the points against player 0, and player 2 the same against player 1.
/// let met = |first, second| PairResult { first, second, points: 75.0, games: 100.0 };
/// let found = ratings(3, &[met(1, 0), met(2, 1)], Some(0));
/// assert_eq!((found[0].elo, found[0].error), (0.0, 0.0));
/// assert!((found[1].elo - 190.0).abs() < 5.0 && (found[2].elo - 380.0).abs() < 10.0);
/// println!("{}", found[2]); // the rating +- its 95 % interval
/// ```
pub fn ratings(players: usize, results: &[PairResult], reference: Option<usize>) -> Vec<Rating> {
    if players == 0 {
        return Vec::new();
    }
    let strengths = maximum_likelihood(players, results);
    let weight = |player: usize| match reference {
        Some(reference) => f64::from(u8::from(player == reference)),
        None => 1.0 / players as f64,
    };
    let weights: Vec<f64> = (0..players).map(weight).collect();
    let zero: f64 = strengths.iter().zip(&weights).map(|(strength, part)| strength * part).sum();
    let (_, information) = derivatives(&strengths, results);
    let variances = information.variances(&weights);
    let rating = |(strength, variance): (&f64, f64)| Rating {
        elo: ELO * (strength - zero),
        error: ELO * variance.max(0.0).sqrt(),
    };
    strengths.iter().zip(variances).map(rating).collect()
}

/// The strengths with the greatest likelihood, in log-odds, by Newton's method.
fn maximum_likelihood(players: usize, results: &[PairResult]) -> Vec<f64> {
    let mut strengths = vec![0.0; players];
    let mut likelihood = log_likelihood(&strengths, results);
    for _ in 0..200 {
        let (gradient, information) = derivatives(&strengths, results);
        let step = information.solve(&gradient);
        let longest = step.iter().fold(0.0f64, |most, part| most.max(part.abs()));
        // The likelihood is concave, so a short enough Newton step never decreases it.
        let mut length = 1.0 / longest.max(1.0);
        let taken = loop {
            let next: Vec<_> =
                strengths.iter().zip(&step).map(|(old, part)| old + length * part).collect();
            let next_likelihood = log_likelihood(&next, results);
            // For tiny steps rounding errors decide which likelihood is greater.
            if next_likelihood >= likelihood || length * longest < 1e-4 {
                (strengths, likelihood) = (next, next_likelihood);
                break length;
            }
            length /= 2.0;
        };
        if taken * longest < 1e-9 {
            break;
        }
    }
    strengths
}

fn win_chance(difference: f64) -> f64 {
    1.0 / (1.0 + (-difference).exp())
}

/// `ln(1 / (1 + exp(-difference)))`, without overflow.
fn log_chance(difference: f64) -> f64 {
    -(-difference.abs()).exp().ln_1p() + difference.min(0.0)
}

fn log_likelihood(strengths: &[f64], results: &[PairResult]) -> f64 {
    let log_likelihood_of = |pair: &PairResult| {
        let difference = strengths[pair.first] - strengths[pair.second];
        pair.points * log_chance(difference) + (pair.games - pair.points) * log_chance(-difference)
    };
    let prior =
        |&strength: &f64| PRIOR_GAMES / 2.0 * (log_chance(strength) + log_chance(-strength));
    results.iter().map(log_likelihood_of).sum::<f64>() + strengths.iter().map(prior).sum::<f64>()
}

/// The gradient of the log-likelihood, and the negative of its second derivatives.
fn derivatives(strengths: &[f64], results: &[PairResult]) -> (Vec<f64>, Information) {
    let mut gradient = Vec::with_capacity(strengths.len());
    let mut information = Information::default();
    for &strength in strengths {
        let chance = win_chance(strength);
        gradient.push(PRIOR_GAMES * (0.5 - chance));
        information.diagonal.push(PRIOR_GAMES * chance * win_chance(-strength));
    }
    for pair in results {
        let difference = strengths[pair.first] - strengths[pair.second];
        let chance = win_chance(difference);
        let excess = pair.points - pair.games * chance;
        gradient[pair.first] += excess;
        gradient[pair.second] -= excess;
        // `1 - chance` would be rounded to 0 for a large difference, and the matrix singular.
        let weight = pair.games * chance * win_chance(-difference);
        information.add_pair(pair.first, pair.second, weight);
    }
    (gradient, information)
}

#[cfg(test)]
mod tests;
