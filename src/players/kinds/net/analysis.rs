//! Hints of a net player. They come from its search. In a position that it can solve, the other
//! moves are solved one by one.

use std::cmp::Ordering;
use std::time::{Duration, Instant};

use super::{NetPlayer, TurnResult, network_error};
use crate::game::{Geometry, Position, Square};
use crate::players::control::Control;
use crate::players::kinds::hints::{self, exact_hint};
use crate::players::player::{Bound, Hint, PlayerError, Source, Turn};
use crate::predict::Input;
use crate::predict::PredictError;
use crate::search::mcts::{MoveStats, TreeSearch};
use crate::search::stop::Stop;

/// The least time for solving the other moves of a solved position, for players without a time
/// limit.
const TIME_FOR_OTHER_MOVES: Duration = Duration::from_secs(2);
/// The time for the other moves, as a multiple of the time that the best move took to solve. It
/// counts if it is longer than the least time.
const FACTOR_FOR_OTHER_MOVES: u32 = 3;

impl<G: Geometry> NetPlayer<G> {
    /// The best moves of a position, at most `count`, and the number of positions searched.
    pub(super) fn hints_of(
        &mut self,
        turn: &Turn<'_, G>,
        count: usize,
        control: &mut Control<'_>,
    ) -> Result<(Vec<Hint>, u64), PredictError> {
        let (begun, solved) = (Instant::now(), self.solver.nodes);
        match self.think_alone(turn, count, control)? {
            TurnResult::Solved { score, line } => {
                let solve_time = begun.elapsed();
                let time = match self.budget(turn, control.effort).time {
                    _ if control.effort.endless => None,
                    Some(time) => Some(time.saturating_sub(solve_time)),
                    None => Some(TIME_FOR_OTHER_MOVES.max(solve_time * FACTOR_FOR_OTHER_MOVES)),
                };
                let deadline = time.and_then(|time| Instant::now().checked_add(time));
                let hints = self.solved_hints(turn, (score, line), deadline, count, control)?;
                Ok((hints, self.solver.nodes - solved))
            }
            TurnResult::Searched(mut search, done) => {
                let hints = self.searched_hints(turn, &mut search, count);
                self.searches.insert(turn.game, search);
                Ok((hints?, done.into()))
            }
        }
    }

    /// The final disc difference that the last search expects after a move: the estimate of the
    /// net's score head, or the score that corresponds to the move's chance to win.
    pub(super) fn expected_score(
        &mut self,
        turn: &Turn<'_, G>,
        square: Square,
    ) -> Result<Option<f32>, PlayerError> {
        let Some(search) = self.searches.remove(&turn.game) else { return Ok(None) };
        let stats = search.tree().root_moves().find(|stats| stats.square == square);
        let predicted = self.predicted(turn, stats.as_slice()).map_err(network_error);
        let score = predicted.map(|predicted| {
            let hint = hints::hint(&search, &stats?, predicted.first().copied().flatten());
            hint.score.or(hint.win_chance.map(hints::score_of_chance::<G>))
        });
        self.searches.insert(turn.game, search);
        score
    }

    /// Reports what the net predicts, if a report is due: solving the position may take seconds.
    pub(super) fn report_predictions(
        &mut self,
        turn: &Turn<'_, G>,
        count: usize,
        control: &mut Control<'_>,
    ) -> Result<(), PredictError> {
        if control.is_due() {
            let mut hints = hints::predicted_hints(&mut self.net_copies, turn.position, self.goal)?;
            hints.truncate(count);
            control.report(hints, 0);
        }
        Ok(())
    }

    /// The best moves of a search.
    pub(super) fn searched_hints(
        &mut self,
        turn: &Turn<'_, G>,
        search: &mut TreeSearch<G>,
        count: usize,
    ) -> Result<Vec<Hint>, PredictError> {
        let moves = hints::best_moves(search, count);
        let predicted = self.predicted(turn, &moves)?;
        let of_move = |(stats, score): (&MoveStats, Option<f32>)| hints::hint(search, stats, score);
        Ok(moves.iter().zip(predicted).map(of_move).collect())
    }

