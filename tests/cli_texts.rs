//! Texts as people have them (`tests/data/texts`) give the same game at every entrance of the program.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use outflank::game::{Position, Square8, notation};
use outflank::store::import::text::read;
use serde_json::{Value, json};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/texts")
}

fn text(name: &str) -> String {
    std::fs::read_to_string(folder().join(name)).expect("a text")
}

fn outflank(arguments: &[&str], input: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_outflank"));
    command.args(arguments).current_dir(env!("CARGO_MANIFEST_DIR"));
    let pipes = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = pipes.spawn().expect("the program");
    // It may have refused its arguments and ended.
    let _ = child.stdin.take().expect("a pipe").write_all(input.as_bytes());
    child.wait_with_output().expect("it ends")
}

fn printed(arguments: &[&str], input: &str) -> String {
    let output = outflank(arguments, input);
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).expect("text")
}

/// The game that most of the texts have, as a transcript.
fn the_game() -> String {
    text("semi.txt").trim().trim_end_matches(';').to_string()
}

/// The last position of a transcript.
fn last(moves: &str) -> String {
    let start = Position::<Square8>::start();
    notation::obf(notation::parse_transcript::<Square8>(moves, start).expect("a game").1)
}

/// The position of a text by `analyse --json`, as its field `moves` and as a start position.
fn asked(query: &Value) -> Value {
    let answer = printed(&["analyse", "--json", "--player", "greedy"], &format!("{query}\n"));
    serde_json::from_str(answer.lines().next().expect("an answer")).expect("JSON")
}

/// The positions that the entrances for files and texts give.
fn positions(name: &str) -> Vec<(&'static str, String)> {
    let path = folder().join(name).display().to_string();
    // It need not solve them.
    let solved = outflank(&["solve", &path, "--json", "--seconds", "0.001", "--table-mb", "1"], "");
    let solved = String::from_utf8(solved.stdout).expect("text");
    let solved: Value = serde_json::from_str(solved.lines().next().expect("a line")).expect("JSON");
    let loaded = printed(&["gtp", "greedy"], &format!("loadsgf {path}\nshowboard\nquit\n"));
    let drawing = loaded.split_once("\n\n").expect("two answers").1;
    let drawing = drawing.split("\n\n=").next().expect("it").trim_start_matches(['=', ' ']);
    let drawn =
        read::<Square8>(drawing).unwrap_or_else(|fault| panic!("{name}: {fault}: {loaded}"));
    vec![
        ("solve", solved["position"].as_str().expect("a position").to_string()),
        ("gtp", notation::obf(drawn.position())),
    ]
}

#[test]
fn every_form_of_a_game_is_the_same_game() {
    let game = the_game();
    let end = last(&game);
    for name in [
        "spaces.txt",
        "comma.txt",
        "hyphen.txt",
        "semi.txt",
        "num.txt",
        "lines.txt",
        "trail.txt",
        "ps.txt",
        "nohdr.pgn",
        "play.pgn",
    ] {
        let path = folder().join(name).display().to_string();
        let moves = printed(&["games", &path, "--to", "transcript"], "");
        assert_eq!(moves.trim(), game, "games {name}");
        for (entrance, position) in positions(name) {
            assert_eq!(position, end, "{entrance} {name}");
        }
        let review = printed(&["analyse", &path, "--player", "greedy"], "");
        assert!(review.lines().count() >= 60, "analyse {name}: {review}");
        let answer = asked(&json!({"id": name, "moves": text(name)}));
        assert_eq!(answer["position"], end.as_str(), "json {name}: {answer}");
    }
    let ggf = printed(
        &["games", &folder().join("ps.ggf").display().to_string(), "--to", "transcript"],
        "",
    );
    assert_eq!(ggf.trim(), game);
    let play =
        printed(&["games", &folder().join("play.pgn").display().to_string(), "--to", "json"], "");
    let play: Value = serde_json::from_str(play.trim()).expect("JSON");
    assert_eq!(
        (&play["black"], &play["white"], &play["date"]),
        (&"kuro".into(), &"shiro".into(), &"2024.01.02".into())
    );
}

