//! The library on the page: search, explorer, and games that are kept and deleted.

use std::fs;

use outflank::game::notation::parse_square;
use outflank::game::{Board, Goal, Square8};
use outflank::store::book::{Book, Leaf};
use serde_json::{Value, json};

use crate::client::{Answer, Page};

fn start_page(folder: &std::path::Path, more: &[&str]) -> Page {
    let options = ["--threads", "1", "--library", folder.to_str().expect("a path")];
    Page::start(&[&options[..], more].concat())
}

fn ask(page: &Page, what: &str, body: &Value) -> Answer {
    page.post(&format!("/api/library/{what}"), &body.to_string())
}

#[test]
fn games_are_searched_explored_kept_and_deleted() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("a.txt"), "f5d6c3d3c4f4\nf5f6e6f4e3\n").expect("written");
    let page = start_page(folder.path(), &[]);
    assert_eq!(page.get("/api/about").ok().json()["library"], true);
    let state = page.get("/api/library").ok().json();
    assert_eq!((&state["games"], &state["problems"]), (&json!(2), &json!([])));
    let found = ask(&page, "search", &json!({"opening": "Tiger", "most": 10})).ok().json();
    assert_eq!(found["total"], 1);
    // The image of the other game's position.
    let game = json!({"moves": "c4c3"});
    let found = ask(&page, "search", &json!({"game": game, "most": 1})).ok().json();
    let id = &found["games"][0]["id"];
    let whole = page.get(&format!("/api/library/games/{id}")).ok().json();
    assert_eq!((&whole["game"]["moves"], &whole["own"]), (&json!("f5f6e6f4e3"), &json!(false)));
    let explored = ask(&page, "explore", &json!({"game": {"moves": "c4"}})).ok().json();
    assert_eq!(explored["games"], 2);
    let moves: Vec<_> = explored["moves"].as_array().expect("moves").iter().collect();
    assert_eq!(moves.len(), 2);
    assert!(moves.iter().any(|next| next["move"] == "c3" && next["opening"] == "Diagonal"));

    let played = json!({"game": {"moves": "f5d6"}, "black": "you \u{1b}[1m", "white": "Club",
        "score": -64});
    ask(&page, "keep", &played).ok();
    assert_eq!(page.get("/api/library").ok().json()["games"], 3);
    let own = ask(&page, "search", &json!({"own": true, "most": 9})).ok().json();
    let row = &own["games"][0];
    assert_eq!((&row["black"], &row["score"]), (&json!("you  (1m"), &json!(-64)));
    let address = format!("/api/library/games/{}", row["id"]);
    page.send("DELETE", &address, "", b"").ok();
    page.send("DELETE", &address, "", b"").refused(404);
    page.send("DELETE", &format!("/api/library/games/{id}"), "", b"").refused(400);
    assert_eq!(page.get("/api/library").ok().json()["games"], 2);
}

#[test]
fn the_explorer_has_the_scores_of_a_book() {
    let folder = tempfile::tempdir().expect("a folder");
    let book = folder.path().join("tiny.book");
    let (mut scores, start) = (Book::<Square8>::new(Goal::Most), Board::start());
    let [f5, f4] = ["f5", "f4"].map(|name| parse_square::<Square8>(name).expect("a square"));
    let after = start.play(f5).expect("a legal move");
    scores.add(start);
    scores.set_leaf(after, Leaf { square: f4, score: 250, depth: 12 });
    scores.revalue();
    scores.write(&book).expect("written");
    let games = folder.path().join("games");
    fs::create_dir(&games).expect("made");
    fs::write(games.join("a.txt"), "f5d6c3d3c4f4\n").expect("written");
    let book = book.to_str().expect("a path");
    let score = |low: f32| json!({"low": low, "high": low, "exact": false});

    let page = start_page(&games, &["--book", book]);
    page.get("/api/library").ok();
    assert_eq!(page.get("/api/about").ok().json()["book"], true);
    let explored = ask(&page, "explore", &json!({"game": {"moves": ""}})).ok().json();
    // The four first moves are images of each other.
    assert_eq!(explored["moves"].as_array().expect("moves").len(), 1);
    assert_eq!(explored["moves"][0]["book"], score(-2.5));
    let explored = ask(&page, "explore", &json!({"game": {"moves": "f5"}})).ok().json();
    let names = |next: &Value| (next["move"].clone(), next["games"].clone(), next["book"].clone());
    let found: Vec<_> = explored["moves"].as_array().expect("moves").iter().map(names).collect();
    let [d6, f4] = [json!("d6"), json!("f4")];
    assert_eq!(found, [(d6, json!(1), Value::Null), (f4, json!(0), score(-2.5))]);
    let other = json!({"game": {"board": "6x6", "moves": ""}});
    assert_eq!(ask(&page, "explore", &other).ok().json()["moves"], json!([]));

    let page = Page::start(&["--threads", "1", "--no-library", "--book", book]);
    let explored = ask(&page, "explore", &json!({"game": {"moves": "f5"}})).ok().json();
    assert_eq!((&explored["games"], &explored["moves"][0]["book"]), (&json!(0), &score(-2.5)));
}

