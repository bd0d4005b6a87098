//! Replays of honest and of forged games.

use super::*;
use crate::game::{Colour, Shape, Square, Square6};
use crate::net::fixtures::{resnet, trained};
use crate::net::inference::{self, BackendKind, Options, Precision};
use crate::pipeline::cluster::trust::check;
use crate::pipeline::cluster::trust::fixtures::{Table, facts, play, settings};
use crate::predict::LocalPredictor;
use crate::train::selfplay::{Actor, GameNumbers};

const TEXT: &str = "seed = 5\n[search]\nsimulations = 24\nsolve_empties = 8\nsolve_leaves = 5\n[selfplay]\nfast_simulations = 6\nfull_share = 0.6\nopening_plies = 6\ngames_per_actor = 24\nramp = [[100, 12]]";
const VERSION: NetVersion = NetVersion { version: 0, positions: 0 };
const STRICT: Thresholds = Thresholds { values: 0.1, policies: 0.1, moves: 0.1 };

/// Games of an actor that plays many of them at the same time.
fn games_of_an_actor<G: Geometry>(
    settings: &SelfPlaySettings,
    backend: Box<dyn Backend>,
    net: NetVersion,
    count: usize,
) -> Vec<GameRecord> {
    let numbers = GameNumbers::from(0);
    let predictor = Box::new(LocalPredictor::new(backend));
    let mut actor = Actor::<G>::new(settings.clone(), predictor, 1, &numbers, net);
    let mut games = Vec::new();
    while games.len() < count {
        actor.step(&numbers, &mut games).expect("predictions");
    }
    games
}

/// The verdicts on games that are said to be of this backend's net and kernel.
fn verdicts<G: Geometry>(
    settings: &SelfPlaySettings,
    backend: &mut dyn Backend,
    version: NetVersion,
    games: &[GameRecord],
) -> Vec<Verdict> {
    let kernel = kernel_name(backend);
    let claim = |record| Claim { record, last_net: version.version, kernel: &kernel };
    let claims: Vec<_> = games.iter().map(claim).collect();
    let mut replayer = Replayer::<G>::new(settings.clone(), STRICT);
    replayer.replay(&claims, Net { version, backend }, None).expect("predictions")
}

fn games_are_the_same<G: Geometry>(goal: &str, opening: &str) {
    let text = format!("goal = \"{goal}\"\n{TEXT}\nopening = \"{opening}\"");
    let settings = settings(G::SHAPE, &text);
    for positions in [0, 100] {
        let version = NetVersion { version: 3, positions };
        let table = || Table::new::<G>(8);
        let games = games_of_an_actor::<G>(&settings, Box::new(table()), version, 40);
        for verdict in verdicts::<G>(&settings, &mut table(), version, &games) {
            assert_eq!(verdict, Verdict::Same, "{} {goal} {opening}", G::SHAPE);
        }
    }
}

#[test]
fn games_of_an_actor_are_the_same_when_played_again() {
    for shape in Shape::ALL {
        dispatch!(shape, G => games_are_the_same::<G>("most", "random"));
        dispatch!(shape, G => games_are_the_same::<G>("fewest", "policy"));
    }
}

/// All backends that run on this machine and do not depend on the batch.
fn kernels(shape: Shape) -> Vec<Box<dyn Backend>> {
    let spec = resnet(shape, 2, 32);
    let weights = trained(&spec, 3);
    let choices = [
        (BackendKind::Winograd, Precision::F32),
        (BackendKind::Winograd, Precision::Auto),
        (BackendKind::Amx, Precision::Bf16),
    ];
    let open = |&(backend, precision): &_| {
        inference::open(&spec, &weights, &Options { backend, precision }, "cpu").ok()
    };
    choices.iter().filter_map(open).collect()
}

