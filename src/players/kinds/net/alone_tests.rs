//! Tests of a net player's search of a single turn.

use rand::SeedableRng as _;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::*;
use crate::eval::positional::Positional;
use crate::game::{Goal, Position, Square, Square8};
use crate::model::weights::Weights;
use crate::players::contestant::PlayerContext;
use crate::players::control::Analysis;
use crate::players::kinds::NetCopies;
use crate::players::kinds::net::NetPlayerSettings;
use crate::players::open::contestant;
use crate::players::player::{Bound, Hint, Player, Source, random_square};
use crate::predict::{Backend, Predictions};
use crate::search::endgame::Solver;
use crate::search::mcts;
use crate::store::shipped;

/// A net that predicts 0 for everything and fails after `failing_from` calls.
struct ZeroNet {
    failing_from: u32,
}

impl Backend for ZeroNet {
    fn predict(
        &mut self,
        inputs: &[Input],
        predictions: &mut Predictions,
    ) -> Result<(), PredictError> {
        if self.failing_from == 0 {
            return Err(PredictError::ServerEnded);
        }
        self.failing_from -= 1;
        let answers = vec![0.0; inputs.len()];
        predictions.policy = vec![0.0; inputs.len() * Square8::SQUARES];
        (predictions.value, predictions.score) = (answers.clone(), answers);
        Ok(())
    }

    fn load(&mut self, _: &Weights) -> Result<(), PredictError> {
        Ok(())
    }

    fn describe(&self) -> String {
        "zero".into()
    }
}

fn player(failures: [u32; 3], time: Duration) -> NetPlayer<Square8> {
    let [own, others @ ..] =
        failures.map(|failing_from| Box::new(ZeroNet { failing_from }) as Box<dyn Backend>);
    let time = Some(Time::Move(time));
    let settings =
        NetPlayerSettings { time, parallel: 6, solvers: 1, ..NetPlayerSettings::default() };
    let net_copies = NetCopies::new(own, others.into());
    NetPlayer::new("net".into(), Goal::Most, net_copies, settings, 1)
}

fn turn<'a>() -> Turn<'a, Square8> {
    let start = Position::start();
    Turn { game: 0, start, moves: &[], position: start }
}

#[test]
fn the_predictions_of_all_leaves_are_applied() {
    let mut player = player([u32::MAX; 3], Duration::from_millis(30));
    let result = player.think_alone(&turn(), 1, &mut Control::plain()).expect("a search");
    let TurnResult::Searched(search, done) = result else { panic!("nothing to solve here") };
    assert!(player.pending.iter().all(Vec::is_empty));
    // The visits of the root's moves add up to the number of simulations, less the root's own.
    let visits: u32 = search.tree().root_moves().map(|stats| stats.visits).sum();
    assert_eq!((visits + 1, search.tree().visits()), (done, done));
    assert!(done > 0);
}

/// A player with a number of simulations instead of a time limit.
fn untimed(simulations: u32, solve_empties: u32) -> NetPlayer<Square8> {
    let mut player = player([u32::MAX; 3], Duration::ZERO);
    let search = mcts::Options { simulations, solve_empties, ..Default::default() };
    player.settings = NetPlayerSettings { time: None, search, ..player.settings };
    player
}

#[test]
fn think_and_choose_give_the_same_move() {
    for simulations in [2, 77, 700] {
        let choice = untimed(simulations, 12).choose(&[turn()]).remove(0).expect("a move");
        let result = untimed(simulations, 12).think(&turn(), &mut Control::plain());
        let result = result.expect("a move");
        assert_eq!((result.square, result.depth), (choice.square, choice.depth));
        assert_eq!((choice.score, result.score), (None, Some(0.0)), "an even chance");
    }
}

/// Without the flag it would make four million simulations.
#[test]
fn a_search_that_is_stopped_has_a_move() {
    for time in [None, Some(Time::Move(Duration::from_secs(600)))] {
        let mut player = untimed(4_000_000, 12);
        player.settings.time = time;
        let mut control = Control::plain();
        control.stop.set();
        let choice = player.think(&turn(), &mut control).expect("a move");
        assert!(turn().position.board.legal().contains(choice.square));
        assert!(choice.nodes <= 6, "{choice:?}");
        assert!(player.pending.iter().all(Vec::is_empty));
        // The next search does not stop early.
        player.settings.search.simulations = 50;
        player.settings.time = None;
        assert_eq!(player.choose(&[turn()]).remove(0).expect("a move").nodes, 50);
    }
}

