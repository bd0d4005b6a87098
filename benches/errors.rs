//! How far evaluators are from the results of games of sensible play, and labels from exact scores.
//!
//! `cargo bench --bench errors -- MODEL [GAMES] [DEPTH] [OTHER MODEL]...` plays games from random
//! openings of eight moves by alpha-beta to DEPTH with MODEL. Each ending of 20 empty squares is
//! solved. At 20 empty squares the exact score is compared with the evaluations, and at more that
//! of the ending to which the game led. It prints the mean absolute errors in discs, with their
//! standard errors.
//!
//! `cargo bench --bench errors -- labels RUN MODEL [COUNT]` solves COUNT boards of the two newest
//! rounds of a run of method "endgame" for each of some numbers of empty squares. It prints the share
//! of labels that are right, and their mean absolute error in discs. MODEL orders the moves of the
//! solver.

use outflank::eval::AnyEvaluator;
use outflank::game::{Board, Goal, Square8};
use outflank::players::models::LoadedModel;
use outflank::search::alphabeta::{self, SearchLimits};
use outflank::search::endgame::Solver;
use outflank::store::labels::{self, Label};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rayon::prelude::*;

const GOAL: Goal = Goal::Most;
const OPENING: u32 = 8;
const SOLVED: u32 = 20;
/// The numbers of empty squares with errors.
const EMPTIES: [u32; 3] = [20, 30, 40];

/// The numbers of empty squares whose labels are solved.
const LABELLED: [u32; 4] = [17, 18, 20, 22];

/// A game: its boards, each with 1 if the side that moved first is to move and else -1, and the
/// score for that side.
struct Game {
    boards: Vec<(Board<Square8>, i32)>,
    score: i32,
}

/// Plays a game and solves its end; `None` if it ends before.
fn game(evaluator: &AnyEvaluator<Square8>, seed: u64, depth: u32) -> Option<Game> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut search = alphabeta::plain(GOAL, evaluator, 4 << 20);
    let (mut board, mut side, mut boards) = (Board::<Square8>::start(), 1, Vec::new());
    loop {
        if board.legal().is_empty() {
            (board, side) = (board.pass(), -side);
            if board.legal().is_empty() {
                return None;
            }
        }
        boards.push((board, side));
        if board.empties() == SOLVED {
            break;
        }
        let mut legal = board.legal();
        let square = match 60 - board.empties() < OPENING {
            true => legal.nth(random.random_range(0..legal.len())),
            false => search.think(board, &SearchLimits::depth(depth)).map(|found| found.square),
        };
        (board, side) = (board.play_unchecked(square?), -side);
    }
    let score = side * Solver::with_evaluator(GOAL, evaluator, 64 << 20).score(board);
    Some(Game { boards, score })
}

/// Mean and standard error.
fn mean(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (mean, (squares / (count - 1.0) / count).sqrt())
}

fn open(path: &str) -> AnyEvaluator<Square8> {
    let model = LoadedModel::read(path.as_ref()).expect("a model");
    model.evaluator().expect("an evaluator")
}

/// Compares `count` labels of a run for each number of empty squares with the exact scores.
fn check_labels(run: &str, model: &str, count: usize) {
    let evaluator = open(model);
    let files = labels::newest_files(run.as_ref(), 2).expect("labels");
    let mut boards: Vec<Label<Square8>> = Vec::new();
    for path in files {
        let labels = labels::read::<Square8>(&path, GOAL).expect("labels").into_iter();
        boards.extend(labels.filter(|label| LABELLED.contains(&label.board.empties())));
    }
    for empties in LABELLED {
        let of_number = boards.iter().filter(|label| label.board.empties() == empties);
        let of_number: Vec<_> = of_number.collect();
        let chosen: Vec<_> =
            of_number.iter().step_by((of_number.len() / count).max(1)).take(count).collect();
        let error = |label: &&&Label<Square8>| {
            let score = Solver::with_evaluator(GOAL, &evaluator, 64 << 20).score(label.board);
            f64::from((score - i32::from(label.score)).abs())
        };
        let errors: Vec<f64> = chosen.par_iter().map(error).collect();
        let right = errors.iter().filter(|&&error| error == 0.0).count();
        let share = 100.0 * right as f64 / errors.len() as f64;
        let (mean, error) = mean(&errors);
        println!(
            "{empties} empties: {share:.1} % right, error {mean:.2} +- {error:.2} discs, {} labels",
            errors.len()
        );
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let Some(model) = arguments.first() else { return };
    let number = |place: usize, default: u32| -> u32 {
        arguments.get(place).map_or(default, |text| text.parse().expect("a number"))
    };
    if model == "labels" {
        return check_labels(&arguments[1], &arguments[2], number(3, 200) as usize);
    }
    let (games, depth) = (number(1, 400), number(2, 6));
    let player = open(model);
    let games: Vec<Game> =
        (0..games).into_par_iter().filter_map(|seed| game(&player, seed.into(), depth)).collect();
    for path in std::iter::once(model).chain(arguments.iter().skip(3)) {
        let evaluator = open(path);
        for empties in EMPTIES {
            let error = |game: &Game| {
                let &(board, side) = game.boards.iter().find(|it| it.0.empties() == empties)?;
                Some(f64::from(evaluator.score(board) - (side * game.score) as f32).abs())
            };
            let errors: Vec<f64> = games.iter().filter_map(error).collect();
            let (mean, error) = mean(&errors);
            println!(
                "{path} {empties} empties: {mean:.2} +- {error:.2} discs, {} games",
                errors.len()
            );
        }
    }
}
