use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::*;
use crate::eval::testing::{check_states, random_game};
use crate::eval::{AnyEvaluator, TrackedBoard};
use crate::game::{Shape, Square, Square6, Square8, Symmetry, notation};
use crate::model::Kind;

const SMALL: [&str; 4] = ["a3 b3 c3 d3", "c1 d2 e3", "b2", "c3 d3 c4 d4 d5"];

fn texts(patterns: &[&str]) -> Vec<String> {
    patterns.iter().map(|&text| text.into()).collect()
}

fn set<G: Geometry>(patterns: &[&str]) -> PatternSet {
    PatternSet::read::<G>(&texts(patterns)).expect("a set of patterns")
}

/// Random weights for a set of patterns, with two stages.
fn random_weights(set: &PatternSet, seed: u64) -> Weights {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut numbers = |count: usize| (0..count).map(|_| random.random_range(-2.0..2.0)).collect();
    let mut model = Weights::default();
    model.insert("weights", vec![2, set.weights()], numbers(2 * set.weights()));
    model.insert("moves", vec![2, 2, MOST_MOVES + 1], numbers(4 * (MOST_MOVES + 1)));
    model.insert("constant", vec![2], numbers(2));
    model.insert("discs", vec![2], vec![12.0, 30.0]);
    model.insert("win_scale", vec![1], vec![5.0]);
    model
}

fn evaluator<G: Geometry>(patterns: &[&str], goal: Goal, seed: u64) -> Patterns<G> {
    let set = set::<G>(patterns);
    let model = random_weights(&set, seed);
    Patterns::new(goal, set, &model).expect("weights that fit")
}

#[test]
fn states_follow_moves_and_passes_on_every_board() {
    for shape in Shape::ALL {
        for (seed, goal) in (0..6).flat_map(|seed| [(seed, Goal::Most), (seed, Goal::Fewest)]) {
            dispatch!(shape, G => check_states::<G, _>(&evaluator(&SMALL, goal, seed), seed));
        }
    }
}

#[test]
fn a_code_is_the_plain_number_of_the_discs() {
    for shape in Shape::ALL {
        dispatch!(shape, G => {
            let set = set::<G>(&SMALL);
            for board in random_game::<G>(3) {
                let codes = set.begin(board);
                for (lane, image) in set.images().iter().enumerate() {
                    let digit = |square: &Square| {
                        let is_on = |set| SquareSet::<G>(set).into_iter().any(|at| at == *square);
                        i16::from(is_on(board.mine)) - i16::from(is_on(board.theirs))
                    };
                    let wanted = image.squares.iter().rev().fold(0, |code, at| 3 * code + digit(at));
                    assert_eq!(codes.0[lane], wanted, "lane {lane} of {board:?}");
                }
                assert!(codes.0[set.images().len()..].iter().all(|&code| code == 0));
            }
        });
    }
}

#[test]
fn the_images_of_a_board_have_its_value() {
    for shape in Shape::ALL {
        dispatch!(shape, G => {
            let evaluator = evaluator::<G>(&SMALL, Goal::Most, 9);
            for board in random_game::<G>(5) {
                for symmetry in Symmetry::ALL {
                    let image = symmetry.board(board);
                    assert_eq!(evaluator.value(image), evaluator.value(board), "{board:?}");
                }
            }
        });
    }
}

/// The value by its definition, in discs: a plain sum over all images.
fn plain_value(set: &PatternSet, model: &Weights, stage: usize, board: Board<Square8>) -> f32 {
    let array = |name| &model.array(name).expect("an array").values;
    let (weights, moves) = (array("weights"), array("moves"));
    let mut sum = array("constant")[stage];
    for (side, legal) in board.legal_of_both().into_iter().enumerate() {
        sum += moves[(2 * stage + side) * (MOST_MOVES + 1) + legal.len()];
    }
    for image in set.images() {
        let pattern = &set.patterns()[image.pattern];
        let before: usize = set.patterns()[..image.pattern].iter().map(Pattern::weights).sum();
        let row = image.squares.iter().rev().fold(0, |row, &square| {
            let mask = Square8::mask(square);
            3 * row + 1 + usize::from(board.mine & mask != 0)
                - usize::from(board.theirs & mask != 0)
        });
        sum += weights[stage * set.weights() + before + pattern.weight_of()[row] as usize];
    }
    sum
}

#[test]
fn the_value_is_the_sum_of_the_weights() {
    let set = set::<Square8>(&SMALL);
    let model = random_weights(&set, 4);
    let evaluator = Patterns::<Square8>::new(Goal::Most, set.clone(), &model).expect("weights");
    for board in random_game::<Square8>(8).into_iter().filter(|board| !board.is_over()) {
        let share = ((board.discs() as f32 - 12.0) / 18.0).clamp(0.0, 1.0);
        let [early, late] = [0, 1].map(|stage| plain_value(&set, &model, stage, board));
        let wanted = (early + share * (late - early)).clamp(-64.0, 64.0);
        // Each of the weights is rounded to a unit of the evaluation.
        let allowed = (set.images().len() + 3) as f32 * 0.51 / SCALE as f32;
        assert!((evaluator.score(board) - wanted).abs() <= allowed, "{board:?}");
    }
}

