//! Tests of the games that a run begins with.

use super::*;
use crate::game::{Square6, notation};
use crate::store::games::read_all;
use crate::store::games::tests::a_game;
use crate::store::run_dir::RunDir;

const WANTED: (Shape, Goal) = (Shape::Square8, Goal::Most);

/// A run whose games have these net versions, 30 positions each.
fn a_run(path: &Path, versions: impl Iterator<Item = u32>) {
    let run = RunDir::create(path, "", 1).expect("a run");
    let mut writer = GameWriter::open(&run.games()).expect("a folder of games");
    for (id, net_version) in versions.enumerate() {
        writer.append(&GameRecord { net_version, ..a_game(id as u64, 30) }).expect("a game");
    }
}

#[test]
fn the_newest_games_of_all_runs_are_mixed_evenly_with_new_ids() {
    let folder = tempfile::tempdir().expect("a folder");
    let runs = ["long", "short"].map(|name| folder.path().join(name));
    a_run(&runs[0], 100..120);
    a_run(&runs[1], 200..204);
    // Ten games of each are asked for, and the second run has four.
    let copied = WarmStart::open(&runs, 600, WANTED)
        .and_then(|start| start.copy(&folder.path().join("new")))
        .expect("games");
    assert_eq!(copied, CopiedGames { games: 14, positions: 420, skipped: 0 });
    let games: Vec<_> = read_all(&folder.path().join("new"))
        .expect("the folder")
        .map(|game| game.expect("a game"))
        .collect();
    assert!(games.iter().map(|game| game.id).eq(0..14));
    let versions: Vec<u32> = games.iter().map(|game| game.net_version).collect();
    let of = |run: u32| versions.iter().copied().filter(move |version| version / 100 == run);
    assert!(of(1).eq(110..120) && of(2).eq(200..204), "{versions:?}");
    for (half, expected) in [(&versions[..7], 5), (&versions[7..], 5)] {
        let long = half.iter().filter(|version| **version < 200).count();
        assert_eq!(long, expected, "{versions:?}");
    }
}

#[test]
fn games_that_a_run_has_set_aside_are_not_copied() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = folder.path().join("run");
    a_run(&run, 0..9);
    let copied = |name: &str| {
        let start = WarmStart::open(std::slice::from_ref(&run), 900, WANTED)?;
        start.copy(&folder.path().join(name))
    };
    set_aside::add(&run, &[0, 4, 5]).expect("written");
    assert_eq!(copied("some").expect("games").games, 6);
    let versions: Vec<u32> = read_all(&folder.path().join("some"))
        .expect("the folder")
        .map(|game| game.expect("a game").net_version)
        .collect();
    assert_eq!(versions, [1, 2, 3, 6, 7, 8]);
    set_aside::add(&run, &(0..9).collect::<Vec<_>>()).expect("written");
    assert!(copied("none").expect_err("no game is left").to_string().contains("has no games"));
}

#[test]
fn runs_without_suitable_games_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name| folder.path().join(name);
    a_run(&path("played"), 0..1);
    a_run(&path("empty"), 0..0);
    let refused = |name, wanted| match WarmStart::open(&[path("played"), path(name)], 9, wanted) {
        Ok(_) => panic!("{name} was taken"),
        Err(error) => error.to_string(),
    };
    assert!(refused("nothing", WANTED).contains("nothing"));
    assert!(refused("empty", WANTED).contains("empty has no games"));
    let message = refused("played", (Shape::Square6, Goal::Fewest));
    assert!(message.contains("its games have board 8x8 and goal most"), "{message}");
    assert!(message.contains("configuration has board 6x6 and goal fewest"), "{message}");
}

#[test]
fn files_give_their_last_games_and_name_those_that_are_left_out() {
    use crate::store::import::wthor::tests::{file, whole_game};
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.wtb");
    let (mut unfinished, mut illegal) = (whole_game(false), whole_game(false));
    unfinished[8 + 20..].fill(0);
    illegal[8 + 20] = 11;
    let mut games = vec![whole_game(false); 5];
    games.extend([illegal, unfinished, whole_game(true), whole_game(true)]);
    std::fs::write(&path, file(1999, &games)).expect("writable");
    a_run(&folder.path().join("run"), 0..3);
    let sources = [path.clone(), folder.path().join("run")];
    // Two games of 60 moves from the file, and three of 30 positions from the run.
    let start = WarmStart::open(&sources, 200, WANTED).expect("games");
    let left_out = start.left_out().clone();
    assert_eq!((left_out.unfinished, left_out.faulty), (1, 1));
    let named = |number, text| format!("{}: game {number}: {text}", path.display());
    assert_eq!(left_out.first[0], named(6, "move 21, byte 11, is not legal"));
    assert_eq!(left_out.first[1], named(7, "unfinished after move 20"));
    let copied = start.copy(&folder.path().join("new")).expect("games");
    assert_eq!(copied.games, 5);
    let games: Vec<_> = read_all(&folder.path().join("new"))
        .expect("the folder")
        .map(|game| game.expect("a game"))
        .collect();
    let (imported, own): (Vec<_>, Vec<_>) =
        games.iter().partition(|game| game.source == crate::game::record::Source::Import);
    assert_eq!((imported.len(), own.len()), (2, 3));
    for game in imported {
        let bare = |it: &crate::game::record::MoveRecord| (it.value, it.policy.len(), it.exact);
        assert!(game.moves.iter().all(|played| bare(played) == (None, 0, None)));
        assert!(game.positions::<crate::game::Square8>().is_ok());
    }
    let other = WarmStart::open(&[path], 200, (Shape::Square6, Goal::Most));
    let error = other.err().expect("another board").to_string();
    assert!(error.contains("its games have board 8x8 and goal most"), "{error}");
}

#[test]
fn moves_without_a_policy_teach_themselves_if_that_is_wished() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("games.txt");
    // The games of a run, without what is known of their moves.
    let run = import::files(Path::new("tests/data/run-1"), None).expect("a run");
    let games = run[0].games(Shape::Square6, Goal::Most).expect("games");
    let text: Vec<String> = games
        .map(|found| {
            let game = found.expect("a file").game.expect("a game");
            notation::transcript::<Square6>(game.squares())
        })
        .collect();
    std::fs::write(&file, text.join("\n")).expect("written");
    let wanted = (Shape::Square6, Goal::Most);
    let copied = |name: &str, imitates| -> Vec<GameRecord> {
        let start = WarmStart::open(std::slice::from_ref(&file), 900, wanted).expect("games");
        start.imitating(imitates).copy(&folder.path().join(name)).expect("copied");
        let games = read_all(&folder.path().join(name)).expect("the folder");
        games.map(|game| game.expect("a game")).collect()
    };
    let plain = copied("plain", false);
    assert!(plain[0].moves.iter().all(|played| played.policy.is_empty()));
    let mut single = 0;
    for game in copied("taught", true) {
        let positions = game.positions::<Square6>().expect("a whole game");
        for (played, position) in game.moves.iter().zip(positions) {
            let legal: Vec<_> = position.board.legal().collect();
            if legal.len() == 1 {
                single += 1;
                assert!(played.policy.is_empty());
                continue;
            }
            let place = legal.iter().position(|&square| square == played.square).expect("legal");
            let wanted = (0..legal.len()).map(|other| if other == place { u16::MAX } else { 0 });
            assert!(played.policy.iter().copied().eq(wanted), "{:?}", played.policy);
        }
    }
    assert!(single > 0);
}
