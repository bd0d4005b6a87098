//! From the games of a match to its result.

use std::collections::HashSet;

use super::super::openings::canonical_game;
use super::super::tally::Tally;
use super::{Played, points};
use crate::game::{Board, Colour, Geometry, Square};

/// A match's result, each game counted once, and how many games were repetitions.
///
/// Games repeat each other when the same player has black and they agree move by move up to a
/// symmetry of the board; forfeited games are no repetitions.
pub fn tally<G: Geometry>(games: &[Played<G>]) -> (Tally, u32) {
    let mut count = Count::default();
    games.iter().for_each(|played| count.add(played));
    (count.tally, count.repeated)
}

/// What a game may not repeat: the first player's colour, the start and the moves.
type Identity<G> = (Colour, (Board<G>, Vec<Square>));

/// The games of a match counted one by one: a sequential test asks after each pair how things
/// stand, and counting all games anew each time would take longer than playing them.
pub(super) struct Count<G: Geometry> {
    /// What was counted so far.
    pub(super) tally: Tally,
    repeated: u32,
    seen: HashSet<Identity<G>>,
    /// The number of the last pair in the tally, and how many of its games are counted.
    last: Option<(u32, u32)>,
}

impl<G: Geometry> Default for Count<G> {
    fn default() -> Self {
        Count { tally: Tally::default(), repeated: 0, seen: HashSet::new(), last: None }
    }
}

impl<G: Geometry> Count<G> {
    /// Counts a game. The two games of a pair must come one after the other.
    pub(super) fn add(&mut self, played: &Played<G>) {
        let moves: Vec<_> = played.moves().collect();
        let identity = (played.first, canonical_game(played.opening.start.board, &moves));
        if played.forfeit.is_none() && !self.seen.insert(identity) {
            self.repeated += 1;
            return;
        }
        let pair = played.game / 2;
        let known = self.last.map_or(0, |(last, games)| if last == pair { games } else { 0 });
        match self.tally.pairs.last_mut().filter(|_| known > 0) {
            Some(mean) => {
                let sum = *mean * f64::from(known) + points(played);
                *mean = sum / f64::from(known + 1);
            }
            None => self.tally.pairs.push(points(played)),
        }
        self.last = Some((pair, known + 1));
        let tally = &mut self.tally;
        let side = if played.first == Colour::Black { &mut tally.black } else { &mut tally.white };
        side.add(played.first_score());
        if played.forfeit.is_none() {
            tally.discs += i64::from(played.first_score());
            tally.finished += 1;
        }
    }
}
