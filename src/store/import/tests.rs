//! Tests of reading games: every format gives back what was written, and damage is one fault.

use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::*;
use crate::game::record::{MoveRecord, Source};
use crate::game::{Colour, Geometry, Position, Square8};
use crate::store::export::{TextFormat, TextWriter};

/// A game of random moves, cut off after `most` moves, with random numbers where `is_full`.
pub(crate) fn random_game<G: Geometry>(seed: u64, goal: Goal, most: usize, is_full: bool) -> Game {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let start = Position::<G>::start();
    let mut record = GameRecord::begin(start, goal, seed);
    record.source = Source::Import;
    let mut position = start;
    while record.moves.len() < most {
        let legal = position.board.legal();
        let choice = random.random_range(0..legal.len().max(1));
        let Some(square) = legal.into_iter().nth(choice) else { break };
        let mut played = MoveRecord::of(square);
        if is_full && random.random_bool(0.7) {
            played.value = Some(random.random_range(-1.0..1.0));
            played.policy = legal.map(|_| random.random()).collect();
        }
        if is_full && random.random_bool(0.3) {
            played.exact = Some(random.random_range(-30..30));
        }
        record.moves.push(played);
        position = position.play(square).expect("a legal move").pass_if_forced();
    }
    record.score = position.black_view().final_score(goal) as i16;
    if is_full {
        (record.worker, record.net_version, record.opening_moves) = (Some("w-1".into()), 7, 2);
        record.source = Source::Match;
    }
    Game::checked(record).expect("a game by the rules")
}

/// Writes games in a format.
pub(crate) fn written(format: TextFormat, games: &[Game]) -> Vec<u8> {
    let mut writer = TextWriter::new(format, Vec::new());
    for game in games {
        writer.write("games", game).expect("memory does not fail").expect("the format holds it");
    }
    writer.finish().expect("memory does not fail")
}

/// Reads a file with this content.
fn read(name: &str, bytes: &[u8], shape: Shape, goal: Goal) -> Vec<Found> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(name);
    fs::write(&path, bytes).expect("writable");
    let files = files(&path, None).expect("a file");
    files[0].games(shape, goal).expect("games").map(|found| found.expect("readable")).collect()
}

fn games_of(found: Vec<Found>) -> Vec<Game> {
    found.into_iter().map(|found| found.game.expect("a game")).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn games_come_back_from_every_format(
        shape in proptest::sample::select(&Shape::ALL[..]),
        fewest in any::<bool>(),
        seeds in proptest::collection::vec((any::<u64>(), 0usize..100, any::<bool>()), 1..4),
    ) {
        let goal = if fewest { Goal::Fewest } else { Goal::Most };
        let games: Vec<Game> = seeds.iter().map(|&(seed, most, is_full)| {
            dispatch!(shape, G => random_game::<G>(seed, goal, most, is_full))
        }).collect();
        for (name, format) in [
            ("games.txt", TextFormat::Transcript),
            ("games.ggf", TextFormat::Ggf),
            ("games.json", TextFormat::Json),
        ] {
            let bytes = written(format, &games);
            let back = games_of(read(name, &bytes, shape, goal));
            prop_assert_eq!(back.len(), games.len());
            for (one, other) in back.iter().zip(&games) {
                prop_assert!(one.squares().eq(other.squares()), "{}", name);
                prop_assert_eq!(one.ending, other.ending);
                prop_assert_eq!(one.score(), other.score());
                prop_assert_eq!((one.record.shape, one.record.goal), (shape, goal));
            }
            if format == TextFormat::Json {
                prop_assert_eq!(&back, &games);
                prop_assert_eq!(written(format, &back), bytes);
            }
        }
    }

    #[test]
    fn any_bytes_are_games_or_faults(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
        for name in ["a.ggf", "a.json", "a.txt"] {
            read(name, &bytes, Shape::Square8, Goal::Most);
        }
    }

    #[test]
    fn a_ggf_file_cut_anywhere_loses_one_game_and_says_so(cut in any::<prop::sample::Index>()) {
        let games: Vec<_> = (0..3).map(|it| random_game::<Square8>(it, Goal::Most, 60, false)).collect();
        let bytes = written(TextFormat::Ggf, &games);
        let length = cut.index(bytes.len());
        let whole = bytes[..length].windows(2).filter(|mark| *mark == b";)").count();
        let found = read("a.ggf", &bytes[..length], Shape::Square8, Goal::Most);
        prop_assert_eq!(found.iter().filter(|found| found.game.is_ok()).count(), whole);
        let faults: Vec<_> = found.iter().filter_map(|found| found.game.as_ref().err()).collect();
        let is_within = bytes[..length].windows(2).filter(|mark| *mark == b"(;").count() > whole;
        prop_assert_eq!(faults, if is_within { vec![&Fault::NoEnd] } else { vec![] });
    }
}

