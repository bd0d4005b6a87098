use std::ops::ControlFlow;
use std::path::Path;

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::positions::{Sample, TestPosition, from_file, from_games, to_lines};
use super::*;
use crate::arena::ladder::{Ladder, MatchTerms};
use crate::arena::matches::{self, MatchGame};
use crate::arena::openings::OpeningSource;
use crate::game::record::{GameRecord, MoveRecord, Source};
use crate::game::{Bitboard, Board, Cross92, Square6};
use crate::players::contestant::PlayerContext;
use crate::players::open::contestant;
use crate::players::spec::PlayerSpec;

fn player<G: Geometry>(spec: &str, goal: Goal) -> Contestant<'static, G> {
    let inference = crate::net::inference::Options::default();
    let context = PlayerContext { goal, device: "cpu".into(), inference, cores: 1 };
    let spec: PlayerSpec = spec.parse().expect("a specification");
    contestant(&spec, &context).expect("a player")
}

/// Positions of random games with `empties` empty squares.
fn late<G: Geometry>(empties: u32) -> Vec<TestPosition<G>> {
    let plies = G::SQUARES as u32 - Board::<G>::start().discs() - empties;
    let book = OpeningSource::Random { plies }.book::<G>(12, 3).expect("a book");
    book.openings.iter().filter_map(|opening| TestPosition::new(opening.position)).collect()
}

fn settings(goal: Goal, threads: usize) -> LossSettings {
    LossSettings { goal, seed: 9, threads, table_bytes: 1 << 20 }
}

fn judged<G: Geometry>(
    spec: &str,
    positions: &mut [TestPosition<G>],
    settings: &LossSettings,
) -> Result<Vec<JudgedMove<G>>, LossError> {
    let (stop, none) = (AtomicBool::new(false), |_| ());
    let player = player::<G>(spec, settings.goal);
    let choices = choices(&player, positions, settings, &stop, &none)?;
    judge(positions, &choices, settings, &stop, &none)
}

/// The exact score for the side to move, by a search of all lines.
fn exhaustive_score<G: Geometry>(board: Board<G>, goal: Goal) -> i32 {
    if board.is_over() {
        return board.final_score(goal);
    }
    if board.legal().is_empty() {
        return -exhaustive_score(board.pass(), goal);
    }
    let worth = |square| -exhaustive_score(board.play_unchecked(square), goal);
    board.legal().map(worth).max().expect("a move")
}

fn losses_are_those_of_an_exhaustive_search<G: Geometry>(goal: Goal) {
    let settings = settings(goal, 2);
    let mut positions = late::<G>(6);
    assert!(positions.len() > 5, "{}", positions.len());
    let judged = judged("random", &mut positions, &settings).expect("judged");
    let mut total = 0;
    for (judged, entry) in judged.iter().zip(&positions) {
        let board = entry.position().board;
        assert_eq!(judged.position, entry.position());
        assert_eq!(judged.best.1, exhaustive_score(board, goal));
        assert_eq!(judged.score, -exhaustive_score(board.play_unchecked(judged.square), goal));
        total += exhaustive_score(board, goal)
            + exhaustive_score(board.play_unchecked(judged.square), goal);
    }
    assert!(total > 0, "random moves lose discs");
    let report = LossReport::new(["random", "chance"], 0, &judged);
    assert_eq!(report.solved_itself, 0);
    assert!((report.loss - f64::from(total) / positions.len() as f64).abs() < 1e-9);
    assert!(report.worst[0].best.1 - report.worst[0].played.1 > 0);
    assert!(report.exact < report.positions && report.kept >= report.exact);
}

#[test]
fn losses_of_random_moves_are_those_of_an_exhaustive_search() {
    for goal in [Goal::Most, Goal::Fewest] {
        losses_are_those_of_an_exhaustive_search::<Square6>(goal);
    }
    losses_are_those_of_an_exhaustive_search::<Cross92>(Goal::Fewest);
}

