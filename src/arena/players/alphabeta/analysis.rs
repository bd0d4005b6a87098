//! What alpha-beta search thinks of each move. The best one comes from the player's own search;
//! each other move has a search of its own, which is a ply shallower.

use std::cmp::Ordering;
use std::time::Duration;

use super::AlphaBeta;
use crate::arena::control::Control;
use crate::arena::player::{Bound, Hint, PlayerError, Turn};
use crate::game::{Geometry, Position, Square};
use crate::search::alphabeta::{SearchLimits, SearchResult};

/// The difference, in discs, between the odds of a score and e times these odds: a player whose
/// search ends before the game does wins with probability `1 / (1 + exp(-score / WIN_SCALE))`.
///
/// Fitted by maximum likelihood to the 44,400 moves of 900 games between depths 4, 5 and 6 from
/// random openings of 10 plies; from 6 to 53 empty squares fits by stage lay between 5.5 and 8.
const WIN_SCALE: f32 = 6.0;

impl<G: Geometry> AlphaBeta<G> {
    /// The best moves under some limits, and the positions searched for them. If it is stopped, the
    /// moves that it has not come to are missing.
    pub(super) fn survey(
        &mut self,
        turn: &Turn<'_, G>,
        count: usize,
        limits: &SearchLimits,
        control: &mut Control<'_>,
    ) -> Result<(Vec<Hint>, u64), PlayerError> {
        let best = self.search(turn, limits, control)?;
        let first = best_hint(turn.position, &best);
        let mut nodes = best.nodes;
        let legal = turn.position.board.legal();
        let others: Vec<_> = legal.filter(|&square| square != best.square && count > 1).collect();
        let limits = self.limits_beside(&best, limits, others.len());
        let mut hints = Vec::new();
        for square in others {
            let Some((hint, searched)) = self.hint(turn, square, &limits) else { continue };
            nodes += searched;
            // What a search found that was cut short is not worth showing.
            if control.stop.is_set() {
                break;
            }
            hints.push(hint);
            if control.is_due() {
                control.report(sorted(&first, &hints, count), nodes);
            }
        }
        Ok((sorted(&first, &hints, count), nodes))
    }

    /// The best moves by deeper and deeper searches, until they are stopped or solve the position.
    pub(super) fn deepen(
        &mut self,
        turn: &Turn<'_, G>,
        count: usize,
        control: &mut Control<'_>,
    ) -> Result<(Vec<Hint>, u64), PlayerError> {
        let threads = self.spec.threads.unwrap_or(1);
        // A report has all moves, from the last complete depth.
        let mut quiet = Control::new(control.stop.clone(), control.effort);
        let (mut hints, mut nodes) = (Vec::new(), 0);
        for depth in 1..=turn.position.board.empties() {
            let limits = SearchLimits { threads, ..SearchLimits::depth(depth) };
            let (found, searched) = self.survey(turn, count, &limits, &mut quiet)?;
            nodes += searched;
            if control.stop.is_set() && !hints.is_empty() {
                break;
            }
            hints = found;
            if control.is_due() {
                control.report(hints.clone(), nodes);
            }
        }
        Ok((hints, nodes))
    }

    /// The limits of a search of each other move: one ply less than that of the best move. Together
    /// these searches have no more time or nodes than that one took.
    pub(super) fn limits_beside(
        &self,
        best: &SearchResult,
        of_best: &SearchLimits,
        others: usize,
    ) -> SearchLimits {
        let others = others.max(1) as u32;
        let timed = of_best.movetime.is_some() || of_best.remaining.is_some();
        // As many as a look at all replies takes, or there would be nothing to tell.
        let nodes = (best.nodes / u64::from(others)).max(4 * G::SQUARES as u64);
        SearchLimits {
            depth: Some(best.depth.saturating_sub(1).max(1)),
            threads: of_best.threads,
            movetime: timed.then(|| Duration::from_secs_f64(best.seconds) / others),
            nodes: of_best.nodes.map(|_| nodes),
            ..SearchLimits::default()
        }
    }

    /// What a move is worth, by a search one ply shallower after it, and the positions searched.
    fn hint(
        &mut self,
        turn: &Turn<'_, G>,
        square: Square,
        limits: &SearchLimits,
    ) -> Option<(Hint, u64)> {
        let next = turn.position.play(square)?;
        let settled = next.settled();
        let sign = if settled.side == turn.position.side { 1.0 } else { -1.0 };
        let mut line = vec![square];
        if settled.board.legal().is_empty() {
            let score = sign * settled.board.final_score(self.goal) as f32;
            return Some((hint_of(line, score, true, 1), 0));
        }
        let found = self.search.think(settled.board, limits)?;
        line.extend(legal_part(settled, &found.pv));
        let hint = hint_of(line, sign * found.score, found.exact, found.depth + 1);
        Some((hint, found.nodes))
    }
}

/// The best move, and after it the others by what they are worth.
fn sorted(best: &Hint, others: &[Hint], count: usize) -> Vec<Hint> {
    let mut others = others.to_vec();
    others.sort_by(|a, b| b.score.partial_cmp(&a.score).unwrap_or(Ordering::Equal));
    std::iter::once(best.clone()).chain(others).take(count).collect()
}

/// The best move of a search.
pub(super) fn best_hint<G: Geometry>(position: Position<G>, best: &SearchResult) -> Hint {
    hint_of(legal_part(position, &best.pv), best.score, best.exact, best.depth)
}

fn hint_of(line: Vec<Square>, score: f32, exact: bool, depth: u32) -> Hint {
    let win_chance = match exact {
        true if score == 0.0 => 0.5,
        true => 0.5 + 0.5 * score.signum(),
        false => 1.0 / (1.0 + (-score / WIN_SCALE).exp()),
    };
    let bound = if exact { Bound::Exact } else { Bound::Estimated };
    // An even score may come out as -0.
    let score = score + 0.0;
    Hint { line, win_chance: Some(win_chance), score: Some(score), bound, depth: Some(depth) }
}

/// The beginning of a line that the rules allow: a table may lose a line's end to another one.
pub(super) fn legal_part<G: Geometry>(mut position: Position<G>, line: &[Square]) -> Vec<Square> {
    let legal = line.iter().map_while(|&square| {
        position = position.play(square)?.settled();
        Some(square)
    });
    legal.collect()
}
