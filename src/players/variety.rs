//! Varied play against people: a move that loses little, drawn anew in each game.
//!
//! A player that always gives the same replies can be beaten for ever by a game that was won once.

use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::control::{Analysis, Control};
use super::hint::{Bound, Hint};
use super::player::{Choice, Player, PlayerError, Turn, combine};
use crate::game::{Geometry, Square};

/// The discs that a whole chance to win is worth in an even position. A tree search knows chances; its
/// scores are the net's, without the search.
const DISCS_OF_A_CHANCE: f32 = 50.0;
/// A move counts only if this part of the simulations of the most searched one began with it.
const ENOUGH_VISITS: f32 = 0.2;
/// More discs than a game can lose.
const MOST_DISCS: f32 = 1000.0;
/// The moves among which is drawn.
const MOVES: usize = 6;

/// The move of a player for a turn: drawn among those that lose at most `discs`, by the seed of the
/// game and the ply. With 0 discs it is the player's own.
///
/// # Errors
///
/// As for [`Player::think`].
///
/// ```
/// use outflank::game::{Goal, Position, Square8};
/// use outflank::players::control::Control;
/// use outflank::players::player::Turn;
/// use outflank::players::{open, variety};
///
/// let spec = "alphabeta:depth=2,eval=positional".parse()?;
/// let mut player = open::player::<Square8>(&spec, Goal::Most)?;
/// let turn = Turn::at(Position::start());
/// // Each game has a seed of its own, here 5.
/// let choice = variety::choose(&mut *player, &turn, (1.0, 5), &mut Control::plain())?;
/// assert!(turn.position.board.legal().contains(choice.square));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn choose<G: Geometry>(
    player: &mut dyn Player<G>,
    turn: &Turn<'_, G>,
    (discs, seed): (f32, u64),
    control: &mut Control<'_>,
) -> Result<Choice, PlayerError> {
    if discs <= 0.0 {
        return player.think(turn, control);
    }
    let Analysis { hints, nodes, seconds } = player.analyze(turn, MOVES, control)?;
    let Some(square) = draw(&hints, discs, combine(&[seed, turn.ply() as u64])) else {
        return player.think(turn, control);
    };
    let hint = hints.iter().find(|hint| hint.line.first() == Some(&square));
    let (score, depth) = hint.map_or((None, None), |hint| (hint.score, hint.depth));
    Ok(Choice { score, depth, nodes, seconds, ..Choice::plain(square) })
}

/// A move among those that lose at most `discs` against the best one, the better ones more often.
/// Where the best score is exact, only moves with the same exact score are drawn. `None` without
/// hints or scores.
///
/// ```
/// use outflank::game::{Goal, Position, Square8};
/// use outflank::players::player::Turn;
/// use outflank::players::{open, variety};
///
/// let mut player = open::player::<Square8>(&"alphabeta:depth=2".parse()?, Goal::Most)?;
/// let hints = player.hints(&Turn::at(Position::start()), 4)?;
/// // The four first moves are images of each other.
/// let moves: std::collections::HashSet<_> =
///     (0..100).filter_map(|seed| variety::draw(&hints, 1.0, seed)).collect();
/// assert_eq!(moves.len(), 4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn draw(hints: &[Hint], discs: f32, seed: u64) -> Option<Square> {
    let most_visits = hints.iter().filter_map(|hint| hint.visits).max().unwrap_or(0) as f32;
    let is_sound = |hint: &Hint| {
        let is_searched =
            hint.visits.is_none_or(|visits| visits as f32 >= ENOUGH_VISITS * most_visits);
        is_searched && matches!(hint.bound, Bound::Estimated | Bound::Exact)
    };
    let scored = hints.iter().filter(|hint| is_sound(hint));
    let scored: Vec<(Square, f32, Bound)> = scored
        .filter_map(|hint| Some((*hint.line.first()?, value(hint)?, hint.bound)))
        .filter(|(_, value, _)| value.is_finite())
        .collect();
    let &(_, best, bound) = scored.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
    // `max` turns what is no number into 0.
    let margin = if bound == Bound::Exact { 0.0 } else { discs.clamp(0.0, MOST_DISCS).max(0.0) };
    let near: Vec<(Square, f32)> = scored
        .iter()
        .filter(|(_, score, _)| best - score <= margin)
        .map(|&(square, score, _)| (square, 1.0 + margin - (best - score)))
        .collect();
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut rest = random.random_range(0.0..near.iter().map(|(_, weight)| weight).sum());
    let drawn = near.iter().find(|(_, weight)| {
        rest -= weight;
        rest < 0.0
    });
    drawn.or(near.last()).map(|&(square, _)| square)
}

/// A move's value in discs.
fn value(hint: &Hint) -> Option<f32> {
    match (hint.bound, hint.visits, hint.win_chance) {
        (Bound::Estimated, Some(_), Some(chance)) => Some(DISCS_OF_A_CHANCE * chance),
        _ => hint.score,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::players::hint::Source;

    fn hint(square: u8, score: f32, bound: Bound, visits: Option<u32>) -> Hint {
        let plain = Hint::plain(Square(square), Source::Net);
        Hint { score: Some(score), bound, visits, ..plain }
    }

    fn drawn(hints: &[Hint], discs: f32) -> HashSet<u8> {
        (0..200).filter_map(|seed| draw(hints, discs, seed)).map(|square| square.0).collect()
    }

    #[test]
    fn moves_that_lose_little_are_drawn_and_no_others() {
        let near = Bound::Estimated;
        let hints = [hint(1, 3.0, near, None), hint(2, 2.5, near, None), hint(3, 0.0, near, None)];
        assert_eq!(drawn(&hints, 1.0), HashSet::from([1, 2]));
        assert_eq!(drawn(&hints, 0.0), HashSet::from([1]));
        let best = (0..1000).filter(|&seed| draw(&hints, 1.0, seed) == Some(Square(1))).count();
        assert!((520..720).contains(&best), "better moves are drawn more often: {best}");
        assert_eq!(draw(&hints, 1.0, 7), draw(&hints, 1.0, 7));
        assert_eq!(draw(&[], 1.0, 7), None);
        assert_eq!(drawn(&hints, f32::INFINITY), HashSet::from([1, 2, 3]));
        assert_eq!(drawn(&hints, f32::NAN), HashSet::from([1]));
    }

    #[test]
    fn nothing_proven_is_given_away() {
        let hints = [
            hint(1, 4.0, Bound::Exact, None),
            hint(2, 4.0, Bound::Exact, None),
            hint(3, 2.0, Bound::Exact, None),
            hint(4, 4.0, Bound::AtMost, None),
        ];
        assert_eq!(drawn(&hints, 3.0), HashSet::from([1, 2]));
    }

    #[test]
    fn values_of_few_simulations_do_not_count() {
        let near = Bound::Estimated;
        let hints = [hint(1, 1.0, near, Some(900)), hint(2, 9.0, near, Some(3))];
        assert_eq!(drawn(&hints, 1.0), HashSet::from([1]));
        // Of a tree search the chances count.
        let chance = |hint: Hint, chance| Hint { win_chance: Some(chance), ..hint };
        let searched = |square, score| hint(square, score, near, Some(100));
        let hints = [chance(searched(1, 0.0), 0.60), chance(searched(2, 5.0), 0.59)];
        assert_eq!(drawn(&hints, 1.0), HashSet::from([1, 2]));
        assert_eq!(drawn(&hints, 0.2), HashSet::from([1]));
    }
}
