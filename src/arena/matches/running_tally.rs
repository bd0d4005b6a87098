//! Counts the games of a match.

use std::collections::HashSet;

use super::super::openings::canonical_game;
use super::super::tally::Tally;
use super::{MatchGame, points};
use crate::game::{Board, Colour, Geometry, Square};

/// The result of a match, and how many of its games are repetitions, which do not count.
///
/// A game is a repetition if the same player has black as in an earlier game and all moves are the
/// same up to a symmetry of the board. A forfeited game is never a repetition.
pub fn tally<G: Geometry>(games: &[MatchGame<G>]) -> (Tally, u32) {
    let mut running = RunningTally::default();
    games.iter().for_each(|played| running.add(played));
    (running.tally, running.repeated)
}

/// The first player's colour, the start and the moves: equal for a game and its repetition.
type GameKey<G> = (Colour, (Board<G>, Vec<Square>));

/// A tally to which games are added one at a time. The sequential test needs the tally after each
/// pair, and counting all games from the start each time would take longer than playing them.
pub(super) struct RunningTally<G: Geometry> {
    /// The games that were added.
    pub(super) tally: Tally,
    repeated: u32,
    seen: HashSet<GameKey<G>>,
    /// The number of the last counted pair, and how many of its games are counted.
    last: Option<(u32, u32)>,
}

impl<G: Geometry> Default for RunningTally<G> {
    fn default() -> Self {
        RunningTally { tally: Tally::default(), repeated: 0, seen: HashSet::new(), last: None }
    }
}

impl<G: Geometry> RunningTally<G> {
    /// Counts a game. No other game may be added between the two games of a pair.
    pub(super) fn add(&mut self, played: &MatchGame<G>) {
        let moves: Vec<_> = played.moves().collect();
        let key = (played.first, canonical_game(played.opening.start.board, &moves));
        if played.forfeit.is_none() && !self.seen.insert(key) {
            self.repeated += 1;
            return;
        }
        let pair = played.game / 2;
        let counted = self.last.map_or(0, |(last, games)| if last == pair { games } else { 0 });
        match self.tally.pairs.last_mut().filter(|_| counted > 0) {
            Some(mean) => {
                let sum = *mean * f64::from(counted) + points(played);
                *mean = sum / f64::from(counted + 1);
            }
            None => self.tally.pairs.push(points(played)),
        }
        self.last = Some((pair, counted + 1));
        let tally = &mut self.tally;
        let side = if played.first == Colour::Black { &mut tally.black } else { &mut tally.white };
        side.add(played.first_score());
        if played.forfeit.is_none() {
            tally.discs += i64::from(played.first_score());
            tally.finished += 1;
        }
    }
}
