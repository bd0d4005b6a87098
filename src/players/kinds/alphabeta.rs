//! A player that uses alpha-beta search.

mod analysis;
mod evaluator;
mod options;

use std::collections::HashMap;
use std::time::Duration;

use analysis::Pass;
pub use evaluator::{EvaluatorKind, EvaluatorSource};
pub use options::{AlphaBetaSpec, ThinkingLimit};

use crate::eval::AnyEvaluator;
use crate::game::{Bitboard, Board, Colour, Geometry, Goal, Position, SquareSet};
use crate::players::control::{Analysis, Control, Effort};
use crate::players::player::{Choice, Player, PlayerError, Turn};
use crate::search::alphabeta::{self, NoProbCut, Search, SearchLimits, SearchResult};
use crate::search::stop::Stop;

/// The least time that a player counts as left for a game, since it must still move.
const MIN_TIME_LEFT: Duration = Duration::from_millis(10);

/// A player that uses alpha-beta search. It clears its table before each search, so that its move
/// depends on the position only, and on time if it has a time limit.
pub struct AlphaBetaPlayer<G: Geometry> {
    name: String,
    spec: AlphaBetaSpec,
    goal: Goal,
    search: Box<dyn Search<G>>,
    /// Time spent in each game in progress.
    spent: HashMap<u32, Duration>,
}

impl<G: Geometry> AlphaBetaPlayer<G> {
    /// A player for `goal`; `evaluator` must be for the same goal.
    ///
    /// # Errors
    ///
    /// The specification has ProbCut, but the evaluator has no parameters for it.
    pub fn new(
        name: String,
        goal: Goal,
        evaluator: &AnyEvaluator<G>,
        spec: AlphaBetaSpec,
    ) -> Result<AlphaBetaPlayer<G>, NoProbCut> {
        let search = alphabeta::boxed(goal, evaluator, spec.table_mb << 20, spec.margin())?;
        Ok(AlphaBetaPlayer { name, spec, goal, search, spent: HashMap::new() })
    }

    /// The limits of the search for a move.
    fn limits(&self, turn: &Turn<'_, G>, effort: Effort) -> SearchLimits {
        let spent = || self.spent.get(&turn.game).copied().unwrap_or_default();
        let common = SearchLimits {
            solve_empties: self.spec.solve_empties,
            threads: self.spec.threads.unwrap_or(1),
            allotment: self.spec.allotment,
            ..SearchLimits::default()
        };
        let own = match self.spec.limit {
            ThinkingLimit::Depth(plies) => {
                SearchLimits { depth: Some(effort.level.unwrap_or(plies)), ..common }
            }
            ThinkingLimit::MoveTime(time) => SearchLimits { movetime: Some(time), ..common },
            ThinkingLimit::Nodes(nodes) => SearchLimits { nodes: Some(nodes), ..common },
            ThinkingLimit::GameTime(time) => {
                let left = time.saturating_sub(spent()).max(MIN_TIME_LEFT);
                SearchLimits { remaining: Some(left), ..common }
            }
        };
        let Some(time) = effort.time else { return own };
        if turn.position.board.empties() <= self.spec.solve_empties {
            // A search to the end of the game, but within the caller's time limit.
            return SearchLimits { movetime: Some(time), solve_empties: 0, ..common };
        }
        SearchLimits { movetime: Some(own.movetime.map_or(time, |own| own.min(time))), ..own }
    }

    /// Searches a position as if the moves of `skipped` were not legal; `None` if no move is left. A
    /// stopped search returns its best result so far.
    pub fn search_without(
        &mut self,
        board: Board<G>,
        skipped: SquareSet<G>,
        stop: &Stop,
    ) -> Option<SearchResult> {
        // The limits do not depend on the side to move.
        let turn = Turn::at(Position { board, side: Colour::Black });
        let limits = self.limits(&turn, Effort::default());
        let limits = SearchLimits { skipped: skipped.0.widen(), ..limits };
        self.search.forget();
        self.search.set_stop(stop.clone());
        self.search.think(board, &limits)
    }
}

