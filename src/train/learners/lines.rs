//! Labels from lines of play: games are played to the ending, which is solved exactly.
//!
//! All chance of a line comes from the seed, the round and the number of the line, and each line is
//! searched with empty tables. So the labels do not depend on the threads.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use rand::RngExt;
use rayon::prelude::*;

use crate::eval::AnyEvaluator;
use crate::game::{Board, Geometry, Goal, Square};
use crate::search::alphabeta::{self, NoProbCut, Search, SearchLimits, SearchResult};
use crate::search::endgame::Solver;
use crate::store::labels::{self, Label, LabelsError};
use crate::train::learners::labelled::Part;
use crate::train::seeds::{Purpose, Random, stream};
use crate::train::stagewise::{UnitContext, UnitReport};

/// Lines that one thread works on in a row.
const CHUNK: usize = 64;
/// The bytes of the solver's table and of the search's. They are cleared for each line.
const TABLE_BYTES: usize = 1 << 20;

/// How lines are played and labelled.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Lines {
    /// How many lines.
    pub count: u64,
    /// Random moves at the start of a line: at least and at most so many.
    pub opening: (u32, u32),
    /// The share of random moves after them.
    pub random: f32,
    /// The depth of the search that chooses the other moves.
    pub depth: u32,
    /// The deviations of Multi-ProbCut in searches; without them, or if the evaluator has no
    /// parameters, a search skips nothing.
    pub probcut: Option<f32>,
    /// A line is solved when it has this many empty squares.
    pub solved: u32,
    /// From this many empty squares until then, the search goes to the end of the game, and its
    /// score is the label.
    pub probable: u32,
    /// Boards with at most this many empty squares are labelled.
    pub labelled: u32,
    /// For this share of the moves that were searched, a board after another move, drawn at random, is
    /// labelled too, by a search of its own. Searches meet such boards more than games do.
    pub others: f32,
    /// How much of the label of a board that is not solved comes from later boards of its line, from
    /// move to move.
    pub lambda: f32,
}

/// What plays and labels lines.
pub struct Labeller<'a, G: Geometry> {
    /// Which score wins.
    pub goal: Goal,
    /// The seed of the run.
    pub seed: u64,
    /// The number of the round.
    pub round: u64,
    /// What chooses moves, and orders those of the solver.
    pub evaluator: &'a AnyEvaluator<G>,
    /// How.
    pub lines: Lines,
}

impl<G: Geometry> Labeller<'_, G> {
    /// Labels the lines of a part of the round, and keeps them in a file of the run. `None` if it was
    /// stopped.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn keep(
        &self,
        part: Part,
        context: &UnitContext<'_>,
    ) -> Result<Option<UnitReport>, LabelsError> {
        let first = |part_number| self.lines.count * part_number / part.parts;
        let (begin, end) = (first(part.part), first(part.part + 1));
        let Some(labels) = self.labels(begin..end, context) else { return Ok(None) };
        labels::write(&labels::file(context.folder(), self.round, part.part), self.goal, &labels)?;
        Ok(Some(UnitReport { games: end - begin, positions: labels.len() as u64, ..part.report() }))
    }

    /// The labels of the lines of these numbers, one line behind the other; `None` if it was
    /// stopped.
    pub fn labels(&self, lines: Range<u64>, context: &UnitContext<'_>) -> Option<Vec<Label<G>>> {
        let done = AtomicU64::new(0);
        let numbers: Vec<u64> = lines.collect();
        let chunk = |chunk: &[u64]| -> Option<Vec<Label<G>>> {
            let mut worker = Worker::new(self);
            let mut labels = Vec::new();
            for &number in chunk {
                if context.is_stopped() {
                    return None;
                }
                labels.extend(worker.line(number));
            }
            let count = chunk.len() as u64;
            let done = done.fetch_add(count, Ordering::Relaxed) + count;
            context.report(done as f64 / numbers.len() as f64);
            Some(labels)
        };
        let chunks: Option<Vec<_>> = numbers.par_chunks(CHUNK).map(chunk).collect();
        Some(chunks?.concat())
    }
}

/// The tables of one thread.
struct Worker<'a, G: Geometry> {
    labeller: &'a Labeller<'a, G>,
    search: Box<dyn Search<G>>,
    solver: Solver<G>,
}

impl<'a, G: Geometry> Worker<'a, G> {
    fn new(labeller: &'a Labeller<'a, G>) -> Self {
        let &Labeller { goal, evaluator, lines, .. } = labeller;
        let search = alphabeta::boxed(goal, evaluator, TABLE_BYTES, lines.probcut)
            .unwrap_or_else(|NoProbCut| alphabeta::plain(goal, evaluator, TABLE_BYTES));
        let solver = Solver::with_evaluator(goal, evaluator, TABLE_BYTES);
        Worker { labeller, search, solver }
    }

