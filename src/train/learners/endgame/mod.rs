//! Evaluators by patterns, learnt from the end of the game (Tothello, docs/references.md).
//!
//! The first round plays shallow games and solves their endings: each board of an exact line is a
//! label. The second does the same from more empty squares, with the evaluator of the first for the
//! order of moves. Each later round plays whole games with the evaluator so far, and labels their
//! boards with the exact results. After each round all weights are fitted to all labels. In the last
//! rounds searches use Multi-ProbCut, and boards before the solved ones get probable scores.
//!
//! A unit of the work is a part of a round. Its labels are kept in a file of the run, and the last
//! part of a round fits the weights. The parameters of Multi-ProbCut are fitted when a round first
//! needs them, and once more by the very last unit.

mod fit;
pub(in crate::train::learners) mod margins;
mod options;

use std::marker::PhantomData;
use std::path::Path;

use crate::eval::patterns::{self, PatternSet, Patterns};
use crate::eval::positional::Positional;
use crate::eval::probcut::ProbCut;
use crate::eval::{AnyEvaluator, ModelError, WinScale};
use crate::game::{Geometry, Goal};
use crate::model::{Description, Weights};
use crate::store::labels::{self, Label};
pub use crate::train::learners::labelled::Fitted;
use crate::train::learners::labelled::{self, Divided, Part};
use crate::train::learners::lines::Labeller;
use crate::train::stagewise::{StagewiseError, StagewiseLearner, UnitContext, UnitReport};
use fit::{Fitter, Samples, Shape};
pub use options::Options;
pub(in crate::train::learners) use options::{edges_and_lines, squares};

/// The parts of a round.
const PARTS: u64 = 8;

/// The key `endgame.patterns` does not fit the board.
#[derive(Debug, thiserror::Error)]
#[error("endgame.patterns: {problem}")]
struct PatternsError {
    problem: Box<str>,
}

impl PatternsError {
    fn of(error: ModelError) -> PatternsError {
        match error {
            ModelError::Options { problem } => PatternsError { problem },
            other => PatternsError { problem: other.to_string().into() },
        }
    }
}

/// Trains the weights of patterns.
pub struct EndgameLearner<G: Geometry> {
    options: Options,
    set: PatternSet,
    shape: Shape,
    goal: Goal,
    seed: u64,
    /// The numbers of the model so far, 0 before the first fit.
    numbers: Vec<f32>,
    win_scale: f32,
    /// The parameters of Multi-ProbCut; none before a round needs them.
    probcut: Option<ProbCut>,
    board: PhantomData<G>,
}

impl<G: Geometry> EndgameLearner<G> {
    /// A learner before its first round.
    ///
    /// # Errors
    ///
    /// The patterns do not fit the board.
    pub fn new(options: &Options, goal: Goal, seed: u64) -> Result<Self, StagewiseError> {
        let set = PatternSet::read::<G>(&options.patterns)
            .map_err(|error| StagewiseError::method(PatternsError::of(error)))?;
        let shape = Shape::new(&set, options.discs_of_stages(G::SQUARES as u32));
        Ok(EndgameLearner {
            options: options.clone(),
            numbers: vec![0.0; shape.count()],
            set,
            shape,
            goal,
            seed,
            win_scale: WinScale::default().0,
            probcut: None,
            board: PhantomData,
        })
    }

    /// The evaluator that plays a round: hand-made in the first.
    fn evaluator(
        &self,
        round: u64,
        probcut: Option<&ProbCut>,
    ) -> Result<AnyEvaluator<G>, StagewiseError> {
        if round == 0 {
            return Ok(Positional::new(self.goal).into());
        }
        Ok(Patterns::new(self.goal, self.set.clone(), &self.model_with(probcut))?.into())
    }

    fn samples(&self, labels: &[Label<G>]) -> Samples {
        let mut samples = Samples::new(&self.set);
        for &Label { board, score } in labels {
            samples.push(&self.set, board, score.into());
        }
        samples
    }

    /// Fits the weights to the labels of the two newest rounds of another run. `None` if it was
    /// stopped.
    ///
    /// # Errors
    ///
    /// The run has no labels, too few, or those of another board or goal.
    pub fn fit_labels_of(
        &mut self,
        run: &Path,
        context: &UnitContext<'_>,
    ) -> Result<Option<Fitted>, StagewiseError> {
        let files = labels::newest_files(run, labelled::ROUNDS_OF_RESULTS)?;
        Ok(self.fit_to(Divided::of_files(&files, self.goal)?, context))
    }