impl<G: Geometry> Player<G> for AlphaBetaPlayer<G> {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn choose(&mut self, turns: &[Turn<'_, G>]) -> Vec<Result<Choice, PlayerError>> {
        turns.iter().map(|turn| self.think(turn, &mut Control::plain())).collect()
    }

    fn end_game(&mut self, game: u32) {
        self.spent.remove(&game);
    }

    /// A move. Its time counts against the time for the game, unlike the time of an analysis.
    fn think(
        &mut self,
        turn: &Turn<'_, G>,
        control: &mut Control<'_>,
    ) -> Result<Choice, PlayerError> {
        let limits = self.limits(turn, control.effort);
        let result = self.search(turn, &limits, Pass::first(1), control)?;
        if matches!(self.spec.limit, ThinkingLimit::GameTime(_)) {
            let time = Duration::from_secs_f64(result.seconds);
            *self.spent.entry(turn.game).or_default() += time;
        }
        Ok(Choice {
            square: result.square,
            score: Some(result.score),
            depth: Some(result.depth),
            nodes: result.nodes,
            seconds: result.seconds,
            unfinished: result.unfinished,
            wasted: result.wasted,
        })
    }

    fn analyze(
        &mut self,
        turn: &Turn<'_, G>,
        count: usize,
        control: &mut Control<'_>,
    ) -> Result<Analysis, PlayerError> {
        let (hints, nodes) = match control.effort.endless {
            true => self.deepen(turn, count, control)?,
            false => {
                let limits = self.limits(turn, control.effort);
                self.analyze_within(turn, count, &limits, control)?
            }
        };
        Ok(control.analysis(hints, nodes))
    }

    fn level(&self, level: u32) -> Option<String> {
        matches!(self.spec.limit, ThinkingLimit::Depth(_)).then(|| format!("depth={level}"))
    }
}

#[cfg(test)]
mod tests {
    use super::analysis::legal_part;
    use super::*;
    use crate::game::notation::{parse_obf, square_name};
    use crate::game::{Square, Square6, Square8};
    use crate::players::contestant::PlayerContext;
    use crate::players::open::{self, contestant};
    use crate::players::player::Bound;

    fn player<G: Geometry>(spec: &str) -> AlphaBetaPlayer<G> {
        let spec: crate::players::spec::PlayerSpec = spec.parse().expect("a player");
        let crate::players::spec::PlayerKind::AlphaBeta(spec) = spec.kind else {
            panic!("alpha-beta");
        };
        let evaluator = spec.evaluator.kind().evaluator(Goal::Most);
        AlphaBetaPlayer::new("test".into(), Goal::Most, &evaluator, spec)
            .expect("an evaluator with the parameters")
    }

    #[test]
    fn multi_probcut_is_on_by_default_with_a_time_limit_where_it_was_measured() {
        let name = |spec: &str, goal: Goal| {
            let spec = spec.parse().expect("a player");
            let context = PlayerContext::new(goal);
            contestant::<Square8>(&spec, &context).expect("a player").name
        };
        for (spec, goal, wanted) in [
            ("alphabeta:movetime=10ms", Goal::Most, Some("probcut=1.3")),
            ("alphabeta:gametime=1s,eval=positional", Goal::Most, Some("probcut=1.3")),
            ("alphabeta:movetime=10ms,probcut=3", Goal::Most, Some("probcut=3")),
            ("alphabeta:movetime=10ms,probcut=0", Goal::Most, Some("probcut=0")),
            ("alphabeta:movetime=10ms,eval=discs", Goal::Most, None),
            ("alphabeta:movetime=10ms,eval=positional", Goal::Fewest, None),
            ("alphabeta:depth=8", Goal::Most, None),
        ] {
            let name = name(spec, goal);
            assert_eq!(name.split(',').find(|key| key.starts_with("probcut")), wanted, "{name}");
        }
    }

