//! Files that an earlier version of the program wrote still open: see `tests/data`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use outflank::game::record::Source;
use outflank::game::{Goal, Position, Shape, Square6, notation};
use outflank::model::Kind;
use outflank::net::inference;
use outflank::players::models::LoadedModel;
use outflank::predict::{Input, Predictions};
use outflank::store::games;

fn run() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/run-1")
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder") {
        let entry = entry.expect("an entry");
        let target = to.join(entry.file_name());
        match entry.path().is_dir() {
            true => copy(&entry.path(), &target),
            false => drop(fs::copy(entry.path(), target).expect("a copy")),
        }
    }
}

fn outflank(arguments: &[&str], folder: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_outflank"));
    command.args(arguments).current_dir(folder).output().expect("the program runs")
}

fn stdout(output: &Output) -> String {
    assert!(output.status.success(), "{output:?}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn a_net_is_read() {
    let net = LoadedModel::read(&run()).expect("a net");
    let description = &net.description;
    assert_eq!((description.kind, description.shape), (Kind::Net, Shape::Square6));
    assert_eq!((description.goal, description.steps), (Goal::Most, 154));
    let spec = net.net().expect("a net");
    assert_eq!((spec.blocks(), spec.channels()), (1, 4));
    // The ladder identifies the net by this.
    assert_eq!(net.weights_checksum(), "bcbfd50f");
    let mut backend = net.backend(&inference::Options::default(), "cpu").expect("a backend");
    let board = Position::<Square6>::start().board;
    let mut predictions = Predictions::default();
    backend.predict(&[Input::new(board, board.legal())], &mut predictions).expect("predictions");
    let prediction = predictions.get(0, 36);
    assert!(prediction.value.abs() < 1.0 && prediction.policy.iter().all(|x| x.is_finite()));
}

#[test]
fn games_are_read() {
    let totals = games::totals(&run().join("games")).expect("games");
    assert_eq!((totals.games, totals.positions, totals.skipped), (24, 737, 0));
    for record in games::read_all(&run().join("games")).expect("games") {
        let record = record.expect("a game");
        // Layout 1 has no sources and no workers, and all values are known.
        assert_eq!((record.source, &record.worker), (Source::SelfPlay, &None));
        assert!(record.moves.iter().all(|played| played.value.is_some()));
        let mut position = Position::<Square6>::start();
        for played in &record.moves {
            position = position.play(played.square).expect("a legal move").pass_if_forced();
        }
        let score = position.black_view().final_score(record.goal);
        let moves = record.moves.iter().map(|played| played.square);
        let moves = notation::transcript::<Square6>(moves);
        assert_eq!(score, i32::from(record.score), "{moves}");
    }
}

#[test]
fn a_run_and_its_ladder_are_listed() {
    let folder = tempfile::tempdir().expect("a folder");
    copy(&run(), &folder.path().join("run"));
    let listed = stdout(&outflank(&["runs", "--json", "run"], folder.path()));
    let listed: serde_json::Value = serde_json::from_str(&listed).expect("JSON");
    assert_eq!((&listed["state"], &listed["games"]), (&"finished".into(), &24.into()));
    let ratings =
        outflank(&["arena", "--ladder", "run/ladder.jsonl", "--shape", "6x6"], folder.path());
    let ratings = stdout(&ratings);
    assert!(ratings.contains("run@154") && ratings.contains("random"), "{ratings}");
}

#[cfg(feature = "torch")]
#[test]
fn a_run_is_resumed() {
    let folder = tempfile::tempdir().expect("a folder");
    copy(&run(), &folder.path().join("run"));
    let more = ["--quiet", "--set", "limits.games=40", "--set", "evaluation.every_minutes=0"];
    let resume = [&["train", "--resume", "--run-dir", "run"][..], &more].concat();
    stdout(&outflank(&resume, folder.path()));
    let totals = games::totals(&folder.path().join("run/games")).expect("games");
    assert!(totals.games >= 40, "{totals:?}");
    let net = LoadedModel::read(&folder.path().join("run")).expect("a net");
    assert!(net.description.steps > 154, "{:?}", net.description);
}
