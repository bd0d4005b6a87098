//! `outflank web`: every route of the real program over real HTTP, and what rude clients get.

mod archives;
mod client;
mod endings;
mod harm;
mod library;

use client::{Page, events};
use serde_json::Value;

const RUNS: [&str; 4] = ["--threads", "2", "--runs", "docs/runs"];

/// The examples of docs/web.md: method, path and body of each `curl`.
fn examples() -> Vec<(&'static str, String, String)> {
    let page = include_str!("../../docs/web.md");
    let commands = page.lines().filter(|line| line.starts_with("curl "));
    commands
        .map(|command| {
            let (_, rest) = command.split_once("$page").expect("an address");
            let path = rest.split([' ', '"']).next().unwrap_or_default();
            let body = command.split_once('\'').and_then(|(_, body)| body.rsplit_once('\''));
            let method = if body.is_some() { "POST" } else { "GET" };
            (method, path.to_string(), body.map_or(String::new(), |(body, _)| body.to_string()))
        })
        .collect()
}

#[test]
fn every_example_of_the_documentation_is_granted() {
    let page = Page::start(&RUNS);
    let examples = examples();
    assert!(examples.len() >= 14, "{examples:?}");
    for (method, path, body) in examples {
        let kind = match path.starts_with("/api/paste") {
            true => "application/octet-stream",
            false => "application/json",
        };
        let fields = format!("Content-Type: {kind}\r\n");
        let answer = page.send(method, &path, &fields, body.as_bytes());
        // This page may not train.
        match path.as_str() {
            _ if path.starts_with("/api/training") => drop(answer.refused(403)),
            _ => {
                let answer = answer.ok();
                // The errors of streams are events; a rating's error is a field of the curves.
                let failed =
                    answer.body.starts_with("{\"error\"") || answer.body.contains("event: failed");
                assert!(!failed, "{path}: {:.200}", answer.body);
            }
        }
    }
}

#[test]
fn the_page_and_its_files_come_with_their_types_and_nothing_else_does() {
    let page = Page::start(&RUNS);
    assert_eq!(page.url, format!("http://127.0.0.1:{}/", page.port));
    for (path, kind) in
        [("/", "text/html"), ("/main.js", "text/javascript"), ("/style.css", "text/css")]
    {
        let answer = page.get(path).ok();
        let head = answer.head.to_ascii_lowercase();
        assert!(head.contains(&format!("content-type: {kind}")), "{path}: {head}");
        assert!(head.contains("content-security-policy: default-src 'none'"), "{path}: {head}");
        let tag = head.lines().find_map(|line| line.strip_prefix("etag: ")).expect("a tag");
        let again = page.send("GET", path, &format!("If-None-Match: {tag}\r\n"), b"");
        assert_eq!((again.status, again.body.as_str()), (304, ""), "{path}");
    }
    page.get("/nothing.js").refused(404);
}

#[test]
fn a_whole_game_can_be_played_against_a_level() {
    let page = Page::start(&RUNS);
    let about = page.get("/api/about").ok().json();
    let level = about["default_level"].as_str().expect("a level");
    let mut moves = String::new();
    loop {
        let game = format!("{{\"board\":\"6x6\",\"moves\":\"{moves}\"}}");
        let line = page.post("/api/line", &game).ok().json();
        if line["over"] == true {
            assert!(line["score"].is_i64(), "{line}");
            assert!(moves.len() > 40, "{moves}");
            return;
        }
        let question = game.replace('}', &format!(",\"player\":\"{level}\"}}"));
        let made = page.post("/api/move", &question).ok().json();
        let square = made["move"].as_str().expect("a move");
        let legal = line["plies"].as_array().and_then(|plies| plies.last()).expect("a ply");
        let legal = legal["legal"].as_array().expect("moves");
        assert!(legal.iter().any(|other| other == square), "{square}: {line}");
        moves += square;
    }
}

