//! Tests of `outflank play`, with input and output in memory.

use proptest::prelude::*;

use super::commands::HELP;
use super::display::{self, BoardStyle};
use super::game_file::{load, read_plain};
use super::game_loop::{End, GameLoop};
use super::input::Plain;
use super::moves::play_all;
use crate::game::notation::{diagram, obf, square_name};
use crate::game::{Colour, Cross92, Geometry, Goal, Position, Shape, Square6, Square8};
use crate::players::kinds::RolloutsPlayer;
use crate::protocol::session::Session;
use crate::search::rollouts::Options;
use crate::store::ggf;

fn talk_with<G: Geometry>(human: Colour, goal: Goal, style: BoardStyle, input: &str) -> String {
    let options = Options { simulations: 20, ..Options::default() };
    let player = Box::new(RolloutsPlayer::new("test".into(), goal, options, 1));
    let mut output = Vec::new();
    let table = GameLoop::<G, _>::new(player, (0.0, 1), human, goal, style, &mut output);
    let end = table.run(&mut Plain { reader: input.as_bytes(), prompts: false });
    assert_eq!(end.expect("memory does not fail"), End::Quit);
    String::from_utf8(output).expect("text")
}

fn talk<G: Geometry>(human: Colour, input: &str) -> String {
    talk_with::<G>(human, Goal::Most, BoardStyle::Plain, input)
}

#[test]
fn a_whole_game_can_be_played_by_a_pipe() {
    let said = talk::<Square6>(Colour::Black, &"go\n".repeat(40));
    assert!(said.contains(" wins by ") || said.contains("a draw"), "{said}");
    assert!(said.contains("\nnew for another game, undo, save FILE, or quit\n"), "{said}");
    assert!(said.ends_with("the game is over; new for another, undo, save FILE, or quit\n"));
    let again = talk::<Square6>(Colour::Black, &("go\n".repeat(40) + "new\n"));
    assert!(again.ends_with("black (X) 2, white (O) 2; black to move\n"), "{again}");
}

#[test]
fn the_player_begins_where_the_human_has_white() {
    let said = talk::<Cross92>(Colour::White, "");
    assert!(said.contains("black plays "), "{said}");
    assert!(said.trim_end().ends_with("white to move"), "{said}");
}

#[test]
fn hints_and_undo_work() {
    let said = talk::<Square8>(Colour::Black, "hint 2\nf5\nundo\nundo\n");
    assert!(said.contains("searched") && said.contains(" %"), "{said}");
    assert!(said.ends_with("there is no move of yours to take back\n"), "{said}");
    assert_eq!(said.matches("black (X) 2, white (O) 2").count(), 2, "{said}");
}

#[test]
fn a_position_may_have_zeros_for_white() {
    let text = format!("X0{} X\nc1\n", "-".repeat(62));
    let session = read_plain::<Square8>(&text).expect("a position and a move");
    assert_eq!(session.moves().len(), 1);
}

#[test]
fn games_are_saved_and_loaded() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a game.txt");
    let (path, nowhere) = (path.display(), folder.path().display());
    talk::<Square8>(Colour::Black, &format!("f5\nsave {path}\n"));
    let saved = std::fs::read_to_string(path.to_string()).expect("a file");
    assert!(saved.starts_with("f5") && saved.trim().len() == 4, "{saved}");
    let said = talk::<Square8>(Colour::Black, &format!("load {path}\nsave {nowhere}\n"));
    assert!(said.contains("cannot write"), "{said}");
    let position = format!("{} O\nf6\n", obf(Position::<Square8>::start()).trim_end_matches(" X"));
    let error = read_plain::<Square8>(&position).expect_err("white may not play f6");
    assert_eq!(
        format!("{error:#}"),
        "line 2, character 1: move 1, `f6`, is not legal; allowed: e3 f4 c5 d6"
    );
    let position = position.replace("f6", "f4");
    let session = read_plain::<Square8>(&position).expect("a game");
    assert_eq!((session.start().side, session.moves().len()), (Colour::White, 1));
}

