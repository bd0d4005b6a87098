//! Tests of the n-tuple perceptron against its definition, on every board.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::*;
use crate::eval::testing::{check_states, plain_frontier, random_game};
use crate::eval::{AnyEvaluator, Evaluator};
use crate::game::{Shape, Square, Square6, Square8, Symmetry};
use crate::model::Kind;

fn tuples<G: Geometry>(stable: bool) -> Tuples {
    Tuples::read::<G>(&Options::of_board::<G>(stable)).expect("tuples that fit")
}

/// Random weights of the tuples of a board.
fn random_model<G: Geometry>(stable: bool, seed: u64) -> Weights {
    let tuples = tuples::<G>(stable);
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut numbers = |count: usize| (0..count).map(|_| random.random_range(-1.0..1.0)).collect();
    let (weights, counts) = (tuples.patterns().weights(), tuples.counts());
    let mut model = Weights::default();
    model.insert("weights", vec![weights], numbers(weights));
    model.insert("counts", vec![counts, G::SQUARES + 1], numbers(counts * (G::SQUARES + 1)));
    model.insert("win_scale", vec![1], vec![5.0]);
    model
}

fn evaluator<G: Geometry>(stable: bool, goal: Goal, seed: u64) -> NTuple<G> {
    let description = Options::of_board::<G>(stable).description::<G>(goal);
    NTuple::read(&description, &random_model::<G>(stable, seed)).expect("a model that fits")
}

fn has<G: Geometry>(set: G::Bitboard, square: Square) -> bool {
    !(set & G::mask(square)).is_zero()
}

/// The places of the weights of a board, from the text of the tuples and square by square.
fn plain_places<G: Geometry>(stable: bool, board: Board<G>) -> Vec<usize> {
    let tuples = tuples::<G>(stable);
    let (mut places, mut before) = (Vec::new(), 0);
    for (number, pattern) in tuples.patterns().patterns().iter().enumerate() {
        for image in tuples.patterns().images().iter().filter(|image| image.pattern == number) {
            let row = image.squares.iter().rev().fold(0, |row, &square| {
                3 * row + 1 + usize::from(has::<G>(board.mine, square))
                    - usize::from(has::<G>(board.theirs, square))
            });
            places.push(before + pattern.weight_of()[row] as usize);
        }
        before += pattern.weights();
    }
    let squares = || (0..G::SQUARES as u8).map(Square);
    let [own, other] = [board, board.pass()].map(|board| {
        let is_own = |square: &Square| has::<G>(board.mine, *square);
        let is_frontier = |square: &Square| plain_frontier(board, *square);
        // The stable discs of the side to move are those of the opponent after a pass.
        let stable_discs = board.pass().opponent_stable().len();
        [
            squares().filter(is_own).count(),
            squares().filter(is_own).filter(is_frontier).count(),
            board.legal().len(),
            stable_discs,
        ]
    });
    for kind in 0..if stable { 4 } else { 3 } {
        for (side, counts) in [own, other].into_iter().enumerate() {
            places.push(before + (2 * kind + side) * (G::SQUARES + 1) + counts[kind]);
        }
    }
    places
}

#[test]
fn states_follow_moves_and_passes_on_every_board() {
    for shape in Shape::ALL {
        for (goal, stable) in [(Goal::Most, false), (Goal::Fewest, true)] {
            for seed in 0..4 {
                dispatch!(shape, G => check_states::<G, _>(&evaluator(stable, goal, seed), seed));
            }
        }
    }
}

#[test]
fn the_places_are_those_of_a_plain_computation() {
    for shape in Shape::ALL {
        dispatch!(shape, G => {
            for (seed, stable) in (0..3).flat_map(|seed| [(seed, false), (seed, true)]) {
                let tuples = tuples::<G>(stable);
                for board in random_game::<G>(seed) {
                    let places: Vec<_> = tuples.places(board).map(|at| at as usize).collect();
                    assert_eq!(places, plain_places(stable, board), "{board:?}");
                }
            }
        });
    }
}

