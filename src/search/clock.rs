//! The limits of a search: depth, positions, and time for a move or for a game.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::stop::Stop;

/// The limits of one search. It ends at the first limit that it reaches. Without limits it
/// continues until the position is solved.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SearchLimits {
    /// The greatest depth, in plies.
    pub depth: Option<u32>,
    /// The most time for this move.
    pub movetime: Option<Duration>,
    /// The time left for all moves of the player in this game, this one included.
    pub remaining: Option<Duration>,
    /// The most positions visited.
    pub nodes: Option<u64>,
    /// A position with at most this many empty squares is solved, and the other limits do not
    /// apply.
    pub solve_empties: u32,
    /// The number of threads.
    pub threads: usize,
}

impl Default for SearchLimits {
    fn default() -> SearchLimits {
        SearchLimits {
            depth: None,
            movetime: None,
            remaining: None,
            nodes: None,
            solve_empties: 0,
            threads: 1,
        }
    }
}

impl SearchLimits {
    /// The limits of a search of fixed depth.
    pub fn depth(depth: u32) -> SearchLimits {
        SearchLimits { depth: Some(depth), ..SearchLimits::default() }
    }

    /// The most time for this search; `empties` is the number of empty squares.
    fn time(&self, empties: u32) -> Option<Duration> {
        let share = self.remaining.map(|remaining| time_for_move(remaining, empties));
        match (self.movetime, share) {
            (Some(movetime), Some(share)) => Some(movetime.min(share)),
            (movetime, share) => movetime.or(share),
        }
    }
}

/// The time for one move out of the `remaining` time of a game, with `empties` empty squares.
///
/// The player fills about half of the empty squares. Its moves at the end of the game need almost
/// no time, since those positions are solved: 14 empty squares are not counted. The other moves
/// share 95 % of the time evenly.
pub fn time_for_move(remaining: Duration, empties: u32) -> Duration {
    let moves = (empties.saturating_sub(14) / 2).max(2);
    remaining.mul_f64(0.95) / moves
}

/// The limits of a running search and what it has used of them, shared by its threads.
pub(super) struct SearchClock<'a> {
    stop: Option<&'a Stop>,
    started: Instant,
    time: Option<Duration>,
    nodes: Option<u64>,
    spent: AtomicU64,
    stopped: AtomicBool,
}

impl<'a> SearchClock<'a> {
    /// Starts the clock. Setting `stop` also ends the search.
    pub(super) fn start(
        limits: &SearchLimits,
        empties: u32,
        stop: Option<&'a Stop>,
    ) -> SearchClock<'a> {
        SearchClock {
            stop,
            started: Instant::now(),
            time: limits.time(empties),
            nodes: limits.nodes,
            spent: AtomicU64::new(0),
            stopped: AtomicBool::new(false),
        }
    }

    /// The number of positions that a thread visits between two calls of [`SearchClock::spend`].
    pub(super) fn interval(&self) -> u64 {
        self.nodes.map_or(1024, |most| (most / 16).clamp(1, 1024))
    }

    /// Adds visited positions. Returns whether the search must stop.
    pub(super) fn spend(&self, nodes: u64) -> bool {
        let spent = self.spent.fetch_add(nodes, Ordering::Relaxed) + nodes;
        if self.stop.is_some_and(Stop::is_set)
            || self.nodes.is_some_and(|most| spent >= most)
            || self.time.is_some_and(|most| self.started.elapsed() >= most)
        {
            self.stopped.store(true, Ordering::Relaxed);
        }
        self.stopped.load(Ordering::Relaxed)
    }

    /// Whether to start another iteration of iterative deepening. An iteration takes a few times
    /// as long as all earlier ones together, so none starts after half of the time.
    pub(super) fn allows_another_iteration(&self) -> bool {
        !self.stop.is_some_and(Stop::is_set)
            && !self.stopped.load(Ordering::Relaxed)
            && self.time.is_none_or(|most| self.started.elapsed() < most / 2)
    }

    /// The positions counted by [`SearchClock::spend`] so far.
    pub(super) fn nodes(&self) -> u64 {
        self.spent.load(Ordering::Relaxed)
    }

    /// The time since the start.
    pub(super) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }
}
