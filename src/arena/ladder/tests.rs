use super::*;
use crate::arena::matches::{Forfeit, first_colour};
use crate::arena::standings::standings;
use crate::arena::svg::TrainingAxis;
use crate::game::{Colour, Position, Square, Square6, Square8, SquareSet};
use crate::players::contestant::Origin;
use crate::players::player::Choice;
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

pub(super) fn terms(first: &str, second: &str) -> MatchTerms {
    MatchTerms {
        first: first.into(),
        second: second.into(),
        board: "8x8".into(),
        goal: "most".into(),
        openings: "start".into(),
    }
}

/// A complete random game, with score, depth, nodes and time of each move.
pub(super) fn played(game: u32) -> MatchGame<Square8> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(game.into());
    let start = Position::<Square8>::start();
    let (mut position, mut choices) = (start, Vec::new());
    let any = |set: SquareSet<Square8>, random: &mut _| {
        crate::players::player::random_square(set, random)
    };
    while let Some(square) = any(position.board.legal(), &mut random) {
        position = position.play(square).expect("a legal move").pass_if_forced();
        let (score, depth) = (Some(1.5), Some(7));
        let (seconds, unfinished, wasted) = (0.25, 0.125, 0.0625);
        choices.push(Choice { square, score, depth, nodes: 9, seconds, unfinished, wasted });
    }
    MatchGame {
        game,
        first: first_colour(game),
        opening: Opening { start, moves: Vec::new(), position: start },
        choices,
        score: position.black_view().difference(),
        forfeit: None,
    }
}

fn book() -> Vec<Opening<Square8>> {
    vec![played(0).opening]
}

/// The line of a player with the net of a training step of `run`.
fn net_line(name: &str, run: &str, step: u64, positions: Option<u64>) -> PlayerLine {
    let run = run.to_owned();
    let origin = Origin { run, step, positions, games: None, minutes: None, net: None };
    PlayerLine::new(name.into(), None, Some(origin))
}

/// The line of a player with a name that the user gave.
pub fn labelled(name: &str, label: &str) -> PlayerLine {
    PlayerLine::new(name.into(), Some(label.into()), None)
}

#[test]
fn games_are_read_as_they_were_added() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("ladder.jsonl");
    let mut ladder = Ladder::open(&path).expect("a ladder");
    let line = ladder.begin_match(terms("a", "b"), 3).expect("writable");
    let mut games: Vec<_> = (0..6).map(played).collect();
    games[4].choices.truncate(9);
    let by = Colour::White;
    games[4].forfeit = Some(Forfeit { by, reason: "answered \"z9\"\nand ended".into() });
    games[4].score = 64;
    for played in games.iter().rev() {
        ladder.add_game(&line, played).expect("writable");
    }
    drop(ladder);
    let ladder = Ladder::open(&path).expect("a ladder");
    assert_eq!(ladder.last_match(&terms("a", "b")), Some(&line));
    assert_eq!(ladder.last_match(&terms("b", "a")), None);
    assert_eq!(ladder.games_of(&line, &book()), games);
    assert_eq!(ladder.skipped, SkippedLines::default());
    assert_eq!(ladder.fresh_seed(), 4);
}

/// After a cut at any byte all complete lines are read, and the missing game can be added.
#[test]
fn a_cut_file_loses_at_most_one_game() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("ladder.jsonl");
    let mut ladder = Ladder::open(&path).expect("a ladder");
    let line = ladder.begin_match(terms("a", "b"), 3).expect("writable");
    (0..3).for_each(|game| ladder.add_game(&line, &played(game)).expect("writable"));
    drop(ladder);
    let bytes = std::fs::read(&path).expect("readable");
    let second = bytes.len() - bytes.len() / 5;
    for cut in (second..bytes.len()).step_by(97) {
        std::fs::write(&path, &bytes[..cut]).expect("writable");
        let mut ladder = Ladder::open(&path).expect("a ladder");
        assert_eq!(ladder.games.len(), 2, "cut at {cut} of {}", bytes.len());
        assert!(ladder.skipped.count <= 1);
        ladder.add_game(&line, &played(2)).expect("writable");
        drop(ladder);
        let ladder = Ladder::open(&path).expect("a ladder");
        assert_eq!(ladder.games_of(&line, &book()).len(), 3);
    }
}

