//! `outflank export`: copies the net of a run into another folder.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

const CONFIG: &str = r#"
board = "6x6"
goal = "fewest"
[limits]
steps = 3
[net]
blocks = 1
channels = 8
[search]
simulations = 4
solve_empties = 8
[selfplay]
games_per_actor = 16
[replay]
min_positions = 200
[learner]
batch = 32
steps_per_publish = 1
[evaluation]
every_minutes = 0
"#;

fn outflank(arguments: &[&str], folder: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_outflank"))
        .args(arguments)
        .current_dir(folder)
        .output()
        .expect("the program runs")
}

#[track_caller]
fn assert_success(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[track_caller]
fn assert_failure(output: &Output, message: &str) {
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains(message), "{text}");
}

#[test]
fn an_exported_net_plays_like_its_checkpoint_and_is_never_overwritten() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    fs::write(folder.join("tiny.toml"), CONFIG).expect("a file");
    assert_success(&outflank(&["train", "tiny.toml", "--run-dir", "run"], folder));
    assert_success(&outflank(&["export", "run", "checkpoints/6x6-fewest"], folder));

    let net = folder.join("checkpoints/6x6-fewest");
    let card = fs::read_to_string(net.join("README.md")).expect("a card");
    for part in ["6x6, the fewest discs win", "1 blocks of 8 channels", "| 3 of 32 positions |"] {
        assert!(card.contains(part), "no `{part}` in\n{card}");
    }
    // The card names the machine that trained the net, not the one that exports it.
    let manifest = fs::read_to_string(folder.join("run/run.json")).expect("the state of the run");
    let mut manifest: serde_json::Value = serde_json::from_str(&manifest).expect("JSON");
    assert!(manifest["machine"]["cores"].as_u64() > Some(0));
    // Without the checksum, since the text is changed here.
    manifest.as_object_mut().expect("an object").remove("crc32");
    manifest["machine"] = serde_json::json!({ "cpu": "Abacus", "cores": 3 });
    fs::write(folder.join("run/run.json"), manifest.to_string()).expect("a file");
    assert_success(&outflank(&["export", "run", "abacus"], folder));
    let card = fs::read_to_string(folder.join("abacus/README.md")).expect("a card");
    assert!(card.contains("| machine | Abacus, 3 cores, device"), "{card}");
    let config = fs::read_to_string(net.join("config.toml")).expect("a configuration");
    let origin = fs::read_to_string(folder.join("run/config.toml")).expect("its origin");
    let (_, origin) = origin.split_once('\n').expect("lines");
    let (lines, comment) = origin.split_at(config.len());
    assert!(config == lines && comment.starts_with("# crc32"), "{origin}");

    assert!(card.contains("| rating | not rated by the run |"), "{card}");

    // With the same seed, equal nets play equal games.
    let against = |net: &str| {
        let spec = ["eval", net, "--against", "greedy", "--games", "8", "--json", "--threads", "1"];
        assert_success(&outflank(&spec, folder))
    };
    assert_eq!(against("checkpoints/6x6-fewest"), against("run"));

    // The run of a checkpoint is found even if the checkpoint is given as `.`.
    let inside = fs::read_dir(folder.join("run/checkpoints")).expect("checkpoints");
    let inside = inside.last().expect("a checkpoint").expect("a checkpoint").path();
    assert_success(&outflank(&["export", ".", "../../../inside"], &inside));
    assert!(folder.join("inside/config.toml").exists());

    let again = ["export", "run", "checkpoints/6x6-fewest"];
    assert_failure(&outflank(&again, folder), "checkpoints/6x6-fewest is not empty");
    let from_net = ["export", "checkpoints/6x6-fewest", "elsewhere"];
    assert_failure(&outflank(&from_net, folder), "is a net without a run");
    assert_failure(&outflank(&["export", "nowhere", "elsewhere"], folder), "nowhere");
    assert!(!folder.join("elsewhere").exists());

    // The upper levels are the net in `checkpoints`: none comes with the program for this goal.
    let play =
        ["play", "--level", "legend", "--shape", "6x6", "--goal", "fewest", "--colour", "white"];
    let text = assert_success(&outflank(&play, folder));
    assert!(text.contains("you play white against Legend"), "{text}");
    let elsewhere = tempfile::tempdir().expect("a folder");
    assert_failure(&outflank(&play, elsewhere.path()), "needs a net for 6x6");
}

/// The card of a net has its rating, and marks its row in the list of the run's rated nets. Checked
/// for the last net and for an earlier one.
#[test]
fn the_card_has_the_rating_of_the_net_itself() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    fs::write(folder.join("tiny.toml"), CONFIG).expect("a file");
    let evaluation = [
        "evaluation.every_minutes=0.0001",
        "evaluation.games=2",
        "evaluation.simulations=4",
        "checkpoint.keep_last=1",
        "limits.steps=60",
    ];
    let set = evaluation.iter().flat_map(|key| ["--set", key]);
    let train = ["train", "tiny.toml", "--run-dir", "run"].into_iter().chain(set);
    assert_success(&outflank(&train.collect::<Vec<_>>(), folder));
    let checkpoints = fs::read_dir(folder.join("run/checkpoints")).expect("a folder");
    let mut names: Vec<_> =
        checkpoints.map(|entry| entry.expect("an entry").file_name().into_string()).collect();
    names.sort();
    assert!(names.len() > 1, "{names:?}");
    for name in [names.first(), names.last()].into_iter().flatten() {
        let name = name.as_ref().expect("text");
        let step: u64 = name.trim_start_matches("step-").parse().expect("a step");
        assert_success(&outflank(&["export", &format!("run/checkpoints/{name}"), name], folder));
        let card = fs::read_to_string(folder.join(name).join("README.md")).expect("a card");
        let rating = card.lines().find_map(|line| line.strip_prefix("| rating | "));
        let rating = rating.unwrap_or_else(|| panic!("no rating in\n{card}"));
        assert!(rating.contains(" +- "), "{card}");
        let own = format!("| **this net**, after {step} steps |");
        let row = card.lines().find(|line| line.starts_with(&own));
        assert!(row.is_some_and(|row| row.ends_with(rating)), "{card}");
        assert_eq!(card.matches("**this net**").count(), 1, "{card}");
    }
}
