//! The results of a finished search: policy, value, and the chosen move.

use outflank::dispatch;
use outflank::game::{Geometry, Goal, Shape, Square8};
use outflank::search::mcts::{Mode, MoveStats, Options, Root, TreeSearch};

use crate::common::{
    Estimate, hashed, random, random_board, run, searched, solver, without_solver,
};

fn policies_are_sound<G: Geometry>() {
    let mut random = random(41);
    for root in [Root::Puct, Root::Gumbel] {
        for mode in [Mode::Explore, Mode::Play, Mode::Analyse] {
            for round in 0..24 {
                let options = Options { root, solve_empties: round % 8, ..without_solver(60) };
                let board = random_board::<G>(&mut random, 4 + round);
                let mut search = searched(board, Goal::Most, &options, mode, hashed);
                let moves: Vec<_> = search.tree().root_moves().collect();
                let squares = moves.iter().map(|stats| stats.square);
                assert!(squares.eq(board.legal()), "moves come in the order of the squares");
                let policy = search.policy().to_vec();
                assert_eq!(policy.len(), moves.len());
                assert!(policy.iter().all(|share| *share >= 0.0), "{policy:?}");
                assert!((policy.iter().sum::<f32>() - 1.0).abs() < 1e-4, "{policy:?}");
                let proven = moves.iter().map(|stats| stats.lower).max().expect("a move");
                let exceeds = |stats: &MoveStats| stats.upper > proven;
                let can_grow = moves.iter().any(|stats| stats.lower == proven && exceeds(stats));
                let may_be_best =
                    |stats: &MoveStats| exceeds(stats) || stats.lower == proven && !can_grow;
                for (stats, share) in moves.iter().zip(&policy) {
                    assert!(may_be_best(stats) || *share == 0.0, "{stats:?} {share}");
                }
                for temperature in [0.0, 0.3, 1.0, 3.0] {
                    let square = search.choose(temperature, &mut random).expect("a move");
                    let chosen = moves.iter().find(|stats| stats.square == square);
                    assert!(
                        chosen.is_some_and(may_be_best),
                        "proven not to be better than another"
                    );
                }
            }
        }
    }
}

#[test]
fn policies_sum_to_one_and_leave_out_what_is_proven_worse() {
    for shape in Shape::ALL {
        dispatch!(shape, G => policies_are_sound::<G>());
    }
}

/// Proven bounds do not change the net's own prediction for the root.
#[test]
fn the_raw_utility_of_the_root_stays() {
    let mut random = random(43);
    let mut bounded = 0;
    for round in 0..40 {
        let options = Options {
            root: Root::Gumbel,
            solve_leaves: 9,
            solve_empties: 9,
            tree_reuse: true,
            score_weight: 0.1,
            ..without_solver(60)
        };
        let board = random_board::<Square8>(&mut random, 10 + round % 3);
        let mut search = searched(board, Goal::Most, &options, Mode::Explore, hashed);
        let Estimate { value, score, .. } = hashed(board);
        let wanted = 0.9 * value + 0.1 * score / 64.0;
        let found = search.tree().raw_utility();
        assert!((found - wanted).abs() < 1e-6, "{found} {wanted}");
        bounded += (search.tree().bounds() != (-64, 64)) as u32;

        // The position after the most visited move becomes the root.
        let next = search.tree().principal_variation(1)[0];
        let next = board.play_unchecked(next);
        if next.legal().is_empty() || next.empties() <= 9 {
            continue;
        }
        search.begin(next, 60, Mode::Explore);
        let found = search.tree().raw_utility();
        let Estimate { value, score, .. } = hashed(next);
        let wanted = 0.9 * value + 0.1 * score / 64.0;
        let plain = search.tree().bounds() == (-64, 64);
        assert!(if plain { (found - wanted).abs() < 1e-3 } else { found.abs() <= 1.0 });
    }
    assert!(bounded > 5, "{bounded} roots with a proven score");
}

/// An interior position may be solved without its best move. If it becomes the root, it is searched
/// until a move is proven best.
#[test]
fn a_solved_position_that_becomes_the_root_is_searched() {
    let mut random = random(44);
    let mut solved = 0;
    for _ in 0..40 {
        // Leaves are solved with 4 empties, positions with many visits with up to 9.
        let options = Options {
            solve_leaves: 4,
            solve_growth: 1.0,
            solve_empties: 9,
            tree_reuse: true,
            ..without_solver(400)
        };
        let board = random_board::<Square8>(&mut random, 10);
        let mut search = searched(board, Goal::Most, &options, Mode::Play, hashed);
        let next = board.play_unchecked(search.tree().principal_variation(1)[0]);
        if next.legal().is_empty() {
            continue;
        }
        search.begin(next, 400, Mode::Play);
        solved += (search.tree().exact().is_none() && search.tree().is_expanded()) as u32;
        let mut exact = solver(Goal::Most);
        run(&mut search, &mut exact, hashed, &mut random);
        let square = search.choose(0.0, &mut random).expect("a move");
        let truth = exact.score(next);
        assert_eq!(search.tree().exact().map(i32::from), Some(truth));
        assert_eq!(-exact.score(next.play_unchecked(square)), truth);
    }
    assert!(solved > 5, "{solved} positions");
}

