//! Tests of the exact solver.

use super::*;
use crate::eval::testing::Lines;
use crate::game::{Shape, Square6, Square8};
use crate::search::table::Entry;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

fn minimax<G: Geometry>(board: Board<G>, goal: Goal) -> i32 {
    let best = board.legal().map(|square| -minimax(board.play_unchecked(square), goal)).max();
    best.unwrap_or_else(|| {
        if board.is_over() { board.final_score(goal) } else { -minimax(board.pass(), goal) }
    })
}

pub(in crate::search) fn random_board<G: Geometry>(
    random: &mut Xoshiro256PlusPlus,
    empties: u32,
) -> Board<G> {
    loop {
        let mut board = Board::<G>::start();
        while board.empties() > empties && !board.is_over() {
            let legal: Vec<_> = board.legal().collect();
            board = match legal.len() {
                0 => board.pass(),
                count => board.play_unchecked(legal[random.random_range(0..count)]),
            };
        }
        if board.empties() == empties {
            return board;
        }
    }
}

fn agrees_with_minimax<G: Geometry>() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    for goal in [Goal::Most, Goal::Fewest] {
        // In a table this small, entries are overwritten all the time.
        let mut small = Solver::<G>::new(goal, 1 << 10);
        let mut large = Solver::<G>::new(goal, 1 << 20);
        for round in 0..240 {
            let board = random_board::<G>(&mut random, round % 8);
            let wanted = minimax(board, goal);
            assert_eq!(small.score(board), wanted, "{board:?} {goal}");
            let (score, line) = large.best_line(board);
            assert_eq!(score, wanted, "{board:?} {goal}");
            assert_eq!(played_out(board, &line, goal), wanted, "{board:?} {goal} {line:?}");
        }
    }
}

fn played_out<G: Geometry>(mut board: Board<G>, line: &[Square], goal: Goal) -> i32 {
    let mut sign = 1;
    for &square in line {
        if board.legal().is_empty() {
            board = board.pass();
            sign = -sign;
        }
        board = board.play(square).expect("a legal line");
        sign = -sign;
    }
    assert!(board.is_over());
    sign * board.final_score(goal)
}

#[test]
fn solver_agrees_with_plain_minimax() {
    for shape in Shape::ALL {
        dispatch!(shape, G => agrees_with_minimax::<G>());
    }
}

/// The score by plain alpha-beta search that tries moves with few replies first.
fn plain<G: Geometry>(board: Board<G>, goal: Goal, alpha: i32, beta: i32) -> i32 {
    if board.is_over() {
        return board.final_score(goal);
    }
    let mut children: Vec<_> = board.legal().map(|at| board.play_unchecked(at)).collect();
    if children.is_empty() {
        return -plain(board.pass(), goal, -beta, -alpha);
    }
    children.sort_by_key(|child| child.legal().len());
    let mut best = i32::MIN;
    for child in children {
        best = best.max(-plain(child, goal, -beta, -alpha.max(best)));
        if best >= beta {
            break;
        }
    }
    best
}

/// The winner, and a line in which neither side gives away its win or its draw.
fn winning_line<G: Geometry>(solver: &mut Solver<G>, board: Board<G>) -> (i32, Vec<Square>) {
    match solver.solve(board, SolveGoal::Winner, &SolveMonitor::start(None)) {
        SolveResult::Solved { score, line } => (score, line),
        SolveResult::Unsolved { .. } => panic!("{board:?} has no time limit"),
    }
}

fn agrees_far_from_the_end<G: Geometry>() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(2);
    let most = G::SQUARES as i32;
    for goal in [Goal::Most, Goal::Fewest] {
        let mut one = Solver::<G>::new(goal, 1 << 12);
        let mut three = Solver::<G>::new(goal, 1 << 20).with_threads(3);
        for empties in [8, 9, 9, 10, 10, 11, 12, 13] {
            let board = random_board::<G>(&mut random, empties);
            let wanted = plain(board, goal, -most, most);
            assert_eq!(winning_line(&mut one, board).0, wanted.signum(), "{board:?} {goal}");
            assert_eq!(one.score(board), wanted, "{board:?} {goal}");
            assert_eq!(three.score(board), wanted, "{board:?} {goal}");
            let (winner, line) = winning_line(&mut three, board);
            assert_eq!(winner, wanted.signum(), "{board:?} {goal}");
            assert_eq!(played_out(board, &line, goal).signum(), winner, "{board:?} {goal}");
        }
    }
}

#[test]
fn solver_agrees_with_plain_alpha_beta_far_from_the_end() {
    for shape in Shape::ALL {
        dispatch!(shape, G => agrees_far_from_the_end::<G>());
    }
}

