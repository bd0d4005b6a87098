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
use crate::train::learners::labelled::{self, Divided};
use crate::train::learners::lines::Labeller;
use crate::train::stagewise::{StagewiseError, StagewiseLearner, UnitContext, UnitReport};
use fit::{Fitter, Samples, Shape};
pub use options::Options;
pub(in crate::train::learners) use options::{edges_and_lines, squares};

/// The parts of a round. A run that was killed loses at most one.
const PARTS: u64 = 8;

/// The empty squares at which the errors are reported, with two more on both sides.
const BANDS: [(u32, &str); 5] = [
    (10, "pattern_error/10_empties"),
    (20, "pattern_error/20_empties"),
    (30, "pattern_error/30_empties"),
    (40, "pattern_error/40_empties"),
    (50, "pattern_error/50_empties"),
];

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

/// Boards with as many discs use the same weights, which then stay in the cache.
fn in_order_of_use<G: Geometry>(divided: &mut Divided<G>) {
    divided.training.sort_by_key(|label| label.board.discs());
}

/// The result of a fit.
#[derive(Clone, PartialEq, Debug)]
pub struct Fitted {
    /// The labels that trained the weights.
    pub labels: u64,
    /// Mean absolute errors in discs: of the training, and of held-out lines near some numbers of
    /// empty squares.
    pub errors: Vec<(&'static str, f64)>,
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
        let evaluator = Patterns::new(self.goal, self.set.clone(), &self.model_with(probcut));
        Ok(evaluator.map_err(StagewiseError::method)?.into())
    }

    /// The labels of all rounds up to this one, divided.
    fn labels(&self, last: u64, context: &UnitContext<'_>) -> Result<Divided<G>, StagewiseError> {
        let solved = |round| self.options.lines(round, G::SQUARES as u32).solved;
        let divided = Divided::of_rounds(context.folder(), self.goal, (last, PARTS), solved);
        let mut divided = divided.map_err(StagewiseError::method)?;
        in_order_of_use(&mut divided);
        Ok(divided)
    }

    fn samples<'a>(&self, labels: impl IntoIterator<Item = &'a Label<G>>) -> Samples {
        let mut samples = Samples::new(&self.set);
        for &Label { board, score } in labels {
            samples.push(&self.set, board, score.into());
        }
        samples
    }

    /// Fits the weights to the labels of all rounds up to this one. Returns the errors.
    fn fit(
        &mut self,
        round: u64,
        context: &UnitContext<'_>,
    ) -> Result<Option<Vec<(&'static str, f64)>>, StagewiseError> {
        let divided = self.labels(round, context)?;
        Ok(self.fit_to(divided, context).map(|fitted| fitted.errors))
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
        let files = labels::newest_files(run, labelled::ROUNDS_OF_RESULTS);
        let divided = files.and_then(|files| Divided::of_files(&files, self.goal));
        let mut divided = divided.map_err(StagewiseError::method)?;
        in_order_of_use(&mut divided);
        Ok(self.fit_to(divided, context))
    }

    fn fit_to(&mut self, divided: Divided<G>, context: &UnitContext<'_>) -> Option<Fitted> {
        let Divided { training, held_out } = divided;
        let labels = training.len() as u64;
        let samples = self.samples(&training);
        drop(training);
        let fitter = Fitter { shape: &self.shape, samples: &samples, ridge: self.options.ridge };
        self.numbers = fitter.fit(self.numbers.clone(), self.options.steps, context)?;
        let training = fitter.error(&self.numbers);
        let mut errors = vec![("pattern_error/training", training)];
        for (middle, name) in BANDS {
            let is_near = |label: &&Label<G>| label.board.empties().abs_diff(middle) <= 2;
            let samples = &self.samples(held_out.iter().filter(is_near));
            if !samples.is_empty() {
                errors.push((name, Fitter { samples, ..fitter }.error(&self.numbers)));
            }
        }
        self.win_scale = labelled::win_scale(training);
        Some(Fitted { labels, errors })
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
        let boards = margins::boards((0..PARTS).map(of_part), wanted);
        let boards = boards.map_err(StagewiseError::method)?;
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
        let (round, part) = (unit / PARTS, unit % PARTS);
        if round == self.options.all_rounds() {
            return self.finish(context);
        }
        let lines = self.options.lines(round, G::SQUARES as u32);
        let range = lines.count * part / PARTS..lines.count * (part + 1) / PARTS;
        let games = range.end - range.start;
        let mut probcut = self.probcut.clone();
        if lines.probcut.is_some() && probcut.is_none() {
            let Some((fitted, _)) = self.fit_probcut(round - 1, context)? else { return Ok(None) };
            probcut = Some(fitted);
        }
        let evaluator = self.evaluator(round, probcut.as_ref())?;
        let labeller =
            Labeller { goal: self.goal, seed: self.seed, round, evaluator: &evaluator, lines };
        let Some(labels) = labeller.labels(range, context) else { return Ok(None) };
        let (positions, rounds) = (labels.len() as u64, self.options.all_rounds());
        labels::write(&labels::file(context.folder(), round, part), self.goal, &labels)
            .map_err(StagewiseError::method)?;
        drop(labels);
        let mut name = format!("round {} of {rounds}, part {} of {PARTS}", round + 1, part + 1);
        let mut curves = vec![("stage/round", (round + 1) as f64)];
        if part + 1 == PARTS {
            let Some(errors) = self.fit(round, context)? else { return Ok(None) };
            for (curve, error) in &errors {
                let what = curve.trim_start_matches("pattern_error/").replace('_', " ");
                name += &format!(", error {error:.2} discs ({what})");
            }
            curves.extend(errors);
        }
        self.probcut = probcut;
        Ok(Some(UnitReport { name, games, positions, curves }))
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
        self.probcut = patterns::probcut(state).map_err(StagewiseError::method)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests;
