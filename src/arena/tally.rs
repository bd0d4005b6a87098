//! The result of a match: wins, draws and losses by colour, the error of the score, and the
//! sequential test.
//!
//! The two games of an opening are not independent: if the opening favours black, each player has
//! this advantage once. So all errors are computed from pairs of games, not from single games.

/// The normal quantile of a two-sided 95 % interval.
const Z: f64 = 1.959_963_984_540_054;

/// Wins, draws and losses of one player with one colour.
///
/// ```
/// use outflank::arena::tally::WinDrawLoss;
///
/// let mut games = WinDrawLoss::default();
/// for score in [12, 0, -4, 2] {
///     games.add(score);
/// }
/// assert_eq!((games.games(), games.points()), (4, 2.5));
/// assert_eq!(games.reversed().points(), 1.5);
/// ```
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug, serde::Serialize)]
pub struct WinDrawLoss {
    /// Games won.
    pub wins: u32,
    /// Games drawn.
    pub draws: u32,
    /// Games lost.
    pub losses: u32,
}

impl WinDrawLoss {
    /// Counts a game with the final score `score` for the player.
    pub fn add(&mut self, score: i32) {
        match score {
            1.. => self.wins += 1,
            0 => self.draws += 1,
            _ => self.losses += 1,
        }
    }

    /// Adds other games.
    pub fn merge(&mut self, other: WinDrawLoss) {
        self.wins += other.wins;
        self.draws += other.draws;
        self.losses += other.losses;
    }

    /// The same games from the view of the opponent.
    pub fn reversed(self) -> WinDrawLoss {
        WinDrawLoss { wins: self.losses, losses: self.wins, ..self }
    }

    /// The number of games.
    pub fn games(&self) -> u32 {
        self.wins + self.draws + self.losses
    }

    /// Points: 1 for a win, 0.5 for a draw.
    pub fn points(&self) -> f64 {
        f64::from(self.wins) + 0.5 * f64::from(self.draws)
    }
}

/// The result of a match from the view of its first player.
#[derive(Clone, Default, PartialEq, Debug)]
pub struct Tally {
    /// Games with black.
    pub black: WinDrawLoss,
    /// Games with white.
    pub white: WinDrawLoss,
    /// The sum of the final disc differences of all games without a forfeit.
    pub discs: i64,
    /// The number of games without a forfeit.
    pub finished: u32,
    /// For each pair of games the mean points, 0 to 1.
    pub pairs: Vec<f64>,
}

impl Tally {
    /// The number of games.
    pub fn games(&self) -> u32 {
        self.black.games() + self.white.games()
    }

    /// The games with both colours.
    pub fn total(&self) -> WinDrawLoss {
        let mut both = self.black;
        both.merge(self.white);
        both
    }

    /// The mean points of a game, 0 to 1; 0.5 without games.
    pub fn score(&self) -> f64 {
        match self.games() {
            0 => 0.5,
            games => self.total().points() / f64::from(games),
        }
    }

    /// The 95 % interval of the score.
    pub fn interval(&self) -> (f64, f64) {
        interval(&self.pairs)
    }

    /// The mean final disc difference of the games without a forfeit; `None` if there are none.
    pub fn mean_discs(&self) -> Option<f64> {
        (self.finished > 0).then(|| self.discs as f64 / f64::from(self.finished))
    }
}

/// The variance of the scores of pairs, divided by `mean * (1 - mean)`, the variance of single
/// games without draws. For pairs of independent games without draws it is 0.5.
///
/// The estimate includes two prior pairs with the ratio 0.5. Without them few or equal pairs would
/// give intervals that are far too short.
fn variance_ratio(pairs: &[f64], mean: f64) -> f64 {
    const PRIOR_PAIRS: f64 = 2.0;
    let binomial = mean * (1.0 - mean);
    if binomial <= 0.0 {
        return 0.5;
    }
    let squares: f64 = pairs.iter().map(|pair| (pair - mean).powi(2)).sum();
    let freedom = pairs.len() as f64 - 1.0;
    (squares + 0.5 * PRIOR_PAIRS * binomial) / ((freedom + PRIOR_PAIRS) * binomial)
}

