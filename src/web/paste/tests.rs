//! Tests of texts as people paste them.

use super::*;

fn read(text: &str) -> Pasted {
    pasted(text.as_bytes(), Shape::Square8, Goal::Most)
        .unwrap_or_else(|error| panic!("{text}: {error:?}"))
}

fn wrong(text: impl AsRef<[u8]>) -> serde_json::Value {
    let error = pasted(text.as_ref(), Shape::Square8, Goal::Most).expect_err("wrong");
    serde_json::to_value(error).expect("JSON")
}

const SQUARES: &str = "---------------------------OX------XO---------------------------";

#[test]
fn moves_are_read_however_they_are_written() {
    for text in [
        "f5d6c3",
        "F5D6C3\n",
        " f5 d6 c3 ",
        "f5, d6, c3",
        "1. f5 2. d6 3. c3",
        "1. f5 d6 2. c3",
        "f5\nd6\nc3",
        "\u{feff}f5d6c3",
    ] {
        let found = read(text);
        assert_eq!((found.format, &*found.games[0].game.moves), ("transcript", "f5d6c3"), "{text}");
    }
}

#[test]
fn lines_of_moves_are_games_of_their_own() {
    let found = read("f5d6c3\n# a comment\nf5f6e6f4\n");
    let moves: Vec<_> = found.games.iter().map(|game| &*game.game.moves).collect();
    assert_eq!(moves, ["f5d6c3", "f5f6e6f4"]);
}

#[test]
fn a_line_with_other_words_gives_its_moves() {
    for text in [
        "2024-05-01 kuro (1850) - shiro (1790) 34-30 f5d6c3d3c4f4",
        "https://example.org/kifu?g=F5D6C3D3C4F4&n=6",
        "kuro,shiro,\"f5d6c3d3c4f4\",34",
    ] {
        let found = read(text);
        let moves = &*found.games[0].game.moves;
        assert_eq!((found.format, moves), ("othelloquest", "f5d6c3d3c4f4"), "{text}");
    }
}

#[test]
fn positions_are_read_in_one_line_or_in_rows_with_or_without_a_side() {
    let rows: Vec<_> =
        SQUARES.as_bytes().chunks(8).map(|row| String::from_utf8_lossy(row)).collect();
    for text in [
        format!("{SQUARES} X"),
        format!("{SQUARES}X"),
        SQUARES.to_string(),
        rows.join("\n"),
        SQUARES.replace('-', ".").replace('X', "*"),
        format!("{SQUARES} X; d3:+0; c4:+0\n"),
    ] {
        let found = read(&text);
        // It is the board's own start, so nothing needs to be said about it.
        assert_eq!(found.games[0].game.start, None, "{text}: {found:?}");
        assert_eq!(found.format, "position");
    }
    let found = read(&format!("{SQUARES} X\nf5d6\n"));
    assert_eq!(&*found.games[0].game.moves, "f5d6");
    let found = read(&format!("{SQUARES} O\n{SQUARES} X; f5:0\n"));
    assert_eq!((found.format, found.games.len()), ("obf", 2));
    assert!(found.games[0].game.start.is_some());
}

#[test]
fn other_boards_are_found_by_what_fits() {
    let found = read("-------------OX----XO--------------- X".trim());
    assert_eq!(&*found.games[0].game.board, "6x6");
    for shape in Shape::ALL {
        let start = dispatch!(shape, G => {
            crate::game::notation::obf(crate::game::Position::<G>::start())
        });
        assert_eq!(&*read(&start).games[0].game.board, shape.name());
    }
}

#[test]
fn ggf_games_come_with_their_names() {
    let text = "(;GM[Othello]PB[kuro]PW[shiro]RE[+4.00]TY[8]BO[8 ---------------------------O*------*O--------------------------- *]B[F5]W[D6];)";
    let found = read(&format!("{text}\n{text}"));
    assert_eq!((found.format, found.games.len(), found.left_out), ("ggf", 2, 0));
    let game = &found.games[1];
    assert_eq!((game.black.as_deref(), game.white.as_deref()), (Some("kuro"), Some("shiro")));
    assert_eq!((&*game.game.moves, game.result), ("f5d6", Some(4)));
}

#[test]
fn a_wrong_ggf_game_comes_with_the_part_before_its_wrong_move() {
    let board = "8 ---------------------------O*------*O--------------------------- *";
    let text = format!("(;GM[Othello]PB[a]BO[{board}]B[F5]W[D6]B[A1]W[C3];)");
    let error = wrong(&text);
    assert!(error["error"].as_str().expect("a text").contains("move 3, `A1`"), "{error}");
    assert_eq!((&error["game"]["moves"], &error["field"]), (&"f5d6".into(), &"text".into()));
    // Of two games neither is offered, and what is no move has no part before it.
    assert!(wrong(format!("{text}\n{text}"))["game"].is_null());
    assert!(wrong("(;GM[Othello]BO[8 --- *];)")["game"].is_null());
}

#[test]
fn a_file_of_wthor_is_read() {
    let mut bytes = vec![0; 16 + 2 * 68];
    (bytes[4], bytes[10], bytes[11]) = (2, 0xE8, 0x07);
    (bytes[16 + 6], bytes[16 + 8], bytes[16 + 9]) = (40, 56, 64);
    // The second game ends before its illegal move.
    (bytes[84 + 8], bytes[84 + 9]) = (56, 99);
    let found = pasted(&bytes, Shape::Square8, Goal::Most).expect("a file");
    let moves: Vec<_> = found.games.iter().map(|game| &*game.game.moves).collect();
    assert_eq!((found.format, moves), ("wthor", vec!["f5d6", "f5"]));
    assert_eq!((found.games[0].result, found.games[0].date.as_deref()), (Some(16), Some("2024")));
}

