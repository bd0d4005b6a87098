use std::fs;
use std::path::Path;

use super::*;
use crate::game::notation::{parse_square, parse_transcript};
use crate::game::record::{GameRecord, MoveRecord};
use crate::game::{Goal, Position, Shape, Square8, Symmetry};
use time::OffsetDateTime;

const GGF: &str = "(;GM[Othello]PC[Club]DT[2019.03.01]PB[Ann]PW[Ben]RE[?]TI[15:00]TY[8]\
    BO[8 -------- -------- -------- ---O*--- ---*O--- -------- -------- -------- *]\
    B[F5]W[D6]B[C3]W[D3]B[C4];)\n\
    (;GM[Othello]PC[Open]DT[2021]PB[Cleo]PW[ann]RE[?]TI[15:00]TY[8]\
    BO[8 -------- -------- -------- ---O*--- ---*O--- -------- -------- -------- *]\
    B[C4]W[E3]B[F6]W[E6]B[F5]W[C5];)\n";

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("club.ggf"), GGF).expect("written");
    fs::write(folder.path().join("lines.txt"), "f5f6e6f4e3\nf5d6c3d3c4f4e6\n").expect("written");
    folder
}

fn open(folder: &Path) -> (Library, Changes) {
    let mut library = Library::open(folder, None).expect("a library");
    let changes = library.refresh(|_, _| {}).expect("a refresh");
    (library, changes)
}

fn total(library: &Library, query: Query) -> usize {
    library.search(&query).expect("a search").total
}

fn after(moves: &str) -> Position<Square8> {
    parse_transcript(moves, Position::start()).expect("moves").1
}

#[test]
fn every_field_is_searched() {
    let folder = folder();
    let (library, changes) = open(folder.path());
    assert_eq!((changes.read, changes.games, changes.faults), (2, 4, 0));
    let text = |text: &str| Some(text.to_string());
    let found = |query: Query| total(&library, query);
    assert_eq!(found(Query::default()), 4);
    assert_eq!(found(Query { player: text("ANN"), ..Query::default() }), 2);
    assert_eq!(found(Query { player: text("ann"), opponent: text("cleo"), ..Query::default() }), 1);
    assert_eq!(found(Query { event: text("club"), ..Query::default() }), 1);
    assert_eq!(found(Query { years: Some((2020, 2022)), ..Query::default() }), 1);
    // The second game of the file is an image of the first one's opening.
    assert_eq!(found(Query { opening: text("tiger"), ..Query::default() }), 3);
    assert_eq!(found(Query { board: Some(Shape::Square6), ..Query::default() }), 0);
    assert_eq!(found(Query { winner: Some(Winner::Draw), ..Query::default() }), 0);
    assert_eq!(found(Query { player: text("' OR 1 --"), ..Query::default() }), 0);
    let page = Query { sort: Sort::Black, skip: 1, most: 2, ..Query::default() };
    let rows = library.search(&page).expect("a search").rows;
    let names: Vec<_> = rows.iter().map(|row| row.black.as_deref()).collect();
    assert_eq!(names, [Some("Cleo"), None]);
    let (row, record) = library.game(rows[0].id).expect("a game");
    assert_eq!((row.date.as_deref(), record.moves.len()), (Some("2021"), 6));
    assert!(matches!(library.game(99), Err(LibraryError::NoGame { id: 99 })));
}

#[test]
fn a_position_is_found_under_every_symmetry_and_order_of_moves() {
    let folder = folder();
    let (library, _) = open(folder.path());
    let wanted = after("f5d6c3d3c4");
    for symmetry in Symmetry::ALL {
        let image = Position { board: symmetry.board(wanted.board), side: wanted.side };
        let found = library.search_position(&Query::default(), image, Goal::Most);
        assert_eq!(found.expect("a search").total, 3, "{symmetry:?}");
        let explored = library.explore(image, Goal::Most, None).expect("a search");
        assert_eq!(explored.games, 3);
        // c5 of the second game is the image of f4 of the fourth one.
        let f4 = parse_square::<Square8>("f4").expect("a square");
        let next: Vec<_> = explored.moves.iter().map(|next| (next.square, next.games)).collect();
        assert_eq!(next, [(symmetry.square::<Square8>(f4), 2)]);
    }
    let ann = Query { player: Some("ann".into()), ..Query::default() };
    let among = library.among(&ann).expect("a search");
    let explored = library.explore(wanted, Goal::Most, among.as_ref()).expect("a search");
    assert_eq!(explored.games, 2);
    assert_eq!(library.among(&Query::default()).expect("a search"), None);
    // The move before it is by the other side.
    let other = Position { board: wanted.board, side: !wanted.side };
    let found = library.search_position(&Query::default(), other, Goal::Most);
    assert_eq!(found.expect("a search").total, 0);
    assert_eq!(library.explore(wanted, Goal::Fewest, None).expect("a search").games, 0);
}

#[test]
fn at_the_start_moves_that_are_images_are_one() {
    let folder = folder();
    let (library, _) = open(folder.path());
    let explored = library.explore(Position::<Square8>::start(), Goal::Most, None);
    let explored = explored.expect("a search");
    assert_eq!((explored.games, explored.moves.len()), (4, 1));
    assert_eq!(explored.moves[0].games, 4);
    assert_eq!(explored.moves[0].mean(), None);
}

