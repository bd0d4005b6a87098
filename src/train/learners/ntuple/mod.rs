//! The n-tuple perceptron and the one-hot nets of the n-tuple bot (docs/references.md), learnt from
//! their own games.
//!
//! A model that knows nothing plays the first round. Each later round is played by search, with the
//! model of the round before. The endings are solved. The labels are exact scores in the ending, and
//! before it returns of temporal differences. After each round the model learns from the labels of all
//! rounds that count.
//!
//! A unit of the work is a part of a round. Its labels are kept in a file of the run, and the model
//! learns in the last part. With the labels of another run there are no games, and a unit is a round of
//! learning.

mod fit;
mod options;
mod students;

use std::path::{Path, PathBuf};

use crate::eval::onehot;
use crate::eval::{AnyEvaluator, WinScale};
use crate::game::{Geometry, Goal};
use crate::model::{Description, Weights};
use crate::store::labels;
use crate::train::learners::labelled::{self, Divided, Fitted, Part, ROUNDS_OF_RESULTS};
use crate::train::learners::lines::Labeller;
use crate::train::seeds::{Purpose, stream};
use crate::train::stagewise::{StagewiseError, StagewiseLearner, UnitContext, UnitReport};
use fit::Learning;
pub use options::{Inputs, Options};
use students::{Net, Perceptron, Student};

/// The parts of a round.
const PARTS: u64 = 4;

/// The number of the random stream of the first numbers. The others are numbers of units.
const INITIAL: u64 = u64::MAX;

/// Trains an n-tuple perceptron or a one-hot net.
pub struct NTupleLearner<G: Geometry> {
    options: Options,
    student: Box<dyn Student<G>>,
    goal: Goal,
    seed: u64,
    /// The numbers of the model so far.
    numbers: Vec<f32>,
    win_scale: f32,
    /// The files of another run to learn from; none if the model plays its own games.
    files: Vec<PathBuf>,
}

impl<G: Geometry> NTupleLearner<G> {
    /// A learner before its first round.
    ///
    /// # Errors
    ///
    /// The tuples do not fit the board, or a run that should have labels has none.
    pub fn new(options: &Options, goal: Goal, seed: u64) -> Result<Self, StagewiseError> {
        let net = |frontier| -> Box<dyn Student<G>> {
            let (hidden, stable) = (options.hidden as usize, options.stable);
            let discs = options.discs_of_stages(G::SQUARES as u32);
            Box::new(Net::new::<G>(onehot::Options { hidden, frontier, stable }, discs))
        };
        let student = match options.inputs {
            Inputs::Tuples => Box::new(Perceptron::new::<G>(options.stable)?),
            Inputs::Moves => net(false),
            Inputs::Frontier => net(true),
        };
        let mut files = Vec::new();
        for run in &options.labels {
            files.extend(labels::newest_files(Path::new(run), ROUNDS_OF_RESULTS)?);
        }
        let numbers = student.initial(&mut stream(seed, Purpose::Batch, INITIAL));
        let options = options.clone();
        let win_scale = WinScale::default().0;
        Ok(NTupleLearner { options, student, goal, seed, numbers, win_scale, files })
    }

    /// The parts of a round: one without own games.
    fn parts(&self) -> u64 {
        if self.files.is_empty() { PARTS } else { 1 }
    }

    fn lines(&self, round: u64) -> super::lines::Lines {
        self.options.lines(round, G::SQUARES as u32)
    }

    /// Learns from the labels so far; `None` if it was stopped.
    fn learn(
        &mut self,
        (unit, round): (u64, u64),
        context: &UnitContext<'_>,
    ) -> Result<Option<Fitted>, StagewiseError> {
        let solved = |round| self.lines(round).solved;
        let divided = match self.files.is_empty() {
            true => Divided::of_rounds(context.folder(), self.goal, (round, PARTS), solved)?,
            false => Divided::of_files(&self.files, self.goal)?,
        };
        let Divided { training, held_out } = divided;
        let &Options { epochs, batch, rate, .. } = &self.options;
        let learning = Learning { epochs, batch: batch as usize, rate };
        let random = &mut stream(self.seed, Purpose::Batch, unit);
        let (student, numbers) = (&*self.student, self.numbers.clone());
        let found = fit::learn(student, numbers, &training, (learning, random), context);
        let Some((numbers, error)) = found else { return Ok(None) };
        self.numbers = numbers;
        self.win_scale = labelled::win_scale(error);
        Ok(Some(Fitted::new((training.len(), error), &held_out, |near| {
            fit::error(&*self.student, &self.numbers, near)
        })))
    }
}

impl<G: Geometry> StagewiseLearner for NTupleLearner<G> {
    fn description(&self) -> Description {
        self.student.description(self.goal)
    }

    fn units(&self) -> u64 {
        self.parts() * u64::from(self.options.rounds)
    }

    fn train_unit(
        &mut self,
        unit: u64,
        context: &UnitContext<'_>,
    ) -> Result<Option<UnitReport>, StagewiseError> {
        let part = Part::of_unit(unit, self.parts(), self.options.rounds.into());
        let mut report = part.report();
        if self.files.is_empty() {
            let (round, lines) = (part.round, self.lines(part.round));
            let evaluator = &AnyEvaluator::<G>::from_model(&self.description(), &self.model())?;
            let labeller = Labeller { goal: self.goal, seed: self.seed, round, evaluator, lines };
            let Some(played) = labeller.keep(part, context)? else { return Ok(None) };
            report = played;
        }
        if part.is_last() {
            let Some(fitted) = self.learn((unit, part.round), context)? else { return Ok(None) };
            if !self.files.is_empty() {
                report.positions = fitted.labels;
            }
            fitted.add_to(&mut report, "ntuple_error");
        }
        Ok(Some(report))
    }

    fn model(&self) -> Weights {
        let mut model = self.student.arrays(&self.numbers);
        model.insert("win_scale", vec![1], vec![self.win_scale]);
        model
    }

    fn state(&self) -> Weights {
        self.model()
    }

    fn load(&mut self, state: &Weights, _: u64) -> Result<(), StagewiseError> {
        self.numbers = self.student.numbers(state)?;
        self.win_scale = state.get("win_scale", &[1])?[0];
        Ok(())
    }
}

#[cfg(test)]
mod tests;
