//! The standing of each worker.
//!
//! A worker that fails a check of `exact` or `replay` is excluded: its later games are not read,
//! and those of the last hour are set aside, since they may be forged as well. A refused game only
//! counts, because a damaged record proves no intent.
//!
//! Times are seconds of any clock that never goes back.

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};

/// Games that were accepted longer ago than this are not set aside, in seconds.
pub const SUSPECT_SECONDS: u64 = 3600;
/// The most game numbers of a worker that are remembered. Older ones are forgotten.
pub const MOST_REMEMBERED: usize = 65_536;
/// The most workers. Names come from outside, so they must not use up memory.
pub const MOST_WORKERS: usize = 4096;
/// The longest name and the longest reason that are kept, in bytes.
const LONGEST_TEXT: usize = 256;

/// The standing of one worker.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Standing {
    /// Games that passed `check`.
    pub accepted: u64,
    /// Games that did not, and messages that cannot be read, by the kind of the fault.
    pub refused: BTreeMap<&'static str, u64>,
    /// Accepted games that were played again or solved without a failure.
    pub replayed: u64,
    /// Why the worker is excluded; `None` if it is not.
    pub excluded: Option<String>,
    /// The times and numbers of accepted games, oldest first.
    recent: VecDeque<(u64, u64)>,
}

impl Standing {
    fn forget_before(&mut self, time: u64) {
        while self.recent.front().is_some_and(|&(accepted, _)| accepted < time) {
            self.recent.pop_front();
        }
    }

    /// All refused games.
    pub fn refusals(&self) -> u64 {
        self.refused.values().sum()
    }
}

/// The workers of a run.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Ledger {
    workers: BTreeMap<String, Standing>,
}

/// The part of a [`Ledger`] that outlives a run: the content of `workers.json`.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Excluded {
    /// The layout of the file; [`Excluded::VERSION`].
    pub version: u32,
    /// The excluded workers, each with the reason.
    pub excluded: BTreeMap<String, String>,
}

impl Excluded {
    /// The layout that this program writes and reads.
    pub const VERSION: u32 = 1;
}

/// A text of at most [`LONGEST_TEXT`] bytes.
fn shortened(text: &str) -> String {
    let end = text.floor_char_boundary(LONGEST_TEXT);
    text[..end].to_owned()
}

impl Ledger {
    /// A ledger in which the workers of a stored file are excluded. At most [`MOST_WORKERS`] are
    /// read.
    pub fn restored(stored: &Excluded) -> Ledger {
        let standing = |(name, reason): (&String, &String)| {
            let excluded = Some(shortened(reason));
            (shortened(name), Standing { excluded, ..Standing::default() })
        };
        Ledger { workers: stored.excluded.iter().take(MOST_WORKERS).map(standing).collect() }
    }

    /// What a file needs to hold.
    pub fn excluded(&self) -> Excluded {
        let reason = |(name, standing): (&String, &Standing)| {
            Some((name.clone(), standing.excluded.clone()?))
        };
        let excluded = self.workers.iter().filter_map(reason).collect();
        Excluded { version: Excluded::VERSION, excluded }
    }

    /// Whether games of this worker are read: it is not excluded, and it is known or there is room
    /// for one more.
    pub fn is_heard(&self, worker: &str) -> bool {
        match self.workers.get(worker) {
            Some(standing) => standing.excluded.is_none(),
            None => self.workers.len() < MOST_WORKERS && worker.len() <= LONGEST_TEXT,
        }
    }

    /// The standing of a worker that is heard; it is new if it was not known.
    fn heard(&mut self, worker: &str) -> Option<&mut Standing> {
        self.is_heard(worker).then(|| self.workers.entry(worker.to_owned()).or_default())
    }

    /// Counts a game that passed `check` at `time`. Returns false, and counts nothing, if the
    /// worker is not heard.
    pub fn accept(&mut self, worker: &str, number: u64, time: u64) -> bool {
        let Some(standing) = self.heard(worker) else { return false };
        standing.accepted += 1;
        standing.forget_before(time.saturating_sub(SUSPECT_SECONDS));
        if standing.recent.len() == MOST_REMEMBERED {
            standing.recent.pop_front();
        }
        standing.recent.push_back((time, number));
        true
    }

    /// Counts a game that did not pass `check`, by `Refusal::name`, or a message that cannot be
    /// read, unless the worker is not heard.
    pub fn refuse(&mut self, worker: &str, kind: &'static str) {
        if let Some(standing) = self.heard(worker) {
            *standing.refused.entry(kind).or_default() += 1;
        }
    }

    /// The standing of a known worker.
    pub fn standing(&self, worker: &str) -> Option<&Standing> {
        self.workers.get(worker)
    }

