//! Tests of the NBoard server.

use std::io::Cursor;

use super::*;
use crate::game::{Goal, Position, Square, Square8};
use crate::players::kinds::{AlphaBetaPlayer, RandomPlayer, RolloutsPlayer};
use crate::players::player::{Bound, Choice, Hint, PlayerError, Source};
use crate::players::spec::{PlayerKind, PlayerSpec};
use crate::search::rollouts::Options;
use proptest::prelude::*;

fn answers_of(player: &mut dyn Player<Square8>, input: &[u8]) -> Vec<String> {
    let mut output = Vec::new();
    serve::<Square8>(player, Cursor::new(input.to_vec()), &mut output)
        .expect("memory does not fail");
    String::from_utf8(output).expect("text").lines().map(str::to_owned).collect()
}

fn answers(input: &[u8]) -> Vec<String> {
    answers_of(&mut RandomPlayer::new(1), input)
}

#[test]
fn a_board_plays_a_game() {
    let game = ggf::write(Position::<Square8>::start(), &[]);
    let input =
        format!("nboard 2\nset depth 8\nset game {game}\nping 7\nmove F5/1.0/2\ngo\nquit\ngo\n");
    let answers = answers(input.as_bytes());
    assert_eq!(
        answers[..4],
        ["set myname random", "set myname random", "pong 7", "status thinking"]
    );
    assert_eq!(answers[4], "nodestats 0 0.00");
    let square = answers[5].strip_prefix("=== ").expect("a move");
    assert!(["D6", "F4", "F6"].contains(&&square[..2]), "{square}");
    assert_eq!(answers[6..], ["status"]);
}

#[test]
fn the_opening_is_named() {
    let said = answers(b"move F5\nmove D6\nmove C3\nmove D3\nmove C4\nhint 1\n");
    assert_eq!(said[0], "status analyzing (Tiger)");
}

#[test]
fn a_name_of_several_words_is_one_word() {
    let name = "6x6  sims=1600".to_string();
    let mut player = RolloutsPlayer::new(name, Goal::Most, Options::default(), 1);
    assert_eq!(answers_of(&mut player, b"nboard 2\n"), ["set myname 6x6_sims=1600"]);
}

#[test]
fn hints_name_a_line() {
    let answers = answers(b"hint 3\n");
    assert!(answers[1].starts_with("search "), "{answers:?}");
}

/// A position in which black must pass: the board may announce the pass or not.
#[test]
fn a_pass_is_answered_where_it_is_due() {
    let board = "O*------".to_owned() + &"-".repeat(56);
    let set = format!("set game (;GM[Othello]BO[8 {board} *];)\n");
    let said = answers(format!("{set}go\nmove PA\ngo\n").as_bytes());
    assert_eq!(said[0], "=== PA");
    assert!(said[3].starts_with("=== C1/"), "{said:?}");
    // For black the pass loses everything. For white, who moves next, c1 wins everything.
    for (commands, wanted) in [
        ("hint 3\n", "search PAC1 -64.00 0 100% 0.0 %"),
        ("move PA\nhint 3\n", "search C1 64.00 0 100% 100.0 %"),
    ] {
        let options = Options { simulations: 20, ..Options::default() };
        let mut player = RolloutsPlayer::<Square8>::new("test".into(), Goal::Most, options, 1);
        let said = answers_of(&mut player, format!("{set}{commands}").as_bytes());
        assert_eq!(said[0], "status analyzing");
        // A report may come before.
        let [.., last, nodes, end] = &said[..] else { panic!("{said:?}") };
        assert_eq!((last.as_str(), end.as_str()), (wanted, "status"));
        assert!(nodes.starts_with("nodestats 20 "), "{said:?}");
    }
    let said = answers(format!("{set}hint 3\n").as_bytes());
    assert_eq!(said[1], "search PAC1 0.00 0 0", "even is not -0");
    let over = answers(format!("{set}move PA\nmove C1\ngo\nhint 1\n").as_bytes());
    assert_eq!(over, ["status the game is over"; 2]);
}