/// The finding that makes replays exact: a position's prediction has the same bits in every batch
/// and at every place of it.
#[test]
fn own_kernels_do_not_depend_on_the_batch() {
    for shape in Shape::ALL {
        let settings = settings(shape, "[search]\nsimulations = 2\nsolve_empties = 0");
        let inputs = dispatch!(shape, G => inputs::<G>(&settings));
        assert!(inputs.len() > 64);
        for mut backend in kernels(shape) {
            assert!(backend.is_batch_invariant());
            let mut one = |inputs: &[Input]| {
                let mut predictions = Predictions::default();
                backend.predict(inputs, &mut predictions).expect("predictions");
                predictions
            };
            let wanted: Vec<_> = inputs.iter().map(|input| one(&[*input])).collect();
            for batch in [3, 16, 33, 64] {
                for (inputs, wanted) in inputs.chunks(batch).zip(wanted.chunks(batch)) {
                    let found = one(inputs);
                    let joined = |of: fn(&Predictions) -> &[f32]| -> Vec<u32> {
                        wanted.iter().flat_map(of).map(|number| number.to_bits()).collect()
                    };
                    let bits = |numbers: &[f32]| -> Vec<u32> {
                        numbers.iter().map(|number| number.to_bits()).collect()
                    };
                    assert_eq!(bits(&found.policy), joined(|one| &one.policy), "{shape} {batch}");
                    assert_eq!(bits(&found.value), joined(|one| &one.value), "{shape} {batch}");
                    assert_eq!(bits(&found.score), joined(|one| &one.score), "{shape} {batch}");
                }
            }
        }
    }
}

/// The positions of some games.
fn inputs<G: Geometry>(settings: &SelfPlaySettings) -> Vec<Input> {
    let games = play::<G>(settings, &mut Table::new::<G>(2), 0..3);
    let positions = games.iter().flat_map(|game| game.positions::<G>().expect("a game"));
    let boards = positions.map(|position| position.board);
    boards.map(|board| Input::new(board, board.legal())).collect()
}

/// A game of a net in batches of an actor is the same in the batches of a replay.
#[test]
fn games_of_a_net_are_the_same_when_played_again() {
    let settings = settings(Shape::Square6, TEXT);
    for (mut backend, other) in kernels(Shape::Square6).into_iter().zip(kernels(Shape::Square6)) {
        let games = games_of_an_actor::<Square6>(&settings, other, VERSION, 30);
        for game in &games {
            let verdict = verdicts::<Square6>(
                &settings,
                backend.as_mut(),
                VERSION,
                std::slice::from_ref(game),
            );
            assert_eq!(verdict, [Verdict::Same]);
        }
        let all = verdicts::<Square6>(&settings, backend.as_mut(), VERSION, &games);
        assert!(all.iter().all(|verdict| *verdict == Verdict::Same));
    }
}

/// A forged game, and whether the difference is the right one.
type Forgery = (fn(&mut GameRecord, usize), fn(Difference) -> bool);

#[test]
fn every_changed_number_is_found() {
    let settings = settings(Shape::Square6, TEXT);
    let facts = facts(Shape::Square6, &settings);
    let games = play::<Square6>(&settings, &mut Table::new::<Square6>(8), 0..60);
    let forgeries: [Forgery; 4] = [
        (
            |game, index| {
                let value = &mut game.moves[index].value;
                *value = value.map(|value| f32::from_bits(value.to_bits() ^ 1));
            },
            |what| matches!(what, Difference::Value { .. }),
        ),
        (
            |game, index| {
                let policy = &mut game.moves[index].policy;
                let weight = policy.iter_mut().find(|weight| **weight < u16::MAX);
                *weight.expect("a smaller weight") += 1;
            },
            |what| matches!(what, Difference::Policy { .. }),
        ),
        (
            |game, index| game.moves[index].exact = Some(0),
            |what| matches!(what, Difference::Exact { .. }),
        ),
        (
            |game, index| game.id += 1 + index as u64,
            // Two numbers may have the same opening, but not the same noise.
            |what| !matches!(what, Difference::End { .. } | Difference::Distance),
        ),
    ];
    let mut table = Table::new::<Square6>(8);
    for game in &games {
        let checked = check(game, &facts).expect("an honest game");
        let free = (checked.opening..checked.played_out).find(|&index| {
            let played = &game.moves[index];
            played.exact.is_none() && played.policy.iter().any(|&weight| weight < u16::MAX - 1)
        });
        let Some(index) = free else { continue };
        for (forge, is_wanted) in forgeries {
            let mut forged = game.clone();
            forge(&mut forged, index);
            let found = verdicts::<Square6>(&settings, &mut table, VERSION, &[forged]);
            let Verdict::Different { what, .. } = found[0] else { panic!("{found:?}") };
            assert!(is_wanted(what), "{what}");
        }
    }
}

