//! Tests of the formats that do not come back as games: OBF, CSV and NumPy.

use std::fs::File;
use std::io::Read as _;

use super::*;
use crate::eval::{AnyEvaluator, Discs};
use crate::game::notation::parse_obf;
use crate::game::{Colour, Octagon88, Shape, Square6, Square7, Square8};
use crate::net::{Encoding, InputEvaluator, Inputs, NetSpec, TowerOptions};
use crate::predict::Input;
use crate::store::import::tests::{random_game, written};

#[test]
fn obf_has_each_position_with_its_proven_move() {
    let mut game = random_game::<Square6>(1, Goal::Most, 60, false);
    let positions = game.record.replay::<Square6>().expect("a game");
    let count = game.record.moves.len();
    let (score, last) = (game.record.score as i8, positions[count - 1]);
    let own = |side: Colour| if side == Colour::Black { score } else { -score };
    // The last two moves keep the score of the game, the third last does not.
    for (played, position) in game.record.moves.iter_mut().zip(&positions).skip(count - 2) {
        played.exact = Some(own(position.side));
    }
    game.record.moves[count - 3].exact = Some(own(positions[count - 3].side) + 2);
    let text = String::from_utf8(written(TextFormat::Obf, &[game.clone()])).expect("text");
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines.len(), count);
    for (index, line) in lines.iter().enumerate() {
        let found = parse_obf::<Square6>(line).expect("a position");
        assert_eq!(found.position, positions[index]);
        let played = game.record.moves[index].square;
        let wanted =
            (index >= count - 2).then(|| (Some(played), own(positions[index].side).into()));
        assert_eq!(found.scores, wanted.into_iter().collect::<Vec<_>>(), "{line}");
    }
    assert!(lines[count - 1].ends_with(&format!(":{:+};", own(last.side))));
}

#[test]
fn csv_has_a_row_for_each_game_with_quoted_names() {
    let mut game = random_game::<Square8>(2, Goal::Most, 60, true);
    game.black = Some("Doe, \"J\"".into());
    game.date = Some("1999.12.31".into());
    let cut = random_game::<Square8>(3, Goal::Most, 5, false);
    let bytes = written(TextFormat::Csv, &[game.clone(), cut]);
    let mut rows = csv::Reader::from_reader(&bytes[..]);
    let head = rows.headers().expect("a head").clone();
    let at = |name: &str| head.iter().position(|column| column == name).expect("a column");
    let rows: Vec<_> = rows.records().map(|row| row.expect("a row")).collect();
    assert_eq!(rows.len(), 2);
    let first = |name: &str| rows[0][at(name)].to_string();
    assert_eq!((first("black"), first("year")), ("Doe, \"J\"".into(), "1999".into()));
    assert_eq!(first("score"), game.record.score.to_string());
    assert_eq!((first("source"), first("worker")), ("match".into(), "w-1".into()));
    assert_eq!(first("moves"), transcript::<Square8>(game.squares()));
    assert_eq!((&rows[1][at("ending")], &rows[1][at("score")]), ("unfinished", ""));
    assert_eq!(&rows[1][at("length")], "5");
}

/// An array of a file, as its shape and its numbers.
fn array<T: npyz::Deserialize>(path: &std::path::Path, name: &str) -> (Vec<u64>, Vec<T>) {
    let mut zip = zip::ZipArchive::new(File::open(path).expect("a file")).expect("an archive");
    let mut bytes = Vec::new();
    let mut entry = zip.by_name(&format!("{name}.npy")).expect("an array");
    entry.read_to_end(&mut bytes).expect("readable");
    let file = npyz::NpyFile::new(&bytes[..]).expect("an array");
    (file.shape().to_vec(), file.into_vec().expect("numbers"))
}

