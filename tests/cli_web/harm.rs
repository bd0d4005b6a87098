//! Foreign sites, missing tokens, long and slow bodies, paths, floods, and clients that go away.

use std::io::{BufRead as _, Read as _, Write as _};
use std::time::{Duration, Instant};

use crate::client::{Page, finish};

const LINE: &str = "{\"moves\":\"f5d6\"}";
/// A request that is not held up is answered within this time, even on a busy machine.
const SOON: Duration = Duration::from_secs(10);

fn answers_soon(page: &Page) {
    let begun = Instant::now();
    page.post("/api/line", LINE).ok();
    assert!(begun.elapsed() < SOON, "{:?}", begun.elapsed());
}

#[test]
fn other_sites_are_refused() {
    let page = Page::start(&["--threads", "1"]);
    let port = page.port;
    let json = "Content-Type: application/json\r\n";
    // A tunnel has a port of its own, and its page comes from there.
    for (origin, status) in [("http://localhost:9000", 200), ("http://localhost:9001", 403)] {
        let fields = format!("{json}Host: localhost:9000\r\nOrigin: {origin}\r\n");
        let answer = page.send("POST", "/api/line", &fields, LINE.as_bytes());
        assert_eq!(answer.status, status, "{origin}: {answer:?}");
    }
    for host in ["evil.example".to_string(), format!("evil.example:{port}")] {
        let answer = page.send("GET", "/api/about", &format!("Host: {host}\r\n"), b"");
        assert_eq!(answer.refused(403)["field"], "Host", "{host}");
    }
    for origin in ["http://evil.example", "null", "http://127.0.0.1:1", "https://127.0.0.1"] {
        let fields = format!("{json}Origin: {origin}\r\n");
        let answer = page.send("POST", "/api/line", &fields, LINE.as_bytes());
        assert_eq!(answer.refused(403)["field"], "Origin", "{origin}");
    }
    let own = format!("{json}Origin: http://127.0.0.1:{port}\r\n");
    page.send("POST", "/api/line", &own, LINE.as_bytes()).ok();
    // Forms of other sites can send this type, but not JSON.
    let form = page.send("POST", "/api/line", "Content-Type: text/plain\r\n", LINE.as_bytes());
    assert_eq!(form.refused(400)["field"], "Content-Type");
}

/// One such request ended the server, since Rust ends a process in which an allocation fails.
#[test]
fn a_request_cannot_ask_for_all_of_the_machine() {
    let page = Page::start(&["--threads", "1"]);
    for (player, key) in [
        ("alphabeta:depth=2,table_mb=65536", "table_mb"),
        ("alphabeta:depth=20,table_mb=4096", "table_mb"),
        ("alphabeta:depth=2,threads=256", "threads"),
        ("rollouts:simulations=100000000", "simulations"),
    ] {
        let query = format!("{{\"moves\":\"f5d6\",\"player\":\"{player}\"}}");
        let refused = page.post("/api/analyse", &query).refused(400);
        assert_eq!(refused["field"], "player", "{refused}");
        assert!(refused["error"].as_str().is_some_and(|error| error.contains(key)), "{refused}");
    }
    answers_soon(&page);
}

/// Slow, since the server waits for 20 seconds. 512 such clients blocked the page for ever.
#[test]
fn a_client_that_reads_nothing_loses_its_connection() {
    let page = Page::start(&["--threads", "1"]);
    let mut client = std::net::TcpStream::connect(("127.0.0.1", page.port)).expect("connects");
    client.set_write_timeout(Some(Duration::from_millis(500))).expect("a timeout");
    let request = format!("GET /api/about HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n\r\n", page.port);
    let begun = Instant::now();
    // The answers fill the buffers of the system first, and then the requests do.
    loop {
        match client.write_all(request.as_bytes()) {
            Ok(()) => {}
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
            Err(_) => break,
        }
        assert!(begun.elapsed() < Duration::from_secs(120), "the connection is still open");
    }
    answers_soon(&page);
}

#[test]
fn a_refused_client_loses_its_connection() {
    let page = Page::start(&["--threads", "1"]);
    for fields in [
        "Host: evil.example\r\n".to_string(),
        format!("Host: 127.0.0.1:{0}\r\nHost: evil.example\r\n", page.port),
    ] {
        let mut client = std::net::TcpStream::connect(("127.0.0.1", page.port)).expect("connects");
        client.set_read_timeout(Some(SOON)).expect("a timeout");
        client.write_all(format!("GET / HTTP/1.1\r\n{fields}\r\n").as_bytes()).expect("sent");
        let mut answer = String::new();
        client.read_to_string(&mut answer).expect("it ends");
        let answer = answer.to_ascii_lowercase();
        assert!(answer.starts_with("http/1.1 403"), "{answer}");
        for header in ["nosniff", "x-frame-options: deny", "connection: close"] {
            assert!(answer.contains(header), "{answer}");
        }
    }
}

