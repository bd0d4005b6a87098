//! The boards of a stage, and their scores.
//!
//! All chance of a board comes from the seed, the unit and the number of the board, and each board
//! is scored with an empty table. So neither depends on the threads.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use rand::RngExt;
use rayon::prelude::*;

use crate::eval::linear::Linear;
use crate::game::{Board, Geometry, Goal};
use crate::search::alphabeta::{AlphaBetaSearch, Search, SearchLimits};
use crate::search::endgame::Solver;
use crate::train::seeds::{Purpose, Random, stream};
use crate::train::stagewise::UnitContext;

/// Boards that one thread scores in a row. They share a table, which is cleared for each board.
const CHUNK: u32 = 32;
/// The bytes of a table.
const TABLE_BYTES: usize = 1 << 21;

/// A board with its score for the side to move, in discs.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Scored<G: Geometry> {
    pub board: Board<G>,
    pub score: f32,
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
pub(super) struct Draw {
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
    pub fn scored<G: Geometry>(
        self,
        goal: Goal,
        scoring: &Scoring<G>,
        context: &UnitContext<'_>,
    ) -> Option<Vec<Scored<G>>> {
        let done = AtomicU32::new(0);
        let chunks = self.count.div_ceil(CHUNK);
        let chunk = |chunk: u32| {
            let mut scorer = Scorer::new(goal, scoring);
            let last = self.count.min((chunk + 1) * CHUNK);
            let boards = chunk * CHUNK..last;
            let scored = boards.map(|index| {
                let board = random_board(&mut self.stream(index), self.discs);
                let score = scorer.score(board);
                (!context.is_stopped()).then_some(Scored { board, score })
            });
            let scored: Option<Vec<_>> = scored.collect();
            let done = done.fetch_add(1, Ordering::Relaxed) + 1;
            context.report(f64::from(done) / f64::from(chunks));
            scored
        };
        let chunks: Option<Vec<_>> = (0..chunks).into_par_iter().map(chunk).collect();
        Some(chunks?.concat())
    }

    fn stream(self, index: u32) -> Random {
        stream(self.seed, Purpose::Stage, self.unit << 32 | u64::from(index))
    }
}

/// A board with this many discs after random moves from the start. The side to move has a move. A
/// game that ends earlier is started again.
fn random_board<G: Geometry>(random: &mut Random, discs: u32) -> Board<G> {
    let mut board = Board::<G>::start();
    loop {
        let mut legal = board.legal();
        if legal.is_empty() {
            board = board.pass();
            legal = board.legal();
        }
        if legal.is_empty() {
            board = Board::start();
        } else if board.discs() >= discs {
            return board;
        } else if let Some(square) = legal.nth(random.random_range(0..legal.len())) {
            board = board.play_unchecked(square);
        }
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