#[test]
fn a_perfect_player_loses_nothing() {
    for goal in [Goal::Most, Goal::Fewest] {
        let mut positions = late::<Square6>(9);
        let spec = "alphabeta:depth=1,solve_empties=30";
        let judged = judged(spec, &mut positions, &settings(goal, 1)).expect("judged");
        let report = LossReport::new([spec; 2], 30, &judged);
        assert_eq!(report.solved_itself, positions.len());
        assert_eq!((report.loss, report.error), (0.0, 0.0));
        assert_eq!((report.exact, report.kept), (positions.len(), positions.len()));
        assert!(report.worst.is_empty());
    }
}

#[test]
fn the_losses_do_not_depend_on_the_number_of_threads() {
    let run = |threads| {
        let mut positions = late::<Square6>(8);
        judged("random", &mut positions, &settings(Goal::Most, threads)).expect("judged")
    };
    let scores = |judged: &[JudgedMove<Square6>]| -> Vec<_> {
        judged.iter().map(|one| (one.square, one.score, one.best.1)).collect()
    };
    assert_eq!(scores(&run(1)), scores(&run(3)));
}

#[test]
fn solved_positions_are_written_and_read_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("late.obf");
    let mut positions = late::<Square6>(8);
    let judged = judged("random", &mut positions, &settings(Goal::Most, 1)).expect("judged");
    std::fs::write(&path, to_lines(&positions)).expect("writable");
    let read = from_file::<Square6>(&path).expect("positions");
    assert_eq!(read.positions, positions);
    assert_eq!(read.bad_lines.count(), 0);
    for (judged, entry) in judged.iter().zip(&read.positions) {
        assert_eq!(entry.best().map(|best| best.1), Some(judged.best.1));
        assert_eq!(entry.score(judged.square), Some(judged.score));
    }
}

#[test]
fn a_move_above_the_best_known_score_is_an_error() {
    let mut positions = late::<Square6>(6);
    let lowest = |entry: &mut TestPosition<Square6>| {
        // The last move gets a score that every other move exceeds.
        let square = entry.position().board.legal().last().expect("a move");
        entry.note(square, -36);
    };
    positions.iter_mut().for_each(lowest);
    let error =
        judged("random", &mut positions, &settings(Goal::Most, 1)).expect_err("a wrong score");
    assert!(matches!(error, LossError::Stated { stated: -36, .. }), "{error}");
}

#[test]
fn a_stop_flag_ends_the_measurement() {
    let (positions, stop) = (late::<Square6>(6), AtomicBool::new(true));
    let player = player::<Square6>("random", Goal::Most);
    let answer = choices(&player, &positions, &settings(Goal::Most, 2), &stop, &|_| ());
    assert!(matches!(answer, Err(LossError::Stopped)));
}

/// Writes a run directory with games of random moves. The last two games are equal.
fn write_run(folder: &Path, games: u64) {
    std::fs::write(folder.join("run.json"), "{}").expect("writable");
    let mut writer =
        crate::store::games::GameWriter::open(&folder.join("games")).expect("a folder");
    for id in 0..games {
        let record = random_game(id, id.min(games - 2));
        writer.append(&record).expect("written");
    }
}

fn random_game(id: u64, seed: u64) -> GameRecord {
    let start = Position::<Square6>::start();
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let (mut position, mut moves) = (start, Vec::new());
    while let Some(square) =
        crate::players::player::random_square(position.board.legal(), &mut random)
    {
        moves.push(MoveRecord::of(square));
        position = position.play(square).expect("legal").pass_if_forced();
    }
    GameRecord {
        shape: Square6::SHAPE,
        goal: Goal::Most,
        id,
        source: Source::SelfPlay,
        worker: None,
        net_version: 0,
        opening_moves: 4,
        start_mine: start.board.mine.widen(),
        start_theirs: start.board.theirs.widen(),
        start_side: start.side,
        moves,
        score: position.black_view().final_score(Goal::Most) as i16,
        resigned: false,
    }
}

