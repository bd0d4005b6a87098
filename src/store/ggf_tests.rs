//! Tests of reading and writing GGF.

use super::*;
use crate::game::{Shape, Square8};
use proptest::prelude::*;

/// A game of pseudo-random moves.
fn some_game<G: Geometry>(seed: usize) -> (Position<G>, Vec<Square>) {
    let (mut position, mut moves) = (Position::<G>::start(), Vec::new());
    let mut number = seed;
    while !position.board.legal().is_empty() {
        let legal: Vec<_> = position.board.legal().collect();
        number = number.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let square = legal[(number >> 33) % legal.len()];
        position = position.play(square).expect("a legal move").pass_if_forced();
        moves.push(square);
    }
    (Position::start(), moves)
}

/// Writes a game, reads it, and replays what was read.
fn check<G: Geometry>(start: Position<G>, moves: &[Square]) {
    let game = read::<G>(&write(start, moves)).expect("own writing");
    assert_eq!((game.start, game.is_followed), (start, false));
    assert_eq!(game.moves.iter().flatten().copied().collect::<Vec<_>>(), moves);
    let mut position = start;
    for played in game.moves {
        position = match played {
            Some(square) => position.play(square).expect("a legal move, with all passes written"),
            None => position.pass(),
        };
    }
    assert!(
        position.pass_if_forced() == position || position.board.is_over(),
        "the last pass is written"
    );
}

fn round_trip<G: Geometry>() {
    for seed in 0..40 {
        let (start, moves) = some_game::<G>(seed);
        check(start, &moves);
        // Also from each later position, before any forced pass.
        let mut position = start;
        for (index, &square) in moves.iter().enumerate() {
            position = position.pass_if_forced().play(square).expect("legal");
            check(position, &moves[index + 1..]);
        }
    }
}

#[test]
fn games_are_read_as_written_on_every_shape() {
    for shape in Shape::ALL {
        dispatch!(shape, G => round_trip::<G>());
    }
}

#[test]
fn games_of_other_programs_are_read() {
    let text = "(;GM[Othello]PC[NBoard]DT[2014-02-21 20:52:27 GMT]PB[a\\]b]PW[chris]RE[?]TI[15:00]TY[8]BO[8 ---------------------------O*------*O--------------------------- *]B[F5//0.01]W[f6/-1.5]B[D3];)";
    let game = read::<Square8>(text).expect("a game");
    assert_eq!((game.start, game.moves.len()), (Position::start(), 3));
    let header = Header {
        black: "a]b".into(),
        white: "chris".into(),
        place: Some("NBoard".into()),
        date: Some("2014-02-21 20:52:27 GMT".into()),
        ..Header::default()
    };
    assert_eq!(game.header, header);
    // The archive of GGS has the number of games in front.
    let game =
        read::<Square8>("2 (;GM[Othello]RE[-40.00:r]TY[8a];)(;GM[Othello];)").expect("a game");
    assert_eq!((game.header.result, game.header.goal), (Some(-40), Goal::Fewest));
    assert!(game.is_followed);
}

#[test]
fn types_and_dates_mean_what_they_say() {
    let goal = |kind: &str| {
        let text = format!("(;GM[Othello]TY[{kind}];)");
        read::<Square8>(&text).expect(kind).header.goal
    };
    for kind in ["8a", "8A", "s8r18a", "88a"] {
        assert_eq!(goal(kind), Goal::Fewest, "{kind}");
    }
    for kind in ["8", "8r18", "standard", "rated", "a game", "8 rated"] {
        assert_eq!(goal(kind), Goal::Most, "{kind}");
    }
    let date = |value: &str| {
        let text = format!("(;GM[Othello]DT[{value}];)");
        read::<Square8>(&text).expect(value).header.date.expect("a date")
    };
    assert_eq!(date("945277754"), "1999.12.15_17:09:14.GMT");
    assert_eq!(date("1999"), "1999");
    assert_eq!(date("19991215"), "19991215");
}

#[test]
fn a_pass_has_several_names() {
    // White has no move, and black has one.
    let board = format!("*O{}", "-".repeat(62));
    for pass in ["PA", "pass", "PS", "--", "@@", "pa/0.5/1"] {
        let text = format!("(;BO[8 {board} O]W[{pass}];)");
        assert_eq!(read::<Square8>(&text).expect(pass).moves, [None], "{pass}");
    }
}

