//! The limits of a search: depth, positions, and time for a move or for a game.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::stop::Stop;
use crate::choices::choices;

choices! {
    /// How the time for all moves of a game is divided among them.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use outflank::search::alphabeta::Allotment;
    ///
    /// let minute = Duration::from_secs(60);
    /// let [even, falling] = Allotment::ALL else { panic!("two ways") };
    /// let share = |way: &Allotment| way.time_for_move(minute, 60).as_secs_f64();
    /// assert!((share(even) - 2.48).abs() < 0.01 && (share(falling) - 3.87).abs() < 0.01);
    /// ```
    pub enum Allotment {
        /// Evenly, with little for the end of the game. An iteration that can hardly be completed in
        /// the time for the move is not started.
        #[default]
        Even = "even",
        /// On a straight line that falls to almost nothing at the last move (Perversi). Iterations
        /// start until the time for the move is over.
        Falling = "falling",
    }
}

impl Allotment {
    /// The time for one move out of the `remaining` time of a game, with `empties` empty squares. It
    /// is never more than `remaining`.
    pub fn time_for_move(self, remaining: Duration, empties: u32) -> Duration {
        match self {
            Allotment::Even => even_share(remaining, empties),
            Allotment::Falling => falling_share(remaining, empties),
        }
    }
}

/// The player fills about half of the empty squares. Its moves at the end of the game need almost
/// no time, since those positions are solved: 14 empty squares are not counted. The other moves
/// share 95 % of the time evenly.
fn even_share(remaining: Duration, empties: u32) -> Duration {
    let moves = (empties.saturating_sub(14) / 2).max(2);
    remaining.mul_f64(0.95) / moves
}

/// The player fills half of the empty squares, rounded up, with `moves` moves. The line falls by one
/// unit a move, to one unit at the last move. So this move gets `moves` of the
/// `moves * (moves + 1) / 2` units that are left. Time that a move leaves over goes to all later ones.
fn falling_share(remaining: Duration, empties: u32) -> Duration {
    let moves = empties.div_ceil(2).max(1);
    remaining.mul_f64(2.0 / f64::from(moves + 1)).min(remaining)
}

/// The limits of one search. It ends at the first limit that it reaches. Without limits it
/// continues until the position is solved.
///
/// ```
/// use std::time::Duration;
///
/// use outflank::search::alphabeta::SearchLimits;
///
/// // Half a second, and endings of 16 empty squares to the end.
/// let limits = SearchLimits {
///     movetime: Some(Duration::from_millis(500)),
///     solve_empties: 16,
///     ..SearchLimits::default()
/// };
/// assert_eq!((limits.depth, limits.threads), (None, 1));
/// ```
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SearchLimits {
    /// The greatest depth, in plies.
    pub depth: Option<u32>,
    /// The most time for this move.
    pub movetime: Option<Duration>,
    /// The time left for all moves of the player in this game, this one included.
    pub remaining: Option<Duration>,
    /// How `remaining` is divided among those moves.
    pub allotment: Allotment,
    /// The most positions visited.
    pub nodes: Option<u64>,
    /// A position with at most this many empty squares is solved, and the other limits do not
    /// apply.
    pub solve_empties: u32,
    /// Whether a search with ProbCut to the end of the game is followed by an exact one. Without
    /// ProbCut it is exact anyway.
    pub exact: bool,
    /// Moves of the position itself that alpha-beta leaves out, as a set of bits of the board.
    pub skipped: u128,
    /// The number of threads.
    pub threads: usize,
}

impl Default for SearchLimits {
    fn default() -> SearchLimits {
        SearchLimits {
            depth: None,
            movetime: None,
            remaining: None,
            allotment: Allotment::Even,
            nodes: None,
            solve_empties: 0,
            exact: true,
            skipped: 0,
            threads: 1,
        }
    }
}

impl SearchLimits {
    /// The limits of a search of fixed depth.
    pub fn depth(depth: u32) -> SearchLimits {
        SearchLimits { depth: Some(depth), ..SearchLimits::default() }
    }

