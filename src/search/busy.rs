//! Who searches what: keeps the threads of one search from doing the same work.
//!
//! All threads search the same tree and share the transposition table. Before a thread goes
//! into a move it says so here; a thread that finds another one there leaves the move for
//! last, when the answer usually lies in the table already (ABDADA, after J.-C. Weill 1996, in
//! the simplified form of T. Kerrigan).

use std::sync::atomic::{AtomicU64, Ordering};

use super::table::Key;

/// Slots of the table; far more than threads times plies.
const SLOTS: usize = 4096;

/// The moves that some thread is searching. A hint: collisions cost time and nothing else.
pub(super) struct Busy {
    slots: Box<[AtomicU64]>,
}

impl Busy {
    pub(super) fn new() -> Busy {
        Busy { slots: (0..SLOTS).map(|_| AtomicU64::new(0)).collect() }
    }

    fn slot(&self, key: Key) -> &AtomicU64 {
        &self.slots[key.signature() as usize % SLOTS]
    }

    /// Whether a thread is searching the position of `key`.
    pub(super) fn contains(&self, key: Key) -> bool {
        self.slot(key).load(Ordering::Relaxed) == key.signature()
    }

    /// Notes that a thread goes into the position of `key`.
    pub(super) fn enter(&self, key: Key) {
        self.slot(key).store(key.signature(), Ordering::Relaxed);
    }

    /// Notes that it has left it.
    pub(super) fn leave(&self, key: Key) {
        self.slot(key).store(0, Ordering::Relaxed);
    }
}
