//! The boards of a stage, and their scores.
//!
//! All chance of a board comes from the seed, the unit and the number of the board, and each board
//! is searched with an empty table. So neither depends on the threads.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use rand::RngExt;
use rayon::prelude::*;

use crate::eval::linear::Linear;
use crate::game::{Board, Geometry, Goal, Square};
use crate::search::alphabeta::{AlphaBetaSearch, Search, SearchLimits};
use crate::search::endgame::Solver;
use crate::train::seeds::{Purpose, Random, stream};
use crate::train::stagewise::UnitContext;

/// Boards that one thread works on in a row. They share a table, which is cleared for each board.
const CHUNK: u32 = 32;
/// The bytes of a table.
const TABLE_BYTES: usize = 1 << 21;

/// A board with its score for the side to move, in discs.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Scored<G: Geometry> {
    pub board: Board<G>,
    pub score: f32,
}

/// Where boards come from.
pub(in crate::train::learners) enum Source<G: Geometry> {
    /// Random moves from the start.
    RandomMoves,
    /// The play of an evaluator.
    Play(Play<G>),
}

/// How an evaluator plays to draw boards.
pub(in crate::train::learners) struct Play<G: Geometry> {
    pub evaluator: Arc<Linear<G>>,
    pub depth: u32,
    /// Random moves at the start.
    pub opening: u32,
    /// The share of random moves after the opening.
    pub random: f32,
}

/// How boards are scored.
pub(super) enum Scoring<G: Geometry> {
    /// By perfect play to the end.
    Exact,
    /// By minimax of this depth, with the evaluator at the leaves.
    Minimax(u32, Arc<Linear<G>>),
}

/// Which boards are drawn.
#[derive(Clone, Copy)]
pub(in crate::train::learners) struct Draw {
    pub seed: u64,
    /// The unit that the boards are for.
    pub unit: u64,
    /// Their number of discs.
    pub discs: u32,
    /// How many.
    pub count: u32,
}

impl Draw {
    /// Draws the boards; `None` if it was stopped.
    pub fn boards<G: Geometry>(
        self,
        goal: Goal,
        source: &Source<G>,
        context: &UnitContext<'_>,
    ) -> Option<Vec<Board<G>>> {
        let indices: Vec<u32> = (0..self.count).collect();
        let chunk = |indices: &[u32]| -> Option<Vec<Board<G>>> {
            let mut player = match source {
                Source::RandomMoves => None,
                Source::Play(play) => Some(Player::new(goal, play)),
            };
            let draw = |&index: &u32| {
                let board = board_after_moves(self.discs, player.as_mut(), &mut self.stream(index));
                (!context.is_stopped()).then_some(board)
            };
            indices.iter().map(draw).collect()
        };
        let chunks: Option<Vec<_>> = indices.par_chunks(CHUNK as usize).map(chunk).collect();
        Some(chunks?.concat())
    }

    /// The random stream of the board of this number.
    pub fn stream(self, index: u32) -> Random {
        stream(self.seed, Purpose::Stage, self.unit << 32 | u64::from(index))
    }
}

/// The score of each board, on which the side to move has a move; `None` if it was stopped.
pub(super) fn scores<G: Geometry>(
    boards: &[Board<G>],
    goal: Goal,
    scoring: &Scoring<G>,
    context: &UnitContext<'_>,
) -> Option<Vec<f32>> {
    let done = AtomicU32::new(0);
    let chunks = boards.len().div_ceil(CHUNK as usize);
    let chunk = |boards: &[Board<G>]| -> Option<Vec<f32>> {
        let mut scorer = Scorer::new(goal, scoring);
        let score = |&board: &Board<G>| {
            let score = scorer.score(board);
            (!context.is_stopped()).then_some(score)
        };
        let scores = boards.iter().map(score).collect();
        let done = done.fetch_add(1, Ordering::Relaxed) + 1;
        context.report(f64::from(done) / chunks as f64);
        scores
    };
    let chunks: Option<Vec<_>> = boards.par_chunks(CHUNK as usize).map(chunk).collect();
    Some(chunks?.concat())
}

/// A board with this many discs after moves of the player, or random moves without one. The side to
/// move has a move. A game that ends earlier is started again.
fn board_after_moves<G: Geometry>(
    discs: u32,
    mut player: Option<&mut Player<'_, G>>,
    random: &mut Random,
) -> Board<G> {
    let mut board = Board::<G>::start();
    loop {
        let mut legal = board.legal();
        if legal.is_empty() {
            board = board.pass();
            legal = board.legal();
        }
        if legal.is_empty() {
            board = Board::start();
            continue;
        }
        if board.discs() >= discs {
            return board;
        }
        let chosen = player.as_mut().and_then(|player| player.choose(board, random));
        let square = chosen.or_else(|| legal.nth(random.random_range(0..legal.len())));
        board = square.map_or(board, |square| board.play_unchecked(square));
    }
}

/// Plays with an evaluator.
struct Player<'a, G: Geometry> {
    play: &'a Play<G>,
    search: AlphaBetaSearch<G, Linear<G>>,
}

impl<'a, G: Geometry> Player<'a, G> {
    fn new(goal: Goal, play: &'a Play<G>) -> Self {
        let evaluator = Arc::clone(&play.evaluator);
        Player { play, search: AlphaBetaSearch::new(goal, evaluator, TABLE_BYTES) }
    }

