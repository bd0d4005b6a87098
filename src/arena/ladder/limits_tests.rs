//! The limits of a ladder. No file is written that would be refused when it is read again.

use super::tests::{labelled, played, terms};
use super::*;

#[test]
fn more_players_than_can_be_rated_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let [few, many] = ["few.jsonl", "many.jsonl"].map(|name| folder.path().join(name));
    for (path, count) in [(&few, MOST_PLAYERS / 2 + 1), (&many, MOST_PLAYERS + 1)] {
        let mut ladder = Ladder::open(path).expect("a ladder");
        let text: String = (0..count.div_ceil(2))
            .map(|pair| {
                let file = path.display();
                let pair = terms(&format!("{file} a{pair}"), &format!("{file} b{pair}"));
                serde_json::to_string(&Line::Game(Box::new(GameLine::new(1, &pair, &played(0)))))
                    .expect("plain data")
                    + "\n"
            })
            .collect();
        ladder.file.write_all(text.as_bytes()).expect("writable");
    }
    let refused = Ladder::open_read_only(&many).err().expect("too many").to_string();
    assert!(refused.contains("5000"), "{refused}");
    let mut ladder = Ladder::open_read_only(&few).expect("few enough");
    assert!(ladder.include(&few).is_ok(), "the same players again");
    std::fs::write(&many, std::fs::read_to_string(&few).expect("readable").replace("few", "new"))
        .expect("writable");
    let refused = ladder.include(&many).expect_err("too many together");
    assert!(matches!(refused, LadderError::TooManyPlayers { .. }), "{refused}");
}

#[test]
fn a_player_above_the_limit_is_refused_before_it_is_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("ladder.jsonl");
    let mut ladder = Ladder::open(&path).expect("a ladder");
    let named = |number: usize| labelled(&format!("p{number}"), "label");
    for number in 1..MOST_PLAYERS {
        ladder.add_player(named(number)).expect("few enough");
    }
    let too_many = |result: Result<MatchLine, LadderError>| {
        assert!(matches!(result, Err(LadderError::TooManyPlayers { .. })));
    };
    too_many(ladder.begin_match(terms("a", "b"), 1));
    let line = ladder.begin_match(terms("a", "p1"), 1).expect("the last place");
    too_many(ladder.begin_match(terms("b", "p1"), 1));
    let refused = ladder.add_player(named(MOST_PLAYERS)).expect_err("nobody else").to_string();
    assert!(refused.contains("5000") && refused.contains("--ladder"), "{refused}");
    ladder.add_game(&line, &played(0)).expect("known players");
    drop(ladder);
    let mut ladder = Ladder::open(&path).expect("it can be read again");
    too_many(ladder.begin_match(terms("b", "p1"), 1));
    assert!(ladder.begin_match(terms("p2", "p1"), 1).is_ok());
}

#[test]
fn a_line_above_the_size_limit_is_refused_before_it_is_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut ladder = Ladder::open(&folder.path().join("ladder.jsonl")).expect("a ladder");
    // A sparse file takes no space on the disk.
    ladder.file.set_len(MOST_BYTES - 10).expect("a sparse file");
    let refused = ladder.begin_match(terms("a", "b"), 1).expect_err("no room").to_string();
    assert!(refused.contains(&MOST_BYTES.to_string()), "{refused}");
    let size = ladder.file.metadata().expect("a file").len();
    assert_eq!(size, MOST_BYTES - 10);
}