#[test]
fn reports_improve_until_the_search_is_stopped() {
    for time in [None, Some(Time::Move(Duration::from_secs(600)))] {
        let mut player = untimed(u32::MAX, 12);
        player.settings.time = time;
        let stop = Stop::default();
        let mut nodes = Vec::new();
        let mut sink = |analysis: &Analysis| {
            assert_eq!(analysis.hints.len(), 2);
            nodes.push(analysis.nodes);
            if nodes.len() == 5 {
                stop.set();
            }
        };
        let effort = Effort { endless: true, ..Effort::default() };
        let control = Control::new(stop.clone(), effort);
        let mut control = control.reporting(Duration::ZERO, &mut sink);
        let analysis = player.analyze(&turn(), 2, &mut control).expect("hints");
        nodes.push(analysis.nodes);
        assert!(nodes.len() == 6 && nodes.is_sorted(), "{nodes:?}");
    }
}

/// A graphical board may analyze one position for hours: the tree must not grow without limit.
#[test]
fn repeated_endless_searches_share_one_limit() {
    let searched = |is_tree_size, deadline: Option<Instant>| {
        let mut player = untimed(1, 0);
        let mut search = TreeSearch::new(Goal::Most, &player.settings.search);
        let budget = Budget { time: None, simulations: 500, is_tree_size };
        for _ in 0..4 {
            let mut control = Control::plain();
            let done =
                player.search_alone(&turn(), &mut search, (budget, deadline), 1, &mut control);
            done.expect("a search");
        }
        search.tree().visits()
    };
    for deadline in [None, Some(Instant::now() + Duration::from_secs(600))] {
        // Each search makes at least one simulation.
        assert!((500..=503).contains(&searched(true, deadline)), "{deadline:?}");
        assert_eq!(searched(false, deadline), 4 * 500, "{deadline:?}");
    }
}

#[test]
fn levels_double_the_simulations_every_two_steps() {
    let of_levels = [2, 4, 8, 12, 16].map(simulations_of_level);
    assert_eq!(of_levels, [50, 100, 400, 1_600, 6_400]);
    assert!((1..=60).map(simulations_of_level).is_sorted());
    assert_eq!(simulations_of_level(u32::MAX), MOST_SIMULATIONS);
    let mut player = untimed(3, 0);
    let effort = Effort { level: Some(4), ..Effort::default() };
    let mut control = Control::new(Stop::default(), effort);
    assert_eq!(player.think(&turn(), &mut control).expect("a move").nodes, 100);
    assert_eq!(Player::level(&player, 4).as_deref(), Some("simulations=100"));
    player.settings.time = Some(Time::Move(Duration::ZERO));
    assert_eq!(Player::level(&player, 4), None, "it has a time limit");
}

/// A time limit and a number of simulations apply together.
#[test]
fn the_shorter_limit_ends_a_search() {
    let mut player = untimed(1_000_000, 12);
    let hurry = Effort { time: Some(Duration::from_millis(5)), ..Effort::default() };
    let mut control = Control::new(Stop::default(), hurry);
    let choice = player.think(&turn(), &mut control).expect("a move");
    assert!(choice.nodes < 1_000_000, "{choice:?}");
    let patient = Effort { time: Some(Duration::from_secs(600)), ..Effort::default() };
    player.settings.search.simulations = 40;
    let mut control = Control::new(Stop::default(), patient);
    assert_eq!(player.think(&turn(), &mut control).expect("a move").nodes, 40);
}

/// A random position with `empties` empty squares and several legal moves, and the moves to it.
fn late(number: u64, empties: u32) -> (Vec<Square>, Position<Square8>) {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(number);
    loop {
        let (mut moves, mut position) = (Vec::new(), Position::start());
        while position.board.empties() > empties
            && let Some(square) = random_square(position.board.legal(), &mut random)
        {
            moves.push(square);
            position = position.play(square).expect("a legal move").pass_if_forced();
        }
        if position.board.legal().len() > 1 {
            return (moves, position);
        }
    }
}

/// The exact score of a move, from a solver of its own.
fn exact_score(position: Position<Square8>, square: Square) -> f32 {
    let next = position.play(square).expect("a legal move").pass_if_forced();
    let score = Solver::new(Goal::Most, 1 << 16).score(next.board) as f32;
    if next.side == position.side { score } else { -score }
}

