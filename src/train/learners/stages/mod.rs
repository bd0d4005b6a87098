//! Linear evaluators trained by minimax, stage by stage from the end of the game (Engel,
//! docs/references.md).
//!
//! The boards of the last stage are solved exactly. Those of an earlier stage are scored by minimax
//! as deep as the gap between stages. So all leaves belong to the next stage, whose model evaluates
//! them, or are finished games. For large gaps there is Engel's iterative
//! scheme ([`Options::depth`]). Instead, all stages can learn from games ([`Options::games`]). A unit
//! of the work is one stage.
//!
//! Two things differ from the paper. A finished game has this program's score, which gives the empty
//! squares to the winner. And a board has no colours, only a side to move. Unless a side has passed,
//! the paper's offset for a colour and its parity are then the same up to the sign on all boards of a
//! stage. So they are one feature here.

mod archive;
pub(super) mod boards;
mod fit;
mod options;

use std::sync::Arc;

use nalgebra::DMatrix;

use crate::eval::WinScale;
use crate::eval::linear::{self, Between, Feature, Features, Linear};
use crate::game::{Board, Geometry, Goal};
use crate::model::{Description, Weights};
use crate::train::stagewise::{StagewiseError, StagewiseLearner, UnitContext, UnitReport};
use archive::Archive;
pub use archive::ArchiveError;
use boards::{Draw, Play, Scored, Scoring, Source};
pub use fit::{Fit, FitError, Fitted, Samples};
pub use options::Options;

/// A normal distribution with this standard deviation is nearest to a logistic one of scale 1.
const LOGISTIC_DEVIATION: f64 = 1.702;

/// A stage is fitted again while its weights change by more than this part of their length.
const CONVERGED: f64 = 0.01;

/// The weights of some stages, the last stage first.
type StageWeights = Vec<Vec<f32>>;

/// Trains the stages of a linear evaluator.
pub struct StagesLearner<G: Geometry> {
    options: Options,
    linear: linear::Options,
    features: Features<G>,
    /// The column of the offset in the features.
    offset: usize,
    goal: Goal,
    seed: u64,
    /// The numbers of discs of all stages, the last stage first.
    stages: Vec<u32>,
    /// The weights of the stages so far in this pass.
    weights: StageWeights,
    /// Those of all stages in the pass before; empty in the first pass.
    earlier: StageWeights,
    win_scale: f32,
    /// The games to learn from instead of minimax.
    archive: Option<Archive<G>>,
}

/// A stage that was fitted.
struct FittedStage {
    fitted: Fitted,
    boards: u64,
    /// How often its boards were scored and fitted.
    rounds: u32,
}

impl<G: Geometry> StagesLearner<G> {
    /// A learner before its first stage.
    ///
    /// # Errors
    ///
    /// The features do not fit the board, or the games cannot be read.
    pub fn new(options: &Options, goal: Goal, seed: u64) -> Result<Self, StagewiseError> {
        let list = options.feature_list();
        let features = Features::new(&list)?;
        let is_offset = |feature: &Feature| matches!(feature, Feature::Parity | Feature::Constant);
        let offset = features.first_of(|feature| is_offset(&feature)).unwrap_or(0);
        let stages = options.discs_of_stages(G::SQUARES);
        let read = || Archive::read(&options.games, &stages, goal).map_err(StagewiseError::method);
        let archive = (!options.games.is_empty()).then(read).transpose()?;
        Ok(StagesLearner {
            options: options.clone(),
            linear: linear::Options { features: list, between: options.between },
            features,
            offset,
            goal,
            seed,
            stages,
            weights: Vec::new(),
            earlier: Vec::new(),
            win_scale: WinScale::default().0,
            archive,
        })
    }

    /// The evaluator of these stages, which are the last ones.
    fn evaluator(
        &self,
        weights: &[Vec<f32>],
        between: Between,
    ) -> Result<Arc<Linear<G>>, StagewiseError> {
        let options = linear::Options { between, ..self.linear.clone() };
        Ok(Arc::new(Linear::new(self.goal, &options, &self.arrays(weights))?))
    }

