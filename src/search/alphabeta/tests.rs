//! Tests of the alpha-beta engine.

use super::*;
use crate::eval::positional::Positional;
use crate::eval::testing::Lines;
use crate::eval::{AnyEvaluator, Discs};
use crate::game::{Shape, Square8};
use crate::search::endgame::tests::random_board;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::fmt::Debug;
use std::time::Duration;

fn minimax<G: Geometry>(
    board: Board<G>,
    depth: u32,
    goal: Goal,
    evaluator: &impl Evaluator<G>,
) -> i32 {
    if board.is_over() {
        return SCALE * board.final_score(goal);
    }
    if depth == 0 {
        return evaluator.value(board);
    }
    let moves = board.legal();
    let value = |square| -minimax(board.play_unchecked(square), depth - 1, goal, evaluator);
    moves.map(value).max().unwrap_or_else(|| -minimax(board.pass(), depth, goal, evaluator))
}

fn agrees_with_minimax<G: Geometry, E: Evaluator<G> + Debug>(
    goal: Goal,
    threads: usize,
    evaluator: E,
) {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(17);
    let evaluator = Arc::new(evaluator);
    let mut search = AlphaBetaSearch::new(goal, evaluator.clone(), 1 << 16);
    for _ in 0..40 {
        let empties = random.random_range(2..G::SQUARES as u32 - 5);
        let board = random_board::<G>(&mut random, empties);
        let depth = random.random_range(1..=4).min(empties);
        let limits = SearchLimits { threads, ..SearchLimits::depth(depth) };
        search.forget();
        let Some(result) = search.think(board, &limits) else { continue };
        let wanted = minimax(board, depth, goal, &*evaluator);
        assert_eq!(result.score * SCALE as f32, wanted as f32, "{board:?} {evaluator:?} {goal}");
        let child = board.play(result.square).expect("a legal move");
        assert_eq!(-minimax(child, depth - 1, goal, &*evaluator), wanted, "{board:?}");
        assert_eq!((result.depth, result.exact), (depth, depth == empties));
        assert_eq!(result.pv[0], result.square);
    }
}

/// An evaluator with estimates that are off by at most `most`, half of what a search allows for.
#[derive(Debug)]
struct Estimated<E> {
    evaluator: E,
    most: i32,
}

impl<G: Geometry, E: Evaluator<G>> Evaluator<G> for Estimated<E> {
    type State = E::State;

    fn begin(&self, board: Board<G>) -> E::State {
        self.evaluator.begin(board)
    }

    fn follow(&self, state: &E::State, step: &crate::eval::Step<G>) -> E::State {
        self.evaluator.follow(state, step)
    }

    fn pass(&self, state: &E::State) -> E::State {
        self.evaluator.pass(state)
    }

    fn evaluate(&self, board: Board<G>, state: &E::State) -> i32 {
        self.evaluator.evaluate(board, state)
    }

    fn ordering_value(&self, board: Board<G>, state: &E::State) -> i32 {
        let noise = (board.mine.widen() % 1009) as i32 % (2 * self.most + 1);
        self.evaluate(board, state) + noise - self.most
    }

    fn ordering_deviation(&self, _: u32) -> Option<i32> {
        Some(self.most)
    }
}

fn evaluators_agree_with_minimax<G: Geometry>(goal: Goal, threads: usize) {
    agrees_with_minimax::<G, _>(goal, threads, Positional::<G>::new(goal));
    agrees_with_minimax::<G, _>(goal, threads, Discs { goal });
    // Its state follows the moves of the search, and its order differs from its values.
    agrees_with_minimax::<G, _>(goal, threads, Lines { goal });
    // What the last ply leaves out cannot matter.
    for most in [0, 3 * SCALE] {
        let evaluator = Positional::<G>::new(goal);
        agrees_with_minimax::<G, _>(goal, threads, Estimated { evaluator, most });
    }
}

#[test]
fn search_agrees_with_plain_minimax() {
    for (shape, threads) in Shape::ALL.into_iter().flat_map(|shape| [(shape, 1), (shape, 3)]) {
        for goal in [Goal::Most, Goal::Fewest] {
            dispatch!(shape, G => evaluators_agree_with_minimax::<G>(goal, threads));
        }
    }
}

