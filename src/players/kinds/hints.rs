//! Hints from a tree search with a net.

use std::cmp::Ordering;

use crate::game::{Geometry, Goal, Position, Square};
use crate::players::player::{Bound, Hint, Source};
use crate::predict::{Backend, Input, PredictError, Predictions};
use crate::search::mcts::{MoveStats, TreeSearch};

/// The most moves of a hint's line.
const LINE_MOVES: usize = 12;

/// The scale, in discs, of the logistic function from scores to chances to win, for a search that
/// maximises the score (`score_empties`): a move with the expected score `score` wins with
/// probability `1 / (1 + exp(-score / WIN_SCALE))`.
///
/// Fitted by maximum likelihood to 928 positions with 20 empty squares and all moves solved: the
/// scores that `checkpoints/8x8` expected with 100 simulations, against the exact results.
const WIN_SCALE: f32 = 2.6;

/// The final disc difference that corresponds to a chance to win, by [`WIN_SCALE`].
pub(super) fn score_of_chance<G: Geometry>(chance: f32) -> f32 {
    let most = G::SQUARES as f32;
    (WIN_SCALE * (chance / (1.0 - chance)).ln()).clamp(-most, most)
}

/// The best moves of a search. The move that it would play comes first, then the others by the
/// search's policy. The order is not that of the visits, since a move gets no visits after its
/// score is exact. In a solved position moves with exact scores come before the others.
pub(super) fn best_moves<G: Geometry>(search: &mut TreeSearch<G>, count: usize) -> Vec<MoveStats> {
    let best = search.best();
    let proven = search.tree().exact().is_some();
    let policy = search.policy().to_vec();
    let mut moves: Vec<_> = search.tree().root_moves().zip(policy).collect();
    let is_best = |stats: &MoveStats| Some(stats.square) == best;
    let exact = |stats: &MoveStats| (proven && stats.lower == stats.upper).then_some(stats.lower);
    moves.sort_by(|(a, x), (b, y)| {
        let order = is_best(b).cmp(&is_best(a)).then(exact(b).cmp(&exact(a)));
        order.then(y.total_cmp(x)).then(b.visits.cmp(&a.visits))
    });
    moves.into_iter().take(count).map(|(stats, _)| stats).collect()
}

/// A hint for a move. `predicted` is the final disc difference that the net expects after the move,
/// if the net has a score head.
pub(super) fn hint<G: Geometry>(
    search: &TreeSearch<G>,
    stats: &MoveStats,
    predicted: Option<f32>,
) -> Hint {
    let tree = search.tree();
    // No move is worth more than the position.
    let upper = tree.exact().map_or(stats.upper, |exact| stats.upper.min(exact));
    let searched = stats.utility.and_then(|utility| tree.score_of(utility));
    let to_chance = |value: f32| (value + 1.0) / 2.0;
    let (bound, score) = match tree.exact() {
        _ if stats.lower == upper => (Bound::Exact, Some(f32::from(upper))),
        Some(_) => (Bound::AtMost, Some(f32::from(upper))),
        None => {
            let within = |score: f32| score.clamp(f32::from(stats.lower), f32::from(upper));
            (Bound::Estimated, searched.or(predicted).map(within))
        }
    };
    let chance = match (bound, score, searched) {
        (Bound::Exact, Some(score), _) => Some(to_chance(score.clamp(-1.0, 1.0))),
        (_, _, Some(score)) => Some(1.0 / (1.0 + (-score / WIN_SCALE).exp())),
        _ => {
            // The utility includes a share of the disc difference, which is removed here.
            let value = |utility| tree.value_of(utility, predicted.unwrap_or(0.0));
            stats.utility.and_then(value).map(to_chance)
        }
    };
    // A win may be proven before the exact score is.
    let [least, most] = [stats.lower, upper].map(|score| to_chance(f32::from(score.signum())));
    let proven = (least == most).then_some(least);
    Hint {
        line: tree.line_after(stats.square, LINE_MOVES),
        win_chance: chance.map(|chance| chance.clamp(least, most)).or(proven),
        score,
        bound,
        depth: None,
        visits: Some(stats.visits),
        policy: Some(stats.prior),
        source: Source::Net,
    }
}

