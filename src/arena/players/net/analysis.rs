//! What a net's player says about the moves of a position: from its search, or move by move where
//! the position is solved.

use std::cmp::Ordering;
use std::time::{Duration, Instant};

use super::{NetPlayer, Thought, answer, failed};
use crate::arena::control::Control;
use crate::arena::player::{Bound, Hint, PlayerError, Turn};
use crate::arena::players::hints;
use crate::game::{Geometry, Position, Square};
use crate::net::Input;
use crate::net::inference::InferenceError;
use crate::search::mcts::{MoveStats, TreeSearch};
use crate::search::stop::Stop;

/// The time for the other moves of a position that is solved, for a player without a clock, if its
/// solution was quick.
const TIME_FOR_OTHERS: Duration = Duration::from_secs(2);
/// How much longer the other moves may take than the solution, if that was not quick.
const FACTOR_FOR_OTHERS: u32 = 3;

impl<G: Geometry> NetPlayer<G> {
    /// The best moves of a position, at most `count`, and the positions searched for them.
    pub(super) fn hints_of(
        &mut self,
        turn: &Turn<'_, G>,
        count: usize,
        control: &mut Control<'_>,
    ) -> Result<(Vec<Hint>, u64), InferenceError> {
        let (begun, solved) = (Instant::now(), self.solver.nodes);
        match self.think_alone(turn, count, control)? {
            Thought::Solved { score, line } => {
                let took = begun.elapsed();
                let time = match self.budget(turn, control.effort).time {
                    _ if control.effort.endless => None,
                    Some(time) => Some(time.saturating_sub(took)),
                    None => Some(TIME_FOR_OTHERS.max(took * FACTOR_FOR_OTHERS)),
                };
                let until = time.and_then(|time| Instant::now().checked_add(time));
                let hints = self.solved_hints(turn, (score, line), until, count, control)?;
                Ok((hints, self.solver.nodes - solved))
            }
            Thought::Searched(mut search, done) => {
                let hints = self.searched_hints(turn, &mut search, count);
                self.searches.insert(turn.game, search);
                Ok((hints?, done.into()))
            }
        }
    }

    /// The final disc difference that the last search expects of a move: the net's own estimate, or
    /// what its chance to win comes to.
    pub(super) fn expected_score(
        &mut self,
        turn: &Turn<'_, G>,
        square: Square,
    ) -> Result<Option<f32>, PlayerError> {
        let Some(search) = self.searches.remove(&turn.game) else { return Ok(None) };
        let stats = search.tree().root_moves().find(|stats| stats.square == square);
        let predicted = self.predicted(turn, stats.as_slice()).map_err(failed);
        let score = predicted.map(|predicted| {
            let hint = hints::hint(&search, &stats?, predicted.first().copied().flatten());
            hint.score.or(hint.win_chance.map(hints::score_of_chance::<G>))
        });
        self.searches.insert(turn.game, search);
        score
    }

    /// The best moves of a search.
    pub(super) fn searched_hints(
        &mut self,
        turn: &Turn<'_, G>,
        search: &mut TreeSearch<G>,
        count: usize,
    ) -> Result<Vec<Hint>, InferenceError> {
        let moves = hints::best_moves(search, count);
        let predicted = self.predicted(turn, &moves)?;
        let of_move = |(stats, score): (&MoveStats, Option<f32>)| hints::hint(search, stats, score);
        Ok(moves.iter().zip(predicted).map(of_move).collect())
    }

    /// The final disc difference that the net expects after each of some moves whose score is not
    /// proven. A net without that head predicts 0 for all of them, and is not quoted.
    fn predicted(
        &mut self,
        turn: &Turn<'_, G>,
        moves: &[MoveStats],
    ) -> Result<Vec<Option<f32>>, InferenceError> {
        let mut scores = vec![None; moves.len()];
        let open = (0..moves.len()).filter(|&place| moves[place].lower < moves[place].upper);
        let after = |place: usize| turn.position.play(moves[place].square).map(Position::settled);
        let open: Vec<_> = open.filter_map(|place| Some((place, after(place)?))).collect();
        self.inputs.clear();
        self.inputs.extend(open.iter().map(|(_, next)| Input::new(next.board, next.board.legal())));
        if self.inputs.is_empty() {
            return Ok(scores);
        }
        // On this thread, for helpers may be at work for a search that goes on.
        self.net_copies.evaluate_here(&self.inputs, &mut self.outputs)?;
        let predicted = &self.outputs.score[..open.len()];
        if predicted.iter().any(|&score| score != 0.0) {
            for ((place, next), &score) in open.iter().zip(predicted) {
                let own = next.side == turn.position.side;
                scores[*place] = Some(if own { score } else { -score });
            }
        }
        Ok(scores)
    }

