//! Files of games that `outflank games` reads: WTHOR, GGF, JSON and transcripts.

use std::fs;

use bolero::check;
use outflank::game::{Goal, Shape, Square6, Square8};
use outflank::store::export::{TextFormat, TextWriter};
use outflank::store::games::GameWriter;
use outflank::store::import::{self, json};

use crate::input::Input;
use crate::limits::{is_short, within_memory};
use crate::samples::a_game;

/// The games of a run of two games on different boards, as text in a format.
fn written(format: TextFormat) -> Vec<u8> {
    let folder = tempfile::tempdir().expect("a folder");
    let mut stored = GameWriter::open(folder.path()).expect("a folder");
    stored.append(&a_game::<Square8>(1)).expect("writable");
    stored.append(&a_game::<Square6>(2)).expect("writable");
    let mut text = TextWriter::new(format, Vec::new());
    let file = &import::files(folder.path(), None).expect("games")[0];
    for found in file.games(Shape::Square8, Goal::Most).expect("games") {
        let game = found.expect("readable").game.expect("a game");
        text.write("games", &game).expect("memory").expect("the format holds it");
    }
    text.finish().expect("memory")
}

/// A WTHOR file of a game in which each move is the first legal one, and of one without moves.
fn wthor() -> Vec<u8> {
    let mut bytes = vec![20, 26, 1, 1, 2, 0, 0, 0, 0, 0, 0xd1, 7, 8, 0, 22, 0];
    let mut record = [0; 68];
    for (byte, played) in record[8..].iter_mut().zip(&a_game::<Square8>(0).moves) {
        *byte = 10 * (played.square.0 / 8 + 1) + played.square.0 % 8 + 1;
    }
    bytes.extend(record);
    bytes.extend([0; 68]);
    bytes
}

/// Every file is refused, or read as games and faults. A game is read unchanged from its own line of
/// JSON, and the other formats can hold it.
#[test]
fn files_of_games() {
    let seeds = [
        wthor(),
        written(TextFormat::Ggf),
        written(TextFormat::Json),
        written(TextFormat::Transcript),
    ];
    let words = [
        "(;",
        ";)",
        "GM[Othello]",
        "BO[8 ",
        "B[",
        "PA]",
        "\\",
        "\n",
        "{",
        "}",
        "[",
        "]",
        "null",
        "\"score\":",
        "\"values\":[",
        "\"start\":\"",
        "f5d6",
        "start",
        "#",
        "e-9",
    ];
    let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
    let folder = folder.expect("a folder");
    check!().with_iterations(4000).with_type::<Input>().for_each(|input| {
        let bytes = input.bytes(&seeds, &words);
        for name in ["a.wtb", "a.ggf", "a.json", "a.txt"] {
            let path = folder.path().join(name);
            fs::write(&path, &bytes).expect("writable");
            let file = &import::files(&path, None).expect("a file")[0];
            let read = || match file.games(Shape::Square8, Goal::Most) {
                Ok(games) => games.collect::<Result<Vec<_>, _>>(),
                Err(error) => Err(error),
            };
            let longest = 1000 + 8 * bytes.len();
            match within_memory(&bytes, read) {
                Err(error) => is_short(&error.to_string(), longest),
                Ok(found) => found.into_iter().for_each(|found| match found.game {
                    Err(fault) => is_short(&fault.to_string(), longest),
                    Ok(game) => {
                        assert_eq!(json::parse(&json::line(&game)).as_ref(), Ok(&game));
                        for &format in TextFormat::ALL {
                            let mut text = TextWriter::new(format, Vec::new());
                            let _ = text.write(name, &game).expect("memory");
                        }
                    }
                }),
            }
        }
    });
}
