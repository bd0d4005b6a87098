//! Linear evaluators trained by minimax, stage by stage from the end of the game (Engel,
//! docs/references.md).
//!
//! The boards of the last stage are solved exactly. The boards of an earlier stage are scored by
//! minimax as deep as the gap between stages, so that all leaves belong to the next stage or are
//! finished games; the model of that stage evaluates them. A unit of the work is one stage.
//!
//! Two things differ from the paper. A finished game has this program's score, which gives the empty
//! squares to the winner. And a board has no colours, only a side to move: so the paper's offset for
//! a colour and its parity, which are the same up to the sign on all boards of a stage unless a side
//! has passed, are one feature here.

mod boards;
mod fit;
mod options;

use std::sync::Arc;

use faer::Mat;

use crate::eval::WinScale;
use crate::eval::linear::{self, Feature, Features, Linear};
use crate::game::{Geometry, Goal};
use crate::model::{Description, Kind, Weights};
use crate::train::stagewise::{StagewiseError, StagewiseLearner, UnitContext, UnitReport};
use boards::{Draw, Scored, Scoring};
pub use fit::{Fit, FitError, Fitted, Samples};
pub use options::Options;

/// A normal distribution with this standard deviation is nearest to a logistic one of scale 1.
const LOGISTIC_DEVIATION: f64 = 1.702;

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
    /// The weights of the stages so far, in the same order.
    weights: Vec<Vec<f32>>,
    win_scale: f32,
}

impl<G: Geometry> StagesLearner<G> {
    /// A learner before its first stage.
    ///
    /// # Errors
    ///
    /// The features do not fit the board.
    pub fn new(options: &Options, goal: Goal, seed: u64) -> Result<Self, StagewiseError> {
        let list = options.feature_list();
        let features = Features::new(&list).map_err(method)?;
        let is_offset = |feature: &Feature| matches!(feature, Feature::Parity | Feature::Constant);
        let offset = features.first_of(|feature| is_offset(&feature)).unwrap_or(0);
        Ok(StagesLearner {
            options: options.clone(),
            linear: linear::Options { features: list, between: options.between },
            features,
            offset,
            goal,
            seed,
            stages: options.discs_of_stages(G::SQUARES),
            weights: Vec::new(),
            win_scale: WinScale::default().0,
        })
    }

    /// The evaluator of the stages so far.
    fn evaluator(&self) -> Result<Arc<Linear<G>>, StagewiseError> {
        Linear::new(self.goal, &self.linear, &self.model()).map(Arc::new).map_err(method)
    }

    fn samples(&self, boards: &[Scored<G>]) -> Samples {
        let rows: Vec<_> = boards.iter().map(|scored| self.features.of(scored.board)).collect();
        Samples {
            features: Mat::from_fn(rows.len(), self.features.count(), |row, column| {
                f64::from(rows[row][column])
            }),
            scores: boards.iter().map(|scored| f64::from(scored.score)).collect(),
            offset: self.offset,
        }
    }

    fn learn(&mut self, fitted: &Fitted) {
        if self.weights.is_empty() {
            // The scores of the last stage are exact, so its errors tell the chance to win.
            self.win_scale = ((fitted.sigma / LOGISTIC_DEVIATION) as f32).max(f32::MIN_POSITIVE);
        }
        self.weights.push(fitted.weights.iter().map(|&weight| weight as f32).collect());
    }
}

impl<G: Geometry> StagewiseLearner for StagesLearner<G> {
    fn description(&self) -> Description {
        Description {
            kind: Kind::Linear,
            shape: G::SHAPE,
            options: serde_json::to_value(&self.linear).unwrap_or_default(),
            goal: self.goal,
            positions: 0,
            steps: 0,
        }
    }

    fn units(&self) -> u64 {
        self.stages.len() as u64
    }

    fn train_unit(
        &mut self,
        unit: u64,
        context: &UnitContext<'_>,
    ) -> Result<Option<UnitReport>, StagewiseError> {
        let discs = self.stages[unit as usize];
        let scoring = match self.weights.is_empty() {
            true => Scoring::Exact,
            false => Scoring::Minimax(self.options.gap, self.evaluator()?),
        };
        let draw = Draw { seed: self.seed, unit, discs, count: self.options.boards };
        let Some(boards) = draw.scored(self.goal, &scoring, context) else { return Ok(None) };
        let fitted = self.samples(&boards).fit(self.options.fit).map_err(method)?;
        self.learn(&fitted);
        let count = boards.len() as u64;
        Ok(Some(UnitReport {
            name: format!("{discs} discs"),
            games: count,
            positions: count,
            curves: vec![
                ("stage/discs", discs.into()),
                ("stage/sigma", fitted.sigma),
                ("stage/right", fitted.right),
            ],
        }))
    }

    fn model(&self) -> Weights {
        let done = self.weights.len();
        let mut model = Weights::default();
        let weights = self.weights.iter().rev().flatten().copied().collect();
        model.insert("weights", vec![done, self.features.count()], weights);
        let discs = self.stages[..done].iter().rev().map(|&discs| discs as f32).collect();
        model.insert("discs", vec![done], discs);
        model.insert("win_scale", vec![1], vec![self.win_scale]);
        model
    }

    fn state(&self) -> Weights {
        self.model()
    }

    fn load(&mut self, state: &Weights, done: u64) -> Result<(), StagewiseError> {
        let (stages, count) = (done as usize, self.features.count());
        let weights = state.get("weights", &[stages, count])?;
        self.weights = weights.chunks(count).rev().map(<[f32]>::to_vec).collect();
        self.win_scale = state.get("win_scale", &[1])?[0];
        Ok(())
    }
}

fn method(error: impl std::error::Error + Send + Sync + 'static) -> StagewiseError {
    StagewiseError::Method(Box::new(error))
}
