//! Queries that wait for a thread, by priority.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::query::Query;
use crate::search::stop::Stop;

/// The most queries that are not finished. Later lines wait in the pipe.
const MOST_QUERIES: usize = 1000;

/// A query in progress.
pub(super) struct Job {
    pub query: Query,
    pub stop: Stop,
    /// Whether its player failed: then the other positions are left out.
    pub failed: AtomicBool,
    /// Positions without an answer.
    left: AtomicUsize,
}

/// The order of answers: priority, then arrival, then the order of the query's turns.
type Place = (Reverse<i64>, u64, usize);

#[derive(Default)]
struct State {
    waiting: BTreeMap<Place, Arc<Job>>,
    unfinished: Vec<Arc<Job>>,
    arrived: u64,
    closed: bool,
}

/// The positions of all queries that wait.
#[derive(Default)]
pub(super) struct Queue {
    state: Mutex<State>,
    /// A position came, or the queue was closed.
    work: Condvar,
    /// A query is finished, or the queue was closed.
    room: Condvar,
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a query. Waits for room; does nothing after the queue was closed.
    pub fn push(&self, query: Query) {
        let is_full = |state: &mut State| state.unfinished.len() >= MOST_QUERIES && !state.closed;
        let waited = self.room.wait_while(self.lock(), is_full);
        let mut state = waited.unwrap_or_else(PoisonError::into_inner);
        if state.closed {
            return;
        }
        let (left, priority) = (AtomicUsize::new(query.turns.len()), Reverse(query.priority));
        let (stop, failed) = (Stop::default(), AtomicBool::new(false));
        let job = Arc::new(Job { query, stop, failed, left });
        let number = state.arrived;
        state.arrived += 1;
        for index in 0..job.query.turns.len() {
            state.waiting.insert((priority, number, index), job.clone());
        }
        state.unfinished.push(job);
        drop(state);
        self.work.notify_all();
    }

    /// The next position: its query and its ply. Waits for one; `None` when the queue was closed and
    /// is empty.
    pub fn pop(&self) -> Option<(Arc<Job>, usize)> {
        let is_idle = |state: &mut State| state.waiting.is_empty() && !state.closed;
        let waited = self.work.wait_while(self.lock(), is_idle);
        let mut state = waited.unwrap_or_else(PoisonError::into_inner);
        let ((_, _, index), job) = state.waiting.pop_first()?;
        let turn = job.query.turns[index];
        Some((job, turn))
    }

    /// Notes that a position has its answer.
    pub fn finish(&self, job: &Arc<Job>) {
        if job.left.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.lock().unfinished.retain(|other| !Arc::ptr_eq(other, job));
            self.room.notify_all();
        }
    }

    /// Ends the analysis of the queries with an id, or of all. Their positions still get answers.
    pub fn terminate(&self, id: Option<&str>) {
        let state = self.lock();
        let meant = |job: &&Arc<Job>| id.is_none_or(|id| job.query.id == id);
        state.unfinished.iter().filter(meant).for_each(|job| job.stop.set());
    }

    /// Nothing more comes. What waits is still answered.
    pub fn close(&self) {
        self.lock().closed = true;
        self.work.notify_all();
        self.room.notify_all();
    }

    /// Nobody wants answers any more.
    pub fn abandon(&self) {
        self.terminate(None);
        self.lock().waiting.clear();
        self.close();
    }
}
