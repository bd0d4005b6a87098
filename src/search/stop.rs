//! A flag that ends a search early.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Tells a search to end now with what it has found. Copies share one flag; the default is a
/// flag of its own that is not set.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Ends every search that looks at this flag. There is no way back.
    pub fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether the search must end.
    #[inline(always)]
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