    /// The player's move; `None` if a random move is to be played.
    fn choose(&mut self, board: Board<G>, random: &mut Random) -> Option<Square> {
        let start = Board::<G>::start().discs();
        let is_opening = board.discs() < start + self.play.opening;
        if is_opening || random.random::<f32>() < self.play.random {
            return None;
        }
        self.search.forget();
        let found = self.search.think(board, &SearchLimits::depth(self.play.depth));
        found.map(|found| found.square)
    }
}

/// Scores boards, one after the other.
enum Scorer<G: Geometry> {
    Exact(Solver<G>),
    Minimax(AlphaBetaSearch<G, Linear<G>>, SearchLimits),
}

impl<G: Geometry> Scorer<G> {
    fn new(goal: Goal, scoring: &Scoring<G>) -> Self {
        match scoring {
            Scoring::Exact => Scorer::Exact(Solver::new(goal, TABLE_BYTES)),
            Scoring::Minimax(depth, evaluator) => {
                let search = AlphaBetaSearch::new(goal, Arc::clone(evaluator), TABLE_BYTES);
                Scorer::Minimax(search, SearchLimits::depth(*depth))
            }
        }
    }

    /// The score of a board on which the side to move has a move.
    fn score(&mut self, board: Board<G>) -> f32 {
        match self {
            Scorer::Exact(solver) => solver.score(board) as f32,
            Scorer::Minimax(search, limits) => {
                search.forget();
                search.think(board, limits).map_or(0.0, |found| found.score)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::atomic::AtomicBool;

    use super::*;
    use crate::eval::linear::{Features, Options};
    use crate::eval::{Evaluator, SCALE, testing};
    use crate::game::{Octagon88, Square6, Square7};

    /// Minimax without pruning: `plies` moves, then the evaluator. A pass is no ply.
    fn plain_minimax<G: Geometry>(board: Board<G>, plies: u32, evaluator: &Linear<G>) -> i32 {
        if board.is_over() {
            return SCALE * board.final_score(Goal::Most);
        }
        // A leaf may have a side to move that must pass.
        if plies == 0 {
            return evaluator.value(board);
        }
        let legal = board.legal();
        if legal.is_empty() {
            return -plain_minimax(board.pass(), plies, evaluator);
        }
        let after = |square| -plain_minimax(board.play_unchecked(square), plies - 1, evaluator);
        legal.map(after).max().expect("a move")
    }

    fn evaluator<G: Geometry>(seed: u64) -> Arc<Linear<G>> {
        let weights = testing::linear_weights_of(Features::<G>::default().count(), seed);
        Arc::new(Linear::new(Goal::Most, &Options::default(), &weights).expect("weights that fit"))
    }

    fn draw(discs: u32, count: u32) -> Draw {
        Draw { seed: 3, unit: 2, discs, count }
    }

    /// Boards near the end have passes and finished games among the leaves.
    fn agrees_with_plain_minimax<G: Geometry>() {
        let (stop, silent) = (AtomicBool::new(false), |_: f64| ());
        let context = UnitContext::new(Path::new("unused"), &stop, &silent);
        let evaluator = evaluator::<G>(5);
        for empties in [2, 5, 9, 20] {
            let draw = draw(G::SQUARES as u32 - empties, 12);
            let boards = draw.boards::<G>(Goal::Most, &Source::RandomMoves, &context);
            let boards = boards.expect("boards");
            let scoring = Scoring::Minimax(3, Arc::clone(&evaluator));
            let found = scores(&boards, Goal::Most, &scoring, &context).expect("scores");
            for (&board, found) in boards.iter().zip(found) {
                assert_eq!(board.empties(), empties);
                assert!(!board.legal().is_empty());
                let wanted = plain_minimax(board, 3, &evaluator) as f32 / SCALE as f32;
                assert_eq!(found, wanted, "{board:?}");
            }
        }
    }

    #[test]
    fn scores_are_those_of_plain_minimax() {
        agrees_with_plain_minimax::<Square6>();
        agrees_with_plain_minimax::<Square7>();
        agrees_with_plain_minimax::<Octagon88>();
    }

    #[test]
    fn play_chooses_the_best_move_and_random_moves_are_as_many_as_asked_for() {
        let evaluator = evaluator::<Square6>(7);
        let play =
            |opening, random| Play { evaluator: evaluator.clone(), depth: 1, opening, random };
        let board = testing::random_game::<Square6>(1)[6];
        let mut random = draw(10, 1).stream(0);
        let value = |square| -evaluator.value(board.play_unchecked(square));
        let best = board.legal().map(value).max();
        let always = play(0, 0.0);
        let chosen = Player::new(Goal::Most, &always).choose(board, &mut random);
        assert_eq!(chosen.map(value), best);
        for never in [play(32, 0.0), play(0, 1.0)] {
            assert_eq!(Player::new(Goal::Most, &never).choose(board, &mut random), None);
        }
    }

    #[test]
    fn a_stopped_unit_has_no_boards_and_no_scores() {
        let (stop, silent) = (AtomicBool::new(true), |_: f64| ());
        let context = UnitContext::new(Path::new("unused"), &stop, &silent);
        let source = Source::<Square6>::RandomMoves;
        assert_eq!(draw(20, 40).boards(Goal::Most, &source, &context), None);
        let boards = [Board::<Square6>::start()];
        let scoring = Scoring::Minimax(2, evaluator(1));
        assert_eq!(scores(&boards, Goal::Most, &scoring, &context), None);
    }
}