    /// Where the evaluation alone decides about deep searches, this margin gives -2.2 discs in the first
    /// position with `patterns-8x8`, and one of 2 plays d8, which loses 27 discs.
    #[test]
    fn the_default_margin_of_multi_probcut_throws_no_game_away() {
        let models = ["patterns-8x8", "patternnet-8x8"];
        for (position, bad) in [
            ("-----------------------*-O-OOO*-*-O*OOOO***O***-*-OOO*---OO-***- X", "d8"),
            ("------------O--O-***OOOO-**OOOOO-*O*O*OO-**O*OOO-*OOOO-O--OOOOO- O", "a8"),
        ] {
            let position = parse_obf::<Square8>(position).expect("a position").position;
            let score = |model: &str, margin: f32| {
                let path = format!("{}/checkpoints/{model}", env!("CARGO_MANIFEST_DIR"));
                let spec = format!("alphabeta:depth=12,eval={path},probcut={margin}");
                let spec = spec.parse().expect("a player");
                let mut player = open::player::<Square8>(&spec, Goal::Most).expect("a player");
                let hints = player.hints(&Turn::at(position), 1).expect("hints");
                let best = hints.first().expect("a move");
                assert_ne!(square_name::<Square8>(best.line[0]), bad, "{model}");
                best.score.expect("discs")
            };
            for (model, most) in models.into_iter().zip([1.0, 3.0]) {
                let (cut, full) = (score(model, options::TIMED_PROBCUT), score(model, 0.0));
                assert!((cut - full).abs() < most, "{model}: {cut}, not {full}");
            }
        }
    }

    #[test]
    fn hints_are_sorted_lines_of_legal_moves() {
        let start = Position::<Square8>::start();
        let moves = [19, 34, 45, 37, 44, 20].map(Square);
        let play = |position: Position<Square8>, &square: &Square| {
            position.play(square).expect("a legal move").pass_if_forced()
        };
        let position = moves.iter().fold(start, play);
        let turn = Turn { game: 0, start, moves: &moves, position };
        let hints = player::<Square8>("alphabeta:depth=5").hints(&turn, 20).expect("hints");
        assert_eq!(hints.len(), position.board.legal().len());
        // The best move comes first, even if a shallower search finds a higher score for another
        // move. The others are sorted by score, which is not the order of the squares here.
        let others = &hints[1..];
        assert!(others.is_sorted_by(|a, b| a.score >= b.score), "{others:?}");
        assert!(others.iter().any(|hint| hint.line[0] < others[0].line[0]), "{others:?}");
        for hint in &hints {
            assert_eq!(legal_part(position, &hint.line), hint.line);
            assert!(hint.bound == Bound::Estimated && hint.depth.is_some_and(|depth| depth >= 4));
            let (chance, score) = (hint.win_chance.expect("a chance"), hint.score.expect("discs"));
            assert_eq!(chance > 0.5, score > 0.0);
        }
    }

    #[test]
    fn the_searches_of_other_moves_keep_the_limits_of_the_player() {
        let best = SearchResult {
            square: Square(19),
            score: 2.0,
            exact: true,
            depth: 20,
            nodes: 9_000,
            pv: Vec::new(),
            seconds: 1.5,
            unfinished: 0.0,
            wasted: 0.0,
        };
        let start = Position::start();
        let turn = Turn { game: 0, start, moves: &[], position: start };
        let limits = |spec| {
            let player = player::<Square8>(spec);
            player.limits_for_others(&best, &player.limits(&turn, Effort::default()), 6)
        };
        let plain = SearchLimits { depth: Some(19), ..SearchLimits::default() };
        assert_eq!(limits("alphabeta:depth=20"), plain);
        let time = Some(Duration::from_millis(250));
        assert_eq!(limits("alphabeta:movetime=2s"), SearchLimits { movetime: time, ..plain });
        assert_eq!(limits("alphabeta:gametime=60s"), SearchLimits { movetime: time, ..plain });
        assert_eq!(limits("alphabeta:nodes=10000"), SearchLimits { nodes: Some(1_500), ..plain });
    }

