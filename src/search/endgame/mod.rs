//! The exact solver: what a position is worth when both sides play perfectly to the end.
//!
//! Scores are [`Board::final_score`]s for the side to move: disc differences with the empty
//! squares to the winner, negated under [`Goal::Fewest`].

mod last;
mod near;
mod order;
mod parity;
mod searcher;
mod watch;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::busy::Busy;
use super::clock::{SearchClock, SearchLimits};
use super::stop::Stop;
use super::table::{Key, TranspositionTable};
use crate::game::{Board, Geometry, Goal, Square};
use order::Order;
use searcher::{Memory, Searcher, Shared};
pub use watch::{SolveGoal, SolveProgress, SolveResult, Watch};

/// Solves positions exactly; keeps its table between positions.
pub struct Solver<G: Geometry> {
    goal: Goal,
    table: TranspositionTable,
    threads: usize,
    /// When [`Solver::score_in_time`] gives up.
    deadline: Option<Instant>,
    /// Ends what is tried within a time, once it is set.
    stop: Stop,
    /// So many empty squares, or more, have turned out to take too long for the deadline.
    too_many: u32,
    busy: Busy,
    /// Of this thread and of its helpers.
    memories: Vec<Memory<G>>,
    order: Order<G>,
    /// Positions visited since the solver was made. A pass and the end of the game are not
    /// counted as positions of their own.
    pub nodes: u64,
}

impl<G: Geometry> Solver<G> {
    /// A solver whose table takes at most `table_bytes` (but at least one cache line).
    pub fn new(goal: Goal, table_bytes: usize) -> Self {
        let (table, busy) = (TranspositionTable::new(table_bytes), Busy::new());
        let (memories, order) = (vec![Memory::new(goal)], Order::new(goal));
        Solver {
            goal,
            table,
            threads: 1,
            deadline: None,
            stop: Stop::default(),
            too_many: u32::MAX,
            busy,
            memories,
            order,
            nodes: 0,
        }
    }

    /// The same solver with so many threads for each position.
    pub fn with_threads(self, threads: usize) -> Self {
        Solver { threads: threads.max(1), ..self }
    }

    /// The final score for the side to move under perfect play. A side without moves passes.
    pub fn score(&mut self, board: Board<G>) -> i32 {
        let most = G::SQUARES as i32;
        self.window(board, -most, most)
    }

    /// Until when [`Solver::score_in_time`] may search; `None`, as at first, is for ever.
    pub fn set_deadline(&mut self, deadline: Option<Instant>) {
        (self.deadline, self.too_many) = (deadline, u32::MAX);
    }

    /// [`Solver::score_in_time`] and [`Solver::best_line_within`] give up once this flag is set.
    /// While it is set, the lines of [`Solver::best_line`] and [`Solver::answer`] may end before
    /// the game does.
    pub fn set_stop(&mut self, stop: Stop) {
        (self.stop, self.too_many) = (stop, u32::MAX);
    }

    /// The score as by [`Solver::score`]. With a deadline it is `None` if a quarter of the time
    /// that is left does not suffice: so enough is left for another method. After that, positions
    /// with as many empty squares are not tried again before the same deadline.
    ///
    /// The last few squares, which take microseconds, are always solved.
    pub fn score_in_time(&mut self, board: Board<G>) -> Option<i32> {
        if board.empties() >= self.too_many {
            return None;
        }
        let most = G::SQUARES as i32;
        let left = self.deadline.map(|end| end.saturating_duration_since(Instant::now()));
        let score = self.window_within(board, -most, most, left.map(|left| left / 4));
        if score.is_none() {
            self.too_many = board.empties();
        }
        score
    }

    /// The score, and one line of perfect play to the end of the game, passes left out. Which of
    /// equally good moves it has may depend on what was solved before.
    pub fn best_line(&mut self, board: Board<G>) -> (i32, Vec<Square>) {
        self.table.age();
        let score = self.score(board);
        let keeps =
            |solver: &mut Self, child, score| solver.keeps(SolveGoal::Score, child, score, None);
        (score, self.line(board, score, keeps))
    }

    /// The same as [`Solver::best_line`] within a time: so many threads have `time` to find the
    /// score, and a quarter more to find its move. The line has that move, but may end before the
    /// game does.
    ///
    /// Without a time only the flag of [`Solver::set_stop`] ends the search. What was found out in
    /// vain helps the next try. `None` if it is not found, and where the game is over.
    pub fn best_line_within(
        &mut self,
        board: Board<G>,
        time: Option<Duration>,
        threads: usize,
    ) -> Option<(i32, Vec<Square>)> {
        self.table.age();
        let usual = std::mem::replace(&mut self.threads, threads.max(1));
        let (before, begun) = (self.nodes, Instant::now());
        let found = self.line_within(board, time);
        tracing::debug!(
            "solver: {} empties, score {:?}, {} nodes in {:.3} s",
            board.empties(),
            found.as_ref().map(|(score, _)| score),
            self.nodes - before,
            begun.elapsed().as_secs_f64()
        );
        self.threads = usual;
        found
    }

