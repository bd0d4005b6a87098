//! `outflank games` and `outflank library` as a user runs them: counts, filters, every format, and damaged
//! files.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use outflank::game::notation::{parse_transcript, transcript};
use outflank::game::{Position, Square8};
use outflank::net::inference::{Options, Precision};
use outflank::players::models::LoadedModel;
use outflank::predict::{Input, Predictions};
use serde_json::Value;

fn outflank(folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_outflank"));
    command.args(args).current_dir(folder).output().expect("the program starts")
}

/// The standard output and error of a command that must succeed.
fn done(folder: &Path, args: &[&str]) -> (String, String) {
    let output = outflank(folder, args);
    assert_eq!(output.status.code(), Some(0), "{args:?}: {output:?}");
    let text = |bytes| String::from_utf8(bytes).expect("text");
    (text(output.stdout), text(output.stderr))
}

/// The error message of a command that must fail.
fn refused(folder: &Path, args: &[&str]) -> String {
    let output = outflank(folder, args);
    assert_eq!(output.status.code(), Some(2), "{args:?}: {output:?}");
    assert!(output.stdout.is_empty(), "{output:?}");
    String::from_utf8(output.stderr).expect("text")
}

/// A whole game that begins with f5f6: then each side plays its last legal move.
fn whole_game() -> String {
    let (mut moves, mut position) =
        parse_transcript::<Square8>("f5f6", Position::start()).expect("legal moves");
    while let Some(square) = position.board.legal().last() {
        moves.push(square);
        position = position.play(square).expect("a legal move").pass_if_forced();
    }
    transcript::<Square8>(moves)
}

/// A whole game, three that end early, and one with an illegal move.
fn games() -> [String; 5] {
    let others = ["c4c3d3c5b6", "f5f6e6f4 a comment", "f5d6", "f5f5"].map(String::from);
    let [two, three, four, five] = others;
    [whole_game(), two, three, four, five]
}

fn write(folder: &Path, name: &str, content: impl AsRef<[u8]>) {
    fs::write(folder.join(name), content).expect("writable");
}

/// Games of the program itself, as lines of JSON: 24 games of a run on 6x6.
fn run() -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/run-1").display().to_string()
}

/// A WTHOR file of games given as transcripts.
fn wthor(year: u16, games: &[&str]) -> Vec<u8> {
    let mut bytes = vec![20, 26, 1, 1];
    bytes.extend((games.len() as u32).to_le_bytes());
    bytes.extend([0, 0]);
    bytes.extend(year.to_le_bytes());
    bytes.extend([8, 0, 22, 0]);
    for (number, game) in games.iter().enumerate() {
        let mut record = [0u8; 68];
        record[2] = number as u8;
        for (at, square) in game.as_bytes().chunks(2).enumerate() {
            record[8 + at] = 10 * (square[1] - b'0') + square[0] - b'a' + 1;
        }
        bytes.extend(record);
    }
    bytes
}

fn counts(folder: &Path, args: &[&str]) -> Value {
    let (text, _) = done(folder, &[&["games"], args, &["--json"]].concat());
    serde_json::from_str(text.lines().last().expect("a line")).expect("JSON")
}

#[test]
fn games_are_counted_and_those_with_faults_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    write(folder, "games.txt", games().join("\n"));
    let (table, named) = done(folder, &["games", "games.txt"]);
    let row: Vec<_> = table.lines().nth(1).expect("a row").split_whitespace().collect();
    assert_eq!(row[..7], ["games.txt", "4", "1", "0", "3", "1", "0"], "{table}");
    assert!(named.contains("games.txt: line 2: unfinished after move 5"), "{named}");
    assert!(
        named.contains("games.txt: line 5: character 3: move 2, `f5`, is not legal"),
        "{named}"
    );
    let all = counts(folder, &["games.txt"]);
    assert_eq!((&all["finished"], &all["illegal"]), (&1.into(), &1.into()));
    assert_eq!(all["file"], Value::Null);
    // Many faults: ten are named, or all.
    write(folder, "bad.txt", "f5f5\n".repeat(30));
    let (_, named) = done(folder, &["games", "bad.txt"]);
    assert_eq!(named.lines().count(), 11, "{named}");
    assert!(named.ends_with("bad.txt: 20 more such lines; --all shows them\n"), "{named}");
    let (_, named) = done(folder, &["games", "bad.txt", "--all"]);
    assert_eq!(named.lines().count(), 30);
}