    /// The final disc difference that the net predicts after each of `moves`. None where the exact
    /// score is proven, and none at all if the net has no score head: then it predicts 0 for all.
    fn predicted(
        &mut self,
        turn: &Turn<'_, G>,
        moves: &[MoveStats],
    ) -> Result<Vec<Option<f32>>, PredictError> {
        let mut scores = vec![None; moves.len()];
        let unproven = (0..moves.len()).filter(|&place| moves[place].lower < moves[place].upper);
        let after =
            |place: usize| turn.position.play(moves[place].square).map(Position::pass_if_forced);
        let unproven: Vec<_> = unproven.filter_map(|place| Some((place, after(place)?))).collect();
        self.inputs.clear();
        self.inputs
            .extend(unproven.iter().map(|(_, next)| Input::new(next.board, next.board.legal())));
        if self.inputs.is_empty() {
            return Ok(scores);
        }
        // On this thread, since helpers may be computing for a search in progress.
        self.net_copies.evaluate_here(&self.inputs, &mut self.predictions)?;
        let predicted = &self.predictions.score[..unproven.len()];
        if predicted.iter().any(|&score| score != 0.0) {
            for ((place, next), &score) in unproven.iter().zip(predicted) {
                let own = next.side == turn.position.side;
                scores[*place] = Some(if own { score } else { -score });
            }
        }
        Ok(scores)
    }

    /// The moves of a position with the exact score `score`, at most `count`. `line` begins with
    /// the best move. The other moves are solved until `deadline`. A move that is not solved has
    /// `score` as its upper bound.
    pub(super) fn solved_hints(
        &mut self,
        turn: &Turn<'_, G>,
        (score, line): (i32, Vec<Square>),
        deadline: Option<Instant>,
        count: usize,
        control: &mut Control<'_>,
    ) -> Result<Vec<Hint>, PredictError> {
        let empties = turn.position.board.empties();
        let mut hints = vec![exact_hint(line, score, empties)];
        let mut unsolved = self.by_policy(turn)?;
        unsolved.retain(|&square| hints[0].line.first() != Some(&square));
        let solved = self.solver.nodes;
        self.solver.set_stop(control.stop.clone());
        while !unsolved.is_empty() && !control.stop.is_set() {
            let moves = unsolved.len() as u32;
            let left =
                deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()) / moves);
            let square = unsolved.remove(0);
            hints.push(match self.solved_move(turn, square, left) {
                Some((score, line)) => exact_hint(line, score, empties),
                None => bound_hint(square, score),
            });
            if control.is_due() {
                let known = hints.iter().cloned();
                let rest = unsolved.iter().map(|&square| bound_hint(square, score));
                let report = sorted(known.chain(rest).collect(), count);
                control.report(report, self.solver.nodes - solved);
            }
        }
        self.solver.set_stop(Stop::default());
        hints.extend(unsolved.into_iter().map(|square| bound_hint(square, score)));
        Ok(sorted(hints, count))
    }

    /// The exact score of a move and a line that begins with it, if they are found within `time`.
    fn solved_move(
        &mut self,
        turn: &Turn<'_, G>,
        square: Square,
        time: Option<Duration>,
    ) -> Option<(i32, Vec<Square>)> {
        let next = turn.position.play(square)?.pass_if_forced();
        let sign = if next.side == turn.position.side { 1 } else { -1 };
        let (score, rest) = if next.board.legal().is_empty() {
            (next.board.final_score(self.goal), Vec::new())
        } else {
            let threads = if self.settings.time.is_some() { self.settings.solvers } else { 1 };
            self.solver.best_line_within(next.board, time, threads)?
        };
        Some((sign * score, std::iter::once(square).chain(rest).collect()))
    }

    /// The legal moves by falling policy of the net.
    fn by_policy(&mut self, turn: &Turn<'_, G>) -> Result<Vec<Square>, PredictError> {
        let board = turn.position.board;
        self.inputs.clear();
        self.inputs.push(Input::new(board, board.legal()));
        self.net_copies.evaluate_here(&self.inputs, &mut self.predictions)?;
        let logits = self.predictions.get(0, G::SQUARES).policy;
        let mut squares: Vec<_> = board.legal().collect();
        squares.sort_by(|a, b| logits[b.index()].total_cmp(&logits[a.index()]));
        Ok(squares)
    }
}

/// A hint for a move whose exact score is at most `most`.
fn bound_hint(square: Square, most: i32) -> Hint {
    Hint {
        win_chance: (most < 0).then_some(0.0),
        score: Some(most as f32),
        bound: Bound::AtMost,
        ..Hint::plain(square, Source::Solver)
    }
}

/// The best move first, then the other moves by exact score, then the moves without exact score.
/// At most `count` moves.
fn sorted(mut hints: Vec<Hint>, count: usize) -> Vec<Hint> {
    hints[1..].sort_by(|a, b| {
        let (x, y) = (a.bound == Bound::Exact, b.bound == Bound::Exact);
        y.cmp(&x).then(b.score.partial_cmp(&a.score).unwrap_or(Ordering::Equal))
    });
    hints.truncate(count);
    hints
}