    /// The arrays of a model of these stages, which are the last ones.
    fn arrays(&self, weights: &[Vec<f32>]) -> Weights {
        let (stages, features) = (weights.len(), self.features.count());
        let mut model = Weights::default();
        let values = weights.iter().rev().flatten().copied().collect();
        model.insert("weights", vec![stages, features], values);
        let discs = self.stages[..stages].iter().rev().map(|&discs| discs as f32).collect();
        model.insert("discs", vec![stages], discs);
        model.insert("win_scale", vec![1], vec![self.win_scale]);
        model
    }

    /// Where the boards of this pass come from.
    fn source(&self) -> Result<Source<G>, StagewiseError> {
        if self.earlier.is_empty() {
            return Ok(Source::RandomMoves);
        }
        Ok(Source::Play(Play {
            evaluator: self.evaluator(&self.earlier, self.options.between)?,
            depth: self.options.play_depth,
            opening: self.options.play_opening,
            random: self.options.play_random,
        }))
    }

    fn samples(&self, boards: &[Board<G>], scores: &[f32]) -> Samples {
        let rows: Vec<_> = boards.iter().map(|&board| self.features.of(board)).collect();
        Samples {
            features: DMatrix::from_fn(rows.len(), self.features.count(), |row, column| {
                f64::from(rows[row][column])
            }),
            scores: scores.iter().copied().map(f64::from).collect(),
            offset: self.offset,
            centred: self.options.centred,
        }
    }

    fn fit(&self, boards: &[Board<G>], scores: &[f32]) -> Result<Fitted, StagewiseError> {
        self.samples(boards, scores).fit(self.options.fit).map_err(StagewiseError::method)
    }

    /// Fits a stage to games.
    fn fit_games(&self, archive: &Archive<G>, draw: Draw) -> Result<FittedStage, StagewiseError> {
        let scored = archive.scored(draw);
        let (boards, scores): (Vec<_>, Vec<_>) =
            scored.iter().map(|&Scored { board, score }| (board, score)).unzip();
        let fitted = self.fit(&boards, &scores)?;
        Ok(FittedStage { fitted, boards: boards.len() as u64, rounds: 1 })
    }

    /// Fits a stage to exact scores or to minimax; `None` if it was stopped.
    fn fit_minimax(
        &self,
        draw: Draw,
        context: &UnitContext<'_>,
    ) -> Result<Option<FittedStage>, StagewiseError> {
        let source = self.source()?;
        let Some(boards) = draw.boards(self.goal, &source, context) else { return Ok(None) };
        let (depth, count) = (self.options.search_depth(), boards.len() as u64);
        let is_iterative = !self.weights.is_empty() && depth < self.options.gap;
        let mut weights = self.weights.clone();
        if is_iterative {
            weights.extend(self.weights.last().cloned());
        }
        let mut rounds = 0;
        loop {
            let scoring = match weights.is_empty() {
                true => Scoring::Exact,
                // Leaves between two stages have the mean of their weights.
                false => Scoring::Minimax(depth, self.evaluator(&weights, Between::Interpolated)?),
            };
            let scores = boards::scores(&boards, self.goal, &scoring, context);
            let Some(scores) = scores else { return Ok(None) };
            let fitted = self.fit(&boards, &scores)?;
            rounds += 1;
            let stage = FittedStage { fitted, boards: count, rounds };
            let next = in_single(&stage.fitted.weights);
            let is_converged = weights.last().is_none_or(|last| change(last, &next) <= CONVERGED);
            if !is_iterative || is_converged || rounds >= self.options.rounds {
                return Ok(Some(stage));
            }
            if let Some(last) = weights.last_mut() {
                *last = next;
            }
        }
    }

