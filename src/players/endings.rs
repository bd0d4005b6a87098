//! The exact score of every move of an ending, beside what a player thinks of it.
//!
//! A player stops when it knows the best move. For the other moves it then has an upper bound or an
//! estimate. People want to know what each of them is worth.

use std::cmp::Ordering;
use std::time::{Duration, Instant};

use super::control::{Analysis, Control};
use super::kinds::EvaluatorSource;
use super::player::{Bound, Hint, Source};
use crate::game::{Geometry, Goal, Position, Square};
use crate::search::endgame::Solver;

/// With at most this many empty squares every move is solved. On 8x8 one thread then needs some
/// seconds for all of them.
pub const EMPTIES: u32 = 20;
/// The longest time for the moves of a position.
const TIME: Duration = Duration::from_secs(10);
/// Bytes of the solver's table.
const TABLE_BYTES: usize = 64 << 20;

/// Whether every legal move of a position has its exact score.
fn is_solved<G: Geometry>(position: Position<G>, hints: &[Hint]) -> bool {
    hints.len() == position.board.legal().len() && hints.iter().all(is_exact)
}

fn is_exact(hint: &Hint) -> bool {
    hint.bound == Bound::Exact
}

/// Whether the exact score of the first move is that of the position. A tree search may know the
/// score of its best move while it only estimates others.
fn is_proven(hints: &[Hint]) -> bool {
    let Some((first, others)) = hints.split_first() else { return false };
    let is_less = |hint: &Hint| {
        matches!(hint.bound, Bound::Exact | Bound::AtMost) && hint.score <= first.score
    };
    is_exact(first) && (first.source == Source::AlphaBeta || others.iter().all(is_less))
}

/// Adds the exact score of every legal move to a player's analysis of a position with at most
/// [`EMPTIES`] empty squares. The results so far go to the reports of `control`. What is not solved
/// in time keeps a bound; if not even the best move is, the analysis stays as it is.
///
/// ```
/// use outflank::game::{Goal, Square6, notation};
/// use outflank::players::control::{Analysis, Control};
/// use outflank::players::endings;
///
/// let line = "OOO***-O*-*-O*O***OOO*****O*O-*-O-O- O";
/// let position = notation::parse_obf::<Square6>(line)?.position;
/// let nothing = Analysis::default();
/// let found = endings::complete(position, Goal::Most, nothing, &mut Control::plain());
/// let scores: Vec<Option<f32>> = found.hints.iter().map(|hint| hint.score).collect();
/// assert_eq!(scores, [8.0, 4.0, 2.0, -6.0, -22.0].map(Some));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn complete<G: Geometry>(
    position: Position<G>,
    goal: Goal,
    analysis: Analysis,
    control: &mut Control<'_>,
) -> Analysis {
    let is_open = position.board.empties() <= EMPTIES && !position.board.is_over();
    if !is_open || control.stop.is_set() || is_solved(position, &analysis.hints) {
        return analysis;
    }
    let mut solver = solver(goal);
    solver.set_stop(control.stop.clone());
    let begun = Instant::now();
    let mut ending = Ending { position, goal, solver, hints: analysis.hints.clone() };
    let is_found = is_proven(&ending.hints) || ending.solve_best(TIME / 2);
    if is_found {
        ending.solve_others(begun + TIME, analysis.nodes, control);
    }
    let Ending { hints, solver, .. } = ending;
    let seconds = analysis.seconds + begun.elapsed().as_secs_f64();
    Analysis { hints, nodes: analysis.nodes + solver.nodes, seconds }
}

/// A solver with the best order of moves that the program has for the board.
fn solver<G: Geometry>(goal: Goal) -> Solver<G> {
    match EvaluatorSource::of_solver(G::SHAPE, goal).open::<G>(goal) {
        Ok((evaluator, _)) => Solver::with_evaluator(goal, &evaluator, TABLE_BYTES),
        Err(_) => Solver::new(goal, TABLE_BYTES),
    }
}

struct Ending<G: Geometry> {
    position: Position<G>,
    goal: Goal,
    solver: Solver<G>,
    hints: Vec<Hint>,
}

impl<G: Geometry> Ending<G> {
    /// Solves the position, and puts its best move first. Whether the time was enough.
    fn solve_best(&mut self, time: Duration) -> bool {
        let found = self.solver.best_line_within(self.position.board, Some(time), 1);
        let Some((score, line)) = found else { return false };
        let Some(&best) = line.first() else { return false };
        let hint = self.exact(best, line, score);
        self.hints.retain(|other| other.line.first() != Some(&best));
        self.hints.insert(0, hint);
        true
    }

    /// Solves the moves after the first, each within its share of the time.
    fn solve_others(&mut self, end: Instant, nodes: u64, control: &mut Control<'_>) {
        let most = self.hints[0].score.unwrap_or_default();
        let best = self.hints[0].line.first().copied();
        let squares: Vec<Square> = self.position.board.legal().collect();
        let others: Vec<Hint> = squares
            .into_iter()
            .filter(|&square| Some(square) != best)
            .map(|square| bounded(self.of(square), most))
            .collect();
        self.hints.truncate(1);
        self.hints.extend(others);
        self.sort();
        let mut open: Vec<Square> = self.open().collect();
        while !open.is_empty() && !control.stop.is_set() {
            let left = end.saturating_duration_since(Instant::now()) / open.len() as u32;
            let square = open.remove(0);
            if let Some((score, line)) = self.solved(square, left) {
                let hint = self.exact(square, line, score);
                let place = self.hints.iter_mut().find(|hint| hint.line.first() == Some(&square));
                place.into_iter().for_each(|place| *place = hint.clone());
                self.sort();
            }
            if control.is_due() {
                control.report(self.hints.clone(), nodes + self.solver.nodes);
            }
        }
    }