#[test]
fn other_files_are_refused_and_left_unchanged() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("notes.txt");
    for (text, wanted) in [
        ("dear diary", "is not a ladder file"),
        ("{\"kind\":\"game\"}\n", "is not a ladder file"),
        ("{\"kind\":\"ladder\",\"version\":2}\n", "version 2"),
    ] {
        std::fs::write(&path, text).expect("writable");
        let error = Ladder::open(&path).err().expect("a refusal");
        assert!(error.to_string().contains(wanted), "{error}");
        assert_eq!(std::fs::read_to_string(&path).expect("readable"), text);
    }
    assert!(Ladder::open(folder.path()).is_err());
}

#[test]
fn a_second_writer_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("ladder.jsonl");
    let first = Ladder::open(&path).expect("a ladder");
    assert!(matches!(Ladder::open(&path), Err(LadderError::Locked { .. })));
    drop(first);
    assert!(Ladder::open(&path).is_ok());
}

#[test]
fn a_read_only_ladder_is_neither_locked_nor_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("ladder.jsonl");
    assert!(matches!(Ladder::open_read_only(&path), Err(LadderError::File { .. })));
    assert!(!path.exists());
    std::fs::write(&path, "").expect("writable");
    assert!(matches!(Ladder::open_read_only(&path), Err(LadderError::NotALadder { .. })));
    let mut writer = Ladder::open(&path).expect("a ladder");
    let line = writer.begin_match(terms("a", "b"), 3).expect("writable");
    writer.add_game(&line, &played(0)).expect("writable");
    let bytes = std::fs::read(&path).expect("readable");
    let mut reader = Ladder::open_read_only(&path).expect("a ladder in use");
    assert_eq!(reader.games_of(&line, &book()), [played(0)]);
    assert!(reader.begin_match(terms("a", "b"), 4).is_err());
    assert!(reader.add_player(net_line("a", "run", 5, None)).is_err());
    assert_eq!(std::fs::read(&path).expect("readable"), bytes);
    drop(writer);
    assert!(Ladder::open(&path).is_ok(), "the reader holds no lock");
}

#[test]
fn a_changed_opening_is_not_resumed() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut ladder = Ladder::open(&folder.path().join("ladder.jsonl")).expect("a ladder");
    let line = ladder.begin_match(terms("a", "b"), 3).expect("writable");
    ladder.add_game(&line, &played(0)).expect("writable");
    let mut other = book();
    other[0].moves.push(Square(19));
    assert_eq!(ladder.games_of(&line, &other), []);
}

#[test]
fn a_game_that_breaks_the_rules_does_not_count() {
    let line = GameLine::new(1, &terms("a", "b"), &played(0));
    assert!(line.played::<Square8>("a").is_some());
    assert!(line.played::<Square8>("b").is_none(), "b is not the first player");
    assert!(line.played::<Square6>("a").is_none());
    let mut short = line.clone();
    short.moves.truncate(20);
    assert!(short.played::<Square8>("a").is_none());
    let mut wrong = line.clone();
    wrong.score += 2;
    assert!(wrong.played::<Square8>("a").is_none());
}

#[test]
fn standings_count_each_game_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut ladder = Ladder::open(&folder.path().join("ladder.jsonl")).expect("a ladder");
    for seed in [1, 2] {
        // The second match repeats the games of the first.
        let line = ladder.begin_match(terms("a", "b"), seed).expect("writable");
        (0..10).for_each(|game| ladder.add_game(&line, &played(game)).expect("writable"));
    }
    let standings = standings::<Square8>(&ladder, Goal::Most, Some("b"));
    assert_eq!((standings.repeated, standings.broken), (10, 0));
    let [one, other] = &standings.players[..] else { panic!("two players") };
    assert_eq!((one.total.games(), other.total.games()), (10, 10));
    assert_eq!(one.total.wins, other.total.losses);
    assert!(one.rating.elo >= other.rating.elo);
    let anchor = standings.players.iter().find(|player| player.name == "b").expect("b");
    assert_eq!(anchor.rating.elo, 0.0);
    assert!(standings.text().contains("10 repeated games"));
    assert_eq!(standings.json().len(), 2);
    let svg = crate::arena::svg::crosstable(&standings);
    assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"));
    assert_eq!(crate::arena::svg::curve(&standings, TrainingAxis::Steps), None);
}

