//! Solves with a time limit whose progress another thread can read.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::Solver;
use crate::game::{Board, Geometry, Square};
use crate::search::clock::{SearchClock, SearchLimits};

/// What a solve must find out about a position.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SolveGoal {
    /// The final score.
    Score,
    /// The winner: 1 is the side to move, -1 the other side, 0 a draw.
    Winner,
}

/// The result of a solve. Scores are for the side to move.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SolveResult {
    /// The solve is complete.
    Solved {
        /// The score, or the winner, as [`SolveGoal`] asks.
        score: i32,
        /// A line of moves that keep it, without passes. With a time limit it may end before the
        /// game does.
        line: Vec<Square>,
    },
    /// The time was not enough.
    Unsolved {
        /// A lower bound on the score, if one is known.
        lower: Option<i32>,
        /// An upper bound on the score, if one is known.
        upper: Option<i32>,
        /// The move that reaches the known bound, if there is one. It is a move of the other side
        /// if the side to move must pass.
        best: Option<Square>,
    },
}

/// The progress of a running solve.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct SolveProgress {
    /// Positions visited.
    pub nodes: u64,
    /// The time since the start.
    pub elapsed: Duration,
    /// The number of root moves.
    pub moves: u32,
    /// How many of them are completely searched. The first one takes by far the longest.
    pub moves_done: u32,
    /// The best of these moves, and a lower bound on its score for the side that makes it.
    pub best: Option<(Square, i32)>,
}

/// The root moves of a running solve.
#[derive(Default)]
struct Root {
    moves: u32,
    /// The squares of the completed moves, as bits.
    done: u128,
    best: Option<(Square, i32)>,
}

/// The limits and the progress of one solve, for another thread to read while it runs.
pub struct SolveMonitor {
    pub(super) clock: SearchClock<'static>,
    time: Option<Duration>,
    root: Mutex<Root>,
}

impl SolveMonitor {
    /// A monitor for one solve that starts now, with a time limit if one is given.
    pub fn start(time: Option<Duration>) -> SolveMonitor {
        SolveMonitor::within(&SearchLimits { movetime: time, ..SearchLimits::default() })
    }

    /// A monitor for one solve with any limits.
    pub(super) fn within(limits: &SearchLimits) -> SolveMonitor {
        SolveMonitor {
            clock: SearchClock::start(limits, 0, None),
            time: limits.movetime,
            root: Mutex::default(),
        }
    }

    /// The time limit.
    pub fn time(&self) -> Option<Duration> {
        self.time
    }

    /// The progress so far.
    pub fn progress(&self) -> SolveProgress {
        let (moves, moves_done, best) =
            self.root(|root| (root.moves, root.done.count_ones(), root.best));
        let (nodes, elapsed) = (self.clock.nodes(), self.clock.elapsed());
        SolveProgress { nodes, elapsed, moves, moves_done, best }
    }

    /// Notes that a root move is completely searched. `score` is its score if it exceeds those of
    /// all earlier moves, else a bound that does not.
    pub(super) fn note(&self, square: Square, score: i32) {
        self.root(|root| {
            root.done |= 1 << square.index();
            if root.best.is_none_or(|(_, best)| score > best) {
                root.best = Some((square, score));
            }
        });
    }

    fn root<T>(&self, access: impl FnOnce(&mut Root) -> T) -> T {
        access(&mut self.root.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl<G: Geometry> Solver<G> {
    /// Solves a position within the limits of `monitor`, which also has the progress for other
    /// threads. Finding the line can take a quarter of the time limit more.
    ///
    /// ```
    /// use outflank::game::{Goal, Square6, notation};
    /// use outflank::search::endgame::{SolveGoal, SolveMonitor, SolveResult, Solver};
    ///
    /// let line = "OOO***-O*-*-O*O***OOO*****O*O-*-O-O- O";
    /// let board = notation::parse_obf::<Square6>(line)?.position.board;
    /// let monitor = SolveMonitor::start(None);
    /// let result = Solver::new(Goal::Most, 1 << 20).solve(board, SolveGoal::Winner, &monitor);
    /// // The winner alone takes fewer nodes than the score.
    /// assert!(matches!(result, SolveResult::Solved { score: 1, .. }));
    /// assert_eq!(monitor.progress().moves, 5);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn solve(
        &mut self,
        board: Board<G>,
        solve_goal: SolveGoal,
        monitor: &SolveMonitor,
    ) -> SolveResult {
        self.table.age();
        // If the side to move must pass, the root moves are those of the other side.
        let passes = board.legal().is_empty() && !board.is_over();
        let mover = if passes { board.pass() } else { board };
        monitor.root(|root| root.moves = mover.legal().len() as u32);
        let most = match solve_goal {
            SolveGoal::Score => G::SQUARES as i32,
            SolveGoal::Winner => 1,
        };
        let Some(score) = self.search(mover, -most, most, &monitor.clock, Some(monitor)) else {
            return unsolved(monitor, most, passes);
        };
        let score = if passes { -score } else { score };
        let score = match solve_goal {
            SolveGoal::Score => score,
            SolveGoal::Winner => score.signum(),
        };
        let ends = monitor.time.map(|time| Instant::now() + time / 4);
        let keeps = |solver: &mut Self, child, value| {
            let left = ends.map(|ends| ends.saturating_duration_since(Instant::now()));
            solver.keeps(solve_goal, child, value, left)
        };
        SolveResult::Solved { score, line: self.line(board, score, keeps) }
    }

    /// Whether the move that led to `child` keeps `value`, the value of the position before the
    /// move for the side that made it. `false` if the time is not enough to find out.
    pub(super) fn keeps(
        &mut self,
        solve_goal: SolveGoal,
        child: Board<G>,
        value: i32,
        time: Option<Duration>,
    ) -> bool {
        match solve_goal {
            SolveGoal::Score => {
                let bound = self.window_within(child, -value, -value + 1, time);
                bound.is_some_and(|bound| bound <= -value)
            }
            SolveGoal::Winner => {
                let winner = self.window_within(child, -1, 1, time);
                winner.is_some_and(|winner| winner.signum() == -value)
            }
        }
    }
}

fn unsolved(monitor: &SolveMonitor, most: i32, passes: bool) -> SolveResult {
    // A lower bound of `-most` says nothing, since every score reaches it. For the winner, a bound
    // above `most` counts as `most`.
    let best = monitor.progress().best.filter(|&(_, score)| score > -most);
    let bound = best.map(|(_, score)| score.min(most));
    let (lower, upper) = if passes { (None, bound.map(i32::wrapping_neg)) } else { (bound, None) };
    SolveResult::Unsolved { lower, upper, best: best.map(|(square, _)| square) }
}
