//! Counting a match: wins, draws and losses by colour, and how far its score can be trusted.
//!
//! The two games of an opening are not independent: the same position, with the colours
//! swapped, favours one colour and so evens out. So the unit of all errors is the pair.

/// The normal quantile of a two-sided 95 % interval.
const Z: f64 = 1.959_963_984_540_054;

/// Wins, draws and losses of one player with one colour.
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
    /// Counts a game whose final score for the player was `score`.
    pub fn add(&mut self, score: i32) {
        match score {
            1.. => self.wins += 1,
            0 => self.draws += 1,
            _ => self.losses += 1,
        }
    }

    /// Counts other games as well.
    pub fn join(&mut self, other: WinDrawLoss) {
        self.wins += other.wins;
        self.draws += other.draws;
        self.losses += other.losses;
    }

    /// The same games from the view of the opponent.
    pub fn turned(self) -> WinDrawLoss {
        WinDrawLoss { wins: self.losses, losses: self.wins, ..self }
    }

    /// How many games.
    pub fn games(&self) -> u32 {
        self.wins + self.draws + self.losses
    }

    /// Points: a win is one, a draw half.
    pub fn points(&self) -> f64 {
        f64::from(self.wins) + 0.5 * f64::from(self.draws)
    }
}

/// The result of a match from the view of its first player.
#[derive(Clone, Default, PartialEq, Debug)]
pub struct Tally {
    /// With black.
    pub black: WinDrawLoss,
    /// With white.
    pub white: WinDrawLoss,
    /// Sum of the final disc differences of the games that were played to their end.
    pub discs: i64,
    /// How many games were played to their end.
    pub finished: u32,
    /// Points per game of each opening, 0 to 1.
    pub pairs: Vec<f64>,
}

impl Tally {
    /// How many games.
    pub fn games(&self) -> u32 {
        self.black.games() + self.white.games()
    }

    /// Both colours together.
    pub fn outcomes(&self) -> WinDrawLoss {
        let mut both = self.black;
        both.join(self.white);
        both
    }

    /// Points per game, 0 to 1; half without games.
    pub fn score(&self) -> f64 {
        match self.games() {
            0 => 0.5,
            games => self.outcomes().points() / f64::from(games),
        }
    }

    /// The 95 % interval of the score.
    pub fn interval(&self) -> (f64, f64) {
        interval(&self.pairs)
    }

    /// Mean final disc difference of the games that were played to their end.
    pub fn mean_discs(&self) -> Option<f64> {
        (self.finished > 0).then(|| self.discs as f64 / f64::from(self.finished))
    }
}

/// How the spread of pairs relates to that of single games won or lost: the variance of
/// `pairs` over `mean * (1 - mean)`, drawn by two imagined pairs towards the half that
/// independent games without draws have, so that few or equal pairs do not feign certainty.
fn spread(pairs: &[f64], mean: f64) -> f64 {
    const IMAGINED: f64 = 2.0;
    let whole = mean * (1.0 - mean);
    if whole <= 0.0 {
        return 0.5;
    }
    let squares: f64 = pairs.iter().map(|pair| (pair - mean).powi(2)).sum();
    let freedom = pairs.len() as f64 - 1.0;
    (squares + 0.5 * IMAGINED * whole) / ((freedom + IMAGINED) * whole)
}

/// The 95 % interval of the mean of pair scores between 0 and 1: Wilson's score interval with
/// the pairs' own spread. All of 0 to 1 without pairs.
pub fn interval(pairs: &[f64]) -> (f64, f64) {
    if pairs.is_empty() {
        return (0.0, 1.0);
    }
    let count = pairs.len() as f64;
    let mean = pairs.iter().sum::<f64>() / count;
    let worth = count / spread(pairs, mean);
    let z2 = Z * Z;
    let middle = (mean + z2 / (2.0 * worth)) / (1.0 + z2 / worth);
    let half =
        Z / (1.0 + z2 / worth) * (mean * (1.0 - mean) / worth + z2 / (4.0 * worth * worth)).sqrt();
    ((middle - half).clamp(0.0, mean), (middle + half).clamp(mean, 1.0))
}

/// The Elo difference that makes a score likely; infinite at 0 and 1.
pub fn elo(score: f64) -> f64 {
    400.0 * (score / (1.0 - score)).log10()
}

/// The score that an Elo difference makes likely.
pub fn expected_score(elo: f64) -> f64 {
    1.0 / (1.0 + 10f64.powf(-elo / 400.0))
}

