//! Tests of the GTP server.

use std::io::Cursor;

use super::*;
use crate::game::{Square, Square6, Square8};
use crate::players::control::Analysis;
use crate::players::kinds::RandomPlayer;
use crate::players::player::{Bound, Choice, Hint, Source};
use proptest::prelude::*;

fn answers(input: &[u8]) -> Vec<String> {
    let mut output = Vec::new();
    serve::<Square8>(
        &mut RandomPlayer::new(1),
        Goal::Most,
        Cursor::new(input.to_vec()),
        &mut output,
    )
    .expect("memory does not fail");
    let text = String::from_utf8(output).expect("text");
    text.split_terminator("\n\n").map(str::to_owned).collect()
}

#[test]
fn a_controller_plays_a_game() {
    let said = answers(
        b"1 boardsize 8\nclear_board\n# a comment\n\n2 play black F5\n3 genmove w\nundo\n4 showboard\n5 quit\n6 name\n",
    );
    assert_eq!(said[..3], ["=1 ", "= ", "=2 "]);
    let square = said[3].strip_prefix("=3 ").expect("a move");
    assert!(["D6", "F4", "F6"].contains(&square), "{square}");
    assert_eq!(said[4], "= ");
    assert!(said[5].starts_with("=4 \n   a b c d e f g h\n 1"), "{}", said[5]);
    assert_eq!(said[6], "=5 ");
    assert_eq!(said.len(), 7);
}

/// A whole game by the commands with which GoGui shows games that are not Go.
#[test]
fn gogui_gets_the_rules_until_the_end() {
    let mut output = Vec::new();
    let mut player = RandomPlayer::new(1);
    let mut server: Server<'_, Square6> = Server {
        player: &mut player,
        goal: Goal::Most,
        session: Session::default(),
        games: 0,
        timing: Timing::default(),
    };
    let ask = |server: &mut Server<'_, Square6>, line: &str| {
        let (_, command, arguments) = parse(line).expect("a command");
        server.obey(&command, &arguments).unwrap_or_else(|error| panic!("{line}: {error}"))
    };
    assert_eq!(ask(&mut server, "set_game othello"), "");
    assert_eq!(ask(&mut server, "list_games"), ask(&mut server, "gogui-rules_game_id"));
    assert_eq!(ask(&mut server, "gogui-rules_board_size"), "6");
    let mut moves = 0;
    loop {
        let board = ask(&mut server, "gogui-rules_board");
        let rows: Vec<_> = board.trim_start().lines().collect();
        // The rows of `showboard` are the other way round.
        let shown = ask(&mut server, "showboard");
        let shown: Vec<_> = shown.lines().skip(2).take(6).collect();
        for (row, other) in rows.iter().rev().zip(shown) {
            assert_eq!(row.replace('.', "-"), other[3..].replace('.', "-"));
        }
        let legal = ask(&mut server, "gogui-rules_legal_moves");
        let result = ask(&mut server, "gogui-rules_final_result");
        let Some(choice) = legal.split(' ').next_back().filter(|choice| !choice.is_empty()) else {
            let score = ask(&mut server, "final_score");
            assert!(!result.is_empty(), "{score}");
            assert!(result.starts_with("Draw") || result[..1] == score[..1], "{result} {score}");
            break;
        };
        assert_eq!(result, "");
        let side = ask(&mut server, "gogui-rules_side_to_move");
        output.push(choice.to_owned());
        ask(&mut server, &format!("play {side} {choice}"));
        moves += usize::from(choice != "pass");
    }
    assert!(moves > 20, "{output:?}");
    let cross = super::Server::<'_, crate::game::Cross92> {
        player: &mut RandomPlayer::new(1),
        goal: Goal::Most,
        session: Session::default(),
        games: 0,
        timing: Timing::default(),
    };
    assert!(cross.rules("gogui-rules_board").is_err());
}

#[test]
fn a_command_that_fails_has_its_reason() {
    for (line, wanted) in [
        ("fly", "unknown command"),
        ("7", "unknown command"),
        ("boardsize 19", "unacceptable size"),
        ("set_game Go", "unknown game; allowed: Othello"),
        ("play", "syntax error"),
        ("play black", "syntax error"),
        ("play red f5", "black or white"),
        ("play black z9", "invalid coordinate"),
        ("play black a1", "illegal move"),
        ("play white f5", "illegal move: it is the other side's turn"),
        ("play black pass", "illegal move: there is no pass here"),
        ("genmove", "black or white"),
        ("genmove white", "other side"),
        ("undo", "cannot undo"),
        ("final_score", "not over"),
        ("time_settings 60 0", "MAIN_TIME"),
        ("time_settings 60 0 x", "MAIN_TIME"),
        ("time_left", "black or white"),
        ("time_left red 1 0", "black or white"),
        ("time_left black 1", "COLOUR TIME STONES"),
        ("loadsgf", "name a file"),
        ("loadsgf /nowhere/at all", "/nowhere/at all: No such file"),
        ("lz-analyze white", "other side"),
        ("kata-analyze b 10 ownership true", "unknown key `ownership`"),
        ("kata-analyze interval", "`interval` has no value"),
        ("lz-analyze b maxmoves 0", "`maxmoves` cannot be `0`"),
        ("outflank_set_position", "64 characters"),
        ("outflank_set_position XO- X", "64 characters"),
    ] {
        let said = answers(format!("{line}\n").as_bytes());
        assert!(said.len() == 1 && said[0].starts_with('?'), "{line}: {said:?}");
        assert!(said[0].contains(wanted), "{line}: {said:?}");
    }
    let long = [&[b'x'; 200_000][..], b"\n1 name\n"].concat();
    assert_eq!(answers(&long), ["? the line is too long", "=1 Outflank"]);
}