/// The 95 % interval of the mean of pair scores between 0 and 1: Wilson's score interval, with the
/// variance estimated from the pairs. From 0 to 1 without pairs.
///
/// ```
/// use outflank::arena::tally::interval;
///
/// // The same score of 60 % from 10 pairs of games and from 100.
/// let pairs = [1.0, 0.5, 0.5, 0.5, 0.5, 1.0, 0.5, 0.5, 0.5, 0.5];
/// let (low, high) = interval(&pairs);
/// let (closer_low, closer_high) = interval(&pairs.repeat(10));
/// assert!(low < closer_low && closer_low < 0.6 && 0.6 < closer_high && closer_high < high);
/// ```
pub fn interval(pairs: &[f64]) -> (f64, f64) {
    if pairs.is_empty() {
        return (0.0, 1.0);
    }
    let count = pairs.len() as f64;
    let mean = pairs.iter().sum::<f64>() / count;
    // The number of single games with the same error.
    let games = count / variance_ratio(pairs, mean);
    let z2 = Z * Z;
    let middle = (mean + z2 / (2.0 * games)) / (1.0 + z2 / games);
    let half =
        Z / (1.0 + z2 / games) * (mean * (1.0 - mean) / games + z2 / (4.0 * games * games)).sqrt();
    ((middle - half).clamp(0.0, mean), (middle + half).clamp(mean, 1.0))
}

/// The Elo difference that corresponds to a score from 0 to 1; infinite at 0 and 1.
///
/// ```
/// use outflank::arena::tally::{elo, expected_score};
///
/// assert!((elo(0.75) - 190.8).abs() < 0.1);
/// assert!((expected_score(elo(0.75)) - 0.75).abs() < 1e-9);
/// ```
pub fn elo(score: f64) -> f64 {
    400.0 * (score / (1.0 - score)).log10()
}

/// The expected score, from 0 to 1, at an Elo difference.
pub fn expected_score(elo: f64) -> f64 {
    1.0 / (1.0 + 10f64.powf(-elo / 400.0))
}

/// A sequential probability ratio test (SPRT): is the first player stronger by `elo1`, or only by
/// `elo0`?
///
/// The probabilities of both errors are 5 %. The likelihood ratio assumes that pair scores are
/// normally distributed with the variance of the pairs so far. Test frameworks of chess engines use
/// the same test (GSPRT).
///
/// ```
/// use outflank::arena::tally::{Sprt, Verdict};
///
/// let test = Sprt { elo0: 0.0, elo1: 50.0 };
/// // Each number is the mean of the points of the two games of a pair.
/// let pairs = [1.0, 0.5, 0.5, 1.0];
/// assert_eq!(test.result(&pairs).verdict, Verdict::Undecided);
/// assert_eq!(test.result(&pairs.repeat(20)).verdict, Verdict::Accepted);
/// ```
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Sprt {
    /// The Elo difference of the null hypothesis.
    pub elo0: f64,
    /// The Elo difference of the alternative hypothesis; greater than `elo0`.
    pub elo1: f64,
}

/// The verdict of a sequential test.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// More games are needed.
    Undecided,
    /// The first player is not stronger by `elo1`.
    Rejected,
    /// The first player is stronger by more than `elo0`.
    Accepted,
}

/// The result of a sequential test: the verdict and the log-likelihood ratio.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SprtResult {
    /// The verdict.
    pub verdict: Verdict,
    /// The log-likelihood ratio. The test ends when it reaches plus or minus [`Sprt::BOUND`].
    pub ratio: f64,
}

/// A text that is not a pair of bounds for a sequential test.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "`{text}` is not a pair of Elo differences; allowed: elo0,elo1 with elo0 below elo1, such as \
     0,20"
)]
pub struct NoSprt {
    text: Box<str>,
}

impl std::str::FromStr for Sprt {
    type Err = NoSprt;

    fn from_str(text: &str) -> Result<Sprt, NoSprt> {
        let bounds = text.split_once(',').and_then(|(low, high)| {
            let elo = |text: &str| text.trim().parse::<f64>().ok().filter(|elo| elo.abs() < 3000.0);
            Some(Sprt { elo0: elo(low)?, elo1: elo(high)? })
        });
        bounds.filter(|test| test.elo0 < test.elo1).ok_or_else(|| NoSprt { text: text.into() })
    }
}

impl Sprt {
    /// The absolute log-likelihood ratio at which the test ends: ln(0.95 / 0.05).
    pub const BOUND: f64 = 2.944_438_979_166_440_3;

    /// The log-likelihood ratio of the alternative against the null hypothesis.
    pub fn ratio(&self, pairs: &[f64]) -> f64 {
        if pairs.is_empty() {
            return 0.0;
        }
        let count = pairs.len() as f64;
        let mean = pairs.iter().sum::<f64>() / count;
        // At a mean of 0 or 1 the variance would be 0. So a mean slightly inside is used.
        let inner = mean.clamp(0.5 / count, 1.0 - 0.5 / count).clamp(1e-6, 1.0 - 1e-6);
        let variance = inner * (1.0 - inner) * variance_ratio(pairs, mean);
        let (low, high) = (expected_score(self.elo0), expected_score(self.elo1));
        count * (high - low) * (2.0 * mean - low - high) / (2.0 * variance)
    }