#[test]
fn filters_choose_games() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let [whole, cut, ..] = games();
    let games = [whole.as_str(), cut.as_str()];
    write(folder, "WTH_1999.wtb", wthor(1999, &games));
    write(folder, "WTH_2001.wtb", wthor(2001, &games));
    let mut names = vec![0; 16];
    names[8] = 2;
    for name in ["Tastet Marc", "Shaman David"] {
        names.extend(name.bytes());
        names.resize(names.len() + 20 - name.len(), 0);
    }
    write(folder, "WTH.JOU", names);
    let found = |args: &[&str]| counts(folder, &[&["."], args].concat())["games"].as_u64();
    assert_eq!(found(&[]), Some(4));
    assert_eq!(found(&["--finished"]), Some(2));
    assert_eq!(found(&["--years", "1999"]), Some(2));
    assert_eq!(found(&["--years", "2000..2010", "--finished"]), Some(1));
    assert_eq!(found(&["--player", "sHaman"]), Some(2));
    assert_eq!(found(&["--white", "Shaman"]), Some(0));
    assert_eq!(found(&["--score=-64..64"]), Some(2));
    assert_eq!(found(&["--first", "3"]), Some(3));
    assert_eq!(found(&["--last", "1", "--years", "1999..2001"]), Some(1));
    assert_eq!(found(&["--source", "import"]), Some(4));
    assert_eq!(found(&["--source", "self-play"]), Some(0));
    // Both games begin with an image of f5f6.
    for opening in ["f5f6", "d3c3", "c4c3", "e6f6"] {
        assert_eq!(found(&["--opening", opening]), Some(4), "{opening}");
    }
    // The cut-off games begin with an image of this.
    assert_eq!(found(&["--opening", "f5f6e6f4"]), Some(2));
    assert_eq!(found(&["--opening", "f5d6"]), Some(0));
    let (last, _) = done(folder, &["games", ".", "--last", "1", "--to", "transcript"]);
    assert_eq!(last.trim(), games[1]);
    assert!(refused(folder, &["games", ".", "--opening", "a1"]).contains("--opening on board 8x8"));
    assert!(refused(folder, &["games", ".", "--years", "9..1"]).contains("LOW at most HIGH"));
}

#[test]
fn games_go_through_every_format_and_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let [whole, cut, ..] = games();
    let games = [whole.as_str(), cut.as_str()];
    write(folder, "a.wtb", wthor(1999, &games));
    for (format, name) in [("transcript", "a.txt"), ("ggf", "a.ggf"), ("json", "a.json")] {
        done(folder, &["games", "a.wtb", "--to", format, "--out", name]);
        let (again, _) = done(folder, &["games", name, "--to", format]);
        assert_eq!(again, fs::read_to_string(folder.join(name)).expect("text"), "{format}");
        let (moves, _) = done(folder, &["games", name, "--to", "transcript"]);
        assert!(moves.lines().eq(games), "{format}: {moves}");
    }
    // A run keeps its values, exact scores and policies, byte for byte.
    done(folder, &["games", &run(), "--to", "json", "--out", "run.json"]);
    let (again, told) = done(folder, &["games", "run.json", "--to", "json", "--from", "json"]);
    assert_eq!(again, fs::read_to_string(folder.join("run.json")).expect("text"));
    assert!(told.contains("24 games written"), "{told}");
    for member in ["values", "exact", "policies"] {
        assert!(again.contains(member), "{member}");
    }
    let (rows, _) = done(folder, &["games", &run(), "--to", "csv"]);
    assert_eq!(rows.lines().count(), 25);
    let (positions, _) = done(folder, &["games", &run(), "--to", "obf"]);
    let moves = counts(folder, &[&run()])["positions"].as_u64().expect("a number");
    assert_eq!(positions.lines().count() as u64, moves);
    assert!(positions.lines().any(|line| line.contains(':')), "exact moves are shown");
    let args = ["games", "run.json", "--to", "npz", "--out", "arrays", "--positions", "300"];
    let (_, told) = done(folder, &args);
    assert!(told.contains("737 positions in 3 files"), "{told}");
    assert_eq!(fs::read_dir(folder.join("arrays")).expect("a folder").count(), 3);
}