#[test]
fn arrangements_that_a_symmetry_exchanges_share_a_weight() {
    let set = set::<Square8>(&["a1 b1 c1", "a1 b1 c1 d1 e1 f1 g1 h1", "b2 c3 d4"]);
    let counts: Vec<_> = set.patterns().iter().map(|p| (p.codes(), p.weights())).collect();
    // Without a symmetry of its own all 27; along the edge, half of those that differ from their
    // mirror image and the 81 that do not; a diagonal mirrors onto itself square by square.
    assert_eq!(counts, [(27, 27), (6561, (6561 + 81) / 2), (27, 27)]);
    let images = |pattern| set.images().iter().filter(|image| image.pattern == pattern).count();
    assert_eq!([0, 1, 2].map(images), [8, 4, 4]);
}

#[test]
fn a_set_that_does_not_fit_is_refused() {
    let cases: [(&[&str], &str); 8] = [
        (&[], "the patterns have 0 images"),
        (&["a1 b1", "a1 i1"], "pattern 2 (`a1 i1`): `i1` is no square of this board"),
        (&["a1 b1 a1"], "square a1 is named twice"),
        (&["a1 b1 c1", "a8 b8 c8"], "an earlier pattern or its image has the same squares"),
        (&[""], "it has 0 squares; allowed: 1 to 10"),
        (&["a1 b1 c1 d1 e1 f1 g1 h1 a2 b2 c2"], "it has 11 squares; allowed: 1 to 10"),
        (&["a1b1"], "`a1b1` is no square of this board"),
        (
            &[
                "a1 b1", "a1 b1 c1", "b1 c1", "c1 d2", "c2 d1", "a1 b2 c4", "b2 c2 d3", "b1 d2",
                "a1 c2",
            ],
            "allowed: 1 to 64",
        ),
    ];
    for (patterns, wanted) in cases {
        let error = PatternSet::read::<Square8>(&texts(patterns)).expect_err(wanted).to_string();
        assert!(error.contains(wanted), "{error}");
    }
    assert!(PatternSet::read::<Square6>(&texts(&["g1 f1"])).is_err());
}

#[test]
fn models_that_do_not_fit_are_refused() {
    let shape = Shape::Square8;
    let options = serde_json::json!({ "patterns": SMALL });
    let description = |options| {
        let (kind, goal) = (Kind::Patterns, Goal::Most);
        Description { kind, shape, options, goal, positions: 0, steps: 0 }
    };
    let model = random_weights(&set::<Square8>(&SMALL), 1);
    let read = |options, model: &Weights| {
        AnyEvaluator::<Square8>::from_model(&description(options), model)
    };
    let evaluator = read(options.clone(), &model).expect("a model that fits");
    let start = Board::start();
    let wanted = Patterns::new(Goal::Most, set::<Square8>(&SMALL), &model).expect("it fits");
    assert!(
        matches!(evaluator, AnyEvaluator::Patterns(found) if found.value(start) == wanted.value(start))
    );
    for (options, wanted) in [
        (serde_json::json!({}), "missing field `patterns`"),
        (serde_json::json!({ "patterns": ["a1"], "stage": 3 }), "unknown field `stage`"),
        (serde_json::json!({ "patterns": ["a1 b1"] }), "array `weights` has shape"),
    ] {
        let error = read(options, &model).expect_err(wanted).to_string();
        assert!(error.contains(wanted), "{error}");
    }
    for (name, shape, value, wanted) in [
        ("moves", vec![2, 2, 31], 0.0, "array `moves` has shape [2, 2, 31]; allowed: [2, 2, 32]"),
        ("constant", vec![2], 300.0, "allowed: -250 to 250"),
        ("more", vec![1], 0.0, "unknown array `more`"),
        ("win_scale", vec![1], 0.0, "a finite number above 0"),
    ] {
        let mut other = model.clone();
        other.insert(name, shape.clone(), vec![value; shape.iter().product()]);
        let error = read(options.clone(), &other).expect_err(wanted).to_string();
        assert!(error.contains(wanted), "{error}");
    }
}

#[test]
fn a_search_position_from_play_has_the_codes_of_its_board() {
    let evaluator = evaluator::<Square8>(&SMALL, Goal::Most, 2);
    let start = crate::game::Position::<Square8>::start();
    let (moves, end) = notation::parse_transcript("f5d6c3d3c4f4", start).expect("a game");
    let tracked = moves.iter().fold(TrackedBoard::begin(&evaluator, start.board), |at, &square| {
        at.play(&evaluator, square)
    });
    assert_eq!(tracked.board, end.board);
    assert_eq!(tracked.state, evaluator.begin(end.board));
}

#[test]
fn states_of_the_largest_patterns_follow_moves() {
    // On the way, two times the value of the last digit does not fit 16 bits.
    let patterns = ["a1 b1 c1 d1 e1 f1 g1 h1 b2 g2", "a1 b1 c1 d1 e1 a2 b2 c2 d2 e2"];
    for seed in 0..20 {
        check_states(&evaluator::<Square8>(&patterns, Goal::Most, seed), seed);
    }
}