/// A worker that searches honestly, but plays other moves than its searches choose.
#[test]
fn moves_that_the_search_does_not_choose_are_found() {
    let settings = settings(Shape::Square6, TEXT);
    let mut table = Table::new::<Square6>(8);
    let mut found = 0;
    for number in 0..20 {
        let honest = play::<Square6>(&settings, &mut table, [number]).remove(0);
        let own = honest.moves[usize::from(honest.opening_moves)].square;
        let position =
            honest.positions::<Square6>().expect("a game")[usize::from(honest.opening_moves)];
        let Some(other) = position.board.legal().into_iter().find(|&square| square != own) else {
            continue;
        };
        let mut moves: Vec<Square> = honest.moves.iter().map(|played| played.square).collect();
        moves.truncate(usize::from(honest.opening_moves));
        moves.push(other);
        let mut game = SelfPlayGame::<Square6>::new(&settings, number, 0, 24);
        game.follow(moves);
        let mut solver = Solver::new(settings.goal, 1 << 16);
        let mut predictions = Predictions::default();
        while let GameStatus::NeedsPrediction { board, legal } =
            game.advance(&settings, &mut solver)
        {
            table.predict(&[Input::new(board, legal)], &mut predictions).expect("predictions");
            game.apply(predictions.get(0, 36));
        }
        let verdict = verdicts::<Square6>(&settings, &mut table, VERSION, &[game.record().clone()]);
        let wanted = Difference::Move { index: usize::from(honest.opening_moves) };
        assert!(matches!(verdict[0], Verdict::Different { what, .. } if what == wanted));
        found += 1;
    }
    assert!(found > 10);
}

/// The end of a game need not be the same, but perfect.
#[test]
fn an_end_with_bad_moves_is_found_and_one_with_other_best_moves_is_the_same() {
    let settings = settings(Shape::Square6, TEXT);
    let facts = facts(Shape::Square6, &settings);
    let mut table = Table::new::<Square6>(8);
    let mut counts = [0; 2];
    for game in play::<Square6>(&settings, &mut table, 0..30) {
        let first = check(&game, &facts).expect("an honest game").played_out;
        for choice in [Choice::Nth(0), Choice::Nth(1), Choice::LastBest] {
            let other = with_other_end(&game, first, choice);
            if other == game {
                continue;
            }
            let mut solver = Solver::<Square6>::new(settings.goal, 1 << 16);
            let positions = other.positions::<Square6>().expect("a game");
            let is_perfect = (first..other.moves.len()).all(|index| {
                let found = other.moves[index].exact.map(i32::from);
                found == Some(solver.score(positions[index].board))
            });
            let verdict = verdicts::<Square6>(&settings, &mut table, VERSION, &[other]);
            match verdict[0] {
                Verdict::Same => assert!(is_perfect),
                Verdict::Different { what: Difference::End { .. }, .. } => assert!(!is_perfect),
                verdict => panic!("{verdict:?}"),
            }
            counts[usize::from(is_perfect)] += 1;
        }
    }
    assert!(counts[0] > 10 && counts[1] > 0, "{counts:?}");
}

/// Which legal moves the end of a game has.
#[derive(Clone, Copy)]
enum Choice {
    Nth(usize),
    /// The last one of the best moves.
    LastBest,
}