#[test]
fn every_move_of_a_solved_position_has_its_score_or_a_bound() {
    let (mut exact, mut bounds) = (0, 0);
    for number in 0..30 {
        let (moves, position) = late(number, 13);
        let turn = Turn { game: 0, start: Position::start(), moves: &moves, position };
        for stopped in [false, true] {
            let mut player = untimed(100, 20);
            let result = player.think_alone(&turn, 1, &mut Control::plain());
            let Ok(TurnResult::Solved { score, line }) = result else { panic!("not solved") };
            let mut control = Control::plain();
            if stopped {
                control.stop.set();
            }
            let hints = player.solved_hints(&turn, (score, line), None, 99, &mut control);
            let hints = hints.expect("hints");
            assert_eq!(hints.len(), position.board.legal().len());
            for hint in &hints {
                let (truth, claimed) =
                    (exact_score(position, hint.line[0]), hint.score.expect("a score"));
                match hint.bound {
                    Bound::Exact => assert_eq!(claimed, truth),
                    Bound::AtMost => assert!(truth <= claimed, "{hint:?}: {truth}"),
                    _ => panic!("{hint:?}"),
                }
                exact += (hint.bound == Bound::Exact) as u32;
                bounds += (hint.bound == Bound::AtMost) as u32;
            }
            assert!(hints.iter().all(|hint| hint.score <= hints[0].score), "{hints:?}");
            let proven = hints.iter().filter(|hint| hint.bound == Bound::Exact);
            assert!(proven.is_sorted_by(|a, b| a.score >= b.score), "{hints:?}");
        }
    }
    assert!(exact > 100 && bounds > 100, "{exact}, {bounds}");
}

/// An earlier version gave one hint in solved positions, for the best move only.
#[test]
fn a_solved_position_has_hints_for_all_moves() {
    let (moves, position) = late(3, 12);
    let turn = Turn { game: 0, start: Position::start(), moves: &moves, position };
    let mut player = untimed(100, 20);
    let legal = position.board.legal().len();
    let hints = player.hints(&turn, 99).expect("hints");
    assert_eq!(hints.len(), legal);
    assert!(hints.iter().all(|hint| hint.bound == Bound::Exact), "{hints:?}");
    assert_eq!(player.hints(&turn, 2).expect("hints"), hints[..2]);
}

/// Solving may take seconds; until then there is what the net predicts.
#[test]
fn the_predictions_come_before_the_exact_scores() {
    let (moves, position) = late(3, 12);
    let turn = Turn { game: 0, start: Position::start(), moves: &moves, position };
    let mut reports = Vec::new();
    let mut sink = |analysis: &Analysis| reports.push(analysis.clone());
    let effort = Effort { endless: true, ..Effort::default() };
    let control = Control::new(Stop::default(), effort);
    let mut control = control.reporting(Duration::ZERO, &mut sink);
    let last = untimed(100, 20).analyze(&turn, 99, &mut control).expect("hints");
    let legal = position.board.legal().len();
    let first = &reports[0].hints;
    assert_eq!((first.len(), last.hints.len()), (legal, legal));
    assert!(first.iter().all(|hint| hint.source == Source::Policy), "{first:?}");
    let sum: f32 = first.iter().filter_map(|hint| hint.policy).sum();
    assert!((sum - 1.0).abs() < 1e-4, "{sum}");
    // The net predicts a draw everywhere, and has no score head.
    let estimated = first.iter().filter(|hint| hint.bound == Bound::Estimated);
    assert!(estimated.clone().count() > 0);
    for hint in estimated {
        assert_eq!((hint.win_chance, hint.score), (Some(0.5), None), "{hint:?}");
    }
    let is_solved = |hint: &Hint| hint.source == Source::Solver && hint.bound == Bound::Exact;
    assert!(last.hints.iter().all(is_solved), "{last:?}");
}

#[test]
fn hints_do_not_count_against_the_time_for_a_game() {
    let mut player = player([u32::MAX; 3], Duration::ZERO);
    player.settings.time = Some(Time::Game(Duration::from_millis(500)));
    let hints = player.hints(&turn(), 3).expect("hints");
    assert_eq!((hints.len(), player.spent.get(&0)), (3, None));
    let choice = player.choose(&[turn()]).remove(0).expect("a move");
    let spent = player.spent[&0].as_secs_f64();
    assert!(spent >= choice.seconds && choice.seconds > 0.0, "{spent}");
}

