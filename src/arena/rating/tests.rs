use super::*;
use crate::arena::tally::expected_score;
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

fn simulate(truth: &[f64], games: u32, random: &mut Xoshiro256PlusPlus) -> Vec<PairResult> {
    let mut results = Vec::new();
    for first in 0..truth.len() {
        for second in first + 1..truth.len() {
            let chance = expected_score(truth[first] - truth[second]);
            let points =
                (0..games).map(|_| f64::from(u8::from(random.random::<f64>() < chance))).sum();
            results.push(PairResult { first, second, points, games: f64::from(games) });
        }
    }
    results
}

#[test]
fn known_strengths_are_found_within_their_errors() {
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
fn many_games_give_accurate_ratings() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(22);
    let truth = [-200.0, 0.0, 200.0];
    let found = ratings(3, &simulate(&truth, 20_000, &mut random), None);
    for (rating, truth) in found.iter().zip(truth) {
        assert!((rating.elo - truth).abs() < 8.0 && rating.error < 3.0, "{rating:?} {truth}");
    }
}

/// A reference shifts all ratings by the same amount and has no error. With two players the error
/// of the other one is the error of their difference.
#[test]
fn a_reference_has_rating_0_without_error() {
    let met = PairResult { first: 0, second: 1, points: 60.0, games: 100.0 };
    let (mean, first) = (ratings(2, &[met], None), ratings(2, &[met], Some(0)));
    assert_eq!((first[0].elo, first[0].error), (0.0, 0.0));
    assert!((first[1].elo - (mean[1].elo - mean[0].elo)).abs() < 1e-6);
    assert!((first[1].error - 2.0 * mean[1].error).abs() < 1e-6);
}

#[test]
fn ratings_of_one_sided_and_separate_results_are_finite() {
    let won = |first, second| PairResult { first, second, points: 500.0, games: 500.0 };
    let found = ratings(5, &[won(0, 1), won(2, 3)], None);
    assert!(found.iter().all(|rating| rating.elo.is_finite() && rating.error.is_finite()));
    assert!(found[0].elo > found[1].elo + 600.0);
    assert!((found[0].elo - found[2].elo).abs() < 1e-6);
    assert!(found[4].elo.abs() < 1e-6);
    assert_eq!(ratings(0, &[], None), []);
}

/// A chain of many players, in which each wins 100 of 100 games against the next.
#[test]
fn a_long_chain_of_one_sided_results_is_rated() {
    let won = |first| PairResult { first, second: first + 1, points: 100.0, games: 100.0 };
    let chain: Vec<_> = (0..30).map(won).collect();
    let found = ratings(31, &chain, None);
    assert!(found.windows(2).all(|pair| pair[0].elo > pair[1].elo));
    let (gradient, _) =
        derivatives(&found.iter().map(|rating| rating.elo / ELO).collect::<Vec<_>>(), &chain);
    let sum: f64 = gradient.iter().map(|part| part.abs()).sum();
    assert!(sum < 1e-3, "{sum}");
}

/// The direct method: a dense information matrix, factored for each step, and one linear system for
/// each player's error.
mod direct {
    use super::*;

    pub fn ratings(count: usize, met: &[PairResult], reference: Option<usize>) -> Vec<Rating> {
        let mut strengths = vec![0.0; count];
        for _ in 0..400 {
            let (gradient, matrix) = derivatives(&strengths, met);
            let step = solve(&factor(matrix), &gradient);
            let length = 1.0 / step.iter().fold(1.0f64, |most, part| most.max(part.abs()));
            strengths.iter_mut().zip(&step).for_each(|(old, part)| *old += length * part);
        }
        let lower = factor(derivatives(&strengths, met).1);
        let rating = |player: usize| {
            let weight = |other: usize| match reference {
                Some(reference) => f64::from(u8::from(other == reference)),
                None => 1.0 / count as f64,
            };
            let own = |other| f64::from(u8::from(other == player)) - weight(other);
            let contrast: Vec<f64> = (0..count).map(own).collect();
            let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
            let variance = product(&contrast, &solve(&lower, &contrast));
            Rating { elo: ELO * product(&contrast, &strengths), error: ELO * variance.sqrt() }
        };
        (0..count).map(rating).collect()
    }