const GAME: &str = "(;GM[Othello]PC[GGS/os]DT[2003.12.15_12:33:18.MST]PB[one\x1b[1m\\]]PW[two]\
                    RE[+2.000]TI[5]TY[8]BO[8 -------- -------- -------- ---O*--- ---*O--- -------- \
                    -------- -------- *]B[d3//0.01]W[c5/1.2]C[a comment (; with ;) marks];)";

#[test]
fn tags_of_ggf_are_read() {
    let text = format!("2 {GAME} between (a)\n{GAME}\n");
    let games = games_of(read("a.GGF", text.as_bytes(), Shape::Square8, Goal::Most));
    assert_eq!(games.len(), 2);
    let game = &games[1];
    assert_eq!(game.black.as_deref(), Some("one [1m]"));
    assert_eq!((game.white.as_deref(), game.event.as_deref()), (Some("two"), Some("GGS/os")));
    assert_eq!((game.year(), game.ending), (Some(2003), Ending::Unfinished));
    assert_eq!((game.stated, game.score(), game.record.id), (Some(2), None, 2));
    assert_eq!(game.record.source, Source::Import);
    assert!(game.record.moves.iter().all(|it| it.value.is_none() && it.policy.is_empty()));
}

#[test]
fn faults_of_ggf_are_of_one_game() {
    let open = GAME.split(" marks").next().expect("a part").to_string();
    let long = GAME.replace("comment", &"x".repeat(200_000));
    let illegal = GAME.replace("W[c5/1.2]", "W[h8]");
    let other = GAME.replace("Othello", "Chess");
    let latin = GAME.replace("two", "tw\u{f6}");
    let mut text: Vec<u8> = [open, long, illegal, other].join("\n").into_bytes();
    text.extend(latin.chars().map(|letter| letter as u8));
    let found = read("a.ggf", &text, Shape::Square8, Goal::Most);
    let faults: Vec<_> = found
        .iter()
        .map(|found| match &found.game {
            Ok(game) => game.white.clone().unwrap_or_default().into_string(),
            Err(fault) => format!("{} {fault}", fault.is_illegal()),
        })
        .collect();
    assert_eq!(faults.len(), 5, "{faults:?}");
    assert_eq!(faults[0], "false the game has no `;)` at its end");
    assert_eq!(faults[1], "false the game has more than 65536 bytes");
    assert!(faults[2].starts_with("true move 2, `h8`, is not legal for white"), "{faults:?}");
    assert!(faults[3].starts_with("false the game, GM, is `Chess`"), "{faults:?}");
    assert_eq!(faults[4], "twö");
}

#[test]
fn a_wrong_line_of_json_has_one_fault() {
    let game = random_game::<Square8>(1, Goal::Most, 60, true);
    let line = json::line(&game);
    for (from, to, fault) in [
        ("\"version\":1", "\"version\":2", "the line has version 2, this program reads version 1"),
        ("\"8x8\"", "\"9x9\"", "9x9"),
        ("\"most\"", "\"least\"", "goal: unknown goal; allowed: most, fewest"),
        ("\"match\"", "\"chess\"", "source: unknown source; allowed: self-play, match, import"),
        ("\"w-1\"", "\"W 1\"", "worker is not allowed: 1 to 32 of a to z"),
        ("\"moves\":\"", "\"moves\":\"z9", "`z9"),
        ("\"values\":[", "\"values\":[2.5,", "`values` has "),
        ("\"version\":1,", "", "not a game in JSON: missing field `version`"),
        ("\"board\"", "\"black\":\"a\\u0007\",\"board\"", "black is not allowed: a text without"),
        ("\"goal\"", "\"start\":\"---\",\"goal\"", "start: a position of this board has 64"),
        ("{", "[", "not a game in JSON: "),
    ] {
        let wrong = line.replacen(from, to, 1);
        assert_ne!(wrong, line, "{from}");
        let error = json::parse(&wrong).expect_err(to).to_string();
        assert!(error.contains(fault), "{error}");
    }
    let refused = |change: &dyn Fn(&mut GameRecord)| {
        let mut other = game.clone();
        change(&mut other.record);
        json::parse(&json::line(&other)).expect_err("a wrong game").to_string()
    };
    let error = refused(&|record| record.moves[3].value = Some(1.5));
    assert_eq!(error, "the value of move 4 is not a number from -1 to 1");
    let error = refused(&|record| record.moves[3].exact = Some(65));
    assert_eq!(error, "a score is not allowed: at most the number of squares");
    let error = refused(&|record| record.moves[3].policy = vec![1; 40]);
    assert_eq!(error, "the policy of move 4 needs one weight for each legal move");
    let error = refused(&|record| record.score = if record.score == 2 { 4 } else { 2 });
    assert!(error.contains("but the final position gives"), "{error}");
    let error = refused(&|record| record.moves.truncate(9));
    assert_eq!(error, "the moves end before the game does");
}