/// A game that was won once must not be won for ever by the same moves.
#[test]
fn a_level_varies_its_play_by_the_seed() {
    let page = Page::start(&RUNS);
    for level in ["depth3", "net16"] {
        let reply = |moves: &str, seed: u32| {
            let question =
                format!("{{\"moves\":\"{moves}\",\"player\":\"{level}\",\"seed\":{seed}}}");
            let made = page.post("/api/move", &question).ok().json();
            made["move"].as_str().expect("a move").to_string()
        };
        let varies = |moves: &str| {
            let replies: std::collections::HashSet<_> =
                (0..12).map(|seed| reply(moves, seed)).collect();
            replies.len() > 1
        };
        assert!(["", "f5d6c3", "f5f6e6f4"].into_iter().any(varies), "{level}");
    }
}

#[test]
fn a_player_knows_its_clock() {
    let page = Page::start(&["--threads", "1", "--player", "alphabeta:movetime=20s,name=Slow"]);
    let about = page.get("/api/about").ok().json();
    let menus = about["menus"].as_array().expect("menus").iter();
    let mut players = menus.flat_map(|menu| menu["players"].as_array().expect("players"));
    let slow = players.find(|player| player["word"] == "Slow").expect("the player");
    let ask = |clock: &str| {
        let question = format!("{{\"moves\":\"f5d6\",\"player\":{}{clock}}}", slow["id"]);
        page.post("/api/move", &question)
    };
    let made = ask(",\"left\":2,\"increment\":0.1").ok().json();
    // An even share of two seconds, not twenty seconds.
    assert!(made["seconds"].as_f64().expect("a time") < 10.0, "{made}");
    assert_eq!(ask(",\"left\":-1").refused(400)["field"], "left");
    assert_eq!(ask(",\"left\":1,\"increment\":1e9").refused(400)["field"], "increment");
}

/// The moves of a game to the end: the first legal one each time.
fn finished(page: &Page, board: &str) -> String {
    let mut moves = String::new();
    loop {
        let game = format!("{{\"board\":\"{board}\",\"moves\":\"{moves}\"}}");
        let line = page.post("/api/line", &game).ok().json();
        let last = line["plies"].as_array().and_then(|plies| plies.last()).expect("a ply");
        match last["legal"][0].as_str() {
            Some(square) => moves += square,
            None => return moves,
        }
    }
}

#[test]
fn a_review_has_every_ply_once_and_proves_the_ending() {
    let page = Page::start(&RUNS);
    let moves = finished(&page, "6x6");
    let plies = moves.len() / 2;
    let question = format!("{{\"board\":\"6x6\",\"moves\":\"{moves}\",\"player\":\"depth2\"}}");
    let answer = page.post("/api/review", &question).ok();
    let events = events(&answer.body);
    assert_eq!(events.last().map(|(kind, _)| kind.as_str()), Some("done"), "{answer:?}");
    let reviewed = events.iter().filter(|(kind, _)| kind == "ply").map(|(_, data)| data);
    let mut found: Vec<u64> = reviewed.filter_map(|data| data["ply"].as_u64()).collect();
    found.sort_unstable();
    assert_eq!(found, (0..plies as u64).collect::<Vec<_>>());
    let last = events.iter().find(|(_, data)| data["ply"] == plies as u64 - 1).expect("it");
    assert_eq!(last.1["hints"][0]["bound"], "exact", "{last:?}");
}

#[test]
fn hints_improve_until_the_time_is_over() {
    let page = Page::start(&RUNS);
    let question = "{\"moves\":\"f5d6\",\"player\":\"alphabeta10\",\"endless\":true,\"seconds\":1}";
    let answer = page.post("/api/hints", question).ok();
    let events = events(&answer.body);
    assert!(events.len() > 1, "{answer:?}");
    for (number, (kind, advice)) in events.iter().enumerate() {
        assert_eq!(kind, "hints");
        assert_eq!(advice["done"], number + 1 == events.len());
        let hints = advice["hints"].as_array().expect("hints");
        assert!(hints.iter().all(|hint| hint["move"] == hint["line"][0]), "{advice}");
    }
}

