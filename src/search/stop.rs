//! A flag that ends a search early.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// A flag that tells a search to end now and return its best result so far. Clones share one flag.
/// The default is a new flag that is not set and has no deadline.
#[derive(Clone, Debug, Default)]
pub struct Stop {
    flag: Arc<AtomicBool>,
    deadline: Option<Instant>,
}

impl Stop {
    /// The same flag for a search that must also end at `deadline`.
    #[must_use]
    pub fn by(&self, deadline: Instant) -> Stop {
        Stop { flag: self.flag.clone(), deadline: Some(deadline) }
    }

    /// Ends every search that checks this flag. A flag cannot be cleared.
    pub fn set(&self) {
        self.flag.store(true, Ordering::Relaxed);
    }

    /// Whether the search must end.
    #[inline(always)]
    pub fn is_set(&self) -> bool {
        self.flag.load(Ordering::Relaxed)
            || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }
}
