//! Tests of texts as people have them. `tests/data/texts` has whole ones.

use super::*;
use crate::game::notation::{obf, transcript};
use crate::game::{Board, Square6, Square8};

fn moves_of(text: &str) -> String {
    let written = read::<Square8>(text).unwrap_or_else(|fault| panic!("{text:?}: {fault}"));
    transcript::<Square8>(written.moves)
}

fn wrong(text: &str) -> TextFault {
    read::<Square8>(text).expect_err(text)
}

#[test]
fn moves_are_read_however_they_are_written() {
    for text in [
        "f5d6c3",
        "F5 D6 C3\n",
        "f5, d6, c3",
        "F5-D6-C3",
        "1. f5 2. d6 3. c3",
        "1.F5 2.d6 3.C3",
        "f5\nd6\nc3",
        "\u{feff}f5d6c3;",
        "ｆ５ｄ６ｃ３",
        "f5d6c3 26-38",
        "f5d6c3 # a comment with b1 in it",
        "[Black \"a\"]\n[White \"b\"]\n\n1. f5 d6 2. c3",
    ] {
        assert_eq!(moves_of(text), "f5d6c3", "{text:?}");
    }
    assert_eq!(moves_of("f5d6c3d3 black won this one"), "f5d6c3d3");
    assert_eq!(moves_of("f5d6c3 a comment"), "f5d6c3");
}

#[test]
fn wrong_moves_are_never_left_out() {
    for (text, place, message) in [
        ("f5f5", (1, 3), "move 2, `f5`, is not legal"),
        ("f5d6\n  z9", (2, 3), "`z9` is no move"),
        ("hello", (1, 1), "`hello` is no move"),
        ("e6 was played", (1, 4), "`was` is no move"),
        ("f5d6c3d3 then c9", (1, 10), "`then` is no move"),
        ("f5 pass d6", (1, 4), "a pass where the side to move has a move"),
        ("", (1, 1), "the text is empty"),
        ("....", (1, 1), "the text has no move"),
        ("1.", (1, 1), "the text has no move"),
        ("()", (1, 1), "the text has no move"),
    ] {
        let fault = wrong(text);
        assert_eq!(
            ((fault.line, fault.character), fault.message.contains(message)),
            (place, true),
            "{text:?}: {fault}"
        );
        assert!(fault.allowed.is_some(), "{text:?}");
    }
    assert!(wrong("f5f5").is_illegal && !wrong("hello").is_illegal);
}

#[test]
fn passes_may_be_written_where_a_side_must_pass() {
    let text = include_str!("../../../../tests/data/texts/spaces.txt");
    let game = moves_of(text);
    assert_eq!(game.len(), 120);
    for pass in ["pa", "PASS", "ps", "PS", "@@", "pa "] {
        assert_eq!(moves_of(&text.replace("--", pass)), game, "{pass}");
    }
    assert_eq!(moves_of(&text.replace("--", "")), game);
    let early = text.replacen(' ', " -- ", 1);
    assert!(wrong(&early).message.contains("a pass"), "{}", wrong(&early));
}

#[test]
fn positions_are_read_in_any_drawing() {
    let start = obf(Position::<Square8>::start());
    let squares = &start[..64];
    let rows: Vec<&str> = (0..8).map(|row| &squares[8 * row..8 * row + 8]).collect();
    let labelled = |row: usize| {
        let marks: Vec<String> = rows[row].chars().map(String::from).collect();
        format!("{} {} {}", row + 1, marks.join(" "), row + 1)
    };
    let labels = "  a b c d e f g h";
    let drawn: Vec<String> = (0..8).map(labelled).collect();
    let position = read::<Square8>(&start).expect("a position").start;
    for text in [
        start.clone(),
        squares.to_string(),
        format!("{squares}X"),
        rows.join("\n"),
        format!("{}\nblack to move\n", rows.join("\n")),
        format!("{labels}\n{}\n{labels}\n", drawn.join("\n")),
        crate::game::notation::diagram(Position::<Square8>::start()),
        rows.join("\n").replace('X', "@").replace('-', "."),
        rows.join("\n").replace('X', "●").replace('O', "○").replace('-', "・"),
        rows.join("\n").replace('-', "0").replace('X', "1").replace('O', "2"),
        squares.replace('-', "0").replace('X', "1").replace('O', "2"),
        format!("{start}; f5:+0; d3:-2"),
    ] {
        let written = read::<Square8>(&text).unwrap_or_else(|fault| panic!("{text}: {fault}"));
        assert_eq!((written.start, written.moves.len()), (position, 0), "{text}");
    }
    for text in [format!("{start} F5d6"), format!("{start}; f5d6"), format!("{start}\nf5\nd6\n")] {
        assert_eq!(moves_of(&text), "f5d6", "{text}");
    }
    for (text, message) in [
        (format!("{start}; nonsense"), "`nonsense` is no move"),
        (squares[..60].to_string(), "has 60 squares"),
        ("-".repeat(64), "the position has no disc"),
        (obf(Position::<Square6>::start()), "is of board 6x6, not 8x8"),
    ] {
        assert!(wrong(&text).message.contains(message), "{text}: {}", wrong(&text));
    }
}

#[test]
fn a_text_is_one_game_or_one_in_each_line() {
    let count = |text: &str| games::<Square8>(text).len();
    assert_eq!(count("f5d6c3\n# a comment\nf5f6e6f4\n"), 2);
    assert_eq!(count("f5\nd6\nc3\n"), 1);
    assert_eq!(count("f5d6\nc3d3\n"), 1);
    let start = obf(Position::<Square8>::start());
    assert_eq!(count(&format!("{start}\n{start}; f5:0\n")), 2);
    let found = games::<Square8>("f5d6\nf5f6\nf5d6c9");
    assert_eq!((found.len(), found[2].0), (3, 3));
    assert_eq!(found[2].1.as_ref().expect_err("c9").character, 5);
    // A bad line, even the first, costs no other line; but a game with a wrong move is no sixty.
    let found = games::<Square8>("f5f5\nf5d6c3\nf5f6\n");
    assert_eq!(found.iter().map(|(_, game)| game.is_ok()).collect::<Vec<_>>(), [false, true, true]);
    assert_eq!(count("f5\nd6\na1\nd3\n"), 1);
    // Where nothing is right, each line is named; a drawing of a wrong size is one fault.
    assert_eq!(count("f5f5\nf5f5\nf5f5\n"), 3);
    assert_eq!(count(&["--------"; 7].join("\n")), 1);
    assert!(single::<Square8>("f5\nd6\n").is_some() && single::<Square8>("f5d6\n").is_none());
}

#[test]
fn moves_among_other_words_are_found() {
    for text in [
        "2024-05-01 kuro (1850) - shiro (1790) 34-30 f5d6c3d3c4f4",
        "https://example.org/kifu?g=F5D6C3D3C4F4&n=6",
        "kuro,shiro,\"f5d6c3d3c4f4\",34",
    ] {
        assert_eq!(moves_of(text), "f5d6c3d3c4f4", "{text}");
    }
}

#[test]
fn own_drawings_are_read_on_every_board() {
    for shape in Shape::ALL {
        dispatch!(shape, G => {
            let position = Position::<G>::start();
            let first = position.board.legal().next().expect("a move");
            let after = position.play(first).expect("legal");
            let text = crate::game::notation::diagram(after);
            let found = read::<G>(&format!("white to move\n{text}")).expect("a position");
            assert_eq!(obf(found.start), obf(after), "{shape}");
            assert_ne!(found.start.board, Board::<G>::start());
        });
    }
}
