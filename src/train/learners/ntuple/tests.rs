//! Tests of the learner as a whole, on the smallest board.

use std::ops::Range;
use std::sync::atomic::AtomicBool;

use super::*;
use crate::game::{Shape, Square6, Square8};

fn options(inputs: Inputs) -> Options {
    Options {
        inputs,
        hidden: 16,
        stages: 2,
        rounds: 2,
        games: 300,
        depth: 1,
        opening: 12,
        solved: 8,
        epochs: 3,
        batch: 64,
        rate: 0.01,
        ..Options::default()
    }
}

fn new(options: &Options, goal: Goal) -> NTupleLearner<Square6> {
    NTupleLearner::new(options, goal, 3).expect("a learner")
}

/// Trains some units in a pool of `threads`, and says how the last one went.
fn train(
    learner: &mut NTupleLearner<Square6>,
    units: Range<u64>,
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

fn error_with_10_empties(report: &UnitReport) -> f64 {
    let found = report.curves.iter().find(|(name, _)| name == "ntuple_error/10_empties");
    found.expect("an error").1
}

#[test]
fn errors_fall_and_a_resumed_run_ends_in_the_same_model() {
    for (inputs, goal) in [(Inputs::Tuples, Goal::Most), (Inputs::Frontier, Goal::Fewest)] {
        let options = Options { stable: true, ..options(inputs) };
        let (whole, broken) =
            (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
        let mut learner = new(&options, goal);
        let all = learner.units();
        assert_eq!(all, 8);
        let report = train(&mut learner, 0..all, whole.path(), 2);
        // The mean size of the scores themselves is above 10 discs.
        assert!(error_with_10_empties(&report) < 8.5, "{report:?}");
        let mut first = new(&options, goal);
        train(&mut first, 0..5, broken.path(), 1);
        let mut second = new(&options, goal);
        second.load(&first.state(), 5).expect("a state");
        train(&mut second, 5..all, broken.path(), 1);
        assert!(second.model() == learner.model(), "another model");
    }
}

#[test]
fn the_labels_of_another_run_teach_without_games() {
    let run = tempfile::tempdir().expect("a folder");
    train(&mut new(&options(Inputs::Moves), Goal::Most), 0..8, run.path(), 2);
    let labels = vec![run.path().display().to_string()];
    let options = Options { labels, rounds: 1, ..options(Inputs::Tuples) };
    let mut learner = new(&options, Goal::Most);
    assert_eq!(learner.units(), 1);
    let empty = tempfile::tempdir().expect("a folder");
    let report = train(&mut learner, 0..1, empty.path(), 2);
    assert!(report.games == 0 && report.positions > 10_000, "{report:?}");
    assert!(error_with_10_empties(&report) < 8.5, "{report:?}");
    assert_eq!(std::fs::read_dir(empty.path()).expect("a folder").count(), 0);
    // Labels of another goal teach the wrong game.
    let mut other = new(&options, Goal::Fewest);
    let (stop, silent) = (AtomicBool::new(false), |_: f64| ());
    let context = UnitContext::new(empty.path(), &stop, &silent);
    let error = other.train_unit(0, &context).expect_err("another goal").to_string();
    assert!(error.contains("round-01-part-1.labels"), "{error}");
}

#[test]
fn a_teacher_s_games_teach_a_net_over_patterns_the_same_after_a_break() {
    let shipped = |name: &str| format!("{}/checkpoints/{name}", env!("CARGO_MANIFEST_DIR"));
    let patterns = ["a1 b1 c1 d1 e1 f1 b2 e2", "a1 b1 c1 a2 b2 c2 a3 b3 c3", "a2 b2 c2 d2 e2 f2"];
    let options = Options {
        teacher: shipped("patterns-6x6"),
        patterns: patterns.map(String::from).into(),
        rounds: 1,
        depth: 2,
        ..options(Inputs::Patterns)
    };
    let (whole, broken) =
        (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    let mut learner = new(&options, Goal::Most);
    assert_eq!(learner.units(), 5);
    let report = train(&mut learner, 0..4, whole.path(), 2);
    assert!(error_with_10_empties(&report) < 8.5, "{report:?}");
    assert!(learner.model().array("probcut").is_none());
    train(&mut learner, 4..5, whole.path(), 2);
    assert!(learner.model().array("probcut").is_some());
    let mut first = new(&options, Goal::Most);
    train(&mut first, 0..3, broken.path(), 1);
    let mut second = new(&options, Goal::Most);
    second.load(&first.state(), 3).expect("a state");
    train(&mut second, 3..5, broken.path(), 1);
    assert!(second.model() == learner.model(), "another model");
    let refused = |teacher: String| {
        let options = Options { teacher, ..options.clone() };
        NTupleLearner::<Square6>::new(&options, Goal::Most, 1)
            .err()
            .expect("no teacher")
            .to_string()
    };
    assert!(refused(shipped("patterns-7x7")).contains("it is for 7x7"));
    assert!(refused("nowhere".into()).contains("nowhere"));
}

#[test]
fn a_model_begins_with_the_numbers_of_another_one_of_its_form() {
    let shipped = |name: &str| format!("{}/checkpoints/{name}", env!("CARGO_MANIFEST_DIR"));
    let begun = |name: &str, stages| {
        let options = Options {
            initial: shipped(name),
            patterns: crate::train::learners::endgame::edges_and_lines(),
            stages,
            ..options(Inputs::Patterns)
        };
        NTupleLearner::<Square8>::new(&options, Goal::Most, 1)
    };
    let file = load_model(Path::new(&shipped("patternnet-8x8"))).expect("a model");
    let (wanted, _) = Weights::from_bytes(file.bytes()).expect("weights");
    let model = begun("patternnet-8x8", 10).expect("a learner").model();
    for name in ["rows", "first", "output", "moves"] {
        assert!(model.array(name) == wanted.array(name), "{name}");
    }
    let refused = |name, stages| begun(name, stages).err().expect("another form").to_string();
    assert!(refused("patterns-8x8", 10).contains("kind = \"patterns\""));
    assert!(refused("patternnet-8x8", 9).contains("patternnet-8x8 cannot be learnt from"));
    assert!(refused("nowhere", 10).contains("nowhere"));
}

#[test]
fn a_run_without_labels_is_refused_before_it_begins() {
    let folder = tempfile::tempdir().expect("a folder");
    let labels = vec![folder.path().display().to_string()];
    let options = Options { labels, ..options(Inputs::Tuples) };
    let error = NTupleLearner::<Square6>::new(&options, Goal::Most, 1);
    let error = error.err().expect("no labels").to_string();
    assert!(error.contains("has no labels; allowed: the directory of a run"), "{error}");
}

#[test]
fn a_unit_that_is_stopped_changes_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut learner = new(&options(Inputs::Tuples), Goal::Most);
    train(&mut learner, 0..4, folder.path(), 2);
    let before = learner.model();
    let (stop, silent) = (AtomicBool::new(true), |_: f64| ());
    let context = UnitContext::new(folder.path(), &stop, &silent);
    assert_eq!(learner.train_unit(4, &context).expect("no failure"), None);
    // The fit alone, on labels that are there.
    assert!(learner.learn((3, 0), &context).expect("no failure").is_none());
    assert!(learner.model() == before);
}

#[test]
fn every_board_has_tuples_and_stages() {
    for shape in Shape::ALL {
        dispatch!(shape, G => {
            for inputs in [Inputs::Tuples, Inputs::Moves] {
                let options = Options { inputs, stages: 30, ..Options::default() };
                NTupleLearner::<G>::new(&options, Goal::Most, 1).expect("a learner");
            }
        });
    }
    let discs = |stages| Options { stages, ..Options::default() }.discs_of_stages(49);
    assert_eq!(discs(1), [47.0]);
    assert_eq!(discs(3), [8.0, 27.0, 47.0]);
}
