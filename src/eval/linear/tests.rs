//! Tests of the linear evaluator against plain, slow code.

use proptest::prelude::*;

use super::*;
use crate::eval::testing::{check_states, linear_weights, random_game};
use crate::game::{Shape, Square, Square6, Square8, Symmetry};

/// A board as a grid: 1 for a disc of the side to move, -1 for the opponent's, 0 for an empty
/// square, `None` where there is no square.
type Grid = Vec<Vec<Option<i32>>>;

fn grid<G: Geometry>(board: Board<G>) -> Grid {
    let layout = G::SHAPE.layout();
    let mut grid = vec![vec![None; layout.width]; layout.width];
    for square in (0..G::SQUARES as u8).map(Square) {
        let cell = layout.cell_of[square.index()] as usize;
        let has = |set: G::Bitboard| SquareSet::<G>(set).contains(square) as i32;
        grid[cell / layout.width][cell % layout.width] = Some(has(board.mine) - has(board.theirs));
    }
    grid
}

/// The disc of a cell, if there is such a cell and it has a square.
fn cell(grid: &Grid, row: i32, column: i32) -> Option<i32> {
    let line = grid.get(usize::try_from(row).ok()?)?;
    *line.get(usize::try_from(column).ok()?)?
}

/// The eight images of a cell.
fn images(width: i32, row: i32, column: i32) -> [(i32, i32); 8] {
    let (down, right) = (width - 1 - row, width - 1 - column);
    let half = [(row, column), (row, right), (down, column), (down, right)];
    let turned = half.map(|(row, column)| (column, row));
    [half, turned].concat().try_into().expect("eight images")
}

/// The features, counted cell by cell.
fn plain_features<G: Geometry>(board: Board<G>) -> Vec<f32> {
    let grid = grid(board);
    let width = grid.len() as i32;
    let cells = || (0..width).flat_map(|row| (0..width).map(move |column| (row, column)));
    let discs = |of: i32| cells().filter(|&(r, c)| cell(&grid, r, c) == Some(of)).count() as f32;
    let squares = || (0..G::SQUARES as u8).map(Square);
    let moves = |board: Board<G>| squares().filter(|&at| board.play(at).is_some()).count() as f32;
    let is_beside = |&(row, column): &(i32, i32), of: i32| {
        let steps = (-1..=1).flat_map(|down| (-1..=1).map(move |right| (down, right)));
        cell(&grid, row, column) == Some(0)
            && steps.into_iter().any(|(d, r)| cell(&grid, row + d, column + r) == Some(of))
    };
    let frontier = |of: i32| cells().filter(|at| is_beside(at, of)).count() as f32;
    let mut found = vec![
        1.0,
        moves(board) - moves(board.pass()),
        frontier(1) - frontier(-1),
        if discs(0) as i32 % 2 == 1 { 1.0 } else { -1.0 },
        discs(1) - discs(-1),
    ];
    let mut seen = Vec::new();
    for (row, column) in cells().filter(|&(row, column)| cell(&grid, row, column).is_some()) {
        if !seen.contains(&(row, column)) {
            let mut class = images(width, row, column).to_vec();
            class.sort_unstable();
            class.dedup();
            let sum = class.iter().filter_map(|&(r, c)| cell(&grid, r, c)).sum::<i32>();
            found.push(sum as f32);
            seen.extend(class);
        }
    }
    found
}

/// The weight of a feature at a number of discs, in discs.
fn plain_weight(model: &Weights, feature: usize, discs: f32) -> f32 {
    let numbers = |name: &str| &model.array(name).expect("an array").values;
    let (stages, weights) = (numbers("discs"), numbers("weights"));
    let weight = |stage: usize| weights[stage * (weights.len() / stages.len()) + feature];
    let last = stages.len() - 1;
    if discs <= stages[0] {
        return weight(0);
    }
    for stage in 0..last {
        let (low, high) = (stages[stage], stages[stage + 1]);
        if (low..=high).contains(&discs) {
            let part = (discs - low) / (high - low);
            return (1.0 - part) * weight(stage) + part * weight(stage + 1);
        }
    }
    weight(last)
}

fn plain_value<G: Geometry>(model: &Weights, goal: Goal, board: Board<G>) -> f32 {
    let most = G::SQUARES as f32;
    if board.is_over() {
        return board.final_score(goal) as f32;
    }
    let weight = |feature| plain_weight(model, feature, board.discs() as f32);
    let features = plain_features(board);
    let terms = features.iter().enumerate().map(|(index, feature)| feature * weight(index));
    terms.sum::<f32>().clamp(-most, most)
}

