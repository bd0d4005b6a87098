//! The statistics that a search keeps from move to move.

use outflank::dispatch;
use outflank::game::{Board, Geometry, Goal, Shape, Square, Square8};
use outflank::search::mcts::{Gathered, Mode, MoveStats, Options, Root, TreeSearch};

use crate::common::{hashed, random, random_board, run, searched, solver, without_solver};

/// The board after a move and a forced pass, and whether the same side moves again.
fn after<G: Geometry>(board: Board<G>, square: Square) -> (Board<G>, bool) {
    let next = board.play(square).expect("a legal move");
    if next.legal().is_empty() { (next.pass(), true) } else { (next, false) }
}

fn most_visited<G: Geometry>(search: &TreeSearch<G>) -> MoveStats {
    search.tree().root_moves().max_by_key(|stats| stats.visits).expect("a move")
}

fn child_keeps_statistics<G: Geometry>(goal: Goal) {
    let mut random = random(31);
    for empties in [30, 12] {
        let board = random_board::<G>(&mut random, empties);
        let mut search = searched(board, goal, &without_solver(500), Mode::Play, hashed);
        let played = most_visited(&search);
        let (next, same_side) = after(board, played.square);
        search.begin(next, 1, Mode::Play);
        let tree = search.tree();
        let (lower, upper) = tree.bounds();
        let expected = match same_side {
            true => (played.lower, played.upper),
            false => (-played.upper, -played.lower),
        };
        assert_eq!((lower, upper), expected);
        assert_eq!(tree.visits(), played.visits);
        let utility = played.utility.expect("a visited move");
        let expected = if same_side { utility } else { -utility };
        assert!((tree.root_utility() - expected).abs() < 1e-6);
        let below: u32 = tree.root_moves().map(|stats| stats.visits).sum();
        assert_eq!(below + 1, tree.visits());
        if tree.exact().is_none() {
            run(&mut search, &mut solver(goal), hashed, &mut random);
            assert_eq!(search.simulations(), 1);
            assert_eq!(search.tree().visits(), played.visits + 1, "the kept visits still count");
        }
    }
}

#[test]
fn the_child_keeps_its_statistics() {
    for shape in Shape::ALL {
        for goal in [Goal::Most, Goal::Fewest] {
            dispatch!(shape, G => child_keeps_statistics::<G>(goal));
        }
    }
}

/// The boards along the principal variation.
fn line<G: Geometry>(board: Board<G>, search: &TreeSearch<G>, plies: usize) -> Vec<Board<G>> {
    let moves = search.tree().principal_variation(plies);
    moves
        .iter()
        .scan(board, |board, &square| {
            *board = after(*board, square).0;
            Some(*board)
        })
        .collect()
}

#[test]
fn grandchildren_keep_their_statistics() {
    let board = random_board::<Square8>(&mut random(32), 40);
    let reached =
        line(board, &searched(board, Goal::Most, &without_solver(2000), Mode::Play, hashed), 4);
    assert_eq!(reached.len(), 4);
    for next in reached {
        let mut step_by_step =
            searched(board, Goal::Most, &without_solver(2000), Mode::Play, hashed);
        let mut at_once = searched(board, Goal::Most, &without_solver(2000), Mode::Play, hashed);
        for board in line(board, &at_once, 4) {
            step_by_step.begin(board, 1, Mode::Play);
            if board == next {
                break;
            }
        }
        at_once.begin(next, 1, Mode::Play);
        assert!(at_once.tree().visits() > 1, "{next:?} is found");
        assert!(at_once.tree().root_moves().eq(step_by_step.tree().root_moves()));
    }
}

#[test]
fn without_reuse_or_with_an_unrelated_root_the_tree_is_new() {
    let mut random = random(33);
    let board = random_board::<Square8>(&mut random, 40);
    let options = Options { tree_reuse: false, ..without_solver(200) };
    let mut search = searched(board, Goal::Most, &options, Mode::Play, hashed);
    let next = after(board, most_visited(&search).square).0;
    search.begin(next, 200, Mode::Play);
    assert_eq!(search.tree().visits(), 0);
    let mut search = searched(board, Goal::Most, &without_solver(200), Mode::Play, hashed);
    search.begin(random_board(&mut random, 39), 200, Mode::Play);
    assert_eq!(search.tree().visits(), 0);
}

#[test]
fn leaves_in_flight_are_dropped_when_the_root_is_set() {
    let mut random = random(34);
    let board = random_board::<Square8>(&mut random, 40);
    let mut solver = solver(Goal::Most);
    let mut search = searched(board, Goal::Most, &without_solver(100), Mode::Play, hashed);
    search.begin(board, 100, Mode::Play);
    while let Some(Gathered::Leaf { .. }) = search.gather(&mut solver, &mut random) {}
    assert!(search.tree().in_flight() > 0);
    search.begin(board, 100, Mode::Play);
    assert_eq!(search.tree().in_flight(), 0);
    run(&mut search, &mut solver, hashed, &mut random);
    let plain = searched(board, Goal::Most, &without_solver(200), Mode::Play, hashed);
    assert!(search.tree().root_moves().eq(plain.tree().root_moves()));
}

#[test]
fn noise_does_not_add_up_and_ends_with_its_search() {
    let board = random_board::<Square8>(&mut random(35), 40);
    let options = Options { dirichlet_share: 0.5, ..without_solver(50) };
    let priors = |search: &TreeSearch<Square8>| -> Vec<f32> {
        search.tree().root_moves().map(|stats| stats.prior).collect()
    };
    let plain = priors(&searched(board, Goal::Most, &options, Mode::Play, hashed));
    let mut search = searched(board, Goal::Most, &options, Mode::Explore, hashed);
    let mut solver = solver(Goal::Most);
    for round in 0..20 {
        let noisy = priors(&search);
        assert!((noisy.iter().sum::<f32>() - 1.0).abs() < 1e-4);
        assert_ne!(noisy, plain);
        // Half of each prior is the net's, however often noise was added before.
        for (noisy, plain) in noisy.iter().zip(&plain) {
            assert!(*noisy >= 0.5 * plain - 1e-6, "round {round}: {noisy} {plain}");
        }
        search.begin(board, 50, Mode::Explore);
        run(&mut search, &mut solver, hashed, &mut random(round));
    }
    search.begin(board, 50, Mode::Play);
    assert_eq!(priors(&search), plain);
}

#[test]
fn a_root_that_was_solved_as_a_leaf_can_be_searched() {
    let mut random = random(36);
    for root in [Root::Puct, Root::Gumbel] {
        let options = Options { root, solve_empties: 9, solve_leaves: 9, ..without_solver(100) };
        let board = random_board::<Square8>(&mut random, 10);
        let mut search = searched(board, Goal::Most, &options, Mode::Explore, hashed);
        let square = search.choose(0.0, &mut random).expect("a move");
        let (next, _) = after(board, square);
        search.begin(next, 100, Mode::Explore);
        run(&mut search, &mut solver(Goal::Most), hashed, &mut random);
        let square = search.choose(0.0, &mut random).expect("a move");
        assert!(next.legal().contains(square));
        let truth = solver(Goal::Most).score(next);
        assert_eq!(search.tree().exact().map(i32::from), Some(truth));
    }
}