#[test]
fn every_drawing_of_a_board_is_the_same_position() {
    let drawn = last("d3");
    for name in ["boards/coords.txt", "boards/at.txt", "boards/circles.txt", "boards/digits.txt"] {
        for (entrance, position) in positions(name) {
            assert_eq!(position, drawn, "{entrance} {name}");
        }
        let answer = asked(&json!({"id": "a", "position": text(name)}));
        assert_eq!(answer["position"], drawn.as_str(), "json {name}");
        let path = folder().join(name).display().to_string();
        assert_eq!(printed(&["games", &path, "--to", "transcript"], "").trim(), "", "{name}");
    }
    for (name, moves) in [
        ("boards/numbered.txt", "f5d6c3d3c4"),
        ("boards/fullwidth.txt", "f5d6c3"),
        ("bom.txt", "f5d6c3"),
    ] {
        for (entrance, position) in positions(name) {
            assert_eq!(position, last(moves), "{entrance} {name}");
        }
    }
    let own = &positions("boards/own.txt")[0].1;
    assert_eq!(*own, "------------------OX-------OX------XO--------------------------- X");
    let with_moves = &positions("passpos.txt")[0].1;
    let end = last(&the_game());
    assert_eq!(with_moves.split(' ').next(), end.split(' ').next());
}

/// Each text of the table in docs/games.md is the game that the page says.
#[test]
fn the_forms_of_the_documentation_are_read() {
    let page = include_str!("../docs/games.md");
    let table = page.split("| form | texts |").nth(1).and_then(|rest| rest.split("\n\n").next());
    let rows = table.expect("the table").lines().skip(2);
    let texts: Vec<&str> = rows.flat_map(|row| row.split('`').skip(1).step_by(2)).collect();
    assert!(texts.len() >= 9, "{texts:?}");
    for text in texts {
        let written = read::<Square8>(text).unwrap_or_else(|fault| panic!("{text}: {fault}"));
        let moves = notation::transcript::<Square8>(written.moves);
        assert!(moves == "f5d6c3" || moves == "f5d6c3d3", "{text}: {moves}");
    }
}

#[test]
fn a_file_of_an_archive_is_no_text() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("year.wtb").display().to_string();
    std::fs::write(&file, [20, 26, 1, 1, 0, 0, 0, 0]).expect("a file");
    let output = outflank(&["analyse", &file], "");
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{error}");
    assert!(error.contains("is no text; `outflank games"), "{error}");
}

#[test]
fn prose_is_no_game() {
    let path = folder().join("letter.txt").display().to_string();
    for arguments in [&["solve", &path][..], &["analyse", &path, "--player", "greedy"]] {
        let output = outflank(arguments, "");
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {output:?}");
    }
    let output = outflank(&["games", &path, "--to", "transcript"], "");
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "", "{output:?}");
}

#[test]
fn a_position_is_an_argument_even_if_it_begins_with_a_hyphen() {
    let position = "--OOO-*--*OOO*-O-**O*OOO****OOOO***O**OO**OO*OOO-OOOO*---OOO***- *";
    assert!(printed(&["solve", position], "").contains("+12"));
    let moves = printed(&["analyse", position, "--player", "greedy"], "");
    assert!(moves.contains("black to move"), "{moves}");
}

#[test]
fn ggf_keeps_what_it_means() {
    let games = |name: &str| {
        let path = folder().join(name).display().to_string();
        let output = outflank(&["games", &path, "--to", "json"], "");
        let lines = String::from_utf8(output.stdout).expect("text");
        let games: Vec<Value> =
            lines.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        (games, String::from_utf8(output.stderr).expect("text"))
    };
    let (mixed, error) = games("mixed.ggf");
    assert_eq!(mixed.len(), 1);
    assert!(error.contains("game 2"), "{error}");
    assert_eq!(games("latin1.ggf").0[0]["black"], "äö");
    assert_eq!(games("epoch.ggf").0[0]["date"].as_str().map(|date| &date[..4]), Some("1999"));
    let resigned = folder().join("resign.ggf").display().to_string();
    let written = String::from_utf8(outflank(&["games", &resigned, "--to", "ggf"], "").stdout);
    let written = written.expect("text");
    for result in ["RE[+64.00:r]", "RE[-64.00:t]", "RE[+2.00:s]", "RE[?:l]"] {
        assert!(written.contains(result), "{result}: {written}");
    }
    let (commented, _) = games("comment.ggf");
    assert_eq!(commented[0]["moves"], "f5d6");
}
