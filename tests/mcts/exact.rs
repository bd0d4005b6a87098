//! Proven scores of the search agree with the exact solver.

use outflank::dispatch;
use outflank::game::{Board, Geometry, Goal, Shape, Square};
use outflank::search::endgame::Solver;
use outflank::search::mcts::{Mode, Options, TreeSearch};

use crate::common::{hashed, random, random_board, run, searched, solver, uniform, without_solver};

/// The exact score of a move for the side that makes it.
fn score_of<G: Geometry>(solver: &mut Solver<G>, board: Board<G>, square: Square) -> i32 {
    -solver.score(board.play(square).expect("a legal move"))
}

fn proofs_are_true<G: Geometry>() {
    let mut random = random(11);
    for goal in [Goal::Most, Goal::Fewest] {
        let mut solver = solver::<G>(goal);
        for round in 0..24 {
            let empties = 4 + round % 8;
            let options = Options { solve_empties: round % 3 * 2, ..without_solver(600) };
            let board = random_board::<G>(&mut random, empties);
            let search = searched(board, goal, &options, Mode::Explore, hashed);
            let truth = solver.score(board);
            let (lower, upper) = search.tree().bounds();
            assert!(lower as i32 <= truth && truth <= upper as i32, "{board:?} {goal}");
            if let Some(exact) = search.tree().exact() {
                assert_eq!(exact as i32, truth, "{board:?} {goal}");
                assert_eq!(search.tree().root_value(), truth.signum() as f32);
            }
            for stats in search.tree().root_moves() {
                let truth = score_of(&mut solver, board, stats.square);
                let known = stats.lower as i32..=stats.upper as i32;
                assert!(known.contains(&truth), "{board:?} {goal} {stats:?}: {truth}");
            }
        }
    }
}

#[test]
fn bounds_hold_the_exact_score() {
    for shape in Shape::ALL {
        dispatch!(shape, G => proofs_are_true::<G>());
    }
}

fn small_positions_are_proven<G: Geometry>() {
    let mut random = random(12);
    for goal in [Goal::Most, Goal::Fewest] {
        let mut solver = solver::<G>(goal);
        for _ in 0..10 {
            let board = random_board::<G>(&mut random, 5);
            let search = searched(board, goal, &without_solver(10_000), Mode::Play, uniform);
            let truth = solver.score(board);
            assert_eq!(search.tree().exact().map(i32::from), Some(truth), "{board:?} {goal}");
            assert!(search.simulations() < 10_000, "a proven root ends the search");
        }
    }
}

#[test]
fn small_positions_are_proven_and_end_the_search() {
    for shape in Shape::ALL {
        dispatch!(shape, G => small_positions_are_proven::<G>());
    }
}

/// In how many of `count` positions the search finds a move with the best score, and in how many a
/// move that keeps the win or the draw.
fn perfect_moves<G: Geometry>(
    goal: Goal,
    empties: u32,
    options: &Options,
    count: u32,
) -> (u32, u32) {
    let mut random = random(13);
    let mut solver = solver::<G>(goal);
    let (mut best, mut kept) = (0, 0);
    for _ in 0..count {
        let board = random_board::<G>(&mut random, empties);
        let mut search = searched(board, goal, options, Mode::Play, uniform);
        let square = search.choose(0.0, &mut random).expect("a move");
        let (got, wanted) = (score_of(&mut solver, board, square), solver.score(board));
        best += (got == wanted) as u32;
        kept += (got.signum() == wanted.signum()) as u32;
    }
    (best, kept)
}

#[test]
fn a_uniform_net_finds_the_exact_move() {
    for goal in [Goal::Most, Goal::Fewest] {
        for shape in [Shape::Square6, Shape::Square8, Shape::Cross92] {
            dispatch!(shape, G => {
                // Once with finished games alone, once with a solver four plies below the root.
                for (empties, solve_empties) in [(7, 0), (10, 6)] {
                    let options = Options { solve_empties, ..without_solver(10_000) };
                    let found = perfect_moves::<G>(goal, empties, &options, 10);
                    assert_eq!(found, (10, 10), "{shape} {goal} {empties} {solve_empties}");
                }
            });
        }
    }
}

#[test]
fn a_root_within_reach_of_the_solver_is_proven_move_by_move() {
    let mut random = random(14);
    let options =
        Options { simulations: 200, solve_empties: 10, solve_leaves: 10, ..Options::default() };
    for goal in [Goal::Most, Goal::Fewest] {
        let board = random_board::<outflank::game::Square8>(&mut random, 9);
        let mut search = TreeSearch::new(goal, &options);
        search.begin(board, options.simulations, Mode::Play);
        let leaves = run(&mut search, &mut solver(goal), hashed, &mut random);
        assert_eq!(leaves, 1, "only the root needs a prediction");
        assert!(search.simulations() as usize <= 1 + board.legal().len());
        assert_eq!(search.tree().exact().map(i32::from), Some(solver(goal).score(board)));
    }
}

#[test]
fn a_proven_root_needs_no_second_search() {
    let mut random = random(15);
    let board = random_board::<outflank::game::Square8>(&mut random, 5);
    let mut search = searched(board, Goal::Most, &without_solver(10_000), Mode::Explore, hashed);
    let truth = solver(Goal::Most).score(board);
    for mode in [Mode::Explore, Mode::Play] {
        search.begin(board, 100, mode);
        assert_eq!(run(&mut search, &mut solver(Goal::Most), hashed, &mut random), 0);
        assert_eq!(search.simulations(), 0);
        assert_eq!(search.tree().exact().map(i32::from), Some(truth));
        assert_eq!(search.tree().root_value(), truth.signum() as f32);
        assert!((search.policy().iter().sum::<f32>() - 1.0).abs() < 1e-6);
        let square = search.choose(1.0, &mut random).expect("a move");
        assert_eq!(score_of(&mut solver(Goal::Most), board, square), truth);
    }
}
