//! Tests of the linear evaluator against plain, slow code.

mod plain_corners;

use plain_corners::{at_disc, plain_beside_corners, plain_corners, plain_runs};
use proptest::prelude::*;

use super::*;
use crate::eval::testing::{check_states, linear_weights, linear_weights_of, random_game};
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

/// The images of a cell under the two mirrors.
fn mirror_images(width: i32, row: i32, column: i32) -> [(i32, i32); 4] {
    let (down, right) = (width - 1 - row, width - 1 - column);
    [(row, column), (row, right), (down, column), (down, right)]
}

/// For each class of squares the discs of the side to move minus those of the opponent, counted cell
/// by cell. `images` are the cells of a cell's class.
fn plain_classes(grid: &Grid, images: impl Fn(i32, i32) -> Vec<(i32, i32)>) -> Vec<f32> {
    let width = grid.len() as i32;
    let cells = (0..width).flat_map(|row| (0..width).map(move |column| (row, column)));
    let (mut found, mut seen) = (Vec::new(), Vec::new());
    for (row, column) in cells.filter(|&(row, column)| cell(grid, row, column).is_some()) {
        if !seen.contains(&(row, column)) {
            let mut class = images(row, column);
            class.sort_unstable();
            class.dedup();
            found.push(class.iter().filter_map(|&(r, c)| cell(grid, r, c)).sum::<i32>() as f32);
            seen.extend(class);
        }
    }
    found
}

/// The discs that turn, summed over the legal moves of the side to move; each ray is walked.
fn plain_flips(grid: &Grid) -> f32 {
    let width = grid.len() as i32;
    let steps = || (-1..=1).flat_map(|down| (-1..=1).map(move |right| (down, right)));
    let flips = |row: i32, column: i32, (down, right): (i32, i32)| {
        let at = |n: i32| cell(grid, row + n * down, column + n * right);
        let length = (1..).take_while(|&n| at(n) == Some(-1)).count() as i32;
        if at(length + 1) == Some(1) { length } else { 0 }
    };
    let cells = (0..width).flat_map(|row| (0..width).map(move |column| (row, column)));
    let empty = cells.filter(|&(row, column)| cell(grid, row, column) == Some(0));
    empty.flat_map(|(r, c)| steps().map(move |step| flips(r, c, step))).sum::<i32>() as f32
}

/// The numbers of a feature, counted cell by cell.
fn plain_feature<G: Geometry>(feature: Feature, board: Board<G>) -> Vec<f32> {
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
    match feature {
        Feature::Constant => vec![1.0],
        Feature::Mobility => vec![moves(board) - moves(board.pass())],
        Feature::Frontier => vec![frontier(1) - frontier(-1)],
        Feature::Parity => vec![if discs(0) as i32 % 2 == 1 { 1.0 } else { -1.0 }],
        Feature::Discs => vec![discs(1) - discs(-1)],
        Feature::Flippable => {
            vec![plain_flips(&self::grid(board.pass())) - plain_flips(&grid)]
        }
        Feature::DiscShare => vec![(discs(1) - discs(-1)) / (discs(1) + discs(-1))],
        Feature::MobilityShare => {
            let is_fringe = |at: &(i32, i32)| is_beside(at, 1) || is_beside(at, -1);
            let fringe = cells().filter(is_fringe).count();
            vec![(moves(board) - moves(board.pass())) / fringe.max(1) as f32]
        }
        Feature::Corners => {
            let owned =
                |of: i32| plain_corners(&grid).filter(|&at| at_disc(&grid, at) == of).count();
            vec![(owned(1) as f32 - owned(-1) as f32) / plain_corners(&grid).count() as f32]
        }
        Feature::BesideEmptyCorners => vec![plain_beside_corners(&grid, |_| 0)],
        Feature::BesideOwnCorners => vec![plain_beside_corners(&grid, |own| own)],
        Feature::CornerRuns => vec![plain_runs(&grid)],
        Feature::Classes => plain_classes(&grid, |r, c| images(width, r, c).to_vec()),
        Feature::MirrorClasses => plain_classes(&grid, |r, c| mirror_images(width, r, c).to_vec()),
    }
}

fn plain_features<G: Geometry>(list: &[Feature], board: Board<G>) -> Vec<f32> {
    list.iter().flat_map(|&feature| plain_feature(feature, board)).collect()
}

/// The weight of a feature at a number of discs, in discs.
fn plain_weight(model: &Weights, between: Between, feature: usize, discs: f32) -> f32 {
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
            let part = match between {
                Between::Interpolated => (discs - low) / (high - low),
                Between::Larger if discs == low => 0.0,
                Between::Larger => 1.0,
            };
            return (1.0 - part) * weight(stage) + part * weight(stage + 1);
        }
    }
    weight(last)
}

fn plain_value<G: Geometry>(
    model: &Weights,
    options: &Options,
    goal: Goal,
    board: Board<G>,
) -> f32 {
    let most = G::SQUARES as f32;
    if board.is_over() {
        return board.final_score(goal) as f32;
    }
    let weight = |feature| plain_weight(model, options.between, feature, board.discs() as f32);
    let features = plain_features(&options.features, board);
    let terms = features.iter().enumerate().map(|(index, feature)| feature * weight(index));
    terms.sum::<f32>().clamp(-most, most)
}

