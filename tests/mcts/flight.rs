//! Several leaves of one tree in flight at the same time, and predictions that come too late.

use outflank::dispatch;
use outflank::game::{Board, Geometry, Goal, Shape, Square8};
use outflank::search::mcts::{Gathered, Mode, Options, Root, Ticket, Tree, TreeSearch};
use rand::RngExt;

use crate::common::{hashed, random, random_board, run, searched, solver, without_solver};

/// Runs a search with up to `width` leaves in flight; predictions come in random order.
fn run_wide<G: Geometry>(search: &mut TreeSearch<G>, goal: Goal, width: usize, seed: u64) -> usize {
    let (mut random, mut solver) = (random(seed), solver(goal));
    let mut waiting: Vec<(Ticket, Board<G>)> = Vec::new();
    let mut widest = 0;
    loop {
        let gathered = match waiting.len() < width {
            true => search.gather(&mut solver, &mut random),
            false => Some(Gathered::Waiting),
        };
        match gathered {
            None => break,
            Some(Gathered::Leaf { ticket, board, .. }) => waiting.push((ticket, board)),
            Some(_) => {
                assert!(!waiting.is_empty(), "waiting although nothing is in flight");
                assert_eq!(search.tree().in_flight() as usize, waiting.len());
                widest = widest.max(waiting.len());
                let (ticket, board) = waiting.swap_remove(random.random_range(0..waiting.len()));
                search.apply(ticket, hashed(board).prediction());
            }
        }
    }
    assert!(waiting.is_empty(), "done although leaves are in flight");
    widest
}

fn counts_stay_right<G: Geometry>() {
    let mut random = random(21);
    for root in [Root::Puct, Root::Gumbel] {
        for (empties, goal) in [(30, Goal::Most), (9, Goal::Fewest)] {
            let options = Options { root, ..without_solver(400) };
            let board = random_board::<G>(&mut random, empties);
            let mut search = TreeSearch::new(goal, &options);
            search.begin(board, options.simulations, Mode::Explore);
            let widest = run_wide(&mut search, goal, 16, 3);
            assert!(widest > 4, "only {widest} leaves at a time");
            let tree = search.tree();
            assert_eq!(tree.in_flight(), 0);
            let below: u32 = tree.root_moves().map(|stats| stats.visits).sum();
            assert_eq!(below + 1, tree.visits(), "each simulation counts once at each level");
            assert_eq!(tree.visits(), search.simulations());
            if tree.exact().is_none() {
                assert_eq!(search.simulations(), options.simulations);
            }
            // With nothing left in flight, a second search works as usual.
            search.begin(board, 100, Mode::Play);
            run(&mut search, &mut solver(goal), hashed, &mut random);
            assert_eq!(search.tree().in_flight(), 0);
        }
    }
}

#[test]
fn several_in_flight_lose_no_visit() {
    for shape in Shape::ALL {
        dispatch!(shape, G => counts_stay_right::<G>());
    }
}

#[test]
fn one_in_flight_is_the_sequential_search() {
    let board = random_board::<Square8>(&mut random(22), 40);
    let options = without_solver(300);
    let one = searched(board, Goal::Most, &options, Mode::Play, hashed);
    let mut other = TreeSearch::new(Goal::Most, &options);
    other.begin(board, options.simulations, Mode::Play);
    run_wide(&mut other, Goal::Most, 1, 3);
    assert!(one.tree().root_moves().eq(other.tree().root_moves()));
}

#[test]
fn virtual_loss_spreads_leaves_over_the_root() {
    let board = random_board::<Square8>(&mut random(23), 44);
    let mut solver = solver(Goal::Most);
    let mut tree = Tree::new(Goal::Most, &without_solver(100));
    tree.set_root(board, false);
    let Gathered::Leaf { ticket, .. } = tree.gather(&mut solver, None) else { panic!("a leaf") };
    assert!(matches!(tree.gather(&mut solver, None), Gathered::Waiting), "the root is in flight");
    assert!(tree.apply(ticket, hashed(board).prediction()));
    let mut seen = Vec::new();
    while let Gathered::Leaf { board, .. } = tree.gather(&mut solver, None) {
        assert!(!seen.contains(&board), "the same leaf twice");
        seen.push(board);
    }
    assert!(seen.len() >= 3, "only {} leaves at a time", seen.len());
}

#[test]
fn a_prediction_that_comes_too_late_is_ignored() {
    let mut random = random(24);
    let (one, two) =
        (random_board::<Square8>(&mut random, 40), random_board::<Square8>(&mut random, 38));
    let mut solver = solver(Goal::Most);
    let mut search = TreeSearch::new(Goal::Most, &without_solver(50));
    search.begin(one, 50, Mode::Play);
    let Some(Gathered::Leaf { ticket: stale, .. }) = search.gather(&mut solver, &mut random) else {
        panic!("a leaf");
    };
    search.begin(two, 50, Mode::Play);
    let Some(Gathered::Leaf { ticket, board, .. }) = search.gather(&mut solver, &mut random) else {
        panic!("a leaf");
    };
    assert_eq!(board, two);
    search.apply(stale, hashed(one).prediction());
    assert_eq!((search.simulations(), search.tree().in_flight()), (0, 1));
    search.apply(ticket, hashed(two).prediction());
    search.apply(ticket, hashed(two).prediction());
    assert_eq!((search.simulations(), search.tree().in_flight()), (1, 0));
    search.forget();
    search.apply(ticket, hashed(two).prediction());
    search.begin(two, 50, Mode::Play);
    run(&mut search, &mut solver, hashed, &mut random);
    assert_eq!(search.simulations(), 50);
    assert!(search.tree().root_moves().eq(
        searched(two, Goal::Most, &without_solver(50), Mode::Play, hashed).tree().root_moves()
    ));
}