    /// Counts an accepted game that passed a second check.
    pub fn confirm(&mut self, worker: &str) {
        if let Some(standing) = self.heard(worker) {
            standing.replayed += 1;
        }
    }

    /// Excludes a worker at `time`. Returns the numbers of its games of the last hour, to be set
    /// aside. They are returned once: a second failure of the worker returns none.
    pub fn fail(&mut self, worker: &str, reason: &str, time: u64) -> Vec<u64> {
        let Some(standing) = self.heard(worker) else { return Vec::new() };
        standing.excluded = Some(shortened(reason));
        standing.forget_before(time.saturating_sub(SUSPECT_SECONDS));
        std::mem::take(&mut standing.recent).into_iter().map(|(_, number)| number).collect()
    }

    /// All known workers with their standings, by name.
    #[cfg(test)]
    fn workers(&self) -> impl Iterator<Item = (&str, &Standing)> {
        self.workers.iter().map(|(name, standing)| (name.as_str(), standing))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn games_are_counted_by_worker_and_kind() {
        let mut ledger = Ledger::default();
        for number in 0..3 {
            assert!(ledger.accept("anna", number, 0));
        }
        ledger.confirm("anna");
        ledger.refuse("anna", "unfinished");
        ledger.refuse("anna", "unfinished");
        ledger.refuse("bert", "resigned");
        let standings: BTreeMap<_, _> = ledger.workers().collect();
        let anna = standings["anna"];
        assert_eq!((anna.accepted, anna.replayed, anna.refusals()), (3, 1, 2));
        assert_eq!(anna.refused, BTreeMap::from([("unfinished", 2)]));
        assert_eq!(standings["bert"].refused, BTreeMap::from([("resigned", 1)]));
    }

    #[test]
    fn a_failure_sets_aside_the_games_of_an_hour() {
        let mut ledger = Ledger::default();
        for (number, time) in [(1, 0), (2, 400), (3, 401), (4, 3999)] {
            ledger.accept("anna", number, time);
        }
        ledger.accept("bert", 9, 4000);
        assert_eq!(ledger.fail("anna", "a forged game", 4000), [2, 3, 4]);
        assert!(!ledger.is_heard("anna"));
        assert!(ledger.is_heard("bert"));
        // From then on nothing of the worker counts.
        assert!(!ledger.accept("anna", 5, 4001));
        ledger.refuse("anna", "unfinished");
        ledger.confirm("anna");
        assert!(ledger.fail("anna", "again", 4002).is_empty());
        let (_, anna) = ledger.workers().next().expect("a worker");
        assert_eq!((anna.accepted, anna.replayed, anna.refusals()), (4, 0, 0));
        assert_eq!(anna.excluded.as_deref(), Some("a forged game"));
    }

    #[test]
    fn memory_is_bounded() {
        let mut ledger = Ledger::default();
        let count = MOST_REMEMBERED as u64 + 10;
        for number in 0..count {
            ledger.accept("anna", number, 7);
        }
        let suspects = ledger.fail("anna", &"ä".repeat(LONGEST_TEXT), 7);
        assert_eq!((suspects.len(), suspects[0]), (MOST_REMEMBERED, 10));
        for name in 0..2 * MOST_WORKERS {
            ledger.accept(&name.to_string(), 0, 7);
        }
        assert!(!ledger.accept(&"x".repeat(LONGEST_TEXT + 1), 0, 7));
        assert_eq!(ledger.workers().count(), MOST_WORKERS);
        assert!(ledger.workers().all(|(_, standing)| {
            standing.excluded.as_ref().is_none_or(|reason| reason.len() <= LONGEST_TEXT)
        }));
    }

    #[test]
    fn excluded_workers_survive_a_file() {
        let mut ledger = Ledger::default();
        ledger.accept("anna", 1, 0);
        ledger.accept("bert", 2, 0);
        ledger.fail("bert", "values of another net", 0);
        let text = serde_json::to_string(&ledger.excluded()).expect("JSON");
        let stored: Excluded = serde_json::from_str(&text).expect("the same");
        let restored = Ledger::restored(&stored);
        assert!(restored.is_heard("anna"));
        assert!(!restored.is_heard("bert"));
        assert_eq!(restored.excluded(), ledger.excluded());
    }

    #[test]
    fn a_file_of_many_workers_is_bounded() {
        let many = (0..3 * MOST_WORKERS).map(|name| (name.to_string(), "x".repeat(9999)));
        let stored = Excluded { version: Excluded::VERSION, excluded: many.collect() };
        let restored = Ledger::restored(&stored);
        assert_eq!(restored.workers().count(), MOST_WORKERS);
    }
}
