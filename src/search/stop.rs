//! A flag that ends a search early.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// A flag that tells a search to end now and return its best result so far. Clones share one flag.
/// The default is a new flag that is not set and has no deadline.
///
/// ```
/// use std::time::Duration;
///
/// use outflank::game::{Board, Goal, Square8};
/// use outflank::search::endgame::Solver;
/// use outflank::search::stop::Stop;
///
/// let stop = Stop::default();
/// let mut solver = Solver::<Square8>::new(Goal::Most, 1 << 20);
/// solver.set_stop(stop.clone());
/// // Another thread ends the search, here after 20 ms.
/// std::thread::spawn(move || {
///     std::thread::sleep(Duration::from_millis(20));
///     stop.set();
/// });
/// assert_eq!(solver.best_line_within(Board::start(), None, 1), None);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Stop {
    flag: Arc<AtomicBool>,
    /// The flag of the whole that this search is a part of.
    whole: Option<Arc<AtomicBool>>,
    deadline: Option<Instant>,
}

impl Stop {
    /// The same flag for a search that must also end at `deadline`.
    ///
    /// ```
    /// use std::time::Instant;
    ///
    /// use outflank::search::stop::Stop;
    ///
    /// let stop = Stop::default();
    /// assert!(stop.by(Instant::now()).is_set() && !stop.is_set());
    /// ```
    #[must_use]
    pub fn by(&self, deadline: Instant) -> Stop {
        Stop { deadline: Some(deadline), ..self.clone() }
    }

    /// A new flag for a part of the work that this flag can end: it can be set on its own, and is
    /// set with this one. A part of a part does not know the first whole.
    ///
    /// ```
    /// use outflank::search::stop::Stop;
    ///
    /// let whole = Stop::default();
    /// let (one, other) = (whole.part(), whole.part());
    /// one.set();
    /// assert!(!whole.is_set() && !other.is_set());
    /// whole.set();
    /// assert!(other.is_set());
    /// ```
    #[must_use]
    pub fn part(&self) -> Stop {
        Stop { flag: Arc::default(), whole: Some(self.flag.clone()), deadline: self.deadline }
    }

    /// Ends every search that checks this flag. A flag cannot be cleared.
    pub fn set(&self) {
        self.flag.store(true, Ordering::Relaxed);
    }

    /// Whether the search must end.
    #[inline(always)]
    pub fn is_set(&self) -> bool {
        self.flag.load(Ordering::Relaxed)
            || self.whole.as_ref().is_some_and(|whole| whole.load(Ordering::Relaxed))
            || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_ends_alone_or_with_the_whole() {
        let whole = Stop::default();
        let (first, second) = (whole.part(), whole.part());
        first.set();
        assert!(first.is_set() && !second.is_set() && !whole.is_set());
        whole.set();
        assert!(second.is_set());
    }

    #[test]
    fn a_deadline_holds_for_parts_too() {
        let past = Stop::default().by(Instant::now());
        assert!(past.is_set() && past.part().is_set());
    }
}
