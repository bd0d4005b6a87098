//! `outflank solve` as a user runs it, on random positions that are solved here by minimax.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use outflank::game::{
    Board, Colour, Geometry, Goal, Octagon88, Position, Square6, Square8, notation,
};
use serde_json::Value;

fn solve(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_outflank"))
        .arg("solve")
        .args(args)
        .args(["--table-mb", "1"])
        .current_dir(folder)
        .output()
        .expect("the program starts")
}

/// A position with this many empty squares after random moves; it depends on `seed` only.
fn position<G: Geometry>(mut seed: u64, empties: u32) -> Position<G> {
    loop {
        let mut position = Position::<G>::start();
        while position.board.empties() > empties && !position.board.is_over() {
            let legal: Vec<_> = position.board.legal().collect();
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let square = legal[(seed >> 33) as usize % legal.len()];
            position = position.play(square).expect("a legal move").pass_if_forced();
        }
        if position.board.empties() == empties && !position.board.is_over() {
            return position;
        }
    }
}

fn minimax<G: Geometry>(board: Board<G>, goal: Goal) -> i32 {
    let best = board.legal().map(|square| -minimax(board.play_unchecked(square), goal)).max();
    best.unwrap_or_else(|| {
        if board.is_over() { board.final_score(goal) } else { -minimax(board.pass(), goal) }
    })
}

/// An OBF line with the score of each move; `error` is added to the score of the best moves.
fn stated<G: Geometry>(position: Position<G>, goal: Goal, error: i32) -> String {
    let board = position.board;
    let best = minimax(board, goal);
    let scores = board.legal().map(|square| {
        let score = -minimax(board.play_unchecked(square), goal);
        let score = if score == best { score + error } else { score };
        format!(" {}:{score:+};", notation::square_name::<G>(square))
    });
    format!("{};{}", notation::obf(position), scores.collect::<String>())
}

fn lines(output: &Output) -> Vec<Value> {
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines().map(|line| serde_json::from_str(line).expect("a JSON object")).collect()
}

/// The final score of a line of play, for the side to move in `position`.
fn played_out<G: Geometry>(position: Position<G>, line: &str, goal: Goal) -> i32 {
    let (_, end) = notation::parse_transcript(line, position).expect("a legal line");
    assert!(end.board.is_over(), "{line}");
    let score = end.board.final_score(goal);
    if end.side == position.side { score } else { -score }
}

#[test]
fn a_file_is_solved_with_scores_lines_and_agreement() {
    let folder = tempfile::tempdir().expect("a folder");
    let positions: Vec<_> = (0..4).map(|seed| position::<Square8>(seed, 5 + seed as u32)).collect();
    let text: Vec<_> = positions.iter().map(|&position| stated(position, Goal::Most, 0)).collect();
    let text = format!("# generated\n\n{}\n{}\n", text.join("\n"), notation::obf(positions[0]));
    fs::write(folder.path().join("good.obf"), text).expect("a file");
    for threads in ["1", "2"] {
        let output = solve(folder.path(), &["good.obf", "--json", "--threads", threads]);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        let found = lines(&output);
        assert_eq!(found.len(), 5);
        for (&position, line) in positions.iter().zip(&found) {
            let expected = minimax(position.board, Goal::Most);
            assert_eq!(line["version"], 1);
            assert_eq!(line["position"], notation::obf(position).as_str());
            assert_eq!((&line["score"], &line["expected"]), (&expected.into(), &expected.into()));
            assert_eq!(line["agrees"], true);
            let played = line["line"].as_str().expect("a transcript");
            assert_eq!(played_out(position, played, Goal::Most), expected);
            assert!(line["nodes"].as_u64() > Some(0) && line["seconds"].as_f64() > Some(0.0));
        }
        assert_eq!((&found[4]["expected"], &found[4]["agrees"]), (&Value::Null, &Value::Null));
        let total = String::from_utf8_lossy(&output.stderr);
        assert!(total.contains("total: 5 positions, 4 of 4 stated scores agree"), "{total}");
    }
}

