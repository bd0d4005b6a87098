//! Tests of learning by temporal differences.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use super::*;
use crate::eval::linear::Feature;
use crate::eval::testing::random_game;
use crate::game::{Cross92, Shape, Square6, Square8};
use crate::search::endgame::Solver;

/// Settings for tests: few boards and shallow searches.
fn small() -> Options {
    Options { boards: 30, play_depth: 1, depth: 2, ..Options::default() }
}

fn learner<G: Geometry>(options: &Options) -> TdLearner<G> {
    TdLearner::new(options, Goal::Most, 7).expect("options that fit")
}

/// Does a unit.
fn train<G: Geometry>(learner: &mut TdLearner<G>, unit: u64) -> UnitReport {
    let (stop, silent) = (AtomicBool::new(false), |_: f64| ());
    let done = learner.train_unit(unit, &UnitContext::new(Path::new("unused"), &stop, &silent));
    done.expect("no failure").expect("a unit that was not stopped")
}

#[test]
fn the_stages_have_all_numbers_of_discs_once() {
    assert_eq!(learner::<Cross92>(&Options::default()).stages.len(), 23);
    for (shape, gap) in Shape::ALL.into_iter().flat_map(|shape| [1, 4, 5].map(|gap| (shape, gap))) {
        dispatch!(shape, G => {
            let learner = learner::<G>(&Options { gap, ..small() });
            let discs: Vec<u32> =
                (0..learner.stages.len()).flat_map(|stage| learner.discs_of(stage)).collect();
            let start = Board::<G>::start().discs();
            assert_eq!(discs, Vec::from_iter(start..G::SQUARES as u32), "{shape} {gap}");
        });
    }
}

#[test]
fn a_unit_draws_boards_of_its_stage_as_many_as_asked_for() {
    let learner = learner::<Square6>(&small());
    let (stop, silent) = (AtomicBool::new(false), |_: f64| ());
    for unit in [0, 3, 8] {
        let boards = learner.boards(unit, &UnitContext::new(Path::new("unused"), &stop, &silent));
        let boards = boards.expect("no failure").expect("boards");
        assert_eq!(boards.len(), 30);
        let discs = learner.discs_of(learner.stage_of(unit));
        for count in discs.clone() {
            let share = boards.iter().filter(|board| board.discs() == count).count();
            assert!(share >= 30 / discs.clone().count(), "{count}: {share}");
        }
        assert!(boards.iter().all(|board| discs.contains(&board.discs())));
    }
}

/// The values are checked against the sum of weights times features, and the change of the weights
/// against the rule.
#[test]
fn weights_change_by_the_rule() {
    let learner = learner::<Square8>(&small());
    let game = random_game::<Square8>(5);
    let value = |weights: &[Vec<f32>], board: Board<Square8>| {
        let stage = learner.stages.partition_point(|&discs| discs < board.discs());
        let features = learner.features.of(board);
        features.iter().zip(&weights[stage]).map(|(feature, weight)| feature * weight).sum::<f32>()
    };
    let (mut changed, mut unchanged) = (0, 0);
    for place in 0..learner.stages.len() {
        let mut stage = Stage::new(&learner, place).expect("weights that fit");
        for pair in game.windows(3).filter(|three| !three[2].is_over()) {
            let (before, after) = (pair[0], pair[2]);
            let weights = stage.weights.clone();
            stage.learn(before, after, 0.04).expect("weights that fit");
            if !learner.discs_of(place).contains(&before.discs()) {
                assert_eq!(stage.weights, weights);
                unchanged += 1;
                continue;
            }
            let error = value(&weights, after) - value(&weights, before);
            let features = learner.features.of(before);
            for (index, feature) in features.into_iter().enumerate() {
                let wanted = weights[place][index] + 0.04 * error * feature;
                let found = stage.weights[place][index];
                assert!((found - wanted).abs() < 1e-3, "{before:?}: {found} instead of {wanted}");
            }
            changed += 1;
        }
        assert_eq!(stage.weights[..place], learner.weights[..place]);
        assert_eq!(stage.weights[place + 1..], learner.weights[place + 1..]);
    }
    assert!(changed > 40 && unchanged > 40, "{changed} {unchanged}");
}