#[test]
fn every_wrong_line_gets_a_status_and_nothing_more() {
    for line in [
        "set game",
        "set game (;GM[Chess];)",
        "set game (;B[a1];)",
        "set depth",
        "set depth 0",
        "set depth 61",
        "set depth deep",
        "move",
        "move a1",
        "move PA",
        "move z99",
        "a1",
        "analyze",
        "fly",
        "\u{fffd}\u{1f600}",
    ] {
        let said = answers(format!("{line}\n").as_bytes());
        assert!(said.len() == 1 && said[0].starts_with("status "), "{line}: {said:?}");
    }
    for line in ["", "   ", "set", "set nothing 5", "set contempt -3"] {
        assert_eq!(answers(format!("{line}\n").as_bytes()), [""; 0], "{line}");
    }
    // The quoted text is short and has no bidirectional control characters.
    let said = answers(format!("\u{202e}{}\n", "x".repeat(100)).as_bytes());
    assert_eq!(said, [format!("status unknown command `?{}...`", "x".repeat(39))]);
    let long = [b"go ".as_slice(), &[b'x'; 200_000], b"\nping 1\n"].concat();
    assert_eq!(answers(&long), ["status the line is too long and is left out", "pong 1"]);
}

/// Reports a move, and then thinks until it is stopped.
struct Endless;

fn hint(square: u8, score: f32, bound: Bound) -> Hint {
    let line = vec![Square(square)];
    let plain = Hint::plain(line[0], Source::AlphaBeta);
    Hint { line, score: Some(score), bound, depth: Some(7), ..plain }
}

impl Player<Square8> for Endless {
    fn name(&self) -> String {
        "endless".into()
    }