#[test]
fn games_are_saved_and_loaded_as_ggf() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("Game.GGF");
    let shown = path.display();
    let said = talk::<Square8>(Colour::White, &format!("save {shown}\nmoves\n"));
    let first = said.lines().last().expect("the moves").split_whitespace().last();
    let first = first.expect("a move").to_ascii_uppercase();
    let saved = std::fs::read_to_string(&path).expect("a file");
    assert!(saved.starts_with("(;GM[Othello]PC[Outflank]DT[20"), "{saved}");
    assert!(saved.contains("PB[test]PW[human]RE[?]TI[15:00]TY[8]BO[8 "), "{saved}");
    assert!(saved.ends_with(&format!(" *]B[{first}];)\n")), "{saved}");
    // GGF is recognised by content, whatever the file's name.
    let plain = folder.path().join("game.txt");
    let text = saved.replace("[test]", "[a\u{1b}b\u{202e}]").replace("TY[8]", "TY[8a]") + &saved;
    std::fs::write(&plain, text).expect("writable");
    let said = talk::<Square8>(Colour::White, &format!("load {}\nmoves\n", plain.display()));
    assert!(said.contains("game.txt holds more games; this is the first\n"), "{said}");
    assert!(said.contains("loaded: a?b? (black) against human (white), 20"), "{said}");
    assert!(said.contains("it was played for the fewest discs; now the most win\n"), "{said}");
    assert!(said.ends_with(&format!("  1  {}\n", first.to_ascii_lowercase())), "{said}");
    let whole = format!("{}save {shown}\n", "go\n".repeat(40));
    let said = talk_with::<Square6>(Colour::Black, Goal::Fewest, BoardStyle::Plain, &whole);
    let saved = std::fs::read_to_string(&path).expect("a file");
    let won = said.lines().find_map(|line| line.split_once(" wins by ")).expect("no draw");
    let sign = if won.0 == "black" { '+' } else { '-' };
    assert!(saved.contains(&format!("RE[{sign}{}.00]TI[15:00]TY[6a]", won.1)), "{saved}");
}

/// The message names the refused file and the fault. The game is unchanged.
#[test]
fn refused_files_leave_the_game_as_it_was() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("bad.ggf");
    let shown = path.display();
    let largest = "x".repeat((1 << 20) + 1);
    for (text, wanted) in [
        ("(;GM[Othello]B[F5]W[a1];)", ": move 2, `a1`, is not legal for white; allowed: W[f4] W["),
        ("f5d6", ": a game begins with `(;`"),
        ("(;GM[Chess];)", ": the game, GM, is `Chess`; allowed: Othello"),
        (&largest, ": it has 1048577 bytes; at most 1048576 are read"),
    ] {
        std::fs::write(&path, text).expect("writable");
        let said = talk::<Square8>(Colour::Black, &format!("f5 d6\nload {shown}\nmoves\n"));
        let lines: Vec<_> = said.lines().rev().take(3).collect();
        assert!(lines[2].contains(&format!("{shown}{wanted}")), "{}", lines[2]);
        assert_eq!(lines[..2], ["opening: Perpendicular", "  1  f5 d6"]);
    }
    let plain = folder.path().join("bad.txt");
    std::fs::write(&plain, "f5d6\n\nc3 d3 f5\n").expect("writable");
    let error = load::<Square8>(&plain).expect_err("f5 is taken");
    let wanted = "bad.txt: line 3, character 7: move 5, `f5`, is not legal; allowed: ";
    assert!(format!("{error:#}").contains(wanted), "{error:#}");
}

#[test]
fn nonsense_gets_a_message_and_changes_nothing() {
    for (line, wanted) in [
        ("a1", "a1 is not legal; legal: d3 c4 f5 e6"),
        ("z9", "neither a square nor a command"),
        ("f5 d6 a1 c3", "move 3, a1, is not legal; legal: "),
        ("f5 z9", "move 2, `z9`, is no square of this board (columns a to h, rows 1 to 8"),
        ("f5pa", "there is no pass before move 2: white has a move; nothing of this line"),
        ("hint many", "from 1 to 99"),
        ("hint 0", "from 1 to 99"),
        ("load", "load FILE"),
        ("load /nowhere/at/all", "cannot read"),
        ("save", "save FILE"),
        ("undo", "no move of yours"),
        ("moves", "no move has been made"),
        ("\u{fffd}\u{0}", "neither a square"),
    ] {
        let said = talk::<Square8>(Colour::Black, &format!("{line}\nhelp\n"));
        assert!(said.contains(wanted), "{line}: {said}");
        assert!(said.ends_with(HELP), "{line}: {said}");
        assert_eq!(said.matches("to move").count(), 1, "{line}: no board but the first: {said}");
    }
    let said = talk::<Square8>(Colour::Black, &"x".repeat(100_000));
    assert!(said.contains("too long"));
}

#[test]
fn the_opponent_answers_a_line_of_moves_once() {
    let said = talk::<Square8>(Colour::Black, "f5 D6,c3\nmoves\n");
    assert_eq!(said.matches(" plays ").count(), 1, "{said}");
    let moves = said.lines().rev().nth(1).expect("the moves, and the opening");
    let moves: Vec<_> = moves.split_whitespace().collect();
    assert_eq!((&moves[..4], moves.len()), (&["1", "f5", "d6", "c3"][..], 5));
    let said = talk::<Square8>(Colour::Black, "f5d6\nmoves\n");
    assert!(
        said.ends_with("  1  f5 d6\nopening: Perpendicular\n") && !said.contains(" plays "),
        "{said}"
    );
}

