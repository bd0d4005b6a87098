//! How many discs a player's moves give away, by the exact solver's measure.
//!
//! The player chooses in every position first, in batches, and is then out of the way: what a
//! position and a move are worth is found by a solver that knows nothing of the player, and is
//! remembered in the [`Problem`], so that the next player costs only the moves that are new.

pub mod positions;
mod report;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::matches::Contestant;
use super::open::OpenError;
use super::player::{Player, PlayerError, Turn};
use crate::game::notation::{obf, square_name};
use crate::game::{Geometry, Goal, Position, Square};
use crate::search::endgame::Solver;
use positions::Problem;
pub use report::LossReport;

/// Why a player cannot be judged.
#[derive(Debug, thiserror::Error)]
pub enum LossError {
    /// It cannot be made.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// It has no move for a position.
    #[error("in {position}")]
    Player {
        /// The position as an OBF line.
        position: Box<str>,
        /// What it did instead.
        source: PlayerError,
    },
    /// The scores that came with a position are wrong.
    #[error(
        "{position}: {square} is worth {score:+}, but the best score stated is {stated:+}; \
         leave the scores of that line out"
    )]
    Stated {
        /// The position as an OBF line.
        position: Box<str>,
        /// A move.
        square: Box<str>,
        /// Its exact score.
        score: i32,
        /// The best score that was stated.
        stated: i32,
    },
    /// It was stopped before its end.
    #[error("stopped before all positions were judged")]
    Stopped,
}

/// How positions are judged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LossSettings {
    /// Which side of the score wins.
    pub goal: Goal,
    /// Decides the player's random choices.
    pub seed: u64,
    /// How many threads work, at least 1; each has a player and later a solver of its own.
    pub threads: usize,
    /// Bytes of the solvers' tables, all together.
    pub table_bytes: usize,
}

/// A choice and what it was worth.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Judged<G: Geometry> {
    /// Where it was made.
    pub position: Position<G>,
    /// The player's move.
    pub square: Square,
    /// The exact score after it, for the player.
    pub score: i32,
    /// A best move, and its exact score.
    pub best: (Square, i32),
}

impl<G: Geometry> Judged<G> {
    /// The discs given away.
    pub fn loss(&self) -> i32 {
        self.best.1 - self.score
    }

    /// Whether a won position stays won, and a drawn one at least drawn.
    pub fn keeps_outcome(&self) -> bool {
        self.best.1.signum() == self.score.signum()
    }
}