/// A list of names of this many bytes each.
fn list(names: &[&str], bytes: usize) -> Vec<u8> {
    let mut list = vec![0; 16 + names.len() * bytes];
    list[8] = names.len() as u8;
    for (name, place) in names.iter().zip(list[16..].chunks_exact_mut(bytes)) {
        place[..name.len()].copy_from_slice(name.as_bytes());
    }
    list
}

#[test]
fn wthor_has_the_names_of_the_lists_before_it() {
    let mut games = vec![0; 16 + 68];
    (games[4], games[16], games[18], games[20], games[24]) = (1, 1, 2, 0, 56);
    let players = list(&["Ada", "Bo", "Cy"], 20);
    let events = list(&["Here", "There"], 26);
    let read = |parts: &[&[u8]], lists| files::wthor(&parts.concat(), lists, Goal::Most);
    let lengths = (players.len(), events.len());
    let found = read(&[&players, &events, &games], lengths).expect("a file");
    let game = &found.games[0];
    let names = (game.black.as_deref(), game.white.as_deref(), game.event.as_deref());
    assert_eq!(names, (Some("Cy"), Some("Ada"), Some("There")));
    assert_eq!(game.date, None, "the file has no year");
    // One list alone, and none.
    let found = read(&[&events, &games], (0, lengths.1)).expect("a file");
    assert_eq!(
        (found.games[0].black.as_deref(), found.games[0].event.as_deref()),
        (None, Some("There"))
    );
    // A list that is cut off, that is of the other kind, and one that is longer than the body.
    let field = |parts: &[&[u8]], lists| {
        let error = read(parts, lists).expect_err("wrong");
        let error = serde_json::to_value(error).expect("JSON");
        (error["field"].clone(), error["error"].as_str().expect("a text").to_string())
    };
    let (wrong, text) = field(&[&players[..40], &games], (40, 0));
    assert!(wrong == "players" && text.contains("the list of players is cut off"), "{text}");
    assert_eq!(field(&[&events, &games], (lengths.1, 0)).0, "players");
    assert_eq!(field(&[&players, &players, &games], (lengths.0, lengths.0)).0, "events");
    assert_eq!(field(&[&players], (usize::MAX, 0)).0, "players");
    assert_eq!(field(&[&players, &events], lengths).0, "text");
}

#[test]
fn a_wrong_move_comes_with_the_game_before_it() {
    let right = "f5d6c3d3c4f4f6f3e6e7";
    let found = wrong(format!("{right}a1c5"));
    assert!(found["error"].as_str().expect("a text").contains("move 11, `a1`, is not legal"));
    assert_eq!((&found["game"]["moves"], &found["game"]["board"]), (&right.into(), &"8x8".into()));
    assert_eq!(found["game"].get("start"), None);
    // The same over several lines, of which the first is a game on its own.
    let found = wrong("f5d6c3\nd3c4a1\nf4f6");
    assert!(found["error"].as_str().expect("a text").starts_with("line 2, character 5: move 6"));
    assert_eq!(found["game"]["moves"], "f5d6c3d3c4");
    assert_eq!(wrong(format!("{SQUARES} X\nf5f5"))["game"]["moves"], "f5");
    let turned = SQUARES.replace('O', "?").replace('X', "O").replace('?', "X");
    let found = wrong(format!("{turned} X\nc5c5"));
    assert_eq!(found["game"]["start"], format!("{turned} X"));
    // Another board, on which more of the game is right.
    let other = "-------------OX----XO--------------- X a3a3";
    assert_eq!(wrong(other)["game"]["board"], "6x6", "{}", wrong(other));
    // Nothing is right, or the text has several games.
    for text in ["a1", "hello", "f5d6\nf5f6\nf5d6c9", ""] {
        assert_eq!(wrong(text).get("game"), None, "{text}");
    }
}

#[test]
fn faults_name_their_place() {
    for (text, place, message) in [
        ("f5f5", "line 1, character 3: ", "move 2, `f5`, is not legal"),
        ("f5d6\n  z9", "line 2, character 3: ", "`z9` is no move"),
        ("hello", "line 1, character 1: ", "`hello` is no move"),
        ("f5d6\nf5f6\nf5d6c9", "line 3, character 5: ", "`c9` is no move"),
        (&SQUARES[..60], "line 1, character 61: ", "has 60 squares"),
    ] {
        let found = wrong(text);
        let error = found["error"].as_str().expect("a text");
        assert!(error.starts_with(place) && error.contains(message), "{text:?}: {error}");
        assert_eq!(found["field"], "text");
        assert!(found["allowed"].is_string());
    }
    assert_eq!(wrong("  \n")["error"], "the text is empty");
    assert_eq!(wrong(vec![0xFF; 100])["field"], "text");
    assert_eq!(wrong("a".repeat(text::LONGEST + 1))["error"], "the text is too long");
    let ggf = wrong("(;GM[Othello]BO[8 --- *];)");
    assert!(ggf["error"].as_str().expect("a text").contains("BO"), "{ggf}");
}