#[test]
fn passes_and_the_end_are_known() {
    let position = format!("OX{} X", "-".repeat(62));
    let set = format!("outflank_set_position {position}\n");
    let said = answers(
        format!("{set}genmove black\ngenmove white\ngenmove black\nfinal_score\n").as_bytes(),
    );
    assert_eq!(said, ["= ", "= pass", "= C1", "= pass", "= W+64"]);
    let said = answers(format!("{set}play black pass\nplay white c1\n").as_bytes());
    assert_eq!(said, ["= ", "= ", "= "]);
}

/// After c1 white must pass, and f1 ends the game.
fn before_a_pass(commands: &str) -> Vec<String> {
    let position = format!("XO-XO---{} X", "-".repeat(56));
    let said = answers(format!("outflank_set_position {position}\n{commands}").as_bytes());
    assert_eq!(said[0], "= ");
    said[1..].to_vec()
}

#[test]
fn undo_takes_back_an_announced_pass_alone() {
    let said = before_a_pass(
        "play b c1\ngenmove w\nundo\ngenmove w\nundo\nplay w pass\ngenmove b\nundo\ngenmove b\n",
    );
    assert_eq!(said, ["= ", "= pass", "= ", "= pass", "= ", "= ", "= F1", "= ", "= F1"]);
    // An unannounced pass is taken back with the move before it.
    let said = before_a_pass("play b c1\nreg_genmove w\nundo\nplay b c1\nundo\nundo\n");
    assert_eq!(said, ["= ", "= pass", "= ", "= ", "= ", "? cannot undo"]);
    // An announced pass stays announced when the move after it is taken back.
    let said =
        before_a_pass("play b c1\nplay w pass\nplay b f1\nundo\nplay w pass\nundo\nundo\nundo\n");
    assert_eq!(said[4], "? illegal move: there is no pass here");
    assert_eq!(said[5..], ["= ", "= ", "? cannot undo"]);
}

#[test]
fn either_side_passes_after_the_end() {
    let said = before_a_pass(
        "play b c1\nplay b f1\ngenmove b\nplay b pass\nplay w pass\nplay w g1\nfinal_score\n",
    );
    assert_eq!(said[2..5], ["= pass", "= ", "= "]);
    assert!(said[5].starts_with("? illegal move"), "{said:?}");
    assert_eq!(said[6], "= B+64");
    let said = before_a_pass(
        "play b c1\nplay b f1\nplay w pass\ngenmove b\nundo\nundo\nfinal_score\nundo\nfinal_score\n",
    );
    assert_eq!(said[4..8], ["= ", "= ", "= B+64", "= "]);
    assert_eq!(said[8], "? the game is not over");
}

/// Records its requests, and thinks until it is stopped if the request has no other end.
#[derive(Default)]
struct Recorder {
    efforts: Vec<Effort>,
}

impl Player<Square8> for Recorder {
    fn name(&self) -> String {
        "recorder".into()
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
        self.efforts.push(control.effort);
        Ok(Choice::plain(turn.position.board.legal().next().expect("a move")))
    }

    fn analyze(
        &mut self,
        _: &Turn<'_, Square8>,
        count: usize,
        control: &mut Control<'_>,
    ) -> Result<Analysis, PlayerError> {
        self.efforts.push(control.effort);
        let hint = |square, score: f32, bound| Hint {
            line: vec![Square(square), Square(45)],
            win_chance: Some(0.25),
            score: Some(score),
            bound,
            visits: Some(7),
            ..Hint::plain(Square(square), Source::Net)
        };
        control.report(vec![hint(37, 1.5, Bound::Estimated)], 11);
        while !control.stop.is_set() {
            std::thread::yield_now();
        }
        let hints = vec![hint(37, -2.0, Bound::Exact), hint(44, -4.0, Bound::AtMost)];
        Ok(control.analysis(hints.into_iter().take(count).collect(), 22))
    }
}

fn answers_of(player: &mut Recorder, input: &str) -> Vec<String> {
    let mut output = Vec::new();
    let input = Cursor::new(input.as_bytes().to_vec());
    serve::<Square8>(player, Goal::Most, input, &mut output).expect("memory does not fail");
    let text = String::from_utf8(output).expect("text");
    text.split_terminator("\n\n").map(str::to_owned).collect()
}

