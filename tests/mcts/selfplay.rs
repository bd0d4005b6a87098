//! Self-play games with a fixed function in place of a net.

use outflank::dispatch;
use outflank::game::record::GameRecord;
use outflank::game::{Colour, Geometry, Goal, Shape, Square8};
use outflank::search::endgame::Solver;
use outflank::search::mcts::{Options, Root};
use outflank::train::game::{GameStatus, SelfPlayGame, SelfPlaySettings, Work};
use outflank::train::selfplay;
use outflank::train::selfplay::Opening;

use crate::common::{Net, hashed, solver};

fn settings(goal: Goal, search: Options, selfplay: selfplay::Options) -> SelfPlaySettings {
    SelfPlaySettings { seed: 5, goal, search, selfplay }
}

/// Plays a game to its end.
fn play<G: Geometry>(
    settings: &SelfPlaySettings,
    game: &mut SelfPlayGame<G>,
    solver: &mut Solver<G>,
    net: Net<G>,
) -> Work {
    while let GameStatus::NeedsPrediction { board, legal } = game.advance(settings, solver) {
        assert_eq!(board.legal(), legal);
        game.apply(net(board).prediction());
    }
    game.work
}

fn record<G: Geometry>(settings: &SelfPlaySettings, id: u64) -> GameRecord {
    let mut game = SelfPlayGame::<G>::new(settings, id, 3, settings.search.simulations);
    play(settings, &mut game, &mut solver(settings.goal), hashed);
    game.restart(settings, id + 1, 3, 1)
}

fn games_follow_the_rules<G: Geometry>(goal: Goal, root: Root, opening: Opening) {
    let search = Options { root, simulations: 12, solve_empties: 6, ..Options::default() };
    let selfplay = selfplay::Options {
        opening,
        full_share: 0.5,
        fast_simulations: 4,
        ..selfplay::Options::default()
    };
    let settings = settings(goal, search, selfplay);
    let mut solver = solver::<G>(goal);
    for id in 0..4 {
        let record = record::<G>(&settings, id);
        let positions = record.positions::<G>().expect("a game by the settings");
        assert_eq!((record.id, record.net_version), (id, 3));
        assert!(record.opening_moves as u32 <= settings.selfplay.opening_plies);
        for (place, (played, position)) in record.moves.iter().zip(&positions).enumerate() {
            let is_opening = place < record.opening_moves as usize;
            assert_eq!(played.value.is_none(), is_opening);
            assert!(played.value.is_none_or(|value| (-1.0..=1.0).contains(&value)));
            if is_opening {
                assert!(played.policy.is_empty() && played.exact.is_none());
            }
            if let Some(exact) = played.exact {
                assert_eq!(exact as i32, solver.score(position.board), "move {place} of {id}");
                assert_eq!(played.value, Some(exact.signum() as f32));
            }
            if !played.policy.is_empty() {
                assert!(played.policy.contains(&u16::MAX));
            }
        }
        // From the first solved position on, the game is played perfectly.
        let solved = record.moves.iter().position(|played| played.exact.is_some());
        let first = solved.expect("the last moves are solved");
        let exact = record.moves[first].exact.expect("solved") as i16;
        let black = if positions[first].side == Colour::Black { exact } else { -exact };
        let plays_out = positions[first].board.empties() <= settings.search.solve_empties;
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
        let settings = settings(Goal::Most, search, selfplay::Options::default());
        let wanted = record::<Square8>(&settings, 9);
        assert_eq!(record::<Square8>(&settings, 9), wanted);
        assert_ne!(record::<Square8>(&settings, 10).moves, wanted.moves);
        // A game that replaces an earlier one, with a small solver that has solved other positions.
        // This may change which of equally good moves the solver finds, and nothing else.
        let mut solver = Solver::new(Goal::Most, 1 << 9);
        let mut game = SelfPlayGame::<Square8>::new(&settings, 4, 3, 16);
        play(&settings, &mut game, &mut solver, hashed);
        game.restart(&settings, 9, 3, 16);
        play(&settings, &mut game, &mut solver, hashed);
        let found = game.restart(&settings, 0, 0, 1);
        let solved = wanted.moves.iter().position(|played| played.exact.is_some());
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
    let settings = settings(Goal::Most, search, selfplay::Options::default());
    let mut game = SelfPlayGame::<Square8>::new(&settings, 0, 0, 16);
    let work = play(&settings, &mut game, &mut solver(Goal::Most), hashed);
    assert!(work.searches > 30 && work.searches <= 60);
    assert!(work.simulations > 10 * work.searches && work.simulations <= 16 * work.searches);
    assert!(work.evaluations <= work.simulations);
}