/// A game by the first, middle or last legal move each time, with the positions before each move.
fn some_game<G: Geometry>(seed: u64) -> Vec<(Position<G>, String)> {
    let (mut position, mut game) = (Position::<G>::start(), Vec::new());
    while !position.board.legal().is_empty() {
        let legal: Vec<_> = position.board.legal().collect();
        let index = (seed >> (game.len() % 16 * 4)) as usize;
        let square = legal[index % legal.len()];
        game.push((position, square_name::<G>(square)));
        position = position.play(square).expect("a legal move").pass_if_forced();
    }
    game
}

fn all_or_none<G: Geometry>(seed: u64, from: usize, count: usize, gaps: &[&str], bad: &str) {
    let game = some_game::<G>(seed);
    let from = from % game.len();
    let until = (from + count).min(game.len());
    let line = |part: &[(Position<G>, String)]| {
        let word = |(index, (_, name)): (usize, &(_, String))| {
            format!("{name}{}", gaps[index % gaps.len()])
        };
        part.iter().enumerate().map(word).collect::<String>()
    };
    let before = play_all::<G>(&Session::default(), &line(&game[..from])).expect("legal moves");
    assert_eq!(before.position(), game[from].0);
    let good = line(&game[from..until]);
    let after = play_all(&before, &good).expect("legal moves");
    assert_eq!(after.moves().len(), until);
    if let Some((position, _)) = game.get(until) {
        assert_eq!(after.position(), *position);
    }
    let error = play_all(&before, &format!("{good} {bad} f5")).expect_err("a bad move").to_string();
    assert!(error.contains(&format!("move {}", until - from + 1)), "{good} {bad}: {error}");
}

proptest! {
    #[test]
    fn lines_of_moves_are_played_whole_or_not_at_all(
        seed: u64,
        from in 0usize..60,
        count in 1usize..20,
        gaps in proptest::collection::vec(prop_oneof![Just(""), Just(" "), Just(", "), Just("\t")], 1..4),
        bad in prop_oneof![Just("z1"), Just("?"), Just("é"), Just("e0"), Just("papa")],
    ) {
        for shape in Shape::ALL {
            dispatch!(shape, G => all_or_none::<G>(seed, from, count, &gaps, bad));
        }
    }

    #[test]
    fn any_line_is_played_or_refused(line in "([a-h][1-8]|pa| |,|.){0,12}") {
        let _ = play_all::<Square8>(&Session::default(), &line);
    }
}

/// A game on 6x6 with a pass in it, as a line.
fn game_with_pass() -> (Vec<String>, usize) {
    let games = (0..).map(some_game::<Square6>);
    let mut found = games.filter_map(|game| {
        let index = (1..game.len()).find(|&index| game[index].0.side == game[index - 1].0.side)?;
        Some((game.into_iter().map(|(_, name)| name).collect(), index))
    });
    found.next().expect("one of many games has a pass")
}

#[test]
fn passes_are_implied_and_may_be_written() {
    let (moves, index) = game_with_pass();
    let (before, after) = (moves[..index].join(" "), moves[index..].join(" "));
    let start = Session::<Square6>::default();
    let whole = play_all(&start, &format!("{before} {after}")).expect("implied");
    for line in [format!("{before} pa {after}"), format!("{before}--{after}")] {
        assert_eq!(play_all(&start, &line).expect("written").moves(), whole.moves());
    }
    let half = play_all(&start, &before).expect("legal");
    assert_eq!(play_all(&half, "pass").expect("due"), half);
    assert!(play_all(&half, "pa pa").is_err());
    let listed: Vec<_> =
        display::moves_list(&whole).split_whitespace().map(str::to_owned).collect();
    let place = listed.iter().position(|word| *word == moves[index - 1]).expect("in the list");
    assert!(listed[place + 1..place + 3].contains(&"pa".to_string()), "{listed:?}");
}

/// Some programs write the passes of both sides at the end.
#[test]
fn passes_may_be_written_after_the_end() {
    let names: Vec<_> = some_game::<Square6>(0).into_iter().map(|(_, name)| name).collect();
    let start = Session::default();
    let whole = play_all::<Square6>(&start, &names.join("")).expect("legal");
    assert!(whole.is_over());
    for ending in ["pa", "papa", " -- --"] {
        let line = names.join("") + ending;
        assert_eq!(play_all(&start, &line).expect(ending), whole, "{ending}");
        assert_eq!(read_plain::<Square6>(&line).expect(ending), whole, "{ending}");
    }
    let said = talk::<Square6>(Colour::Black, &("go\n".repeat(40) + "pa\n"));
    assert!(said.ends_with("the game is over; new for another, undo, save FILE, or quit\n"));
}

