//! What a run needs of a method that trains a model stage by stage, without actors and without a
//! replay window.
//!
//! The work is a fixed list of units, for example one for each stage of the game, from the last to
//! the first. A unit is all or nothing: its result depends on the configuration, on its number and
//! on the units before it. Neither time nor the number of threads matters. So a run
//! that was killed does the unit again in which it was, and ends in the same model.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::eval::ModelError;
use crate::model::{Description, Weights, WeightsError};
use crate::store::labels::LabelsError;

/// Why training fails.
#[derive(Debug, thiserror::Error)]
pub enum StagewiseError {
    /// A saved state does not fit the configuration.
    #[error(transparent)]
    State(#[from] WeightsError),
    /// The labels of a run cannot be used.
    #[error(transparent)]
    Labels(#[from] LabelsError),
    /// A model does not fit the board.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The method failed.
    #[error(transparent)]
    Method(Box<dyn std::error::Error + Send + Sync>),
}

impl StagewiseError {
    /// A failure of the method.
    pub(super) fn method(error: impl std::error::Error + Send + Sync + 'static) -> Self {
        StagewiseError::Method(Box::new(error))
    }
}

/// How a unit is done: it can be told to stop, and it says how far it is.
pub struct UnitContext<'a> {
    folder: &'a Path,
    stop: &'a AtomicBool,
    progress: &'a (dyn Fn(f64) + Sync),
}

impl<'a> UnitContext<'a> {
    /// A unit that ends if `stop` is set. `progress` gets the share of the unit that is done, 0 to
    /// 1, from any thread. `folder` exists, and is that of the run.
    pub fn new(folder: &'a Path, stop: &'a AtomicBool, progress: &'a (dyn Fn(f64) + Sync)) -> Self {
        UnitContext { folder, stop, progress }
    }

    /// The folder where a unit may keep files for later units. A unit that is done again writes the
    /// same files.
    pub fn folder(&self) -> &Path {
        self.folder
    }

    /// Whether the unit must end now, without a result.
    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Reports the share of the unit that is done, 0 to 1.
    pub fn report(&self, share: f64) {
        (self.progress)(share);
    }
}

/// What a unit has done.
#[derive(Clone, PartialEq, Debug)]
pub struct UnitReport {
    /// The unit and its result in words, such as `54 discs: sigma 9.21`.
    pub name: String,
    /// Games that were played or read for it.
    pub games: u64,
    /// Positions that were scored for it.
    pub positions: u64,
    /// Values of curves with their names, such as `stage/sigma`.
    pub curves: Vec<(String, f64)>,
}

/// Trains one model, unit by unit. It uses the threads of rayon's current pool.
pub trait StagewiseLearner: Send {
    /// The description of the model; its counters are 0.
    fn description(&self) -> Description;

    /// The number of units of the whole training, at least 1.
    fn units(&self) -> u64;

    /// Does the unit of this number, counted from 0. All units before it are done. Its chance comes
    /// from the seed of the run and from the number.
    ///
    /// `None` if it was stopped; the learner is then as before the call.
    ///
    /// # Errors
    ///
    /// The method failed; the learner may not be used any more.
    fn train_unit(
        &mut self,
        unit: u64,
        context: &UnitContext<'_>,
    ) -> Result<Option<UnitReport>, StagewiseError>;

    /// The model after the units so far, of which there is at least one.
    fn model(&self) -> Weights;

    /// Everything that the next unit needs of the earlier ones.
    fn state(&self) -> Weights;

    /// Continues from the state after the first `done` units.
    ///
    /// # Errors
    ///
    /// The state does not fit the configuration.
    fn load(&mut self, state: &Weights, done: u64) -> Result<(), StagewiseError>;
}