    fn fit_to(&mut self, divided: Divided<G>, context: &UnitContext<'_>) -> Option<Fitted> {
        let Divided { mut training, held_out } = divided;
        // Boards with as many discs use the same weights, which then stay in the cache.
        training.sort_by_key(|label| label.board.discs());
        let labels = training.len();
        let samples = self.samples(&training);
        drop(training);
        let fitter = Fitter { shape: &self.shape, samples: &samples, ridge: self.options.ridge };
        self.numbers = fitter.fit(self.numbers.clone(), self.options.steps, context)?;
        let training = fitter.error(&self.numbers);
        self.win_scale = labelled::win_scale(training);
        Some(Fitted::new((labels, training), &held_out, |near| {
            Fitter { samples: &self.samples(near), ..fitter }.error(&self.numbers)
        }))
    }
}

impl<G: Geometry> EndgameLearner<G> {
    /// Fits the parameters of Multi-ProbCut to searches of boards of a round. Returns them with the
    /// number of boards, or `None` if it was stopped.
    fn fit_probcut(
        &self,
        round: u64,
        context: &UnitContext<'_>,
    ) -> Result<Option<(ProbCut, u64)>, StagewiseError> {
        let squares = G::SQUARES as u32;
        let of_part = |part| labelled::of_part::<G>(context.folder(), self.goal, (round, part));
        let wanted = self.options.probcut_boards as usize;
        let boards = margins::boards((0..PARTS).map(of_part), wanted)?;
        let evaluator = self.evaluator(round + 1, None)?;
        let depths = (self.options.probcut_depth, self.options.lines(round, squares).solved);
        let searched = margins::search(self.goal, &evaluator, &boards, depths, context);
        let count = boards.len() as u64;
        Ok(searched.map(|searched| (margins::fit(&searched, squares), count)))
    }

    /// The last unit: Multi-ProbCut for the final weights.
    fn finish(&mut self, context: &UnitContext<'_>) -> Result<Option<UnitReport>, StagewiseError> {
        let fitted = self.fit_probcut(self.options.all_rounds() - 1, context)?;
        let Some((probcut, positions)) = fitted else { return Ok(None) };
        self.probcut = Some(probcut);
        let name = "Multi-ProbCut".into();
        Ok(Some(UnitReport { name, games: 0, positions, curves: Vec::new() }))
    }

    /// The model with these parameters of Multi-ProbCut.
    fn model_with(&self, probcut: Option<&ProbCut>) -> Weights {
        let mut model = self.shape.arrays(&self.numbers, self.win_scale);
        if let Some(probcut) = probcut {
            margins::put(probcut, &mut model);
        }
        model
    }
}

impl<G: Geometry> StagewiseLearner for EndgameLearner<G> {
    fn description(&self) -> Description {
        let patterns = self.options.patterns.clone();
        patterns::Options { patterns }.description::<G>(self.goal)
    }

    fn units(&self) -> u64 {
        PARTS * self.options.all_rounds() + 1
    }

    fn train_unit(
        &mut self,
        unit: u64,
        context: &UnitContext<'_>,
    ) -> Result<Option<UnitReport>, StagewiseError> {
        let rounds = self.options.all_rounds();
        let part = Part::of_unit(unit, PARTS, rounds);
        let round = part.round;
        if round == rounds {
            return self.finish(context);
        }
        let lines = self.options.lines(round, G::SQUARES as u32);
        let mut probcut = self.probcut.clone();
        if lines.probcut.is_some() && probcut.is_none() {
            let Some((fitted, _)) = self.fit_probcut(round - 1, context)? else { return Ok(None) };
            probcut = Some(fitted);
        }
        let evaluator = &self.evaluator(round, probcut.as_ref())?;
        let labeller = Labeller { goal: self.goal, seed: self.seed, round, evaluator, lines };
        let Some(mut report) = labeller.keep(part, context)? else { return Ok(None) };
        if part.is_last() {
            let solved = |round| self.options.lines(round, G::SQUARES as u32).solved;
            let divided = Divided::of_rounds(context.folder(), self.goal, (round, PARTS), solved)?;
            let Some(fitted) = self.fit_to(divided, context) else { return Ok(None) };
            fitted.add_to(&mut report, "pattern_error");
        }
        self.probcut = probcut;
        Ok(Some(report))
    }

    fn model(&self) -> Weights {
        self.model_with(self.probcut.as_ref())
    }

    fn state(&self) -> Weights {
        self.model()
    }

    fn load(&mut self, state: &Weights, _: u64) -> Result<(), StagewiseError> {
        self.numbers = self.shape.numbers(state)?;
        self.win_scale = state.get("win_scale", &[1])?[0];
        self.probcut = patterns::probcut(state)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests;