/// Undo takes back a move, also where the file names the pass that followed it.
#[test]
fn undo_takes_back_a_move_before_a_pass_of_a_file() {
    let (moves, index) = game_with_pass();
    let session = play_all::<Square6>(&Session::default(), &moves[..index].join(" "));
    let session = session.expect("legal");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("pass.ggf");
    std::fs::write(&path, ggf::write(session.start(), session.moves())).expect("writable");
    let input = format!("load {}\nundo\nmoves\n", path.display());
    let said = talk::<Square6>(session.position().side, &input);
    let listed = said.rsplit(" to move\n").next().expect("the moves");
    let has = |name: &String| listed.contains(name.as_str());
    assert_eq!((has(&moves[index - 2]), has(&moves[index - 1])), (true, false), "{said}");
}

#[test]
fn the_last_move_and_what_it_turned_are_marked() {
    let session = play_all::<Square8>(&Session::default(), "f5 d6 c3").expect("legal moves");
    let board = |style| display::board(&session, style);
    assert_eq!(board(BoardStyle::Plain), diagram(session.position()));
    // c3 turns d4, between c3 and e5.
    let rows: Vec<_> = board(BoardStyle::Marks).lines().map(str::to_owned).collect();
    assert_eq!((&rows[3][..10], &rows[4][..10]), (" 3 - -[X].", " 4 - - - x"));
    let coloured = board(BoardStyle::Colours);
    let inverted = coloured.matches("\u{1b}[7m").count();
    let underlined = coloured.matches("\u{1b}[4m").count();
    assert_eq!((inverted, underlined), (1, 1), "{coloured:?}");
    assert_eq!(anstream::adapter::strip_str(&coloured).to_string(), board(BoardStyle::Plain));
}

fn marks_hide_nothing<G: Geometry>(seed: u64) {
    let game = some_game::<G>(seed);
    let names: Vec<_> = game.into_iter().map(|(_, name)| name).collect();
    let session = play_all::<G>(&Session::default(), &names.join(" ")).expect("legal moves");
    let board = |style| display::board(&session, style);
    let plain: Vec<_> =
        board(BoardStyle::Plain).lines().map(|line| line.trim_end().to_owned()).collect();
    let unmarked = board(BoardStyle::Marks).replace(['[', ']'], " ").to_uppercase();
    let unmarked: Vec<_> = unmarked.lines().map(|line| line.trim_end().to_owned()).collect();
    assert_eq!(unmarked[1..], plain[1..]);
    assert_eq!(board(BoardStyle::Marks).matches('[').count(), 1);
}

/// The moves beside the board and the bar are for terminals: a pipe gets the board alone.
#[test]
fn a_terminal_shows_the_newest_moves_and_the_expected_score() {
    let fresh = Session::<Square8>::default();
    let session = play_all(&fresh, "f5d6c3d3c4").expect("legal moves");
    let screen = |expected, style| display::screen(&session, expected, style);
    let marks = screen(Some(-16.0), BoardStyle::Marks);
    for text in ["   1 f5 d6\n", "   3 c3 d3\n", "   5 c4\n", " expected: white by 16.0\n"] {
        assert!(marks.contains(text), "{marks}");
    }
    // 24 of 64 discs for black.
    assert!(marks.contains(&format!("\n{}{} ", "X".repeat(12), "O".repeat(20))), "{marks}");
    let coloured = screen(Some(-16.0), BoardStyle::Colours);
    let stripped = anstream::adapter::strip_str(&coloured).to_string();
    assert_eq!(stripped.lines().last(), marks.lines().last());
    assert!(!screen(None, BoardStyle::Marks).contains("expected"));
    let plain = screen(Some(3.0), BoardStyle::Plain);
    assert!(!plain.contains("f5") && !plain.contains("expected"), "{plain}");
    let said =
        talk_with::<Square6>(Colour::White, Goal::Most, BoardStyle::Marks, &"go\n".repeat(40));
    assert!(said.contains("expected: "), "{said}");
    let last = said.lines().rfind(|line| line.contains("   31 ")).expect("the last rows");
    assert!(last.split_whitespace().count() > 8, "{last}");
}

#[test]
fn marks_hide_nothing_on_any_board() {
    for shape in Shape::ALL {
        for seed in [0, 7, 0x1234_5678_9ABC_DEF0] {
            dispatch!(shape, G => marks_hide_nothing::<G>(seed));
        }
    }
    let help = talk_with::<Square8>(Colour::Black, Goal::Most, BoardStyle::Marks, "help\n");
    assert!(help.ends_with(BoardStyle::Marks.legend()) && help.contains("brackets"), "{help}");
}