    /// The most time for this search, and the part of it in which iterations start; `empties` is the
    /// number of empty squares. `movetime` is used up, since later moves gain nothing by what is left
    /// of it.
    fn time(&self, empties: u32) -> Option<(Duration, Duration)> {
        let share =
            self.remaining.map(|remaining| self.allotment.time_for_move(remaining, empties));
        match (self.movetime, share) {
            (Some(movetime), share) if share.is_none_or(|share| movetime <= share) => {
                Some((movetime, movetime))
            }
            (_, Some(share)) if self.allotment == Allotment::Even => Some((share, share / 2)),
            (_, share) => share.map(|share| (share, share)),
        }
    }
}

/// The limits of a running search and what it has used of them, shared by its threads.
pub(super) struct SearchClock<'a> {
    stop: Option<&'a Stop>,
    started: Instant,
    time: Option<Duration>,
    /// The time after which no iteration starts.
    last_start: Option<Duration>,
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
        let (time, last_start) = limits.time(empties).unzip();
        SearchClock {
            stop,
            started: Instant::now(),
            time,
            last_start,
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
    /// as long as all earlier ones together. So none starts after half of a share of
    /// [`SearchLimits::remaining`] with [`Allotment::Even`]: what is left serves later moves.
    pub(super) fn allows_another_iteration(&self) -> bool {
        !self.stop.is_some_and(Stop::is_set)
            && !self.stopped.load(Ordering::Relaxed)
            && self.last_start.is_none_or(|most| self.started.elapsed() < most)
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

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    #[test]
    fn no_move_gets_more_than_is_left_and_no_game_more_than_its_clock() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(3);
        for round in 0..2_000 {
            let clock = Duration::from_nanos(random.random_range(0..200_000_000_000));
            let allotment = if round % 2 == 0 { Allotment::Even } else { Allotment::Falling };
            let (mut left, mut empties) = (clock, random.random_range(1..=92));
            let mut spent = Duration::ZERO;
            while empties > 0 {
                let time = allotment.time_for_move(left, empties);
                assert!(time <= left, "{allotment} {left:?} {empties}");
                let used = time.mul_f64(random.random::<f64>()).min(time);
                (left, spent) = (left - used, spent + used);
                // The other side plays too, unless it passes.
                empties = u32::saturating_sub(empties, random.random_range(1..=2));
            }
            assert!(spent <= clock, "{allotment} {clock:?}");
        }
    }

    #[test]
    fn a_falling_allotment_that_is_used_up_is_a_straight_line() {
        let (clock, mut left) = (Duration::from_secs(150), Duration::from_secs(150));
        let mut times = Vec::new();
        for empties in (0..=88).rev().step_by(2).filter(|&empties| empties > 0) {
            let time = Allotment::Falling.time_for_move(left, empties);
            left -= time;
            times.push(time.as_secs_f64());
        }
        assert_eq!(times.len(), 44);
        let step = clock.as_secs_f64() / (44.0 * 45.0 / 2.0);
        for (index, time) in times.iter().enumerate() {
            let wanted = step * (44 - index) as f64;
            assert!((time - wanted).abs() < 1e-3, "{index}: {time} {wanted}");
        }
        assert!(left < Duration::from_millis(1), "{left:?}");
    }

    #[test]
    fn only_time_that_later_moves_can_use_is_saved() {
        let allows = |(movetime, allotment)| {
            let remaining = Some(Duration::from_secs(3600));
            let movetime = Some(Duration::from_secs(movetime));
            let limits = SearchLimits { movetime, remaining, allotment, ..SearchLimits::default() };
            let clock = SearchClock::start(&limits, 60, None);
            let time = clock.time.expect("a time");
            let second_half = clock.started.checked_sub(time.mul_f64(0.75));
            let clock = SearchClock { started: second_half.expect("an instant"), ..clock };
            clock.allows_another_iteration()
        };
        // A share of the hour is between the two times for a move.
        let [even, falling] = [Allotment::Even, Allotment::Falling];
        let cases = [(1, even), (3600, even), (1, falling), (3600, falling)];
        assert_eq!(cases.map(allows), [true, false, true, true]);
    }
}
