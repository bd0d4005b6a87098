//! Hints of an alpha-beta player. The best move comes from the player's own search. Each other move
//! has a search of its own, which is one ply shallower.

use std::cmp::Ordering;
use std::time::Duration;

use super::AlphaBetaPlayer;
use crate::eval::WinScale;
use crate::game::{Geometry, Position, Square};
use crate::players::control::{Control, Effort};
use crate::players::player::{Bound, Hint, PlayerError, Source, Turn};
use crate::search::alphabeta::{self, SearchLimits, SearchResult};

/// What is known before a pass over all moves, and how its results are reported.
#[derive(Clone, Copy)]
pub(super) struct Pass<'a> {
    /// The most moves in a report.
    count: usize,
    /// Hints of an earlier, shallower pass. They stand for the moves that this one has not reached.
    earlier: &'a [Hint],
    /// Positions that earlier passes searched.
    nodes: u64,
}

impl Pass<'_> {
    /// The first pass of an analysis.
    pub fn first(count: usize) -> Pass<'static> {
        Pass { count, earlier: &[], nodes: 0 }
    }

    /// The hints so far: those of this pass, and the earlier ones for the other moves.
    fn hints(&self, first: &Hint, found: &[Hint]) -> Vec<Hint> {
        let is_new = |hint: &&Hint| {
            let same = |other: &Hint| other.line.first() == hint.line.first();
            !same(first) && !found.iter().any(same)
        };
        let most = first.score.filter(|_| first.bound == Bound::Exact);
        let capped = |hint: &Hint| {
            // No move is better than the best one, whose score is proven.
            let score = hint.score.map(|score| most.map_or(score, |most| score.min(most)));
            Hint { score, ..hint.clone() }
        };
        let mut others = found.to_vec();
        others.extend(self.earlier.iter().filter(is_new).map(capped));
        others.sort_by(|a, b| b.score.partial_cmp(&a.score).unwrap_or(Ordering::Equal));
        std::iter::once(first.clone()).chain(others).collect()
    }

    fn report(&self, hints: Vec<Hint>, nodes: u64, control: &mut Control<'_>) {
        control.report(first_of(hints, self.count), self.nodes + nodes);
    }
}

impl<G: Geometry> AlphaBetaPlayer<G> {
    /// The best moves within `limits`, and the number of positions searched. If the search is
    /// stopped, moves that no pass has reached are missing.
    pub(super) fn analyze_within(
        &mut self,
        turn: &Turn<'_, G>,
        count: usize,
        limits: &SearchLimits,
        control: &mut Control<'_>,
    ) -> Result<(Vec<Hint>, u64), PlayerError> {
        let (mut earlier, mut nodes) = (Vec::new(), 0);
        if control.has_reports() && count > 1 {
            // Otherwise the first reports would have one move only.
            let shallow = SearchLimits { threads: limits.threads, ..SearchLimits::depth(1) };
            let mut quiet = Control::new(control.stop.clone(), control.effort);
            (earlier, nodes) =
                self.analyze_moves(turn, &shallow, Pass::first(count), &mut quiet)?;
        }
        let pass = Pass { count, earlier: &earlier, nodes };
        if !earlier.is_empty() && control.is_due() {
            pass.report(earlier.clone(), 0, control);
        }
        let (hints, searched) = self.analyze_moves(turn, limits, pass, control)?;
        Ok((first_of(hints, count), nodes + searched))
    }

    /// All moves within `limits`, the best one first, and the number of positions searched.
    fn analyze_moves(
        &mut self,
        turn: &Turn<'_, G>,
        limits: &SearchLimits,
        pass: Pass<'_>,
        control: &mut Control<'_>,
    ) -> Result<(Vec<Hint>, u64), PlayerError> {
        let best = self.search(turn, limits, pass, control)?;
        let first = best_hint(turn.position, &best, self.search.win_scale());
        let mut nodes = best.nodes;
        let legal = turn.position.board.legal();
        let others: Vec<_> =
            legal.filter(|&square| square != best.square && pass.count > 1).collect();
        let limits = self.limits_for_others(&best, limits, others.len());
        let mut found = Vec::new();
        for square in others {
            let Some((hint, searched)) = self.hint(turn, square, &limits) else { continue };
            nodes += searched;
            // The result of a stopped search is not reliable.
            if control.stop.is_set() {
                break;
            }
            found.push(hint);
            if control.is_due() {
                pass.report(pass.hints(&first, &found), nodes, control);
            }
        }
        Ok((pass.hints(&first, &found), nodes))
    }

