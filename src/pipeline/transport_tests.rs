use super::*;
use crate::game::record::Source;
use crate::game::{Colour, Goal, Shape};

fn a_game(id: u64) -> FinishedGame {
    let record = GameRecord {
        shape: Shape::Square6,
        goal: Goal::Most,
        id,
        net_version: 0,
        opening_moves: 0,
        start_mine: 1,
        start_theirs: 2,
        start_side: Colour::White,
        moves: Vec::new(),
        score: 0,
        resigned: true,
        source: Source::SelfPlay,
        worker: None,
    };
    FinishedGame { record, last_net: 0 }
}

#[test]
fn games_arrive_in_order_and_the_channel_closes_after_the_last() {
    let (actor, mut local) = in_process(2);
    let games = actor.games.clone();
    drop(actor);
    let thread = std::thread::spawn(move || (0..50).try_for_each(|id| games.send(a_game(id))));
    let wait = Duration::from_secs(10);
    for id in 0..50 {
        assert_eq!(local.receive(wait).expect("open").map(|game| game.id), Some(id));
    }
    assert_eq!(local.receive(wait), Err(Closed));
    thread.join().expect("a thread").expect("a receiver");
}

#[test]
fn receive_returns_none_if_no_game_comes_in_time() {
    let (_actor, mut local) = in_process(1);
    assert_eq!(local.receive(Duration::ZERO), Ok(None));
}

#[test]
fn nets_reach_all_actors_and_end_when_the_transport_is_closed() {
    let (_actor, mut local) = in_process(1);
    let (one, nets) = crossbeam_channel::unbounded();
    let (gone, _) = crossbeam_channel::unbounded();
    local.add_actor(one);
    local.add_actor(gone);
    for version in 1..=2 {
        local.publish(&NewNet { weights: Default::default(), version, positions: 0 });
    }
    local.close(true);
    assert_eq!(nets.iter().map(|net| net.version).collect::<Vec<_>>(), [1, 2]);
}

/// Delivers every game twice, in any order.
#[cfg(feature = "torch")]
struct TwiceInAnyOrder {
    inner: InProcess,
    waiting: Vec<GameRecord>,
    random: crate::train::seeds::Random,
    is_closed: bool,
    /// Numbers of games that do not train any more.
    aside: Vec<u64>,
}

#[cfg(feature = "torch")]
impl Transport for TwiceInAnyOrder {
    fn receive(&mut self, wait: Duration) -> Result<Option<GameRecord>, Closed> {
        use rand::RngExt as _;

        let wait = if self.waiting.len() < 20 { wait } else { Duration::ZERO };
        match self.inner.receive(wait) {
            Ok(Some(game)) => self.waiting.extend([game.clone(), game]),
            Ok(None) => {}
            Err(Closed) => self.is_closed = true,
        }
        if self.waiting.is_empty() {
            return if self.is_closed { Err(Closed) } else { Ok(None) };
        }
        let drawn = self.random.random_range(0..self.waiting.len());
        Ok(Some(self.waiting.swap_remove(drawn)))
    }

    fn publish(&mut self, net: &NewNet) {
        self.inner.publish(net);
    }

    fn activity(&mut self) -> Vec<Activity> {
        self.inner.activity()
    }

    fn set_aside(&mut self) -> Vec<u64> {
        std::mem::take(&mut self.aside)
    }

    fn close(&mut self, has_ended: bool) {
        self.inner.close(has_ended);
    }
}

#[cfg(feature = "torch")]
#[test]
fn games_that_come_twice_and_in_any_order_count_once() {
    use std::collections::HashSet;
    use std::sync::atomic::AtomicBool;

    use crate::config::Config;
    use crate::pipeline::{NetTrainee, Playing, RunParts, train_over};
    use crate::store::games::{read_all, training_positions};
    use crate::store::run_dir::RunDir;
    use crate::telemetry::Telemetry;
    use crate::train::seeds::{Purpose, stream};

    let text = r#"
        board = "6x6"
        limits.steps = 16
        net.blocks = 1
        net.channels = 8
        search.simulations = 2
        selfplay.games_per_actor = 8
        replay.min_positions = 200
        learner.batch = 32
        learner.steps_per_publish = 4
        evaluation.every_minutes = 0
    "#;
    let config = Config::parse("test", text, &[]).expect("a configuration");
    let folder = tempfile::tempdir().expect("a folder");
    let mut run = RunDir::create(&folder.path().join("run"), text, 0).expect("a run");
    let telemetry = Telemetry::start(run.path(), text, true).expect("telemetry");
    let connect = |inner, _: RunParts<'_>| -> anyhow::Result<Box<dyn Transport>> {
        let (waiting, random) = (Vec::new(), stream(1, Purpose::Match, 0));
        let aside = vec![3, 4];
        Ok(Box::new(TwiceInAnyOrder { inner, waiting, random, is_closed: false, aside }))
    };
    let with = Playing { plays: true, connect: &connect };
    let stop = AtomicBool::new(false);
    let trainee = NetTrainee::open(&config, None).expect("a net");
    let end = train_over(&trainee, &config, &mut run, &telemetry, &stop, &with);
    let state = end.expect("the end of the run").state;
    let games: Vec<_> =
        read_all(&run.games()).expect("games").map(|game| game.expect("one")).collect();
    let numbers: HashSet<u64> = games.iter().map(|game| game.id).collect();
    assert_eq!((numbers.len() as u64, games.len() as u64), (state.games, state.games));
    let positions: u64 = games.iter().map(|game| u64::from(training_positions(game))).sum();
    assert_eq!(positions, state.positions);
    assert!(state.games > 10 && state.steps == 16, "{state:?}");
    let aside = crate::store::set_aside::read(run.path()).expect("the list");
    assert_eq!(aside, [3, 4].into_iter().collect());
}
