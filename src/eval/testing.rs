//! For tests of evaluators: random games, a property that every evaluator must have, and an
//! evaluator with a state.

use std::fmt::Debug;

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::linear::Features;
use super::outline::neighbour;
use super::{Evaluator, SCALE, Step, TrackedBoard};
use crate::game::{Board, Geometry, Goal, Square, SquareSet};
use crate::model::{Description, Kind, Weights};

/// The boards of a game of random moves, in order, those with a side that must pass among them.
pub(crate) fn random_game<G: Geometry>(seed: u64) -> Vec<Board<G>> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut boards = vec![Board::start()];
    while let Some(board) = boards.last().filter(|board| !board.is_over()) {
        let legal = board.legal();
        boards.push(match legal.len() {
            0 => board.pass(),
            count => legal
                .into_iter()
                .nth(random.random_range(0..count))
                .map_or(*board, |square| board.play_unchecked(square)),
        });
    }
    boards
}

/// Whether a square has a disc beside an empty square, looked up neighbour by neighbour.
pub(crate) fn plain_frontier<G: Geometry>(board: Board<G>, square: Square) -> bool {
    let is_empty = |square| board.empty().into_iter().any(|at| at == square);
    let steps = (-1..=1).flat_map(|down| (-1..=1).map(move |right| (down, right)));
    let mut neighbours = steps.filter_map(|step| neighbour::<G>(square, step));
    !is_empty(square) && neighbours.any(is_empty)
}

/// Checks a random game: after each move and each pass, the state that followed them is that of the
/// board alone, and so are the values. A side that could move passes too, to one side of the game.
pub(crate) fn check_states<G: Geometry, E: Evaluator<G>>(evaluator: &E, seed: u64)
where
    E::State: PartialEq + Debug,
{
    let check = |tracked: &TrackedBoard<G, E::State>| {
        let fresh = TrackedBoard::begin(evaluator, tracked.board);
        assert_eq!(*tracked, fresh, "seed {seed}");
        assert_eq!(tracked.evaluate(evaluator), fresh.evaluate(evaluator), "{fresh:?}");
        assert_eq!(tracked.ordering_value(evaluator), fresh.ordering_value(evaluator), "{fresh:?}");
    };
    let boards = random_game::<G>(seed);
    let mut tracked = TrackedBoard::begin(evaluator, boards[0]);
    for pair in boards.windows(2) {
        let passed = tracked.pass(evaluator);
        check(&passed);
        check(&passed.pass(evaluator));
        tracked = if pair[1] == pair[0].pass() {
            passed
        } else {
            let is_played = |square: &Square| pair[0].play_unchecked(*square) == pair[1];
            let square = pair[0].legal().find(is_played).expect("a move leads to the next board");
            let step = Step::new(pair[0], square);
            assert_eq!(Step::between(pair[0], square, pair[1]), step);
            tracked.play(evaluator, square)
        };
        check(&tracked);
    }
}

/// The description of an untrained model without options.
pub(crate) fn description<G: Geometry>(kind: Kind) -> Description {
    let (shape, goal) = (G::SHAPE, Goal::Most);
    Description { kind, shape, options: serde_json::Value::Null, goal, positions: 0, steps: 0 }
}

/// Random weights of the linear evaluator, with three stages.
pub(crate) fn linear_weights<G: Geometry>(seed: u64) -> Weights {
    linear_weights_of(Features::<G>::default().count(), seed)
}

/// The same for this number of features.
pub(crate) fn linear_weights_of(features: usize, seed: u64) -> Weights {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let stages = 3;
    let weights = (0..stages * features).map(|_| random.random_range(-1.5..1.5)).collect();
    let mut model = Weights::default();
    model.insert("weights", vec![stages, features], weights);
    model.insert("discs", vec![stages], vec![10.0, 17.0, 31.0]);
    model.insert("win_scale", vec![1], vec![4.5]);
    model
}

/// An evaluator with a state: the index of the discs on each row and on each column.
///
/// An index has one ternary digit for each square: 1 for a disc of the side to move, -1 for the
/// opponent's, 0 for none. So a change of sides is a change of sign. The value of a line is an
/// arbitrary function of its index.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lines {
    pub(crate) goal: Goal,
}

/// The indices of up to ten rows and ten columns.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct LineIndices([i32; 20]);

impl LineIndices {
    /// Adds a disc of the side to move `times` times.
    fn add<G: Geometry>(&mut self, square: Square, times: i32) {
        let bit = G::bit_of(square);
        let (row, column) = (bit / G::STRIDE, bit % G::STRIDE);
        self.0[row] += times * 3i32.pow(column as u32);
        self.0[10 + column] += times * 3i32.pow(row as u32);
    }

    fn for_the_other_side(self) -> LineIndices {
        LineIndices(self.0.map(|index| -index))
    }
}

impl<G: Geometry> Evaluator<G> for Lines {
    type State = LineIndices;

    fn begin(&self, board: Board<G>) -> LineIndices {
        let mut state = LineIndices([0; 20]);
        SquareSet::<G>(board.mine).for_each(|at| state.add::<G>(at, 1));
        SquareSet::<G>(board.theirs).for_each(|at| state.add::<G>(at, -1));
        state
    }

    fn follow(&self, state: &LineIndices, step: &Step<G>) -> LineIndices {
        let mut state = *state;
        state.add::<G>(step.square, 1);
        step.flips.for_each(|at| state.add::<G>(at, 2));
        state.for_the_other_side()
    }

    fn pass(&self, state: &LineIndices) -> LineIndices {
        state.for_the_other_side()
    }

    fn evaluate(&self, board: Board<G>, state: &LineIndices) -> i32 {
        if board.is_over() {
            return SCALE * board.final_score(self.goal);
        }
        let value = |&index: &i32| index.wrapping_mul(0x9E37_79B1_u32 as i32) >> 24;
        state.0.iter().map(value).sum()
    }

    fn ordering_value(&self, _: Board<G>, state: &LineIndices) -> i32 {
        state.0.iter().map(|&index| index.signum()).sum()
    }
}

mod tests {
    use super::*;
    use crate::eval::Discs;
    use crate::eval::positional::Positional;
    use crate::game::Shape;

    #[test]
    fn states_follow_moves_and_passes() {
        for (shape, goal) in
            Shape::ALL.into_iter().flat_map(|shape| [Goal::Most, Goal::Fewest].map(|g| (shape, g)))
        {
            for seed in 0..20 {
                dispatch!(shape, G => {
                    check_states::<G, _>(&Lines { goal }, seed);
                    check_states::<G, _>(&Positional::new(goal), seed);
                    check_states::<G, _>(&Discs { goal }, seed);
                });
            }
        }
    }

    #[test]
    fn random_games_have_passes() {
        let passes = |boards: Vec<Board<crate::game::Square6>>| {
            boards.windows(2).filter(|pair| pair[1] == pair[0].pass()).count()
        };
        assert!((0..20).map(|seed| passes(random_game(seed))).sum::<usize>() > 5);
    }
}
