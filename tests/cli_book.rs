//! `outflank book` as a user runs it: builds, growth, exports, imports, and players with a book.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

fn outflank(folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_outflank"));
    command.args(args).current_dir(folder).output().expect("the program starts")
}

/// The standard output of a command that must succeed.
fn done(folder: &Path, args: &[&str]) -> String {
    let output = outflank(folder, args);
    assert_eq!(output.status.code(), Some(0), "{args:?}: {output:?}");
    String::from_utf8(output.stdout).expect("text")
}

/// The error message of a command that must fail.
fn refused(folder: &Path, args: &[&str]) -> String {
    let output = outflank(folder, args);
    assert_eq!(output.status.code(), Some(2), "{args:?}: {output:?}");
    assert!(output.stdout.is_empty(), "{output:?}");
    String::from_utf8(output.stderr).expect("text")
}

const PLAYER: [&str; 4] = ["--player", "alphabeta:depth=2", "--threads", "2"];

/// Builds a small book.
fn build(folder: &Path, file: &str, more: &[&str]) -> String {
    done(folder, &[&["book", "build", file][..], &PLAYER, more].concat())
}

fn show(folder: &Path, file: &str, position: &str) -> Value {
    let text = done(folder, &["book", "show", file, position, "--json"]);
    serde_json::from_str(&text).expect("a JSON object")
}

#[test]
fn a_book_is_built_shown_and_grown() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let text = build(folder, "a.book", &["--positions", "20"]);
    assert!(text.starts_with("a.book: 20 positions, start position "), "{text}");
    let start = show(folder, "a.book", "start");
    assert_eq!((&start["version"], &start["positions"]), (&1.into(), &20.into()));
    assert_eq!((&start["open"], &start["found"]), (&0.into(), &true.into()));
    let moves = start["moves"].as_array().expect("moves");
    let names: Vec<_> = moves.iter().filter_map(|one| one["move"].as_str()).collect();
    assert_eq!(names, ["d3", "c4", "f5", "e6"]);
    for one in moves {
        assert_eq!((&one["score"], &one["source"]), (&start["score"], &"book".into()));
        assert_eq!(one["positions"], 19);
    }
    // The second move's scores are those of its images.
    let images = ["d3", "c4", "f5", "e6"].map(|line| show(folder, "a.book", line));
    assert!(images.iter().all(|image| image["score"] == images[0]["score"]));
    let score = |shown: &Value| shown["score"].as_f64().expect("a score");
    assert_eq!(score(&images[0]), -score(&start));
    let text = done(folder, &["book", "show", "a.book", "f5"]);
    for part in ["a.book: 8x8, goal most, 20 positions", "white to move, value ", "move    score"] {
        assert!(text.contains(part), "no `{part}` in\n{text}");
    }
    let grow = ["book", "grow", "a.book", "--positions", "15"];
    let text = done(folder, &[&grow[..], &PLAYER].concat());
    assert!(text.starts_with("a.book: 35 positions"), "{text}");
    // One growth of 35 positions gives the same book.
    build(folder, "b.book", &["--positions", "35"]);
    let read = |file: &str| fs::read(folder.join(file)).expect("a book");
    assert_eq!(read("a.book"), read("b.book"));
    let output = outflank(folder, &["book", "show", "a.book", "f5f4e3f2"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("not in the book"));
}

#[test]
fn another_board_and_goal_have_their_own_books() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    for (shape, goal) in [("cross92", "most"), ("6x6", "fewest")] {
        let options = ["--shape", shape, "--goal", goal, "--positions", "6"];
        build(folder, shape, &options);
        let shown = show(folder, shape, "start");
        assert_eq!((&shown["shape"], &shown["goal"]), (&shape.into(), &goal.into()));
        assert_eq!(done(folder, &["book", "export", shape, "--to", "json"]).lines().count(), 6);
    }
    let error = refused(folder, &["book", "merge", "out", "cross92", "6x6"]);
    assert!(
        error.contains("6x6 is not used as a book: its board is 6x6; wanted: cross92"),
        "{error}"
    );
    assert!(!folder.join("out").exists());
    let arena = ["arena", "greedy", "random:book=6x6", "--shape", "6x6", "--games", "2"];
    let error = refused(folder, &arena);
    assert!(
        error.contains("6x6 is not used as a book: its goal is fewest; wanted: most"),
        "{error}"
    );
}

