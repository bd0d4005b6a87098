//! Tests of nets over patterns.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::*;
use crate::eval::testing::{check_states, random_game};
use crate::game::{Square6, Square8, Symmetry};

/// A model with random numbers, and its description.
fn random_model<G: Geometry>(seed: u64) -> (Description, Weights) {
    let patterns = ["a1 b1 c1 a2 b2 c2 a3 b3 c3", "a1 b1 c1 d1 e1 f1", "a1 b2 c3 d4 e5"];
    let options = Options { patterns: patterns.map(String::from).into() };
    let set = PatternSet::read::<G>(&options.patterns).expect("patterns");
    let layout = Layout::new(&set, 2);
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut model = Weights::default();
    for (name, shape) in Layout::NAMES.into_iter().zip(layout.shapes()) {
        let most: f32 = if name == "rows" { 0.1 } else { 0.9 };
        let count = shape.iter().product();
        model.insert(name, shape, (0..count).map(|_| random.random_range(-most..most)).collect());
    }
    model.insert("discs", vec![2], vec![10.0, 30.0]);
    model.insert("win_scale", vec![1], vec![4.0]);
    (description::<G>(&options, Goal::Most), model)
}

/// The value of a board in discs, computed from the arrays in the plainest way.
fn plain<G: Geometry>(description: &Description, model: &Weights, board: Board<G>) -> f64 {
    let options = Options::read(&description.options).expect("options");
    let set = PatternSet::read::<G>(&options.patterns).expect("patterns");
    let numbers = |name: &str| -> Vec<f64> {
        let array = model.array(name).expect("an array");
        array.values.iter().map(|&number| f64::from(number)).collect()
    };
    let share = ((f64::from(board.discs()) - 10.0) / 20.0).clamp(0.0, 1.0);
    let at = |name: &str| -> Vec<f64> {
        let both = numbers(name);
        let half = both.len() / 2;
        (0..half).map(|place| (1.0 - share) * both[place] + share * both[half + place]).collect()
    };
    let (rows, mut sums) = (numbers("rows"), numbers("bias"));
    for place in set.places(board) {
        let row = &rows[place as usize * 32..][..32];
        sums.iter_mut().zip(row).for_each(|(sum, number)| *sum += number);
    }
    let sums: Vec<f64> = sums.iter().map(|sum| sum.clamp(0.0, 1.0)).collect();
    let moves = board.legal_of_both().map(SquareSet::len);
    let products: Vec<f64> = (0..16).map(|place| sums[place] * sums[place + 16]).collect();
    let inputs: Vec<f64> =
        products.iter().copied().chain(moves.map(|count| count as f64 / 16.0)).collect();
    let first = at("first");
    let dot = |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
    let unit = |unit: usize| -> f64 {
        let weights: Vec<f64> = (0..18).map(|input| first[16 * input + unit]).collect();
        (at("first_bias")[unit] + dot(&weights, &inputs)).clamp(0.0, 1.0)
    };
    let units: Vec<f64> = (0..16).map(unit).collect();
    let of_moves = at("moves");
    let moves = of_moves[moves[0]] + of_moves[32 + moves[1]];
    dot(&units, &at("output")) + dot(&products, &at("direct")) + moves + at("constant")[0]
}

#[test]
fn values_are_those_of_a_plain_computation_and_of_all_images() {
    for seed in 0..3 {
        let (description, model) = random_model::<Square8>(seed);
        let net = PatternNet::<Square8>::read(&description, &model).expect("a net");
        for board in random_game::<Square8>(seed) {
            if board.is_over() {
                assert_eq!(net.value(board), SCALE * board.final_score(Goal::Most));
                continue;
            }
            let wanted = plain(&description, &model, board);
            let found = f64::from(net.score(board));
            // The rows are rounded to 1/1024 or so.
            assert!((found - wanted).abs() < 0.3, "{found} {wanted}");
            for symmetry in Symmetry::ALL {
                assert_eq!(net.value(symmetry.board(board)), net.value(board));
            }
        }
    }
}

/// A net with fitted estimates, and its boards.
fn with_estimates() -> (PatternNet<Square8>, Vec<Board<Square8>>) {
    let (description, mut model) = random_model::<Square8>(5);
    let net = PatternNet::<Square8>::read(&description, &model).expect("a net");
    let boards: Vec<_> = (0..200).flat_map(random_game::<Square8>).collect();
    let numbers = net.fit_estimate(&[10.0, 30.0], &boards);
    model.insert(ESTIMATE, vec![2, numbers.len() / 2], numbers);
    (PatternNet::read(&description, &model).expect("a net"), boards)
}

