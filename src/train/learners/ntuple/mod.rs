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

use std::error::Error;
use std::path::{Path, PathBuf};

use crate::eval::patternnet::{ESTIMATE, PatternNet};
use crate::eval::probcut::ProbCut;
use crate::eval::{AnyEvaluator, WinScale};
use crate::eval::{onehot, patternnet, patterns};
use crate::game::{Board, Geometry, Goal};
use crate::model::{Description, Weights};
use crate::store::checkpoint::{CheckpointError, load_model};
use crate::store::labels;
use crate::train::learners::endgame::margins;
use crate::train::learners::labelled::{self, Divided, Fitted, Part, ROUNDS_OF_RESULTS};
use crate::train::learners::lines::Labeller;
use crate::train::seeds::{Purpose, stream};
use crate::train::stagewise::{StagewiseError, StagewiseLearner, UnitContext, UnitReport};
use fit::Learning;
pub use options::{Inputs, Options};
use students::{Net, OverPatterns, Perceptron, Student};

/// The parts of a round.
const PARTS: u64 = 4;

/// Boards with each number of empty squares that are searched for Multi-ProbCut, and to which depth;
/// few in tests, which have small boards and little time.
const PROBCUT_BOARDS: usize = if cfg!(test) { 4 } else { 50 };
const PROBCUT_DEPTH: u32 = if cfg!(test) { 5 } else { 10 };
/// Boards with each number of empty squares to which a net's estimates are fitted.
const ESTIMATE_BOARDS: usize = 4000;

/// The number of the random stream of the first numbers. The others are numbers of units.
const INITIAL: u64 = u64::MAX;

/// A model that others learn from.
fn given<G: Geometry>(path: &Path, goal: Goal) -> Result<(Description, Weights), GivenError> {
    let file = load_model(path)?;
    let description = serde_json::from_value::<Description>(file.description().clone());
    let description = description.map_err(|error| unfit(path, error.into()))?;
    if (description.shape, description.goal) != (G::SHAPE, goal) {
        let Description { shape, goal, .. } = description;
        return Err(unfit(path, format!("it is for {shape} and the {goal} discs").into()));
    }
    let (weights, _) =
        Weights::from_bytes(file.bytes()).map_err(|error| unfit(path, error.into()))?;
    Ok((description, weights))
}

/// The evaluator of a model that plays and labels games.
fn teacher<G: Geometry>(path: &Path, goal: Goal) -> Result<AnyEvaluator<G>, GivenError> {
    let (description, weights) = given::<G>(path, goal)?;
    AnyEvaluator::from_model(&description, &weights).map_err(|error| unfit(path, error.into()))
}

/// The numbers of a model from which learning begins.
fn initial<G: Geometry>(
    path: &Path,
    goal: Goal,
    student: &dyn Student<G>,
) -> Result<Vec<f32>, GivenError> {
    let (description, weights) = given::<G>(path, goal)?;
    if let Some(difference) = description.difference(&student.description(goal)) {
        return Err(unfit(path, difference.to_string().into()));
    }
    student.numbers(&weights).map_err(|error| unfit(path, error.into()))
}

