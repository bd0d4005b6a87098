//! Linear evaluators trained by temporal differences, stage by stage from the end of the game
//! (Perversi: Wang, Eisenberg and Vadera, docs/references.md).
//!
//! The boards of a stage come from shallow play with some random moves. From each board a short game
//! is played by search. After each move and the reply to it, the weights `w` of the stage change by
//! `rate * features(s) * (v(s2) - v(s))`: `s` is the position before the move, `s2` that after the
//! reply, and `v` the value for the side that moved. Positions of other stages change nothing.
//! Later stages are learnt first. So the values of `s2` come from weights that are ready, or from the
//! stage itself. A finished game has its exact score. A unit of the work is one stage.
//!
//! Three things are open in the paper, and decided here. `v` is the evaluator's value without a search
//! ([`Options::target_depth`] can change that). Both sides learn, each from its own moves. If the
//! opponent must pass, `s2` is the position after the pass.

mod initial;
mod options;

use std::sync::Arc;

use crate::eval::linear::{self, Between, Features, Linear};
use crate::eval::{Evaluator, WinScale};
use crate::game::{Board, Geometry, Goal};
use crate::model::{Description, Weights};
use crate::search::alphabeta::{AlphaBetaSearch, Search, SearchLimits, SearchResult};
use crate::train::learners::stages::boards::{Draw, Play, Source};
use crate::train::stagewise::{StagewiseError, StagewiseLearner, UnitContext, UnitReport};
pub use options::Options;

/// The bytes of the table of a search. A search of a few plies needs few entries.
const TABLE_BYTES: usize = 1 << 18;

/// Trains the stages of a linear evaluator.
pub struct TdLearner<G: Geometry> {
    options: Options,
    linear: linear::Options,
    features: Features<G>,
    goal: Goal,
    seed: u64,
    /// The largest number of discs of each stage, the first stage first.
    stages: Vec<u32>,
    /// The weights of all stages, in discs, in the same order.
    weights: Vec<Vec<f32>>,
}

impl<G: Geometry> TdLearner<G> {
    /// A learner before its first stage.
    ///
    /// # Errors
    ///
    /// The features do not fit the board.
    pub fn new(options: &Options, goal: Goal, seed: u64) -> Result<Self, StagewiseError> {
        let list = options.feature_list();
        let features = Features::new(&list)?;
        let squares = G::SQUARES as u32;
        let stages = options.discs_of_stages(squares, Board::<G>::start().discs());
        let initial = |discs: &u32| {
            let weights = list.iter().flat_map(|&feature| {
                let weight = initial::weight(feature, goal, *discs as f32, squares as f32);
                std::iter::repeat_n(weight, features.numbers(feature))
            });
            weights.collect()
        };
        let weights = stages.iter().map(initial).collect();
        Ok(TdLearner {
            options: options.clone(),
            linear: linear::Options { features: list, between: Between::Larger },
            features,
            goal,
            seed,
            stages,
            weights,
        })
    }

    /// The stage of a unit: the last stage comes first.
    fn stage_of(&self, unit: u64) -> usize {
        let stages = self.stages.len() as u64;
        (stages - 1 - unit % stages) as usize
    }

    /// The numbers of discs of a stage's boards, on which a move is possible.
    fn discs_of(&self, stage: usize) -> std::ops::RangeInclusive<u32> {
        let before = stage.checked_sub(1).map(|before| self.stages[before]);
        let least = before.map_or(Board::<G>::start().discs(), |before| before + 1);
        least..=self.stages[stage].min(G::SQUARES as u32 - 1)
    }

    /// Draws the boards of a unit; `None` if it was stopped.
    fn boards(
        &self,
        unit: u64,
        context: &UnitContext<'_>,
    ) -> Result<Option<Vec<Board<G>>>, StagewiseError> {
        let source = Source::Play(Play {
            evaluator: self.evaluator(&self.weights)?,
            depth: self.options.play_depth,
            opening: 0,
            random: self.options.random,
        });
        let discs: Vec<u32> = self.discs_of(self.stage_of(unit)).collect();
        let kinds = discs.len() as u32;
        let mut drawn = Vec::new();
        for (place, &discs) in (0u32..).zip(&discs) {
            let count = (self.options.boards + kinds - 1 - place) / kinds;
            // The boards of each number of discs have streams of their own.
            let unit = unit * u64::from(self.options.gap) + u64::from(place);
            let draw = Draw { seed: self.seed, unit, discs, count };
            let Some(boards) = draw.boards(self.goal, &source, context) else { return Ok(None) };
            drawn.push(boards);
        }
        // The numbers of discs take turns.
        let rounds = drawn.first().map_or(0, Vec::len);
        let turns = (0..rounds).flat_map(|round| drawn.iter().filter_map(move |it| it.get(round)));
        Ok(Some(turns.copied().collect()))
    }

    /// The evaluator with these weights of all stages.
    fn evaluator(&self, weights: &[Vec<f32>]) -> Result<Arc<Linear<G>>, StagewiseError> {
        Ok(Arc::new(Linear::new(self.goal, &self.linear, &self.arrays(weights))?))
    }