    /// Searches a position and reports the best line during the search.
    pub(super) fn search(
        &mut self,
        turn: &Turn<'_, G>,
        limits: &SearchLimits,
        pass: Pass<'_>,
        control: &mut Control<'_>,
    ) -> Result<SearchResult, PlayerError> {
        self.search.forget();
        self.search.set_stop(control.stop.clone());
        let (watched, win_scale) = (control.has_reports(), self.search.win_scale());
        let known = pass.earlier.first().and_then(|hint| hint.depth).unwrap_or(0);
        let mut watch = |result: &SearchResult| {
            if result.depth >= known && control.is_due() {
                let first = best_hint(turn.position, result, win_scale);
                pass.report(pass.hints(&first, &[]), result.nodes, control);
            }
        };
        let watch: Option<&mut dyn FnMut(&SearchResult)> = watched.then_some(&mut watch);
        let found = self.search.think_with_progress(turn.position.board, limits, watch);
        found.ok_or_else(|| PlayerError::IllegalMove { shown: "nothing".into() })
    }

    /// The best moves by searches of rising depth, until they are stopped, a limit is reached or
    /// the position is solved.
    pub(super) fn deepen(
        &mut self,
        turn: &Turn<'_, G>,
        count: usize,
        control: &mut Control<'_>,
    ) -> Result<(Vec<Hint>, u64), PlayerError> {
        let (threads, empties) = (self.spec.threads.unwrap_or(1), turn.position.board.empties());
        let caps = control.effort.caps;
        // Only complete depths are reported: scores of odd and even depths differ. The last pass
        // takes long and its scores are exact, so each of them is reported.
        let mut quiet = Control::new(control.stop.clone(), Effort::default());
        let (mut hints, mut nodes) = (Vec::new(), 0);
        for depth in alphabeta::depths(empties, caps.depth.unwrap_or(empties)) {
            let left = caps.nodes.map(|most| most.saturating_sub(nodes));
            if left == Some(0) {
                break;
            }
            let limits = SearchLimits { threads, nodes: left, ..SearchLimits::depth(depth) };
            let watched = if depth == empties { &mut *control } else { &mut quiet };
            let pass = Pass { count, earlier: &hints, nodes };
            let (found, searched) = self.analyze_moves(turn, &limits, pass, watched)?;
            nodes += searched;
            let (complete, exact) = (found[0].depth >= Some(depth), found[0].bound == Bound::Exact);
            let reliable = exact || complete && !control.stop.is_set();
            if !reliable && !hints.is_empty() {
                break;
            }
            hints = found;
            if control.is_due() {
                control.report(first_of(hints.clone(), count), nodes);
            }
        }
        Ok((first_of(hints, count), nodes))
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

fn first_of(mut hints: Vec<Hint>, count: usize) -> Vec<Hint> {
    hints.truncate(count);
    hints
}

/// A hint for the best move of a search.
pub(super) fn best_hint<G: Geometry>(
    position: Position<G>,
    best: &SearchResult,
    win_scale: WinScale,
) -> Hint {
    let line = legal_part(position, &best.pv);
    // A move that ends the game, such as a wipe-out, has its exact score at any depth.
    let after = line.first().and_then(|&square| position.play(square));
    let exact = best.exact || after.is_some_and(|after| after.board.is_over());
    hint_of(line, best.score, exact, best.depth, win_scale)
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
    Hint {
        line,
        win_chance: Some(win_chance),
        score: Some(score),
        bound,
        depth: Some(depth),
        visits: None,
        policy: None,
        source: Source::AlphaBeta,
    }
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
