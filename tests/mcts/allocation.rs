//! The search loop allocates no memory once its arrays have grown.

use allocation_counter::measure;
use outflank::dispatch;
use outflank::game::{Board, Geometry, Goal, Shape};
use outflank::search::endgame::Solver;
use outflank::search::mcts::{Gathered, Mode, Options, Root, TreeSearch};

use crate::common::{hashed, random, random_board, solver};

/// Searches all boards in turn. Returns the number of allocations.
fn search_all<G: Geometry>(
    search: &mut TreeSearch<G>,
    solver: &mut Solver<G>,
    boards: &[Board<G>],
) -> u64 {
    let mut random = random(3);
    let mut allocated = 0;
    for &board in boards {
        search.begin(board, 200, Mode::Explore);
        loop {
            let mut leaf = None;
            let gather = || leaf = search.gather(solver, &mut random);
            allocated += measure(gather).count_total;
            let Some(Gathered::Leaf { ticket, board, .. }) = leaf else { break };
            let estimate = hashed(board);
            allocated += measure(|| search.apply(ticket, estimate.prediction())).count_total;
        }
    }
    allocated
}

fn grown_searches_allocate_nothing<G: Geometry>(root: Root) {
    let mut random = random(8);
    let boards = [50, 30, 20, 14, 10].map(|of_64| {
        let empties = (of_64 * G::SQUARES as u32 / 64).max(9);
        random_board::<G>(&mut random, empties)
    });
    let options = Options { root, ..Options::default() };
    let (mut search, mut solver) = (TreeSearch::new(Goal::Most, &options), solver(Goal::Most));
    assert!(search_all(&mut search, &mut solver, &boards) > 0, "arrays grow at first");
    search.forget();
    assert_eq!(search_all(&mut search, &mut solver, &boards), 0, "{}", G::SHAPE);
}

#[test]
fn a_search_whose_arrays_have_grown_allocates_nothing() {
    for shape in Shape::ALL {
        for root in [Root::Puct, Root::Gumbel] {
            dispatch!(shape, G => grown_searches_allocate_nothing::<G>(root));
        }
    }
}