#[test]
fn lists_of_names_beside_a_file_of_wthor_are_used() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, bytes: &[u8]| fs::write(folder.path().join(name), bytes).expect("ok");
    let mut records = [wthor::tests::whole_game(false), wthor::tests::whole_game(true)];
    records[1][0..6].copy_from_slice(&[1, 0, 1, 0, 9, 0]);
    records[0][6] = 64;
    write("WTH_1999.wtb", &wthor::tests::file(1999, &records));
    let list = |names: &[&str], width: usize| {
        let mut bytes = vec![0; 16];
        bytes[8] = names.len() as u8;
        for name in names {
            bytes.extend(name.bytes());
            bytes.resize(bytes.len() + width - name.len(), 0);
        }
        bytes
    };
    let read = || {
        let files = files(folder.path(), None).expect("files");
        assert_eq!(files.len(), 1);
        files[0].games(Shape::Square8, Goal::Most)
    };
    let games = |games: Games| -> Vec<_> { games.map(|it| it.expect("a file")).collect() };
    assert_eq!(games_of(games(read().expect("games")))[1].black, None);
    write("WTH.JOU", &list(&["Black Zero", "White One"], 20));
    write("wth.trn", &list(&["First", "Second"], 26));
    let found = games_of(games(read().expect("games")));
    assert_eq!(found[0].black.as_deref(), Some("Black Zero"));
    assert_eq!(found[1].black.as_deref(), Some("White One"));
    assert_eq!((found[1].white.as_deref(), found[1].event.as_deref()), (None, Some("Second")));
    assert_eq!((found[1].year(), found[1].stated), (Some(1999), None));
    assert_eq!(found[0].stated, Some(64));
    assert_eq!(found[0].record.start_side, Colour::Black);
    write("WTH.JOU", &list(&["Black Zero", "White One"], 20)[..40]);
    let error = read().err().expect("a short list").to_string();
    assert!(error.contains("WTH.JOU is cut off or no list of names"), "{error}");
}

#[test]
fn folders_are_runs_or_have_files_of_games() {
    let run = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/run-1");
    for path in [run.clone(), run.join("games")] {
        let files = files(&path, None).expect("a run");
        assert_eq!((files.len(), files[0].format), (1, None));
        let games: Vec<_> = files[0].games(Shape::Square8, Goal::Most).expect("games").collect();
        assert_eq!(games.len(), 24);
        assert!(games.iter().all(|it| it.as_ref().is_ok_and(|it| it.game.is_ok())));
    }
    let error = files(&run, Some(Format::Ggf)).expect_err("a run").to_string();
    assert!(error.ends_with("is a folder of a run's games, not of the format ggf"), "{error}");
    let folder = tempfile::tempdir().expect("a folder");
    let error = files(folder.path(), None).expect_err("nothing").to_string();
    assert!(error.contains("holds no games; allowed: a run directory"), "{error}");
    for name in ["b.ggf", "a.txt", "c.md"] {
        fs::write(folder.path().join(name), "").expect("writable");
    }
    let found = files(folder.path(), None).expect("files");
    let names: Vec<_> = found.iter().filter_map(|file| file.path.file_name()).collect();
    assert_eq!(names, ["a.txt", "b.ggf"]);
    assert_eq!(files(folder.path(), Some(Format::Ggf)).expect("files").len(), 1);
}

#[test]
fn a_game_without_moves_is_no_part_of_the_one_beside_it() {
    for (text, wanted) in [
        ("start\nf5d6c3\n", vec![0, 3]),
        ("f5d6\nstart\n", vec![2, 0]),
        ("start\nstart\n", vec![0, 0]),
        ("f5\nstart\nf5d6\n", vec![1, 0, 2]),
    ] {
        let games = games_of(read("games.txt", text.as_bytes(), Shape::Square8, Goal::Most));
        let moves: Vec<_> = games.iter().map(|game| game.squares().count()).collect();
        assert_eq!(moves, wanted, "{text}");
    }
}
