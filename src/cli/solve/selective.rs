//! `outflank solve --confidence`: scores by a search to the end of the game that skips lines with
//! Multi-ProbCut.

use std::time::Instant;

use anyhow::Context as _;

use super::Args;
use super::report::Found;
use crate::eval::AnyEvaluator;
use crate::eval::probcut::deviations;
use crate::game::{Board, Geometry, Goal, Square};
use crate::search::alphabeta::{self, Search, SearchLimits};

/// Finds scores by a search in which each skipped line is irrelevant with a stated probability.
pub struct SelectiveSolver<G: Geometry> {
    search: Box<dyn Search<G>>,
    goal: Goal,
    confidence: f64,
    threads: usize,
}

/// What such a search has found.
pub struct Selective {
    pub found: Found,
    pub nodes: u64,
    pub seconds: f64,
}

impl<G: Geometry> SelectiveSolver<G> {
    /// The solver that the arguments ask for; `None` if they ask for exact scores.
    pub fn new(args: &Args, evaluator: &AnyEvaluator<G>) -> anyhow::Result<Option<Self>> {
        let Some(confidence) = args.confidence else { return Ok(None) };
        let (table, cut) = ((args.table_mb as usize) << 20, Some(deviations(confidence)));
        let search = alphabeta::boxed(args.goal, evaluator, table, cut)
            .context("--confidence needs a model with Multi-ProbCut (--eval)")?;
        let (goal, threads) = (args.goal, args.threads.into());
        Ok(Some(SelectiveSolver { search, goal, confidence, threads }))
    }

    /// The score of a board, and a line of play.
    pub fn solve(&mut self, board: Board<G>) -> Selective {
        let started = Instant::now();
        let limits =
            SearchLimits { threads: self.threads, exact: false, ..SearchLimits::default() };
        let passes = board.legal().is_empty();
        let root = if passes { board.pass() } else { board };
        self.search.forget();
        let (score, line, nodes) = match self.search.think(root, &limits) {
            Some(found) => (found.score.round() as i32, found.pv, found.nodes),
            None => (root.final_score(self.goal), Vec::<Square>::new(), 0),
        };
        let score = if passes { -score } else { score };
        let found = Found::probable::<G>(score, line, self.confidence);
        Selective { found, nodes, seconds: started.elapsed().as_secs_f64() }
    }
}
