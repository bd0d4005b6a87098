//! Collects the games of a match and applies the sequential test to them.

use super::count::Count;
use super::{MatchResult, Played};
use crate::arena::tally::{Ruling, Sprt, Verdict};
use crate::game::Geometry;

/// Collects games and applies the sequential test, if there is one.
pub(super) struct Referee<G: Geometry> {
    /// In the order of their numbers.
    games: Vec<Played<G>>,
    trial: Option<Trial<G>>,
}

/// A sequential test and what it has seen.
struct Trial<G: Geometry> {
    test: Sprt,
    /// How many games it has seen: those of the numbers below this one.
    seen: u32,
    count: Count<G>,
    ruling: Ruling,
}

impl<G: Geometry> Referee<G> {
    /// A referee who knows the games that were played before.
    pub(super) fn new(test: Option<Sprt>, mut done: Vec<Played<G>>) -> Referee<G> {
        done.sort_by_key(|played| played.game);
        let trial = test.map(|test| {
            let ruling = test.ruling(&[]);
            Trial { test, seen: 0, count: Count::default(), ruling }
        });
        let mut referee = Referee { games: done, trial };
        referee.judge();
        referee
    }

    /// Takes note of a game that has ended.
    pub(super) fn note(&mut self, played: Played<G>) {
        // Games end nearly in order, so that few have to make room.
        let place = self.games.partition_point(|other| other.game < played.game);
        self.games.insert(place, played);
        self.judge();
    }

    /// The test sees the pairs in the order of their openings, up to the first that is not
    /// complete: taken as they end, quick games would come first. It is asked after each of them,
    /// so that it ends with the same pair however many come at once. A game that repeats an
    /// earlier one is no evidence and does not count.
    fn judge(&mut self) {
        let Some(trial) = &mut self.trial else { return };
        while trial.ruling.verdict == Verdict::Undecided
            && let [one, other, ..] = &self.games[trial.seen as usize..]
            && (one.game, other.game) == (trial.seen, trial.seen + 1)
        {
            trial.count.add(one);
            trial.count.add(other);
            trial.seen += 2;
            trial.ruling = trial.test.ruling(&trial.count.tally.pairs);
        }
    }

    /// Whether the test has a verdict.
    pub(super) fn decided(&self) -> bool {
        self.trial.as_ref().is_some_and(|trial| trial.ruling.verdict != Verdict::Undecided)
    }

    /// The outcome of a match of at most so many games.
    pub(super) fn outcome(self, games: usize) -> MatchResult<G> {
        let stopped = !self.decided() && self.games.len() < games;
        MatchResult { games: self.games, ruling: self.trial.map(|trial| trial.ruling), stopped }
    }
}