#[test]
fn a_wrong_stated_score_ends_with_exit_code_1() {
    let folder = tempfile::tempdir().expect("a folder");
    let line = stated(position::<Square6>(7, 6), Goal::Most, 2);
    fs::write(folder.path().join("wrong.obf"), line).expect("a file");
    let output = solve(folder.path(), &["wrong.obf", "--shape", "6x6"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("is stated") && text.contains("0 of 1 stated scores agree"), "{text}");
}

#[test]
fn bad_lines_are_named_and_the_other_lines_solved() {
    let folder = tempfile::tempdir().expect("a folder");
    let good = stated(position::<Square6>(1, 6), Goal::Most, 0);
    let text = format!(
        "{good}\n{}\n  {}\nXO- X\n{}\n{good}\n",
        good.replacen(';', "; c9:+x;", 1),
        good.replacen(['X', 'O'], "?", 1),
        good.replacen(" O;", " ;", 1).replacen(" X;", " ;", 1),
    );
    fs::write(folder.path().join("mixed.obf"), text).expect("a file");
    let output = solve(folder.path(), &["mixed.obf", "--shape", "6x6", "--json"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    // Without a side to move, the number of discs tells it.
    assert_eq!(lines(&output).len(), 3);
    let message = String::from_utf8_lossy(&output.stderr);
    let wrong = 3 + good.find(['X', 'O']).expect("a disc");
    for part in [
        "mixed.obf:2:41: `c9:+x` is not a `move:score` pair".to_owned(),
        format!(
            "mixed.obf:3:{wrong}: `?` at offset {} is neither a disc nor an empty square; allowed: X",
            wrong - 3
        ),
        "mixed.obf:4:1: a position of this board has 36 characters, found 3".to_owned(),
    ] {
        assert!(message.contains(&part), "no `{part}` in\n{message}");
    }
}

#[test]
fn a_position_of_another_board_and_goal_is_solved() {
    let folder = tempfile::tempdir().expect("a folder");
    let position = position::<Octagon88>(3, 6);
    let text = notation::obf(position);
    let expected = minimax(position.board, Goal::Fewest);
    let args = [&text, "--shape", "octagon88", "--goal", "fewest", "--json"];
    let found = &lines(&solve(folder.path(), &args))[0];
    assert_eq!((&found["score"], &found["expected"]), (&expected.into(), &Value::Null));
    let output = solve(folder.path(), &[&args[..], &["--wld"]].concat());
    assert_eq!(lines(&output)[0]["score"], expected.signum());
    let line = lines(&output)[0]["line"].as_str().expect("a transcript").to_owned();
    assert_eq!(played_out(position, &line, Goal::Fewest).signum(), expected.signum());
}

#[test]
fn an_argument_that_is_neither_file_nor_position_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    for (source, part) in [
        ("none.obf", "none.obf"),
        ("nothing", "(not a file):1:1: `nothing` is no move on board 8x8"),
        ("f5f5", "(not a file):1:3: move 2, `f5`, is not legal"),
    ] {
        let output = solve(folder.path(), &[source]);
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        assert!(message.contains(part), "no `{part}` in\n{message}");
    }
    let finished = Position { board: Board::<Square8> { mine: 7, theirs: 0 }, side: Colour::White };
    let output = solve(folder.path(), &[&notation::obf(finished), "--json"]);
    let found = &lines(&output)[0];
    assert_eq!(
        (output.status.code(), &found["score"], &found["line"]),
        (Some(0), &64.into(), &"".into())
    );
}

/// Two positions that take far too long to solve; the second is the start position.
const ENDLESS: [&str; 2] = ["f5d6c3d3c4f4", "start"];

#[test]
fn a_time_limit_ends_a_solve_with_a_partial_result() {
    let folder = tempfile::tempdir().expect("a folder");
    for source in ENDLESS {
        let output = solve(folder.path(), &[source, "--seconds", "0.2", "--json"]);
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        let found = &lines(&output)[0];
        assert_eq!((&found["solved"], &found["score"]), (&false.into(), &Value::Null));
        assert_eq!((&found["agrees"], &found["at_most"]), (&Value::Null, &Value::Null));
        assert!(found["moves"].as_u64() > Some(0) && found["nodes"].as_u64() > Some(0));
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(text.contains("1 not solved in time") && !text.contains("warning"), "{text}");
    }
    let easy = position::<Square8>(3, 8);
    let text = format!("f5\n{}\n", stated(easy, Goal::Most, 0));
    fs::write(folder.path().join("mixed.obf"), text).expect("a file");
    let output = solve(folder.path(), &["mixed.obf", "--seconds", "0.2", "--wld"]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(text.contains("NOT SOLVED in time: 0 of 3 moves done"), "{text}");
    assert!(text.contains("2 positions, 1 of 1 stated scores agree, 1 not solved"), "{text}");
}

#[test]
fn a_long_solve_without_a_limit_warns() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_outflank"))
        .args(["solve", "start", "--table-mb", "1"])
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("the program starts");
    let stderr = child.stderr.take().expect("a pipe");
    let mut messages = std::io::BufRead::lines(std::io::BufReader::new(stderr));
    let warning = messages.next().expect("a warning").expect("text");
    child.kill().expect("it still runs");
    child.wait().expect("it has ended");
    for part in ["line 1 has 60 empty squares", "million years", "--seconds"] {
        assert!(warning.contains(part), "{warning}");
    }
}

#[test]
fn an_empty_position_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    for empty in ["", "  "] {
        let output = solve(folder.path(), &[empty]);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        assert!(output.stdout.is_empty(), "{output:?}");
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(message.contains("the position is empty; give a file"), "{message}");
    }
}

#[test]
fn a_line_with_invalid_utf8_is_skipped() {
    let folder = tempfile::tempdir().expect("a folder");
    let good = stated(position::<Square6>(1, 6), Goal::Most, 0);
    let mut text = format!("# caf\u{e9}\n{good}\n  ").into_bytes();
    text.extend(b"XO\xe9X X\n");
    text.extend(format!("{good}\n").into_bytes());
    fs::write(folder.path().join("mixed.obf"), text).expect("a file");
    let output = solve(folder.path(), &["mixed.obf", "--shape", "6x6", "--json"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert_eq!(lines(&output).len(), 2);
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(message.contains("mixed.obf:3:5: byte 0xe9 is not UTF-8 text"), "{message}");
}

#[test]
fn of_many_bad_lines_ten_are_shown_and_the_others_counted() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut text = "nonsense\n".repeat(100_000);
    text.push_str(&"x".repeat(1 << 20));
    fs::write(folder.path().join("bad.obf"), text).expect("a file");
    let output = solve(folder.path(), &["bad.obf"]);
    assert_eq!(output.status.code(), Some(2));
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(message.lines().count(), 11, "{message}");
    assert!(message.contains("bad.obf:10:1: "), "{message}");
    assert!(message.ends_with("error: bad.obf: 99991 more bad lines\n"), "{message}");
    let total = String::from_utf8_lossy(&output.stdout);
    assert!(total.contains("100001 bad lines"), "{total}");
}

/// The examples in the repository, with the command that README.md has for them.
#[test]
fn the_example_positions_are_solved_as_stated() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(root.join("examples/positions.obf")).expect("the examples");
    let mut empties = Vec::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let line = notation::parse_obf::<Square8>(line).expect("a position");
        let board = line.position.board;
        empties.push(board.empties());
        let mut stated: Vec<_> = line.scores.iter().filter_map(|&(square, _)| square).collect();
        stated.sort();
        assert_eq!(stated, board.legal().collect::<Vec<_>>(), "{:?}", line.position);
    }
    let expected: Vec<_> = (12..=20).flat_map(|empties| [empties, empties]).collect();
    assert_eq!(empties, expected);
    let output = Command::new(env!("CARGO_BIN_EXE_outflank"))
        .args(["solve", "examples/positions.obf", "--threads", "2"])
        .current_dir(root)
        .output()
        .expect("the program starts");
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("total: 18 positions, 18 of 18 stated scores agree"), "{text}");
}

