use std::ops::ControlFlow;
use std::path::Path;

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::positions::{Problem, Sample, from_file, from_games, to_lines};
use super::*;
use crate::arena::ladder::{Ladder, Terms};
use crate::arena::matches::{self, Played};
use crate::arena::open::{Context, contestant};
use crate::arena::openings::Source;
use crate::arena::spec::PlayerSpec;
use crate::game::record::{GameRecord, MoveRecord};
use crate::game::{Board, Cross92, Square6, Word};

fn player<G: Geometry>(spec: &str, goal: Goal) -> Contestant<'static, G> {
    let inference = crate::net::inference::Options::default();
    let context = Context { goal, device: "cpu".into(), inference, cores: 1 };
    let spec: PlayerSpec = spec.parse().expect("a specification");
    contestant(&spec, &context).expect("a player")
}

/// Positions late in random games, with few enough empty squares to be searched to the end.
fn late<G: Geometry>(empties: u32) -> Vec<Problem<G>> {
    let plies = G::SQUARES as u32 - Board::<G>::start().discs() - empties;
    let book = Source::Random { plies }.book::<G>(12, 3).expect("a book");
    book.openings.iter().filter_map(|opening| Problem::new(opening.position)).collect()
}

fn setting(goal: Goal, threads: usize) -> LossSettings {
    LossSettings { goal, seed: 9, threads, table_bytes: 1 << 20 }
}

fn judged<G: Geometry>(
    spec: &str,
    problems: &mut [Problem<G>],
    setting: &LossSettings,
) -> Result<Vec<Judged<G>>, LossError> {
    let (stop, none) = (AtomicBool::new(false), |_| ());
    let player = player::<G>(spec, setting.goal);
    let choices = choices(&player, problems, setting, &stop, &none)?;
    judge(problems, &choices, setting, &stop, &none)
}

/// The score for the side to move, by looking at every line.
fn plain<G: Geometry>(board: Board<G>, goal: Goal) -> i32 {
    if board.is_over() {
        return board.final_score(goal);
    }
    if board.legal().is_empty() {
        return -plain(board.pass(), goal);
    }
    let worth = |square| -plain(board.play_unchecked(square), goal);
    board.legal().map(worth).max().expect("a move")
}

fn random_loses_what_a_plain_search_says<G: Geometry>(goal: Goal) {
    let setting = setting(goal, 2);
    let mut problems = late::<G>(6);
    assert!(problems.len() > 5, "{}", problems.len());
    let judged = judged("random", &mut problems, &setting).expect("judged");
    let mut total = 0;
    for (judged, problem) in judged.iter().zip(&problems) {
        let board = problem.position().board;
        assert_eq!(judged.position, problem.position());
        assert_eq!(judged.best.1, plain(board, goal));
        assert_eq!(judged.score, -plain(board.play_unchecked(judged.square), goal));
        total += plain(board, goal) + plain(board.play_unchecked(judged.square), goal);
    }
    assert!(total > 0, "random moves cost something");
    let report = LossReport::new(["random", "chance"], 0, &judged, 3);
    assert_eq!(report.solved_itself, 0);
    assert!((report.loss - f64::from(total) / problems.len() as f64).abs() < 1e-9);
    assert!(report.worst[0].best.1 - report.worst[0].played.1 > 0);
    assert!(report.exact < report.positions && report.kept >= report.exact);
}

#[test]
fn a_random_player_loses_what_a_plain_search_says() {
    for goal in [Goal::Most, Goal::Fewest] {
        random_loses_what_a_plain_search_says::<Square6>(goal);
    }
    random_loses_what_a_plain_search_says::<Cross92>(Goal::Fewest);
}

#[test]
fn a_perfect_player_loses_nothing() {
    for goal in [Goal::Most, Goal::Fewest] {
        let mut problems = late::<Square6>(9);
        let spec = "alphabeta:depth=1,solve_empties=30";
        let judged = judged(spec, &mut problems, &setting(goal, 1)).expect("judged");
        let report = LossReport::new([spec; 2], 30, &judged, 3);
        assert_eq!(report.solved_itself, problems.len());
        assert_eq!((report.loss, report.error), (0.0, 0.0));
        assert_eq!((report.exact, report.kept), (problems.len(), problems.len()));
        assert!(report.worst.is_empty());
    }
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let run = |threads| {
        let mut problems = late::<Square6>(8);
        judged("random", &mut problems, &setting(Goal::Most, threads)).expect("judged")
    };
    let scores = |judged: &[Judged<Square6>]| -> Vec<_> {
        judged.iter().map(|one| (one.square, one.score, one.best.1)).collect()
    };
    assert_eq!(scores(&run(1)), scores(&run(3)));
}

