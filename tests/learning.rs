//! Self-play, replay window and learner together, without threads: small nets on the 6x6 board.

use outflank::game::record::GameRecord;
use outflank::game::{Colour, Goal, Shape, Square6};
use outflank::net::inference::Device;
use outflank::net::{Net, NetSpec, TowerOptions, inference};
use outflank::predict::{LocalPredictor, Server};
use outflank::search::mcts;
use outflank::train::game::{SelfPlaySettings, Work};
use outflank::train::learner::{self, Learner as _, RunProgress};
use outflank::train::learners::net::NetLearner;
use outflank::train::replay::{self, Batch, Replay};
use outflank::train::seeds::{Purpose, stream};
use outflank::train::selfplay::{self, Actor, GameNumbers, NetVersion};

type G = Square6;

fn spec() -> NetSpec {
    let options = TowerOptions { blocks: 2, channels: 16, ..Default::default() };
    NetSpec { shape: Shape::Square6, options, evaluator: None }
}

fn settings() -> SelfPlaySettings {
    SelfPlaySettings {
        seed: 11,
        goal: Goal::Most,
        search: mcts::Options { simulations: 16, solve_empties: 8, ..Default::default() },
        selfplay: selfplay::Options { games_per_actor: 8, opening_plies: 4, ..Default::default() },
    }
}

fn play(settings: &SelfPlaySettings, games: usize) -> Vec<GameRecord> {
    play_counted(settings, games, NetVersion::default()).0
}

/// The first games of an actor whose net has this `version`, and the actor's work.
fn play_counted(
    settings: &SelfPlaySettings,
    games: usize,
    version: NetVersion,
) -> (Vec<GameRecord>, Work) {
    let net = Net::new(&spec(), 1, Device::Cpu.into());
    let options = inference::Options { precision: inference::Precision::F32, ..Default::default() };
    let backend = inference::open(&spec(), &net.weights(), &options, "cpu").expect("a net");
    let numbers = GameNumbers::from(0);
    let predictor = Box::new(LocalPredictor::new(backend));
    let mut actor = Actor::<G>::new(settings.clone(), predictor, 1, &numbers, version);
    let mut finished = Vec::new();
    while finished.len() < games {
        actor.step(&numbers, &mut finished).expect("an evaluation");
    }
    finished.truncate(games);
    (finished, actor.take_work())
}

#[test]
fn actors_share_a_server_with_two_groups_each() {
    let settings = settings();
    let net = Net::new(&spec(), 1, Device::Cpu.into());
    let weights = std::sync::Arc::new(net.weights());
    let options = inference::Options { precision: inference::Precision::F32, ..Default::default() };
    let backend = |_| inference::open(&spec(), &weights, &options, "cpu").expect("a net");
    let server = Server::start((0..2).map(backend).collect(), 8).expect("a server");
    let numbers = GameNumbers::from(0);
    let games: Vec<GameRecord> = std::thread::scope(|scope| {
        let play = || {
            let client = Box::new(server.client());
            let mut actor =
                Actor::<G>::new(settings.clone(), client, 2, &numbers, NetVersion::default());
            let mut finished = Vec::new();
            while finished.len() < 20 {
                actor.step(&numbers, &mut finished).expect("an evaluation");
                actor
                    .load(&weights, NetVersion { version: 1, positions: 0 })
                    .expect("the same net");
            }
            finished
        };
        let threads: Vec<_> = (0..3).map(|_| scope.spawn(play)).collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("an actor")).collect()
    });
    server.join();
    let numbers: std::collections::HashSet<u64> = games.iter().map(|game| game.id).collect();
    assert_eq!(numbers.len(), games.len(), "each number is given once");
    for game in &games {
        game.positions::<G>().expect("a legal game");
    }
}

fn learner_options() -> learner::Options {
    learner::Options {
        batch: 64,
        learning_rate: vec![(0, 0.05)],
        warmup_steps: 1,
        precision: learner::Precision::F32,
        ..Default::default()
    }
}