    /// The labels of the line of this number, in the order of play. None if the game ends before
    /// it is solved.
    fn line(&mut self, number: u64) -> Vec<Label<G>> {
        let Labeller { seed, round, lines, .. } = *self.labeller;
        let mut random = stream(seed, Purpose::Stage, round << 40 | number);
        let opening = random.random_range(lines.opening.0..=lines.opening.1);
        let mut board = Board::<G>::start();
        let (mut plies, mut others) = (Vec::new(), Vec::new());
        let first = board.discs();
        let mut side = 1.0;
        loop {
            if board.legal().is_empty() {
                board = board.pass();
                if board.legal().is_empty() {
                    return Vec::new();
                }
                side = -side;
            }
            if board.empties() <= lines.solved {
                break;
            }
            let is_random =
                board.discs() < first + opening || random.random::<f32>() < lines.random;
            let found = if is_random { None } else { self.search(board) };
            let score = found.as_ref().map(|found| side * found.score);
            let chosen = found.map(|found| found.square);
            let Some(square) = chosen.or_else(|| random_move(board, &mut random)) else { break };
            if chosen.is_some() && lines.others > 0.0 && random.random::<f32>() < lines.others {
                others.extend(self.other(board, square, &mut random));
            }
            plies.push(Ply { board, side, score, is_probable: board.empties() <= lines.probable });
            board = board.play_unchecked(square);
            side = -side;
        }
        self.solver.forget();
        let (score, line) = self.solver.best_line(board);
        let mut labels = returns(&plies, side * score as f32, lines.lambda);
        labels.retain(|label| label.board.empties() <= lines.labelled);
        labels.extend(solved(board, score, &line));
        others.retain(|label| label.board.empties() <= lines.labelled);
        labels.extend(others);
        labels
    }

    /// The label of a board after a random move that is not the `chosen` one; `None` if there is no such
    /// move, or if the board is too near the end or a pass.
    fn other(&mut self, board: Board<G>, chosen: Square, random: &mut Random) -> Option<Label<G>> {
        let square = random_move(board, random).filter(|&square| square != chosen)?;
        let board = board.play_unchecked(square);
        if board.empties() <= self.labeller.lines.solved {
            return None;
        }
        self.search(board).map(|found| label(board, found.score.round() as i32))
    }

    fn search(&mut self, board: Board<G>) -> Option<SearchResult> {
        let Lines { depth, probable, .. } = self.labeller.lines;
        let limits = match board.empties() <= probable {
            true => SearchLimits { exact: false, ..SearchLimits::default() },
            false => SearchLimits::depth(depth),
        };
        // Searches to the end of the game share most of their positions with the next one.
        if board.empties() >= probable {
            self.search.forget();
        }
        self.search.think(board, &limits)
    }
}

/// A move of a line.
struct Ply<G: Geometry> {
    /// The board before the move.
    board: Board<G>,
    /// 1 if the side that moved first in the game is to move, else -1.
    side: f32,
    /// The score of the search for the first side; `None` if the move was random.
    score: Option<f32>,
    /// Whether this is a probable score of the end of the game. Later scores then add nothing.
    is_probable: bool,
}

/// The labels of the moves that were searched: the return of temporal differences (Sutton and Barto
/// 2018, section 12.1). It is a mean of the scores from the board on and of the `result`, for the
/// first side; each has `lambda` times the weight of the one before. A random move ends it.
fn returns<G: Geometry>(plies: &[Ply<G>], result: f32, lambda: f32) -> Vec<Label<G>> {
    let mut later = Some(result);
    let mut labels = Vec::with_capacity(plies.len());
    for ply in plies.iter().rev() {
        later = ply.score.map(|score| match later.filter(|_| !ply.is_probable) {
            Some(later) => score + lambda * (later - score),
            None => score,
        });
        if let Some(value) = later {
            labels.push(label(ply.board, (ply.side * value).round() as i32));
        }
    }
    labels.reverse();
    labels
}

fn random_move<G: Geometry>(board: Board<G>, random: &mut Random) -> Option<Square> {
    let mut legal = board.legal();
    legal.nth(random.random_range(0..legal.len()))
}

fn label<G: Geometry>(board: Board<G>, score: i32) -> Label<G> {
    Label { board, score: score as i8 }
}