    fn derivatives(strengths: &[f64], met: &[PairResult]) -> (Vec<f64>, Vec<Vec<f64>>) {
        let count = strengths.len();
        let (mut gradient, mut matrix) = (vec![0.0; count], vec![vec![0.0; count]; count]);
        for (index, &strength) in strengths.iter().enumerate() {
            let chance = win_chance(strength);
            gradient[index] += PRIOR_GAMES * (0.5 - chance);
            matrix[index][index] += PRIOR_GAMES * chance * (1.0 - chance);
        }
        for &PairResult { first, second, points, games } in met {
            let chance = win_chance(strengths[first] - strengths[second]);
            for (one, other, sign) in [(first, second, 1.0), (second, first, -1.0)] {
                gradient[one] += sign * (points - games * chance);
                matrix[one][one] += games * chance * (1.0 - chance);
                matrix[one][other] -= games * chance * (1.0 - chance);
            }
        }
        (gradient, matrix)
    }

    /// The lower triangle of Cholesky's factorisation.
    fn factor(mut matrix: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
        for column in 0..matrix.len() {
            for row in column..matrix.len() {
                let known: f64 = (0..column).map(|k| matrix[row][k] * matrix[column][k]).sum();
                let rest = matrix[row][column] - known;
                let is_diagonal = row == column;
                matrix[row][column] =
                    if is_diagonal { rest.sqrt() } else { rest / matrix[column][column] };
            }
        }
        matrix
    }

    fn solve(lower: &[Vec<f64>], right: &[f64]) -> Vec<f64> {
        let (count, mut solution) = (right.len(), right.to_vec());
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

/// Results between some players: few or many pairs, even or one-sided results.
fn random_results() -> impl Strategy<Value = (usize, Vec<PairResult>)> {
    (1..24usize).prop_flat_map(|count| {
        let met = (0..count, 0..count, 1..200u32, 0..=4u32);
        let list = proptest::collection::vec(met, 0..3 * count);
        list.prop_map(move |list| {
            let different = list.into_iter().filter(|(first, second, ..)| first != second);
            let met = different.map(|(first, second, games, quarters)| {
                let games = f64::from(games);
                PairResult { first, second, points: games * f64::from(quarters) / 4.0, games }
            });
            (count, met.collect())
        })
    })
}

proptest! {
    #[test]
    fn ratings_are_equal_to_those_of_the_direct_method(
        (count, met) in random_results(),
        reference in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let reference = reference.map(|index| index.index(count));
        let found = ratings(count, &met, reference);
        for (found, wanted) in found.iter().zip(direct::ratings(count, &met, reference)) {
            prop_assert!((found.elo - wanted.elo).abs() < 1e-4, "{found:?} {wanted:?}");
            prop_assert!((found.error - wanted.error).abs() < 1e-4, "{found:?} {wanted:?}");
        }
    }
}

/// Many players, each of which meets its neighbours in strength only, as in a long training run.
#[test]
fn ratings_of_many_players_are_equal_to_those_of_the_direct_method() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(23);
    let count = 120;
    let pairs = (0..count).flat_map(|first| (1..8).map(move |apart| (first, first + apart)));
    let met: Vec<_> = pairs
        .filter(|&(_, second)| second < count)
        .map(|(first, second)| {
            let chance = expected_score(10.0 * (second - first) as f64);
            let won = (0..20).filter(|_| random.random::<f64>() < chance).count();
            PairResult { first, second, points: won as f64, games: 20.0 }
        })
        .collect();
    let found = ratings(count, &met, Some(7));
    for (found, wanted) in found.iter().zip(direct::ratings(count, &met, Some(7))) {
        assert!((found.elo - wanted.elo).abs() < 1e-4, "{found:?} {wanted:?}");
        assert!((found.error - wanted.error).abs() < 1e-4, "{found:?} {wanted:?}");
    }
}
