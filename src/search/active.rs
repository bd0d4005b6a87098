//! The positions that threads are searching now, so that they do not do the same work.
//!
//! All threads search the same tree and share the transposition table. A thread enters a position
//! here before it searches it. Another thread that reaches the position defers that move until it
//! has tried the others; by then the table usually has the result. This is Kerrigan's simplified
//! form of ABDADA (Weill 1996).

use std::sync::atomic::{AtomicU64, Ordering};

use super::table::Key;

/// The number of slots; far more than threads times plies.
const SLOTS: usize = 4096;

/// The positions that some thread is searching. The set may be wrong, since positions can share a
/// slot. This costs time but never changes a result.
pub(super) struct ActivePositions {
    slots: Box<[AtomicU64]>,
}

impl ActivePositions {
    pub(super) fn new() -> ActivePositions {
        ActivePositions { slots: (0..SLOTS).map(|_| AtomicU64::new(0)).collect() }
    }

    fn slot(&self, key: Key) -> &AtomicU64 {
        &self.slots[key.signature() as usize % SLOTS]
    }

    /// Whether some thread is searching the position of `key`.
    pub(super) fn contains(&self, key: Key) -> bool {
        self.slot(key).load(Ordering::Relaxed) == key.signature()
    }

    /// Marks the position of `key` as being searched.
    pub(super) fn enter(&self, key: Key) {
        self.slot(key).store(key.signature(), Ordering::Relaxed);
    }

    /// Removes that mark.
    pub(super) fn leave(&self, key: Key) {
        self.slot(key).store(0, Ordering::Relaxed);
    }
}
