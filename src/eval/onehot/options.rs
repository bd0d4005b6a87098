//! The options of a one-hot net.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::marks::Marks;
use crate::eval::ModelError;
use crate::game::{Geometry, Goal, Symmetry};
use crate::model::{Description, Kind};

/// The hidden units of a group.
pub const GROUP: usize = 2 * Symmetry::ALL.len();
/// The most hidden units.
pub const MAX_HIDDEN: usize = 256;

/// The options of a one-hot net, as its description has them.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Options {
    /// The hidden units: a multiple of [`GROUP`], up to [`MAX_HIDDEN`].
    pub hidden: usize,
    /// Whether frontier discs have marks of their own.
    pub frontier: bool,
    /// Whether stable discs have.
    pub stable: bool,
}

impl Options {
    /// The marks of the net.
    pub fn marks(&self) -> Marks {
        Marks::new(self.frontier, self.stable)
    }

    /// The description of a model with these options, before its training.
    pub fn description<G: Geometry>(&self, goal: Goal) -> Description {
        // Numbers and flags are always JSON.
        let options = serde_json::to_value(self).unwrap_or_default();
        let (kind, shape) = (Kind::OneHot, G::SHAPE);
        Description { kind, shape, options, goal, positions: 0, steps: 0 }
    }

    /// Reads the options of a description.
    ///
    /// # Errors
    ///
    /// An option is missing, unknown or not allowed.
    pub fn read(options: &Value) -> Result<Options, ModelError> {
        let refused = |problem: String| ModelError::Options { problem: problem.into() };
        let read = Options::deserialize(options).map_err(|error| refused(error.to_string()))?;
        let hidden = read.hidden;
        if !hidden.is_multiple_of(GROUP) || !(GROUP..=MAX_HIDDEN).contains(&hidden) {
            return Err(refused(format!(
                "hidden = {hidden}; allowed: a multiple of {GROUP}, {GROUP} to {MAX_HIDDEN}"
            )));
        }
        Ok(read)
    }
}