#[test]
fn an_analysis_runs_until_the_next_line() {
    let mut player = Recorder::default();
    let said = answers_of(&mut player, "4 kata-analyze b 20\n5 lz-analyze maxmoves 1\n\n6 name\n");
    let kata: Vec<_> = said[0].lines().collect();
    assert_eq!(
        kata[..2],
        [
            "=4",
            "info move F5 visits 7 winrate 0.2500 scoreLead 1.50 scoreBound estimated order 0 pv F5 F6",
        ]
    );
    let exact =
        "info move F5 visits 7 winrate 0.2500 scoreLead -2.00 scoreBound exact order 0 pv F5 F6";
    assert!(kata[2].starts_with(exact), "{kata:?}");
    assert!(kata[2].contains(" info move E6 ") && kata[2].contains("scoreBound at-most order 1"));
    let lz: Vec<_> = said[1].lines().collect();
    let line = "info move F5 visits 7 winrate 2500 order 0 pv F5 F6";
    assert_eq!(lz, ["=5", line, line]);
    assert_eq!(said[2..], ["=6 Outflank"]);
    assert!(player.efforts.iter().all(|effort| effort.endless));
    // So does the end of the input.
    assert_eq!(answers_of(&mut player, "lz-analyze").len(), 1);
}

#[test]
fn the_controller_s_clock_is_obeyed() {
    let mut player = Recorder::default();
    let time = |text: &str, player: &mut Recorder| {
        answers_of(player, text);
        player.efforts.pop().expect("a question").time
    };
    assert_eq!(time("genmove b\n", &mut player), None);
    let minute = time("time_settings 60 0 0\ngenmove b\n", &mut player).expect("a limit");
    let left = "time_settings 60 0 0\ntime_left b 6 0\ngenmove b\n";
    assert_eq!(time(left, &mut player), Some(minute / 10));
    let period = "time_settings 0 10 5\ngenmove b\n";
    assert_eq!(time(period, &mut player), Some(std::time::Duration::from_secs_f64(1.8)));
    // `reg_genmove` takes no time from the clock and uses the player's own limit.
    assert_eq!(time("time_settings 60 0 0\nreg_genmove b\n", &mut player), None);
}

#[test]
fn a_game_is_loaded_whole_up_to_a_move_or_not_at_all() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str, text: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("a file");
        path.display().to_string()
    };
    let good = file("a game.ggf", b"(;GM[Othello]BO[8 ---------------------------O*------*O--------------------------- *]B[F5]W[F6/0.2/1.5]B[E6];)");
    let said =
        answers(format!("loadsgf {good}\nshowboard\nloadsgf {good} 3\nshowboard\n").as_bytes());
    assert_eq!((said[0].as_str(), said[2].as_str()), ("= ", "= "));
    assert!(said[1].ends_with("black (X) 5, white (O) 2; white to move"), "{}", said[1]);
    assert!(said[3].ends_with("black (X) 3, white (O) 3; black to move"), "{}", said[3]);
    let long = file("long.ggf", &vec![b' '; 1 << 21]);
    let bad = file("bad.ggf", b"(;GM[Othello]B[F5]W[A1];)");
    for (name, wanted) in [
        (good.clone() + " 0", "no move 0; allowed: 1 to 4"),
        (good.clone() + " 5", "no move 5; allowed: 1 to 4"),
        (long, "it has 2097152 bytes; at most 1048576 are read"),
        (bad, "move 2, `A1`, is not legal for white"),
    ] {
        let said = answers(format!("play b f5\nloadsgf {name}\nundo\nundo\n").as_bytes());
        assert!(
            said[1].starts_with("? cannot load file: ") && said[1].contains(wanted),
            "{said:?}"
        );
        assert_eq!(said[2..], ["= ", "? cannot undo"], "the game is as it was");
    }
}

#[test]
fn the_board_is_shown_with_discs_and_the_side_to_move() {
    let said = answers(b"showboard\n");
    assert!(said[0].ends_with("\nblack (X) 2, white (O) 2; black to move"), "{said:?}");
    let said = before_a_pass("play b c1\nshowboard\nplay w pass\nplay b f1\nshowboard\n");
    assert!(said[1].ends_with("white must pass"), "{said:?}");
    assert!(said[4].ends_with("black (X) 6, white (O) 0; the game is over"), "{said:?}");
}

#[test]
fn every_listed_command_is_known() {
    let said = answers(b"list_commands\n");
    for command in said[0].trim_start_matches("= ").lines() {
        let said = answers(format!("known_command {command}\n{command}\n").as_bytes());
        assert_eq!(said[0], "= true");
        assert!(!said[1].contains("unknown command"), "{command}");
    }
}

proptest! {
    #[test]
    fn any_bytes_are_survived(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        answers(&bytes);
    }

    #[test]
    fn any_commands_are_survived(lines in proptest::collection::vec(
        "([0-9]{1,3} )?(play |genmove |undo|boardsize |showboard)?[ -~]{0,10}", 0..12,
    )) {
        answers(lines.join("\n").as_bytes());
    }
}