/// Several threads that share their work find the same score as one thread.
#[test]
fn several_threads_find_the_score_of_one() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(3);
    let mut one = Solver::<Square6>::new(Goal::Most, 1 << 20);
    for round in 0..12 {
        let board = random_board::<Square6>(&mut random, 15 + round % 3);
        let mut many = Solver::new(Goal::Most, 1 << 16).with_threads(2 + round as usize % 4);
        assert_eq!(many.score(board), one.score(board), "{board:?}");
    }
}

/// An unfinished solve returns nothing, and leaves no wrong entry in the table.
#[test]
fn best_line_within_is_right_or_none() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(5);
    for threads in [1, 3] {
        let mut hurried = Solver::<Square8>::new(Goal::Most, 1 << 18);
        for round in 0..24 {
            let board = random_board::<Square8>(&mut random, 13 + round % 4);
            let wanted = Solver::new(Goal::Most, 1 << 16).score(board);
            assert_eq!(
                hurried.best_line_within(board, Some(Duration::ZERO), threads),
                None,
                "{board:?}"
            );
            for micros in [50, 200, 1000, 60_000_000] {
                let found =
                    hurried.best_line_within(board, Some(Duration::from_micros(micros)), threads);
                let Some((score, line)) = found else {
                    assert!(micros < 60_000_000, "{board:?}");
                    continue;
                };
                assert_eq!(score, wanted, "{board:?}");
                let mover = if board.legal().is_empty() { board.pass() } else { board };
                let sign = if mover == board { 1 } else { -1 };
                let after = mover.play(line[0]).expect("a legal line");
                assert_eq!(-sign * Solver::new(Goal::Most, 1 << 16).score(after), wanted);
                assert!(micros < 60_000_000 || played_out(board, &line, Goal::Most) == wanted);
            }
        }
    }
}

/// With a deadline there may be no score; without one there always is.
#[test]
fn a_deadline_never_changes_a_score() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(6);
    let mut solver = Solver::<Square8>::new(Goal::Most, 1 << 18);
    for _ in 0..24 {
        let board = random_board::<Square8>(&mut random, 15);
        solver.set_deadline(Some(Instant::now()));
        assert_eq!(solver.score_in_time(board), None, "{board:?}");
        let spent = solver.nodes;
        assert_eq!(solver.score_in_time(board), None, "{board:?}");
        assert_eq!(solver.nodes, spent, "it tried again");
        let soon = [0, 1, 4, 16].map(|millis| {
            solver.set_deadline(Some(Instant::now() + Duration::from_millis(millis)));
            solver.score_in_time(board)
        });
        solver.set_deadline(None);
        let score = solver.score_in_time(board);
        assert_eq!(score, Some(Solver::new(Goal::Most, 1 << 16).score(board)));
        assert!(soon.into_iter().all(|found| found.is_none() || found == score), "{board:?}");
    }
}

/// A collision of two signatures could leave an illegal move in the table.
#[test]
fn an_illegal_move_in_the_table_does_no_harm() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(4);
    for empties in [7, 12, 14] {
        let board = random_board::<Square8>(&mut random, empties);
        let wanted = Solver::new(Goal::Most, 1 << 16).score(board);
        let mut solver = Solver::<Square8>::new(Goal::Most, 1 << 16);
        for square in (0..64).map(Square).filter(|&square| !board.legal().contains(square)) {
            let best = Some(square);
            let entry = Entry { lower: -64, upper: 64, depth: Entry::EXACT, best };
            solver.table.put(Key::of(board), entry);
            let (score, line) = solver.best_line(board);
            assert_eq!(score, wanted);
            assert_eq!(played_out(board, &line, Goal::Most), wanted);
        }
    }
}

/// Boards with 13 empties; in some of them the side to move must pass.
fn boards_with_13_empties() -> Vec<Board<Square8>> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(5);
    let mut boards: Vec<_> = (0..12).map(|_| random_board(&mut random, 13)).collect();
    let mut passes = 0;
    while passes < 2 {
        let board = random_board::<Square8>(&mut random, 13);
        if board.legal().is_empty() && !board.is_over() {
            boards.push(board);
            passes += 1;
        }
    }
    boards
}

#[test]
fn solves_find_the_score_and_the_winner() {
    for threads in [1, 3] {
        let mut solver = Solver::new(Goal::Most, 1 << 20).with_threads(threads);
        let mut plain = Solver::new(Goal::Most, 1 << 20);
        for board in boards_with_13_empties() {
            let wanted = plain.score(board);
            let monitor = SolveMonitor::start(None);
            let SolveResult::Solved { score, line } =
                solver.solve(board, SolveGoal::Score, &monitor)
            else {
                panic!("{board:?} has no time limit")
            };
            assert_eq!(score, wanted, "{board:?}");
            assert_eq!(played_out(board, &line, Goal::Most), wanted, "{board:?}");
            let (winner, line) = winning_line(&mut solver, board);
            assert_eq!(winner, wanted.signum(), "{board:?}");
            assert_eq!(played_out(board, &line, Goal::Most).signum(), winner, "{board:?}");
        }
    }
}

