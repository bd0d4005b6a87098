//! Reads models, and makes what computes with them. Every kind of model is opened here.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::inputs::{self, InputsError};
use crate::eval::{self, AnyEvaluator};
use crate::game::{Geometry, Goal, Shape};
use crate::model::{Description, Kind, Weights, WeightsError};
use crate::net::NetSpec;
use crate::net::inference;
use crate::predict::{Backend, EvaluatorBackend, PredictError};
use crate::store::checkpoint::{self, CheckpointError, ModelLocation};
use crate::store::model_file::{ModelFile, ModelFileError};
use crate::store::run_dir::CHECKPOINTS;

/// Why a model cannot play.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// There is no checkpoint.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// The file is damaged or not a model file.
    #[error(transparent)]
    File(#[from] ModelFileError),
    /// The file's description of the model cannot be read.
    #[error("{}: the model's description cannot be read: {problem}", path.display())]
    Description {
        /// The file.
        path: PathBuf,
        /// The error.
        problem: serde_json::Error,
    },
    /// The weights cannot be read.
    #[error("{}: {problem}", path.display())]
    Weights {
        /// The file.
        path: PathBuf,
        /// The error.
        problem: WeightsError,
    },
    /// The model is for another board.
    #[error("{}: the model is for board {found}, not {wanted}", path.display())]
    OtherBoard {
        /// The file.
        path: PathBuf,
        /// The model's board.
        found: Shape,
        /// The match's.
        wanted: Shape,
    },
    /// The model is for the other goal.
    #[error("{}: the model is for goal `{found}`, not `{wanted}`", path.display())]
    OtherGoal {
        /// The file.
        path: PathBuf,
        /// The model's goal.
        found: Goal,
        /// The match's.
        wanted: Goal,
    },
    /// The evaluator of a net's inputs cannot be used.
    #[error("{}: {problem}", path.display())]
    Inputs {
        /// The net's file.
        path: PathBuf,
        /// The error.
        problem: Box<InputsError>,
    },
    /// The model cannot be used as an evaluator.
    #[error("{}: {problem}", path.display())]
    Evaluator {
        /// The file.
        path: PathBuf,
        /// The error.
        problem: eval::ModelError,
    },
    /// The model cannot be computed.
    #[error("{}: {problem}", path.display())]
    Backend {
        /// The file.
        path: PathBuf,
        /// The error.
        problem: PredictError,
    },
}

/// A model that was read and checked.
///
/// ```
/// use outflank::game::{Board, Goal, Shape, Square6};
/// use outflank::players::models::LoadedModel;
/// use outflank::store::shipped;
///
/// let folder = shipped::patterns(Shape::Square6, Goal::Most).expect("a model of the source tree");
/// let model = LoadedModel::read(&folder)?;
/// assert_eq!((model.description.shape, model.net().is_none()), (Shape::Square6, true));
/// assert!(model.evaluator::<Square6>()?.score(Board::start()).is_finite());
/// // A model is for one goal.
/// assert!(model.for_match(Shape::Square6, Goal::Fewest).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct LoadedModel {
    /// What it is, and what it was trained for.
    pub description: Description,
    /// The file or checkpoint folder in which it was found.
    pub path: PathBuf,
    form: Form,
    weights: Arc<Weights>,
    fingerprint: u32,
    weights_checksum: String,
}

/// A model's kind, with what its description says of it.
#[derive(Clone, PartialEq, Debug)]
enum Form {
    Net(NetSpec),
    /// An evaluator of alpha-beta.
    Evaluator,
}

