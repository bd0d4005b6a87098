//! From the games of a match to its result.

use std::collections::HashSet;

use super::super::openings::canonical_game;
use super::super::tally::Tally;
use super::{Played, points};
use crate::game::{Colour, Geometry};

/// A match's result, each game counted once, and how many games were repetitions.
///
/// Games repeat each other when the same player has black and they agree move by move up to a
/// symmetry of the board; forfeited games are no repetitions.
pub fn tally<G: Geometry>(games: &[Played<G>]) -> (Tally, u32) {
    let (mut tally, mut repeated) = (Tally::default(), 0);
    let mut seen = HashSet::new();
    let mut pairs: Vec<(u32, Vec<f64>)> = Vec::new();
    for played in games {
        let moves: Vec<_> = played.moves().collect();
        let identity = (played.first, canonical_game(played.opening.start.board, &moves));
        if played.forfeit.is_none() && !seen.insert(identity) {
            repeated += 1;
            continue;
        }
        match pairs.last_mut().filter(|(opening, _)| *opening == played.game / 2) {
            Some((_, scores)) => scores.push(points(played)),
            None => pairs.push((played.game / 2, vec![points(played)])),
        }
        let side = if played.first == Colour::Black { &mut tally.black } else { &mut tally.white };
        side.add(played.first_score());
        if played.forfeit.is_none() {
            tally.discs += i64::from(played.first_score());
            tally.finished += 1;
        }
    }
    let mean = |scores: &[f64]| scores.iter().sum::<f64>() / scores.len() as f64;
    tally.pairs = pairs.iter().map(|(_, scores)| mean(scores)).collect();
    (tally, repeated)
}