#[test]
fn positions_of_a_run_are_distinct_and_from_its_newer_half() {
    let folder = tempfile::tempdir().expect("a folder");
    write_run(folder.path(), 40);
    let sample = Sample { goal: Goal::Most, empties: 8, count: 10, seed: 1 };
    let draw = |sample: &Sample| from_games::<Square6>(folder.path(), sample).expect("positions");
    let newer: Vec<_> = (18..40)
        .flat_map(|seed| random_game(0, seed).positions::<Square6>().expect("a game"))
        .collect();
    let found = draw(&sample);
    assert_eq!(found.positions.len(), 10);
    for entry in &found.positions {
        assert_eq!(entry.position().board.empties(), 8);
        assert!(newer.contains(&entry.position()));
    }
    assert_eq!(draw(&sample), found);
    assert_ne!(draw(&Sample { seed: 2, ..sample }), found);
    let all = draw(&Sample { count: 1000, ..sample });
    // The two equal games give one position.
    assert!(all.positions.len() <= 39 && all.positions.len() > 30, "{}", all.positions.len());
    let refused = |sample: &Sample| {
        from_games::<Square6>(folder.path(), sample).expect_err("no positions").to_string()
    };
    assert!(refused(&Sample { empties: 31, ..sample }).contains("31 empty squares"));
    assert!(refused(&Sample { goal: Goal::Fewest, ..sample }).contains("for goal `most`"));
    let other = from_games::<Cross92>(folder.path(), &sample).expect_err("another board");
    let why = std::error::Error::source(&other).expect("the record's own error").to_string();
    assert!(why.contains("6x6"), "{other}: {why}");
}

#[test]
fn positions_of_a_ladder_come_after_the_openings() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("ladder.jsonl");
    let terms = MatchTerms {
        first: "random".into(),
        second: "greedy".into(),
        board: "6x6".into(),
        goal: "most".into(),
        openings: "random:4".into(),
    };
    let pair = ["random", "greedy"].map(|spec| player::<Square6>(spec, Goal::Most));
    let book = OpeningSource::Random { plies: 4 }.book::<Square6>(10, 5).expect("a book");
    let match_settings =
        matches::MatchSettings { goal: Goal::Most, games: 20, seed: 5, threads: 1, sprt: None };
    let mut ladder = Ladder::open(&path).expect("a ladder");
    let match_line = ladder.begin_match(terms, 5).expect("written");
    let mut states = Vec::new();
    let mut note = |played: &MatchGame<Square6>| {
        ladder.add_game(&match_line, played).expect("written");
        let mut position = played.opening.start;
        for square in played.moves() {
            states.push(position);
            position = position.play(square).expect("legal").pass_if_forced();
        }
        ControlFlow::Continue(())
    };
    let stop = AtomicBool::new(false);
    let pair = [&pair[0], &pair[1]];
    matches::play(pair, &book.openings, &match_settings, Vec::new(), &stop, &mut note)
        .expect("a match");

    let sample = Sample { goal: Goal::Most, empties: 8, count: 100, seed: 1 };
    let find = |sample: &Sample| from_games::<Square6>(&path, sample);
    let found = find(&sample).expect("positions, while the ladder is in use");
    let wanted: Vec<_> = states.iter().filter(|state| state.board.empties() == 8).collect();
    assert!(found.positions.len() > 10 && found.positions.len() <= wanted.len());
    assert!(found.positions.iter().all(|entry| wanted.contains(&&entry.position())));
    assert_eq!(find(&Sample { count: 3, ..sample }).expect("positions").positions.len(), 3);

    // The opening has four random moves, so the players begin at 28 empty squares.
    assert_eq!(find(&Sample { empties: 28, ..sample }).expect("positions").positions.len(), 10);
    let refused = |sample: &Sample| find(sample).expect_err("no positions").to_string();
    assert!(refused(&Sample { empties: 29, ..sample }).contains("29 empty squares"));
    assert!(refused(&Sample { goal: Goal::Fewest, ..sample }).contains("for goal `fewest`"));
    let other = from_games::<Cross92>(&path, &sample).expect_err("another board");
    assert!(other.to_string().contains("cross92"), "{other}");

    let mut torn = std::fs::read_to_string(&path).expect("text");
    torn.truncate(torn.len() - 10);
    std::fs::write(&path, torn).expect("writable");
    assert_eq!(find(&sample).expect("positions").skipped, 1);
}