#[test]
fn moves_are_drawn_in_proportion_to_visits() {
    let mut random = random(42);
    let board = random_board::<Square8>(&mut random, 40);
    let mut search = searched(board, Goal::Most, &without_solver(100), Mode::Play, hashed);
    let policy = search.policy().to_vec();
    let moves: Vec<_> = search.tree().root_moves().collect();
    for (stats, share) in moves.iter().zip(&policy) {
        assert!((share - stats.visits as f32 / 99.0).abs() < 1e-6);
    }
    let draws = 20_000;
    for temperature in [0.5, 1.0, 2.0] {
        let mut counts = vec![0; moves.len()];
        for _ in 0..draws {
            let square = search.choose(temperature, &mut random).expect("a move");
            counts[moves.iter().position(|stats| stats.square == square).expect("a move")] += 1;
        }
        let power = |share: &f32| share.powf(1.0 / temperature);
        let total: f32 = policy.iter().map(power).sum();
        for (count, share) in counts.iter().zip(&policy) {
            let expected = power(share) / total;
            let deviation = (expected * (1.0 - expected) / draws as f32).sqrt();
            let got = *count as f32 / draws as f32;
            assert!((got - expected).abs() < 5.0 * deviation + 1e-3, "{got} {expected}");
        }
    }
    let most = moves.iter().max_by_key(|stats| stats.visits).expect("a move");
    assert_eq!(search.choose(0.0, &mut random), Some(most.square));
}

#[test]
fn tempered_targets_are_the_distribution_of_drawn_moves() {
    let mut random = random(48);
    for root in [Root::Puct, Root::Gumbel] {
        for mode in [Mode::Explore, Mode::Play] {
            let board = random_board::<Square8>(&mut random, 40);
            let plain = Options { root, ..without_solver(100) };
            let tempered = Options { tempered_targets: true, ..plain.clone() };
            let [mut plain, mut tempered] =
                [plain, tempered].map(|it| searched(board, Goal::Most, &it, mode, hashed));
            let policy = plain.policy().to_vec();
            for temperature in [0.5, 1.0, 2.0] {
                assert_eq!(plain.target(temperature), policy);
                let power = |share: &f32| share.powf(1.0 / temperature);
                let total: f32 = policy.iter().map(power).sum();
                for (target, share) in tempered.target(temperature).iter().zip(&policy) {
                    assert!((target - power(share) / total).abs() < 1e-5, "{target} {share}");
                }
            }
            assert_eq!(plain.target(0.0), policy);
            let best = tempered.choose(0.0, &mut random).expect("a move");
            let alone = board.legal().map(|square| f32::from(u8::from(square == best)));
            assert!(alone.eq(tempered.target(0.0).iter().copied()));
        }
    }
}

#[test]
fn a_search_of_one_simulation_plays_by_the_priors() {
    let mut random = random(43);
    for root in [Root::Puct, Root::Gumbel] {
        let options = Options { root, ..without_solver(1) };
        let mut search = TreeSearch::<Square8>::new(Goal::Most, &options);
        // The buffers of the first search may be larger than the second one needs.
        for (empties, simulations) in [(20, 40), (50, 1), (12, 1)] {
            let board = random_board::<Square8>(&mut random, empties);
            search.begin(board, simulations, Mode::Explore);
            run(&mut search, &mut solver(Goal::Most), hashed, &mut random);
            assert_eq!(search.simulations(), simulations);
            let policy = search.policy().to_vec();
            let square = search.choose(0.0, &mut random).expect("a move");
            if simulations == 1 {
                let logits = hashed(board).policy;
                let logit = |place: &usize| logits[board.legal().nth(*place).expect("").index()];
                let best = (0..policy.len()).max_by(|a, b| logit(a).total_cmp(&logit(b)));
                assert_eq!(board.legal().nth(best.expect("a move")), Some(square));
                assert!((policy.iter().sum::<f32>() - 1.0).abs() < 1e-4);
            }
        }
    }
}

#[test]
fn a_single_legal_move_is_chosen() {
    let mut random = random(44);
    let board = loop {
        let board = random_board::<Square8>(&mut random, 20);
        if board.legal().len() == 1 {
            break board;
        }
    };
    for root in [Root::Puct, Root::Gumbel] {
        for simulations in [1, 2, 40] {
            let options = Options { root, ..without_solver(simulations) };
            let mut search = searched(board, Goal::Most, &options, Mode::Explore, hashed);
            assert_eq!(search.policy(), [1.0]);
            assert_eq!(search.choose(1.0, &mut random), board.legal().next());
            assert_eq!(search.choose(0.0, &mut random), board.legal().next());
        }
    }
}