fn check_arrays<G: Geometry>(planes: Planes) {
    let folder = tempfile::tempdir().expect("a folder");
    let spec = planes.spec(G::SHAPE);
    let games: Vec<_> = (0..3).map(|it| random_game::<G>(it, Goal::Fewest, 90, true)).collect();
    let mut writer = NpzWriter::new(folder.path(), planes, 70).expect("a writer");
    for game in &games {
        writer.write(game).expect("writable").expect("a finished game");
    }
    let cut = random_game::<G>(9, Goal::Most, 5, false);
    assert_eq!(writer.write(&cut).expect("writable"), Err(LeftOut::NoResult));
    let other = random_game::<Square7>(9, Goal::Most, 90, false);
    assert_eq!(writer.write(&other).expect("writable"), Err(LeftOut::OtherBoard));
    let (files, positions) = writer.finish().expect("writable");
    let encoding = Encoding::new(&spec);
    let (planes, cells) = (encoding.planes, G::SHAPE.layout().cells());
    let width = G::SHAPE.layout().width as u64;
    let rows = games.iter().zip(0..).flat_map(|(game, number)| {
        let positions = game.record.replay::<G>().expect("a game");
        let moves = positions.into_iter().zip(&game.record.moves);
        moves.skip(2).map(move |(at, played)| (number, game.record.score, at, played.clone()))
    });
    let rows: Vec<(u32, i16, Position<G>, MoveRecord)> = rows.collect();
    assert_eq!((positions, files), (rows.len() as u64, rows.len().div_ceil(70) as u32));
    for (file, rows) in (1..).zip(rows.chunks(70)) {
        let path = folder.path().join(format!("positions-{file:06}.npz"));
        let count = rows.len() as u64;
        let (shape, found) = match spec.options.inputs {
            Inputs::Discs => {
                let (shape, bytes) = array::<u8>(&path, "planes");
                (shape, bytes.into_iter().map(f32::from).collect())
            }
            Inputs::Lookahead | Inputs::Evaluations => array::<f32>(&path, "planes"),
        };
        assert_eq!(shape, [count, planes as u64, width, width]);
        let (shape, policies) = array::<f32>(&path, "policies");
        assert_eq!(shape, [count, G::SQUARES as u64]);
        let (_, values) = array::<f32>(&path, "values");
        let (_, results) = array::<i8>(&path, "results");
        let (_, scores) = array::<i8>(&path, "scores");
        let (_, exact) = array::<bool>(&path, "exact");
        let (_, numbers) = array::<u32>(&path, "games");
        for (index, (number, score, at, played)) in rows.iter().enumerate() {
            let mut wanted = vec![0.0; cells * planes];
            encoding.write(&Input::new(at.board, at.board.legal()), &mut wanted, planes);
            let plane = |plane: usize| wanted.iter().skip(plane).step_by(planes);
            let own = &found[index * cells * planes..][..cells * planes];
            assert!(own.iter().eq((0..planes).flat_map(plane)));
            let own = if at.side == Colour::Black { *score } else { -*score };
            assert_eq!((numbers[index], results[index]), (*number, own.signum() as i8));
            assert_eq!(scores[index], played.exact.unwrap_or(own as i8));
            assert_eq!(exact[index], played.exact.is_some());
            assert_eq!(values[index].is_nan(), played.value.is_none());
            assert!(played.value.is_none_or(|value| value == values[index]));
            check_policy(*at, played, &policies[index * G::SQUARES..][..G::SQUARES]);
        }
    }
}

fn check_policy<G: Geometry>(at: Position<G>, played: &MoveRecord, policy: &[f32]) {
    let sum: f32 = played.policy.iter().map(|&weight| f32::from(weight)).sum();
    for (square, &weight) in at.board.legal().zip(&played.policy) {
        assert_eq!(policy[square.index()], f32::from(weight) / sum);
    }
    let total: f32 = policy.iter().sum();
    assert!((total - f32::from(u8::from(!played.policy.is_empty()))).abs() < 1e-5);
}

#[test]
fn arrays_have_the_planes_and_targets_of_each_position() {
    check_arrays::<Square6>(Planes::Of(Inputs::Discs));
    check_arrays::<Square8>(Planes::Of(Inputs::Lookahead));
    check_arrays::<Octagon88>(Planes::Of(Inputs::Discs));
    let discs = AnyEvaluator::from(Discs { goal: Goal::Most });
    let options = TowerOptions { inputs: Inputs::Evaluations, ..TowerOptions::default() };
    let evaluator = Some(InputEvaluator::new::<Square8>(&discs, "discs"));
    let shape = Shape::Square8;
    check_arrays::<Square8>(Planes::OfNet(NetSpec { shape, options, evaluator }));
}

#[test]
fn the_same_games_give_the_same_bytes_and_no_file_is_replaced() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str| {
        let folder = folder.path().join(name);
        let mut writer =
            NpzWriter::new(&folder, Planes::Of(Inputs::Lookahead), 1000).expect("a writer");
        let game = random_game::<Square8>(4, Goal::Most, 60, true);
        writer.write(&game).expect("writable").expect("a finished game");
        writer.finish().map(|_| std::fs::read(folder.join("positions-000001.npz")).expect("a file"))
    };
    let bytes = write("a").expect("writable");
    assert_eq!(write("b").expect("writable"), bytes);
    let error = write("a").expect_err("the file exists").to_string();
    assert!(error.contains("positions-000001.npz"), "{error}");
    assert_eq!(std::fs::read_dir(folder.path().join("a")).expect("a folder").count(), 1);
}