/// The legal moves by falling policy of a net, without a search. Their values are those that the
/// net predicts for the positions after them; a move that ends the game has its exact score.
///
/// # Errors
///
/// The net cannot be computed.
pub(super) fn predicted_hints<G: Geometry>(
    net: &mut dyn Backend,
    position: Position<G>,
    goal: Goal,
) -> Result<Vec<Hint>, PredictError> {
    let moves: Vec<Square> = position.board.legal().collect();
    let after = |&square: &Square| position.play(square).map(Position::pass_if_forced);
    let next: Vec<Position<G>> = moves.iter().filter_map(after).collect();
    let boards = std::iter::once(&position).chain(&next).map(|position| position.board);
    let inputs: Vec<Input> = boards.map(|board| Input::new(board, board.legal())).collect();
    let mut predictions = Predictions::default();
    net.predict(&inputs, &mut predictions)?;
    let has_scores = predictions.score.iter().any(|&score| score != 0.0);
    let logits = predictions.get(0, G::SQUARES).policy;
    let highest = moves.iter().map(|square| logits[square.index()]).fold(f32::MIN, f32::max);
    let weight = |square: &Square| (logits[square.index()] - highest).exp();
    let sum: f32 = moves.iter().map(weight).sum();
    let hint = |(index, (&square, next)): (usize, (&Square, &Position<G>))| {
        let sign = if next.side == position.side { 1.0 } else { -1.0 };
        let policy = Some(weight(&square) / sum);
        if next.board.is_over() {
            let score = sign as i32 * next.board.final_score(goal);
            return Hint { policy, ..exact_hint(vec![square], score, 1) };
        }
        let (value, score) = (predictions.value[index + 1], predictions.score[index + 1]);
        let most = G::SQUARES as f32;
        Hint {
            win_chance: Some(((1.0 + sign * value) / 2.0).clamp(0.0, 1.0)),
            score: has_scores.then(|| (sign * score).clamp(-most, most) + 0.0),
            depth: Some(1),
            policy,
            ..Hint::plain(square, Source::Policy)
        }
    };
    let mut hints: Vec<Hint> = moves.iter().zip(&next).enumerate().map(hint).collect();
    hints.sort_by(|a, b| b.policy.partial_cmp(&a.policy).unwrap_or(Ordering::Equal));
    Ok(hints)
}