#[test]
fn an_analysis_searches_moves_that_look_bad_too() {
    /// A net that sees one move only.
    fn narrow(board: outflank::game::Board<Square8>) -> Estimate {
        let mut estimate = hashed(board);
        if let Some(first) = board.legal().next() {
            estimate.policy[first.index()] = 40.0;
        }
        estimate
    }
    let board = random_board::<Square8>(&mut random(3), 40);
    let least = |mode| {
        let search = searched(board, Goal::Most, &without_solver(800), mode, narrow);
        let visits: Vec<_> = search.tree().root_moves().map(|stats| stats.visits).collect();
        assert!(visits.len() > 4, "{visits:?}");
        visits.iter().min().copied().zip(Some(visits.len() as u32)).expect("moves")
    };
    assert!(least(Mode::Play).0 <= 1);
    let (fewest, moves) = least(Mode::Analyse);
    assert!(fewest >= 800 / 8 / moves - 1, "{fewest} of {moves} moves");
}

#[test]
fn gumbel_searches_the_considered_moves_equally_at_first() {
    let mut random = random(45);
    let board = loop {
        let board = random_board::<Square8>(&mut random, 36);
        if board.legal().len() > 16 {
            break board;
        }
    };
    // The first simulation expands the root.
    let visits = |simulations: u32| -> Vec<u32> {
        let options = Options { root: Root::Gumbel, ..without_solver(0) };
        let mut search = TreeSearch::new(Goal::Most, &options);
        search.begin(board, 1 + simulations, Mode::Explore);
        run(&mut search, &mut solver(Goal::Most), hashed, &mut crate::common::random(5));
        let mut visits: Vec<u32> = search.tree().root_moves().map(|it| it.visits).collect();
        visits.sort_unstable_by_key(|&count| std::cmp::Reverse(count));
        visits
    };
    // Rounds of 16, 8, 4 and 2 moves, each with a quarter of the simulations.
    let wanted = [15, 15, 7, 7, 3, 3, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1];
    assert_eq!(visits(64)[..16], wanted);
    assert_eq!(visits(128)[..16], wanted.map(|count| 2 * count));
    assert_eq!(visits(16)[..16], [1; 16]);
    assert_eq!(visits(64).iter().sum::<u32>(), 64, "nothing else is searched");
}

#[test]
fn the_scale_of_values_does_not_depend_on_the_score_weight() {
    fn sure(_: outflank::game::Board<Square8>) -> Estimate {
        Estimate { policy: vec![0.0; 64], value: 0.5, score: 0.0 }
    }
    let board = random_board::<Square8>(&mut random(46), 40);
    for score_weight in [0.0, 0.1, 0.5] {
        let options = Options { score_weight, ..without_solver(1) };
        let search = searched(board, Goal::Most, &options, Mode::Play, sure);
        assert!((search.tree().root_value() - 0.5).abs() < 1e-6);
        assert!((search.tree().root_utility() - 0.5 * (1.0 - score_weight)).abs() < 1e-6);
    }
}

#[test]
fn with_score_empties_the_utility_is_discs_alone() {
    let late = Options { score_empties: 30, ..without_solver(100) };
    let moves = |search: &TreeSearch<Square8>| search.tree().root_moves().collect::<Vec<_>>();
    let mut random = random(48);
    let mut turned = 0;
    for (empties, score_weight) in [(31, late.score_weight), (30, 1.0), (20, 1.0)].repeat(4) {
        let board = random_board::<Square8>(&mut random, empties);
        let mut search = searched(board, Goal::Most, &late, Mode::Play, hashed);
        let plain = Options { score_weight, ..without_solver(100) };
        let wanted = searched(board, Goal::Most, &plain, Mode::Play, hashed);
        assert_eq!(moves(&search), moves(&wanted), "{empties} empty squares");
        // The tree of a search with another utility is not reused.
        let next = board.play_unchecked(search.tree().principal_variation(1)[0]);
        if empties == 31 && !next.legal().is_empty() {
            search.begin(next, 100, Mode::Play);
            run(&mut search, &mut solver(Goal::Most), hashed, &mut random);
            let fresh = searched(next, Goal::Most, &late, Mode::Play, hashed);
            assert_eq!(moves(&search), moves(&fresh));
            turned += 1;
        }
    }
    assert!(turned > 0);
}

#[test]
fn nan_and_infinity_in_predictions_do_not_spread() {
    fn broken(_: outflank::game::Board<Square8>) -> Estimate {
        Estimate { policy: vec![f32::NAN; 64], value: f32::NAN, score: f32::INFINITY }
    }
    let board = random_board::<Square8>(&mut random(47), 40);
    let mut search = searched(board, Goal::Most, &without_solver(200), Mode::Explore, broken);
    assert!(search.policy().iter().all(|share| share.is_finite()));
    assert!(search.tree().root_utility().is_finite());
    assert!(search.tree().root_moves().all(|stats| stats.prior.is_finite()));
}
