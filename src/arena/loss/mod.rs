//! How many discs a player's moves lose, measured by the exact solver.
//!
//! First the player chooses a move in every position, in batches. Then a separate solver finds the
//! exact scores of the positions and the moves. The scores are stored in the [`TestPosition`], so
//! for the next player only new moves have to be solved.

pub mod positions;
mod report;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::game::notation::{obf, square_name};
use crate::game::{Geometry, Goal, Position, Square};
use crate::players::contestant::Contestant;
use crate::players::contestant::OpenError;
use crate::players::player::{Player, PlayerError, Turn};
use crate::search::endgame::Solver;
use positions::TestPosition;
pub use report::LossReport;

/// Why a player's moves cannot be judged.
#[derive(Debug, thiserror::Error)]
pub enum LossError {
    /// The player cannot be made.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The player has no move for a position.
    #[error("in {position}")]
    Player {
        /// The position as an OBF line.
        position: Box<str>,
        /// The player's error.
        source: PlayerError,
    },
    /// The scores in a position's line are wrong.
    #[error(
        "{position}: {square} has the exact score {score:+}, but the best score in the line is \
         {stated:+}; remove the scores from this line"
    )]
    Stated {
        /// The position as an OBF line.
        position: Box<str>,
        /// A move.
        square: Box<str>,
        /// Its exact score.
        score: i32,
        /// The best score in the line.
        stated: i32,
    },
    /// The user stopped it.
    #[error("stopped before all positions were judged")]
    Stopped,
}

/// The settings of a measurement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LossSettings {
    /// Which score wins.
    pub goal: Goal,
    /// The player's random seed.
    pub seed: u64,
    /// The number of threads, at least 1; each has its own player and its own solver.
    pub threads: usize,
    /// Bytes of the tables of all solvers together.
    pub table_bytes: usize,
}

/// A player's move with its exact score.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct JudgedMove<G: Geometry> {
    /// The position.
    pub position: Position<G>,
    /// The player's move.
    pub square: Square,
    /// The exact score after the move, for the player.
    pub score: i32,
    /// A best move and its exact score.
    pub best: (Square, i32),
}

impl<G: Geometry> JudgedMove<G> {
    /// The number of discs that the move loses.
    pub fn loss(&self) -> i32 {
        self.best.1 - self.score
    }

    /// Whether the move keeps the result of the position: win, draw or loss.
    pub fn keeps_outcome(&self) -> bool {
        self.best.1.signum() == self.score.signum()
    }
}

/// The player's move in each position. `progress` gets the numbers of positions as they are done.
///
/// # Errors
///
/// The player cannot be made, has no move, or `stop` was set.
pub fn choices<G: Geometry>(
    contestant: &Contestant<'_, G>,
    positions: &[TestPosition<G>],
    settings: &LossSettings,
    stop: &AtomicBool,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<Vec<Square>, LossError> {
    let fair_share = positions.len().div_ceil(settings.threads.max(1)).max(1);
    let open = || Ok::<_, LossError>((contestant.open)(settings.seed)?);
    let batch = open()?.batch().clamp(1, fair_share);
    let parts: Vec<_> = positions.chunks(batch).collect();
    let chosen = in_threads(parts.len(), settings.threads, stop, open, |player, part| {
        let squares = choose(player.as_mut(), part * batch, parts[part])?;
        progress(parts[part].len() as u64);
        Ok(squares)
    })?;
    Ok(chosen.concat())
}

/// The player's moves in some positions, which are numbered from `first` on.
fn choose<G: Geometry>(
    player: &mut dyn Player<G>,
    first: usize,
    positions: &[TestPosition<G>],
) -> Result<Vec<Square>, LossError> {
    let turn = |(index, entry): (usize, &TestPosition<G>)| {
        let (game, position) = ((first + index) as u32, entry.position());
        Turn { game, start: position, moves: &[], position }
    };
    let turns: Vec<_> = positions.iter().enumerate().map(turn).collect();
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

/// The exact scores of the moves. All exact scores that are found are stored in `positions`.
///
/// # Errors
///
/// The known scores of a position are wrong, or `stop` was set.
///
/// # Panics
///
/// If there are fewer moves than positions.
///
/// ```
/// use std::sync::atomic::AtomicBool;
///
/// use outflank::arena::loss::positions::TestPosition;
/// use outflank::arena::loss::{self, LossSettings};
/// use outflank::game::{Goal, Square6, notation};
/// use outflank::players::contestant::PlayerContext;
/// use outflank::players::open;
///
/// let line = "OOO***-O*-*-O*O***OOO*****O*O-*-O-O- O";
/// let position = notation::parse_obf::<Square6>(line)?.position;
/// let mut positions = vec![TestPosition::new(position).expect("a legal move")];
/// let greedy = open::contestant(&"greedy".parse()?, &PlayerContext::new(Goal::Most))?;
/// let settings = LossSettings { goal: Goal::Most, seed: 1, threads: 1, table_bytes: 1 << 20 };
/// let stop = AtomicBool::new(false);
/// let moves = loss::choices(&greedy, &positions, &settings, &stop, &|_| ())?;
/// let judged = loss::judge(&mut positions, &moves, &settings, &stop, &|_| ())?;
/// assert_eq!(judged[0].best.1, 8);
/// assert_eq!(judged[0].loss(), 8 - judged[0].score);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn judge<G: Geometry>(
    positions: &mut [TestPosition<G>],
    choices: &[Square],
    settings: &LossSettings,
    stop: &AtomicBool,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<Vec<JudgedMove<G>>, LossError> {
    let known: &[TestPosition<G>] = positions;
    let threads = settings.threads.max(1);
    let open = || Ok(Solver::<G>::new(settings.goal, settings.table_bytes / threads));
    let judged = in_threads(known.len(), threads, stop, open, |solver, index| {
        let judged = solve(solver, &known[index], choices[index])?;
        progress(1);
        Ok(judged)
    })?;
    for (entry, judged) in positions.iter_mut().zip(&judged) {
        entry.note(judged.best.0, judged.best.1);
        entry.note(judged.square, judged.score);
    }
    Ok(judged)
}

fn solve<G: Geometry>(
    solver: &mut Solver<G>,
    entry: &TestPosition<G>,
    square: Square,
) -> Result<JudgedMove<G>, LossError> {
    let position = entry.position();
    let best = entry.best().unwrap_or_else(|| {
        let (score, line) = solver.best_line(position.board);
        // There is a legal move, so the line is not empty.
        (line.first().copied().unwrap_or(square), score)
    });
    let known = if square == best.0 { Some(best.1) } else { entry.score(square) };
    let score = known.unwrap_or_else(|| -solver.score(position.board.play_unchecked(square)));
    if score > best.1 {
        let (position, square) = (obf(position).into(), square_name::<G>(square).into());
        return Err(LossError::Stated { position, square, score, stated: best.1 });
    }
    Ok(JudgedMove { position, square, score, best })
}

/// Ends the other threads if this one panics: leaves no jobs for them.
struct StopOnPanic<'a> {
    next: &'a AtomicUsize,
    jobs: usize,
}

impl Drop for StopOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.next.store(self.jobs, Ordering::Relaxed);
        }
    }
}

/// Does the jobs `0..jobs` on several threads. Each thread has its own worker, made by `open`. The
/// results are in the order of the jobs.
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
        let _stop_on_panic = StopOnPanic { next: &next, jobs };
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
