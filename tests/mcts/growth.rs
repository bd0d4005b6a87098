//! Positions that are solved because many simulations reach them.

use std::time::Instant;

use outflank::dispatch;
use outflank::game::{Board, Geometry, Goal, Shape, Square8};
use outflank::search::mcts::{Mode, Options, TreeSearch};

use crate::common::{hashed, random, random_board, run, solver, without_solver};

fn options(solve_leaves: u32, solve_growth: f32, solve_empties: u32) -> Options {
    Options { solve_leaves, solve_growth, solve_empties, ..without_solver(300) }
}

#[test]
fn the_limit_grows_with_each_doubling_up_to_solve_empties() {
    let limits =
        |options: Options| [0, 1, 2, 3, 9].map(|doublings| options.max_solve_empties(doublings));
    assert_eq!(limits(options(8, 0.0, 12)), [8, 8, 8, 8, 8]);
    assert_eq!(limits(options(8, 1.0, 12)), [8, 9, 10, 11, 12]);
    assert_eq!(limits(options(8, 0.5, 12)), [8, 8, 9, 9, 12]);
    assert_eq!(limits(options(14, 1.0, 12)), [12; 5]);
    assert_eq!(limits(options(0, 2.0, 12)), [0; 5], "without leaves to solve there is no growth");
}

/// The search of a position with 9 empties whose leaves are solved with 4, and the number of
/// predictions.
fn search_of<G: Geometry>(board: Board<G>, goal: Goal, growth: f32) -> (TreeSearch<G>, u32) {
    let mut search = TreeSearch::new(goal, &options(4, growth, 9));
    search.begin(board, 300, Mode::Play);
    let predictions = run(&mut search, &mut solver(goal), hashed, &mut random(5));
    (search, predictions)
}

fn visited_positions_are_solved<G: Geometry>(goal: Goal) {
    let mut random = random(21);
    let (mut grown, mut plain) = (0, 0);
    for _ in 0..8 {
        let board = random_board::<G>(&mut random, 9);
        let truth = solver(goal).score(board) as i8;
        let (search, predictions) = search_of(board, goal, 1.0);
        // Each of its moves is solved after at most 16 simulations.
        assert_eq!(search.tree().exact(), Some(truth), "{board:?} {goal}");
        assert_eq!(search.tree().root_value(), truth.signum() as f32);
        grown += predictions;
        plain += search_of(board, goal, 0.0).1;
    }
    assert!(grown < plain, "{grown} of {plain} predictions");
}

#[test]
fn a_position_with_many_visits_is_solved() {
    for shape in Shape::ALL {
        for goal in [Goal::Most, Goal::Fewest] {
            dispatch!(shape, G => visited_positions_are_solved::<G>(goal));
        }
    }
}

/// Leaves that cannot be solved in time get a prediction. A new deadline allows solving again.
#[test]
fn a_deadline_leaves_positions_to_the_net() {
    let mut solver = solver(Goal::Most);
    let mut search = TreeSearch::<Square8>::new(Goal::Most, &options(15, 0.0, 15));
    let mut random = random(22);
    for _ in 0..4 {
        let [first, second] = [(); 2].map(|()| random_board::<Square8>(&mut random, 16));
        let mut search_until = |board, deadline| {
            solver.set_deadline(deadline);
            search.begin(board, 100, Mode::Play);
            let predictions = run(&mut search, &mut solver, hashed, &mut random);
            (predictions, search.tree().exact().is_some())
        };
        let (predictions, proven) = search_until(first, Some(Instant::now()));
        assert!(predictions > 1 && !proven, "{predictions} predictions");
        assert_eq!(search_until(second, None), (1, true));
    }
}
