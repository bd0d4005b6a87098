//! Games that a run never learns from, so that they show what the net says of new ones.

use crate::game::Geometry;
use crate::game::record::GameRecord;
use crate::train::replay::{Options, Replay};

/// One game in this many is held out.
const EVERY: u64 = 50;
/// Positions of held-out games that are kept.
const POSITIONS: u64 = 20_000;

/// The window of held-out games, of which it shows what the net learns of the others.
pub(super) fn options(of_others: &Options) -> Options {
    let skip_empties = of_others.skip_empties;
    Options {
        min_positions: POSITIONS,
        max_positions: POSITIONS,
        skip_empties,
        ..Default::default()
    }
}

/// Newest positions of a run that fill both windows, of which the one to learn from holds `most`.
pub(super) fn to_read(most: u64) -> u64 {
    const A_GAME: u64 = 128;
    (most + most / (EVERY - 1)).max(POSITIONS * EVERY) + A_GAME
}

/// Whether a run never learns from this game.
pub fn holds_out(game: &GameRecord) -> bool {
    game.id % EVERY == EVERY - 1
}

/// The window that a game belongs into.
pub(super) fn window_of<'a, G: Geometry>(
    game: &GameRecord,
    replay: &'a mut Replay<G>,
    held_out: &'a mut Replay<G>,
) -> &'a mut Replay<G> {
    if holds_out(game) { held_out } else { replay }
}