#[test]
fn probable_scores_name_their_confidence_and_need_probcut() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let file = "examples/positions.obf";
    let output = solve(root, &[file, "--confidence", "99.9", "--json"]);
    let found = lines(&output);
    assert_eq!(found.len(), 18, "{output:?}");
    let right = found.iter().filter(|line| line["agrees"] == true).count();
    assert!(right >= 17, "{output:?}");
    assert!(found.iter().all(|line| line["solved"] == false && line["confidence"] == 99.9));
    let nodes = |output: &Output| -> f64 {
        lines(output).iter().filter_map(|line| line["nodes"].as_f64()).sum()
    };
    let (some, all) = (solve(root, &[file, "--confidence", "50", "--json"]), nodes(&output));
    assert!(nodes(&some) < all, "{some:?}");
    let text = solve(root, &[file, "--confidence", "95"]);
    assert!(String::from_utf8_lossy(&text.stdout).contains(" at 95 %"), "{text:?}");
    for (shape, eval) in [("6x6", "positional"), ("8x8", "discs")] {
        let refused =
            solve(root, &["start", "--confidence", "95", "--shape", shape, "--eval", eval]);
        let error = String::from_utf8_lossy(&refused.stderr);
        assert_eq!(refused.status.code(), Some(2), "{error}");
        assert!(error.contains("--confidence needs a model with Multi-ProbCut"), "{error}");
    }
    let both = solve(root, &["start", "--confidence", "95", "--seconds", "1"]);
    assert_eq!(both.status.code(), Some(2));
}

#[test]
fn the_first_player_of_reversed_6x6_wins() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let reversed = ["--shape", "6x6", "--goal", "fewest", "--confidence", "73", "--json"];
    let output = solve(root, &[&["start"], &reversed[..]].concat());
    let [found] = &lines(&output)[..] else { panic!("{output:?}") };
    // The exact search, which takes minutes, gives +2.
    assert_eq!(found["score"], 2, "{output:?}");
}
