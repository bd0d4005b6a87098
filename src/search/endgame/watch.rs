//! A solve that another thread can follow, and that may run out of time.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::Solver;
use crate::game::{Board, Geometry, Square};
use crate::search::clock::{SearchClock, SearchLimits};

/// What is asked about a position.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SolveGoal {
    /// The final score.
    Score,
    /// Who wins: 1 the side to move, -1 the other, 0 nobody.
    Winner,
}

/// What a solve has found out, for the side to move.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SolveResult {
    /// The score, or the winner, and a line of moves that keep it. With a time limit the line may
    /// end before the game does.
    Solved {
        /// The score, or the winner.
        score: i32,
        /// The line, passes left out.
        line: Vec<Square>,
    },
    /// Time ran out first.
    Unsolved {
        /// The score is at least this; `None` where nothing is known.
        lower: Option<i32>,
        /// The score is at most this; `None` where nothing is known.
        upper: Option<i32>,
        /// The move that reaches the known bound, if there is one. It is a move of the other side
        /// if the side to move must pass.
        best: Option<Square>,
    },
}

/// How far a solve has come.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct SolveProgress {
    /// Positions visited.
    pub nodes: u64,
    /// Time since the start.
    pub elapsed: Duration,
    /// Moves of the position itself.
    pub moves: u32,
    /// How many of them are searched to the end: the first takes the longest by far.
    pub moves_done: u32,
    /// The best of these, and the least that it is worth for the side that makes it.
    pub best: Option<(Square, i32)>,
}

/// What is known about the moves of the position that is solved.
#[derive(Default)]
struct Root {
    moves: u32,
    /// The squares of the moves that are done, as bits.
    done: u128,
    best: Option<(Square, i32)>,
}

/// One solve, as another thread sees it while it goes on.
pub struct Watch {
    pub(super) clock: SearchClock<'static>,
    time: Option<Duration>,
    root: Mutex<Root>,
}

impl Watch {
    /// A watch for one solve, which begins now and may take so much time.
    pub fn start(time: Option<Duration>) -> Watch {
        Watch::within(&SearchLimits { movetime: time, ..SearchLimits::default() })
    }

    /// A watch for one solve that ends by any of the limits.
    pub(super) fn within(limits: &SearchLimits) -> Watch {
        Watch {
            clock: SearchClock::start(limits, 0, None),
            time: limits.movetime,
            root: Mutex::default(),
        }
    }

    /// How long the solve may take.
    pub fn time(&self) -> Option<Duration> {
        self.time
    }

    /// How far the solve has come.
    pub fn progress(&self) -> SolveProgress {
        let (moves, moves_done, best) =
            self.root(|root| (root.moves, root.done.count_ones(), root.best));
        let (nodes, elapsed) = (self.clock.nodes(), self.clock.elapsed());
        SolveProgress { nodes, elapsed, moves, moves_done, best }
    }

    /// Notes that a move of the position is searched to the end. `score` is its score if that is
    /// above all others, else a bound that is not.
    pub(super) fn note(&self, square: Square, score: i32) {
        self.root(|root| {
            root.done |= 1 << square.index();
            if root.best.is_none_or(|(_, best)| score > best) {
                root.best = Some((square, score));
            }
        });
    }

    fn root<T>(&self, look: impl FnOnce(&mut Root) -> T) -> T {
        look(&mut self.root.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl<G: Geometry> Solver<G> {
    /// Answers a question about a position in the time that `watch` allows, and lets other threads
    /// see how far it is. The line may take a quarter of that time more.
    pub fn answer(&mut self, board: Board<G>, question: SolveGoal, watch: &Watch) -> SolveResult {
        self.table.age();
        // Where the side to move must pass, the moves are those of the other.
        let passes = board.legal().is_empty() && !board.is_over();
        let mover = if passes { board.pass() } else { board };
        watch.root(|root| root.moves = mover.legal().len() as u32);
        let most = match question {
            SolveGoal::Score => G::SQUARES as i32,
            SolveGoal::Winner => 1,
        };
        let Some(score) = self.search(mover, -most, most, &watch.clock, Some(watch)) else {
            return unsolved(watch, most, passes);
        };
        let score = if passes { -score } else { score };
        let score = match question {
            SolveGoal::Score => score,
            SolveGoal::Winner => score.signum(),
        };
        let ends = watch.time.map(|time| Instant::now() + time / 4);
        let keeps = |solver: &mut Self, child, worth| {
            let left = ends.map(|ends| ends.saturating_duration_since(Instant::now()));
            solver.keeps(question, child, worth, left)
        };
        SolveResult::Solved { score, line: self.line(board, score, keeps) }
    }

    /// Whether the move that led to `child` keeps `worth`, the value of the position before it for
    /// the side that made it. False if that is not found out in time.
    pub(super) fn keeps(
        &mut self,
        question: SolveGoal,
        child: Board<G>,
        worth: i32,
        time: Option<Duration>,
    ) -> bool {
        match question {
            SolveGoal::Score => {
                let bound = self.window_within(child, -worth, -worth + 1, time);
                bound.is_some_and(|bound| bound <= -worth)
            }
            SolveGoal::Winner => {
                let winner = self.window_within(child, -1, 1, time);
                winner.is_some_and(|winner| winner.signum() == -worth)
            }
        }
    }
}

fn unsolved(watch: &Watch, most: i32, passes: bool) -> SolveResult {
    // Every score is at least `-most`; a bound above `most` is more than was asked about.
    let best = watch.progress().best.filter(|&(_, score)| score > -most);
    let bound = best.map(|(_, score)| score.min(most));
    let (lower, upper) = if passes { (None, bound.map(i32::wrapping_neg)) } else { (bound, None) };
    SolveResult::Unsolved { lower, upper, best: best.map(|(square, _)| square) }
}