#[test]
fn an_exported_book_can_be_imported_and_grown_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    build(folder, "a.book", &["--positions", "40"]);
    let lines = done(folder, &["book", "export", "a.book"]);
    assert!(lines.lines().all(|line| line.split(' ').count() == 2), "{lines}");
    fs::write(folder.join("lines.txt"), format!("# a comment\n{lines}")).expect("a file");
    let text = done(folder, &["book", "import", "b.book", "lines.txt", "--plies", "60"]);
    assert!(
        text.contains("b.book: 40 positions, the start position has no score yet; 40 need"),
        "{text}"
    );
    let grow = ["book", "grow", "b.book", "--positions", "0"];
    done(folder, &[&grow[..], &PLAYER].concat());
    let again = done(folder, &["book", "export", "b.book", "--to", "json"]);
    assert_eq!(again, done(folder, &["book", "export", "a.book", "--to", "json"]));
    let text = done(folder, &["book", "merge", "both.book", "a.book", "b.book"]);
    assert!(text.starts_with("both.book: 40 positions"), "{text}");
    let read = |file: &str| fs::read(folder.join(file)).expect("a book");
    assert_eq!(read("both.book"), read("a.book"));
    let obf = done(folder, &["book", "export", "a.book", "--to", "obf"]);
    assert_eq!(obf.lines().count(), 40);
    let last = obf.lines().last().expect("a line");
    assert_eq!(show(folder, "a.book", last)["found"], true, "{last}");
}

#[test]
fn games_are_imported_and_bad_ones_left_out() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    // The last good game is an image of the first one, so it adds nothing.
    fs::write(folder.join("games.txt"), "f5d6c3d3c4\n\nf5f5\nd3c5 won\nd3c5x9\n").expect("a file");
    let output = outflank(folder, &["book", "import", "a.book", "games.txt", "--plies", "3"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let messages = String::from_utf8_lossy(&output.stderr);
    for part in [
        "warning: games.txt: line 3: character 3: move 2, `f5`, is not legal",
        "warning: games.txt: line 5: character 5: `x9` is no move",
        "4 new positions from 2 games",
    ] {
        assert!(messages.contains(part), "no `{part}` in\n{messages}");
    }
    let before = fs::read(folder.join("a.book")).expect("a book");
    fs::write(folder.join("bad.txt"), "f5f5\n").expect("a file");
    fs::write(folder.join("bad.wtb"), "f5f5\n").expect("a file");
    for (source, part) in [
        ("bad.txt", "bad.txt holds no game of board 8x8"),
        ("bad.wtb", "bad.wtb has 5 bytes; a WTHOR file has at least 16"),
        ("none.txt", "cannot read none.txt"),
        (".", "./bad.wtb has 5 bytes; a WTHOR file has at least 16"),
    ] {
        let output = outflank(folder, &["book", "import", "a.book", "games.txt", source]);
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        assert!(error.contains(part), "no `{part}` in\n{error}");
        assert_eq!(fs::read(folder.join("a.book")).expect("a book"), before);
    }
    let error = refused(folder, &["book", "import", "a.book", "games.txt", "--shape", "6x6"]);
    assert!(error.contains("a.book is a book for board 8x8 and goal most"), "{error}");
    // The games of a run of this program.
    let run = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/run-1");
    let run = run.to_str().expect("a path");
    let import = ["book", "import", "b.book", run, "--shape", "6x6", "--plies", "5"];
    let text = done(folder, &import);
    assert!(text.contains("b.book: ") && text.contains("need a search"), "{text}");
}

#[test]
fn a_player_moves_by_its_book() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    build(folder, "a.book", &["--shape", "6x6", "--positions", "30"]);
    let arena = [
        "arena",
        "random:book=a.book,book_loss=1",
        "random",
        "--shape",
        "6x6",
        "--games",
        "4",
        "--openings",
        "start",
        "--ladder",
        "ladder.jsonl",
    ];
    done(folder, &arena);
    let ladder = fs::read_to_string(folder.join("ladder.jsonl")).expect("a ladder");
    let lines: Vec<Value> =
        ladder.lines().map(|line| serde_json::from_str(line).expect("an object")).collect();
    let games: Vec<&Value> = lines.iter().filter(|line| line["kind"] == "game").collect();
    assert_eq!(games.len(), 4);
    for game in games {
        let with_book = |name: &Value| {
            name.as_str().is_some_and(|name| name.starts_with("random:book=a.book#"))
        };
        assert!(with_book(&game["black"]) != with_book(&game["white"]), "{game}");
        assert!(game["forfeit"].is_null(), "{game}");
    }
    let error = refused(folder, &["arena", "random:book=none", "greedy", "--games", "2"]);
    assert!(error.contains("cannot read none"), "{error}");
}