fn agrees_with_plain_code<G: Geometry>(seed: u64, options: &Options, goal: Goal) {
    let count = Features::<G>::new(&options.features).expect("features").count();
    let model = linear_weights_of(count, seed);
    let linear = Linear::<G>::new(goal, options, &model).expect("weights that fit");
    for board in random_game::<G>(seed) {
        let features = linear.features.of(board);
        assert_eq!(features, plain_features(&options.features, board), "{board:?}");
        let (found, wanted) = (linear.score(board), plain_value(&model, options, goal, board));
        assert!((found - wanted).abs() < 0.02, "{board:?}: {found} instead of {wanted}");
        let symmetries: &[Symmetry] = match options.features.contains(&Feature::MirrorClasses) {
            true => &Symmetry::ALL[..4],
            false => &Symmetry::ALL,
        };
        for symmetry in symmetries {
            assert_eq!(linear.value(symmetry.board(board)), linear.value(board), "{board:?}");
        }
    }
    check_states(&linear, seed);
}

/// The options of models without options, those of Engel's models and those of Perversi's.
fn some_options() -> [Options; 3] {
    use Feature::{
        BesideEmptyCorners, BesideOwnCorners, Constant, CornerRuns, Corners, DiscShare, Flippable,
        Frontier, MirrorClasses, Mobility, MobilityShare, Parity,
    };
    let engel = vec![Parity, Mobility, Frontier, Flippable, MirrorClasses];
    let about_corners = [Corners, BesideEmptyCorners, BesideOwnCorners, CornerRuns];
    let perversi = [[DiscShare, MobilityShare, Constant, Parity], about_corners].concat();
    let of = |features| Options { features, between: Between::Larger };
    [Options::default(), of(engel), of(perversi)]
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
    Linear::new(Goal::Most, &Options::default(), &model).expect("weights that fit")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn values_agree_with_plain_code(seed in any::<u64>()) {
        for (shape, goal) in Shape::ALL.into_iter().zip([Goal::Most, Goal::Fewest].into_iter().cycle()) {
            for options in some_options() {
                dispatch!(shape, G => agrees_with_plain_code::<G>(seed, &options, goal));
            }
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
    let count = |shape| dispatch!(shape, G => Features::<G>::default().count());
    assert_eq!(Shape::ALL.map(count), [15, 11, 15, 18, 19]);
    // The 26 features of Engel's paper on 88 squares.
    let [_, engel, _] = some_options();
    let count =
        |shape| dispatch!(shape, G => Features::<G>::new(&engel.features).map(|f| f.count()));
    assert_eq!(count(Shape::Octagon88), Ok(26));
}

#[test]
fn options_that_do_not_fit_are_refused() {
    let message = |options: serde_json::Value| {
        let mut description =
            crate::eval::testing::description::<Square8>(crate::model::Kind::Linear);
        description.options = options;
        let error = Linear::<Square8>::read(&description, &linear_weights::<Square8>(1));
        error.expect_err("bad options").to_string()
    };
    let with = |features: serde_json::Value| {
        message(serde_json::json!({"features": features, "between": "larger"}))
    };
    let start = "the options of the model: ";
    let none = format!("{start}there are no features; at least one is needed");
    assert_eq!(with([""; 0][..].into()), none);
    let two = format!("{start}only one of `classes` and `mirror-classes` can be used");
    assert_eq!(with(["classes", "mirror-classes"][..].into()), two);
    assert_eq!(
        with(["discs", "discs"][..].into()),
        format!("{start}feature `discs` is given twice")
    );
    let unknown = with(["tempo"][..].into());
    assert!(unknown.contains("`tempo`") && unknown.contains("`mobility`"), "{unknown}");
    let missing = message(serde_json::json!({"features": ["discs"]}));
    assert!(missing.contains("`between`"), "{missing}");
    let unread = message(serde_json::json!({"features": ["discs"], "between": "larger", "x": 1}));
    assert!(unread.contains("`x`"), "{unread}");
}

#[test]
fn the_scale_of_win_probabilities_is_the_models() {
    let linear =
        Linear::<Square6>::new(Goal::Most, &Options::default(), &linear_weights::<Square6>(1))
            .expect("fits");
    assert_eq!(linear.win_scale(), WinScale(4.5));
    assert_eq!(linear.win_scale().chance(0.0), 0.5);
    assert!((linear.win_scale().chance(4.5) - 0.731_058_6).abs() < 1e-6);
}

#[test]
fn errors_name_array_place_number_and_what_is_allowed() {
    let message = |change: &dyn Fn(&mut Weights)| {
        let mut model = linear_weights::<Square8>(1);
        change(&mut model);
        Linear::<Square8>::new(Goal::Most, &Options::default(), &model)
            .expect_err("a bad model")
            .to_string()
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
