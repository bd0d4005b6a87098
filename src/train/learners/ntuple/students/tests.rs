//! Tests of models in training against the evaluators that they become, and of their derivatives.

use super::*;
use crate::eval::testing::random_game;
use crate::eval::{AnyEvaluator, onehot, patternnet};
use crate::game::{Shape, Square6};
use crate::train::seeds::{Purpose, stream};

/// A perceptron, two nets, and a net over patterns.
fn students<G: Geometry>() -> Vec<Box<dyn Student<G>>> {
    let net = |options: onehot::Options, discs: &[f32]| -> Box<dyn Student<G>> {
        Box::new(Net::new::<G>(options, discs.to_vec()))
    };
    let patterns = ["c3 d3 e3 c4", "b3 c4 d5", "c2 d2 e2 c3 d3 e3"].map(String::from).into();
    let options = patternnet::Options { patterns };
    let over_patterns =
        OverPatterns::new::<G>(options, vec![8.0, 30.0]).expect("patterns that fit");
    vec![
        Box::new(Perceptron::new::<G>(true).expect("tuples that fit")),
        net(onehot::Options { hidden: 16, frontier: false, stable: false }, &[20.0]),
        net(onehot::Options { hidden: 48, frontier: true, stable: true }, &[8.0, 16.0, 30.0]),
        Box::new(over_patterns),
    ]
}

/// The first numbers of a student, made so large that values are several discs.
fn numbers<G: Geometry>(student: &dyn Student<G>, seed: u64) -> Vec<f32> {
    let mut numbers = student.initial(&mut stream(seed, Purpose::Batch, 0));
    numbers.iter_mut().for_each(|number| *number *= 1.5);
    numbers
}

/// The boards of a game on which the side to move has a move.
fn boards<G: Geometry>(seed: u64) -> impl Iterator<Item = Board<G>> {
    random_game::<G>(seed).into_iter().filter(|board| !board.legal().is_empty())
}

#[test]
fn the_value_in_training_is_that_of_the_evaluator() {
    for shape in Shape::ALL {
        dispatch!(shape, G => {
            for student in students::<G>() {
                let numbers = numbers(&*student, 2);
                let mut model = student.arrays(&numbers);
                assert_eq!(student.numbers(&model).expect("its arrays"), numbers);
                model.insert("win_scale", vec![1], vec![5.0]);
                let evaluator = AnyEvaluator::<G>::from_model(&student.description(Goal::Most), &model);
                let evaluator = evaluator.expect("a model that fits");
                let spread = student.spread(&numbers);
                for board in boards::<G>(3) {
                    let most = G::SQUARES as f32;
                    let wanted = (UNIT * student.value(&spread, board)).clamp(-most, most);
                    let found = evaluator.score(board);
                    assert!((found - wanted).abs() < 0.3, "{found}, not {wanted}: {board:?}");
                }
            }
        });
    }
}

#[test]
fn derivatives_are_those_of_small_differences() {
    for student in students::<Square6>() {
        let numbers = numbers(&*student, 4);
        let spread = student.spread(&numbers);
        for board in boards::<Square6>(5).step_by(7) {
            let label = Label { board, score: -20 };
            let mut sums = vec![0.0; spread.len()];
            let error = student.learn(&spread, &label, &mut sums);
            assert_eq!(error, student.value(&spread, board) - target(&label));
            let derivatives = student.gather(&sums);
            assert!(derivatives.iter().any(|by| *by != 0.0));
            let mut compared = 0;
            for (index, &wanted) in derivatives.iter().enumerate() {
                // Most numbers of a perceptron are of no use to a board.
                if wanted == 0.0 && index % 97 != 0 {
                    continue;
                }
                let step = 1.0 / 1024.0;
                let loss = |by: f32| {
                    let mut numbers = numbers.clone();
                    numbers[index] += by;
                    let error = student.value(&student.spread(&numbers), board) - target(&label);
                    0.5 * error * error
                };
                // A hidden unit at its limit has another derivative on each side.
                let sides = [loss(0.0) - loss(-step), loss(step) - loss(0.0)].map(|by| by / step);
                let allowed = 0.01 + 0.02 * wanted.abs();
                let low = sides[0].min(sides[1]) - allowed;
                let high = sides[0].max(sides[1]) + allowed;
                assert!((low..=high).contains(&wanted), "{sides:?}, not {wanted} at {index}");
                compared += 1;
                if compared == 300 {
                    break;
                }
            }
        }
    }
}

#[test]
fn numbers_are_limited_to_those_that_a_model_may_have() {
    for student in students::<Square6>() {
        let mut numbers = vec![1e6; numbers(&*student, 1).len()];
        student.limit(&mut numbers);
        let mut model = student.arrays(&numbers);
        model.insert("win_scale", vec![1], vec![5.0]);
        AnyEvaluator::<Square6>::from_model(&student.description(Goal::Most), &model)
            .expect("a model that may be");
        assert!(student.numbers(&Weights::default()).is_err());
    }
}
