//! Tests of `alone.rs`.

use rand::SeedableRng as _;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::*;
use crate::arena::control::Analysis;
use crate::arena::player::{Bound, Player, any_of};
use crate::arena::players::NetCopies;
use crate::arena::players::net::Thinking;
use crate::game::{Goal, Position, Square, Square8};
use crate::net::inference::{Backend, Outputs};
use crate::net::weights::Weights;
use crate::search::endgame::Solver;
use crate::search::mcts;

/// A net without an opinion, which fails from its `left`-th answer on.
struct Indifferent {
    left: u32,
}

impl Backend for Indifferent {
    fn evaluate(&mut self, inputs: &[Input], outputs: &mut Outputs) -> Result<(), InferenceError> {
        if self.left == 0 {
            return Err(InferenceError::ServerEnded);
        }
        self.left -= 1;
        let answers = vec![0.0; inputs.len()];
        outputs.policy = vec![0.0; inputs.len() * Square8::SQUARES];
        (outputs.value, outputs.score) = (answers.clone(), answers);
        Ok(())
    }

    fn load(&mut self, _: &Weights) -> Result<(), InferenceError> {
        Ok(())
    }

    fn describe(&self) -> String {
        "indifferent".into()
    }
}

fn player(lefts: [u32; 3], time: Duration) -> NetPlayer<Square8> {
    let [own, others @ ..] = lefts.map(|left| Box::new(Indifferent { left }) as Box<dyn Backend>);
    let time = Some(Time::Move(time));
    let thinking = Thinking { time, parallel: 6, solvers: 1, ..Thinking::default() };
    let net_copies = NetCopies::new(own, others.into());
    NetPlayer::new("net".into(), Goal::Most, net_copies, thinking, 1)
}

fn turn<'a>() -> Turn<'a, Square8> {
    let start = Position::start();
    Turn { game: 0, start, moves: &[], position: start }
}

#[test]
fn every_leaf_that_was_asked_about_is_answered() {
    let mut player = player([u32::MAX; 3], Duration::from_millis(30));
    let thought = player.think_alone(&turn(), 1, &mut Control::plain()).expect("a search");
    let Thought::Searched(search, done) = thought else { panic!("nothing to solve here") };
    assert!(player.flights.iter().all(Vec::is_empty));
    // All four moves of the start were looked at, and all of their visits have come back.
    let visits: u32 = search.tree().root_moves().map(|stats| stats.visits).sum();
    assert_eq!((visits + 1, search.tree().visits()), (done, done));
    assert!(done > 0);
}

/// A player with a number of simulations and the solver.
fn counting(simulations: u32, solve_empties: u32) -> NetPlayer<Square8> {
    let mut player = player([u32::MAX; 3], Duration::ZERO);
    let search = mcts::Options { simulations, solve_empties, ..Default::default() };
    player.thinking = Thinking { time: None, search, ..player.thinking };
    player
}

#[test]
fn the_move_is_that_of_a_match() {
    for simulations in [2, 77, 700] {
        let choice = counting(simulations, 12).choose(&[turn()]).remove(0).expect("a move");
        let thought = counting(simulations, 12).think(&turn(), &mut Control::plain());
        let thought = thought.expect("a move");
        assert_eq!((thought.square, thought.depth), (choice.square, choice.depth));
        assert_eq!((choice.score, thought.score), (None, Some(0.0)), "an even chance");
    }
}

/// Without the flag it would make four million simulations.
#[test]
fn a_search_that_is_stopped_has_a_move() {
    for time in [None, Some(Time::Move(Duration::from_secs(600)))] {
        let mut player = counting(4_000_000, 12);
        player.thinking.time = time;
        let mut control = Control::plain();
        control.stop.set();
        let choice = player.think(&turn(), &mut control).expect("a move");
        assert!(turn().position.board.legal().contains(choice.square));
        assert!(choice.nodes <= 6, "{choice:?}");
        assert!(player.flights.iter().all(Vec::is_empty));
        // The next search is not stopped.
        player.thinking.search.simulations = 50;
        player.thinking.time = None;
        assert_eq!(player.choose(&[turn()]).remove(0).expect("a move").nodes, 50);
    }
}

