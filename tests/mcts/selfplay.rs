//! Games of self-play with a table for a net.

use outflank::dispatch;
use outflank::game::record::GameRecord;
use outflank::game::{Colour, Geometry, Goal, Shape, Square8};
use outflank::search::endgame::Solver;
use outflank::search::mcts::{Options, Root};
use outflank::train::game::{GameStatus, SelfPlayGame, SelfPlaySettings, Work};
use outflank::train::selfplay;
use outflank::train::selfplay::Opening;

use crate::common::{Net, hashed, solver};

fn rules(goal: Goal, search: Options, selfplay: selfplay::Options) -> SelfPlaySettings {
    SelfPlaySettings { seed: 5, goal, search, selfplay }
}

/// Plays a game to its end.
fn play<G: Geometry>(
    rules: &SelfPlaySettings,
    game: &mut SelfPlayGame<G>,
    solver: &mut Solver<G>,
    net: Net<G>,
) -> Work {
    while let GameStatus::NeedsPrediction { board, legal } = game.advance(rules, solver) {
        assert_eq!(board.legal(), legal);
        game.apply(rules, net(board).answer());
    }
    game.work
}

fn record<G: Geometry>(rules: &SelfPlaySettings, id: u64) -> GameRecord {
    let mut game = SelfPlayGame::<G>::new(rules, id, 3, rules.search.simulations);
    play(rules, &mut game, &mut solver(rules.goal), hashed);
    game.restart(rules, id + 1, 3, 1)
}

fn games_follow_the_rules<G: Geometry>(goal: Goal, root: Root, opening: Opening) {
    let search = Options { root, simulations: 12, solve_empties: 6, ..Options::default() };
    let selfplay = selfplay::Options {
        opening,
        full_share: 0.5,
        fast_simulations: 4,
        ..selfplay::Options::default()
    };
    let rules = rules(goal, search, selfplay);
    let mut solver = solver::<G>(goal);
    for id in 0..4 {
        let record = record::<G>(&rules, id);
        let positions = record.positions::<G>().expect("a game by the rules");
        assert_eq!((record.id, record.net_version), (id, 3));
        assert!(record.opening_moves as u32 <= rules.selfplay.opening_plies);
        for (place, (made, position)) in record.moves.iter().zip(&positions).enumerate() {
            assert!((-1.0..=1.0).contains(&made.value));
            if place < record.opening_moves as usize {
                assert!(made.policy.is_empty() && made.exact.is_none());
            }
            if let Some(exact) = made.exact {
                assert_eq!(exact as i32, solver.score(position.board), "move {place} of {id}");
                assert_eq!(made.value, exact.signum() as f32);
            }
            if !made.policy.is_empty() {
                assert!(made.policy.contains(&u16::MAX));
            }
        }
        // From the first solved position on play is perfect.
        let solved = record.moves.iter().position(|made| made.exact.is_some());
        let first = solved.expect("the last moves are solved");
        let exact = record.moves[first].exact.expect("solved") as i16;
        let black = if positions[first].side == Colour::Black { exact } else { -exact };
        let plays_out = positions[first].board.empties() <= rules.search.solve_empties;
        assert!(!plays_out || record.score == black, "{record:?}");
    }
}

#[test]
fn games_replay_by_the_rules() {
    for shape in Shape::ALL {
        for goal in [Goal::Most, Goal::Fewest] {
            for root in [Root::Puct, Root::Gumbel] {
                for opening in [Opening::Random, Opening::Policy] {
                    dispatch!(shape, G => games_follow_the_rules::<G>(goal, root, opening));
                }
            }
        }
    }
}

#[test]
fn the_same_number_gives_the_same_game_whatever_was_played_before() {
    for root in [Root::Puct, Root::Gumbel] {
        let search = Options { root, simulations: 16, solve_empties: 13, ..Options::default() };
        let rules = rules(Goal::Most, search, selfplay::Options::default());
        let wanted = record::<Square8>(&rules, 9);
        assert_eq!(record::<Square8>(&rules, 9), wanted);
        assert_ne!(record::<Square8>(&rules, 10).moves, wanted.moves);
        // In the place of an earlier game, with a solver that has seen other positions and forgets
        // most of them. It may choose among equally good moves, no more.
        let mut solver = Solver::new(Goal::Most, 1 << 9);
        let mut game = SelfPlayGame::<Square8>::new(&rules, 4, 3, 16);
        play(&rules, &mut game, &mut solver, hashed);
        game.restart(&rules, 9, 3, 16);
        play(&rules, &mut game, &mut solver, hashed);
        let found = game.restart(&rules, 0, 0, 1);
        let solved = wanted.moves.iter().position(|made| made.exact.is_some());
        let solved = solved.expect("the last moves are solved");
        assert_eq!(found.moves[..solved], wanted.moves[..solved]);
        assert_eq!(
            (found.score, found.moves[solved].exact),
            (wanted.score, wanted.moves[solved].exact)
        );
    }
}

#[test]
fn work_is_counted() {
    let search = Options { simulations: 16, solve_empties: 8, ..Options::default() };
    let rules = rules(Goal::Most, search, selfplay::Options::default());
    let mut game = SelfPlayGame::<Square8>::new(&rules, 0, 0, 16);
    let work = play(&rules, &mut game, &mut solver(Goal::Most), hashed);
    assert!(work.searches > 30 && work.searches <= 60);
    assert!(work.simulations > 10 * work.searches && work.simulations <= 16 * work.searches);
    assert!(work.evaluations <= work.simulations);
}
