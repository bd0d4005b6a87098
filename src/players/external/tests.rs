//! Tests with engines of a few lines of shell that make all kinds of errors.

use std::time::Duration;

use super::*;
use crate::game::{Position, Square8};

/// The specification of an engine that is a shell script in `folder`.
fn engine(folder: &std::path::Path, protocol: Protocol, script: &str) -> ExternalSpec {
    let path = folder.join("engine.sh");
    std::fs::write(&path, script).expect("writable");
    let command = format!("sh {}", path.display());
    ExternalSpec { protocol, command, depth: 3, timeout: Duration::from_secs(30) }
}

fn first_move(spec: ExternalSpec) -> Result<Choice, PlayerError> {
    let start = Position::<Square8>::start();
    let turn = Turn { game: 0, start, moves: &[], position: start };
    ExternalPlayer::new("engine".into(), spec).choose(&[turn]).pop().expect("an answer")
}

fn error_of(protocol: Protocol, script: &str) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    first_move(engine(folder.path(), protocol, script)).expect_err(script).to_string()
}

/// The error of an engine with a time limit of half a second.
fn error_of_slow(protocol: Protocol, script: &str) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let spec = engine(folder.path(), protocol, script);
    let spec = ExternalSpec { timeout: Duration::from_millis(500), ..spec };
    first_move(spec).expect_err(script).to_string()
}

/// An NBoard engine that answers pings and runs `on_go` when it is asked for a move.
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
fn answers_of_correct_engines_are_read() {
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

/// The engine would think for an hour.
#[test]
fn an_analysis_that_is_stopped_ends_the_engine() {
    let folder = tempfile::tempdir().expect("a folder");
    let turn = Turn::at(Position::<Square8>::start());
    for (protocol, script) in
        [(Protocol::Nboard, nboard_script("sleep 3600")), (Protocol::Gtp, gtp_script("sleep 3600"))]
    {
        let spec = ExternalSpec {
            timeout: Duration::from_secs(3600),
            ..engine(folder.path(), protocol, &script)
        };
        let mut player = ExternalPlayer::new("engine".into(), spec);
        let mut control = Control::plain();
        let stop = control.stop.clone();
        std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(300));
            stop.set();
        });
        let result = player.analyze(&turn, 1, &mut control);
        assert_eq!(result, Err(PlayerError::Interrupted), "{script}");
        assert!(player.session.is_none(), "it starts again for the next position");
    }
}

#[test]
fn errors_of_engines_are_detected() {
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
        (gtp("printf '?%s cannot\\n\\n' \"$id\""), "answered `cannot`"),
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

/// The children of an engine are killed with it, however it ends.
#[test]
fn no_process_of_an_engine_is_left() {
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
        // On a busy machine the kill may take a moment.
        let still = (0..50).any(|_| {
            let before = length();
            std::thread::sleep(Duration::from_millis(200));
            length() == before
        });
        assert!(still, "after `{ending}` the child runs on");
    }
}

#[test]
fn missing_programs_are_found_out_before_a_match() {
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

/// Every game has an error, and the engine is started again for each.
#[test]
fn a_crashing_engine_is_an_error_and_is_started_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let starts = folder.path().join("starts");
    let script = format!("echo x >> {}\n{}", starts.display(), nboard_script("exit 7"));
    let spec = engine(folder.path(), Protocol::Nboard, &script);
    let mut player = ExternalPlayer::new("engine".into(), spec);
    let start = Position::<Square8>::start();
    for game in 0..6 {
        let turn = Turn { game, start, moves: &[], position: start };
        let choice = player.choose(&[turn]).pop().expect("an answer");
        let error = choice.expect_err("it crashes").to_string();
        assert!(error.contains("exit status: 7"), "{error}");
        Player::<Square8>::end_game(&mut player, game);
    }
    let starts = std::fs::read_to_string(starts).expect("the engine was started");
    assert_eq!(starts.lines().count(), 6);
}