/// Why a model cannot be a teacher or the first one.
#[derive(Debug, thiserror::Error)]
enum GivenError {
    #[error(transparent)]
    Load(#[from] CheckpointError),
    #[error("{} cannot be learnt from: {problem}", path.display())]
    Unfit { path: PathBuf, problem: Box<dyn Error + Send + Sync> },
}

fn unfit(path: &Path, problem: Box<dyn Error + Send + Sync>) -> GivenError {
    GivenError::Unfit { path: path.into(), problem }
}

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
    /// Plays the games; the model itself if there is none.
    teacher: Option<AnyEvaluator<G>>,
    /// The parameters of Multi-ProbCut, which a net over patterns has at the end.
    probcut: Option<ProbCut>,
    /// The estimates of a net over patterns, which it has at the end.
    estimate: Option<Vec<f32>>,
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
        let student: Box<dyn Student<G>> = match options.inputs {
            Inputs::Tuples => Box::new(Perceptron::new::<G>(options.stable)?),
            Inputs::Patterns => {
                let discs = options.discs_of_stages(G::SQUARES as u32);
                let patterns = patternnet::Options { patterns: options.patterns.clone() };
                Box::new(OverPatterns::new::<G>(patterns, discs)?)
            }
            Inputs::Moves => net(false),
            Inputs::Frontier => net(true),
        };
        let mut files = Vec::new();
        for run in &options.labels {
            files.extend(labels::newest_files(Path::new(run), ROUNDS_OF_RESULTS)?);
        }
        let numbers = match &options.initial[..] {
            "" => student.initial(&mut stream(seed, Purpose::Batch, INITIAL)),
            path => initial(Path::new(path), goal, &*student).map_err(StagewiseError::method)?,
        };
        let options = options.clone();
        let win_scale = WinScale::default().0;
        let teacher = match &options.teacher[..] {
            "" => None,
            path => Some(teacher::<G>(Path::new(path), goal).map_err(StagewiseError::method)?),
        };
        let probcut = None;
        Ok(NTupleLearner {
            options,
            student,
            goal,
            seed,
            numbers,
            win_scale,
            files,
            teacher,
            probcut,
            estimate: None,
        })
    }

    /// The parts of a round: one without own games.
    fn parts(&self) -> u64 {
        if self.files.is_empty() { PARTS } else { 1 }
    }

    /// Whether the model gets parameters of Multi-ProbCut.
    fn has_probcut(&self) -> bool {
        self.options.inputs == Inputs::Patterns
    }

    fn lines(&self, round: u64) -> super::lines::Lines {
        self.options.lines(round, G::SQUARES as u32)
    }

    /// The arrays of the model with these numbers.
    fn arrays(&self, numbers: &[f32]) -> Weights {
        let mut model = self.student.arrays(numbers);
        model.insert("win_scale", vec![1], vec![self.win_scale]);
        if let Some(probcut) = &self.probcut {
            margins::put(probcut, &mut model);
        }
        if let Some(estimate) = &self.estimate {
            let stages = self.options.stages as usize;
            model.insert(ESTIMATE, vec![stages, estimate.len() / stages], estimate.clone());
        }
        model
    }

    /// The evaluator of the model so far.
    fn evaluator(&self) -> Result<AnyEvaluator<G>, StagewiseError> {
        Ok(AnyEvaluator::<G>::from_model(&self.description(), &self.model())?)
    }

    /// The last unit of a net over patterns: its estimates and Multi-ProbCut, fitted to boards of the
    /// last round.
    fn finish(&mut self, context: &UnitContext<'_>) -> Result<Option<UnitReport>, StagewiseError> {
        let last = u64::from(self.options.rounds) - 1;
        let mut labels = if self.files.is_empty() {
            let of_part = |part| labelled::of_part::<G>(context.folder(), self.goal, (last, part));
            margins::boards((0..PARTS).map(of_part), ESTIMATE_BOARDS)?
        } else {
            let of_file = |path: &PathBuf| labels::read::<G>(path, self.goal);
            margins::boards(self.files.iter().map(of_file), ESTIMATE_BOARDS)?
        };
        let boards: Vec<Board<G>> = labels.iter().map(|label| label.board).collect();
        let stages = self.options.discs_of_stages(G::SQUARES as u32);
        let net = PatternNet::<G>::read(&self.description(), &self.model())?;
        self.estimate = Some(net.fit_estimate(&stages, &boards));
        let mut counts = vec![0; G::SQUARES + 1];
        labels.retain(|label| {
            let count = &mut counts[label.board.empties() as usize];
            *count += 1;
            *count <= PROBCUT_BOARDS
        });
        let depths = (PROBCUT_DEPTH, self.options.solved);
        let searched = margins::search(self.goal, &self.evaluator()?, &labels, depths, context);
        let Some(searched) = searched else { return Ok(None) };
        self.probcut = Some(margins::fit(&searched, G::SQUARES as u32));
        let (name, positions) = ("Multi-ProbCut".into(), labels.len() as u64);
        Ok(Some(UnitReport { name, games: 0, positions, curves: Vec::new() }))
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
        self.parts() * u64::from(self.options.rounds) + u64::from(self.has_probcut())
    }

    fn train_unit(
        &mut self,
        unit: u64,
        context: &UnitContext<'_>,
    ) -> Result<Option<UnitReport>, StagewiseError> {
        let rounds = self.options.rounds.into();
        let part = Part::of_unit(unit, self.parts(), rounds);
        if part.round == rounds {
            return self.finish(context);
        }
        let mut report = part.report();
        if self.files.is_empty() {
            let (round, lines) = (part.round, self.lines(part.round));
            let own;
            let evaluator = match &self.teacher {
                Some(teacher) => teacher,
                None => {
                    own = self.evaluator()?;
                    &own
                }
            };
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
        self.arrays(&self.student.rounded(&self.numbers))
    }

    fn state(&self) -> Weights {
        self.arrays(&self.numbers)
    }

    fn load(&mut self, state: &Weights, _: u64) -> Result<(), StagewiseError> {
        self.numbers = self.student.numbers(state)?;
        self.win_scale = state.get("win_scale", &[1])?[0];
        self.probcut = patterns::probcut(state)?;
        self.estimate = state.array(ESTIMATE).map(|array| array.values.to_vec());
        Ok(())
    }
}

#[cfg(test)]
mod tests;