    fn choose(&mut self, _: &[Turn<'_, Square8>]) -> Vec<Result<Choice, PlayerError>> {
        panic!("a server does not ask without a control");
    }

    fn end_game(&mut self, _game: u32) {}

    fn think(
        &mut self,
        turn: &Turn<'_, Square8>,
        control: &mut Control<'_>,
    ) -> Result<Choice, PlayerError> {
        self.analyze(turn, 1, control)?;
        Ok(Choice::plain(Square(37)))
    }

    fn analyze(
        &mut self,
        _: &Turn<'_, Square8>,
        _: usize,
        control: &mut Control<'_>,
    ) -> Result<Analysis, PlayerError> {
        control.report(vec![hint(37, 1.5, Bound::Estimated)], 11);
        while !control.stop.is_set() {
            std::thread::yield_now();
        }
        Ok(control.analysis(vec![hint(37, 2.5, Bound::Estimated)], 22))
    }
}

/// The player searches until it is stopped.
#[test]
fn a_new_search_ends_the_old_one_and_drops_its_answer() {
    let game = ggf::write(Position::<Square8>::start(), &[]);
    for next in ["ping 5", &format!("set game {game}"), "move f5", "f5", "hint 1", "go", "analyze"]
    {
        for question in ["go", "hint 4"] {
            let said = answers_of(&mut Endless, format!("{question}\n{next}\nping 6\n").as_bytes());
            assert_eq!(said.last().expect("a line"), "pong 6", "{question}, {next}");
            let late = |line: &String| line.starts_with("===") || line.contains("2.50");
            assert!(!said.iter().any(late), "{question}, {next}: {said:?}");
        }
    }
}

#[test]
fn quit_ends_a_search_for_hints_and_prints_them() {
    let said = answers_of(&mut Endless, b"hint 4\nquit\nping 1\n");
    assert_eq!(said[..2], ["status analyzing", "search F5 1.50 0 7"]);
    assert!(said[2].starts_with("nodestats 11 "), "{said:?}");
    assert_eq!(said[3], "search F5 2.50 0 7");
    assert_eq!(said[5..], ["status"]);
}

#[test]
fn only_a_line_for_a_new_search_ends_the_search_for_a_move() {
    let urgency = |text: &str| urgency::<Square8>(Some(&Line::Text(text.into())));
    for text in ["", "nboard 2", "set depth 4", "set contempt 0", "learn", "fly", "status"] {
        assert_eq!(urgency(text), Urgency::Patient, "{text}");
    }
    assert_eq!(urgency(" quit "), Urgency::Quit);
    assert_eq!(super::urgency::<Square8>(None), Urgency::Patient, "the end of the input");
    // The search for a move continues, and its move is printed, whatever lines follow.
    for rest in ["", "quit\n", "set depth 3\n"] {
        let mut player = RolloutsPlayer::new("r".into(), Goal::Most, Options::default(), 1);
        let said = answers_of(&mut player, format!("go\n{rest}").as_bytes());
        assert!(said.iter().any(|line| line.starts_with("=== ")), "{said:?}");
    }
}

/// A closed output ends the search as well.
#[test]
fn a_closed_output_ends_a_search() {
    struct Closed;
    impl Write for Closed {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            match bytes.starts_with(b"search") {
                true => Err(io::ErrorKind::BrokenPipe.into()),
                false => Ok(bytes.len()),
            }
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let error = serve::<Square8>(&mut Endless, &b"go\n"[..], Closed).expect_err("it is closed");
    assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
}

#[test]
fn nothing_is_answered_for_a_game_that_was_refused() {
    let game = ggf::write(Position::<Square8>::start(), &[]);
    let said = answers(
        format!(
            "move f5\nset game (;B[a1];)\ngo\nhint 1\nmove d6\nset game {game}\nmove f5\nping 1\n"
        )
        .as_bytes(),
    );
    let refusal = format!("status {NO_POSITION}");
    assert!(said[0].starts_with("status the game is refused: move 1, `a1`"), "{said:?}");
    assert_eq!(said[1..4], [refusal.as_str(); 3]);
    assert_eq!(said[4..], ["pong 1"]);
}

#[test]
fn a_board_sets_how_deep_the_player_looks() {
    let player = |text: &str| {
        let spec: PlayerSpec = text.parse().expect("a player");
        let PlayerKind::AlphaBeta(spec) = spec.kind else { panic!("{text}") };
        let evaluator = spec.evaluator.kind().evaluator(Goal::Most);
        AlphaBetaPlayer::<Square8>::new("ab".into(), Goal::Most, &evaluator, spec)
            .expect("a player")
    };
    let said = answers_of(&mut player("alphabeta:depth=2"), b"nboard 2\nhint 1\n");
    assert_eq!(said[0], "set myname ab");
    assert!(said[said.len() - 3].contains(" 0 2 "), "{said:?}");
    let said = answers_of(&mut player("alphabeta:depth=2"), b"set depth 4\nhint 1\n");
    assert_eq!(said[0], "set myname ab(depth=4)");
    assert!(said[said.len() - 3].contains(" 0 4 "), "{said:?}");
    let said = answers_of(&mut player("alphabeta:nodes=100"), b"set depth 4\n");
    assert_eq!(said, ["set myname ab"], "another limit is kept");
}

#[test]
fn proven_scores_and_bounds_are_marked() {
    let line = |hint: &Hint, passes| {
        let mut output = Vec::new();
        let analysis = Analysis { hints: vec![hint.clone()], nodes: 3, seconds: 0.5 };
        search_lines::<Square8>(&mut output, &analysis, passes).expect("memory");
        String::from_utf8(output).expect("text")
    };
    for (score, bound, plain, passed) in [
        (4.0, Bound::Exact, "4.00 0 100%", "-4.00 0 100%"),
        (4.0, Bound::AtMost, "4.00 0 7 <=4.00", "-4.00 0 7 >=-4.00"),
        (-4.0, Bound::AtMost, "-4.00 0 100%W <=-4.00", "4.00 0 100%W >=4.00"),
        (4.0, Bound::AtLeast, "4.00 0 100%W >=4.00", "-4.00 0 100%W <=-4.00"),
    ] {
        let hint = hint(37, score, bound);
        assert_eq!(line(&hint, false), format!("search F5 {plain}\nnodestats 3 0.50\n"));
        assert_eq!(line(&hint, true), format!("search PAF5 {passed}\nnodestats 3 0.50\n"));
    }
}

proptest! {
    #[test]
    fn any_bytes_are_survived(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        answers(&bytes);
    }

    #[test]
    fn any_commands_are_survived(lines in proptest::collection::vec(
        "(set game |move |go|hint |ping |set depth |set )?[ -~]{0,12}", 0..12,
    )) {
        answers(lines.join("\n").as_bytes());
    }
}