#[test]
fn a_token_is_needed_once_it_is_set() {
    let token = "a-long-secret-1";
    let page = Page::start(&["--threads", "1", "--token", token]);
    assert!(page.url.ends_with(&format!("/?token={token}")), "{}", page.url);
    let cookie = format!("outflank_token_{}", page.port);
    let empty = format!("Cookie: {cookie}=\r\n");
    let other = format!("Cookie: outflank_token_1={token}\r\n");
    for fields in ["", "Authorization: Bearer a-long-secret-2\r\n", &empty, &other] {
        page.send("GET", "/api/about", fields, b"").refused(401);
        page.send("GET", "/", fields, b"").refused(401);
    }
    let bearer = format!("Authorization: Bearer {token}\r\n");
    page.send("GET", "/api/about", &bearer, b"").ok();
    let first = page.get(&format!("/?token={token}"));
    assert_eq!(first.status, 303, "{first:?}");
    let head = first.head.to_ascii_lowercase();
    assert!(head.contains("location: /\r\n"), "{head}");
    assert!(head.contains("httponly") && head.contains("samesite=strict"), "{head}");
    page.send("GET", "/", &format!("Cookie: a=b; {cookie}={token}\r\n"), b"").ok();
}

#[test]
fn no_path_leads_out_of_the_page_or_of_the_runs() {
    let page = Page::start(&["--threads", "1", "--runs", "docs/runs"]);
    for path in [
        "/../../../Cargo.toml",
        "/%2e%2e/%2e%2e/Cargo.toml",
        "/..%2f..%2fmod.rs",
        "//etc/passwd",
        "/page/../mod.rs",
        "/index.html%00.js",
        "/api/runs/..",
        "/api/runs/%2e%2e/curves",
        "/api/runs/..%2f..%2fconfigs/curves",
        "/api/runs/%2fetc/game",
        "/api/runs/hour%2f..%2fquick/curves",
        "/api/nothing",
    ] {
        let answer = page.get(path);
        assert_eq!(answer.status, 404, "{path}: {answer:?}");
    }
    for player in ["run/../hour/1", "run/hour/../../x", "net:/etc/passwd", "run//", ""] {
        let question = format!("{{\"moves\":\"f5\",\"player\":\"{player}\"}}");
        let answer = page.post("/api/hints", &question);
        assert!((400..=404).contains(&answer.status), "{player}: {answer:?}");
    }
    let query = "{\"moves\":\"f5\",\"player\":\"external:protocol=gtp,command=touch\"}";
    assert_eq!(page.post("/api/analyse", query).refused(400)["field"], "player");
}

#[test]
fn training_needs_its_option_and_names_of_the_lists() {
    let page = Page::start(&["--threads", "1", "--runs", "docs/runs"]);
    page.get("/api/training").refused(403);
    for command in ["start", "stop", "kill", "resume"] {
        let path = &format!("/api/training/{command}");
        page.post(path, "{\"run\":\"hour\",\"config\":\"quick\",\"name\":\"new\"}").refused(403);
    }
    let folder = tempfile::tempdir().expect("a folder");
    let runs = folder.path().to_str().expect("plain text");
    let page = Page::start(&["--threads", "1", "--runs", runs, "--allow-training"]);
    let offer = page.get("/api/training").ok().json();
    let configs = offer["configs"].as_array().expect("configurations");
    assert!(configs.iter().any(|config| config["name"] == "quick"), "{offer}");
    for (config, name, field) in [
        ("quick", "../escape", "name"),
        ("quick", "", "name"),
        ("quick", "--help me", "name"),
        ("../configs/quick", "fine", "config"),
        ("/etc/passwd", "fine", "config"),
    ] {
        let wanted = format!("{{\"config\":\"{config}\",\"name\":\"{name}\"}}");
        assert_eq!(page.post("/api/training/start", &wanted).refused(400)["field"], field);
    }
    page.post("/api/training/stop", "{\"run\":\"fine\"}").refused(404);
    page.post("/api/training/kill", "{\"run\":\"fine\"}").refused(404);
    page.post("/api/training/resume", "{\"run\":\"..\"}").refused(404);
    assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 0);
}

/// A second interrupt ends a run at once, unsaved: a double click on Stop did that.
#[cfg(feature = "torch")]
#[test]
fn a_run_that_is_stopped_twice_is_saved() {
    let folder = tempfile::tempdir().expect("a folder");
    let runs = folder.path().to_str().expect("plain text");
    let page = Page::start(&["--threads", "1", "--runs", runs, "--allow-training"]);
    page.post("/api/training/start", "{\"config\":\"smoke\",\"name\":\"new\"}").ok();
    let begun = Instant::now();
    let state = || page.get("/api/runs").ok().json()["runs"][0]["state"].clone();
    while state() == "running" {
        // The process that ends between two requests is no longer a run of this page: 400.
        for _ in 0..3 {
            page.post("/api/training/stop", "{\"run\":\"new\"}");
        }
        std::thread::sleep(Duration::from_millis(100));
        assert!(begun.elapsed() < Duration::from_secs(120), "it does not end");
    }
    assert_eq!(state(), "stopped");
}