fn agrees_with_plain_code<G: Geometry>(seed: u64, goal: Goal) {
    let model = linear_weights::<G>(seed);
    let linear = Linear::<G>::new(goal, &model).expect("weights that fit");
    for board in random_game::<G>(seed) {
        let features = linear.features.of(board);
        let (used, unused) = features.split_at(linear.features.count());
        assert_eq!(used, plain_features(board), "{board:?}");
        assert!(unused.iter().all(|&feature| feature == 0.0), "{board:?}");
        let (found, wanted) = (linear.score(board), plain_value(&model, goal, board));
        assert!((found - wanted).abs() < 0.02, "{board:?}: {found} instead of {wanted}");
        for symmetry in Symmetry::ALL {
            assert_eq!(linear.value(symmetry.board(board)), linear.value(board), "{board:?}");
        }
    }
    check_states(&linear, seed);
}

/// The model with the weights of only the constant and the parity, or of all others.
fn part_of<G: Geometry>(model: &Weights, only_constant_and_parity: bool) -> Linear<G> {
    let mut model = model.clone();
    let mut array = model.array("weights").expect("weights").clone();
    let count = array.shape[1];
    for (index, weight) in array.values.iter_mut().enumerate() {
        if [0, 3].contains(&(index % count)) != only_constant_and_parity {
            *weight = 0.0;
        }
    }
    model.insert("weights", array.shape, array.values);
    Linear::new(Goal::Most, &model).expect("weights that fit")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn values_agree_with_plain_code(seed in any::<u64>()) {
        for (shape, goal) in Shape::ALL.into_iter().zip([Goal::Most, Goal::Fewest].into_iter().cycle()) {
            dispatch!(shape, G => agrees_with_plain_code::<G>(seed, goal));
        }
    }

    #[test]
    fn passing_changes_the_sign_of_all_but_constant_and_parity(seed in any::<u64>()) {
        let model = linear_weights::<Square8>(seed);
        let [same, opposite] = [true, false].map(|part| part_of::<Square8>(&model, part));
        for board in random_game::<Square8>(seed).into_iter().filter(|board| !board.is_over()) {
            prop_assert_eq!(same.value(board), same.value(board.pass()));
            prop_assert_eq!(opposite.value(board), -opposite.value(board.pass()));
        }
    }
}

#[test]
fn each_shape_has_its_number_of_features() {
    let count = |shape| dispatch!(shape, G => Features::<G>::new().count());
    assert_eq!(Shape::ALL.map(count), [15, 11, 15, 18, 19]);
}

#[test]
fn the_scale_of_win_probabilities_is_the_models() {
    let linear = Linear::<Square6>::new(Goal::Most, &linear_weights::<Square6>(1)).expect("fits");
    assert_eq!(linear.win_scale(), WinScale(4.5));
    assert_eq!(linear.win_scale().chance(0.0), 0.5);
    assert!((linear.win_scale().chance(4.5) - 0.731_058_6).abs() < 1e-6);
}

#[test]
fn errors_name_array_place_number_and_what_is_allowed() {
    let message = |change: &dyn Fn(&mut Weights)| {
        let mut model = linear_weights::<Square8>(1);
        change(&mut model);
        Linear::<Square8>::new(Goal::Most, &model).expect_err("a bad model").to_string()
    };
    let with = |name: &'static str, shape: &'static [usize], values: &[f32]| {
        let values = values.to_vec();
        message(&move |model| model.insert(name, shape.to_vec(), values.clone()))
    };
    assert_eq!(
        message(&|model| *model = Weights::default()),
        "array `discs` is missing; its shape must be [stages], with 1 to 64 stages"
    );
    assert_eq!(
        with("bias", &[1], &[0.0]),
        "unknown array `bias`; allowed: weights, discs, win_scale"
    );
    assert_eq!(
        with("discs", &[0], &[]),
        "array `discs` has shape [0]; allowed: [stages], with 1 to 64 stages"
    );
    assert_eq!(
        with("discs", &[2], &[20.0, 20.0]),
        "array `discs` has 20 at index 1; allowed: more than 20, the number before it"
    );
    for (bad, shown) in [(0.0, "0"), (65.0, "65"), (7.5, "7.5"), (f32::NAN, "NaN")] {
        assert_eq!(
            with("discs", &[1], &[bad]),
            format!("array `discs` has {shown} at index 0; allowed: whole numbers from 1 to 64")
        );
    }
    assert_eq!(
        with("discs", &[2], &[20.0, 30.0]),
        "array `weights` has shape [3, 15]; allowed: [2, 15]"
    );
    let mut weights = vec![0.0; 45];
    weights[17] = f32::INFINITY;
    assert_eq!(
        with("weights", &[3, 15], &weights),
        "array `weights` has inf at index 17; allowed: -1000000 to 1000000"
    );
    for (bad, shown) in [(0.0, "0"), (-1.0, "-1"), (f32::INFINITY, "inf"), (f32::NAN, "NaN")] {
        assert_eq!(
            with("win_scale", &[1], &[bad]),
            format!("array `win_scale` has {shown} at index 0; allowed: a finite number above 0")
        );
    }
}
