//! Collects the games of a match and applies the sequential test to them.

use super::running_tally::RunningTally;
use super::{MatchGame, MatchResult};
use crate::arena::tally::{Sprt, SprtResult, Verdict};
use crate::game::Geometry;

/// Collects games and applies the sequential test, if there is one.
pub(super) struct ResultCollector<G: Geometry> {
    /// Sorted by number.
    games: Vec<MatchGame<G>>,
    test: Option<RunningTest<G>>,
}

/// A sequential test and its result so far.
struct RunningTest<G: Geometry> {
    test: Sprt,
    /// All games with a lower number are counted.
    counted: u32,
    tally: RunningTally<G>,
    result: SprtResult,
}

impl<G: Geometry> ResultCollector<G> {
    /// A collector that already has the games that were played earlier.
    pub(super) fn new(test: Option<Sprt>, mut earlier: Vec<MatchGame<G>>) -> ResultCollector<G> {
        earlier.sort_by_key(|played| played.game);
        let test = test.map(|test| {
            let result = test.result(&[]);
            RunningTest { test, counted: 0, tally: RunningTally::default(), result }
        });
        let mut collector = ResultCollector { games: earlier, test };
        collector.update_test();
        collector
    }

    /// Adds a game that has ended.
    pub(super) fn add(&mut self, played: MatchGame<G>) {
        // Games end nearly in order, so few elements have to move.
        let place = self.games.partition_point(|other| other.game < played.game);
        self.games.insert(place, played);
        self.update_test();
    }

    /// Counts the pairs in the order of their numbers, up to the first incomplete pair. In the
    /// order of their ends the short games would come first, which biases the test. The verdict is
    /// checked after each pair, so the test ends with the same pair on any number of threads. A
    /// game that repeats an earlier game does not count.
    fn update_test(&mut self) {
        let Some(running) = &mut self.test else { return };
        while running.result.verdict == Verdict::Undecided
            && let [one, other, ..] = &self.games[running.counted as usize..]
            && (one.game, other.game) == (running.counted, running.counted + 1)
        {
            running.tally.add(one);
            running.tally.add(other);
            running.counted += 2;
            running.result = running.test.result(&running.tally.tally.pairs);
        }
    }

    /// Whether the test has a verdict.
    pub(super) fn is_decided(&self) -> bool {
        self.test.as_ref().is_some_and(|running| running.result.verdict != Verdict::Undecided)
    }

    /// The result of a match of at most `games` games.
    pub(super) fn result(self, games: usize) -> MatchResult<G> {
        let stopped = !self.is_decided() && self.games.len() < games;
        let sprt = self.test.map(|running| running.result);
        MatchResult { games: self.games, sprt, stopped }
    }
}
