use std::sync::Arc;
use std::sync::atomic::AtomicU32;

use rand::RngExt;

use super::*;
use crate::arena::player::{Choice, Player, PlayerError, Turn, stream};
use crate::game::Square8;

/// Draws its first moves, from the first of the legal ones, and then plays the first legal move.
struct Drawer {
    seed: u64,
    of: usize,
    plies: u32,
    ended: Arc<AtomicU32>,
}

impl<G: Geometry> Player<G> for Drawer {
    fn name(&self) -> String {
        "drawer".into()
    }

    fn choose(&mut self, turns: &[Turn<'_, G>]) -> Vec<Result<Choice, PlayerError>> {
        let choose = |turn: &Turn<'_, G>| {
            let mut legal = turn.position.board.legal();
            let of = if turn.ply() < self.plies { self.of.min(legal.len()) } else { 1 };
            let drawn = stream(self.seed, turn).random_range(0..of);
            Ok(Choice::plain(legal.nth(drawn).expect("a move")))
        };
        turns.iter().map(choose).collect()
    }

    fn end_game(&mut self, _game: u32) {
        self.ended.fetch_add(1, Ordering::Relaxed);
    }
}

fn drawer(
    of: usize,
    plies: u32,
    deterministic: bool,
    ended: &Arc<AtomicU32>,
) -> Contestant<'static, Square8> {
    let ended = Arc::clone(ended);
    Contestant {
        name: "drawer".into(),
        deterministic,
        line: None,
        open: Box::new(move |seed| {
            Ok(Box::new(Drawer { seed, of, plies, ended: Arc::clone(&ended) }))
        }),
    }
}

/// The row as played, and how many games were played to their end for it.
fn replay(row: &Row, of: usize, opponent: (usize, u32, bool)) -> (Replayed, u32) {
    let ended = Arc::new(AtomicU32::new(0));
    let net = drawer(of, DRAWN_PLIES, false, &ended);
    let (of, plies, deterministic) = opponent;
    let opponent = drawer(of, plies, deterministic, &ended);
    let stop = AtomicBool::new(false);
    let result = play_row(row, [&net, &opponent], 3, 2, &stop).expect("a row");
    // Each game ends for two players.
    (result, ended.load(Ordering::Relaxed) / 2)
}

/// Never draws.
const FIXED: (usize, u32, bool) = (1, 0, true);

#[test]
fn only_games_that_begin_differently_are_played_to_their_end() {
    let row = &ROWS[2];
    let (wide, ended) = replay(row, 60, FIXED);
    assert_eq!((wide.black.games(), wide.white.games()), (15, 15));
    // Two games may come to be symmetric to each other: hardly ever.
    assert!((30..=33).contains(&ended), "{ended}");

    // One of two moves, three times with black and twice with white: 8 games and 4.
    let (narrow, ended) = replay(row, 2, FIXED);
    assert!(narrow.is_short());
    assert!((narrow.black.games(), narrow.white.games()) <= (8, 4), "{narrow:?}");
    assert_eq!(ended, 12, "each of the games once");
}

#[test]
fn an_opponent_that_draws_is_played_in_all_games() {
    let row = &ROWS[0];
    let (result, ended) = replay(row, 1, (60, 60, false));
    assert!(!result.is_short());
    assert_eq!(ended, 30, "games that begin alike go on differently");
}