    /// The moves of a position that is worth `score`, at most `count`; `line` begins with the best.
    /// Each has its exact score, or the bound that the best sets if that is not found in time.
    pub(super) fn solved_hints(
        &mut self,
        turn: &Turn<'_, G>,
        (score, line): (i32, Vec<Square>),
        until: Option<Instant>,
        count: usize,
        control: &mut Control<'_>,
    ) -> Result<Vec<Hint>, InferenceError> {
        let empties = turn.position.board.empties();
        let mut hints = vec![exact_hint(line, score, empties)];
        let mut open = self.by_promise(turn)?;
        open.retain(|&square| hints[0].line.first() != Some(&square));
        let solved = self.solver.nodes;
        self.solver.set_stop(control.stop.clone());
        while !open.is_empty() && !control.stop.is_set() {
            let moves = open.len() as u32;
            let left = until.map(|until| until.saturating_duration_since(Instant::now()) / moves);
            let square = open.remove(0);
            hints.push(match self.solved_move(turn, square, left) {
                Some((score, line)) => exact_hint(line, score, empties),
                None => bound_hint(square, score),
            });
            if control.is_due() {
                let known = hints.iter().cloned();
                let rest = open.iter().map(|&square| bound_hint(square, score));
                let report = sorted(known.chain(rest).collect(), count);
                control.report(report, self.solver.nodes - solved);
            }
        }
        self.solver.set_stop(Stop::default());
        hints.extend(open.into_iter().map(|square| bound_hint(square, score)));
        Ok(sorted(hints, count))
    }

    /// The score of a move, and a line that begins with it, if they are found in time.
    fn solved_move(
        &mut self,
        turn: &Turn<'_, G>,
        square: Square,
        time: Option<Duration>,
    ) -> Option<(i32, Vec<Square>)> {
        let next = turn.position.play(square)?.settled();
        let sign = if next.side == turn.position.side { 1 } else { -1 };
        let (score, rest) = if next.board.legal().is_empty() {
            (next.board.final_score(self.goal), Vec::new())
        } else {
            let threads = if self.thinking.time.is_some() { self.thinking.solvers } else { 1 };
            self.solver.best_line_within(next.board, time, threads)?
        };
        Some((sign * score, std::iter::once(square).chain(rest).collect()))
    }

    /// The legal moves, those first that the net's policy likes best.
    fn by_promise(&mut self, turn: &Turn<'_, G>) -> Result<Vec<Square>, InferenceError> {
        let board = turn.position.board;
        self.inputs.clear();
        self.inputs.push(Input::new(board, board.legal()));
        self.net_copies.evaluate_here(&self.inputs, &mut self.outputs)?;
        let logits = answer::<G>(&self.outputs, 0).policy;
        let mut squares: Vec<_> = board.legal().collect();
        squares.sort_by(|a, b| logits[b.index()].total_cmp(&logits[a.index()]));
        Ok(squares)
    }
}

fn exact_hint(line: Vec<Square>, score: i32, empties: u32) -> Hint {
    Hint {
        line,
        win_chance: Some((score.signum() + 1) as f32 / 2.0),
        score: Some(score as f32),
        bound: Bound::Exact,
        depth: Some(empties),
    }
}

/// A move of a position that is worth no more than `most`.
fn bound_hint(square: Square, most: i32) -> Hint {
    Hint {
        line: vec![square],
        win_chance: (most < 0).then_some(0.0),
        score: Some(most as f32),
        bound: Bound::AtMost,
        depth: None,
    }
}

/// The best move first, then the others by their exact scores, then those without one; at most
/// `count`.
fn sorted(mut hints: Vec<Hint>, count: usize) -> Vec<Hint> {
    hints[1..].sort_by(|a, b| {
        let (x, y) = (a.bound == Bound::Exact, b.bound == Bound::Exact);
        y.cmp(&x).then(b.score.partial_cmp(&a.score).unwrap_or(Ordering::Equal))
    });
    hints.truncate(count);
    hints
}