#[test]
fn the_curve_shows_runs_and_anchors() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut ladder = Ladder::open(&folder.path().join("ladder.jsonl")).expect("a ladder");
    let line = ladder.begin_match(terms("net:<a>", "random"), 1).expect("writable");
    (0..10).for_each(|game| ladder.add_game(&line, &played(game)).expect("writable"));
    let origin = net_line("net:<a>", "runs/a", 500, Some(9_000));
    ladder.add_player(origin.clone()).expect("writable");
    ladder.add_player(origin).expect("writable");
    drop(ladder);
    let ladder = Ladder::open(&folder.path().join("ladder.jsonl")).expect("a ladder");
    let standings = standings::<Square8>(&ladder, Goal::Most, None);
    let svg = crate::arena::svg::curve(&standings, TrainingAxis::Steps).expect("a curve");
    assert!(svg.contains("net:&lt;a&gt;") && svg.contains("random") && svg.contains("500"));
    let svg = crate::arena::svg::curve(&standings, TrainingAxis::Positions).expect("a curve");
    assert!(svg.contains("positions of self-play") && svg.contains("8000"), "{svg}");
    // Ladders of earlier versions have no minutes.
    assert_eq!(crate::arena::svg::curve(&standings, TrainingAxis::Minutes), None);
}

#[test]
fn the_curve_shows_whole_labels_of_opponents() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut ladder = Ladder::open(&folder.path().join("ladder.jsonl")).expect("a ladder");
    let engines = ["discs", "patternnet-8x8"].map(|eval| format!("alphabeta:depth=6,eval={eval}"));
    for engine in &engines {
        let line = ladder.begin_match(terms("run@5", engine), 1).expect("writable");
        (0..10).for_each(|game| ladder.add_game(&line, &played(game)).expect("writable"));
    }
    ladder.add_player(net_line("run@5", "run", 5, Some(9))).expect("writable");
    let standings = standings::<Square8>(&ladder, Goal::Most, None);
    let svg = crate::arena::svg::curve(&standings, TrainingAxis::Steps).expect("a curve");
    assert!(engines.iter().all(|engine| svg.contains(&format!(">{engine} "))), "{svg}");
}

#[test]
fn the_default_zero_is_no_net_of_a_run() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut ladder = Ladder::open(&folder.path().join("ladder.jsonl")).expect("a ladder");
    for pair in [terms("run@5", "a"), terms("run@5", "b")] {
        let line = ladder.begin_match(pair, 1).expect("writable");
        (0..10).for_each(|game| ladder.add_game(&line, &played(game)).expect("writable"));
    }
    assert_eq!(standings::<Square8>(&ladder, Goal::Most, None).zero, None);
    let net = net_line("run@5", "run", 5, Some(9));
    ladder.add_player(net).expect("writable");
    let standings = standings::<Square8>(&ladder, Goal::Most, None);
    assert_eq!(standings.zero.as_deref(), Some("a"));
    let a = standings.players.iter().find(|player| player.name == "a").expect("a");
    assert_eq!(a.rating.elo, 0.0);
}

#[test]
fn games_and_minutes_of_training_are_read_and_may_be_missing() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("ladder.jsonl");
    let mut ladder = Ladder::open(&path).expect("a ladder");
    let mut known = net_line("a", "run", 500, Some(9));
    known.origin = known.origin.map(|origin| origin.with_training(Some(70), Some(0.1)));
    ladder.add_player(known.clone()).expect("writable");
    drop(ladder);
    let mut text = std::fs::read_to_string(&path).expect("readable");
    text.push_str(
        "{\"kind\":\"player\",\"version\":1,\"name\":\"b\",\"run\":\"run\",\"step\":3,\"positions\":4}\n",
    );
    std::fs::write(&path, text).expect("writable");
    let ladder = Ladder::open(&path).expect("a ladder");
    assert_eq!(ladder.skipped, SkippedLines::default());
    assert_eq!(ladder.players["a"], known);
    assert_eq!(ladder.players["b"], net_line("b", "run", 3, Some(4)));
}

/// A label is kept until another one is given. Later lines without a label do not remove it.
#[test]
fn labels_are_read_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("ladder.jsonl");
    let mut ladder = Ladder::open(&path).expect("a ladder");
    let net = net_line("net:a", "run", 500, None);
    let mut labelled_net = net.clone();
    labelled_net.label = Some("mine".into());
    ladder.add_player(labelled_net).expect("writable");
    ladder.add_player(net.clone()).expect("writable");
    let named = |label: &str| labelled("random", label);
    ladder.add_player(named("chance")).expect("writable");
    ladder.add_player(named("dice")).expect("writable");
    drop(ladder);
    assert_eq!(std::fs::read_to_string(&path).expect("readable").lines().count(), 4);
    let ladder = Ladder::open_read_only(&path).expect("a ladder");
    assert_eq!((ladder.label("net:a"), ladder.label("random")), (Some("mine"), Some("dice")));
    assert_eq!(ladder.origin("net:a"), net.origin.as_ref());
    assert_eq!((ladder.origin("random"), ladder.label("greedy")), (None, None));
}

