//! Tests of the fits against reference solutions that are found in another way.

use rand::{RngExt, SeedableRng};

use super::*;
use crate::train::seeds::Random;

/// Boards with four random features and an offset, and scores that follow them with noise.
fn samples(rows: usize, seed: u64) -> Samples {
    let mut random = Random::seed_from_u64(seed);
    let features = DMatrix::from_fn(rows, 5, |_, column| match column {
        1 => -1.0,
        _ => f64::from(random.random_range(-4i32..=4)),
    });
    let truth = [1.0, 0.5, -2.0, 0.25, 0.0];
    let noise = |random: &mut Random| random.random_range(-6.0..6.0);
    let scores = times(&features, &truth).into_iter().map(|s| (s + noise(&mut random)).round());
    Samples { scores: scores.collect(), features, offset: 1, centred: false }
}

fn assert_close(found: &[f64], wanted: &[f64], tolerance: f64) {
    let apart = found.iter().zip(wanted).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(apart <= tolerance, "{found:?} and {wanted:?} are {apart} apart");
}

/// The minimum by a long plain gradient descent with a fixed step.
fn descent(
    count: usize,
    step: f64,
    steps: usize,
    gradient: impl Fn(&[f64]) -> Vec<f64>,
) -> Vec<f64> {
    let mut weights = vec![0.0; count];
    for _ in 0..steps {
        let slope = gradient(&weights);
        weights.iter_mut().zip(slope).for_each(|(weight, part)| *weight -= step * part);
    }
    weights
}

#[test]
fn least_squares_agrees_with_gradient_descent() {
    let samples = samples(60, 1);
    let wanted = descent(5, 1e-3, 20_000, |weights| {
        let errors: Vec<f64> = times(&samples.features, weights)
            .iter()
            .zip(&samples.scores)
            .map(|(found, score)| found - score)
            .collect();
        times_transposed(&samples.features, &errors)
    });
    let fitted = samples.fit(Fit::Linear).expect("a fit");
    assert_close(&fitted.weights, &wanted, 1e-6);
}

#[test]
fn of_equal_features_each_gets_half_of_the_weight() {
    let plain = samples(60, 2);
    let doubled = Samples {
        features: DMatrix::from_fn(60, 6, |row, column| plain.features[(row, column.min(4))]),
        scores: plain.scores.clone(),
        offset: 1,
        centred: false,
    };
    let wanted = plain.fit(Fit::Linear).expect("a fit").weights;
    let found = doubled.fit(Fit::Linear).expect("a fit").weights;
    assert_close(&found[..4], &wanted[..4], 1e-8);
    assert_close(&found[4..], &[wanted[4] / 2.0; 2], 1e-8);
}

#[test]
fn logistic_regression_agrees_with_gradient_descent() {
    let signed = samples(60, 3).signed();
    let wanted = descent(5, 4e-3, 100_000, |weights| {
        let slopes: Vec<f64> =
            times(&signed.rows, weights).into_iter().map(|margin| -sigmoid(-margin)).collect();
        times_transposed(&signed.rows, &slopes)
    });
    assert_close(&signed.logistic().expect("a fit"), &wanted, 1e-6);
}

/// The support vector machine by its dual problem: maximise the sum of the multipliers minus half of
/// the squared weights, which are the sum of multipliers times rows. Each multiplier is from 0 to 1,
/// and the offset makes their products with its column cancel. The pair of multipliers that violates
/// the optimality most is optimised until none does (sequential minimal optimisation).
fn svm_by_pairs(signed: &Signed) -> Vec<f64> {
    let (rows, offset) = (&signed.rows, signed.offset);
    let count = rows.nrows();
    let row = |index: usize| -> Vec<f64> {
        (0..rows.ncols()).map(|c| if c == offset { 0.0 } else { rows[(index, c)] }).collect()
    };
    let sign = |index: usize| rows[(index, offset)];
    let mut multipliers = vec![0.0; count];
    let mut weights = vec![0.0; rows.ncols()];
    loop {
        // The slope of the dual along a multiplier, in units of the offset.
        let slope = |index: usize| sign(index) * (1.0 - dot(&row(index), &weights));
        let may_rise =
            |i: usize| if sign(i) > 0.0 { multipliers[i] < 1.0 } else { multipliers[i] > 0.0 };
        let may_fall =
            |i: usize| if sign(i) > 0.0 { multipliers[i] > 0.0 } else { multipliers[i] < 1.0 };
        let up = (0..count).filter(|&i| may_rise(i)).max_by(|&a, &b| slope(a).total_cmp(&slope(b)));
        let down =
            (0..count).filter(|&i| may_fall(i)).min_by(|&a, &b| slope(a).total_cmp(&slope(b)));
        let (up, down) = (up.expect("a row"), down.expect("a row"));
        let violation = slope(up) - slope(down);
        if violation < 1e-10 {
            weights[offset] = (slope(up) + slope(down)) / 2.0;
            return weights;
        }
        let difference: Vec<f64> =
            row(up).iter().zip(row(down)).map(|(a, b)| sign(up) * a - sign(down) * b).collect();
        let room = |i: usize, rises: bool| {
            if rises == (sign(i) > 0.0) { 1.0 - multipliers[i] } else { multipliers[i] }
        };
        let curvature = dot(&difference, &difference).max(1e-12);
        let step = (violation / curvature).min(room(up, true)).min(room(down, false));
        multipliers[up] = (multipliers[up] + sign(up) * step).clamp(0.0, 1.0);
        multipliers[down] = (multipliers[down] - sign(down) * step).clamp(0.0, 1.0);
        weights.iter_mut().zip(&difference).for_each(|(weight, part)| *weight += step * part);
    }
}

