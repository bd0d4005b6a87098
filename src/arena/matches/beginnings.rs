//! How games begin, without playing them to their end.

use std::sync::atomic::{AtomicBool, Ordering};

use super::table::{Table, move_all};
use super::{Contestant, MatchError, MatchSettings, open};
use crate::arena::openings::Opening;
use crate::game::{Geometry, Square};

/// The first `plies` moves of the players in each of the games of these numbers, in their order:
/// those that [`super::play_numbered`] plays in the same setting. Fewer moves where a game ends
/// before; no games once `stop` is set.
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
    setting: &MatchSettings,
    numbers: &[u32],
    plies: usize,
    stop: &AtomicBool,
) -> Result<Vec<Vec<Square>>, MatchError> {
    assert!(!openings.is_empty(), "a match needs an opening");
    let share = numbers.len().div_ceil(setting.threads.max(1)).max(1);
    let begin = |numbers: &[u32]| -> Result<Vec<Vec<Square>>, MatchError> {
        let mut players = open(pair, setting)?;
        let mut tables: Vec<_> =
            numbers.iter().map(|&game| Table::set_up(game, openings)).collect();
        let over = || stop.load(Ordering::Relaxed);
        let early = |table: &&mut Table<G>| !table.is_over() && table.choices.len() < plies;
        while tables.iter_mut().any(|table| early(&table)) {
            for (seat, player) in players.iter_mut().enumerate() {
                if over() {
                    return Ok(Vec::new());
                }
                move_all(tables.iter_mut().filter(early), seat, player.as_mut(), over);
            }
        }
        let moves = |table: Table<G>| table.choices.iter().map(|made| made.square).collect();
        Ok(tables.into_iter().map(moves).collect())
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
