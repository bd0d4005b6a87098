//! Alpha-beta search as a player.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use crate::arena::player::{Choice, Hint, Player, PlayerError, Turn};
use crate::arena::spec::{AlphaBetaSpec, Limit};
use crate::eval::Evaluator;
use crate::game::{Board, Geometry, Goal, Position, Square};
use crate::search::alphabeta::{Limits, NoProbCut, Outcome, Search};

/// What is left of a player's time for a game never falls below this: it must move somehow.
const LAST_RESERVE: Duration = Duration::from_millis(10);

/// The difference, in discs, between the odds of a score and e times these odds: a player whose
/// search ends before the game does wins with probability `1 / (1 + exp(-score / WIN_SCALE))`.
///
/// Fitted by maximum likelihood to the 44,400 moves of 900 games between depths 4, 5 and 6 from
/// random openings of 10 plies; from 6 to 53 empty squares fits by stage lay between 5.5 and 8.
const WIN_SCALE: f32 = 6.0;

/// Searches each position anew, so that a move depends on nothing but the position and, for a
/// player that goes by the clock, on time.
pub struct AlphaBeta<G: Geometry> {
    name: String,
    spec: AlphaBetaSpec,
    goal: Goal,
    search: Search<G>,
    /// Time spent in each running game.
    spent: HashMap<u32, Duration>,
}

impl<G: Geometry> AlphaBeta<G> {
    /// A player whose `evaluator` must strive for `goal`.
    ///
    /// # Errors
    ///
    /// A specification with ProbCut and an evaluator without its parameters.
    pub fn new(
        name: String,
        goal: Goal,
        evaluator: Arc<dyn Evaluator<G>>,
        spec: AlphaBetaSpec,
    ) -> Result<AlphaBeta<G>, NoProbCut> {
        let mut search = Search::new(goal, evaluator, spec.table_mb << 20);
        if let Some(deviations) = spec.probcut {
            search = search.with_probcut(deviations)?;
        }
        Ok(AlphaBeta { name, spec, goal, search, spent: HashMap::new() })
    }

    fn limits(&self, game: u32) -> Limits {
        let spent = || self.spent.get(&game).copied().unwrap_or_default();
        let common = Limits {
            solve_empties: self.spec.solve_empties,
            threads: self.spec.threads.unwrap_or(1),
            ..Limits::default()
        };
        match self.spec.limit {
            Limit::Depth(plies) => Limits { depth: Some(plies), ..common },
            Limit::MoveTime(time) => Limits { movetime: Some(time), ..common },
            Limit::Nodes(nodes) => Limits { nodes: Some(nodes), ..common },
            Limit::GameTime(time) => {
                let left = time.saturating_sub(spent()).max(LAST_RESERVE);
                Limits { remaining: Some(left), ..common }
            }
        }
    }

    fn think(&mut self, turn: &Turn<'_, G>) -> Result<Outcome, PlayerError> {
        self.search.forget();
        let found = self.search.think(turn.position.board, &self.limits(turn.game));
        found.ok_or_else(|| PlayerError::IllegalMove { shown: "nothing".into() })
    }

    /// A move, whose time counts; that of hints, which somebody else asks for, does not.
    fn play(&mut self, turn: &Turn<'_, G>) -> Result<Choice, PlayerError> {
        let outcome = self.think(turn)?;
        if matches!(self.spec.limit, Limit::GameTime(_)) {
            let time = Duration::from_secs_f64(outcome.seconds);
            *self.spent.entry(turn.game).or_default() += time;
        }
        Ok(Choice {
            square: outcome.square,
            score: Some(outcome.score),
            depth: Some(outcome.depth),
            nodes: outcome.nodes,
            seconds: outcome.seconds,
        })
    }

    /// The limits of a search of each other move: one ply less than the best one had, and together
    /// no more of what is limited than that one took.
    fn limits_beside(&self, best: &Outcome, others: usize) -> Limits {
        let others = others.max(1) as u32;
        let time = Duration::from_secs_f64(best.seconds) / others;
        // As many as a look at all replies takes, or there would be nothing to tell.
        let nodes = (best.nodes / u64::from(others)).max(4 * G::SQUARES as u64);
        let common = Limits {
            depth: Some(best.depth.saturating_sub(1).max(1)),
            threads: self.spec.threads.unwrap_or(1),
            ..Limits::default()
        };
        match self.spec.limit {
            Limit::Depth(_) => common,
            Limit::MoveTime(_) | Limit::GameTime(_) => Limits { movetime: Some(time), ..common },
            Limit::Nodes(_) => Limits { nodes: Some(nodes), ..common },
        }
    }

    /// What a move is worth, by a search one ply shallower after it.
    fn hint(&mut self, turn: &Turn<'_, G>, square: Square, limits: &Limits) -> Option<Hint> {
        let next = turn.position.play(square)?;
        let settled = next.settled();
        let sign = if settled.side == turn.position.side { 1.0 } else { -1.0 };
        let mut line = vec![square];
        if settled.board.legal().is_empty() {
            let score = sign * settled.board.final_score(self.goal) as f32;
            return Some(hint_of(line, score, true, 1));
        }
        let found = self.search.think(settled.board, limits)?;
        line.extend(legal_part(settled, &found.pv));
        Some(hint_of(line, sign * found.score, found.exact, found.depth + 1))
    }
}