#[test]
fn what_was_solved_is_read_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("late.obf");
    let mut problems = late::<Square6>(8);
    let judged = judged("random", &mut problems, &setting(Goal::Most, 1)).expect("judged");
    std::fs::write(&path, to_lines(&problems)).expect("writable");
    let read = from_file::<Square6>(&path).expect("positions");
    assert_eq!(read.problems, problems);
    assert_eq!(read.bad_lines.count(), 0);
    for (judged, problem) in judged.iter().zip(&read.problems) {
        assert_eq!(problem.best().map(|best| best.1), Some(judged.best.1));
        assert_eq!(problem.score(judged.square), Some(judged.score));
    }
}

#[test]
fn stated_scores_that_a_move_beats_are_found_out() {
    let mut problems = late::<Square6>(6);
    let lowest = |problem: &mut Problem<Square6>| {
        // The last move, at a score that every other one beats.
        let square = problem.position().board.legal().last().expect("a move");
        problem.note(square, -36);
    };
    problems.iter_mut().for_each(lowest);
    let error = judged("random", &mut problems, &setting(Goal::Most, 1)).expect_err("a lie");
    assert!(matches!(error, LossError::Stated { stated: -36, .. }), "{error}");
}

#[test]
fn a_stop_is_heard() {
    let (problems, stop) = (late::<Square6>(6), AtomicBool::new(true));
    let player = player::<Square6>("random", Goal::Most);
    let answer = choices(&player, &problems, &setting(Goal::Most, 2), &stop, &|_| ());
    assert!(matches!(answer, Err(LossError::Stopped)));
}

/// A run directory with some games of random moves, the last of which is repeated.
fn run_of(folder: &Path, games: u64) {
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
    while let Some(square) = crate::arena::player::any_of(position.board.legal(), &mut random) {
        moves.push(MoveRecord { square, policy: Vec::new(), value: 0.0, exact: None });
        position = position.play(square).expect("legal").settled();
    }
    GameRecord {
        shape: Square6::SHAPE,
        goal: Goal::Most,
        id,
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
fn games_give_distinct_positions_of_their_newer_half() {
    let folder = tempfile::tempdir().expect("a folder");
    run_of(folder.path(), 40);
    let sample = Sample { goal: Goal::Most, empties: 8, count: 10, seed: 1 };
    let draw = |sample: &Sample| from_games::<Square6>(folder.path(), sample).expect("positions");
    let newer: Vec<_> = (18..40)
        .flat_map(|seed| random_game(0, seed).positions::<Square6>().expect("a game"))
        .collect();
    let found = draw(&sample);
    assert_eq!(found.problems.len(), 10);
    for problem in &found.problems {
        assert_eq!(problem.position().board.empties(), 8);
        assert!(newer.contains(&problem.position()));
    }
    assert_eq!(draw(&sample), found);
    assert_ne!(draw(&Sample { seed: 2, ..sample }), found);
    let all = draw(&Sample { count: 1000, ..sample });
    // The repeated game counts once.
    assert!(all.problems.len() <= 39 && all.problems.len() > 30, "{}", all.problems.len());
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
fn matches_give_positions_after_their_openings() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("ladder.jsonl");
    let terms = Terms {
        first: "random".into(),
        second: "greedy".into(),
        board: "6x6".into(),
        goal: "most".into(),
        openings: "random:4".into(),
    };
    let pair = ["random", "greedy"].map(|spec| player::<Square6>(spec, Goal::Most));
    let book = Source::Random { plies: 4 }.book::<Square6>(10, 5).expect("a book");
    let match_setting =
        matches::MatchSettings { goal: Goal::Most, games: 20, seed: 5, threads: 1, sprt: None };
    let mut ladder = Ladder::open(&path).expect("a ladder");
    let of = ladder.begin(terms, 5).expect("written");
    let mut states = Vec::new();
    let mut note = |played: &Played<Square6>| {
        ladder.add(&of, played).expect("written");
        let mut position = played.opening.start;
        for square in played.moves() {
            states.push(position);
            position = position.play(square).expect("legal").settled();
        }
        ControlFlow::Continue(())
    };
    let stop = AtomicBool::new(false);
    let pair = [&pair[0], &pair[1]];
    matches::play(pair, &book.openings, &match_setting, Vec::new(), &stop, &mut note)
        .expect("a match");

    let sample = Sample { goal: Goal::Most, empties: 8, count: 100, seed: 1 };
    let find = |sample: &Sample| from_games::<Square6>(&path, sample);
    let found = find(&sample).expect("positions, while the ladder is in use");
    let wanted: Vec<_> = states.iter().filter(|state| state.board.empties() == 8).collect();
    assert!(found.problems.len() > 10 && found.problems.len() <= wanted.len());
    assert!(found.problems.iter().all(|problem| wanted.contains(&&problem.position())));
    assert_eq!(find(&Sample { count: 3, ..sample }).expect("positions").problems.len(), 3);

    // Four random moves are the opening's: 28 empty squares are where the players begin.
    assert_eq!(find(&Sample { empties: 28, ..sample }).expect("positions").problems.len(), 10);
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