/// A sequential probability ratio test: is the first player `elo1` stronger, or only `elo0`?
///
/// Both errors are 5 %. The likelihood ratio is that of normally distributed pair scores with
/// the variance seen so far (the generalised test that chess engines' test farms use).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Sprt {
    /// The difference that the null hypothesis claims.
    pub elo0: f64,
    /// The difference that the alternative claims; greater than `elo0`.
    pub elo1: f64,
}

/// What a sequential test says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// More games are needed.
    Undecided,
    /// The first player is not `elo1` stronger.
    Rejected,
    /// The first player is more than `elo0` stronger.
    Accepted,
}

/// A verdict and the log-likelihood ratio that it rests on.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Ruling {
    /// What the test says.
    pub verdict: Verdict,
    /// The ratio; what it must reach is [`Sprt::BOUND`], on either side of 0.
    pub ratio: f64,
}

/// Text that is no pair of bounds for a sequential test.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "`{text}` is no pair of Elo differences; allowed: elo0,elo1 with elo0 below elo1, such as 0,20"
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
    /// The log-likelihood ratio at which the test ends, on either side of 0: both errors 5 %.
    pub const BOUND: f64 = 2.944_438_979_166_440_3;

    /// The log-likelihood ratio of the alternative against the null hypothesis.
    pub fn ratio(&self, pairs: &[f64]) -> f64 {
        if pairs.is_empty() {
            return 0.0;
        }
        let count = pairs.len() as f64;
        let mean = pairs.iter().sum::<f64>() / count;
        // At a mean of 0 or 1 the variance is taken for a pair that lies a little inside.
        let inner = mean.clamp(0.5 / count, 1.0 - 0.5 / count).clamp(1e-6, 1.0 - 1e-6);
        let variance = inner * (1.0 - inner) * spread(pairs, mean);
        let (low, high) = (expected_score(self.elo0), expected_score(self.elo1));
        count * (high - low) * (2.0 * mean - low - high) / (2.0 * variance)
    }

    /// What the pairs so far say. Fewer than eight of them decide nothing.
    pub fn ruling(&self, pairs: &[f64]) -> Ruling {
        let ratio = self.ratio(pairs);
        let verdict = match ratio {
            _ if pairs.len() < 8 => Verdict::Undecided,
            ratio if ratio >= Self::BOUND => Verdict::Accepted,
            ratio if ratio <= -Self::BOUND => Verdict::Rejected,
            _ => Verdict::Undecided,
        };
        Ruling { verdict, ratio }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    /// A pair of games: the first player's chance in each, and a share of draws.
    fn pair(random: &mut Xoshiro256PlusPlus, chances: [f64; 2], draws: f64) -> f64 {
        let mut game = |chance: f64| match random.random::<f64>() < draws {
            true => 0.5,
            false => f64::from(random.random::<f64>() < chance),
        };
        (game(chances[0]) + game(chances[1])) / 2.0
    }

    #[test]
    fn intervals_cover_the_truth() {
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
            // Near 0 and 1 any interval for so few losses is too short now and then (Brown, Cai
            // and DasGupta 2001).
            assert!(share > 0.915, "{count} pairs of {chances:?}: {share}");
        }
    }

    #[test]
    fn intervals_lie_around_the_score() {
        assert_eq!(interval(&[]), (0.0, 1.0));
        let (low, high) = interval(&[1.0; 100]);
        assert!((0.97..0.99).contains(&low) && high == 1.0, "{low} {high}");
        let (low, high) = interval(&[0.0; 100]);
        assert!(low == 0.0 && (0.01..0.03).contains(&high), "{low} {high}");
    }

    #[test]
    fn a_sequential_test_errs_rarely() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(12);
        let test = Sprt { elo0: 0.0, elo1: 40.0 };
        let mut run = |elo: f64| {
            let chance = expected_score(elo);
            let mut pairs = Vec::new();
            while test.ruling(&pairs).verdict == Verdict::Undecided {
                pairs.push(pair(&mut random, [chance, chance], 0.1));
            }
            test.ruling(&pairs).verdict
        };
        let wrong = |rounds: u32, wrong: u32| f64::from(wrong) / f64::from(rounds) < 0.08;
        let accepted = (0..400).filter(|_| run(0.0) == Verdict::Accepted).count();
        let rejected = (0..400).filter(|_| run(44.5) == Verdict::Rejected).count();
        assert!(wrong(400, accepted as u32), "{accepted}");
        assert!(wrong(400, rejected as u32), "{rejected}");
    }

    #[test]
    fn a_sequential_test_ends_where_one_side_always_wins() {
        let test = Sprt { elo0: 0.0, elo1: 20.0 };
        let verdict = |pairs: &[f64]| test.ruling(pairs).verdict;
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
