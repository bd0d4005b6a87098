//! How long a search may go on: by depth, by positions, by time for a move or for a game.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::stop::Stop;

/// What bounds one search. The first limit that is reached ends it; without any it goes on
/// until the position is solved.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SearchLimits {
    /// Plies to look ahead.
    pub depth: Option<u32>,
    /// Time for this move.
    pub movetime: Option<Duration>,
    /// Time left for all of the player's moves in this game, this one included.
    pub remaining: Option<Duration>,
    /// Positions to visit.
    pub nodes: Option<u64>,
    /// With at most this many empty squares the position is solved, whatever the other limits.
    pub solve_empties: u32,
    /// Threads that work on the position.
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
    /// A search of fixed depth.
    pub fn depth(depth: u32) -> SearchLimits {
        SearchLimits { depth: Some(depth), ..SearchLimits::default() }
    }

    /// The time that this search may take, with `empties` empty squares on the board.
    fn time(&self, empties: u32) -> Option<Duration> {
        let share = self.remaining.map(|remaining| share_of_game(remaining, empties));
        match (self.movetime, share) {
            (Some(movetime), Some(share)) => Some(movetime.min(share)),
            (movetime, share) => movetime.or(share),
        }
    }
}

/// The share of the game's remaining time that one move gets, with `empties` empty squares on the
/// board.
///
/// Half of the empty squares are the player's, and the last ten or so moves cost next to
/// nothing, being solved. What is left is dealt out evenly, with something kept back.
pub fn share_of_game(remaining: Duration, empties: u32) -> Duration {
    let moves = (empties.saturating_sub(14) / 2).max(2);
    remaining.mul_f64(0.95) / moves
}

/// A running search's allowance, shared by its threads.
pub(super) struct SearchClock<'a> {
    stop: Option<&'a Stop>,
    started: Instant,
    time: Option<Duration>,
    nodes: Option<u64>,
    spent: AtomicU64,
    stopped: AtomicBool,
}

impl<'a> SearchClock<'a> {
    /// Starts counting. The search also ends once `stop` is set, if there is one.
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

    /// Positions that a thread may visit before it reports them.
    pub(super) fn interval(&self) -> u64 {
        self.nodes.map_or(1024, |most| (most / 16).clamp(1, 1024))
    }

    /// Reports visited positions; whether the search must stop.
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

    /// Whether another iteration is worth starting: one takes a few times as long as all
    /// before it.
    pub(super) fn allows_another_iteration(&self) -> bool {
        !self.stop.is_some_and(Stop::is_set)
            && !self.stopped.load(Ordering::Relaxed)
            && self.time.is_none_or(|most| self.started.elapsed() < most / 2)
    }

    /// Positions reported so far.
    pub(super) fn nodes(&self) -> u64 {
        self.spent.load(Ordering::Relaxed)
    }

    /// Time since the start.
    pub(super) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }
}