    fn line_within(
        &mut self,
        board: Board<G>,
        time: Option<Duration>,
    ) -> Option<(i32, Vec<Square>)> {
        let begun = Instant::now();
        // A score that is found at the last moment is worth some more time for its move.
        let left = || time.map(|time| (time + time / 4).saturating_sub(begun.elapsed()));
        let most = G::SQUARES as i32;
        let score = self.window_within(board, -most, most, time)?;
        let keeps =
            |solver: &mut Self, child, score| solver.keeps(SolveGoal::Score, child, score, left());
        let line = self.line(board, score, keeps);
        (!line.is_empty()).then_some((score, line))
    }

    /// A line of moves that keep what the position is worth to the side to move, which
    /// `keeps` tells from the board after a move.
    fn line(
        &mut self,
        mut board: Board<G>,
        mut worth: i32,
        keeps: impl Fn(&mut Self, Board<G>, i32) -> bool,
    ) -> Vec<Square> {
        let mut line = Vec::new();
        loop {
            if board.legal().is_empty() {
                board = board.pass();
                worth = -worth;
            }
            let hint = self.table.get(Key::of(board)).and_then(|entry| entry.best);
            let hint = hint.filter(|&square| board.legal().contains(square));
            let found = hint
                .into_iter()
                .chain(board.legal())
                .find(|&square| keeps(self, board.play_unchecked(square), worth));
            let Some(square) = found else { return line };
            line.push(square);
            board = board.play_unchecked(square);
            worth = -worth;
        }
    }

    /// The score if it lies between `alpha` and `beta`, else a bound on the same side.
    fn window(&mut self, board: Board<G>, alpha: i32, beta: i32) -> i32 {
        // Without a limit some thread completes the search.
        let clock = SearchClock::start(&SearchLimits::default(), board.empties(), None);
        self.search(board, alpha, beta, &clock, None).unwrap_or(alpha)
    }

    /// The same; `None` if it is not found in time, or before the solver is stopped.
    fn window_within(
        &mut self,
        board: Board<G>,
        alpha: i32,
        beta: i32,
        movetime: Option<Duration>,
    ) -> Option<i32> {
        let stop = self.stop.clone();
        let limits = SearchLimits { movetime, ..SearchLimits::default() };
        let clock = SearchClock::start(&limits, board.empties(), Some(&stop));
        self.search(board, alpha, beta, &clock, None)
    }

    /// The same, by a clock that runs already, for `watch` to see if there is one.
    fn search(
        &mut self,
        board: Board<G>,
        alpha: i32,
        beta: i32,
        clock: &SearchClock,
        watch: Option<&Watch>,
    ) -> Option<i32> {
        let done = AtomicBool::new(false);
        let busy = (self.threads > 1).then_some(&self.busy);
        let shared = Shared { table: &self.table, clock, done: &done, busy, watch };
        let helpers = if busy.is_some() && board.empties() >= searcher::SHARED {
            self.threads - 1
        } else {
            0
        };
        while self.memories.len() <= helpers {
            self.memories.push(Memory::new(self.goal));
        }
        let order = &self.order;
        let finish = |memory: &mut Memory<G>| {
            let mut searcher = Searcher::new(shared, memory, order);
            let score = searcher.search(board, alpha, beta);
            let complete = !searcher.halted;
            searcher.report();
            done.fetch_or(complete, Ordering::Relaxed);
            complete.then_some(score)
        };
        let (own, others) = self.memories.split_at_mut(1);
        let score = if helpers == 0 {
            finish(&mut own[0])
        } else {
            std::thread::scope(|scope| {
                let finish = &finish;
                let others = others.iter_mut().take(helpers);
                let others: Vec<_> =
                    others.map(|memory| scope.spawn(move || finish(memory))).collect();
                let own = finish(&mut own[0]);
                // A panic in a helper is a bug, and is passed on.
                let join = |other: std::thread::ScopedJoinHandle<'_, Option<i32>>| {
                    other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
                };
                others.into_iter().map(join).fold(own, Option::or)
            })
        };
        self.nodes += clock.nodes();
        score
    }
}

#[cfg(test)]
pub(super) mod tests;