#[test]
fn a_monitor_has_every_move_and_the_best() {
    for board in boards_with_13_empties() {
        let mut solver = Solver::new(Goal::Most, 1 << 20).with_threads(2);
        let monitor = SolveMonitor::start(None);
        let result = solver.solve(board, SolveGoal::Score, &monitor);
        let SolveResult::Solved { score, .. } = result else { panic!("{board:?}") };
        let progress = monitor.progress();
        let passes = board.legal().is_empty();
        let mover = if passes { board.pass() } else { board };
        assert_eq!(progress.moves as usize, mover.legal().len());
        // A score that no move can exceed ends the search.
        assert!((1..=progress.moves).contains(&progress.moves_done), "{progress:?}");
        let (square, best) = progress.best.expect("a move is best");
        assert_eq!(if passes { -best } else { best }, score, "{board:?}");
        let child = mover.play(square).expect("the best move is legal");
        assert_eq!(-solver.score(child), best, "{board:?}");
        assert!(progress.nodes > 0);
    }
}

#[test]
fn bounds_of_unfinished_solves_are_true() {
    let mut known = 0;
    for board in boards_with_13_empties() {
        let passes = board.legal().is_empty();
        let mover = if passes { board.pass() } else { board };
        let mut plain = Solver::new(Goal::Most, 1 << 20);
        let score = plain.score(board);
        for solve_goal in [SolveGoal::Score, SolveGoal::Winner] {
            let truth = match solve_goal {
                SolveGoal::Score => score,
                SolveGoal::Winner => score.signum(),
            };
            for nodes in [1, 1_000, 3_000, 10_000, 30_000, 100_000] {
                let mut solver = Solver::new(Goal::Most, 1 << 20);
                let monitor = SolveMonitor::within(&SearchLimits {
                    nodes: Some(nodes),
                    ..SearchLimits::default()
                });
                match solver.solve(board, solve_goal, &monitor) {
                    SolveResult::Solved { score, .. } => assert_eq!(score, truth, "{board:?}"),
                    SolveResult::Unsolved { lower, upper, best } => {
                        assert!(lower.is_none_or(|lower| lower <= truth), "{board:?} {lower:?}");
                        assert!(upper.is_none_or(|upper| upper >= truth), "{board:?} {upper:?}");
                        let bound = if passes { upper } else { lower };
                        assert_eq!(bound.is_some(), best.is_some());
                        assert!(best.is_none_or(|square| mover.legal().contains(square)));
                        known += u32::from(best.is_some());
                    }
                }
            }
        }
    }
    assert!(known > 10, "{known} bounds were found");
}

#[test]
fn a_solve_without_time_finds_nothing() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(6);
    let board = random_board::<Square8>(&mut random, 20);
    let mut solver = Solver::new(Goal::Most, 1 << 20);
    let monitor = SolveMonitor::start(Some(Duration::ZERO));
    let nothing = SolveResult::Unsolved { lower: None, upper: None, best: None };
    assert_eq!(solver.solve(board, SolveGoal::Score, &monitor), nothing);
    assert_eq!(monitor.progress().moves_done, 0);
}

#[test]
fn a_stopped_solver_gives_up_until_it_gets_another_flag() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(31);
    for threads in [1, 2] {
        let boards = std::iter::repeat_with(|| random_board::<Square8>(&mut random, 15));
        for board in boards.filter(|board| !board.legal().is_empty()).take(4) {
            let mut solver = Solver::new(Goal::Most, 1 << 16).with_threads(threads);
            let stop = Stop::default();
            stop.set();
            solver.set_stop(stop);
            assert_eq!(solver.score_in_time(board), None, "{board:?}");
            assert_eq!(solver.best_line_within(board, None, threads), None, "{board:?}");
            // Solves without a limit ignore the flag.
            let score = solver.score(board);
            solver.set_stop(Stop::default());
            assert_eq!(solver.score_in_time(board), Some(score), "{board:?}");
        }
    }
}

#[test]
fn the_evaluator_that_orders_moves_changes_nodes_and_no_score() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(41);
    for goal in [Goal::Most, Goal::Fewest] {
        // With more than 12 empties the order comes from searches deeper than one ply.
        let boards = (13..=16).map(|empties| random_board::<Square8>(&mut random, empties));
        let mut default = Solver::new(goal, 1 << 18);
        let mut other = Solver::ordered_by(goal, Arc::new(Lines { goal }), 1 << 18);
        for board in boards {
            assert_eq!(other.score(board), default.score(board), "{board:?} {goal}");
        }
        assert_ne!(other.nodes, default.nodes);
    }
}
