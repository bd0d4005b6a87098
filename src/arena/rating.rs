//! Ratings by maximum likelihood over all games of a pool.
//!
//! The model of Bradley and Terry, a draw counted as half a win: a player scores
//! `1 / (1 + 10^(-d/400))` against one that is rated `d` lower. Games alone leave the rating of
//! a player that only ever won infinite, and of two groups that never met undetermined; so each
//! player is also given half a drawn game ([`PRIOR_GAMES`]) against an imaginary opponent in the
//! middle of the pool. That is the whole regularisation.
//!
//! Both likelihood and its slope take time in proportion to the pairs that have met, however many
//! players there are. Only the standard errors need the information as a whole matrix, once.

mod information;

use information::Information;

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
    let strengths = likeliest(players, encounters);
    let weight = |player: usize| match reference {
        Some(reference) => f64::from(u8::from(player == reference)),
        None => 1.0 / players as f64,
    };
    let weights: Vec<f64> = (0..players).map(weight).collect();
    let zero: f64 = strengths.iter().zip(&weights).map(|(strength, part)| strength * part).sum();
    let (_, information) = slope(&strengths, encounters);
    let variances = information.variances(&weights);
    let rating = |(strength, variance): (&f64, f64)| Rating {
        elo: ELO * (strength - zero),
        error: ELO * variance.max(0.0).sqrt(),
    };
    strengths.iter().zip(variances).map(rating).collect()
}

/// The strengths of the greatest likelihood, in log-odds, by Newton's method.
fn likeliest(players: usize, encounters: &[Encounter]) -> Vec<f64> {
    let mut strengths = vec![0.0; players];
    let mut likelihood = log_likelihood(&strengths, encounters);
    for _ in 0..200 {
        let (gradient, information) = slope(&strengths, encounters);
        let step = information.solve(&gradient);
        let longest = step.iter().fold(0.0f64, |most, part| most.max(part.abs()));
        // The likelihood is concave, so a short enough Newton step never goes down.
        let mut length = 1.0 / longest.max(1.0);
        let taken = loop {
            let next: Vec<_> =
                strengths.iter().zip(&step).map(|(old, part)| old + length * part).collect();
            let reached = log_likelihood(&next, encounters);
            // So near the top, rounding alone decides which likelihood is the greater.
            if reached >= likelihood || length * longest < 1e-4 {
                (strengths, likelihood) = (next, reached);
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
fn slope(strengths: &[f64], encounters: &[Encounter]) -> (Vec<f64>, Information) {
    let mut gradient = Vec::with_capacity(strengths.len());
    let mut information = Information::default();
    for &strength in strengths {
        let chance = win_chance(strength);
        gradient.push(PRIOR_GAMES * (0.5 - chance));
        information.diagonal.push(PRIOR_GAMES * chance * win_chance(-strength));
    }
    for met in encounters {
        let difference = strengths[met.first] - strengths[met.second];
        let chance = win_chance(difference);
        let surplus = met.points - met.games * chance;
        gradient[met.first] += surplus;
        gradient[met.second] -= surplus;
        // Not `1 - chance`: far apart it would be 0, and the information singular.
        let weight = met.games * chance * win_chance(-difference);
        information.add_pair(met.first, met.second, weight);
    }
    (gradient, information)
}

#[cfg(test)]
mod tests;
