//! `outflank analyse`: tables for people, JSON for programs.

use std::io::Write as _;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

fn outflank(arguments: &[&str], input: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_outflank"));
    command.arg("analyse").args(arguments);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program");
    // It may have refused its arguments and ended.
    let _ = child.stdin.take().expect("a pipe").write_all(input.as_bytes());
    child.wait_with_output().expect("it ends")
}

fn printed(arguments: &[&str], input: &str) -> String {
    let output = outflank(arguments, input);
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).expect("text")
}

fn refused(arguments: &[&str]) -> String {
    let output = outflank(arguments, "");
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(output.stdout.is_empty(), "{output:?}");
    String::from_utf8(output.stderr).expect("text")
}

/// An answer without its time.
fn answer(line: &str) -> Value {
    let mut answer: Value = serde_json::from_str(line).expect("JSON");
    if let Some(root) = answer.get_mut("root").and_then(Value::as_object_mut) {
        assert!(root.remove("seconds").is_some_and(|seconds| seconds.is_f64()), "{line}");
    }
    answer
}

#[test]
fn the_examples_of_the_page_are_what_the_program_prints() {
    let page = include_str!("../docs/analysis.md");
    let blocks = page.split("```json\n").skip(1).filter_map(|rest| rest.split("\n```").next());
    let (mut query, mut examples) = ("", Vec::new());
    for block in blocks {
        match block.contains("\"turn\"") {
            true => examples.push((query, answer(block))),
            false => query = block,
        }
    }
    assert_eq!(examples.len(), 3, "{examples:?}");
    for (query, wanted) in examples {
        let text = printed(&["--json", "--threads", "1"], query);
        let found = text.lines().map(answer).find(|answer| answer["turn"] == wanted["turn"]);
        assert_eq!(found, Some(wanted), "{query}");
    }
}

#[test]
fn the_page_names_every_field() {
    let page = include_str!("../docs/analysis.md");
    let query = r#"{"id":"1","board":"6x6","goal":"most","position":"--------------XO----OX-------------- O","moves":[],"analyse":[0],"player":"rollouts","time":9,"simulations":20,"report_every":1,"max_moves":9,"priority":1}"#;
    let text = printed(&["--json", "--threads", "1"], query);
    let last = answer(text.lines().last().expect("an answer"));
    let names = |value: &Value| value.as_object().expect("an object").keys().cloned().collect();
    let names: Vec<Vec<String>> = vec![
        serde_json::from_str(query).map(|query| names(&query)).expect("JSON"),
        names(&last),
        names(&last["moves"][0]),
        names(&last["root"]),
    ];
    for name in names.concat() {
        assert!(page.contains(&format!("`{name}`")), "{name}");
    }
}

#[test]
fn a_position_has_a_table_of_its_moves() {
    let arguments = ["f5d6", "--player", "alphabeta:depth=4", "--moves", "3"];
    let text = printed(&arguments, "");
    let lines: Vec<_> = text.lines().collect();
    let head = lines.iter().position(|line| line.starts_with("move ")).expect("a table");
    assert_eq!(lines.len(), head + 5, "{text}");
    assert!(text.contains("black (X) 3, white (O) 3; black to move"), "{text}");
    assert!(!text.contains('\u{1b}'), "a pipe gets plain text");
}

/// The beginning of a game on 6x6.
const GAME: &str = "c2b4c5d6";

#[test]
fn a_review_has_every_move_and_both_sides() {
    let arguments =
        ["--shape", "6x6", GAME, "--review", "--player", "alphabeta:depth=3", "--threads", "2"];
    let text = printed(&arguments, "");
    let rows =
        text.lines().filter(|line| line.starts_with("black  ") || line.starts_with("white  "));
    assert_eq!(rows.count(), GAME.len() / 2, "{text}");
    for side in ["black: ", "white: "] {
        assert!(
            text.lines().any(|line| line.starts_with(side) && line.contains("discs lost")),
            "{text}"
        );
    }
    assert_eq!(printed(&[&arguments[..7], &["1"]].concat(), ""), text, "one thread says the same");
}

#[test]
fn bad_input_is_refused_in_one_line() {
    for (arguments, wanted) in [
        (&["f5a1"][..], "a1"),
        (&[" "], "the game is empty"),
        (&["/no/such.ggf"], "/no/such.ggf"),
        (&["f5", "--player", "random", "--simulations", "10"], "no limit --simulations"),
        (&["f5", "--time", "0"], "0.001"),
    ] {
        let error = refused(arguments);
        assert!(error.contains(wanted), "{arguments:?}: {error}");
    }
    assert!(refused(&["--json", "f5"]).contains("cannot be used with"));
    assert!(refused(&[]).contains("required"));
}

/// A query that the memory does not hold is refused, and the others get their answers.
#[test]
fn a_table_that_is_too_large_ends_only_its_query() {
    if outflank::search::memory::memory().is_none_or(|(_, free)| free > 1 << 36) {
        eprintln!("SKIPPED: this machine has more memory than the largest table, or does not say");
        return;
    }
    let large = r#"{"id":"a","moves":"f5","player":"alphabeta:depth=2,table_mb=65536"}"#;
    let small = r#"{"id":"b","moves":"f5","player":"alphabeta:depth=2,table_mb=1"}"#;
    let text = printed(&["--json", "--threads", "1"], &format!("{large}\n{small}\n"));
    let lines: Vec<_> = text.lines().map(answer).collect();
    let of = |id: &str| lines.iter().find(|line| line["id"] == id).expect("an answer");
    assert!(of("a")["error"].as_str().is_some_and(|error| error.contains("table_mb")), "{text}");
    assert!(of("b")["moves"].is_array(), "{text}");
}