/// To kill a run is a command of its own, and the run can be resumed.
#[cfg(feature = "torch")]
#[test]
fn a_run_is_killed_only_by_its_own_command() {
    let folder = tempfile::tempdir().expect("a folder");
    let runs = folder.path().to_str().expect("plain text");
    let page = Page::start(&["--threads", "1", "--runs", runs, "--allow-training"]);
    page.post("/api/training/start", "{\"config\":\"smoke\",\"name\":\"new\"}").ok();
    page.post("/api/training/kill", "{\"run\":\"new\"}").ok();
    let begun = Instant::now();
    let run = || page.get("/api/runs").ok().json()["runs"][0].clone();
    while run()["state"] == "running" {
        std::thread::sleep(Duration::from_millis(100));
        assert!(begun.elapsed() < Duration::from_secs(60), "it does not end");
    }
    assert_eq!(
        (run()["state"].clone(), run()["controlled"].clone()),
        ("killed".into(), false.into())
    );
}

#[test]
fn wrong_bodies_are_refused_with_a_reason() {
    let page = Page::start(&["--threads", "1"]);
    for body in ["", "{", "[]", "null", "{\"moves\":5}", "{\"moves\":\"f5\",\"count\":-1}"] {
        page.post("/api/hints", body).refused(400);
    }
    let deep = "[".repeat(100_000);
    page.post("/api/line", &deep).refused(400);
    for (body, field) in [
        ("{\"moves\":\"f5\",\"player\":\"nobody\"}", "player"),
        ("{\"moves\":\"f5\",\"player\":\"depth2\",\"seconds\":0}", "seconds"),
        ("{\"moves\":\"f5\",\"player\":\"depth2\",\"simulations\":4000000000}", "simulations"),
        ("{\"moves\":\"f5\",\"player\":\"depth2\",\"depth\":61}", "depth"),
        ("{\"moves\":\"f5z9\",\"player\":\"depth2\"}", "moves"),
        ("{\"board\":\"9x9\",\"player\":\"depth2\"}", "board"),
    ] {
        assert_eq!(page.post("/api/hints", body).refused(400)["field"], field, "{body}");
    }
    let answer = page.send("DELETE", "/api/line", "", b"");
    assert_eq!(answer.status, 405, "{answer:?}");
}

#[test]
fn a_huge_body_is_refused_and_a_slow_one_holds_up_nobody() {
    let page = Page::start(&["--threads", "1"]);
    let fields = "Content-Type: application/json\r\nContent-Length: 5000000\r\n";
    let mut slow = page.begin("POST", "/api/line", fields);
    slow.write_all(b"{").expect("sent");
    let mut huge = page.begin("POST", "/api/line", fields);
    for _ in 0..5 {
        // The server may have refused it by now.
        let _ = huge.write_all(&vec![b' '; 1_000_000]);
    }
    answers_soon(&page);
    assert_eq!(finish(huge).refused(400)["field"], "body");
    assert_eq!(finish(slow).refused(400)["error"], "the body came too slowly");
}

#[test]
fn a_search_ends_when_its_client_goes_away() {
    let page = Page::start(&["--threads", "1"]);
    let endless =
        "{\"moves\":\"f5d6\",\"player\":\"alphabeta10\",\"endless\":true,\"seconds\":300}";
    for _ in 0..3 {
        let mut search = page.ask("/api/hints", endless);
        // Its search has begun, so the only thread is taken.
        let begun =
            search.by_ref().lines().any(|line| line.is_ok_and(|line| line.starts_with("data:")));
        assert!(begun);
        drop(search);
        // This one waits for the thread.
        page.post("/api/move", "{\"moves\":\"f5d6\",\"player\":\"depth2\"}").ok();
    }
}

#[test]
fn hundred_tabs_and_a_flood_of_requests_keep_it_answering() {
    let page = Page::start(&["--threads", "2"]);
    let idle: Vec<_> = (0..100).map(|_| page.connect()).collect();
    let endless =
        "{\"moves\":\"f5d6\",\"player\":\"alphabeta10\",\"endless\":true,\"seconds\":300}";
    let searches: Vec<_> = (0..100).map(|_| page.ask("/api/hints", endless)).collect();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| (0..25).for_each(|_| drop(page.post("/api/line", LINE).ok())));
        }
    });
    answers_soon(&page);
    drop(searches);
    // Both threads are free again, for whoever waits.
    page.post("/api/move", "{\"moves\":\"f5d6\",\"player\":\"depth2\"}").ok();
    drop(idle);
}
