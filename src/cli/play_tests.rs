//! Tests of `play.rs`.

use super::*;
use crate::arena::players::RolloutsPlayer;
use crate::game::{Cross92, Square6, Square8};
use crate::search::rollouts::Options;

fn talk<G: Geometry>(human: Colour, input: &str) -> String {
    let options = Options { simulations: 20, ..Options::default() };
    let mut output = Vec::new();
    let table = Table::<G, _> {
        player: Box::new(RolloutsPlayer::new("test".into(), Goal::Most, options, 1)),
        human,
        goal: Goal::Most,
        session: Session::default(),
        games: 0,
        output: &mut output,
    };
    table.run(input.as_bytes(), false).expect("memory does not fail");
    String::from_utf8(output).expect("text")
}

#[test]
fn a_whole_game_can_be_played_by_a_pipe() {
    let said = talk::<Square6>(Colour::Black, &"go\n".repeat(40));
    assert!(said.contains(" wins by ") || said.contains("a draw"), "{said}");
    assert!(said.ends_with("the game is over\n"), "{said}");
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
    assert!(said.contains("move") && said.contains(" %"), "{said}");
    assert!(said.ends_with("there is no move of yours to take back\n"), "{said}");
    assert_eq!(said.matches("black (X) 2, white (O) 2").count(), 2, "{said}");
}

#[test]
fn a_position_may_have_zeros_for_white() {
    let text = format!("X0{} X\nc1\n", "-".repeat(62));
    let session = read_session::<Square8>(&text).expect("a position and a move");
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
    let session = read_session::<Square8>(&position);
    assert!(session.is_err(), "white may not play f6");
    let position = position.replace("f6", "f4");
    let session = read_session::<Square8>(&position).expect("a game");
    assert_eq!((session.start().side, session.moves().len()), (Colour::White, 1));
}

#[test]
fn nonsense_is_answered_and_forgiven() {
    for (line, wanted) in [
        ("a1", "a1 is not legal; legal: d3 c4 f5 e6"),
        ("z9", "neither a square nor a command"),
        ("hint many", "from 1 to 99"),
        ("hint 0", "from 1 to 99"),
        ("load", "load FILE"),
        ("load /nowhere/at/all", "cannot read"),
        ("save", "save FILE"),
        ("undo", "no move of yours"),
        ("\u{fffd}\u{0}", "neither a square"),
    ] {
        let said = talk::<Square8>(Colour::Black, &format!("{line}\nhelp\n"));
        assert!(said.contains(wanted), "{line}: {said}");
        assert!(said.ends_with(HELP), "{line}: {said}");
    }
    let said = talk::<Square8>(Colour::Black, &"x".repeat(100_000));
    assert!(said.contains("too long"));
}
