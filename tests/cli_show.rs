//! `outflank show`: what a person sees of a model.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use outflank::eval::linear::{Between, Feature, Features, Options};
use outflank::game::Square6;
use outflank::model::Weights;
use outflank::store::model_file::ModelFile;
use serde_json::json;

const NET: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/checkpoints/6x6");

fn show(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_outflank"));
    command.current_dir(folder).arg("show").args(arguments);
    command.output().expect("the program starts")
}

fn text(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn has_all(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "no `{part}` in\n{text}");
    }
}

#[test]
fn a_net_is_shown_with_its_size_its_card_and_the_start_position() {
    let folder = tempfile::tempdir().expect("a folder");
    let shown = text(&show(folder.path(), &[NET, "--svg", "net.svg"]));
    has_all(
        &shown,
        &[
            "kind        net\n",
            "board       6x6, goal most\n",
            "size        4 blocks of 64 channels\n",
            "/checkpoints/6x6/README.md\n",
            " % for the side to move, ",
            "policy at the start, % (c2 b3 e4 d5)",
        ],
    );
    let picture = fs::read_to_string(folder.path().join("net.svg")).expect("a picture");
    assert_eq!(picture.matches("stroke=\"#bbbbbb\"").count(), 36);
}

#[test]
fn a_linear_model_is_shown_by_stage() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("model.safetensors");
    let options = Options {
        features: vec![Feature::Parity, Feature::Mobility, Feature::Classes],
        between: Between::Interpolated,
    };
    let count = Features::<Square6>::new(&options.features).expect("features").count();
    let mut model = Weights::default();
    let weights = (0..2 * count).map(|index| index as f32 / 4.0).collect();
    model.insert("weights", vec![2, count], weights);
    model.insert("discs", vec![2], vec![12.0, 30.0]);
    model.insert("win_scale", vec![1], vec![6.0]);
    let description = json!({
        "kind": "linear", "shape": "6x6", "options": options, "goal": "most", "positions": 5,
        "steps": 2
    });
    let file = ModelFile::seal(&description, &model.to_bytes(&Default::default()));
    file.expect("a model file").write(&path).expect("a file");
    let shown = text(&show(folder.path(), &["model.safetensors", "--svg", "model.svg"]));
    has_all(
        &shown,
        &[
            "kind        linear\n",
            "trained     2 steps, 5 positions\n",
            " discs     parity   mobility\n",
            "    12      0.000      0.250\n",
            "    30      2.000      2.250\n",
            "weights of the squares at 12 discs\n",
            "weights of the squares at 30 discs\n",
        ],
    );
    // The corners are the first class.
    has_all(&shown, &[" 1   0.50   0.75   1.00   1.00   0.75   0.50\n"]);
    let picture = fs::read_to_string(folder.path().join("model.svg")).expect("a picture");
    assert_eq!(picture.matches("stroke=\"#bbbbbb\"").count(), 3 * 36);
}

#[test]
fn a_model_without_weights_of_squares_has_a_curve_for_each_feature() {
    let folder = tempfile::tempdir().expect("a folder");
    let model = concat!(env!("CARGO_MANIFEST_DIR"), "/checkpoints/perversi");
    text(&show(folder.path(), &[model, "--svg", "model.svg"]));
    let picture = fs::read_to_string(folder.path().join("model.svg")).expect("a picture");
    assert_eq!(picture.matches("<polyline").count(), 8);
    has_all(&picture, &[">corners</text>", ">parity</text>"]);
}

#[test]
fn a_model_that_is_not_there_is_one_error() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = show(folder.path(), &["nowhere"]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr.starts_with("error: ") && stderr.contains("nowhere"), "{stderr}");
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
}
