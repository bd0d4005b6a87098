//! Model files of unknown kinds and versions, of other boards, with wrong arrays: one clear error
//! each, by every way in.

use std::path::{Path, PathBuf};
use std::process::Command;

use outflank::eval::linear::Features;
use outflank::game::{Goal, Square6};
use outflank::model::Weights;
use outflank::players::models::LoadedModel;
use outflank::players::open;
use outflank::store::model_file::ModelFile;
use serde_json::{Value, json};

fn description() -> Value {
    json!({"kind": "linear", "shape": "6x6", "goal": "most", "positions": 0, "steps": 0})
}

fn weights() -> Weights {
    let count = Features::<Square6>::default().count();
    let mut weights = Weights::default();
    weights.insert("weights", vec![2, count], vec![0.5; 2 * count]);
    weights.insert("discs", vec![2], vec![10.0, 30.0]);
    weights.insert("win_scale", vec![1], vec![6.0]);
    weights
}

fn write(folder: &Path, description: &Value, weights: &Weights) -> PathBuf {
    let path = folder.join("model.safetensors");
    let file = ModelFile::seal(description, &weights.to_bytes(&Default::default()));
    file.expect("a model file").write(&path).expect("a file");
    path
}

/// The error for a model with a change of its description and its weights.
fn error_of(change: impl Fn(&mut Value, &mut Weights)) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let (mut description, mut weights) = (description(), weights());
    change(&mut description, &mut weights);
    let path = write(folder.path(), &description, &weights);
    let error = LoadedModel::read(&path).expect_err("a bad model");
    let text = error.to_string();
    assert!(text.contains("model.safetensors"), "the file is not named: {text}");
    text
}

#[test]
fn a_model_has_an_error_that_names_the_fault() {
    let folder = tempfile::tempdir().expect("a folder");
    LoadedModel::read(&write(folder.path(), &description(), &weights())).expect("a good model");

    let error = error_of(|description, _| description["kind"] = "tree".into());
    assert!(error.contains("`tree`") && error.contains("`net`"), "{error}");
    let error = error_of(|description, _| description["shape"] = "9x9".into());
    assert!(error.contains("9x9") && error.contains("octagon88"), "{error}");
    let error = error_of(|description, _| description["goal"] = "more".into());
    assert!(error.contains("allowed: most, fewest"), "{error}");
    // The arrays of 6x6 do not fit another board.
    let error = error_of(|description, _| description["shape"] = "8x8".into());
    assert!(error.contains("array `weights` has shape [2, 11]; allowed: [2, 15]"), "{error}");
    // A linear model is no net.
    let error = error_of(|description, _| description["kind"] = "net".into());
    assert!(error.contains("description"), "{error}");

    let error = error_of(|_, weights| weights.insert("discs", vec![2], vec![30.0, 10.0]));
    assert!(error.contains("array `discs` has 10 at index 1; allowed: more than 30"), "{error}");
    let error = error_of(|_, weights| weights.insert("win_scale", vec![1], vec![0.0]));
    assert!(error.contains("array `win_scale` has 0 at index 0"), "{error}");
    let error = error_of(|_, weights| weights.insert("win_scale", vec![1], vec![f32::NAN]));
    assert!(error.contains("array `win_scale` holds NaN at index 0"), "{error}");
    let error = error_of(|_, weights| weights.insert("more", vec![0], vec![]));
    assert!(error.contains("unknown array `more`; allowed: weights, discs, win_scale"), "{error}");
    let error = error_of(|_, weights| *weights = Weights::default());
    assert!(error.contains("is missing"), "{error}");
}

#[test]
fn a_player_refuses_a_model_that_does_not_fit_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = write(folder.path(), &description(), &weights());
    let net = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/run-1");
    for (spec, goal, wanted) in [
        (format!("alphabeta:eval={}", path.display()), Goal::Fewest, "is for goal `most`"),
        (format!("alphabeta:eval={}", net.display()), Goal::Most, "kind `net`"),
        (format!("alphabeta:eval={},probcut=1.5", path.display()), Goal::Most, "probcut"),
        ("alphabeta:eval=./missing".into(), Goal::Most, "./missing"),
        (format!("policy:{}", path.display()), Goal::Fewest, "is for goal `most`"),
    ] {
        let opened = open::player::<Square6>(&spec.parse().expect("a specification"), goal);
        let error = opened.err().unwrap_or_else(|| panic!("{spec} was opened"));
        assert!(error.to_string().contains(wanted), "{spec}: {error}");
    }
}

#[test]
fn a_wrong_evaluator_ends_a_command_with_one_error() {
    let run = |eval: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_outflank"));
        let player = format!("alphabeta:depth=2,eval={eval}");
        let folder = tempfile::tempdir().expect("a folder");
        command.args(["arena", &player, "random", "--games", "2", "--ladder"]);
        command.arg(folder.path().join("ladder.jsonl"));
        let output = command.output().expect("the program runs");
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let error = run("positonal");
    assert!(error.contains("`positonal` is not allowed for key `eval`"), "{error}");
    let error = run("tests/missing");
    assert!(error.contains("tests/missing"), "{error}");
}