#[test]
fn a_query_of_the_json_analysis_gets_its_lines() {
    let page = Page::start(&RUNS);
    let query = "{\"id\":\"q\",\"moves\":\"f5d6\",\"analyse\":\"all\",\"player\":\"depth2\"}";
    let answer = page.post("/api/analyse", query).ok();
    let lines: Vec<Value> =
        answer.body.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let turns: Vec<_> = lines.iter().map(|line| line["turn"].as_u64()).collect();
    assert_eq!(turns, [Some(0), Some(1), Some(2)]);
    assert!(lines.iter().all(|line| line["id"] == "q"));
    let error = page.post("/api/analyse", "{\"moves\":\"f5f5\"}").refused(400);
    assert_eq!(error["field"], "moves");
}

#[test]
fn openings_are_even_and_follow_the_seed() {
    let page = Page::start(&RUNS);
    let ask = |seed: u32| {
        let wanted = format!("{{\"board\":\"6x6\",\"plies\":6,\"seed\":{seed}}}");
        page.post("/api/opening", &wanted).ok().json()
    };
    let opening = ask(5);
    assert_eq!(opening["plies"].as_array().map(Vec::len), Some(7));
    assert!(opening["balance"].as_f64().is_some_and(|score| score.abs() <= 6.0), "{opening}");
    assert_eq!(opening["moves"], ask(5)["moves"]);
    assert_eq!(page.post("/api/opening", "{\"plies\":41}").refused(400)["field"], "plies");
}

/// What is written in each format is read as the same game.
#[test]
fn exported_games_come_back_equal() {
    let page = Page::start(&RUNS);
    for board in ["8x8", "6x6", "7x7", "octagon88", "cross92"] {
        let moves = finished(&page, board);
        for format in ["transcript", "ggf"] {
            let wanted =
                format!("{{\"board\":\"{board}\",\"moves\":\"{moves}\",\"format\":\"{format}\"}}");
            let text = page.post("/api/export", &wanted).ok().json();
            let text = text["text"].as_str().expect("a text").to_string();
            let path = format!("/api/paste?board={board}");
            let found = page.send("POST", &path, "", text.as_bytes()).ok().json();
            let game = &found["games"][0];
            assert_eq!(game["moves"], moves, "{format}: {found}");
            assert_eq!(game["board"], board, "{format}: {found}");
        }
    }
}

#[test]
fn runs_have_their_curves_and_ratings() {
    let page = Page::start(&RUNS);
    let list = page.get("/api/runs").ok().json();
    let ids: Vec<_> = list["runs"]
        .as_array()
        .expect("runs")
        .iter()
        .filter_map(|run| run["id"].as_str())
        .collect();
    assert_eq!(ids, ["hour", "long", "quick"]);
    let details = page.get("/api/runs/hour").ok().json();
    assert!(details["config"].as_str().is_some_and(|text| text.contains("[limits]")));
    assert_eq!(details["board"], "8x8");
    let curves = page.get("/api/runs/hour/curves").ok().json();
    let length = curves["minutes"].as_array().map(Vec::len);
    assert!(length > Some(100));
    for axis in ["games", "positions", "steps"] {
        assert_eq!(curves[axis].as_array().map(Vec::len), length);
    }
    assert_eq!(curves["curves"]["loss/policy"].as_array().map(Vec::len), length);
    assert!(!curves["ratings"].as_array().expect("ratings").is_empty());
    page.get("/api/runs/other/curves").refused(404);
    let question = "{\"moves\":\"f5\",\"player\":\"run/hour/100\"}";
    assert_eq!(page.post("/api/hints", question).refused(400)["field"], "player");
}

#[test]
fn wrong_options_are_refused_with_a_reason() {
    let refused = |options: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_outflank"));
        let output = command.arg("web").arg("--no-open").args(options).output();
        let output = output.expect("the program");
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        String::from_utf8(output.stderr).expect("text")
    };
    assert!(refused(&["--host", "0.0.0.0", "--port", "0"]).contains("--token TOKEN"));
    assert!(refused(&["--token", "short"]).contains("a token has 12 to 128"));
    let page = Page::start(&RUNS);
    let taken = refused(&["--port", &page.port.to_string()]);
    assert!(taken.contains("cannot listen at 127.0.0.1"), "{taken}");
}