    /// The moves without an exact score.
    fn open(&self) -> impl Iterator<Item = Square> {
        self.hints
            .iter()
            .filter(|hint| !is_exact(hint))
            .filter_map(|hint| hint.line.first().copied())
    }

    /// What the player thinks of a move.
    fn of(&self, square: Square) -> Hint {
        let found = self.hints.iter().find(|hint| hint.line.first() == Some(&square));
        found.cloned().unwrap_or_else(|| Hint::plain(square, Source::Solver))
    }

    /// The exact score of a move and a line that begins with it, if they are found within `time`.
    fn solved(&mut self, square: Square, time: Duration) -> Option<(i32, Vec<Square>)> {
        let next = self.position.play(square)?.pass_if_forced();
        let sign = if next.side == self.position.side { 1 } else { -1 };
        let (score, rest) = match next.board.is_over() {
            true => (next.board.final_score(self.goal), Vec::new()),
            false => self.solver.best_line_within(next.board, Some(time), 1)?,
        };
        Some((sign * score, std::iter::once(square).chain(rest).collect()))
    }

    /// The hint with an exact score. It keeps the visits and the policy of the player.
    fn exact(&self, square: Square, line: Vec<Square>, score: i32) -> Hint {
        Hint {
            line,
            win_chance: Some((score.signum() + 1) as f32 / 2.0),
            score: Some(score as f32),
            bound: Bound::Exact,
            depth: Some(self.position.board.empties()),
            source: Source::Solver,
            ..self.of(square)
        }
    }

    /// The best move first, then the others by exact score, then those with a bound.
    fn sort(&mut self) {
        self.hints[1..].sort_by(|a, b| {
            let order = is_exact(b).cmp(&is_exact(a));
            order.then(b.score.partial_cmp(&a.score).unwrap_or(Ordering::Equal))
        });
    }
}

/// The hint of a move that is worth at most as much as the best one.
fn bounded(hint: Hint, most: f32) -> Hint {
    match hint.bound {
        Bound::Exact => hint,
        Bound::AtMost => {
            Hint { score: hint.score.map(|score| score.min(most)).or(Some(most)), ..hint }
        }
        Bound::Estimated | Bound::AtLeast => Hint {
            win_chance: (most < 0.0).then_some(0.0),
            score: Some(most),
            bound: Bound::AtMost,
            ..hint
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::{Square6, Square8};
    use crate::search::stop::Stop;

    /// A position with this many empty squares, after the first legal move each time.
    fn ending<G: Geometry>(empties: u32) -> Position<G> {
        let mut position = Position::<G>::start();
        while position.board.empties() > empties {
            let square = position.board.legal().last().expect("a move");
            position = position.play(square).expect("legal").pass_if_forced();
        }
        position
    }

    /// What a player knows that has proven its first move and nothing about the others.
    fn opinion<G: Geometry>(position: Position<G>) -> Analysis {
        let hints = position.board.legal().map(|square| Hint {
            score: Some(1.5),
            visits: Some(7),
            ..Hint::plain(square, Source::Net)
        });
        Analysis { hints: hints.collect(), nodes: 100, seconds: 1.0 }
    }

    fn completed<G: Geometry>(position: Position<G>, goal: Goal) -> Analysis {
        complete(position, goal, opinion(position), &mut Control::plain())
    }

    #[test]
    fn every_move_of_an_ending_has_its_exact_score() {
        for goal in [Goal::Most, Goal::Fewest] {
            for empties in 2..=9 {
                let position = ending::<Square6>(empties);
                let found = completed(position, goal);
                assert_eq!(found.hints.len(), position.board.legal().len());
                let mut slow = Solver::<Square6>::new(goal, 1 << 16);
                for hint in &found.hints {
                    let next = position.play(hint.line[0]).expect("legal");
                    let score = -slow.score(next.board) as f32;
                    assert_eq!((hint.score, hint.bound), (Some(score), Bound::Exact), "{hint:?}");
                    assert_eq!(hint.visits, Some(7), "what the player knows besides stays");
                }
                assert!(found.hints.is_sorted_by(|a, b| a.score >= b.score), "{found:?}");
                assert!(found.nodes > 100 && found.seconds >= 1.0, "{found:?}");
            }
        }
    }

    #[test]
    fn an_earlier_position_and_a_search_that_was_stopped_stay_as_they_are() {
        let position = ending::<Square8>(EMPTIES + 1);
        assert_eq!(completed(position, Goal::Most), opinion(position));
        let position = ending::<Square8>(EMPTIES);
        let stop = Stop::default();
        stop.set();
        let mut control = Control::new(stop, Default::default());
        assert_eq!(
            complete(position, Goal::Most, opinion(position), &mut control),
            opinion(position)
        );
    }

    /// While moves are open, the first one is the best of the position and others have bounds.
    #[test]
    fn reports_claim_only_what_is_proven() {
        let position = ending::<Square6>(10);
        let mut reports = Vec::new();
        let mut sink = |analysis: &Analysis| reports.push(analysis.hints.clone());
        let control = Control::plain();
        let mut control = control.reporting(Duration::ZERO, &mut sink);
        let last = complete(position, Goal::Most, opinion(position), &mut control).hints;
        assert_eq!(reports.last(), Some(&last));
        for hints in reports {
            assert!(is_proven(&hints) && hints[0].score == last[0].score, "{hints:?}");
            for hint in hints.iter().filter(|hint| !is_exact(hint)) {
                let exact = last.iter().find(|other| other.line[0] == hint.line[0]).expect("it");
                assert!(hint.bound == Bound::AtMost && exact.score <= hint.score, "{hint:?}");
            }
        }
    }
}
