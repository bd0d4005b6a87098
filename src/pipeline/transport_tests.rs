use super::*;
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