/// Two moves after its second-last board a game is over, so the last stage learns exact scores. Its
/// values must come nearer to those of perfect play.
#[test]
fn the_last_stages_learn_the_scores_of_perfect_play() {
    let options = Options { boards: 400, repeats: 3, ..small() };
    let mut learner = learner::<Square6>(&options);
    let boards: Vec<_> = (100..160)
        .flat_map(random_game::<Square6>)
        .filter(|board| (1..=4).contains(&board.empties()) && !board.legal().is_empty())
        .collect();
    let error = |learner: &TdLearner<Square6>| {
        let evaluator = learner.evaluator(&learner.weights).expect("weights that fit");
        let mut solver = Solver::<Square6>::new(Goal::Most, 1 << 16);
        let square =
            |&board: &Board<Square6>| (evaluator.score(board) - solver.score(board) as f32).powi(2);
        (boards.iter().map(square).sum::<f32>() / boards.len() as f32).sqrt()
    };
    let before = error(&learner);
    let report = train(&mut learner, 0);
    assert_eq!((report.name.as_str(), report.games), ("33 to 35 discs", 1200));
    assert!(report.positions > 0);
    let after = error(&learner);
    assert!(after < 0.8 * before, "{before} discs, then {after}");
}

#[test]
fn the_model_depends_on_the_seed_and_not_on_threads_or_restarts() {
    let options = Options { passes: 2, ..small() };
    let model = |threads: usize, seed: u64, restarts: bool| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        pool.install(|| {
            let fresh = || TdLearner::<Square6>::new(&options, Goal::Most, seed).expect("fits");
            let mut learner = fresh();
            assert_eq!(learner.units(), 18);
            for unit in 0..learner.units() {
                train(&mut learner, unit);
                if restarts {
                    let state = learner.state();
                    learner = fresh();
                    learner.load(&state, unit + 1).expect("a state that fits");
                }
            }
            learner.weights
        })
    };
    let once = model(1, 7, false);
    assert_eq!(model(2, 7, false), once);
    assert_eq!(model(2, 7, true), once);
    assert_ne!(model(2, 8, false), once);
}

#[test]
fn a_stopped_unit_changes_nothing() {
    let mut learner = learner::<Square6>(&small());
    let (stop, silent) = (AtomicBool::new(true), |_: f64| ());
    let before = learner.weights.clone();
    let done = learner
        .train_unit(0, &UnitContext::new(Path::new("unused"), &stop, &silent))
        .expect("no failure");
    assert_eq!((done, &learner.weights), (None, &before));
    // It is stopped between its games.
    let stop_later = |_: f64| stop.store(true, std::sync::atomic::Ordering::Relaxed);
    stop.store(false, std::sync::atomic::Ordering::Relaxed);
    let done = learner
        .train_unit(0, &UnitContext::new(Path::new("unused"), &stop, &stop_later))
        .expect("no failure");
    assert_eq!((done, &learner.weights), (None, &before));
}

/// The rules that Perversi's paper gives.
#[test]
fn the_first_weights_follow_the_papers_rules() {
    let at = |feature, discs| initial::weight(feature, Goal::Most, discs, 92.0);
    let all = [10.0, 30.0, 46.0, 65.0, 80.0, 92.0];
    let of = |feature| all.map(|discs| at(feature, discs));
    let discs = of(Feature::DiscShare);
    assert!(discs[0] < 0.0 && discs[2] < 0.0 && discs[5] == 92.0, "{discs:?}");
    let mobility = of(Feature::MobilityShare);
    assert!(mobility[0] > 0.0 && mobility.iter().all(|&weight| weight == mobility[0]));
    let corners = of(Feature::Corners);
    assert!(corners[2] > corners[0] && corners[2] > corners[5], "{corners:?}");
    // For the fewest discs, only moves are as good.
    let fewest = |feature| initial::weight(feature, Goal::Fewest, 46.0, 92.0);
    assert_eq!(fewest(Feature::MobilityShare), mobility[2]);
    assert_eq!(fewest(Feature::Corners), -corners[2]);
}