fn window(games: &[GameRecord]) -> Replay<G> {
    let options = replay::Options { min_positions: 64, ..Default::default() };
    let mut window = Replay::new(&options);
    for game in games {
        window.add(game).expect("self-play keeps the rules");
    }
    window
}

fn train(learner: &mut NetLearner, window: &mut Replay<G>, steps: std::ops::Range<u64>) {
    let mut batch = Batch::default();
    for step in steps {
        let mut random = stream(1, Purpose::Batch, step);
        window.sample(64, true, 0.25, &mut random, &mut batch);
        learner.step(&batch, RunProgress::default(), &mut random);
    }
}

#[test]
fn the_learning_rate_follows_its_pairs_and_cools_down_at_the_end() {
    let options = learner::Options {
        learning_rate: vec![(0, 0.08), (1000, 0.02)],
        cooldown: 0.5,
        ..learner_options()
    };
    let learner = NetLearner::new(&spec(), &options, 1, Device::Cpu);
    for (positions, share, wanted) in [
        (0, 0.0, 0.08),
        (999, 0.5, 0.08),
        (1000, 0.5, 0.02),
        (1000, 0.75, 0.02 * 0.525),
        (1000, 1.0, 0.02 * 0.05),
        (0, 1.0, 0.08 * 0.05),
    ] {
        let rate = learner.learning_rate(RunProgress { positions, share });
        assert!((rate - wanted).abs() < 1e-12, "{rate} for {positions} positions and {share}");
    }
}

#[test]
fn games_keep_the_rules_and_have_training_targets() {
    for goal in [Goal::Most, Goal::Fewest] {
        let settings = SelfPlaySettings { goal, ..settings() };
        for game in play(&settings, 40) {
            let positions = game.positions::<G>().expect("a legal game");
            assert_eq!(game.goal, goal);
            assert!(game.opening_moves <= 4);
            for (position, played) in positions.iter().zip(&game.moves) {
                assert!(played.value.is_none_or(|value| (-1.0..=1.0).contains(&value)));
                if position.board.empties() <= 8 {
                    let exact = played.exact.expect("the last moves are solved") as i16;
                    let black = Colour::Black;
                    let own = if position.side == black { game.score } else { -game.score };
                    assert_eq!(exact, own, "perfect play keeps its score");
                }
            }
        }
    }
}

#[test]
fn a_game_depends_only_on_its_number_and_the_net() {
    let together = play(&settings(), 24);
    let mut few = settings();
    few.selfplay.games_per_actor = 3;
    for game in play(&few, 24) {
        let same = together.iter().find(|other| other.id == game.id);
        // Only the openings are compared: other batches may change the last bits of predictions.
        if let Some(same) = same {
            assert_eq!(same.opening_moves, game.opening_moves);
            let opening = game.opening_moves as usize;
            let squares = |game: &GameRecord| -> Vec<_> {
                game.moves.iter().take(opening).map(|played| played.square).collect()
            };
            assert_eq!(squares(same), squares(&game));
        }
    }
    let again = play(&settings(), 24);
    for (game, same) in together.iter().zip(&again) {
        assert_eq!(game, same);
    }
}

#[test]
fn fast_searches_have_no_policy_target() {
    let mut settings = settings();
    settings.selfplay.full_share = 0.25;
    settings.selfplay.fast_simulations = 4;
    let (mut with, mut without) = (0, 0);
    for game in play(&settings, 40) {
        let searched = game.moves.iter().skip(game.opening_moves as usize);
        for played in searched.filter(|played| played.exact.is_none()) {
            if played.policy.is_empty() { without += 1 } else { with += 1 }
        }
    }
    let share = with as f64 / (with + without) as f64;
    assert!((0.15..0.32).contains(&share), "{share} of the searches were full");
}