#[test]
fn reports_improve_until_the_search_is_stopped() {
    for time in [None, Some(Time::Move(Duration::from_secs(600)))] {
        let mut player = counting(u32::MAX, 12);
        player.thinking.time = time;
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

/// A board may ask about one position all night: the tree must not grow by each question.
#[test]
fn repeated_searches_without_a_number_of_simulations_share_one_limit() {
    let searched = |counts_kept, until: Option<Instant>| {
        let mut player = counting(1, 0);
        let mut search = TreeSearch::new(Goal::Most, &player.thinking.search);
        let budget = Budget { time: None, simulations: 500, counts_kept };
        for _ in 0..4 {
            let mut control = Control::plain();
            let done = player.search_alone(&turn(), &mut search, (budget, until), 1, &mut control);
            done.expect("a search");
        }
        search.tree().visits()
    };
    for until in [None, Some(Instant::now() + Duration::from_secs(600))] {
        // Each search makes one simulation at least.
        assert!((500..=503).contains(&searched(true, until)), "{until:?}");
        assert_eq!(searched(false, until), 4 * 500, "{until:?}");
    }
}

#[test]
fn levels_double_the_simulations_every_two_steps() {
    let of_levels = [2, 4, 8, 12, 16].map(simulations_of_level);
    assert_eq!(of_levels, [50, 100, 400, 1_600, 6_400]);
    assert!((1..=60).map(simulations_of_level).is_sorted());
    assert_eq!(simulations_of_level(u32::MAX), MOST_SIMULATIONS);
    let mut player = counting(3, 0);
    let effort = Effort { level: Some(4), ..Effort::default() };
    let mut control = Control::new(Stop::default(), effort);
    assert_eq!(player.think(&turn(), &mut control).expect("a move").nodes, 100);
    assert_eq!(Player::level(&player, 4).as_deref(), Some("simulations=100"));
    player.thinking.time = Some(Time::Move(Duration::ZERO));
    assert_eq!(Player::level(&player, 4), None, "it goes by the clock");
}

/// A time limit ends a search that has a number of simulations, and the other way round.
#[test]
fn the_shorter_limit_ends_a_search() {
    let mut player = counting(1_000_000, 12);
    let hurry = Effort { time: Some(Duration::from_millis(5)), ..Effort::default() };
    let mut control = Control::new(Stop::default(), hurry);
    let choice = player.think(&turn(), &mut control).expect("a move");
    assert!(choice.nodes < 1_000_000, "{choice:?}");
    let patient = Effort { time: Some(Duration::from_secs(600)), ..Effort::default() };
    player.thinking.search.simulations = 40;
    let mut control = Control::new(Stop::default(), patient);
    assert_eq!(player.think(&turn(), &mut control).expect("a move").nodes, 40);
}

/// A position with so many empty squares, and the moves that lead to it.
fn late(number: u64, empties: u32) -> (Vec<Square>, Position<Square8>) {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(number);
    loop {
        let (mut moves, mut position) = (Vec::new(), Position::start());
        while position.board.empties() > empties
            && let Some(square) = any_of(position.board.legal(), &mut random)
        {
            moves.push(square);
            position = position.play(square).expect("a legal move").settled();
        }
        if position.board.legal().len() > 1 {
            return (moves, position);
        }
    }
}

/// What a move is worth, by an own solver.
fn worth(position: Position<Square8>, square: Square) -> f32 {
    let next = position.play(square).expect("a legal move").settled();
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
            let mut player = counting(100, 20);
            let thought = player.think_alone(&turn, 1, &mut Control::plain());
            let Ok(Thought::Solved { score, line }) = thought else { panic!("not solved") };
            let mut control = Control::plain();
            if stopped {
                control.stop.set();
            }
            let hints = player.solved_hints(&turn, (score, line), None, 99, &mut control);
            let hints = hints.expect("hints");
            assert_eq!(hints.len(), position.board.legal().len());
            for hint in &hints {
                let (truth, claimed) =
                    (worth(position, hint.line[0]), hint.score.expect("a score"));
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

/// Once there was one row, for the best move alone.
#[test]
fn hints_do_not_collapse_once_the_position_is_solved() {
    let (moves, position) = late(3, 12);
    let turn = Turn { game: 0, start: Position::start(), moves: &moves, position };
    let mut player = counting(100, 20);
    let legal = position.board.legal().len();
    let hints = player.hints(&turn, 99).expect("hints");
    assert_eq!(hints.len(), legal);
    assert!(hints.iter().all(|hint| hint.bound == Bound::Exact), "{hints:?}");
    assert_eq!(player.hints(&turn, 2).expect("hints"), hints[..2]);
}

#[test]
fn advice_takes_nothing_of_a_game_s_time() {
    let mut player = player([u32::MAX; 3], Duration::ZERO);
    player.thinking.time = Some(Time::Game(Duration::from_millis(500)));
    let hints = player.hints(&turn(), 3).expect("hints");
    assert_eq!((hints.len(), player.spent.get(&0)), (3, None));
    let choice = player.choose(&[turn()]).remove(0).expect("a move");
    let spent = player.spent[&0].as_secs_f64();
    assert!(spent >= choice.seconds && choice.seconds > 0.0, "{spent}");
}

#[test]
fn few_leaves_at_a_time_are_kept_to_by_many_threads() {
    for (parallel, asked) in [(1, [true, false, false]), (2, [true, true, false])] {
        // A helper that is asked fails at once.
        let lefts = asked.map(|asked| if asked { u32::MAX } else { 0 });
        let mut player = player(lefts, Duration::from_millis(20));
        player.thinking.parallel = parallel;
        assert!(player.think_alone(&turn(), 1, &mut Control::plain()).is_ok(), "{parallel}");
    }
}

#[test]
fn a_net_that_fails_leaves_nothing_under_way() {
    // Any of them may fail: this thread's copy, a helper's, or all.
    for lefts in [[3, u32::MAX, u32::MAX], [u32::MAX, 3, u32::MAX], [5, 5, 5]] {
        // Far more time than it takes until one has failed.
        let mut player = player(lefts, Duration::from_secs(600));
        assert!(player.think_alone(&turn(), 1, &mut Control::plain()).is_err(), "{lefts:?}");
        assert!(player.flights.iter().all(Vec::is_empty), "{lefts:?}");
        assert!(player.think_alone(&turn(), 1, &mut Control::plain()).is_err(), "{lefts:?}");
    }
}
