//! Held-out games: a run never trains on them, so they show how well the net predicts new games.

use crate::game::Geometry;
use crate::game::record::GameRecord;
use crate::train::replay::{Options, Replay};

/// One game in this many is held out.
const ONE_IN: u64 = 50;
/// Size of the window of held-out games, in positions.
const MAX_POSITIONS: u64 = 20_000;

/// The options of the window of held-out games.
pub(super) fn options(replay_options: &Options) -> Options {
    let skip_empties = replay_options.skip_empties;
    Options {
        min_positions: MAX_POSITIONS,
        max_positions: MAX_POSITIONS,
        skip_empties,
        ..Default::default()
    }
}

/// How many of a run's newest positions fill both windows. `max_positions` is the size of the
/// training window.
pub(super) fn positions_to_read(max_positions: u64) -> u64 {
    /// More than the positions of any game.
    const ONE_GAME: u64 = 128;
    let with_held_out = max_positions + max_positions / (ONE_IN - 1);
    with_held_out.max(MAX_POSITIONS * ONE_IN) + ONE_GAME
}

/// Whether a game is held out.
pub fn holds_out(game: &GameRecord) -> bool {
    game.id % ONE_IN == ONE_IN - 1
}

/// The window that a game belongs to.
pub(super) fn window_for<'a, G: Geometry>(
    game: &GameRecord,
    replay: &'a mut Replay<G>,
    held_out: &'a mut Replay<G>,
) -> &'a mut Replay<G> {
    if holds_out(game) { held_out } else { replay }
}
