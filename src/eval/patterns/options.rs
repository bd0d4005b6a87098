//! The options of a pattern model.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::eval::ModelError;
use crate::game::{Geometry, Goal};
use crate::model::{Description, Kind};

/// The options of a pattern model, as its description has them.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Options {
    /// The patterns, each as the names of its squares with blanks between them.
    pub patterns: Vec<String>,
}

impl Options {
    /// The description of a model with these options, before its training.
    pub fn description<G: Geometry>(&self, goal: Goal) -> Description {
        // Lists of texts are always JSON.
        let options = serde_json::to_value(self).unwrap_or_default();
        let (kind, shape) = (Kind::Patterns, G::SHAPE);
        Description { kind, shape, options, goal, positions: 0, steps: 0 }
    }

    /// Reads the options of a description.
    ///
    /// # Errors
    ///
    /// An option is missing, unknown or not allowed.
    pub fn read(options: &Value) -> Result<Options, ModelError> {
        let read = Options::deserialize(options);
        read.map_err(|error| ModelError::Options { problem: error.to_string().into() })
    }
}
