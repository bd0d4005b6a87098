//! Tests of the one-hot nets against their definition, on every board.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::*;
use crate::eval::testing::{check_states, plain_frontier, random_game};
use crate::eval::{AnyEvaluator, Evaluator};
use crate::game::{Shape, Square, Square6, Symmetry};
use crate::model::Kind;

/// Nets of one, two and three groups, with all sets of marks.
const OPTIONS: [Options; 4] = [
    Options { hidden: 16, frontier: false, stable: false },
    Options { hidden: 32, frontier: true, stable: false },
    Options { hidden: 48, frontier: true, stable: true },
    Options { hidden: 16, frontier: false, stable: true },
];

/// Random weights of two stages, of the first layer up to `most`.
fn random_model<G: Geometry>(options: &Options, most: f32, seed: u64) -> Weights {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut model = Weights::default();
    let sizes = [most, 0.5, 20.0, 3.0];
    let shapes = Plan::new::<G>(options, 2).shapes::<G>();
    for ((name, shape), size) in
        ["rows", "bias", "output", "constant"].into_iter().zip(shapes).zip(sizes)
    {
        let count = shape.iter().product();
        let numbers = (0..count).map(|_| random.random_range(-size..=size)).collect();
        model.insert(name, shape, numbers);
    }
    model.insert("discs", vec![2], vec![12.0, 30.0]);
    model.insert("win_scale", vec![1], vec![5.0]);
    model
}

fn evaluator<G: Geometry>(options: &Options, most: f32, goal: Goal, seed: u64) -> OneHot<G> {
    let description = options.description::<G>(goal);
    OneHot::read(&description, &random_model::<G>(options, most, seed)).expect("a model that fits")
}

/// The mark of a square, from the words of [`Mark`]. `None` for an empty square without a move.
fn plain_mark<G: Geometry>(options: &Options, board: Board<G>, square: Square) -> Option<Mark> {
    let has = |set: G::Bitboard| !(set & G::mask(square)).is_zero();
    let [own_move, other_move] = [board, board.pass()].map(|board| has(board.legal().0));
    let is_stable =
        options.stable && (has(board.opponent_stable().0) || has(board.pass().opponent_stable().0));
    let is_frontier = options.frontier && plain_frontier(board, square);
    match (has(board.mine), has(board.theirs), is_stable, is_frontier) {
        (true, _, true, _) => Some(Mark::OwnStable),
        (true, _, _, true) => Some(Mark::OwnFrontier),
        (true, ..) => Some(Mark::Own),
        (_, true, true, _) => Some(Mark::OtherStable),
        (_, true, _, true) => Some(Mark::OtherFrontier),
        (_, true, ..) => Some(Mark::Other),
        _ if own_move && other_move => Some(Mark::BothMove),
        _ if own_move => Some(Mark::OwnMove),
        _ if other_move => Some(Mark::OtherMove),
        _ => None,
    }
}

/// The value by its definition, in discs, at one stage: each hidden unit looks at an image of the
/// board, as one of the sides sees it.
fn plain_value<G: Geometry>(
    options: &Options,
    model: &Weights,
    stage: usize,
    board: Board<G>,
) -> f32 {
    let array = |name| &model.array(name).expect("an array").values;
    let (rows, bias, output) = (array("rows"), array("bias"), array("output"));
    let (marks, groups) = (options.marks().list(), options.hidden / GROUP);
    let mut value = array("constant")[stage];
    for (side, seen) in [board, board.pass()].into_iter().enumerate() {
        for image in Symmetry::ALL.map(|symmetry| symmetry.board(seen)) {
            for group in 0..groups {
                let mut sum = bias[group];
                for square in (0..G::SQUARES as u8).map(Square) {
                    let mark = plain_mark(options, image, square);
                    let slot = marks.iter().position(|&it| Some(it) == mark);
                    let row = slot.map(|slot| (group * marks.len() + slot) * G::SQUARES);
                    sum += row.map_or(0.0, |row| rows[row + square.index()]);
                }
                value += output[(2 * stage + side) * groups + group] * sum.clamp(0.0, 1.0).powi(2);
            }
        }
    }
    value
}

#[test]
fn states_follow_moves_and_passes_on_every_board() {
    for shape in Shape::ALL {
        for (seed, options) in OPTIONS.iter().enumerate() {
            for goal in [Goal::Most, Goal::Fewest] {
                let seed = seed as u64;
                dispatch!(shape, G => {
                    check_states::<G, _>(&evaluator(options, 0.1, goal, seed), seed);
                });
            }
        }
    }
}

fn check_marks<G: Geometry>(options: &Options, board: Board<G>) {
    let sets = options.marks().sets(board);
    for square in (0..G::SQUARES as u8).map(Square) {
        let is_here = |set: G::Bitboard| !(set & G::mask(square)).is_zero();
        let marks = Mark::ALL.into_iter().zip(sets);
        let found: Vec<_> = marks.filter(|&(_, set)| is_here(set)).map(|(mark, _)| mark).collect();
        let wanted: Vec<_> = plain_mark(options, board, square).into_iter().collect();
        assert_eq!(found, wanted, "{square:?} of {board:?}");
    }
}