/// A hint for a move whose score the solver has found.
pub(super) fn exact_hint(line: Vec<Square>, score: i32, empties: u32) -> Hint {
    Hint {
        line,
        win_chance: Some((score.signum() + 1) as f32 / 2.0),
        score: Some(score as f32),
        bound: Bound::Exact,
        depth: Some(empties),
        visits: None,
        policy: None,
        source: Source::Solver,
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt as _, SeedableRng as _};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;
    use crate::game::notation::parse_square;
    use crate::game::{Board, Square8};
    use crate::players::open;
    use crate::players::player::Turn;
    use crate::predict::Prediction;
    use crate::search::endgame::Solver;
    use crate::search::mcts::{Gathered, Mode, Options};

    /// A search of a random position with 12 empty squares, with a random policy. Moves are solved
    /// after a few visits.
    fn searched(number: u64, score_empties: u32) -> Option<TreeSearch<Square8>> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(number);
        let mut board = Board::<Square8>::start();
        while board.empties() > 12 {
            let legal: Vec<_> = board.legal().collect();
            board = match legal.len() {
                0 if board.is_over() => return None,
                0 => board.pass(),
                count => board.play_unchecked(legal[random.random_range(0..count)]),
            };
        }
        let options = Options {
            solve_leaves: 8,
            solve_growth: 1.0,
            solve_empties: 11,
            score_empties,
            ..Options::default()
        };
        let mut search = TreeSearch::new(Goal::Most, &options);
        let mut solver = Solver::new(Goal::Most, 1 << 16);
        let simulations = random.random_range(3..80);
        (!board.legal().is_empty()).then(|| search.begin(board, simulations, Mode::Play))?;
        let logits: [f32; 64] = std::array::from_fn(|_| random.random_range(-3.0..3.0));
        while let Some(Gathered::Leaf { ticket, .. }) = search.gather(&mut solver, &mut random) {
            search.apply(ticket, Prediction { policy: &logits, value: 0.2, score: 2.0 });
        }
        Some(search)
    }

    /// The hints of a search with a net that predicts two discs for the side to move everywhere.
    fn hints_of(search: &mut TreeSearch<Square8>) -> Vec<Hint> {
        let moves = best_moves(search, 30);
        moves.iter().map(|stats| hint(search, stats, Some(-2.0))).collect()
    }

    #[test]
    fn the_first_hint_is_the_move_to_play_and_exact_scores_are_certain() {
        let (mut proven, mut few_visits) = (0, 0);
        for mut search in (0..120).filter_map(|number| searched(number, 0)) {
            let hints = hints_of(&mut search);
            let mut random = Xoshiro256PlusPlus::seed_from_u64(0);
            assert_eq!(hints[0].line.first().copied(), search.choose(0.0, &mut random));
            for hint in hints.iter().filter(|hint| hint.bound == Bound::Exact) {
                let score = hint.score.expect("a proven score");
                let certain = if score == 0.0 { 0.5 } else { (1.0 + score.signum()) / 2.0 };
                assert_eq!(hint.win_chance, Some(certain));
                proven += 1;
            }
            few_visits += hints.iter().any(|hint| hint.visits > hints[0].visits) as u32;
        }
        assert!(proven > 20 && few_visits > 0, "{proven} proven, {few_visits} with few visits");
    }

    #[test]
    fn a_proven_win_or_loss_is_certain_before_its_score_is_exact() {
        let mut early = 0;
        for score_empties in [0, 12] {
            for mut search in (0..120).filter_map(|number| searched(number, score_empties)) {
                for stats in best_moves(&mut search, 30) {
                    let (chance, wins) = (hint(&search, &stats, None).win_chance, stats.lower > 0);
                    if stats.lower < stats.upper && (wins || stats.upper < 0) {
                        assert_eq!(chance, Some(if wins { 1.0 } else { 0.0 }), "{stats:?}");
                        early += 1;
                    }
                }
            }
        }
        assert!(early > 20, "{early} moves");
    }

    #[test]
    fn a_chance_to_win_is_the_net_s_value_without_the_share_of_discs() {
        let mut open = 0;
        for mut search in (0..40).filter_map(|number| searched(number, 0)) {
            let moves = best_moves(&mut search, 30);
            for stats in moves.iter().filter(|stats| stats.visits == 1 && stats.lower == -64) {
                // One visit: the net predicts 0.2 and 2 discs for the side that moves next.
                if stats.upper < 64 {
                    continue;
                }
                let own_turn = stats.utility.is_some_and(|utility| utility > 0.0);
                let (score, chance) = if own_turn { (2.0, 0.6) } else { (-2.0, 0.4) };
                let hint = hint(&search, stats, Some(score));
                let (shown, found) = (hint.score, hint.win_chance.expect("a chance"));
                assert!(shown == Some(score) && (found - chance).abs() < 1e-5, "{found}, {chance}");
                open += 1;
            }
        }
        assert!(open > 20, "{open} moves with one visit");
    }

    #[test]
    fn a_search_for_discs_gives_a_score_and_a_chance_to_win() {
        let mut open = 0;
        for mut search in (0..40).filter_map(|number| searched(number, 12)) {
            for hint in hints_of(&mut search).iter().filter(|hint| hint.bound == Bound::Estimated) {
                let score = hint.score.expect("a difference");
                assert!((-64.0..=64.0).contains(&score), "{score}");
                if hint.visits == Some(0) {
                    assert_eq!((score, hint.win_chance), (-2.0, None));
                    continue;
                }
                let chance = hint.win_chance.expect("a chance to win beside the discs");
                assert_eq!(chance > 0.5, score > 0.0, "{score}");
                open += 1;
            }
        }
        assert!(open > 20, "{open} moves that are not proven");
    }

    /// The shortest game: black's ninth move turns the last white disc.
    #[test]
    fn a_move_that_wipes_out_has_an_exact_score_for_every_player() {
        let start = Position::<Square8>::start();
        let squares = "e6f4e3f6g5d6e7f5".as_bytes().chunks(2);
        let squares: Vec<Square> = squares
            .map(|name| parse_square::<Square8>(std::str::from_utf8(name).expect("text")))
            .map(|square| square.expect("a square"))
            .collect();
        let play = |position: Position<Square8>, &square: &Square| {
            position.play(square).expect("a legal move").pass_if_forced()
        };
        let position = squares.iter().fold(start, play);
        let last = parse_square::<Square8>("c5");
        for spec in [
            "alphabeta:depth=1,eval=positional",
            "alphabeta:depth=4,eval=positional",
            "rollouts:simulations=300",
            "net:checkpoints/8x8-small,simulations=50",
            "policy:checkpoints/8x8-small",
        ] {
            let turn = Turn { game: 0, start, moves: &squares, position };
            let spec = spec.parse().expect("a player");
            let mut player = open::player::<Square8>(&spec, Goal::Most).expect("a player");
            let hints = player.hints(&turn, 30).expect("hints");
            let hint = hints.iter().find(|hint| hint.line.first().copied() == last).expect("c5");
            assert_eq!((hint.bound, hint.score), (Bound::Exact, Some(64.0)), "{spec}");
            assert_eq!(hint.win_chance, Some(1.0), "{spec}");
        }
    }
}
