//! Engines of a few lines of shell that misbehave in every way there is.

use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use super::*;
use crate::arena::matches::{Contestant, MatchResult, MatchSettings, play};
use crate::arena::openings::Source;
use crate::arena::players::Random;
use crate::game::{Goal, Position, Square8};

/// A specification of a shell script as an engine; every file the script makes lies in `folder`.
fn engine(folder: &std::path::Path, protocol: Protocol, script: &str) -> ExternalSpec {
    let path = folder.join("engine.sh");
    std::fs::write(&path, script).expect("writable");
    let command = format!("sh {}", path.display());
    ExternalSpec { protocol, command, depth: 3, timeout: Duration::from_secs(30) }
}

fn first_move(spec: ExternalSpec) -> Result<Choice, PlayerError> {
    let start = Position::<Square8>::start();
    let turn = Turn { game: 0, start, moves: &[], position: start };
    External::new("engine".into(), spec).choose(&[turn]).pop().expect("an answer")
}

fn error_of(protocol: Protocol, script: &str) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    first_move(engine(folder.path(), protocol, script)).expect_err(script).to_string()
}

/// What becomes of an engine that has half a second for its answers.
fn error_of_slow(protocol: Protocol, script: &str) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let spec = engine(folder.path(), protocol, script);
    let spec = ExternalSpec { timeout: Duration::from_millis(500), ..spec };
    first_move(spec).expect_err(script).to_string()
}

/// Answers pings, and does something when it is asked for a move.
fn nboard_script(on_go: &str) -> String {
    format!(
        "while read -r word rest; do case \"$word\" in\n ping) echo \"pong $rest\";;\n go) {on_go};;\n quit) exit 0;;\nesac; done\n"
    )
}

fn gtp_script(on_genmove: &str) -> String {
    format!(
        "while read -r id word rest; do case \"$word\" in\n genmove) {on_genmove};;\n quit) exit 0;;\n *) printf '=%s \\n\\n' \"$id\";;\nesac; done\n"
    )
}

#[test]
fn well_behaved_engines_are_understood() {
    let folder = tempfile::tempdir().expect("a folder");
    for (protocol, script, score) in [
        (Protocol::Nboard, nboard_script("echo status thinking; echo '=== F5/1.5/0.1'"), Some(1.5)),
        (Protocol::Nboard, nboard_script("echo '===  f5  -2.25 0.1'"), Some(-2.25)),
        (Protocol::Nboard, nboard_script("echo '=== F5'"), None),
        (Protocol::Nboard, nboard_script("echo '=== F5//0.05'"), None),
        (Protocol::Gtp, gtp_script("printf 'noise\\n\\n=%s F5\\n\\n' \"$id\""), None),
        (Protocol::Gtp, gtp_script("printf '= f5\\n\\n'"), None),
    ] {
        let choice = first_move(engine(folder.path(), protocol, &script)).expect("a move");
        assert_eq!((choice.square, choice.score), (Square(37), score), "{script}");
    }
}

#[test]
fn bad_engines_are_found_out() {
    let nboard = |on_go: &str| error_of(Protocol::Nboard, &nboard_script(on_go));
    let gtp = |on_genmove: &str| error_of(Protocol::Gtp, &gtp_script(on_genmove));
    for (error, wanted) in [
        (nboard("echo '=== A1'"), "played `a1`"),
        (nboard("echo '=== PA'"), "played `PA`"),
        (nboard("echo '==='"), "a move after"),
        (nboard("echo '=== //0.1'"), "a move after"),
        (nboard("exit 3"), "exit status: 3"),
        (nboard("kill -9 $$"), "signal: 9"),
        (error_of_slow(Protocol::Nboard, &nboard_script("true")), "no answer within 0.5 s"),
        (error_of_slow(Protocol::Nboard, &nboard_script("sleep 30")), "no answer within 0.5 s"),
        (nboard("yes 'status nonsense'"), "over 1048576 bytes"),
        (nboard("tr '\\0' x < /dev/zero"), "over 1048576 bytes"),
        (nboard("cat /dev/urandom"), "over 1048576 bytes"),
        (gtp("printf '=%s resign\\n\\n' \"$id\""), "resigned"),
        (gtp("printf '=%s H1\\n\\n' \"$id\""), "played `h1`"),
        (gtp("printf '?%s cannot\\n\\n' \"$id\""), "said `cannot`"),
        (
            error_of_slow(Protocol::Gtp, &gtp_script("printf '=%s F5\\n' \"$id\"")),
            "no answer within",
        ),
        (gtp("yes '= chatter'"), "over 1048576 bytes"),
        (error_of(Protocol::Gtp, "exit 0"), "the engine ended"),
        (error_of_slow(Protocol::Nboard, "exec cat"), "no answer within"),
        (
            error_of(Protocol::Gtp, "while read -r id rest; do printf '?%s no\\n\\n' $id; done"),
            "does not play this board",
        ),
    ] {
        assert!(error.contains(wanted), "{error}; wanted {wanted}");
    }
}