/// Each of two commands would have lost what the other one adds.
#[test]
fn one_command_at_a_time_changes_a_book() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    build(folder, "a.book", &["--positions", "5"]);
    let before = fs::read(folder.join("a.book")).expect("a book");
    fs::write(folder.join("games.txt"), "f5d6c3d3c4\n").expect("a file");
    let lock = fs::File::create(folder.join(".a.book.lock")).expect("a file");
    lock.try_lock().expect("nobody holds it");
    for args in [
        &["book", "import", "a.book", "games.txt"][..],
        &["book", "grow", "a.book", "--positions", "1"],
        &["book", "merge", "a.book", "a.book", "a.book"],
    ] {
        let error = refused(folder, args);
        assert!(error.contains("a.book is being changed by another command"), "{error}");
    }
    assert_eq!(fs::read(folder.join("a.book")).expect("a book"), before);
    assert_eq!(show(folder, "a.book", "start")["found"], true);
    drop(lock);
    done(folder, &["book", "import", "a.book", "games.txt"]);
}

#[test]
fn what_is_not_a_book_is_refused_and_nothing_is_lost() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    build(folder, "a.book", &["--positions", "5"]);
    let whole = fs::read(folder.join("a.book")).expect("a book");
    let mut damaged = whole.clone();
    damaged[40] ^= 1;
    fs::write(folder.join("bad.book"), &damaged).expect("a file");
    fs::write(folder.join("text"), "hello").expect("a file");
    let error = refused(folder, &["book", "build", "a.book"]);
    assert!(error.contains("a.book exists; name a new file"), "{error}");
    let error = refused(folder, &["book", "merge", "a.book", "bad.book", "bad.book"]);
    assert!(error.contains("a.book exists and is none of the books"), "{error}");
    for args in [
        &["book", "show", "bad.book"][..],
        &["book", "grow", "bad.book"],
        &["book", "export", "bad.book"],
        &["book", "import", "bad.book", "text"],
        &["book", "merge", "a.book", "a.book", "bad.book"],
        &["arena", "random:book=bad.book", "greedy", "--games", "2"],
    ] {
        let error = refused(folder, args);
        let part = "bad.book is not used as a book: it is damaged: its last 4 bytes, the checksum";
        assert!(error.contains(part), "no `{part}` in\n{error}");
    }
    for args in [&["book", "show", "text"][..], &["book", "grow", "text"]] {
        let error = refused(folder, args);
        let part = "text is not used as a book: it begins with `hello`; a book of this version";
        assert!(error.contains(part), "no `{part}` in\n{error}");
    }
    assert_eq!(fs::read(folder.join("bad.book")).expect("a file"), damaged);
    assert_eq!(fs::read(folder.join("a.book")).expect("a book"), whole);
    for (player, part) in [
        ("greedy", "player `greedy` cannot search for a book; allowed: alphabeta"),
        ("alphabeta:gametime=1s", "cannot search for a book"),
    ] {
        let error = refused(folder, &["book", "grow", "a.book", "--player", player]);
        assert!(error.contains(part), "no `{part}` in\n{error}");
    }
    let error = refused(folder, &["book", "show", "a.book", "f5f5"]);
    assert!(error.contains("character 3: move 2, `f5`, is not legal"), "{error}");
    let error = refused(folder, &["book", "grow", "a.book", "--positions", "99999999999"]);
    assert!(error.contains("allowed: 6710885 on this board"), "{error}");
    let error = refused(folder, &["book", "build", "no/a.book", "--positions", "5"]);
    assert!(error.contains("no/"), "{error}");
}
