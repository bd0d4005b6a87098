//! Hints of an alpha-beta player. The best move comes from the player's own search. Each other move
//! has a search of its own, which is one ply shallower.

use std::cmp::Ordering;
use std::time::Duration;

use super::AlphaBetaPlayer;
use crate::eval::WinScale;
use crate::game::{Geometry, Position, Square};
use crate::players::control::Control;
use crate::players::player::{Bound, Hint, PlayerError, Turn};
use crate::search::alphabeta::{SearchLimits, SearchResult};

impl<G: Geometry> AlphaBetaPlayer<G> {
    /// The best moves within `limits`, and the number of positions searched. If the search is
    /// stopped, moves that it has not reached are missing.
    pub(super) fn analyze_moves(
        &mut self,
        turn: &Turn<'_, G>,
        count: usize,
        limits: &SearchLimits,
        control: &mut Control<'_>,
    ) -> Result<(Vec<Hint>, u64), PlayerError> {
        let best = self.search(turn, limits, control)?;
        let first = best_hint(turn.position, &best, self.search.win_scale());
        let mut nodes = best.nodes;
        let legal = turn.position.board.legal();
        let others: Vec<_> = legal.filter(|&square| square != best.square && count > 1).collect();
        let limits = self.limits_for_others(&best, limits, others.len());
        let mut hints = Vec::new();
        for square in others {
            let Some((hint, searched)) = self.hint(turn, square, &limits) else { continue };
            nodes += searched;
            // The result of a stopped search is not reliable.
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

    /// The best moves by searches of rising depth, until they are stopped or the position is
    /// solved.
    pub(super) fn deepen(
        &mut self,
        turn: &Turn<'_, G>,
        count: usize,
        control: &mut Control<'_>,
    ) -> Result<(Vec<Hint>, u64), PlayerError> {
        let threads = self.spec.threads.unwrap_or(1);
        // Only complete depths are reported, with all moves.
        let mut quiet = Control::new(control.stop.clone(), control.effort);
        let (mut hints, mut nodes) = (Vec::new(), 0);
        for depth in 1..=turn.position.board.empties() {
            let limits = SearchLimits { threads, ..SearchLimits::depth(depth) };
            let (found, searched) = self.analyze_moves(turn, count, &limits, &mut quiet)?;
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

    /// The limits for the search of each of `others` other moves: one ply less than the search
    /// `best` of the best move, which had the limits `of_best`. Together these searches get the
    /// time and the nodes that `best` took.
    pub(super) fn limits_for_others(
        &self,
        best: &SearchResult,
        of_best: &SearchLimits,
        others: usize,
    ) -> SearchLimits {
        let others = others.max(1) as u32;
        let timed = of_best.movetime.is_some() || of_best.remaining.is_some();
        // Enough nodes to look at all replies at least.
        let nodes = (best.nodes / u64::from(others)).max(4 * G::SQUARES as u64);
        SearchLimits {
            depth: Some(best.depth.saturating_sub(1).max(1)),
            threads: of_best.threads,
            movetime: timed.then(|| Duration::from_secs_f64(best.seconds) / others),
            nodes: of_best.nodes.map(|_| nodes),
            ..SearchLimits::default()
        }
    }

    /// A hint from a search of the position after a move, and the number of positions searched.
    fn hint(
        &mut self,
        turn: &Turn<'_, G>,
        square: Square,
        limits: &SearchLimits,
    ) -> Option<(Hint, u64)> {
        let next = turn.position.play(square)?;
        let settled = next.pass_if_forced();
        let win_scale = self.search.win_scale();
        let sign = if settled.side == turn.position.side { 1.0 } else { -1.0 };
        let mut line = vec![square];
        if settled.board.legal().is_empty() {
            let score = sign * settled.board.final_score(self.goal) as f32;
            return Some((hint_of(line, score, true, 1, win_scale), 0));
        }
        let found = self.search.think(settled.board, limits)?;
        line.extend(legal_part(settled, &found.pv));
        let hint = hint_of(line, sign * found.score, found.exact, found.depth + 1, win_scale);
        Some((hint, found.nodes))
    }
}

/// The best move, then the other moves by falling score.
fn sorted(best: &Hint, others: &[Hint], count: usize) -> Vec<Hint> {
    let mut others = others.to_vec();
    others.sort_by(|a, b| b.score.partial_cmp(&a.score).unwrap_or(Ordering::Equal));
    std::iter::once(best.clone()).chain(others).take(count).collect()
}

/// A hint for the best move of a search.
pub(super) fn best_hint<G: Geometry>(
    position: Position<G>,
    best: &SearchResult,
    win_scale: WinScale,
) -> Hint {
    hint_of(legal_part(position, &best.pv), best.score, best.exact, best.depth, win_scale)
}

fn hint_of(line: Vec<Square>, score: f32, exact: bool, depth: u32, win_scale: WinScale) -> Hint {
    let win_chance = match exact {
        true if score == 0.0 => 0.5,
        true => 0.5 + 0.5 * score.signum(),
        false => win_scale.chance(score),
    };
    let bound = if exact { Bound::Exact } else { Bound::Estimated };
    // Turns -0 into 0.
    let score = score + 0.0;
    Hint { line, win_chance: Some(win_chance), score: Some(score), bound, depth: Some(depth) }
}

/// The legal beginning of a line. An entry of the transposition table that was replaced can make
/// the end of a line illegal.
pub(super) fn legal_part<G: Geometry>(mut position: Position<G>, line: &[Square]) -> Vec<Square> {
    let legal = line.iter().map_while(|&square| {
        position = position.play(square)?.pass_if_forced();
        Some(square)
    });
    legal.collect()
}