/// An engine's own children do not outlive it, however it ends.
#[test]
fn nothing_of_an_engine_is_left_running() {
    for ending in ["exit 3", "sleep 30"] {
        let folder = tempfile::tempdir().expect("a folder");
        let beats = folder.path().join("beats");
        let beat = format!("(while :; do echo x >> {}; sleep 0.02; done) &", beats.display());
        let script = format!("{beat}\n{}", nboard_script(ending));
        let spec = engine(folder.path(), Protocol::Nboard, &script);
        let spec = ExternalSpec { timeout: Duration::from_millis(500), ..spec };
        first_move(spec).expect_err("it gives no move");
        let length = || std::fs::metadata(&beats).map_or(0, |file| file.len());
        assert!(length() > 0, "the child was running");
        // A busy machine may still be at the end of it.
        let still = (0..50).any(|_| {
            let before = length();
            std::thread::sleep(Duration::from_millis(200));
            length() == before
        });
        assert!(still, "after `{ending}` the child runs on");
    }
}

#[test]
fn programs_are_looked_for_before_they_are_needed() {
    assert_eq!(missing_program("sh -c 'exit 1'"), None);
    assert_eq!(missing_program("/bin/sh"), None);
    assert_eq!(missing_program("/nowhere/engine -x"), Some("/nowhere/engine".into()));
    assert_eq!(missing_program("no-such-engine -x"), Some("no-such-engine".into()));
}

#[test]
fn a_missing_program_is_named() {
    let spec = ExternalSpec {
        protocol: Protocol::Gtp,
        command: "/nowhere/engine --fast".into(),
        depth: 3,
        timeout: Duration::from_secs(1),
    };
    let error = first_move(spec).expect_err("no program").to_string();
    assert!(error.contains("could not be started: /nowhere/engine"), "{error}");
}

fn play_against(spec: ExternalSpec, games: u32) -> MatchResult<Square8> {
    let external = Contestant::<Square8> {
        name: "engine".into(),
        deterministic: false,
        line: None,
        open: Box::new(move |_| Ok(Box::new(External::new("engine".into(), spec.clone())))),
    };
    let random = Contestant {
        name: "random".into(),
        deterministic: false,
        line: None,
        open: Box::new(|seed| Ok(Box::new(Random::new(seed)))),
    };
    let book = Source::Random { plies: 4 }.book(games as usize / 2, 1).expect("a book");
    let setting = MatchSettings { goal: Goal::Most, games, seed: 1, threads: 1, sprt: None };
    let stop = AtomicBool::new(false);
    let mut go_on = |_: &_| ControlFlow::Continue(());
    play([&external, &random], &book.openings, &setting, Vec::new(), &stop, &mut go_on)
        .expect("a match")
}

/// Every game is forfeited, none is left out, and the engine is started anew for each.
#[test]
fn a_crashing_engine_forfeits_and_is_started_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let starts = folder.path().join("starts");
    let script = format!("echo x >> {}\n{}", starts.display(), nboard_script("exit 7"));
    let outcome = play_against(engine(folder.path(), Protocol::Nboard, &script), 6);
    assert_eq!(outcome.games.len(), 6);
    for played in &outcome.games {
        let forfeit = played.forfeit.as_ref().expect("a forfeit");
        assert_eq!(forfeit.by, played.first);
        assert!(forfeit.reason.contains("exit status: 7"), "{}", forfeit.reason);
    }
    let starts = std::fs::read_to_string(starts).expect("the engine was started");
    assert_eq!(starts.lines().count(), 6);
}
