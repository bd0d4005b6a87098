//! Plays the first moves of games, but not the whole games.

use std::sync::atomic::{AtomicBool, Ordering};

use super::running_game::{RunningGame, play_turns};
use super::{Contestant, MatchError, MatchSettings, open_players};
use crate::arena::openings::Opening;
use crate::game::{Geometry, Square};

/// The first `plies` moves of the players in each of the games with these numbers, in the same
/// order. They are the moves that [`super::play_numbered`] plays with the same settings. A game
/// that ends earlier has fewer moves. Empty if `stop` is set.
///
/// # Errors
///
/// A player that cannot be made.
///
/// # Panics
///
/// If there are no openings.
pub fn beginnings<G: Geometry>(
    pair: [&Contestant<'_, G>; 2],
    openings: &[Opening<G>],
    settings: &MatchSettings,
    numbers: &[u32],
    plies: usize,
    stop: &AtomicBool,
) -> Result<Vec<Vec<Square>>, MatchError> {
    assert!(!openings.is_empty(), "a match needs an opening");
    let share = numbers.len().div_ceil(settings.threads.max(1)).max(1);
    let begin = |numbers: &[u32]| -> Result<Vec<Vec<Square>>, MatchError> {
        let mut players = open_players(pair, settings)?;
        let mut games: Vec<_> =
            numbers.iter().map(|&game| RunningGame::new(game, openings)).collect();
        let is_stopped = || stop.load(Ordering::Relaxed);
        let is_short = |game: &&mut RunningGame<G>| !game.is_over() && game.choices.len() < plies;
        while games.iter_mut().any(|game| is_short(&game)) {
            for (index, player) in players.iter_mut().enumerate() {
                if is_stopped() {
                    return Ok(Vec::new());
                }
                play_turns(games.iter_mut().filter(is_short), index, player.as_mut(), is_stopped);
            }
        }
        let moves =
            |game: RunningGame<G>| game.choices.iter().map(|choice| choice.square).collect();
        Ok(games.into_iter().map(moves).collect())
    };
    let parts: Result<Vec<_>, _> = std::thread::scope(|scope| {
        let begin = &begin;
        let threads: Vec<_> =
            numbers.chunks(share).map(|part| scope.spawn(move || begin(part))).collect();
        let joined = |thread: std::thread::ScopedJoinHandle<'_, _>| {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        threads.into_iter().map(joined).collect()
    });
    let parts = parts?;
    match stop.load(Ordering::Relaxed) {
        true => Ok(Vec::new()),
        false => Ok(parts.concat()),
    }
}