#[test]
fn parallel_limits_the_threads_that_get_leaves() {
    for (parallel, used) in [(1, [true, false, false]), (2, [true, true, false])] {
        // An unused helper would fail at its first call.
        let failures = used.map(|used| if used { u32::MAX } else { 0 });
        let mut player = player(failures, Duration::from_millis(20));
        player.settings.parallel = parallel;
        assert!(player.think_alone(&turn(), 1, &mut Control::plain()).is_ok(), "{parallel}");
    }
}

#[test]
fn a_failing_net_leaves_no_batch_in_progress() {
    // Either this thread's copy fails, or a helper's, or all of them.
    for failures in [[3, u32::MAX, u32::MAX], [u32::MAX, 3, u32::MAX], [5, 5, 5]] {
        // The time limit is far longer than the time until the failure.
        let mut player = player(failures, Duration::from_secs(600));
        assert!(player.think_alone(&turn(), 1, &mut Control::plain()).is_err(), "{failures:?}");
        assert!(player.pending.iter().all(Vec::is_empty), "{failures:?}");
        assert!(player.think_alone(&turn(), 1, &mut Control::plain()).is_err(), "{failures:?}");
    }
}

/// A player without a working net that leaves positions with at most `empties` empty squares to
/// alpha-beta.
fn with_handover(empties: u32, time: Time) -> NetPlayer<Square8> {
    let mut player = player([0; 3], Duration::ZERO);
    player.settings.time = Some(time);
    player.settings.search.solve_empties = 0;
    let evaluator = Positional::new(Goal::Most).into();
    player.with_handover(empties, &evaluator).expect("memory")
}

#[test]
fn alpha_beta_plays_late_positions_and_the_net_all_others() {
    for number in 0..20 {
        let (moves, position) = late(number, 12);
        let turn = Turn { game: 0, start: Position::start(), moves: &moves, position };
        let time = Time::Move(Duration::from_secs(600));
        let choice = with_handover(12, time).choose(&[turn]).remove(0).expect("a move");
        let best = position.board.legal().map(|square| exact_score(position, square));
        let best = best.fold(f32::NEG_INFINITY, f32::max);
        assert_eq!(choice.score, Some(best), "alpha-beta sees to the end");
        assert_eq!(exact_score(position, choice.square), best);
        let hints = with_handover(12, time).hints(&turn, 99).expect("hints");
        assert_eq!((hints.len(), hints[0].score), (position.board.legal().len(), Some(best)));
        assert!(hints.iter().all(|hint| hint.source == Source::AlphaBeta), "{hints:?}");
        let refused = with_handover(11, time).choose(&[turn]).remove(0);
        assert!(matches!(refused, Err(PlayerError::Network { .. })), "the net is asked");
    }
}

#[test]
fn alpha_beta_has_the_time_of_the_move_and_it_counts_for_the_game() {
    let (moves, position) = late(1, 40);
    let turn = Turn { game: 0, start: Position::start(), moves: &moves, position };
    let mut player = with_handover(60, Time::Game(Duration::from_millis(600)));
    let choice = player.choose(&[turn]).remove(0).expect("a move");
    assert!(player.spent[&0].as_secs_f64() >= choice.seconds && choice.seconds > 0.0);
    // A caller may give less time, and a flag ends the search.
    let hurry = Effort { time: Some(Duration::from_millis(5)), ..Effort::default() };
    let mut player = with_handover(60, Time::Move(Duration::from_secs(600)));
    let mut control = Control::new(Stop::default(), hurry);
    assert!(player.think(&turn, &mut control).is_ok());
    assert_eq!(control.effort, hurry, "the caller's effort is as before");
    let mut control = Control::plain();
    control.stop.set();
    assert!(player.think(&turn, &mut control).is_ok());
}

#[test]
fn only_a_net_that_reads_evaluations_leaves_late_positions_to_alpha_beta_by_default() {
    let name = |net: &str, keys: &str| {
        let folder = shipped::folder(net).expect("it is shipped");
        let spec = format!("net:\"{}\"{keys}", folder.display()).parse().expect("a player");
        let context = PlayerContext::new(Goal::Most);
        let opened = contestant::<Square8>(&spec, &context).expect("a player");
        (opened.open)(1).expect("a player");
        opened.name
    };
    for (net, keys, wanted) in [
        ("checkpoints/8x8-hour", ",movetime=1s", true),
        ("checkpoints/8x8-hour", "", false),
        ("checkpoints/8x8", ",movetime=1s", false),
        ("checkpoints/8x8", ",movetime=1s,alphabeta_empties=20", true),
    ] {
        assert_eq!(name(net, keys).contains("alphabeta_empties"), wanted, "{net}{keys}");
    }
}