    /// The result for the pairs so far. With fewer than eight pairs it is undecided.
    pub fn result(&self, pairs: &[f64]) -> SprtResult {
        let ratio = self.ratio(pairs);
        let verdict = match ratio {
            _ if pairs.len() < 8 => Verdict::Undecided,
            ratio if ratio >= Self::BOUND => Verdict::Accepted,
            ratio if ratio <= -Self::BOUND => Verdict::Rejected,
            _ => Verdict::Undecided,
        };
        SprtResult { verdict, ratio }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    /// The score of a random pair of games, from the first player's chances in both games and the
    /// share of draws.
    fn pair(random: &mut Xoshiro256PlusPlus, chances: [f64; 2], draws: f64) -> f64 {
        let mut game = |chance: f64| match random.random::<f64>() < draws {
            true => 0.5,
            false => f64::from(random.random::<f64>() < chance),
        };
        (game(chances[0]) + game(chances[1])) / 2.0
    }

    #[test]
    fn intervals_contain_the_true_score() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(11);
        let rounds = 4_000;
        for (count, chances, draws) in [
            (10, [0.5, 0.5], 0.0),
            (10, [0.9, 0.7], 0.0),
            (50, [0.9, 0.1], 0.0),
            (50, [0.98, 0.97], 0.0),
            (100, [0.6, 0.6], 0.3),
            (100, [0.995, 0.995], 0.0),
        ] {
            let truth = draws * 0.5 + (1.0 - draws) * (chances[0] + chances[1]) / 2.0;
            let covered = (0..rounds)
                .filter(|_| {
                    let pairs: Vec<_> =
                        (0..count).map(|_| pair(&mut random, chances, draws)).collect();
                    let (low, high) = interval(&pairs);
                    (low..=high).contains(&truth)
                })
                .count();
            let share = covered as f64 / rounds as f64;
            // Near 0 and 1, with few losses, every kind of interval is sometimes too short (Brown,
            // Cai and DasGupta 2001).
            assert!(share > 0.915, "{count} pairs of {chances:?}: {share}");
        }
    }

    #[test]
    fn intervals_contain_the_score() {
        assert_eq!(interval(&[]), (0.0, 1.0));
        let (low, high) = interval(&[1.0; 100]);
        assert!((0.97..0.99).contains(&low) && high == 1.0, "{low} {high}");
        let (low, high) = interval(&[0.0; 100]);
        assert!(low == 0.0 && (0.01..0.03).contains(&high), "{low} {high}");
    }

    #[test]
    fn a_sequential_test_is_rarely_wrong() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(12);
        let test = Sprt { elo0: 0.0, elo1: 40.0 };
        let mut run = |elo: f64| {
            let chance = expected_score(elo);
            let mut pairs = Vec::new();
            while test.result(&pairs).verdict == Verdict::Undecided {
                pairs.push(pair(&mut random, [chance, chance], 0.1));
            }
            test.result(&pairs).verdict
        };
        let wrong = |rounds: u32, wrong: u32| f64::from(wrong) / f64::from(rounds) < 0.08;
        let accepted = (0..400).filter(|_| run(0.0) == Verdict::Accepted).count();
        let rejected = (0..400).filter(|_| run(44.5) == Verdict::Rejected).count();
        assert!(wrong(400, accepted as u32), "{accepted}");
        assert!(wrong(400, rejected as u32), "{rejected}");
    }

    #[test]
    fn a_sequential_test_ends_if_one_side_wins_all_games() {
        let test = Sprt { elo0: 0.0, elo1: 20.0 };
        let verdict = |pairs: &[f64]| test.result(pairs).verdict;
        assert_eq!(verdict(&[1.0; 60]), Verdict::Accepted);
        assert_eq!(verdict(&[0.0; 60]), Verdict::Rejected);
        assert_eq!(verdict(&[]), Verdict::Undecided);
    }

    #[test]
    fn bounds_are_read() {
        assert_eq!("0, 20".parse(), Ok(Sprt { elo0: 0.0, elo1: 20.0 }));
        for text in ["", "5", "5,5", "20,0", "a,b", "0,nan", "0,1e9"] {
            assert!(text.parse::<Sprt>().is_err(), "{text}");
        }
    }

    #[test]
    fn elo_and_score_are_inverse() {
        for difference in [-400.0, 0.0, 35.0, 800.0] {
            assert!((elo(expected_score(difference)) - difference).abs() < 1e-6);
        }
    }
}
