use std::sync::Arc;
use std::sync::atomic::AtomicU32;

use rand::RngExt;

use super::*;
use crate::game::Square8;
use crate::players::player::{Choice, Player, PlayerError, Turn, stream};

/// Draws its moves in the first `plies` plies from the first `of` legal moves. Later it plays the
/// first legal move.
struct DrawingPlayer {
    seed: u64,
    of: usize,
    plies: u32,
    ended: Arc<AtomicU32>,
}

impl<G: Geometry> Player<G> for DrawingPlayer {
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
    let player = Contestant::new("drawer", move |seed| {
        Ok(Box::new(DrawingPlayer { seed, of, plies, ended: Arc::clone(&ended) }))
    });
    Contestant { deterministic, ..player }
}

/// The result of a row, and the number of games that were played to their end.
fn replay(row: &Row, of: usize, opponent: (usize, u32, bool)) -> (RowResult, u32) {
    let ended = Arc::new(AtomicU32::new(0));
    let net = drawer(of, DRAWN_PLIES, false, &ended);
    let (of, plies, deterministic) = opponent;
    let opponent = drawer(of, plies, deterministic, &ended);
    let stop = AtomicBool::new(false);
    let result = play_row(row, [&net, &opponent], 3, 2, &stop).expect("a row");
    // `end_game` is called for both players.
    (result, ended.load(Ordering::Relaxed) / 2)
}

/// The arguments of a player that never draws.
const FIXED: (usize, u32, bool) = (1, 0, true);

#[test]
fn only_games_with_distinct_beginnings_are_played_to_their_end() {
    let row = &ROWS[2];
    let (wide, ended) = replay(row, 60, FIXED);
    assert_eq!((wide.black.games(), wide.white.games()), (15, 15));
    // Rarely two games are symmetric to each other.
    assert!((30..=33).contains(&ended), "{ended}");

    // Two moves to draw from, three times with black and twice with white: 8 and 4 games.
    let (narrow, ended) = replay(row, 2, FIXED);
    assert!(narrow.is_short());
    assert!((narrow.black.games(), narrow.white.games()) <= (8, 4), "{narrow:?}");
    assert_eq!(ended, 12, "each game once");
}

#[test]
fn an_opponent_that_draws_is_played_in_all_games() {
    let row = &ROWS[0];
    let (result, ended) = replay(row, 1, (60, 60, false));
    assert!(!result.is_short());
    assert_eq!(ended, 30, "games with the same beginning differ later");
}
