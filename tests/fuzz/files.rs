//! Files that the program writes and reads again: nets, checkpoints, games, ladders, `run.json`.

use std::fs;
use std::path::Path;

use bolero::check;
use outflank::arena::ladder::Ladder;
use outflank::dispatch;
use outflank::game::{Goal, Shape, Square6, Square8};
use outflank::model::Description;
use outflank::model::weights::{Metadata, Weights};
use outflank::net::{NetSpec, TowerOptions, inference, initial_weights};
use outflank::players::models::LoadedModel;
use outflank::store::checkpoint::Checkpoint;
use outflank::store::games::{self, GameWriter};
use outflank::store::model_file::ModelFile;
use outflank::store::run_dir::{self, RunDir};
use outflank::train::replay::{Options, Replay};
use serde_json::json;
use tempfile::TempDir;

use crate::input::Input;
use crate::limits::{is_short, within_memory};
use crate::samples::{a_game, a_ladder};

/// A folder in memory if the system has one: a target writes a file for each input.
fn folder() -> TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).expect("a folder")
}

/// The longest message, in bytes: messages of the JSON library may quote the file.
fn longest_message(bytes: &[u8]) -> usize {
    1000 + 8 * bytes.len()
}

fn some_weights() -> Weights {
    let mut weights = Weights::default();
    weights.insert("stem.weight", vec![2, 2], vec![1.0, -2.0, 0.5, 4.0]);
    weights.insert("empty", vec![0, 7], vec![]);
    weights.insert("policy.bias", vec![4], vec![0.0; 4]);
    weights
}

fn a_net() -> NetSpec {
    let options = TowerOptions { blocks: 1, channels: 4, ..TowerOptions::default() };
    NetSpec { shape: Shape::Square6, options, evaluator: None }
}

fn a_description() -> Description {
    Description { positions: 1000, steps: 10, ..a_net().description(Goal::Most) }
}

const HEADER_WORDS: &[&str] = &[
    "\"shape\":[",
    "\"F32\"",
    "\"BF16\"",
    "\"data_offsets\":[",
    "__metadata__",
    "{",
    "}",
    "\"",
    ":",
    ",",
    "outflank",
    "null",
    "[]",
    "\\\"version\\\":",
    "\\\"crc32\\\":",
];

/// Weights that were read and written give the same bytes when read and written again.
#[test]
fn weights() {
    let seeds = [some_weights().to_bytes(&Metadata::new())];
    check!().with_iterations(8000).with_type::<Input>().for_each(|input| {
        let bytes = input.bytes(&seeds, HEADER_WORDS);
        match within_memory(&bytes, || Weights::from_bytes(&bytes)) {
            Ok((weights, metadata)) => {
                let own = weights.to_bytes(&metadata);
                let (again, metadata) = Weights::from_bytes(&own).expect("its own writing");
                assert_eq!(again.to_bytes(&metadata), own);
            }
            Err(error) => is_short(&error.to_string(), longest_message(&bytes)),
        }
    });
}

/// A net that is read can be sealed again.
#[test]
fn nets() {
    let spec = serde_json::to_value(a_description()).expect("JSON");
    let net = ModelFile::seal(&spec, &some_weights().to_bytes(&Metadata::new())).expect("a net");
    let seeds = [net.bytes().to_vec()];
    check!().with_iterations(8000).with_type::<Input>().for_each(|input| {
        let bytes = input.bytes(&seeds, HEADER_WORDS);
        let parse = || ModelFile::from_bytes(bytes.clone(), Path::new("fuzz"));
        match within_memory(&bytes, parse) {
            Ok(net) => {
                let again = ModelFile::seal(net.description(), net.bytes()).expect("what was read");
                assert_eq!(again.description(), net.description());
            }
            Err(error) => is_short(&error.to_string(), 300),
        }
    });
}

/// A file with correct checksums may describe any net. It is opened only if the description fits
/// its arrays.
#[test]
fn descriptions_of_nets() {
    let description = a_description();
    let weights = initial_weights(&a_net(), 1);
    let weights = weights.to_bytes(&Metadata::new());
    let seeds = [serde_json::to_vec(&description).expect("JSON")];
    let words = ["\"paper\"", "\"resnet\"", "\"8x8\"", "\"cross92\"", "100", "1024", "true", "{"];
    let folder = folder();
    let path = folder.path().join("net.safetensors");
    check!().with_iterations(500).with_type::<Input>().for_each(|input| {
        let bytes = input.bytes(&seeds, &words);
        let Ok(spec) = serde_json::from_slice::<serde_json::Value>(&bytes) else { return };
        let sealed = ModelFile::seal(&spec, &weights).expect("weights");
        fs::write(&path, sealed.bytes()).expect("a file");
        match within_memory(sealed.bytes(), || LoadedModel::read(&path)) {
            Ok(net) if net.net() == Some(&a_net()) => {}
            Ok(net) => {
                let opened = net.backend(&inference::Options::default(), "cpu");
                let Some(NetSpec { options, .. }) = net.net() else { return };
                assert!(opened.is_err() || options.dropout != 0.0, "{options:?}");
            }
            Err(error) => is_short(&error.to_string(), longest_message(&bytes)),
        }
    });
}

