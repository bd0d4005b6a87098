//! The exact endgame solver: the final score of a position if both sides play perfectly.
//!
//! Scores are those of [`Board::final_score`] for the side to move: disc differences with the empty
//! squares to the winner, negated under [`Goal::Fewest`].

mod leaf_solver;
mod monitor;
mod near_end;
mod order;
mod parity;
mod searcher;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::active::ActivePositions;
use super::clock::{SearchClock, SearchLimits};
use super::stop::Stop;
use super::table::{Key, TranspositionTable};
use crate::eval::positional::Positional;
use crate::eval::{AnyEvaluator, Evaluator, EvaluatorVisitor};
use crate::game::{Board, Geometry, Goal, Square};
pub use monitor::{SolveGoal, SolveMonitor, SolveProgress, SolveResult};
pub(super) use near_end::{NEAR_END, NearEndSearch};
use order::{MoveOrdering, ShallowSearch};
use searcher::{Searcher, Shared, ThreadState};

/// Solves positions exactly. It keeps its transposition table from one position to the next.
///
/// ```
/// use outflank::game::{Goal, Square6, notation};
/// use outflank::search::endgame::Solver;
///
/// let line = "OOO***-O*-*-O*O***OOO*****O*O-*-O-O- O";
/// let board = notation::parse_obf::<Square6>(line)?.position.board;
/// let mut solver = Solver::new(Goal::Most, 1 << 20);
/// let (score, line) = solver.best_line(board);
/// assert_eq!((score, notation::square_name::<Square6>(line[0]).as_str()), (8, "a2"));
/// // Other moves are worse. After a move the score is that of the opponent.
/// let scores: Vec<i32> =
///     board.legal().map(|square| -solver.score(board.play_unchecked(square))).collect();
/// assert_eq!(scores, [8, 2, 4, -22, -6]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Solver<G: Geometry> {
    goal: Goal,
    table: TranspositionTable,
    threads: usize,
    /// When [`Solver::score_in_time`] gives up.
    deadline: Option<Instant>,
    /// The flag that ends searches with a time limit.
    stop: Stop,
    /// Positions with at least this many empty squares take too long for the present deadline.
    too_many_empties: u32,
    active: ActivePositions,
    /// The states of the calling thread and of its helpers.
    thread_states: Vec<ThreadState<G>>,
    order: Box<dyn MoveOrdering<G>>,
    /// Positions visited by all solves of this solver. Passes and finished games are not counted.
    pub nodes: u64,
}

/// The arguments of [`Solver::ordered_by`] besides the evaluator.
struct Ordered {
    goal: Goal,
    table_bytes: usize,
}

impl<G: Geometry> EvaluatorVisitor<G> for Ordered {
    type Output = Solver<G>;

    fn visit<E: Evaluator<G> + 'static>(self, evaluator: Arc<E>) -> Solver<G> {
        Solver::ordered_by(self.goal, evaluator, self.table_bytes)
    }
}

impl<G: Geometry> Solver<G> {
    /// A solver whose table has at most `table_bytes` bytes, but at least one cache line. It orders
    /// moves by the positional evaluation.
    pub fn new(goal: Goal, table_bytes: usize) -> Self {
        Self::ordered_by(goal, Arc::new(Positional::new(goal)), table_bytes)
    }

    /// The same, but it orders moves by an evaluator for `goal`. Scores do not depend on the
    /// evaluator; how many positions are visited does.
    pub fn ordered_by<E>(goal: Goal, evaluator: Arc<E>, table_bytes: usize) -> Self
    where
        E: Evaluator<G> + 'static,
    {
        let (table, active) = (TranspositionTable::new(table_bytes), ActivePositions::new());
        let thread_states = vec![ThreadState::new(goal)];
        let order = Box::new(ShallowSearch { goal, evaluator });
        Solver {
            goal,
            table,
            threads: 1,
            deadline: None,
            stop: Stop::default(),
            too_many_empties: u32::MAX,
            active,
            thread_states,
            order,
            nodes: 0,
        }
    }

    /// The same with an evaluator that is chosen at run time.
    pub fn with_evaluator(goal: Goal, evaluator: &AnyEvaluator<G>, table_bytes: usize) -> Self {
        evaluator.visit(Ordered { goal, table_bytes })
    }

