//! Tests of the sources of openings.

use super::*;
use crate::game::notation::parse_transcript;
use crate::game::{Cross92, Square6, Square8, Symmetry};

#[test]
fn sources_are_read_and_written() {
    for text in ["start", "random:8", "games/xot.txt"] {
        assert_eq!(text.parse::<OpeningSource>().expect("a source").to_string(), text);
    }
    for text in ["", "random", "random:", "random:0", "random:41", "random:x"] {
        assert!(text.parse::<OpeningSource>().is_err(), "{text}");
    }
}

#[test]
fn random_openings_are_distinct_up_to_symmetry() {
    let book = OpeningSource::Random { plies: 6 }.book::<Square8>(200, 7).expect("a book");
    let boards: HashSet<_> =
        book.openings.iter().map(|opening| opening.position.board.canonical()).collect();
    assert_eq!(boards.len(), 200);
    for opening in &book.openings {
        assert_eq!(opening.moves.len(), 6);
        let text = crate::game::notation::transcript::<Square8>(opening.moves.iter().copied());
        let (_, position) = parse_transcript(&text, opening.start).expect("legal moves");
        assert_eq!(position, opening.position);
    }
}

/// There are 1, 3 and 14 distinct positions after 1, 2 and 3 plies: the published counts.
#[test]
fn short_openings_run_out_at_the_published_counts() {
    for (plies, count) in [(1, 1), (2, 3), (3, 14)] {
        let book = OpeningSource::Random { plies }.book::<Square8>(1000, 1).expect("a book");
        assert_eq!(book.openings.len(), count, "{plies} plies");
    }
}

#[test]
fn more_random_moves_than_a_game_has_are_refused() {
    for plies in [32, 40] {
        let error = OpeningSource::Random { plies }.book::<Square6>(10, 1).expect_err("no opening");
        let wanted = format!("no game on board 6x6 has a move left after {plies} random plies");
        assert!(error.to_string().starts_with(&wanted), "{error}");
    }
    let late = OpeningSource::Random { plies: 24 }.book::<Square6>(10, 1).expect("a book");
    assert_eq!(late.openings.len(), 10, "some games are over earlier, others are not");
}

#[test]
fn the_openings_depend_on_the_seed() {
    let book = |seed| OpeningSource::Random { plies: 8 }.book::<Cross92>(20, seed).expect("a book");
    assert_eq!(book(1).openings, book(1).openings);
    assert_ne!(book(1).openings, book(2).openings);
}

#[test]
fn bad_lines_of_a_file_are_listed_and_left_out() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("openings.txt");
    let position = crate::game::notation::obf(Position::<Square6>::start());
    let text = format!("# openings\n\nc2b4\nz9\n{position}\nc2\nd5\nc2c2\n-X- X\n");
    std::fs::write(&path, text).expect("writable");
    let book = OpeningSource::File(path).book::<Square6>(10, 1);
    let Ok(book) = book else { panic!("{book:?}") };
    let lines: Vec<_> = book.bad_lines.first().iter().map(|bad| bad.line).collect();
    assert_eq!(lines, [4, 8, 9]);
    assert_eq!(book.openings.len(), 3);
    assert_eq!(book.repeated, 1, "d5 is a mirror image of c2");
}

#[test]
fn a_line_that_is_not_utf8_is_left_out() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("openings.txt");
    std::fs::write(&path, b"f5d6\n# \xe9\nf5\xe9d6\nf5f6\nc4c3\n").expect("writable");
    let book = OpeningSource::File(path).book::<Square8>(1, 1).expect("a book");
    assert_eq!(
        (book.openings.len(), book.repeated),
        (1, 0),
        "only the requested openings are kept"
    );
    assert_eq!(
        book.bad_lines.remarks(),
        ["line 3: byte 0xe9 is not UTF-8 text; save the file as UTF-8 or ASCII; left out"]
    );
}

#[test]
fn a_file_without_an_opening_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("openings.txt");
    std::fs::write(&path, "nonsense\n").expect("writable");
    let error = OpeningSource::File(path.clone()).book::<Square8>(10, 1).expect_err("no opening");
    assert!(error.to_string().contains("line 1"), "{error}");
    std::fs::remove_file(&path).expect("removable");
    assert!(OpeningSource::File(path).book::<Square8>(10, 1).is_err());
}

#[test]
fn mirrored_games_have_the_same_canonical_game() {
    let (moves, _) = parse_transcript("f5d6c3d3", Position::<Square8>::start()).expect("legal");
    let start = Board::<Square8>::start();
    let mirrored: Vec<_> =
        moves.iter().map(|&square| Symmetry::ALL[7].square::<Square8>(square)).collect();
    assert_eq!(Symmetry::ALL[7].board(start), start);
    assert_eq!(canonical_game(start, &moves), canonical_game(start, &mirrored));
    assert_ne!(canonical_game(start, &moves), canonical_game(start, &moves[..3]));
}

/// A file of games of random moves, one of them cut off early, and one that is illegal.
fn games_file(folder: &Path) -> PathBuf {
    let path = folder.join("games.txt");
    let book = OpeningSource::Random { plies: 12 }.book::<Square8>(40, 3).expect("a book");
    let text = |opening: &Opening<Square8>| {
        crate::game::notation::transcript::<Square8>(opening.moves.iter().copied())
    };
    let mut lines: Vec<_> = book.openings.iter().map(text).collect();
    lines.extend(["f5d6".into(), "f5f5".into(), lines[0].clone()]);
    std::fs::write(&path, lines.join("\n")).expect("writable");
    path
}

#[test]
fn openings_are_the_first_moves_of_games() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = games_file(folder.path());
    let source: OpeningSource = format!("{}:8", path.display()).parse().expect("a source");
    assert_eq!(source, OpeningSource::Games { path: path.clone(), plies: 8 });
    assert_eq!(source.to_string(), format!("{}:8", path.display()));
    let book = source.book::<Square8>(1000, 1).expect("a book");
    let boards: HashSet<_> =
        book.openings.iter().map(|opening| opening.position.board.canonical()).collect();
    assert_eq!(boards.len(), book.openings.len());
    assert!(book.openings.iter().all(|opening| opening.moves.len() == 8));
    // All others lead to the position of an earlier opening, end too early, or are illegal.
    assert_eq!(book.openings.len() + book.repeated + 2, 43);
    assert_eq!((book.too_short, book.bad_lines.count()), (1, 1));
    assert_eq!(book.bad_lines.first()[0].line, 42);
    // Some of them: the same for a seed, others for another seed.
    let some = |seed| source.book::<Square8>(5, seed).expect("a book").openings;
    assert_eq!(some(1), some(1));
    assert_eq!(some(1).len(), 5);
    assert_ne!(some(1), some(2));
}

#[test]
fn games_without_openings_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = games_file(folder.path());
    let book = |path: &Path, plies| {
        OpeningSource::Games { path: path.into(), plies }.book::<Square8>(5, 1)
    };
    let error = book(&path, 30).expect_err("too many moves").to_string();
    assert!(error.contains("has no game of 8x8 with 30 moves and a move left"), "{error}");
    let error = book(&folder.path().join("none.wtb"), 8).expect_err("no file").to_string();
    assert!(error.contains("none.wtb"), "{error}");
    for text in ["a.wtb:0", "a.wtb:41", "a.wtb:-1", ":8"] {
        assert!(!matches!(text.parse(), Ok(OpeningSource::Games { .. })), "{text}");
    }
}