/// Why a description does not say what a model is.
#[derive(Debug, thiserror::Error)]
enum FormError {
    #[error(transparent)]
    Options(#[from] serde_json::Error),
    #[error(transparent)]
    Inputs(#[from] InputsError),
}

impl FormError {
    fn at(self, path: PathBuf) -> LoadError {
        match self {
            FormError::Options(problem) => LoadError::Description { path, problem },
            FormError::Inputs(problem) => LoadError::Inputs { path, problem: Box::new(problem) },
        }
    }
}

impl Form {
    /// Reads the options of a description, for a model that lies at `near`. Options that older
    /// versions did not write are added to it.
    fn read(description: &mut Description, near: Option<&Path>) -> Result<Form, FormError> {
        match description.kind {
            Kind::Net => {
                let spec = inputs::complete(NetSpec::of(description)?, description.goal, near)?;
                description.options = spec.description(description.goal).options;
                Ok(Form::Net(spec))
            }
            _ => Ok(Form::Evaluator),
        }
    }
}

impl LoadedModel {
    /// Reads the model at a path: a model file, a checkpoint or a run directory.
    ///
    /// # Errors
    ///
    /// There is no model, or it is damaged.
    pub fn read(path: &Path) -> Result<LoadedModel, LoadError> {
        let found = checkpoint::find(path)?;
        LoadedModel::of(&ModelFile::read(&found.model_path())?, found)
    }

    /// The model of a file in memory, which is stored at `found`.
    ///
    /// # Errors
    ///
    /// It is damaged.
    pub fn of(file: &ModelFile, found: ModelLocation) -> Result<LoadedModel, LoadError> {
        let described = |problem| LoadError::Description { path: found.model_path(), problem };
        let mut description: Description =
            serde_json::from_value(file.description().clone()).map_err(described)?;
        // The evaluator of a net's inputs has none itself.
        let near = Some(found.model_path()).filter(|path| !path.ends_with(inputs::COPY));
        let form = Form::read(&mut description, near.as_deref());
        let form = form.map_err(|problem| problem.at(found.model_path()))?;
        let failed = |problem| LoadError::Weights { path: found.model_path(), problem };
        let (weights, _) = Weights::from_bytes(file.bytes()).map_err(failed)?;
        match &form {
            Form::Net(spec) => spec.check(&weights).map_err(failed)?,
            Form::Evaluator => dispatch!(description.shape, G => {
                evaluator::<G>(&description, &weights, &found.model_path()).map(drop)
            })?,
        }
        let weights = Arc::new(weights);
        let fingerprint = crc32fast::hash(file.bytes());
        let weights_checksum = file.weights_checksum();
        let path = match found {
            ModelLocation::File(path) | ModelLocation::Checkpoint(path) => path,
        };
        let (kind, steps) = (description.kind, description.steps);
        tracing::debug!(
            "{kind} {}: fingerprint {fingerprint:08x}, {steps} training steps",
            path.display()
        );
        Ok(LoadedModel { description, path, form, weights, fingerprint, weights_checksum })
    }

    /// Checks that the model is for this board and goal.
    ///
    /// # Errors
    ///
    /// The model is for another board or goal.
    pub fn for_match(self, wanted: Shape, goal: Goal) -> Result<LoadedModel, LoadError> {
        let Description { shape, goal: own, .. } = self.description;
        let path = || self.path.clone();
        if shape != wanted {
            return Err(LoadError::OtherBoard { path: path(), found: shape, wanted });
        }
        if own != goal {
            return Err(LoadError::OtherGoal { path: path(), found: own, wanted: goal });
        }
        Ok(self)
    }

    /// Whether it predicts the final disc difference.
    pub fn has_score(&self) -> bool {
        match &self.form {
            Form::Net(spec) => spec.options.score_head,
            Form::Evaluator => true,
        }
    }

    /// The architecture, if it is a net.
    pub fn net(&self) -> Option<&NetSpec> {
        match &self.form {
            Form::Net(spec) => Some(spec),
            Form::Evaluator => None,
        }
    }

    /// The model as an evaluator of alpha-beta. The model must be for the board `G`.
    ///
    /// # Errors
    ///
    /// It is a net, or its arrays do not fit.
    pub fn evaluator<G: Geometry>(&self) -> Result<AnyEvaluator<G>, LoadError> {
        evaluator(&self.description, &self.weights, &self.path)
    }

    /// The weights.
    pub fn weights(&self) -> &Arc<Weights> {
        &self.weights
    }

    /// A backend with a copy of the model. Options and device are for nets.
    ///
    /// # Errors
    ///
    /// The device does not exist, or the weights do not fit the model.
    pub fn backend(
        &self,
        options: &inference::Options,
        device: &str,
    ) -> Result<Box<dyn Backend>, LoadError> {
        let opened = open_backend(&self.description, &self.weights, options, device);
        opened.map_err(|problem| LoadError::Backend { path: self.path.clone(), problem })
    }

    /// [`ModelFile::weights_checksum`], which identifies the model.
    pub fn weights_checksum(&self) -> &str {
        &self.weights_checksum
    }

    /// The path and a fingerprint of the file, which distinguishes the model from a later one at
    /// the same path.
    pub fn identity(&self) -> PathBuf {
        format!("{}#{:08x}", self.path.display(), self.fingerprint).into()
    }

    /// The run and training step of the model.
    pub fn origin(&self) -> Origin {
        let Description { steps, positions, .. } = self.description;
        let training = checkpoint::training_at(&self.path);
        Origin {
            run: run_name(&self.path),
            step: steps,
            positions: Some(positions),
            games: training.and_then(|(games, _)| games),
            minutes: training.map(|(_, minutes)| minutes),
            net: Some(self.weights_checksum.clone()),
        }
    }
}

/// The evaluator of a model that was read from `path`.
fn evaluator<G: Geometry>(
    description: &Description,
    weights: &Weights,
    path: &Path,
) -> Result<AnyEvaluator<G>, LoadError> {
    let found = AnyEvaluator::from_model(description, weights);
    found.map_err(|problem| LoadError::Evaluator { path: path.to_path_buf(), problem })
}

/// A backend with a copy of the model of this description with these weights.
///
/// # Errors
///
/// The description cannot be read, the device does not exist, or the weights do not fit.
pub fn open_backend(
    description: &Description,
    weights: &Weights,
    options: &inference::Options,
    device: &str,
) -> Result<Box<dyn Backend>, PredictError> {
    let form = Form::read(&mut description.clone(), None);
    match form.map_err(|problem| PredictError::Backend(problem.into()))? {
        Form::Net(spec) => Ok(inference::open(&spec, weights, options, device)?),
        Form::Evaluator => dispatch!(description.shape, G => {
            Ok(Box::new(EvaluatorBackend::<G>::new(description, weights)?))
        }),
    }
}

/// The name of a checkpoint's run, the same as in the run's own ladder: the name of the run
/// directory. For a net elsewhere it is the net's path.
fn run_name(path: &Path) -> String {
    let checkpoints = path.parent().filter(|dir| dir.ends_with(CHECKPOINTS));
    // The relative path `checkpoints` has no parent with a name.
    let run = checkpoints.and_then(|dir| std::path::absolute(dir).ok());
    let name = run.as_deref().and_then(Path::parent).and_then(Path::file_name);
    name.map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned())
}

/// The run and the training step of a player's net.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Origin {
    /// The name of the run, or the path of a net that belongs to no run.
    pub run: String,
    /// The training step.
    pub step: u64,
    /// Positions trained on or played, if known.
    pub positions: Option<u64>,
    /// Self-play games before this step, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub games: Option<u64>,
    /// Minutes of training before this step, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minutes: Option<f64>,
    /// The CRC-32 of the net's weights, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub net: Option<String>,
}

impl Origin {
    /// The same with the numbers of games and minutes of training.
    pub fn with_training(self, games: Option<u64>, minutes: Option<f64>) -> Origin {
        Origin { games, minutes, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_run_of_a_checkpoint_has_the_name_of_the_run_directory() {
        let here = std::env::current_dir().expect("a folder");
        let here = here.file_name().expect("a name").to_string_lossy().into_owned();
        for (path, name) in [
            ("/tmp/runs/long/checkpoints/step-00000500", "long"),
            ("runs/long/checkpoints/step-00000500", "long"),
            ("long/checkpoints/step-00000500", "long"),
            ("checkpoints/step-00000500", here.as_str()),
            ("checkpoints/8x8/net.safetensors", "checkpoints/8x8/net.safetensors"),
            ("net.safetensors", "net.safetensors"),
        ] {
            assert_eq!(run_name(Path::new(path)), name);
        }
    }
}