#[test]
fn the_marks_of_a_board_are_those_of_their_definition() {
    for shape in Shape::ALL {
        for (seed, options) in OPTIONS.iter().enumerate() {
            dispatch!(shape, G => {
                random_game::<G>(seed as u64).into_iter().for_each(|board| check_marks(options, board));
            });
        }
    }
}

/// Checks the values of a game against their definition, up to `allowed` discs.
fn check_values<G: Geometry>(options: &Options, most: f32, seed: u64, allowed: f32) {
    let model = random_model::<G>(options, most, seed);
    let evaluator = evaluator::<G>(options, most, Goal::Most, seed);
    for board in random_game::<G>(seed).into_iter().filter(|board| !board.is_over()) {
        let share = ((board.discs() as f32 - 12.0) / 18.0).clamp(0.0, 1.0);
        let [early, late] = [0, 1].map(|stage| plain_value(options, &model, stage, board));
        let most = G::SQUARES as f32;
        let wanted = (early + share * (late - early)).clamp(-most, most);
        let found = evaluator.score(board);
        assert!((found - wanted).abs() <= allowed, "{found}, not {wanted}: {board:?}");
    }
}

#[test]
fn the_value_is_that_of_the_definition() {
    for shape in Shape::ALL {
        for (seed, options) in OPTIONS.iter().enumerate() {
            dispatch!(shape, G => check_values::<G>(options, 0.1, seed as u64, 0.5));
        }
    }
}

#[test]
fn sums_of_the_largest_weights_do_not_overflow() {
    for (seed, options) in OPTIONS.iter().enumerate() {
        // Most units are then at their limits, and the integers are coarse.
        check_values::<crate::game::Cross92>(options, MAX_ROW, seed as u64, 12.0);
    }
}

#[test]
fn the_images_of_a_board_have_its_value() {
    for shape in Shape::ALL {
        dispatch!(shape, G => {
            let evaluator = evaluator::<G>(&OPTIONS[2], 0.1, Goal::Most, 9);
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
fn gathering_is_the_transposed_map_of_spreading() {
    let plan = Plan::new::<Square6>(&OPTIONS[2], 3);
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut numbers = |count: usize| -> Vec<f32> {
        (0..count).map(|_| random.random_range(-3i8..=3).into()).collect()
    };
    let (short, long) = (numbers(plan.numbers()), numbers(plan.spread(&[]).len()));
    let product = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
    assert_eq!(product(&plan.spread(&short), &long), product(&short, &plan.gather(&long)));
    let units: usize = OPTIONS[2].hidden;
    // Each unit has all rows, a bias and the outputs; each stage has a constant.
    let used = plan.spread(&vec![1.0; plan.numbers()]).iter().sum::<f32>() as usize;
    assert_eq!(used, units * (9 * 36 + 1 + 3) + 3);
}

#[test]
fn models_that_do_not_fit_are_refused() {
    let options = OPTIONS[1];
    let good = options.description::<Square6>(Goal::Most);
    let model = random_model::<Square6>(&options, 0.1, 1);
    let read = |options: serde_json::Value, model: &Weights| {
        let description = Description { options, ..good.clone() };
        AnyEvaluator::<Square6>::from_model(&description, model)
    };
    assert_eq!(good.kind, Kind::OneHot);
    let found = read(good.options.clone(), &model).expect("a model that fits");
    assert!(matches!(found, AnyEvaluator::OneHot(_)));
    let of = |hidden: i64, frontier: bool| serde_json::json!({ "hidden": hidden, "frontier": frontier, "stable": false });
    for (options, wanted) in [
        (serde_json::json!({ "hidden": 16 }), "missing field `frontier`"),
        (of(-16, true), "invalid value"),
        (of(0, true), "hidden = 0; allowed: a multiple of 16, 16 to 256"),
        (of(24, true), "hidden = 24; allowed: a multiple of 16"),
        (of(1 << 40, true), "allowed: a multiple of 16, 16 to 256"),
        (of(48, true), "array `rows` has shape [2, 7, 36]; allowed: [3, 7, 36]"),
        (of(32, false), "array `rows` has shape [2, 7, 36]; allowed: [2, 5, 36]"),
    ] {
        let error = read(options, &model).expect_err(wanted).to_string();
        assert!(error.contains(wanted), "{error}");
    }
    for (name, shape, value, wanted) in [
        ("rows", vec![2, 7, 36], 2.5, "array `rows` has 2.5 at index 0; allowed: -2 to 2"),
        ("bias", vec![2], f32::NAN, "allowed: -8 to 8"),
        ("output", vec![2, 2, 2], f32::INFINITY, "allowed: -1000 to 1000"),
        ("output", vec![3, 2, 2], 0.0, "allowed: [2, 2, 2]"),
        ("constant", vec![3], 0.0, "array `constant` has shape [3]; allowed: [2]"),
        ("discs", vec![2], 5.0, "more than 5, the number before it"),
        ("discs", vec![37], 5.0, "with 1 to 36 stages"),
        ("more", vec![1], 0.0, "unknown array `more`"),
    ] {
        let mut other = model.clone();
        other.insert(name, shape.clone(), vec![value; shape.iter().product()]);
        let error = read(good.options.clone(), &other).expect_err(wanted).to_string();
        assert!(error.contains(wanted), "{error}");
    }
}