    #[test]
    fn an_effort_limits_the_search() {
        let start = Position::<Square8>::start();
        let turn = Turn { game: 0, start, moves: &[], position: start };
        let limits = |spec, effort| player::<Square8>(spec).limits(&turn, effort);
        let level = Effort { level: Some(9), ..Effort::default() };
        assert_eq!(limits("alphabeta:depth=2", level), SearchLimits::depth(9));
        let own = SearchLimits { nodes: Some(77), ..SearchLimits::default() };
        assert_eq!(limits("alphabeta:nodes=77", level), own);
        let second = Duration::from_secs(1);
        let hurry = Effort { time: Some(second), ..Effort::default() };
        let timed = SearchLimits { movetime: Some(second), ..SearchLimits::default() };
        assert_eq!(limits("alphabeta:depth=2", hurry), SearchLimits { depth: Some(2), ..timed });
        assert_eq!(limits("alphabeta:movetime=3s", hurry), timed);
        let shorter = Duration::from_millis(300);
        let own = SearchLimits { movetime: Some(shorter), ..timed };
        assert_eq!(limits("alphabeta:movetime=300ms", hurry), own);
        // A position that the player solves has only the time limit.
        let mut solving = player::<Square8>("alphabeta:depth=2");
        solving.spec.solve_empties = 60;
        assert_eq!(solving.limits(&turn, hurry), timed);
    }

    /// Without the stop flag this search of 60 plies would not end.
    #[test]
    fn a_search_that_is_stopped_has_a_move() {
        let start = Position::<Square8>::start();
        let turn = Turn { game: 0, start, moves: &[], position: start };
        for (spec, solve_empties) in [("alphabeta:depth=60", 0), ("alphabeta:depth=1", 60)] {
            let mut player = player::<Square8>(spec);
            player.spec.solve_empties = solve_empties;
            let mut control = Control::plain();
            control.stop.set();
            let choice = player.think(&turn, &mut control).expect("a move");
            assert!(start.board.legal().contains(choice.square));
            let analysis = player.analyze(&turn, 5, &mut control).expect("hints");
            assert_eq!(analysis.hints.len(), 1, "{analysis:?}");
            control.effort.endless = true;
            let analysis = player.analyze(&turn, 5, &mut control).expect("hints");
            assert_eq!(analysis.hints.len(), 1, "{analysis:?}");
        }
    }

    #[test]
    fn an_endless_analysis_reports_rising_depths_and_ends_at_the_end_of_the_game() {
        let start = Position::<Square6>::start();
        let mut position = start;
        let mut moves = Vec::new();
        while position.board.empties() > 7 {
            let square = position.board.legal().next().expect("a move");
            moves.push(square);
            position = position.play(square).expect("legal").pass_if_forced();
        }
        let turn = Turn { game: 0, start, moves: &moves, position };
        let mut depths = Vec::new();
        let mut sink = |analysis: &Analysis| depths.push(analysis.hints[0].depth);
        let control =
            Control::new(Default::default(), Effort { endless: true, ..Effort::default() });
        let mut control = control.reporting(Duration::ZERO, &mut sink);
        let mut player = player::<Square6>("alphabeta:depth=1");
        let analysis = player.analyze(&turn, 20, &mut control).expect("hints");
        assert_eq!(analysis.hints.len(), position.board.legal().len());
        assert!(analysis.hints.iter().all(|hint| hint.bound == Bound::Exact), "{analysis:?}");
        assert!(analysis.nodes > 0 && depths.len() > 3 && depths.is_sorted(), "{depths:?}");
    }

    #[test]
    fn a_time_for_the_game_is_kept() {
        let mut player = player::<Square6>("alphabeta:gametime=300ms");
        let (start, mut moves) = (Position::<Square6>::start(), Vec::new());
        let (mut position, mut seconds) = (start, 0.0);
        while !position.board.legal().is_empty() {
            let turn = Turn { game: 4, start, moves: &moves, position };
            let choice = player.choose(&[turn]).remove(0).expect("a move");
            seconds += choice.seconds;
            moves.push(choice.square);
            position = position.play(choice.square).expect("legal").pass_if_forced();
            if !position.board.legal().is_empty() {
                // Hints do not count against the player's time.
                let (spent, turn) =
                    (player.spent[&4], Turn { game: 4, start, moves: &moves, position });
                player.hints(&turn, 3).expect("hints");
                assert_eq!(player.spent[&4], spent);
            }
        }
        // One player made all moves of both sides. A busy machine adds delays.
        assert!(seconds < 3.0, "{seconds}");
        assert!(player.spent[&4] > Duration::ZERO);
        Player::<Square6>::end_game(&mut player, 4);
        assert!(player.spent.is_empty());
    }
}