#[test]
fn wrong_requests_and_damage_get_one_clear_error() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("outflank-library.db"), [1; 3000]).expect("written");
    let page = start_page(folder.path(), &[]);
    let error = page.get("/api/library").refused(500);
    assert!(error["error"].as_str().expect("a text").contains("remove it"), "{error}");
    // Games are kept without the index, and nothing of the file is lost.
    let played = json!({"game": {"moves": "f5d6"}, "black": "a", "white": "b", "score": 2});
    ask(&page, "keep", &played).ok();
    assert_eq!(fs::read_dir(folder.path().join("played")).expect("a folder").count(), 1);
    assert_eq!(fs::read(folder.path().join("outflank-library.db")).expect("kept"), [1; 3000]);
    fs::remove_file(folder.path().join("outflank-library.db")).expect("removed");
    assert_eq!(page.get("/api/library").ok().json()["games"], 1);
    for (what, body) in [
        ("search", json!({"player": "x".repeat(500)})),
        ("search", json!({"sort": "size"})),
        ("search", json!({"game": {"moves": "a1"}})),
        ("explore", json!({})),
        ("keep", json!({"game": {"moves": "a1"}, "black": "a", "white": "b"})),
        ("keep", json!({"game": {"moves": "f5"}, "black": "a", "white": "b", "score": 99})),
    ] {
        ask(&page, what, &body).refused(400);
    }
    assert_eq!(page.get("/api/library/games/x").status, 400);
    let without = Page::start(&["--threads", "1", "--no-library"]);
    assert_eq!(without.get("/api/about").ok().json()["library"], false);
    without.get("/api/library").refused(404);
}

#[test]
fn a_file_is_opened_with_the_page() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("mine.txt");
    fs::write(&path, "f5d6c3").expect("written");
    let page = Page::start(&["--threads", "1", path.to_str().expect("a path")]);
    assert_eq!(page.get("/api/about").ok().json()["file"], "mine.txt");
    assert_eq!(page.get("/api/file").ok().body, "f5d6c3");
    let without = Page::start(&["--threads", "1"]);
    without.get("/api/file").refused(404);
}

#[test]
fn mistakes_and_puzzles_are_asked_and_answers_kept() {
    let folder = tempfile::tempdir().expect("a folder");
    let page = start_page(folder.path(), &[]);
    let lesson = json!({"kind": "mistake", "board": "8x8", "goal": "most", "moves": "f5d6",
        "values": [{"move": "c5", "score": -1.0, "exact": false},
            {"move": "c3", "score": 2.5, "exact": false}], "played": "c5", "source": "me – Club"});
    let added = |lessons: &Value| {
        let body = json!({"lessons": lessons}).to_string();
        page.post("/api/lessons", &body)
    };
    assert_eq!(added(&json!([lesson, lesson])).ok().json()["added"], 1);
    let all = page.get("/api/lessons").ok().json();
    let first = &all["lessons"][0];
    assert_eq!((&first["values"][0]["move"], &first["due"]), (&json!("c3"), &json!(true)));
    let address = format!("/api/lessons/{}", first["id"]);
    for (right, learnt) in [(true, false), (true, true)] {
        let body = json!({"right": right}).to_string();
        let answered = page.post(&format!("{address}/answer"), &body).ok().json();
        assert_eq!(answered["learnt"], learnt);
    }
    assert_eq!(page.get("/api/lessons").ok().json()["lessons"][0]["due"], false);
    page.send("DELETE", &address, "", b"").ok();
    page.send("DELETE", &address, "", b"").refused(404);
    for (name, value) in [
        ("moves", json!("a1")),
        ("values", json!([])),
        ("played", json!("a1")),
        ("board", json!("9x9")),
    ] {
        let mut wrong = lesson.clone();
        wrong[name] = value;
        added(&json!([wrong])).refused(400);
    }

    let puzzle = |body: Value| page.post("/api/lessons/puzzle", &body.to_string());
    puzzle(json!({"empties": 8})).refused(404);
    puzzle(json!({"empties": 30})).refused(400);
    // Games of a run on 6x6.
    let games = folder.path().join("run");
    fs::create_dir(&games).expect("a folder");
    for file in fs::read_dir("tests/data/run-1/games").expect("a run") {
        let file = file.expect("a file");
        fs::copy(file.path(), games.join(file.file_name())).expect("copied");
    }
    assert_eq!(page.get("/api/library").ok().json()["games"], 24);
    let wanted = |empties: u32| json!({"board": "6x6", "empties": empties, "seed": 1});
    let found = (6..=10).map(|empties| puzzle(wanted(empties)));
    let (found, none): (Vec<Answer>, Vec<Answer>) = found.partition(|it| it.status == 200);
    none.iter().for_each(|answer| drop(answer.refused(404)));
    assert!(!found.is_empty(), "no ending of the game has one winning move");
    for puzzle in found {
        let puzzle = puzzle.json();
        let values = puzzle["values"].as_array().expect("values");
        let won = values.iter().filter(|value| value["score"].as_f64().expect("a score") > 0.0);
        assert_eq!(won.count(), 1, "{puzzle}");
        assert_eq!(puzzle["found"][1], 6);
        assert_eq!(added(&json!([puzzle])).ok().json()["added"], 1);
    }
    std::fs::write(folder.path().join("lessons.json"), "{").expect("written");
    page.get("/api/lessons").refused(500);
}