/// A checkpoint that is loaded has the arrays that were written.
#[test]
fn checkpoints() {
    let weights = some_weights().to_bytes(&Metadata::new());
    let spec = serde_json::to_value(a_description()).expect("JSON");
    let checkpoint = Checkpoint {
        step: 12,
        minutes: 1.5,
        net: ModelFile::seal(&spec, &weights).expect("a net"),
        learner: Some(weights),
        state: json!({"games": 12, "positions": 700, "rates": [0.1, 1e-9]}),
        keep_net: false,
    };
    let folder = folder();
    let path = checkpoint.save(folder.path()).expect("a checkpoint");
    let names = ["net.safetensors", "learner.safetensors", "state.json"];
    let files = names.map(|name| path.join(name));
    let seeds = files.each_ref().map(|file| fs::read(file).expect("a file"));
    check!().with_iterations(4000).with_type::<Input>().for_each(|input| {
        let (bytes, which) = (input.bytes(&seeds, HEADER_WORDS), input.seed(seeds.len()));
        fs::write(&files[which], &bytes).expect("a file");
        let loaded = within_memory(&bytes, || Checkpoint::load(&path));
        fs::write(&files[which], &seeds[which]).expect("a file");
        match loaded {
            Ok(loaded) if which < 2 => assert_eq!(loaded, checkpoint),
            // An edited `state.json` may leave out the learner's file, but cannot change the net.
            Ok(loaded) => assert!(loaded.net == checkpoint.net),
            Err(error) => is_short(&error.to_string(), longest_message(&bytes)),
        }
    });
}

const FRAME_HEADER: usize = 24;

/// A frame around a record, with a correct checksum.
fn framed(record: &[u8], positions: u32) -> Vec<u8> {
    let payload = zstd::bulk::compress(record, 3).expect("a payload");
    let mut checked = vec![0; 8];
    checked.extend(positions.to_le_bytes());
    checked.extend(&payload);
    let numbers = [payload.len() as u32, crc32fast::hash(&checked)].map(u32::to_le_bytes);
    [&b"OFG1"[..], &numbers.concat(), &checked].concat()
}

/// For any bytes in a segment, its games are legal or refused, and an appended game can be read.
#[test]
fn segments_of_games() {
    let folder = folder();
    let path = folder.path().join("games-000001.ofg");
    let mut writer = GameWriter::open(folder.path()).expect("a folder of games");
    (0..3).for_each(|id| writer.append(&a_game::<Square6>(id)).expect("a game"));
    writer.append(&a_game::<Square8>(3)).expect("a game");
    drop(writer);
    let segment = fs::read(&path).expect("a segment");
    let first = u32::from_le_bytes(segment[4..8].try_into().expect("four bytes")) as usize;
    let payload = &segment[FRAME_HEADER..FRAME_HEADER + first];
    let record = zstd::bulk::decompress(payload, 1 << 20).expect("a record");
    let seeds = [segment, record];
    let next = a_game::<Square6>(99);
    check!().with_iterations(3000).with_type::<Input>().for_each(|input| {
        let mut bytes = input.bytes(&seeds, &["OFG1"]);
        if input.seed(2) == 1 {
            bytes = framed(&bytes, bytes.len() as u32 % 40);
        }
        fs::write(&path, &bytes).expect("a file");
        within_memory(&bytes, || read_games(folder.path()));
        let mut writer = GameWriter::open(folder.path()).expect("a folder of games");
        writer.append(&next).expect("a game");
        let last = games::read_all(folder.path()).expect("a folder").last();
        assert_eq!(last.expect("a game").expect("the last game"), next);
        // Saved bytes would fill the disk in a million rounds.
        for entry in fs::read_dir(folder.path()).expect("a folder") {
            let saved = entry.expect("a file").path();
            if saved != path {
                fs::remove_file(saved).expect("removable");
            }
        }
    });
}

fn read_games(folder: &Path) {
    let totals = games::totals(folder).expect("a folder");
    let mut read = 0;
    for found in games::read_all(folder).expect("a folder") {
        match found {
            Ok(record) => {
                read += 1;
                dispatch!(record.shape, G => {
                    let options = Options { max_positions: 100, ..Options::default() };
                    let added = Replay::<G>::new(&options).add(&record).is_ok();
                    assert_eq!(added, record.positions::<G>().is_ok());
                });
            }
            Err(error) => is_short(&error.to_string(), 1000),
        }
    }
    assert!(read <= totals.games);
    assert!(totals.positions <= totals.games * 92, "{totals:?}");
}

/// A ladder is read, with its unreadable lines skipped, or refused as a whole.
#[test]
fn ladders() {
    let folder = folder();
    let path = folder.path().join("ladder.jsonl");
    let seeds = [a_ladder().into_bytes()];
    let words =
        ["\n", "{\"kind\":\"ladder\",\"version\":1}\n", "null", "\"kind\":", "[", "{", "\""];
    check!().with_iterations(4000).with_type::<Input>().for_each(|input| {
        let bytes = input.bytes(&seeds, &words);
        fs::write(&path, &bytes).expect("a file");
        match within_memory(&bytes, || Ladder::open_read_only(&path)) {
            Ok(ladder) => {
                for game in ladder.all_games() {
                    let _ = game.played::<Square6>(game.first());
                    let _ = game.played::<Square8>(game.first());
                }
            }
            Err(error) => is_short(&error.to_string(), 1000),
        }
    });
}

/// A run is listed with any content of its `run.json`.
#[test]
fn manifests_of_runs() {
    let folder = folder();
    let run = folder.path().join("run");
    drop(RunDir::create(&run, "", 1).expect("a run"));
    let path = run.join("run.json");
    let seeds = [fs::read(&path).expect("a file")];
    let words = ["null", "\"stopped\"", "{", "[", "\"machine\":", "\"first_net\":", ","];
    check!().with_iterations(4000).with_type::<Input>().for_each(|input| {
        let bytes = input.bytes(&seeds, &words);
        fs::write(&path, &bytes).expect("a file");
        let listed = within_memory(&bytes, || run_dir::list(folder.path())).expect("a folder");
        assert_eq!(listed.len(), 1);
        if let Err(error) = &listed[0].manifest {
            is_short(&error.to_string(), longest_message(&bytes));
        }
    });
}