/// The game with other legal moves from move `first` on, and scores that agree with its end.
fn with_other_end(game: &GameRecord, first: usize, choice: Choice) -> GameRecord {
    let mut position = game.positions::<Square6>().expect("a game")[first];
    let mut other = game.clone();
    other.moves.truncate(first);
    let mut solver = Solver::<Square6>::new(game.goal, 1 << 16);
    let mut sides = Vec::new();
    while !position.board.legal().is_empty() {
        let legal = position.board.legal();
        let mut score = |square| -solver.score(position.board.play_unchecked(square));
        let square = match choice {
            Choice::Nth(place) => legal.into_iter().nth(place % legal.len()),
            Choice::LastBest => legal.into_iter().max_by_key(|&square| score(square)),
        };
        let square = square.expect("a legal move");
        let mut played = game.moves[first].clone();
        let weight = |other| if other == square { u16::MAX } else { 0 };
        played.policy = if legal.len() == 1 { Vec::new() } else { legal.map(weight).collect() };
        played.square = square;
        other.moves.push(played);
        sides.push(position.side);
        position = position.play(square).expect("a legal move").pass_if_forced();
    }
    other.score = position.black_view().final_score(game.goal) as i16;
    for (played, side) in other.moves[first..].iter_mut().zip(sides) {
        let black = side == Colour::Black;
        let exact = if black { other.score } else { -other.score } as i8;
        (played.exact, played.value) = (Some(exact), Some(f32::from(exact.signum())));
    }
    other
}

/// With another kernel the distance decides.
#[test]
fn games_of_another_kernel_are_compared_by_distance() {
    let settings = settings(Shape::Square6, TEXT);
    let mut table = Table::new::<Square6>(8);
    let games = play::<Square6>(&settings, &mut table, 0..20);
    let others = play::<Square6>(&settings, &mut Table::new::<Square6>(9), 0..20);
    let mut replayer = Replayer::<Square6>::new(settings, STRICT);
    let mut judge = |record: &GameRecord| {
        let claim = Claim { record, last_net: 0, kernel: "another kernel" };
        let net = Net { version: VERSION, backend: &mut table };
        replayer.replay(&[claim], net, None).expect("predictions")[0]
    };
    for (game, other) in games.iter().zip(&others) {
        match judge(game) {
            Verdict::Close { distance } => {
                let exactly = Distance { compared: distance.compared, ..Distance::default() };
                assert_eq!(distance, exactly);
            }
            verdict => assert!(matches!(verdict, Verdict::NotPossible(_)), "{verdict:?}"),
        }
        let verdict = judge(other);
        let refused = matches!(verdict, Verdict::Different { .. } | Verdict::NotPossible(_));
        assert!(refused, "{verdict:?}");
    }
}

/// Plays a game whose net changes after some predictions.
fn mixed(settings: &SelfPlaySettings, number: u64, change: usize) -> GameRecord {
    let mut tables = [Table::new::<Square6>(8), Table::new::<Square6>(9)];
    let mut solver = Solver::<Square6>::new(settings.goal, 1 << 16);
    let mut game = SelfPlayGame::<Square6>::new(settings, number, 0, 24);
    let mut predictions = Predictions::default();
    let mut count = 0;
    while let GameStatus::NeedsPrediction { board, legal } = game.advance(settings, &mut solver) {
        let table = &mut tables[usize::from(count >= change)];
        table.predict(&[Input::new(board, legal)], &mut predictions).expect("predictions");
        game.apply(predictions.get(0, 36));
        count += 1;
    }
    game.record().clone()
}

/// The nets of this test have nothing in common, so all positions but the one at the change must
/// be compared with the right one. (Without the subtree of an earlier search: it may be of the
/// other net.)
#[test]
fn a_game_whose_net_changed_is_compared_with_both_nets() {
    let text = TEXT.replace("[selfplay]", "tree_reuse = false\n[selfplay]");
    let settings = settings(Shape::Square6, &text);
    let loose = Thresholds { values: 0.1, policies: 0.2, moves: 0.25 };
    let mut replayer = Replayer::<Square6>::new(settings.clone(), loose);
    for change in [0, 30, 100, 150, 10_000] {
        for number in 0..8 {
            let record = mixed(&settings, number, change);
            let claim = |last_net| Claim { record: &record, last_net, kernel: "any" };
            let mut tables = [Table::new::<Square6>(8), Table::new::<Square6>(9)];
            let [first, last] = &mut tables;
            let first = Net { version: VERSION, backend: first };
            let last = Net { version: NetVersion { version: 1, positions: 50 }, backend: last };
            let found = replayer.replay(&[claim(1), claim(2)], first, Some(last));
            let found = found.expect("predictions");
            assert!(
                matches!(found[0], Verdict::Close { .. } | Verdict::NotPossible(_)),
                "{found:?}"
            );
            assert_eq!(found[1], Verdict::NotPossible(Impossible::UnknownNet));
        }
    }
}
