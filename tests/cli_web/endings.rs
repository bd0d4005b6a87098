//! Endings: every move has its exact score, and a solver says when it is too early for it.

use serde_json::Value;

use crate::client::{Page, events};
use crate::{RUNS, finished};

fn hints(page: &Page, board: &str, moves: &str, player: &str) -> Vec<Value> {
    let question =
        format!("{{\"board\":\"{board}\",\"moves\":\"{moves}\",\"player\":\"{player}\"}}");
    let answer = page.post("/api/hints", &question).ok();
    let events = events(&answer.body);
    assert!(events.iter().all(|(kind, _)| kind == "hints"), "{answer:?}");
    events.into_iter().map(|(_, advice)| advice).collect()
}

#[test]
fn every_move_of_an_ending_has_its_exact_score() {
    let page = Page::start(&RUNS);
    let whole = finished(&page, "6x6");
    let moves = &whole[..whole.len() - 20];
    let line = page.post("/api/line", &format!("{{\"board\":\"6x6\",\"moves\":\"{moves}\"}}"));
    let line = line.ok().json();
    let legal = line["plies"].as_array().and_then(|plies| plies.last()).expect("a ply");
    let legal = legal["legal"].as_array().expect("moves").len();
    assert!(legal > 1, "{line}");
    let exact = |player: &str| {
        let advice = hints(&page, "6x6", moves, player).pop().expect("an answer");
        assert_eq!(advice["done"], true);
        let hints = advice["hints"].as_array().expect("hints").clone();
        assert_eq!(hints.len(), legal, "{player}: {hints:?}");
        assert!(hints.iter().all(|hint| hint["bound"] == "exact"), "{player}: {hints:?}");
        let score = |hint: &Value| (hint["move"].to_string(), hint["score"].to_string());
        let mut scores: Vec<_> = hints.iter().map(score).collect();
        scores.sort_unstable();
        scores
    };
    // Players that see one ply, that guess, and that prove only the best move.
    let solved = exact("solver");
    for player in ["alphabeta10", "policy", "net100", "depth1"] {
        assert_eq!(exact(player), solved, "{player}");
    }
}

#[test]
fn a_solver_says_from_when_on_it_answers() {
    let page = Page::start(&RUNS);
    let about = page.get("/api/about").ok().json();
    let players = about["menus"][0]["players"].as_array().expect("players");
    let solver = players.iter().find(|player| player["id"] == "solver").expect("it");
    let from = solver["answers_from"].as_u64().expect("a number");
    assert!(about["solved_from"].as_u64().is_some_and(|solved| solved <= from), "{about}");
    let answers = hints(&page, "8x8", "f5d6c3", "solver");
    assert_eq!(answers.len(), 1, "{answers:?}");
    let advice = &answers[0];
    assert_eq!((&advice["answers_from"], &advice["done"]), (&from.into(), &true.into()));
    assert_eq!(advice["hints"].as_array().map(Vec::len), Some(0), "no guesses");
    let refused = page.post("/api/move", "{\"moves\":\"f5\",\"player\":\"solver\"}").refused(400);
    assert_eq!(refused["field"], "player");
    // A review has the early positions too, without guesses.
    let moves = finished(&page, "6x6");
    let question = format!("{{\"board\":\"6x6\",\"moves\":\"{moves}\",\"player\":\"solver\"}}");
    let mut review = page.ask("/api/review", &question);
    let mut line = String::new();
    while !line.contains("\"ply\":31") {
        line.clear();
        assert!(std::io::BufRead::read_line(&mut review, &mut line).expect("a line") > 0);
    }
    assert!(line.contains("\"bound\":\"exact\"") && !line.contains("answers_from"), "{line}");
}