#[test]
fn skipped_moves_are_not_searched() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(23);
    let evaluator = Positional::<Square8>::new(Goal::Most);
    let mut search = AlphaBetaSearch::new(Goal::Most, Arc::new(evaluator.clone()), 1 << 16);
    for round in 0..40 {
        let empties = random.random_range(4..50);
        let board = random_board::<Square8>(&mut random, empties);
        let skipped = board.legal().filter(|square| square.0 % 3 != 0);
        let skipped = skipped.fold(0, |set, square| set | Square8::mask(square));
        let rest = SquareSet::<Square8>(board.legal().0 & !skipped);
        // With few empty squares this goes to the end of the game.
        let limits = SearchLimits { skipped: skipped.into(), ..SearchLimits::depth(3) };
        let limits = SearchLimits { solve_empties: if round % 2 == 0 { 5 } else { 0 }, ..limits };
        let found = search.think(board, &limits);
        let depth = if board.empties() <= limits.solve_empties { board.empties() } else { 3 };
        let value =
            |square| -minimax(board.play_unchecked(square), depth - 1, Goal::Most, &evaluator);
        let wanted = rest.map(value).max();
        assert_eq!(found.as_ref().map(|found| (found.score * SCALE as f32) as i32), wanted);
        assert!(found.is_none_or(|found| rest.contains(found.square)));
    }
}

type PositionalSearch = AlphaBetaSearch<Square8, Positional<Square8>>;

fn positional() -> PositionalSearch {
    AlphaBetaSearch::new(Goal::Most, Arc::new(Positional::new(Goal::Most)), 1 << 20)
}

#[test]
fn one_thread_is_deterministic() {
    let board = random_board(&mut Xoshiro256PlusPlus::seed_from_u64(5), 40);
    for limits in
        [SearchLimits::depth(7), SearchLimits { nodes: Some(20_000), ..SearchLimits::default() }]
    {
        let result = |search: &mut PositionalSearch| {
            search.forget();
            let found = search.think(board, &limits).expect("a legal move");
            (found.square, found.score, found.depth, found.nodes, found.pv)
        };
        let mut used = positional();
        used.think(board, &SearchLimits::depth(6));
        assert_eq!(result(&mut used), result(&mut positional()));
    }
}

#[test]
fn limits_are_kept() {
    let board = random_board(&mut Xoshiro256PlusPlus::seed_from_u64(6), 45);
    let mut search = positional();
    let limits = SearchLimits { nodes: Some(5_000), ..SearchLimits::default() };
    let found = search.think(board, &limits).expect("a legal move");
    assert!(found.nodes < 6_000 && found.depth > 1, "{found:?}");
    let movetime = Some(Duration::from_millis(50));
    for limits in [
        SearchLimits { movetime, ..SearchLimits::default() },
        SearchLimits { movetime, threads: 2, ..SearchLimits::default() },
        SearchLimits { remaining: Some(Duration::from_secs(1)), ..SearchLimits::default() },
    ] {
        let found = search.think(board, &limits).expect("a legal move");
        assert!(found.seconds < 0.5 && !found.exact, "{found:?}");
        assert!(board.play(found.square).is_some());
    }
    let over = Board { mine: 1, theirs: 0 };
    assert_eq!(search.think(over, &SearchLimits::depth(3)), None);
}

fn boards(seed: u64, count: u32) -> Vec<Board<Square8>> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let boards = (0..count).map(|number| random_board(&mut random, 26 + 7 * (number % 4)));
    boards.filter(|board| !board.legal().is_empty()).collect()
}

fn with_probcut(deviations: f32) -> PositionalSearch {
    positional().with_probcut(deviations).expect("measured for 8x8")
}

fn fresh(search: &mut PositionalSearch, board: Board<Square8>, depth: u32) -> SearchResult {
    search.forget();
    search.think(board, &SearchLimits::depth(depth)).expect("a legal move")
}