#[test]
fn changes_of_the_files_are_followed() {
    let folder = folder();
    let (mut library, _) = open(folder.path());
    let again = library.refresh(|_, _| {}).expect("a refresh");
    assert_eq!((again.read, again.removed), (0, 0));
    // What a person has learnt is no game.
    fs::write(folder.path().join(crate::store::lessons::LESSONS), "{}").expect("written");
    assert_eq!(library.refresh(|_, _| {}).expect("a refresh"), again);
    fs::write(folder.path().join("lines.txt"), "f5f6e6f4e3\n").expect("written");
    fs::create_dir(folder.path().join("more")).expect("a folder");
    fs::rename(folder.path().join("club.ggf"), folder.path().join("more/club.ggf")).expect("moved");
    fs::write(folder.path().join("bad.wtb"), [0; 20]).expect("written");
    let changes = library.refresh(|_, _| {}).expect("a refresh");
    assert_eq!((changes.read, changes.removed, changes.games), (3, 1, 3));
    assert_eq!(changes.problems.len(), 1, "{changes:?}");
    assert_eq!(changes.problems[0].path, "bad.wtb");
    assert_eq!(total(&library, Query { player: Some("ann".into()), ..Query::default() }), 2);
    fs::remove_dir_all(folder.path().join("more")).expect("removed");
    let changes = library.refresh(|_, _| {}).expect("a refresh");
    assert_eq!((changes.read, changes.removed, changes.games), (0, 1, 1));
    assert_eq!(total(&library, Query { event: Some("club".into()), ..Query::default() }), 0);
}

#[test]
fn a_damaged_or_foreign_index_is_named_and_kept() {
    let folder = folder();
    let index = folder.path().join(INDEX);
    fs::write(&index, vec![7; 5000]).expect("written");
    let error = Library::open(folder.path(), None).expect_err("no index").to_string();
    assert!(error.contains(INDEX) && error.contains("remove it"), "{error}");
    let other = folder.path().join("other.db");
    let database = Connection::open(&other).expect("a database");
    database.execute_batch("CREATE TABLE mine (x); INSERT INTO mine VALUES (1)").expect("made");
    drop(database);
    let error = Library::open(folder.path(), Some(&other)).expect_err("another program's");
    assert!(matches!(error, LibraryError::Damaged { .. }), "{error}");
    assert!(other.metadata().expect("kept").len() > 0);
    // Damage behind the first page is found by what is read.
    fs::remove_file(&index).expect("removed");
    drop(open(folder.path()));
    let mut bytes = fs::read(&index).expect("read");
    bytes[4096..].fill(0xa5);
    fs::write(&index, bytes).expect("written");
    let found = Library::open(folder.path(), None).and_then(|mut it| it.refresh(|_, _| {}));
    assert!(matches!(found, Err(LibraryError::Damaged { .. })), "{found:?}");
}

#[test]
fn own_games_are_kept_and_deleted() {
    let folder = folder();
    let (mut library, _) = open(folder.path());
    let (moves, _) = parse_transcript("f5f6e6f4", Position::<Square8>::start()).expect("moves");
    let record = GameRecord {
        moves: moves.into_iter().map(MoveRecord::of).collect(),
        ..GameRecord::begin(Position::<Square8>::start(), Goal::Most, 0)
    };
    let game = OwnGame {
        record: record.clone(),
        black: "me".into(),
        white: "club ] \u{7} 名人".into(),
        score: None,
        time: OffsetDateTime::UNIX_EPOCH,
    };
    for _ in 0..3 {
        keep(folder.path(), &game).expect("kept");
    }
    assert_eq!(library.refresh(|_, _| {}).expect("a refresh").read, 3);
    let own = Query { is_own: true, most: 9, ..Query::default() };
    let found = library.search(&own).expect("a search");
    assert_eq!(found.total, 3);
    let row = &found.rows[0];
    assert_eq!(row.date.as_deref(), Some("1970.01.01_00:00:00.GMT"));
    assert_eq!(row.white.as_deref(), Some("club )   名人"));
    let (_, kept) = library.game(row.id).expect("a game");
    assert_eq!(kept.moves, record.moves);
    library.delete(row.id).expect("deleted");
    assert_eq!(total(&library, own.clone()), 2);
    assert_eq!(library.refresh(|_, _| {}).expect("a refresh").read, 0);
    let others = library.search(&Query { most: 9, ..Query::default() }).expect("a search");
    let other = others.rows.iter().find(|row| !row.is_own).expect("a game of a file");
    assert!(matches!(library.delete(other.id), Err(LibraryError::NotOwn { .. })));
    assert!(matches!(library.delete(row.id), Err(LibraryError::NoGame { .. })));
}

#[test]
fn two_programs_that_refresh_wait_for_each_other() {
    // Many times, because one may read the new index just while the other makes it.
    for _ in 0..20 {
        let folder = folder();
        let path = folder.path();
        let refresh = || Library::open(path, None).and_then(|mut it| it.refresh(|_, _| {}));
        let results = std::thread::scope(|scope| {
            let both = [scope.spawn(refresh), scope.spawn(refresh)];
            both.map(|thread| thread.join().expect("no panic"))
        });
        for result in results {
            assert_eq!(result.expect("a refresh").games, 4);
        }
    }
}