fn hint_of(line: Vec<Square>, score: f32, exact: bool, depth: u32) -> Hint {
    let win_chance = match exact {
        true if score == 0.0 => 0.5,
        true => 0.5 + 0.5 * score.signum(),
        false => 1.0 / (1.0 + (-score / WIN_SCALE).exp()),
    };
    // An even score may come out as -0.
    let score = score + 0.0;
    Hint { line, win_chance: Some(win_chance), score: Some(score), exact, depth: Some(depth) }
}

/// The beginning of a line that the rules allow: a table may lose a line's end to another one.
fn legal_part<G: Geometry>(mut position: Position<G>, line: &[Square]) -> Vec<Square> {
    let legal = line.iter().map_while(|&square| {
        position = position.play(square)?.settled();
        Some(square)
    });
    legal.collect()
}

impl<G: Geometry> Player<G> for AlphaBeta<G> {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn choose(&mut self, turns: &[Turn<'_, G>]) -> Vec<Result<Choice, PlayerError>> {
        turns.iter().map(|turn| self.play(turn)).collect()
    }

    fn end_game(&mut self, game: u32) {
        self.spent.remove(&game);
    }

    fn hints(&mut self, turn: &Turn<'_, G>, count: usize) -> Result<Vec<Hint>, PlayerError> {
        let best = self.think(turn)?;
        let mut hints =
            vec![hint_of(legal_part(turn.position, &best.pv), best.score, best.exact, best.depth)];
        let board: Board<G> = turn.position.board;
        let others: Vec<_> =
            board.legal().filter(|&square| square != best.square && count > 1).collect();
        let limits = self.limits_beside(&best, others.len());
        let mut others: Vec<_> =
            others.into_iter().filter_map(|square| self.hint(turn, square, &limits)).collect();
        others.sort_by(|a, b| b.score.partial_cmp(&a.score).unwrap_or(std::cmp::Ordering::Equal));
        hints.extend(others);
        hints.truncate(count);
        Ok(hints)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::{Square6, Square8};

    fn player<G: Geometry>(spec: &str) -> AlphaBeta<G> {
        let spec: crate::arena::spec::PlayerSpec = spec.parse().expect("a player");
        let crate::arena::spec::PlayerKind::AlphaBeta(spec) = spec.kind else {
            panic!("alpha-beta");
        };
        let evaluator = spec.evaluation.evaluator(Goal::Most);
        AlphaBeta::new("test".into(), Goal::Most, evaluator, spec).expect("all it needs")
    }

    #[test]
    fn hints_are_sorted_lines_of_legal_moves() {
        let start = Position::<Square8>::start();
        let moves = [19, 34, 45, 37, 44, 20].map(Square);
        let play = |position: Position<Square8>, &square: &Square| {
            position.play(square).expect("a legal move").settled()
        };
        let position = moves.iter().fold(start, play);
        let turn = Turn { game: 0, start, moves: &moves, position };
        let hints = player::<Square8>("alphabeta:depth=5").hints(&turn, 20).expect("hints");
        assert_eq!(hints.len(), position.board.legal().len());
        // The best move comes first, whatever shallower searches make of the others; those are
        // sorted, and here that is another order than the board's.
        let others = &hints[1..];
        assert!(others.is_sorted_by(|a, b| a.score >= b.score), "{others:?}");
        assert!(others.iter().any(|hint| hint.line[0] < others[0].line[0]), "{others:?}");
        for hint in &hints {
            assert_eq!(legal_part(position, &hint.line), hint.line);
            assert!(!hint.exact && hint.depth.is_some_and(|depth| depth >= 4));
            let (chance, score) = (hint.win_chance.expect("a chance"), hint.score.expect("discs"));
            assert_eq!(chance > 0.5, score > 0.0);
        }
    }

    #[test]
    fn hints_keep_the_limits_of_the_player() {
        let best = Outcome {
            square: Square(19),
            score: 2.0,
            exact: true,
            depth: 20,
            nodes: 9_000,
            pv: Vec::new(),
            seconds: 1.5,
        };
        let limits = |spec| player::<Square8>(spec).limits_beside(&best, 6);
        let plain = Limits { depth: Some(19), ..Limits::default() };
        assert_eq!(limits("alphabeta:depth=20"), plain);
        let time = Some(Duration::from_millis(250));
        assert_eq!(limits("alphabeta:movetime=2s"), Limits { movetime: time, ..plain });
        assert_eq!(limits("alphabeta:gametime=60s"), Limits { movetime: time, ..plain });
        assert_eq!(limits("alphabeta:nodes=10000"), Limits { nodes: Some(1_500), ..plain });
    }

    #[test]
    fn a_game_on_the_clock_keeps_its_time() {
        let mut player = player::<Square6>("alphabeta:gametime=300ms");
        let (start, mut moves) = (Position::<Square6>::start(), Vec::new());
        let (mut position, mut seconds) = (start, 0.0);
        while !position.board.legal().is_empty() {
            let turn = Turn { game: 4, start, moves: &moves, position };
            let choice = player.choose(&[turn]).remove(0).expect("a move");
            seconds += choice.seconds;
            moves.push(choice.square);
            position = position.play(choice.square).expect("legal").settled();
            if !position.board.legal().is_empty() {
                // Advice to somebody else takes nothing of the player's time.
                let (spent, turn) =
                    (player.spent[&4], Turn { game: 4, start, moves: &moves, position });
                player.hints(&turn, 3).expect("hints");
                assert_eq!(player.spent[&4], spent);
            }
        }
        // One player made all moves of both sides; on a busy machine a clock is read late.
        assert!(seconds < 3.0, "{seconds}");
        assert!(player.spent[&4] > Duration::ZERO);
        Player::<Square6>::end_game(&mut player, 4);
        assert!(player.spent.is_empty());
    }
}