#[test]
fn an_actor_of_a_resumed_run_starts_at_the_current_point_of_its_ramp() {
    let mut settings = settings();
    settings.selfplay.ramp = vec![(0, 2), (1_000, 8), (5_000, 24)];
    let simulations = |net| {
        let (games, work) = play_counted(&settings, 8, net);
        assert!(games.iter().all(|game| game.net_version == net.version));
        work.simulations as f64 / work.searches as f64
    };
    let first = simulations(NetVersion::default());
    let later = simulations(NetVersion { version: 7, positions: 5_000 });
    assert!(first <= 2.0 && later > 8.0, "{first} and {later} simulations per search");
}

#[test]
fn weights_that_are_not_finite_are_refused() {
    let mut learner = NetLearner::new(&spec(), &learner_options(), 1, Device::Cpu);
    let mut weights = learner.finite_weights().expect("random numbers");
    learner.start_from(&weights).expect("the same net");
    let (name, array) = weights.iter().next().expect("an array");
    let (name, mut array) = (name.to_string(), array.clone());
    array.values[0] = f32::NAN;
    weights.insert(name, array.shape, array.values);
    learner.start_from(&weights).expect("the same net");
    let error = learner.finite_weights().expect_err("not finite").to_string();
    assert!(error.contains("not finite"), "{error}");
}

/// Game files of older versions have resigned games.
#[test]
fn a_resigned_game_has_no_score_and_owner_targets() {
    let mut games = play(&settings(), 60);
    for game in games.iter_mut().step_by(2) {
        game.resigned = true;
        game.score = 1;
        game.moves.truncate(game.moves.len() - 4);
    }
    let mut window = window(&games);
    let mut batch = Batch::default();
    window.sample(500, true, 0.0, &mut stream(1, Purpose::Batch, 0), &mut batch);
    assert!(batch.has_ending.contains(&0.0) && batch.has_ending.contains(&1.0));
}

#[test]
fn the_loss_falls() {
    let mut window = window(&play(&settings(), 60));
    let mut learner = NetLearner::new(&spec(), &learner_options(), 1, Device::Cpu);
    train(&mut learner, &mut window, 0..10);
    let first = learner.take_losses().expect("finite losses");
    train(&mut learner, &mut window, 10..150);
    learner.take_losses().expect("finite losses");
    train(&mut learner, &mut window, 150..160);
    let last = learner.take_losses().expect("finite losses");
    assert!(last.total < 0.9 * first.total, "{first:?} to {last:?}");
    let falls = |part| last.part(part) < first.part(part);
    assert!(falls("value") && falls("owner"), "{first:?} to {last:?}");
}

#[test]
fn a_restored_learner_continues_exactly() {
    for optimizer in learner::OptimizerKind::ALL {
        let mut options = learner_options();
        options.optimizer = *optimizer;
        options.threads = if *optimizer == learner::OptimizerKind::Sgd { 2 } else { 1 };
        options.learning_rate = vec![(0, 0.01)];
        let games = play(&settings(), 20);
        let mut whole = NetLearner::new(&spec(), &options, 1, Device::Cpu);
        train(&mut whole, &mut window(&games), 0..12);

        let mut before = NetLearner::new(&spec(), &options, 1, Device::Cpu);
        train(&mut before, &mut window(&games), 0..7);
        let (play, state) = (before.play_weights(), before.state());
        let mut after = NetLearner::new(&spec(), &options, 2, Device::Cpu);
        after.load(&play, &state, 7).expect("its own state");
        train(&mut after, &mut window(&games), 7..12);
        assert_eq!(whole.play_weights(), after.play_weights(), "{optimizer}");
        assert_eq!(whole.state(), after.state(), "{optimizer}");
        assert_eq!(whole.steps(), after.steps());
    }
}

#[test]
fn a_diverging_loss_is_an_error() {
    let mut options = learner_options();
    options.learning_rate = vec![(0, 1e6)];
    let mut window = window(&play(&settings(), 20));
    let mut learner = NetLearner::new(&spec(), &options, 1, Device::Cpu);
    train(&mut learner, &mut window, 0..20);
    let error = learner.take_losses().expect_err("it cannot be finite").to_string();
    assert!(error.contains("learner.loss_limit"), "{error}");
}