/// Tags in the order and form in which NBoard and Edax read them: one line, no escapes.
#[test]
fn other_programs_can_read_what_is_written() {
    let header = Header {
        black: "me [and] you".into(),
        white: "net\\a\nb".into(),
        date: Some("2026.11.24_20:38:11.GMT".into()),
        place: None,
        result: Some(-12),
        ended: None,
        goal: Goal::Fewest,
    };
    let f5 = parse_square::<Square8>("f5").expect("a square");
    assert_eq!(
        write_with::<Square8>(&header, Position::start(), &[f5]),
        "(;GM[Othello]PC[Outflank]DT[2026.11.24_20:38:11.GMT]PB[me (and) you]PW[net/a b]RE[-12.00]\
         TI[15:00]TY[8a]BO[8 ---------------------------O*------*O--------------------------- *]\
         B[F5];)"
    );
}

#[test]
fn moves_have_their_values_behind_them() {
    let squares = ["f5", "d6", "c3"].map(|name| parse_square::<Square8>(name).expect("a square"));
    let values = [Some(2.1), None, Some(-0.5)];
    let text = write_valued::<Square8>(&Header::default(), Position::start(), &squares, &values);
    assert!(text.contains("B[F5/2.10]W[D6]B[C3/-0.50];)"), "{text}");
    assert_eq!(read::<Square8>(&text).expect("own writing").moves, squares.map(Some));
}

#[test]
fn errors_name_the_fault() {
    for (text, wanted) in [
        ("", "begins with"),
        ("(;GM[Chess];)", "Chess"),
        ("(;GM[a\u{202e}b\u{2066}\u{7}c];)", "`a?b??c`; allowed: Othello"),
        ("(;GM[Othello", "`GM[Othello` at offset 2 is not `NAME[value]`"),
        (
            "(;GM[Othello]BO[6 ------ *];)",
            "`6 ------ *`, not a position of this board; allowed: `8`, then 64",
        ),
        (
            "(;BO[8 ---------------------------O*------*O---------------------------];)",
            "not a position",
        ),
        ("(;B[a1];)", "move 1, `a1`, is not legal for black; allowed: B[d3] B[c4] B[f5] B[e6]"),
        ("(;W[f5];)", "not legal for white"),
        ("(;B[F5]W[PA];)", "move 2, `PA`"),
    ] {
        let error = read::<Square8>(text).expect_err(text).to_string();
        assert!(error.contains(wanted), "{text}: {error}");
    }
}

/// The octagon and the cross have the same bounding box.
#[test]
fn a_board_with_other_holes_is_refused() {
    use crate::game::{Cross92, Octagon88};
    let text = write(Position::<Octagon88>::start(), &[]);
    assert!(read::<Octagon88>(&text).is_ok());
    assert!(matches!(read::<Cross92>(&text), Err(GgfError::NoBoard { .. })));
    let text = write(Position::<Cross92>::start(), &[]);
    assert!(read::<Cross92>(&text).is_ok());
    assert!(matches!(read::<Octagon88>(&text), Err(GgfError::NoBoard { .. })));
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in "(\\(;)?([A-Z]{1,2}\\[[ -~]{0,12}\\]?){0,6}") {
        let _ = read::<Square8>(&text);
    }

    #[test]
    fn headers_are_read_as_written(
        black in ".*",
        white in "[a-zA-Z0-9:=,./ -]{0,60}",
        result in proptest::option::of(-64i32..=64),
        date in proptest::option::of("[0-9.:_GMT]{1,30}"),
        is_anti in any::<bool>(),
        ended in proptest::sample::select(vec![None, Some('r'), Some('t'), Some('s'), Some('l')]),
    ) {
        let goal = if is_anti { Goal::Fewest } else { Goal::Most };
        let header = Header { black: black.clone(), white, place: None, date, result, ended, goal };
        let text = write_with::<Square8>(&header, Position::start(), &[]);
        prop_assert_eq!(text.lines().count(), 1);
        let game = read::<Square8>(&text).expect("own writing");
        prop_assert_eq!(game.header, Header { black: plain(&black), ..header });
    }
}