    /// How well two models of the stage before the last predict the exact scores of its boards: one
    /// is trained on minimax with the model of the last stage at the leaves, the other on the exact
    /// scores. `None` if there is only one stage or if it was stopped.
    ///
    /// # Errors
    ///
    /// A fit fails.
    pub fn score_propagation(
        mut self,
        context: &UnitContext<'_>,
    ) -> Result<Option<[Fitted; 2]>, StagewiseError> {
        let Some(&discs) = self.stages.get(1) else { return Ok(None) };
        if self.train_unit(0, context)?.is_none() {
            return Ok(None);
        }
        let draw = Draw { seed: self.seed, unit: 1, discs, count: self.options.boards };
        let boards = draw.boards(self.goal, &Source::RandomMoves, context);
        let evaluator = self.evaluator(&self.weights, Between::Interpolated)?;
        let minimax = Scoring::Minimax(self.options.gap, evaluator);
        let scored = |boards: &[Board<G>], scoring: &Scoring<G>| {
            boards::scores(boards, self.goal, scoring, context)
        };
        let Some(boards) = boards else { return Ok(None) };
        let (Some(predicted), Some(exact)) =
            (scored(&boards, &minimax), scored(&boards, &Scoring::Exact))
        else {
            return Ok(None);
        };
        let samples = self.samples(&boards, &exact);
        let trained = self.fit(&boards, &predicted)?;
        Ok(Some([samples.rescaled(trained.weights), self.fit(&boards, &exact)?]))
    }

    fn learn(&mut self, fitted: &Fitted) {
        if self.weights.is_empty() {
            // The scores of the last stage are exact, so its errors tell the chance to win.
            self.win_scale = ((fitted.sigma / LOGISTIC_DEVIATION) as f32).max(f32::MIN_POSITIVE);
        }
        self.weights.push(in_single(&fitted.weights));
    }
}

/// Weights as a model has them.
fn in_single(weights: &[f64]) -> Vec<f32> {
    weights.iter().map(|&weight| weight as f32).collect()
}

/// The distance of two weight vectors as a part of the length of the second.
fn change(from: &[f32], to: &[f32]) -> f64 {
    let square = |x: f32| f64::from(x) * f64::from(x);
    let distance: f64 = from.iter().zip(to).map(|(from, to)| square(to - from)).sum();
    let length: f64 = to.iter().map(|&x| square(x)).sum();
    (distance / length.max(f64::MIN_POSITIVE)).sqrt()
}

impl<G: Geometry> StagewiseLearner for StagesLearner<G> {
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
        if self.weights.len() == self.stages.len() {
            self.earlier = std::mem::take(&mut self.weights);
        }
        let discs = self.stages[self.weights.len()];
        let draw = Draw { seed: self.seed, unit, discs, count: self.options.boards };
        let stage = match &self.archive {
            Some(archive) => {
                if unit == 0 {
                    tracing::info!("{}", archive.summary());
                }
                Some(self.fit_games(archive, draw)?)
            }
            None => self.fit_minimax(draw, context)?,
        };
        let Some(FittedStage { fitted, boards, rounds }) = stage else { return Ok(None) };
        self.learn(&fitted);
        Ok(Some(UnitReport {
            name: format!(
                "{discs} discs: sigma {:.2}, {:.1} % of the signs right",
                fitted.sigma,
                100.0 * fitted.right
            ),
            games: boards,
            positions: boards * u64::from(rounds),
            curves: vec![
                ("stage/discs".into(), discs.into()),
                ("stage/sigma".into(), fitted.sigma),
                ("stage/right".into(), fitted.right),
                ("stage/rounds".into(), rounds.into()),
            ],
        }))
    }

    fn model(&self) -> Weights {
        // Stages that this pass has not reached are those of the pass before.
        let earlier = self.earlier.iter().skip(self.weights.len());
        let weights: StageWeights = self.weights.iter().chain(earlier).cloned().collect();
        self.arrays(&weights)
    }

    fn state(&self) -> Weights {
        let mut state = self.arrays(&self.weights);
        let shape = vec![self.earlier.len(), self.features.count()];
        state.insert("earlier", shape, self.earlier.concat());
        state
    }

    fn load(&mut self, state: &Weights, done: u64) -> Result<(), StagewiseError> {
        let (all, count) = (self.stages.len(), self.features.count());
        // After the last stage of a pass, its weights are not yet those of an earlier pass.
        let passes = done.saturating_sub(1) as usize / all;
        let stages = done as usize - passes * all;
        let weights = state.get("weights", &[stages, count])?;
        self.weights = weights.chunks(count).rev().map(<[f32]>::to_vec).collect();
        let earlier = state.get("earlier", &[if passes > 0 { all } else { 0 }, count])?;
        self.earlier = earlier.chunks(count).map(<[f32]>::to_vec).collect();
        self.win_scale = state.get("win_scale", &[1])?[0];
        Ok(())
    }
}
