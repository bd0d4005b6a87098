//! Tests of the learner as a whole, on the smallest board.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use super::*;
use crate::game::{Square6, Square8};

const PATTERNS: [&str; 4] =
    ["a1 b1 c1 d1 e1 f1 b2 e2", "a1 b1 c1 a2 b2 c2", "a2 b2 c2 d2 e2 f2", "a3 b3 c3 d3 e3 f3"];

fn options() -> Options {
    Options {
        patterns: PATTERNS.map(String::from).into(),
        first_lines: 2000,
        first_solved: 8,
        second_lines: 160,
        solved: 9,
        probable: 11,
        confidence: 90.0,
        rounds: 1,
        games: 160,
        last_games: 160,
        depth: 2,
        opening: 12,
        steps: 10,
        probcut_boards: 12,
        probcut_depth: 6,
        ..Options::default()
    }
}

/// Trains some units in a pool of `threads`, and says how the last one went.
fn train(
    learner: &mut EndgameLearner<Square6>,
    units: std::ops::Range<u64>,
    folder: &Path,
    threads: usize,
) -> UnitReport {
    let (stop, silent) = (AtomicBool::new(false), |_: f64| ());
    let context = UnitContext::new(folder, &stop, &silent);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
    let reports = units.map(|unit| {
        let report = pool.install(|| learner.train_unit(unit, &context));
        report.expect("a unit").expect("not stopped")
    });
    reports.last().expect("a unit")
}

#[test]
fn errors_fall_and_a_resumed_run_ends_in_the_same_model() {
    let (whole, broken) =
        (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    let new = |goal| EndgameLearner::<Square6>::new(&options(), goal, 3).expect("a learner");
    let mut learner = new(Goal::Most);
    let all = learner.units();
    assert_eq!(all, 25);
    let report = train(&mut learner, 0..all - 1, whole.path(), 2);
    train(&mut learner, all - 1..all, whole.path(), 2);
    let error =
        report.curves.iter().find(|(name, _)| name == "pattern_error/10_empties").expect("errors");
    // The mean size of the scores themselves is above 10 discs.
    assert!(error.1 < 6.0, "{report:?}");
    let mut first = new(Goal::Most);
    train(&mut first, 0..13, broken.path(), 1);
    let mut second = new(Goal::Most);
    second.load(&first.state(), 13).expect("a state");
    train(&mut second, 13..all, broken.path(), 1);
    assert!(second.model() == learner.model(), "another model");
}

#[test]
fn a_unit_that_is_stopped_changes_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut learner =
        EndgameLearner::<Square6>::new(&options(), Goal::Fewest, 1).expect("a learner");
    train(&mut learner, 0..8, folder.path(), 2);
    let before = learner.model();
    let (stop, silent) = (AtomicBool::new(true), |_: f64| ());
    let context = UnitContext::new(folder.path(), &stop, &silent);
    for unit in [8, 15] {
        assert_eq!(learner.train_unit(unit, &context).expect("no failure"), None);
        assert!(learner.model() == before);
    }
}

#[test]
fn a_run_goes_on_without_labels_that_are_cut_off() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut learner = EndgameLearner::<Square6>::new(&options(), Goal::Most, 1).expect("a learner");
    train(&mut learner, 0..7, folder.path(), 2);
    let (stop, silent) = (AtomicBool::new(false), |_: f64| ());
    let context = UnitContext::new(folder.path(), &stop, &silent);
    let path = labels::file(context.folder(), 0, 2);
    let bytes = std::fs::read(&path).expect("a file");
    std::fs::write(&path, &bytes[..bytes.len() / 2]).expect("written");
    let report = learner.train_unit(7, &context).expect("no failure").expect("not stopped");
    assert!(report.curves.iter().any(|(name, _)| name == "pattern_error/training"));
}

#[test]
fn patterns_must_fit_the_board() {
    let error = |pattern: &str| {
        let options = Options { patterns: vec![pattern.into()], ..Options::default() };
        let learner = EndgameLearner::<Square6>::new(&options, Goal::Most, 1);
        learner.err().expect("patterns that do not fit").to_string()
    };
    assert!(error("a1 g1").contains("`g1` is no square of this board"));
    assert!(
        error("a1 a1").contains("endgame.patterns: pattern 1 (`a1 a1`): square a1 is named twice")
    );
    EndgameLearner::<Square8>::new(&Options::default(), Goal::Most, 1)
        .expect("the default patterns");
}