/// The planes in a file, and the example that computes a net from them, against the program's own
/// float32. The test needs NumPy; without it nothing is compared.
#[test]
fn the_example_with_numpy_computes_the_programs_answers() {
    let python = std::env::var("OUTFLANK_PYTHON").unwrap_or_else(|_| "python3".into());
    let has_numpy = Command::new(&python).args(["-c", "import numpy"]).output();
    if !has_numpy.is_ok_and(|output| output.status.success()) {
        eprintln!("nothing compared: {python} has no NumPy");
        return;
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = tempfile::tempdir().expect("a folder");
    write(folder.path(), "a.txt", whole_game());
    for net in ["checkpoints/8x8-small", "checkpoints/8x8"] {
        let (path, name) = (root.join(net), net.replace('/', "-"));
        let net = path.display().to_string();
        done(folder.path(), &["games", "a.txt", "--to", "npz", "--out", &name, "--net", &net]);
        let output = Command::new(&python)
            .arg(root.join("examples/load_npz.py"))
            .arg(folder.path().join(&name).join("positions-000001.npz"))
            .args([path.join("net.safetensors").as_os_str(), "100".as_ref()])
            .output()
            .expect("python starts");
        assert!(output.status.success(), "{output:?}");
        let text = String::from_utf8(output.stdout).expect("text");

        let (moves, _) = parse_transcript::<Square8>(&whole_game(), Position::start()).expect("ok");
        let options = Options { precision: Precision::F32, ..Options::default() };
        let model = LoadedModel::read(&path).expect("a net");
        let mut backend = model.backend(&options, "cpu").expect("a backend");
        let (mut position, mut inputs) = (Position::<Square8>::start(), Vec::new());
        for square in moves {
            inputs.push(Input::new(position.board, position.board.legal()));
            position = position.play(square).expect("a legal move").pass_if_forced();
        }
        let mut predictions = Predictions::default();
        backend.predict(&inputs, &mut predictions).expect("predictions");
        assert_eq!(text.lines().count(), inputs.len());
        let mut largest = 0.0f32;
        for (index, (line, input)) in text.lines().zip(&inputs).enumerate() {
            let words: Vec<_> = line.split_whitespace().collect();
            let number = |word: usize| words[word].parse::<f32>().expect("a number");
            let found = predictions.get(index, 64);
            let is_legal = |square: usize| input.legal >> square & 1 == 1;
            let weight = |square: usize| found.policy[square].exp();
            let sum: f32 = (0..64).filter(|&square| is_legal(square)).map(weight).sum();
            let best = number(4) as usize;
            assert!(is_legal(best), "{line}");
            largest = largest.max((number(1) - found.value).abs());
            largest = largest.max((number(6) - weight(best) / sum).abs());
        }
        eprintln!("{name}: largest difference {largest:e}");
        assert!(largest < 1e-4, "{name}: {largest}");
    }
}

#[test]
fn nothing_is_replaced_and_options_that_do_not_fit_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    write(folder, "a.txt", games().join("\n"));
    let error = refused(folder, &["games", "a.txt", "--to", "json", "--out", "a.txt"]);
    assert!(error.contains("a.txt"), "{error}");
    assert_eq!(fs::read_to_string(folder.join("a.txt")).expect("text"), games().join("\n"));
    for (args, wanted) in [
        (&["games", "a.txt", "--to", "npz"][..], "--to npz needs --out FOLDER"),
        (&["games", "a.txt", "--to", "npz", "--out", "."], "is not an empty folder"),
        (&["games", "a.txt", "--to", "csv", "--planes", "discs"], "are for --to npz"),
        (&["games", "a.txt", "--to", "xml"], "allowed: transcript, ggf, obf, json, csv, npz"),
        (&["games", "none.wtb"], "none.wtb"),
        (&["games", "a.txt", "--from", "wthor"], "a.txt holds no WTHOR games"),
        (&["games", "."], "b.wtb is cut off or no WTHOR file"),
    ] {
        if args.len() == 2 {
            write(folder, "b.wtb", &wthor(1999, &["f5d6"])[..80]);
        }
        let error = refused(folder, args);
        assert!(error.contains(wanted), "{args:?}: {error}");
    }
    // A count that the file does not have takes no memory.
    let mut huge = wthor(1999, &["f5d6"]);
    huge[4..8].fill(0xff);
    write(folder, "b.wtb", huge);
    let error = refused(folder, &["games", "b.wtb"]);
    assert!(error.contains("4294967295 games have 292057776076"), "{error}");
    assert_eq!(fs::read_dir(folder).expect("a folder").count(), 2, "no temporary file is left");
}

