//! Nothing is allocated in the loop once the arrays have grown.

use allocation_counter::measure;
use outflank::dispatch;
use outflank::game::{Board, Geometry, Goal, Shape};
use outflank::search::mcts::{Gathered, Mode, Options, Root, Search};

use crate::common::{Estimate, hashed, random, random_board, solver};

/// A search of each board, one after the other, and what the net says about the leaves.
fn play<G: Geometry>(
    (search, simulations): (&mut Search<G>, u32),
    boards: &[Board<G>],
    mut net: impl FnMut(Board<G>) -> Estimate,
) -> u64 {
    let (mut solver, mut random) = (solver(Goal::Most), random(3));
    let mut allocated = 0;
    for &board in boards {
        search.begin(board, simulations, Mode::Explore);
        loop {
            let mut leaf = None;
            let gather = || leaf = search.gather(&mut solver, &mut random);
            allocated += measure(gather).count_total;
            let Some(Gathered::Leaf { ticket, board, .. }) = leaf else { break };
            let estimate = net(board);
            allocated += measure(|| search.apply(ticket, estimate.answer())).count_total;
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
    let mut search = Search::new(Goal::Most, &options);
    assert!(play((&mut search, 200), &boards, hashed) > 0, "arrays grow at first");
    search.forget();
    assert_eq!(play((&mut search, 200), &boards, hashed), 0, "{}", G::SHAPE);
}

#[test]
fn a_search_whose_arrays_have_grown_allocates_nothing() {
    for shape in Shape::ALL {
        for root in [Root::Puct, Root::Gumbel] {
            dispatch!(shape, G => grown_searches_allocate_nothing::<G>(root));
        }
    }
}