#[test]
fn probcut_saves_nodes_and_hardly_changes_scores() {
    let (mut full, mut cut) = (positional(), with_probcut(1.5));
    let (mut nodes, mut difference) = ([0, 0], 0.0);
    let boards = boards(7, 24);
    for &board in &boards {
        let found = [&mut full, &mut cut].map(|search| fresh(search, board, 8));
        nodes = [nodes[0] + found[0].nodes, nodes[1] + found[1].nodes];
        difference += (found[0].score - found[1].score).abs() / boards.len() as f32;
        assert!(board.play(found[1].square).is_some());
    }
    assert!(3 * nodes[1] < 2 * nodes[0], "{nodes:?}");
    assert!(difference < 2.0, "{difference} discs");
}

#[test]
fn solve_empties_overrides_all_other_limits() {
    let mut search = positional();
    let tight = [
        SearchLimits::depth(1),
        SearchLimits { nodes: Some(10), ..SearchLimits::default() },
        SearchLimits { movetime: Some(Duration::from_nanos(1)), ..SearchLimits::default() },
        SearchLimits { remaining: Some(Duration::from_nanos(1)), ..SearchLimits::default() },
    ];
    let mut random = Xoshiro256PlusPlus::seed_from_u64(4);
    let boards = (0..10).map(|_| random_board::<Square8>(&mut random, 11));
    for board in boards.filter(|board| !board.legal().is_empty()).collect::<Vec<_>>() {
        let truth = fresh(&mut search, board, board.empties()).score;
        for limits in tight {
            search.forget();
            let found = search.think(board, &limits).expect("a move");
            assert!(!found.exact, "{board:?} {limits:?}");
            search.forget();
            let solving = SearchLimits { solve_empties: board.empties(), ..limits };
            let found = search.think(board, &solving).expect("a move");
            assert_eq!((found.exact, found.score), (true, truth), "{board:?} {limits:?}");
        }
    }
}

#[test]
fn probcut_with_a_huge_margin_changes_no_score() {
    let (mut full, mut cut) = (positional(), with_probcut(1e6));
    for board in boards(8, 12) {
        let [full, cut] = [&mut full, &mut cut].map(|search| fresh(search, board, 7));
        assert_eq!(full.score, cut.score, "{board:?}");
    }
}

#[test]
fn probcut_leaves_exact_scores_alone() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(9);
    let (mut full, mut cut) = (positional(), with_probcut(0.1));
    let mut nodes = [0, 0];
    for empties in (12..=14).cycle().take(9) {
        let board = random_board(&mut random, empties);
        // Entries of the earlier iterations, with ProbCut, stay in the table.
        let limits = SearchLimits { solve_empties: 14, ..SearchLimits::depth(1) };
        let found = [&mut full, &mut cut].map(|search| search.think(board, &limits));
        let [Some(full), Some(cut)] = found else { continue };
        assert!(full.exact && cut.exact && full.score == cut.score, "{board:?}");
        nodes = [nodes[0] + full.nodes, nodes[1] + cut.nodes];
    }
    assert_ne!(nodes[0], nodes[1], "ProbCut changed the earlier iterations");
}

#[test]
fn the_end_of_the_game_is_searched_with_fewer_and_fewer_subtrees_skipped() {
    let ends = |deepest, probcut, wanted| -> Vec<Skips> {
        let all = iterations(20, deepest, probcut, wanted);
        all.filter(|iteration| iteration.depth == 20).map(|iteration| iteration.skips).collect()
    };
    assert_eq!(ends(20, true, true), [Skips::Many, Skips::Few, Skips::Nothing]);
    assert_eq!(ends(20, true, false), [Skips::Many]);
    assert_eq!(ends(20, false, false), [Skips::Nothing]);
    assert_eq!(ends(19, true, true), []);
    let (mut cut, mut after) = (with_probcut(0.5), [0; 3]);
    for seed in 0..6 {
        let board = random_board(&mut Xoshiro256PlusPlus::seed_from_u64(seed), 15);
        cut.forget();
        let mut nodes = Vec::new();
        let mut at_the_end = |found: &SearchResult| {
            if found.depth == board.empties() {
                nodes.push(found.nodes);
            }
        };
        let limits = SearchLimits::default();
        let Some(last) = cut.think_with_progress(board, &limits, Some(&mut at_the_end)) else {
            continue;
        };
        let &[first, second] = &nodes[..] else { panic!("{nodes:?}") };
        after = [after[0] + first, after[1] + second - first, after[2] + last.nodes - second];
    }
    // Each repeats the search: what an iteration before it left in the table does not suffice.
    assert!(after[1..].iter().all(|&nodes| nodes > after[0] / 10), "{after:?}");
}