    /// The arrays of a model with these weights of all stages.
    fn arrays(&self, weights: &[Vec<f32>]) -> Weights {
        let mut model = Weights::default();
        let shape = vec![weights.len(), self.features.count()];
        model.insert("weights", shape, weights.concat());
        let discs = self.stages.iter().map(|&discs| discs as f32).collect();
        model.insert("discs", vec![self.stages.len()], discs);
        model.insert("win_scale", vec![1], vec![WinScale::default().0]);
        model
    }
}

/// One stage while it learns.
struct Stage<'a, G: Geometry> {
    learner: &'a TdLearner<G>,
    /// Its place among the stages, and the numbers of discs of its positions.
    place: usize,
    discs: std::ops::RangeInclusive<u32>,
    weights: Vec<Vec<f32>>,
    evaluator: Arc<Linear<G>>,
    /// How often the weights were changed, and the sum of the absolute errors of the values.
    updates: u64,
    errors: f64,
}

impl<'a, G: Geometry> Stage<'a, G> {
    fn new(learner: &'a TdLearner<G>, place: usize) -> Result<Self, StagewiseError> {
        let weights = learner.weights.clone();
        let evaluator = learner.evaluator(&weights)?;
        let discs = learner.discs_of(place);
        Ok(Stage { learner, place, discs, weights, evaluator, updates: 0, errors: 0.0 })
    }

    /// Plays a short game and learns from it. On the first board the side to move has a move.
    fn play(&mut self, mut board: Board<G>, rate: f32) -> Result<(), StagewiseError> {
        // The position before the last move; the other side is to answer that move.
        let mut unanswered: Option<Board<G>> = None;
        for _ in 0..self.learner.options.moves {
            if board.legal().is_empty() {
                board = board.pass();
                if let Some(before) = unanswered.take() {
                    self.learn(before, board, rate)?;
                }
            }
            let Some(found) = self.search(board, self.learner.options.depth) else { break };
            let next = board.play_unchecked(found.square);
            if let Some(before) = unanswered.replace(board) {
                self.learn(before, next, rate)?;
            }
            board = next;
        }
        Ok(())
    }

    /// A search with the weights as they are; `None` if the side to move has no move.
    fn search(&self, board: Board<G>, depth: u32) -> Option<SearchResult> {
        let (goal, evaluator) = (self.learner.goal, Arc::clone(&self.evaluator));
        let mut search = AlphaBetaSearch::new(goal, evaluator, TABLE_BYTES);
        search.think(board, &SearchLimits::depth(depth))
    }

    /// The value to learn for the side to move of the board.
    fn target(&self, board: Board<G>) -> f32 {
        let depth = self.learner.options.target_depth;
        if depth == 0 || board.is_over() {
            return self.evaluator.score(board);
        }
        match self.search(board, depth) {
            Some(found) => found.score,
            None => self.search(board.pass(), depth).map_or(0.0, |found| -found.score),
        }
    }

    /// Moves the value of a position towards that of the position after a move and the reply to it.
    fn learn(
        &mut self,
        before: Board<G>,
        after: Board<G>,
        rate: f32,
    ) -> Result<(), StagewiseError> {
        if !self.discs.contains(&before.discs()) {
            return Ok(());
        }
        let error = self.target(after) - self.evaluator.score(before);
        let features = self.learner.features.of(before);
        for (weight, feature) in self.weights[self.place].iter_mut().zip(features) {
            *weight += rate * error * feature;
        }
        self.evaluator = self.learner.evaluator(&self.weights)?;
        self.updates += 1;
        self.errors += f64::from(error.abs());
        Ok(())
    }
}

impl<G: Geometry> StagewiseLearner for TdLearner<G> {
    fn description(&self) -> Description {
        self.linear.description::<G>(self.goal)
    }

    fn units(&self) -> u64 {
        self.stages.len() as u64 * u64::from(self.options.passes)
    }

    fn train_unit(
        &mut self,
        unit: u64,
        context: &UnitContext<'_>,
    ) -> Result<Option<UnitReport>, StagewiseError> {
        let Some(boards) = self.boards(unit, context)? else { return Ok(None) };
        let place = self.stage_of(unit);
        let mut stage = Stage::new(self, place)?;
        let repeats = self.options.repeats as usize;
        let games = repeats * boards.len();
        for (game, &board) in std::iter::repeat_n(&boards, repeats).flatten().enumerate() {
            if context.is_stopped() {
                return Ok(None);
            }
            let done = game as f32 / games as f32;
            let share = 1.0 + done * (self.options.final_rate - 1.0);
            stage.play(board, self.options.rate * share)?;
            context.report(f64::from(done));
        }
        let Stage { discs, weights, updates, errors, .. } = stage;
        self.weights = weights;
        Ok(Some(UnitReport {
            name: format!("{} to {} discs", discs.start(), discs.end()),
            games: games as u64,
            positions: updates,
            curves: vec![
                ("stage/discs".into(), (*discs.end()).into()),
                ("stage/error".into(), errors / updates.max(1) as f64),
            ],
        }))
    }

    fn model(&self) -> Weights {
        self.arrays(&self.weights)
    }

    fn state(&self) -> Weights {
        self.model()
    }

    fn load(&mut self, state: &Weights, _: u64) -> Result<(), StagewiseError> {
        let (stages, count) = (self.stages.len(), self.features.count());
        let weights = state.get("weights", &[stages, count])?;
        self.weights = weights.chunks(count).map(<[f32]>::to_vec).collect();
        Ok(())
    }
}

#[cfg(test)]
mod tests;