/// The player's move in each position. `progress` is told of positions as they are done.
///
/// # Errors
///
/// The player cannot be made, has no move, or `stop` was set.
pub fn choices<G: Geometry>(
    contestant: &Contestant<'_, G>,
    problems: &[Problem<G>],
    setting: &LossSettings,
    stop: &AtomicBool,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<Vec<Square>, LossError> {
    let fair = problems.len().div_ceil(setting.threads.max(1)).max(1);
    let open = || Ok::<_, LossError>((contestant.open)(setting.seed)?);
    let batch = open()?.batch().clamp(1, fair);
    let parts: Vec<_> = problems.chunks(batch).collect();
    let chosen = in_threads(parts.len(), setting.threads, stop, open, |player, part| {
        let squares = choose(player.as_mut(), part * batch, parts[part])?;
        progress(parts[part].len() as u64);
        Ok(squares)
    })?;
    Ok(chosen.concat())
}

/// The player's moves in some positions, the first of which has the number `first`.
fn choose<G: Geometry>(
    player: &mut dyn Player<G>,
    first: usize,
    problems: &[Problem<G>],
) -> Result<Vec<Square>, LossError> {
    let turn = |(index, problem): (usize, &Problem<G>)| {
        let (game, position) = ((first + index) as u32, problem.position());
        Turn { game, start: position, moves: &[], position }
    };
    let turns: Vec<_> = problems.iter().enumerate().map(turn).collect();
    let choices = player.choose(&turns);
    let mut squares = Vec::with_capacity(turns.len());
    for (turn, choice) in turns.iter().zip(choices) {
        player.end_game(turn.game);
        let board = turn.position.board;
        let choice = choice.and_then(|choice| match board.legal().contains(choice.square) {
            true => Ok(choice.square),
            false => {
                Err(PlayerError::IllegalMove { shown: square_name::<G>(choice.square).into() })
            }
        });
        let position = || obf(turn.position).into();
        squares.push(choice.map_err(|source| match source {
            PlayerError::Interrupted => LossError::Stopped,
            source => LossError::Player { position: position(), source },
        })?);
    }
    Ok(squares)
}

/// What the moves are worth, with all exact scores that are found noted in `problems`.
///
/// # Errors
///
/// A position came with wrong scores, or `stop` was set.
pub fn judge<G: Geometry>(
    problems: &mut [Problem<G>],
    choices: &[Square],
    setting: &LossSettings,
    stop: &AtomicBool,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<Vec<Judged<G>>, LossError> {
    let known: &[Problem<G>] = problems;
    let threads = setting.threads.max(1);
    let open = || Ok(Solver::<G>::new(setting.goal, setting.table_bytes / threads));
    let judged = in_threads(known.len(), threads, stop, open, |solver, index| {
        let judged = solve(solver, &known[index], choices[index])?;
        progress(1);
        Ok(judged)
    })?;
    for (problem, judged) in problems.iter_mut().zip(&judged) {
        problem.note(judged.best.0, judged.best.1);
        problem.note(judged.square, judged.score);
    }
    Ok(judged)
}

fn solve<G: Geometry>(
    solver: &mut Solver<G>,
    problem: &Problem<G>,
    square: Square,
) -> Result<Judged<G>, LossError> {
    let position = problem.position();
    let best = problem.best().unwrap_or_else(|| {
        let (score, line) = solver.best_line(position.board);
        // There is a move, so the line is not empty.
        (line.first().copied().unwrap_or(square), score)
    });
    let known = if square == best.0 { Some(best.1) } else { problem.score(square) };
    let score = known.unwrap_or_else(|| -solver.score(position.board.play_unchecked(square)));
    if score > best.1 {
        let (position, square) = (obf(position).into(), square_name::<G>(square).into());
        return Err(LossError::Stated { position, square, score, stated: best.1 });
    }
    Ok(Judged { position, square, score, best })
}

/// Leaves no jobs for the other threads where this one panics.
struct Alarm<'a> {
    next: &'a AtomicUsize,
    jobs: usize,
}

impl Drop for Alarm<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.next.store(self.jobs, Ordering::Relaxed);
        }
    }
}

/// Does the jobs `0..jobs` in some threads, each with a worker of its own; the results are in
/// the order of the jobs.
fn in_threads<W, T: Send>(
    jobs: usize,
    threads: usize,
    stop: &AtomicBool,
    open: impl Fn() -> Result<W, LossError> + Sync,
    work: impl Fn(&mut W, usize) -> Result<T, LossError> + Sync,
) -> Result<Vec<T>, LossError> {
    // A thread that fails leaves no jobs for the others.
    let next = AtomicUsize::new(0);
    let run = || {
        let _alarm = Alarm { next: &next, jobs };
        let mut worker = open().inspect_err(|_| next.store(jobs, Ordering::Relaxed))?;
        let mut done = Vec::new();
        loop {
            let job = next.fetch_add(1, Ordering::Relaxed);
            if job >= jobs {
                return Ok(done);
            }
            if stop.load(Ordering::Relaxed) {
                return Err(LossError::Stopped);
            }
            let result =
                work(&mut worker, job).inspect_err(|_| next.store(jobs, Ordering::Relaxed));
            done.push((job, result?));
        }
    };
    let results: Vec<Result<Vec<(usize, T)>, LossError>> = std::thread::scope(|scope| {
        let run = &run;
        let threads: Vec<_> =
            (0..threads.clamp(1, jobs.max(1))).map(|_| scope.spawn(run)).collect();
        let join = |thread: std::thread::ScopedJoinHandle<'_, _>| {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        threads.into_iter().map(join).collect()
    });
    let mut done = Vec::with_capacity(jobs);
    for result in results {
        done.extend(result?);
    }
    done.sort_by_key(|&(job, _)| job);
    Ok(done.into_iter().map(|(_, result)| result).collect())
}

#[cfg(test)]
mod tests;