#[test]
fn estimates_are_off_as_far_as_they_say() {
    let (net, boards) = with_estimates();
    let mut errors = [Vec::new(), Vec::new()];
    let mut variances = [Vec::new(), Vec::new()];
    for &board in boards.iter().filter(|board| !board.is_over()) {
        let codes = net.begin(board);
        let value = net.evaluate(board, &codes);
        let stage = usize::from(board.discs() > 20);
        errors[stage].push(f64::from(value - net.ordering_value(board, &codes)));
        variances[stage].push(f64::from(value));
        for symmetry in Symmetry::ALL {
            let image = symmetry.board(board);
            let image = net.ordering_value(image, &net.begin(image));
            assert_eq!(image, net.ordering_value(board, &codes));
        }
    }
    for stage in 0..2 {
        let mean = |of: &[f64]| of.iter().sum::<f64>() / of.len() as f64;
        let squares = |of: &[f64]| mean(&of.iter().map(|error| error * error).collect::<Vec<_>>());
        let deviation = net.ordering_deviation([8, 40][stage]).expect("it has estimates");
        let found = squares(&errors[stage]).sqrt();
        // Each number of the table is rounded to 1/128 disc.
        assert!((found - f64::from(deviation)).abs() < 6.0, "{found}, not {deviation}");
        let spread = squares(&variances[stage]) - mean(&variances[stage]).powi(2);
        assert!(found * found < 0.95 * spread, "stage {stage}: {found} of {spread}");
    }
}

#[test]
fn no_estimate_lies_beyond_all_scores() {
    let (description, mut model) = random_model::<Square6>(6);
    let mut numbers = vec![0.0; 2 * (SUMS + 2)];
    // The constants.
    for stage in 0..2 {
        numbers[stage * (SUMS + 2) + SUMS] = 1000.0;
    }
    model.insert(ESTIMATE, vec![2, SUMS + 2], numbers);
    let net = PatternNet::<Square6>::read(&description, &model).expect("a net");
    let start = Board::start();
    assert_eq!(net.ordering_value(start, &net.begin(start)), 36 * SCALE);
}

#[test]
fn a_stage_without_boards_decides_nothing() {
    let (description, mut model) = random_model::<Square8>(6);
    let net = PatternNet::<Square8>::read(&description, &model).expect("a net");
    assert_eq!(net.ordering_deviation(20), None);
    let numbers = net.fit_estimate(&[10.0, 30.0], &[]);
    model.insert(ESTIMATE, vec![2, numbers.len() / 2], numbers);
    let net = PatternNet::<Square8>::read(&description, &model).expect("a net");
    assert_eq!(net.ordering_deviation(20), Some(64 * SCALE));
    let array = model.array(ESTIMATE).expect("the array").values.to_vec();
    model.insert(ESTIMATE, vec![1, array.len()], array);
    let error = PatternNet::<Square8>::read(&description, &model).expect_err("another shape");
    assert!(error.to_string().contains(ESTIMATE), "{error}");
}

#[test]
fn states_follow_moves() {
    let (description, model) = random_model::<Square6>(1);
    let net = PatternNet::<Square6>::read(&description, &model).expect("a net");
    check_states(&net, 3);
}

#[test]
fn the_largest_rows_fit_sixteen_bits() {
    for images in 1..=64 {
        let one = one(images);
        let rounded = (MAX_ROW * one).round_ties_even() * images as f32;
        assert!(rounded + (MAX_BIAS * one).round_ties_even() <= f32::from(i16::MAX));
        assert!(one >= 256.0, "{one}");
    }
}

#[test]
fn models_that_do_not_fit_are_refused() {
    let (description, model) = random_model::<Square8>(2);
    let refused = |model: &Weights| {
        PatternNet::<Square8>::read(&description, model).expect_err("a bad model").to_string()
    };
    for name in Layout::NAMES {
        let mut other = Weights::default();
        for (kept, array) in model.iter().filter(|(kept, _)| *kept != name) {
            other.insert(kept, array.shape.to_vec(), array.values.to_vec());
        }
        assert!(refused(&other).contains(name), "{name}");
        let array = model.array(name).expect("an array");
        let mut numbers = array.values.to_vec();
        numbers[0] = 1e9;
        other.insert(name, array.shape.to_vec(), numbers);
        assert!(refused(&other).contains(name), "{name}");
    }
}