/// The labels along a line of perfect play from a board with this score.
fn solved<G: Geometry>(mut board: Board<G>, mut score: i32, line: &[Square]) -> Vec<Label<G>> {
    let mut labels = Vec::with_capacity(line.len());
    for &square in line {
        if board.legal().is_empty() {
            (board, score) = (board.pass(), -score);
        }
        labels.push(label(board, score));
        (board, score) = (board.play_unchecked(square), -score);
    }
    labels
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::atomic::AtomicBool;

    use super::*;
    use crate::eval::positional::Positional;
    use crate::eval::testing::random_game;
    use crate::game::{Square6, Square7, Square8};

    fn lines(count: u64) -> Lines {
        Lines {
            count,
            opening: (2, 9),
            random: 0.1,
            depth: 2,
            solved: 9,
            probcut: None,
            probable: 0,
            labelled: 20,
            others: 0.0,
            lambda: 1.0,
        }
    }

    fn labels<G: Geometry>(goal: Goal, lines: Lines, threads: usize) -> Vec<Label<G>> {
        let evaluator = Positional::new(goal).into();
        let labeller = Labeller { goal, seed: 5, round: 1, evaluator: &evaluator, lines };
        let (stop, silent) = (AtomicBool::new(false), |_: f64| ());
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        let context = UnitContext::new(Path::new("unused"), &stop, &silent);
        pool.install(|| labeller.labels(0..lines.count, &context)).expect("labels")
    }

    #[test]
    fn solved_boards_have_their_exact_scores_and_earlier_ones_that_of_their_line() {
        for goal in [Goal::Most, Goal::Fewest] {
            let mut solver = Solver::<Square6>::new(goal, TABLE_BYTES);
            let plain = Lines { random: 0.0, ..lines(60) };
            let labels = labels::<Square6>(goal, plain, 1);
            for line in labels.chunk_by(|a, b| b.board.empties() < a.board.empties()) {
                let mut last: Option<&Label<Square6>> = None;
                for label in line {
                    assert!(!label.board.legal().is_empty() && label.board.empties() <= 20);
                    if label.board.empties() <= 9 {
                        assert_eq!(i32::from(label.score), solver.score(label.board));
                    }
                    if let Some(last) = last {
                        // The next board of the line, by a move and perhaps a pass.
                        let after = |square| last.board.play_unchecked(square);
                        let mut nexts = last.board.legal().map(after);
                        let is_next = |next: Board<_>| {
                            next == label.board && last.score == -label.score
                                || next.pass() == label.board && last.score == label.score
                        };
                        assert!(nexts.any(is_next), "{last:?} then {label:?}");
                    }
                    last = Some(label);
                }
            }
        }
    }

    #[test]
    fn probable_scores_are_mostly_exact_at_a_high_confidence() {
        let sure =
            Lines { probcut: Some(3.0), probable: 12, random: 0.0, labelled: 12, ..lines(60) };
        let labels = labels::<Square8>(Goal::Most, sure, 1);
        let mut solver = Solver::<Square8>::new(Goal::Most, TABLE_BYTES);
        let mut is_exact =
            |label: &Label<Square8>| i32::from(label.score) == solver.score(label.board);
        let (mut right, mut all) = (0, 0);
        for label in labels.iter().filter(|label| label.board.empties() > 9) {
            right += i32::from(is_exact(label));
            all += 1;
        }
        assert!(all > 100 && right * 10 > all * 9, "{right} of {all}");
    }

    #[test]
    fn a_return_is_the_weighted_mean_of_later_scores() {
        let boards = random_game::<Square6>(2);
        let scores = [Some(4.0), None, Some(10.0), Some(2.0), Some(8.0)];
        let mut plies: Vec<_> = scores
            .into_iter()
            .zip(&boards)
            .zip([1.0, -1.0].into_iter().cycle())
            .map(|((score, &board), side)| Ply { board, side, score, is_probable: false })
            .collect();
        let scores = |plies: &[Ply<_>]| -> Vec<i8> {
            returns(plies, -16.0, 0.5).iter().map(|label| label.score).collect()
        };
        // From the end: 8/2 - 16/2 = -4, 2/2 - 4/2 = -1, 10/2 - 1/2 = 4.5; a random move; 4.
        assert_eq!(scores(&plies), [4, 5, 1, -4]);
        // The fourth is a probable score: 2 stands, and 10/2 + 2/2 = 6.
        plies[3].is_probable = true;
        assert_eq!(scores(&plies), [4, 6, -2, -4]);
    }

    #[test]
    fn boards_after_other_moves_have_the_scores_of_searches() {
        let with = labels::<Square7>(Goal::Most, Lines { others: 0.5, ..lines(20) }, 1);
        let evaluator = Positional::new(Goal::Most).into();
        let mut search = alphabeta::plain::<Square7>(Goal::Most, &evaluator, TABLE_BYTES);
        // Those of a game follow its solved boards.
        let mut found = 0;
        for line in with.chunk_by(|a, b| b.board.empties() < a.board.empties()) {
            if line.iter().any(|label| label.board.empties() <= 9) {
                continue;
            }
            for label in line {
                search.forget();
                let score = search.think(label.board, &SearchLimits::depth(2)).map(|it| it.score);
                assert_eq!(Some(f32::from(label.score)), score.map(f32::round), "{label:?}");
                found += 1;
            }
        }
        assert!(found > 50, "{found} boards");
    }

    #[test]
    fn labels_do_not_depend_on_the_threads() {
        let one = labels::<Square7>(Goal::Most, lines(150), 1);
        assert_eq!(one, labels::<Square7>(Goal::Most, lines(150), 2));
        assert!(one.len() > 150 * 9, "{} labels", one.len());
    }
}