/// Bad lines are counted and the first ones listed. Long lines are not kept in memory.
#[test]
fn lines_that_cannot_be_read_are_skipped() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("ladder.jsonl");
    let mut ladder = Ladder::open(&path).expect("a ladder");
    let line = ladder.begin_match(terms("a", "b"), 3).expect("writable");
    ladder.add_game(&line, &played(0)).expect("writable");
    let too_long = labelled(&"x".repeat(LONGEST_LINE), "long");
    let error = ladder.add_player(too_long).expect_err("it could not be read again").to_string();
    assert!(error.contains(&LONGEST_LINE.to_string()), "{error}");
    drop(ladder);
    let mut bytes = std::fs::read(&path).expect("readable");
    let game = bytes.split(|&byte| byte == b'\n').nth(2).expect("a game").to_vec();
    bytes.extend(b"\xff\n".repeat(50));
    bytes.extend(vec![b'['; 3 * LONGEST_LINE]);
    bytes.extend([b"\n", &game[..]].concat());
    std::fs::write(&path, &bytes).expect("writable");
    let mut ladder = Ladder::open(&path).expect("a ladder");
    assert_eq!((ladder.games.len(), ladder.skipped.count), (2, 51));
    assert_eq!(ladder.skipped.first, (4..14).collect::<Vec<u64>>());
    ladder.add_game(&line, &played(1)).expect("writable");
    drop(ladder);
    assert_eq!(Ladder::open_read_only(&path).expect("a ladder").games.len(), 3);
}

/// A file from elsewhere may have any match numbers.
#[test]
fn a_match_after_the_highest_number_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("ladder.jsonl");
    let mut ladder = Ladder::open(&path).expect("a ladder");
    ladder.begin_match(terms("a", "b"), 3).expect("writable");
    drop(ladder);
    let text = std::fs::read_to_string(&path).expect("readable");
    std::fs::write(&path, text.replace("\"id\":1", "\"id\":4294967295")).expect("writable");
    let mut ladder = Ladder::open(&path).expect("a ladder");
    assert!(matches!(ladder.begin_match(terms("a", "b"), 4), Err(LadderError::Full { .. })));
}

/// Standings have the same results of all pairs as a direct count.
#[test]
fn results_of_pairs_are_equal_to_a_direct_count() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut ladder = Ladder::open(&folder.path().join("ladder.jsonl")).expect("a ladder");
    let names: Vec<String> = (0..9).map(|player| format!("p{player}")).collect();
    for (number, pair) in [(0, 1), (1, 2), (2, 0), (3, 4), (8, 3), (1, 0)].into_iter().enumerate() {
        let line = ladder.begin_match(terms(&names[pair.0], &names[pair.1]), 1).expect("writable");
        let first = 10 * number as u32;
        (first..first + 7)
            .for_each(|game| ladder.add_game(&line, &played(game)).expect("writable"));
    }
    let standings = standings::<Square8>(&ladder, Goal::Most, None);
    assert_eq!(standings.players.len(), 6);
    for player in &standings.players {
        let mut total = 0;
        for (place, other) in standings.players.iter().enumerate() {
            let wanted = ladder.games.iter().fold([0; 3], |mut count, game| {
                let pair = (game.black.as_str(), game.white.as_str());
                let sign = if pair == (&*player.name, &*other.name) {
                    1
                } else if pair == (&*other.name, &*player.name) {
                    -1
                } else {
                    return count;
                };
                count[(1 - (sign * game.score).signum()) as usize] += 1;
                count
            });
            let found = player.against.iter().find(|(met, _)| *met == place).map(|(_, met)| *met);
            let found = found.unwrap_or_default();
            assert_eq!([found.wins, found.draws, found.losses], wanted);
            total += found.games();
        }
        assert_eq!(player.total.games(), total);
        assert!(player.against.is_sorted_by_key(|(place, _)| *place));
    }
}

#[test]
fn players_of_an_included_ladder_are_also_written_to_this_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let [here, there] = ["here.jsonl", "there.jsonl"].map(|name| folder.path().join(name));
    let line = net_line("a", "run", 500, Some(9));
    let mut other = Ladder::open(&there).expect("a ladder");
    other.add_player(line.clone()).expect("writable");
    drop(other);
    let mut ladder = Ladder::open(&here).expect("a ladder");
    ladder.include(&there).expect("readable");
    assert_eq!(ladder.origin("a"), line.origin.as_ref());
    ladder.add_player(line.clone()).expect("writable");
    drop(ladder);
    assert_eq!(Ladder::open_read_only(&here).expect("a ladder").players["a"], line);
}