    /// The same solver with this many threads for each position, at least 1.
    ///
    /// ```
    /// use outflank::game::{Goal, Square6, notation};
    /// use outflank::search::endgame::Solver;
    ///
    /// let line = "OOO***-O*-*-O*O***OOO*****O*O-*-O-O- O";
    /// let board = notation::parse_obf::<Square6>(line)?.position.board;
    /// assert_eq!(Solver::new(Goal::Most, 1 << 20).with_threads(2).score(board), 8);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_threads(self, threads: usize) -> Self {
        Solver { threads: threads.max(1), ..self }
    }

    /// The final score for the side to move under perfect play. The side to move may have to pass.
    pub fn score(&mut self, board: Board<G>) -> i32 {
        let most = G::SQUARES as i32;
        self.window(board, -most, most)
    }

    /// Sets when [`Solver::score_in_time`] gives up; `None`, the default, means never.
    pub fn set_deadline(&mut self, deadline: Option<Instant>) {
        (self.deadline, self.too_many_empties) = (deadline, u32::MAX);
    }

    /// Sets the flag that makes [`Solver::score_in_time`] and [`Solver::best_line_within`] give up.
    /// While it is set, the lines of [`Solver::best_line`] and [`Solver::solve`] may end before the
    /// game does.
    pub fn set_stop(&mut self, stop: Stop) {
        (self.stop, self.too_many_empties) = (stop, u32::MAX);
    }

    /// The same as [`Solver::score`], but before the deadline if one is set. `None` if a quarter of
    /// the time left is not enough; the rest is for another method. From then on, positions with as
    /// many empty squares or more are refused, until a new deadline or flag is set.
    ///
    /// Positions with few empty squares take microseconds and are solved even after the deadline.
    ///
    /// ```
    /// use std::time::{Duration, Instant};
    ///
    /// use outflank::game::{Board, Goal, Square8};
    /// use outflank::search::endgame::Solver;
    ///
    /// let mut solver = Solver::<Square8>::new(Goal::Most, 1 << 20);
    /// solver.set_deadline(Some(Instant::now() + Duration::from_millis(10)));
    /// assert_eq!(solver.score_in_time(Board::start()), None, "the whole game takes longer");
    /// ```
    pub fn score_in_time(&mut self, board: Board<G>) -> Option<i32> {
        if board.empties() >= self.too_many_empties {
            return None;
        }
        let most = G::SQUARES as i32;
        let left = self.deadline.map(|end| end.saturating_duration_since(Instant::now()));
        let score = self.window_within(board, -most, most, left.map(|left| left / 4));
        if score.is_none() {
            self.too_many_empties = board.empties();
        }
        score
    }

    /// Forgets earlier solves, so that the next line does not depend on them.
    pub fn forget(&mut self) {
        self.table.forget();
    }

    /// The score, and a line of perfect play to the end of the game, without passes. If moves are
    /// equally good, the choice can depend on earlier solves.
    pub fn best_line(&mut self, board: Board<G>) -> (i32, Vec<Square>) {
        self.table.age();
        let score = self.score(board);
        let keeps =
            |solver: &mut Self, child, score| solver.keeps(SolveGoal::Score, child, score, None);
        (score, self.line(board, score, keeps))
    }

    /// The same as [`Solver::best_line`] with a time limit and this many threads. They have `time`
    /// for the score and a quarter more for the line, which has at least one move.
    ///
    /// `None` if the time is not enough, or if the game is over. Without a time limit only the flag
    /// of [`Solver::set_stop`] ends the search. The table keeps the work of a failed attempt, so
    /// the next attempt is faster.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use outflank::game::{Goal, Square8, notation};
    /// use outflank::search::endgame::Solver;
    ///
    /// let line = "*O-****-O******O-O**O**-**OOO*****OO*O****OOOOO***-O*OO*-*****O* *";
    /// let board = notation::parse_obf::<Square8>(line)?.position.board;
    /// let mut solver = Solver::new(Goal::Most, 1 << 20);
    /// let (score, line) =
    ///     solver.best_line_within(board, Some(Duration::from_secs(9)), 1).expect("enough time");
    /// assert_eq!((score, notation::square_name::<Square8>(line[0]).as_str()), (4, "c1"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn best_line_within(
        &mut self,
        board: Board<G>,
        time: Option<Duration>,
        threads: usize,
    ) -> Option<(i32, Vec<Square>)> {
        self.table.age();
        let default_threads = std::mem::replace(&mut self.threads, threads.max(1));
        let (before, begun) = (self.nodes, Instant::now());
        let found = self.line_within(board, time);
        tracing::debug!(
            "solver: {} empties, score {:?}, {} nodes in {:.3} s",
            board.empties(),
            found.as_ref().map(|(score, _)| score),
            self.nodes - before,
            begun.elapsed().as_secs_f64()
        );
        self.threads = default_threads;
        found
    }

    fn line_within(
        &mut self,
        board: Board<G>,
        time: Option<Duration>,
    ) -> Option<(i32, Vec<Square>)> {
        let begun = Instant::now();
        // A score without its move would be useless, so finding the move gets extra time.
        let left = || time.map(|time| (time + time / 4).saturating_sub(begun.elapsed()));
        let most = G::SQUARES as i32;
        let score = self.window_within(board, -most, most, time)?;
        let keeps =
            |solver: &mut Self, child, score| solver.keeps(SolveGoal::Score, child, score, left());
        let line = self.line(board, score, keeps);
        (!line.is_empty()).then_some((score, line))
    }

    /// A line of moves that keep the value of the position. `keeps` decides whether a move does,
    /// from the board after it and the value before it for the side that moves.
    fn line(
        &mut self,
        mut board: Board<G>,
        mut value: i32,
        keeps: impl Fn(&mut Self, Board<G>, i32) -> bool,
    ) -> Vec<Square> {
        let mut line = Vec::new();
        loop {
            if board.legal().is_empty() {
                board = board.pass();
                value = -value;
            }
            let hint = self.table.get(Key::of(board)).and_then(|entry| entry.best);
            let hint = hint.filter(|&square| board.legal().contains(square));
            let found = hint
                .into_iter()
                .chain(board.legal())
                .find(|&square| keeps(self, board.play_unchecked(square), value));
            let Some(square) = found else { return line };
            line.push(square);
            board = board.play_unchecked(square);
            value = -value;
        }
    }

    /// The score if it lies between `alpha` and `beta`, else a bound on the same side of both.
    fn window(&mut self, board: Board<G>, alpha: i32, beta: i32) -> i32 {
        // A search without limits is always completed, so `alpha` is never used.
        let clock = SearchClock::start(&SearchLimits::default(), board.empties(), None);
        self.search(board, alpha, beta, &clock, None).unwrap_or(alpha)
    }

    /// The same within a time; `None` if the time is not enough or the stop flag is set.
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

    /// The same by a running clock; reports the root's moves to `monitor` if there is one.
    fn search(
        &mut self,
        board: Board<G>,
        alpha: i32,
        beta: i32,
        clock: &SearchClock,
        monitor: Option<&SolveMonitor>,
    ) -> Option<i32> {
        let done = AtomicBool::new(false);
        let active = (self.threads > 1).then_some(&self.active);
        let shared = Shared { table: &self.table, clock, done: &done, active, monitor };
        let helpers = if active.is_some() && board.empties() >= searcher::SHARED_EMPTIES {
            self.threads - 1
        } else {
            0
        };
        while self.thread_states.len() <= helpers {
            self.thread_states.push(ThreadState::new(self.goal));
        }
        let order = &*self.order;
        let finish = |state: &mut ThreadState<G>| {
            let mut searcher = Searcher::new(shared, state, order);
            let score = searcher.search(board, alpha, beta);
            let complete = !searcher.halted;
            searcher.report();
            done.fetch_or(complete, Ordering::Relaxed);
            complete.then_some(score)
        };
        let (own, others) = self.thread_states.split_at_mut(1);
        let score = if helpers == 0 {
            finish(&mut own[0])
        } else {
            std::thread::scope(|scope| {
                let finish = &finish;
                let others = others.iter_mut().take(helpers);
                let others: Vec<_> =
                    others.map(|state| scope.spawn(move || finish(state))).collect();
                let own = finish(&mut own[0]);
                // A panic of a helper thread is a bug; it continues in this thread.
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
