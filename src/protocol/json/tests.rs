//! Tests of the analysis in JSON.

use std::collections::HashSet;
use std::io::{self, Cursor, Write};

use proptest::prelude::*;
use serde_json::{Value, json};

use super::queue::Queue;
use super::*;
use crate::game::notation::parse_transcript;
use crate::game::{Goal, Position, Shape, Square6};
use crate::players::spec::PlayerSpec;
use crate::search::endgame::Solver;

/// A whole game on 6x6, with nothing special about it.
fn game() -> String {
    let mut position = Position::<Square6>::start();
    let mut moves = Vec::new();
    while let Some(square) = position.board.legal().next() {
        moves.push(square);
        position = position.play(square).expect("legal").pass_if_forced();
    }
    crate::game::notation::transcript::<Square6>(moves)
}

fn allows(player: &PlayerSpec) -> Result<(), String> {
    match player.to_string().starts_with("external") {
        true => Err("no external engines here".into()),
        false => Ok(()),
    }
}

fn with_settings<R>(threads: usize, use_them: impl FnOnce(&Settings<'_>) -> R) -> R {
    let player = "alphabeta:depth=2".parse().expect("a player");
    let terms = Terms {
        shape: Shape::Square6,
        goal: Goal::Most,
        player: Some(&player),
        allows,
        bounds: None,
    };
    let desk = DeskOptions { device: "cpu".into(), cores: 1, seed: 1 };
    use_them(&Settings { terms, desk, threads })
}

/// The answers to these lines.
fn answers(input: &[u8], threads: usize) -> Vec<Value> {
    let mut output = Vec::new();
    let input = Cursor::new(input.to_vec());
    with_settings(threads, |settings| serve(input, &mut output, settings)).expect("memory");
    let text = String::from_utf8(output).expect("text");
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

fn answers_to(queries: &[Value], threads: usize) -> Vec<Value> {
    let lines: String = queries.iter().map(|query| format!("{query}\n")).collect();
    answers(lines.as_bytes(), threads)
}

#[test]
fn a_position_is_answered_with_its_moves() {
    let said = answers_to(&[json!({"id": "a", "moves": "c2"})], 1);
    assert_eq!(said.len(), 1);
    let answer = &said[0];
    assert_eq!((&answer["id"], &answer["turn"]), (&json!("a"), &json!(1)));
    assert_eq!(answer["is_during_search"], json!(false));
    let moves = answer["moves"].as_array().expect("moves");
    assert_eq!(moves.len(), 3);
    for one in moves {
        assert_eq!(one["line"][0], one["move"]);
        assert_eq!((&one["source"], &one["bound"]), (&json!("alphabeta"), &json!("estimated")));
        assert!(one["depth"].is_u64() && one["score"].is_f64() && one.get("visits").is_none());
    }
    assert_eq!(answer["root"]["score"], moves[0]["score"]);
    assert_eq!(answer["root"]["player"], json!("alphabeta:depth=2"));
}

#[test]
fn every_turn_of_a_game_has_an_answer_with_exact_scores_near_the_end() {
    let game = game();
    let (moves, _) = parse_transcript::<Square6>(&game, Position::start()).expect("legal");
    let query = json!({"id": "g", "moves": game, "analyse": "all", "depth": 30, "nodes": 20_000});
    let mut said = answers_to(&[query], 2);
    said.sort_by_key(|answer| answer["turn"].as_u64());
    assert_eq!(said.len(), moves.len() + 1);
    let mut exact = 0;
    let mut position = Position::<Square6>::start();
    for (turn, answer) in said.iter().enumerate() {
        assert_eq!(answer["turn"], json!(turn));
        if position.board.empties() <= 8 {
            let score = match position.board.is_over() {
                true => position.board.final_score(Goal::Most),
                false => Solver::new(Goal::Most, 1 << 16).score(position.board),
            };
            let root = &answer["root"];
            assert_eq!((&root["bound"], &root["score"]), (&json!("exact"), &json!(score as f32)));
            exact += 1;
        }
        if let Some(&square) = moves.get(turn) {
            position = position.play(square).expect("legal").pass_if_forced();
        }
    }
    assert!(exact > 5, "{exact}");
    assert_eq!(said.last().expect("the end")["game_over"], json!(true));
}

#[test]
fn the_answers_do_not_depend_on_threads_or_earlier_queries() {
    let game = game();
    let query = |id: &str, player: &str| json!({"id": id, "moves": game, "analyse": [3, 9, 20], "player": player, "simulations": 300});
    let rollouts = query("r", "rollouts");
    let strip = |mut answers: Vec<Value>| {
        answers.retain(|answer| answer["id"] == "r");
        answers.sort_by_key(|answer| answer["turn"].as_u64());
        answers.iter_mut().for_each(|answer| answer["root"]["seconds"] = json!(0));
        answers
    };
    let alone = strip(answers_to(std::slice::from_ref(&rollouts), 1));
    let others = [json!({"id": "x", "moves": "c2", "player": "rollouts"}), rollouts];
    assert_eq!(alone.len(), 3);
    assert_eq!(strip(answers_to(&others, 3)), alone);
}

#[test]
fn reports_improve_and_the_last_one_says_so() {
    let query =
        json!({"id": "i", "player": "rollouts", "simulations": 20_000, "report_every": 0.01});
    let said = answers_to(&[query], 1);
    let (last, before) = said.split_last().expect("answers");
    assert!(!before.is_empty(), "{said:?}");
    assert!(before.iter().all(|answer| answer["is_during_search"] == json!(true)));
    assert_eq!(last["is_during_search"], json!(false));
    let nodes: Vec<_> = said.iter().map(|answer| answer["root"]["nodes"].as_u64()).collect();
    assert!(nodes.is_sorted() && nodes.last() == Some(&Some(20_000)), "{nodes:?}");
}

/// Without `terminate` these queries would take days.
#[test]
fn queries_are_terminated_by_id_or_all_together() {
    let endless = |id: &str| json!({"id": id, "analyse": [0], "depth": 32, "time": 80_000});
    let end = json!({"id": "t", "action": "terminate", "terminate_id": "a"});
    let end_all = json!({"id": "u", "action": "terminate_all"});
    let said = answers_to(&[endless("a"), endless("b"), end, end_all], 1);
    let ids: HashSet<_> = said.iter().map(|answer| answer["id"].as_str().expect("an id")).collect();
    assert_eq!(ids, HashSet::from(["a", "b", "t", "u"]));
    for answer in said.iter().filter(|answer| answer.get("action").is_none()) {
        assert_eq!(answer["terminated"], json!(true), "{answer}");
    }
}

#[test]
fn higher_priorities_come_first_and_turns_stay_in_order() {
    let queue = Queue::default();
    for (id, priority) in [("1", 0), ("2", 7), ("3", -1), ("4", 7)] {
        let line = json!({"id": id, "moves": "c2", "analyse": [1, 0], "priority": priority});
        let request =
            with_settings(1, |settings| Request::read(&line.to_string(), &settings.terms));
        let Ok(Request::Analyse(query)) = request else { panic!("{request:?}") };
        queue.push(*query);
    }
    queue.close();
    let popped = std::iter::from_fn(|| queue.pop());
    let order: Vec<_> = popped.map(|(job, turn)| format!("{}:{turn}", job.query.id)).collect();
    assert_eq!(order, ["2:1", "2:0", "4:1", "4:0", "1:1", "1:0", "3:1", "3:0"]);
}

#[test]
fn a_bad_line_gets_an_error_with_its_field_and_the_next_is_read() {
    for (line, field, wanted) in [
        ("nonsense", None, "not JSON"),
        ("[1]", None, "not an object"),
        ("{}", Some("id"), "no `id`"),
        (r#"{"id": 7}"#, Some("id"), "1 to 200 characters"),
        (r#"{"id":"e","board":"9x9"}"#, Some("board"), "9x9"),
        (r#"{"id":"e","goal":1}"#, Some("goal"), "most or fewest"),
        (r#"{"id":"e","position":"XO"}"#, Some("position"), "36"),
        (r#"{"id":"e","moves":"c2a1"}"#, Some("moves"), "a1"),
        (r#"{"id":"e","moves":["c2",5]}"#, Some("moves"), "`5`"),
        (r#"{"id":"e","moves":{}}"#, Some("moves"), "transcript"),
        (r#"{"id":"e","moves":"c2","analyse":[2]}"#, Some("analyse"), "plies from 0 to 1"),
        (r#"{"id":"e","analyse":[]}"#, Some("analyse"), "list of plies"),
        (r#"{"id":"e","player":"alphabeta:deep=3"}"#, Some("player"), "deep"),
        (
            r#"{"id":"e","player":"external:protocol=gtp,command=sh"}"#,
            Some("player"),
            "no external",
        ),
        (r#"{"id":"e","simulations":100}"#, Some("simulations"), "time, depth, nodes"),
        (r#"{"id":"e","depth":0}"#, Some("depth"), "from 1 to 100"),
        (r#"{"id":"e","time":-1}"#, Some("time"), "from 0.001"),
        (r#"{"id":"e","report_every":0}"#, Some("report_every"), "from 0.01"),
        (r#"{"id":"e","max_moves":1.5}"#, Some("max_moves"), "whole number"),
        (r#"{"id":"e","priority":"high"}"#, Some("priority"), "whole number"),
        (r#"{"id":"e","komi":7}"#, Some("komi"), "no field `komi`"),
        (r#"{"id":"e","action":"fly"}"#, Some("action"), "terminate_all"),
        (r#"{"id":"e","action":"terminate"}"#, Some("terminate_id"), "needs"),
        (r#"{"id":"e","player":"net:/nowhere"}"#, Some("player"), "/nowhere"),
    ] {
        let said = answers(format!("{line}\n\n{{\"id\":\"next\"}}\n").as_bytes(), 1);
        assert_eq!(said.len(), 2, "{line}: {said:?}");
        let error = said[0]["error"].as_str().unwrap_or_else(|| panic!("{line}: {said:?}"));
        assert!(error.contains(wanted), "{line}: {error}");
        assert_eq!(said[0].get("field").and_then(Value::as_str), field, "{line}");
        if line.contains("\"e\"") {
            assert_eq!(said[0]["id"], json!("e"), "{line}");
        }
        assert_eq!(said[1]["id"], json!("next"));
    }
    let long = [&[b'x'; 200_000][..], b"\n{\"id\":\"next\"}\n"].concat();
    let said = answers(&long, 1);
    assert!(said[0]["error"].as_str().expect("an error").contains("too long"));
    assert_eq!(said[1]["id"], json!("next"));
}

#[test]
fn a_player_that_fails_is_reported_once() {
    let query =
        json!({"id": "f", "moves": game(), "analyse": [0, 1, 2, 3], "player": "net:/nowhere"});
    let said = answers_to(&[query], 2);
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0]["turn"].is_u64());
}

/// More queries than may wait at a time.
#[test]
fn a_long_file_of_queries_is_answered_whole() {
    let lines: String =
        (0..3000).map(|id| format!("{{\"id\":\"{id}\",\"player\":\"random\"}}\n")).collect();
    let said = answers(lines.as_bytes(), 2);
    let ids: HashSet<_> = said.iter().filter_map(|answer| answer["id"].as_str()).collect();
    assert_eq!((said.len(), ids.len()), (3000, 3000));
}

/// The input never ends, and the search would take days.
#[test]
fn a_closed_output_ends_everything() {
    struct Closed;
    impl Write for Closed {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let (reader, mut writer) = io::pipe().expect("a pipe");
    let long = json!({"id": "a", "depth": 32, "report_every": 0.01});
    writeln!(writer, "{long}").expect("a reader");
    let input = io::BufReader::new(reader);
    let served = with_settings(2, |settings| serve(input, Closed, settings));
    assert_eq!(served.expect_err("it is closed").kind(), io::ErrorKind::BrokenPipe);
}

#[test]
fn the_version_is_that_of_the_program() {
    let said = answers_to(&[json!({"id": "v", "action": "query_version"})], 1);
    assert_eq!(said[0]["version"], json!(env!("CARGO_PKG_VERSION")));
}

proptest! {
    #[test]
    fn any_line_is_read_or_refused(line in "\\PC{0,80}") {
        with_settings(1, |settings| drop(Request::read(&line, &settings.terms)));
    }

    #[test]
    fn any_fields_are_read_or_refused(
        field in "position|moves|analyse|player|time|depth|nodes|max_moves|action",
        value in "[0-9]{1,25}|-1e999|\"[XO a-f1-6-]{0,40}\"|\\[[0-9,\"a-f]{0,12}\\]|null|true",
    ) {
        let line = format!("{{\"id\":\"1\",\"{field}\":{value}}}");
        with_settings(1, |settings| drop(Request::read(&line, &settings.terms)));
    }
}