#[test]
fn a_library_is_searched_and_follows_its_files() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    fs::create_dir(folder.join("games")).expect("a folder");
    write(folder, "games/mine.txt", games().join("\n"));
    let (list, told) = done(folder, &["library", "games"]);
    assert!(told.contains("1 new or changed files; 4 games, 1 left out as unreadable"), "{told}");
    assert!(list.ends_with("4 games\n") && list.contains("Diagonal"), "{list}");
    // Nothing is read twice.
    let (list, told) = done(folder, &["library", "games", "--opening", "diagonal", "--limit", "1"]);
    assert!(told.is_empty() && list.ends_with("1 of 2 games\n"), "{told}{list}");
    // c4c3 and f5f6 are images of each other.
    let at = |more: &[&str]| {
        let args = [&["library", "games", "--position", "c4c3", "--json"], more].concat();
        let lines = done(folder, &args).0;
        lines.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect::<Vec<Value>>()
    };
    assert_eq!(at(&[]).len(), 3);
    let moves = at(&["--explore"]);
    let counts = moves.iter().map(|line| line["games"].as_u64().expect("a number"));
    assert_eq!(counts.sum::<u64>(), 3);
    let number = at(&[])[0]["id"].to_string();
    let (whole, _) = done(folder, &["library", "games", "--game", &number]);
    assert!(whole.contains("moves    "), "{whole}");
    write(folder, "games/mine.txt", whole_game());
    let (list, _) = done(folder, &["library", "games", "--index", "elsewhere.db"]);
    assert!(list.ends_with("1 game\n"), "{list}");

    let none = refused(folder, &["library", "nowhere"]);
    assert!(none.contains("nowhere"), "{none}");
    let file = refused(folder, &["library", "games/mine.txt"]);
    assert!(file.contains("is no folder"), "{file}");
    let bad = refused(folder, &["library", "games", "--position", "f5f5"]);
    assert!(bad.contains("--position"), "{bad}");
    let other = refused(folder, &["library", "games", "--index", "games/mine.txt"]);
    assert!(other.contains("mine.txt is damaged or no index of this program"), "{other}");
    assert_eq!(fs::read_to_string(folder.join("games/mine.txt")).expect("kept"), whole_game());
}