#[test]
fn the_support_vector_machine_agrees_with_its_dual() {
    for seed in 4..8 {
        let signed = samples(60, seed).signed();
        let found = signed.svm_within(1e-10, 1_000_000).expect("a fit");
        let wanted = svm_by_pairs(&signed);
        // The offset can have a range of best values; then the objective decides.
        let objective = |weights: &[f64]| {
            let margins = times(&signed.rows, weights);
            let losses: f64 = margins.iter().map(|margin| (1.0 - margin).max(0.0)).sum();
            losses + 0.5 * (dot(weights, weights) - weights[1] * weights[1])
        };
        assert_close(&[objective(&found)], &[objective(&wanted)], 1e-6);
        let others = |weights: &[f64]| [weights[0], weights[2], weights[3], weights[4]];
        assert_close(&others(&found), &others(&wanted), 1e-6);
        // What training uses is as good.
        let used = signed.svm().expect("a fit");
        assert_close(&[objective(&used)], &[objective(&wanted)], 1e-3);
    }
}

#[test]
fn a_support_vector_machine_by_hand() {
    // Points at -3, -1, 1 and 3; those above 0 win. The widest margin is that of -1 and 1.
    let samples = Samples {
        features: DMatrix::from_fn(4, 2, |row, column| [2.0 * row as f64 - 3.0, 1.0][column]),
        scores: vec![-8.0, -2.0, 2.0, 8.0],
        offset: 1,
        centred: false,
    };
    let signed = samples.signed();
    assert_close(&signed.svm_within(1e-10, 100_000).expect("a fit"), &[1.0, 0.0], 1e-6);
    // In discs: the multiple that is nearest to the scores.
    let fitted = samples.fit(Fit::Svm).expect("a fit");
    assert_close(&fitted.weights, &[52.0 / 20.0, 0.0], 1e-3);
    assert_eq!(fitted.right, 1.0);
    assert!((fitted.sigma - 0.2f64.sqrt()).abs() < 1e-3, "{fitted:?}");
}

#[test]
fn scores_of_one_sign_and_draws_have_a_fit() {
    for fit in Fit::ALL {
        for scores in [vec![4.0; 10], vec![0.0; 10], vec![-2.0; 10]] {
            let samples = Samples { scores, ..samples(10, 9) };
            let fitted = samples.fit(*fit).expect("a fit");
            assert!(fitted.weights.iter().all(|weight| weight.is_finite()), "{fitted:?}");
            assert!((0.0..=1.0).contains(&fitted.right) && fitted.sigma < 4.1, "{fitted:?}");
        }
    }
}

#[test]
fn a_centred_classifier_finds_the_same_weights_for_shifted_scores() {
    let plain = samples(200, 10);
    let mean = plain.scores.iter().sum::<f64>() / 200.0;
    let shifted = |by: f64| Samples {
        scores: plain.scores.iter().map(|score| score - mean + by).collect(),
        centred: true,
        features: plain.features.clone(),
        offset: 1,
    };
    for fit in [Fit::Logistic, Fit::Svm] {
        let [near, far] = [0.0, 30.0].map(|by| shifted(by).fit(fit).expect("a fit"));
        let mut moved = near.weights.clone();
        // The offset's column is -1.
        moved[1] -= 30.0;
        assert_close(&far.weights, &moved, 1e-6);
        assert!((far.sigma - near.sigma).abs() < 1e-6 && far.right == 1.0, "{far:?}");
    }
}
