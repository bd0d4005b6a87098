//! What an evaluator says of the moves of a board, a few plies ahead.

use super::{Evaluator, SCALE, TrackedBoard};
use crate::game::{Board, Geometry, Square, SquareSet};

/// More than any evaluation.
const LIMIT: i32 = i32::MAX;

/// What an evaluator says of a board, in discs for the side to move. Calls `put` for each of the
/// `legal` moves, with what the side that moves can expect from it `plies` plies later: 1 takes the
/// board after the move, 2 the best reply. A pass is no ply.
///
/// ```
/// use outflank::eval::{Discs, evaluate_moves};
/// use outflank::game::{Board, Goal, Square8};
///
/// let (evaluator, start) = (Discs { goal: Goal::Most }, Board::<Square8>::start());
/// let mut moves = Vec::new();
/// let score = evaluate_moves(&evaluator, start, start.legal(), 1, |_, score| moves.push(score));
/// assert_eq!((score, moves), (0.0, vec![3.0; 4]));
/// evaluate_moves(&evaluator, start, start.legal(), 2, |_, score| assert_eq!(score, 0.0));
/// ```
pub fn evaluate_moves<G: Geometry, E: Evaluator<G> + ?Sized>(
    evaluator: &E,
    board: Board<G>,
    legal: SquareSet<G>,
    plies: u32,
    mut put: impl FnMut(Square, f32),
) -> f32 {
    let in_discs = |value: i32| value as f32 / SCALE as f32;
    let tracked = TrackedBoard::begin(evaluator, board);
    for square in legal {
        let after = tracked.play(evaluator, square);
        put(square, -in_discs(best(evaluator, &after, plies.saturating_sub(1), (-LIMIT, LIMIT))));
    }
    in_discs(tracked.evaluate(evaluator))
}

/// The evaluation that the side to move can reach within `plies`, by alpha-beta. Outside of the
/// window it is a bound. Moves have no order: the few plies would not pay for it.
fn best<G: Geometry, E: Evaluator<G> + ?Sized>(
    evaluator: &E,
    tracked: &TrackedBoard<G, E::State>,
    plies: u32,
    (mut alpha, beta): (i32, i32),
) -> i32 {
    if plies == 0 {
        return tracked.evaluate(evaluator);
    }
    let legal = tracked.board.legal();
    if legal.is_empty() {
        let passed = tracked.pass(evaluator);
        if passed.board.legal().is_empty() {
            return tracked.evaluate(evaluator);
        }
        return -best(evaluator, &passed, plies, (-beta, -alpha));
    }
    let mut found = -LIMIT;
    for square in legal {
        let after = tracked.play(evaluator, square);
        found = found.max(-best(evaluator, &after, plies - 1, (-beta, -alpha)));
        alpha = alpha.max(found);
        if alpha >= beta {
            break;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::positional::Positional;
    use crate::eval::testing::random_game;
    use crate::game::{Goal, Shape};

    /// Plain minimax over boards alone.
    fn minimax<G: Geometry>(evaluator: &Positional<G>, board: Board<G>, plies: u32) -> i32 {
        let legal = board.legal();
        if plies == 0 || board.is_over() {
            return evaluator.value(board);
        }
        if legal.is_empty() {
            return -minimax(evaluator, board.pass(), plies);
        }
        let after = |square| -minimax(evaluator, board.play_unchecked(square), plies - 1);
        legal.map(after).max().expect("a legal move")
    }

    fn check<G: Geometry>() {
        let evaluator = Positional::<G>::new(Goal::Most);
        for seed in 0..4 {
            for board in random_game::<G>(seed) {
                for plies in 1..=4 {
                    let mut squares = board.legal();
                    let score =
                        evaluate_moves(&evaluator, board, squares, plies, |square, score| {
                            assert_eq!(Some(square), squares.next());
                            let after = board.play_unchecked(square);
                            let wanted = -minimax(&evaluator, after, plies - 1);
                            assert_eq!(score, wanted as f32 / SCALE as f32, "{board:?} {square:?}");
                        });
                    assert_eq!((score, squares.next()), (evaluator.score(board), None));
                }
            }
        }
    }

    #[test]
    fn evaluations_of_moves_are_those_of_minimax() {
        for shape in Shape::ALL {
            dispatch!(shape, G => check::<G>());
        }
    }
}