#[test]
fn a_known_search_replaces_one_that_is_no_deeper_and_skips_no_fewer_subtrees() {
    let all = [Skips::Many, Skips::Few, Skips::Nothing];
    for (known, needed) in (0..3).flat_map(|known| (0..3).map(move |needed| (known, needed))) {
        for (deep, wanted) in [(4, 4), (5, 4), (4, 5), (1, 88), (88, 1)] {
            let accepted = all[needed].accepts(all[known].entry_depth(deep), wanted);
            let is_exact = all[known] == Skips::Nothing;
            assert_eq!(accepted, is_exact || known >= needed && deep >= wanted, "{known} {needed}");
        }
    }
}

#[test]
fn probcut_needs_the_evaluators_parameters() {
    let has_probcut = |goal, evaluator: AnyEvaluator<Square8>| {
        assert!(boxed(goal, &evaluator, 1 << 10, None).is_ok());
        boxed(goal, &evaluator, 1 << 10, Some(1.5)).is_ok()
    };
    let [most, fewest] = [Goal::Most, Goal::Fewest];
    assert!(has_probcut(most, Positional::new(most).into()));
    assert!(!has_probcut(fewest, Positional::new(fewest).into()));
    assert!(!has_probcut(most, Discs { goal: most }.into()));
}

#[test]
fn a_boxed_search_finds_what_the_evaluators_own_search_finds() {
    let evaluator = Positional::new(Goal::Most).into();
    let mut any = boxed(Goal::Most, &evaluator, 1 << 20, None).expect("a search");
    let mut own = positional();
    for board in boards(3, 8) {
        let limits = SearchLimits::depth(6);
        let found = [any.think(board, &limits), own.think(board, &limits)];
        let [any, own] = found.map(|found| found.map(|it| (it.square, it.score, it.nodes, it.pv)));
        assert_eq!(any, own, "{board:?}");
    }
}

/// The number of positions that ends a search decides how far the last iteration comes.
#[test]
fn an_unfinished_iteration_gives_a_move_that_it_has_searched() {
    let mut search = positional();
    let mut seen = [false; 2];
    for board in boards(10, 12) {
        for nodes in (1..40).map(|step| 40 * step * step) {
            search.forget();
            let limits = SearchLimits { nodes: Some(nodes), ..SearchLimits::default() };
            let found = search.think(board, &limits).expect("a move");
            assert!(board.legal().contains(found.square), "{board:?} {nodes}");
            assert!(0.0 <= found.wasted && found.wasted <= found.unfinished);
            assert!(found.unfinished <= found.seconds);
            if found.depth == 0 || found.unfinished == 0.0 {
                continue;
            }
            // Whether the iteration is wasted follows from the move of the one before.
            let before = fresh(&mut search, board, found.depth);
            let is_changed = found.square != before.square;
            assert_eq!(found.wasted == 0.0, is_changed, "{board:?} {nodes}");
            seen[usize::from(is_changed)] = true;
            if is_changed {
                // One ply deeper the new move is better than the old one.
                let score = |square| {
                    let next = board.play_unchecked(square);
                    let depth = found.depth.min(next.empties());
                    match next.legal().is_empty() {
                        true => -fresh(&mut positional(), next.pass(), depth).score,
                        false => fresh(&mut positional(), next, depth).score,
                    }
                };
                let (new, old) = (-score(found.square), -score(before.square));
                assert!(new > old, "{board:?} {nodes}: {new} {old}");
            }
        }
    }
    assert_eq!(seen, [true; 2], "both cases must occur");
}