#[test]
fn the_value_is_the_sum_of_the_weights() {
    for shape in Shape::ALL {
        dispatch!(shape, G => {
            let (model, evaluator) = (random_model::<G>(true, 3), evaluator::<G>(true, Goal::Most, 3));
            let array = |name| model.array(name).expect("an array").values.clone();
            let weights = [array("weights"), array("counts")].concat();
            for board in random_game::<G>(3).into_iter().filter(|board| !board.is_over()) {
                let places = plain_places(true, board);
                let allowed = places.len() as f32 * 0.51 / SCALE as f32;
                let sum: f32 = places.into_iter().map(|place| weights[place]).sum();
                let most = G::SQUARES as f32;
                let error = evaluator.score(board) - sum.clamp(-most, most);
                // Each of the weights is rounded to a unit of the evaluation.
                assert!(error.abs() <= allowed, "{board:?}");
            }
        });
    }
}

#[test]
fn the_images_of_a_board_have_its_value() {
    for shape in Shape::ALL {
        dispatch!(shape, G => {
            let evaluator = evaluator::<G>(true, Goal::Most, 9);
            for board in random_game::<G>(5) {
                for symmetry in Symmetry::ALL {
                    let image = symmetry.board(board);
                    assert_eq!(evaluator.value(image), evaluator.value(board), "{board:?}");
                }
            }
        });
    }
}

#[test]
fn the_tuples_of_8x8_are_four_lines_and_a_corner() {
    let options = Options::of_board::<Square8>(false);
    let wanted = [
        "a1 b1 c1 d1 e1 f1 g1 h1",
        "a2 b2 c2 d2 e2 f2 g2 h2",
        "a3 b3 c3 d3 e3 f3 g3 h3",
        "a4 b4 c4 d4 e4 f4 g4 h4",
        "a1 b1 c1 a2 b2 c2 a3 b3 c3",
    ];
    assert_eq!(options.tuples, wanted);
    let tuples = tuples::<Square8>(false);
    assert_eq!(tuples.patterns().images().len(), 16 + 4);
    // Arrangements that a mirror exchanges share a weight.
    let [line, corner] = [(6561 + 81) / 2, (19_683 + 729) / 2];
    assert_eq!(tuples.patterns().weights(), 4 * line + corner);
}

#[test]
fn models_that_do_not_fit_are_refused() {
    let good = Options::of_board::<Square6>(false).description::<Square6>(Goal::Most);
    let model = random_model::<Square6>(false, 1);
    let read = |options: serde_json::Value, model: &Weights| {
        let description = Description { options, ..good.clone() };
        AnyEvaluator::<Square6>::from_model(&description, model)
    };
    assert_eq!(good.kind, Kind::NTuple);
    let found = read(good.options.clone(), &model).expect("a model that fits");
    assert!(matches!(found, AnyEvaluator::NTuple(_)));
    for (options, wanted) in [
        (serde_json::json!({}), "missing field `tuples`"),
        (serde_json::json!({ "tuples": ["a1"] }), "missing field `stable`"),
        (
            serde_json::json!({ "tuples": ["a1"], "stable": false, "more": 1 }),
            "unknown field `more`",
        ),
        (serde_json::json!({ "tuples": ["a1 h8"], "stable": false }), "`h8` is no square"),
        (serde_json::json!({ "tuples": [], "stable": false }), "allowed: 1 to 64"),
        (serde_json::json!({ "tuples": ["a1 b1"], "stable": false }), "array `weights` has shape"),
    ] {
        let error = read(options, &model).expect_err(wanted).to_string();
        assert!(error.contains(wanted), "{error}");
    }
    for (name, shape, value, wanted) in [
        ("counts", vec![8, 37], 0.0, "array `counts` has shape [8, 37]; allowed: [6, 37]"),
        ("counts", vec![6, 37], 300.0, "allowed: -250 to 250"),
        ("counts", vec![6, 37], f32::NAN, "allowed: -250 to 250"),
        ("more", vec![1], 0.0, "unknown array `more`"),
        ("win_scale", vec![1], 0.0, "a finite number above 0"),
    ] {
        let mut other = model.clone();
        other.insert(name, shape.clone(), vec![value; shape.iter().product()]);
        let error = read(good.options.clone(), &other).expect_err(wanted).to_string();
        assert!(error.contains(wanted), "{error}");
    }
}
