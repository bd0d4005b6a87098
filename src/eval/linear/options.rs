//! The options of a linear model: its features, and what applies between two of its stages.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::choices::choices;
use crate::eval::ModelError;
use crate::game::{Geometry, Goal};
use crate::model::{Description, Kind};

choices! {
    /// A feature of a linear evaluator, or a family of features. All but the constant and the
    /// parity are differences: those of the side to move minus those of the opponent.
    pub enum Feature {
        /// The constant 1, for the side to move.
        #[default]
        Constant = "constant",
        /// Legal moves.
        Mobility = "mobility",
        /// Empty squares beside a side's discs, in any of the eight directions.
        Frontier = "frontier",
        /// 1 if the number of empty squares is odd, else -1. If it is odd and nobody passes, the
        /// side to move has the last move.
        Parity = "parity",
        /// Discs.
        Discs = "discs",
        /// The discs of a side that the opponent's legal moves turn, summed over the moves. A disc
        /// counts once for each move that turns it.
        Flippable = "flippable",
        /// For each class of squares, the discs on them. All symmetries of the board map the
        /// squares of a class onto each other. Classes are in the order of their first squares.
        Classes = "classes",
        /// The same with larger numbers of classes: only the two mirrors along the rows and the
        /// columns map the squares of a class onto each other.
        MirrorClasses = "mirror-classes",
        /// Discs, as a share of all discs.
        DiscShare = "disc-share",
        /// Legal moves, as a share of the empty squares beside a disc.
        MobilityShare = "mobility-share",
        /// Discs on corners, as a share of the corners. A disc on a corner can never turn.
        Corners = "corners",
        /// Discs beside empty corners, as a share of four for each corner.
        BesideEmptyCorners = "beside-empty-corners",
        /// Discs beside corners of the same side, as a share of four for each corner.
        BesideOwnCorners = "beside-own-corners",
        /// Discs in a row along an edge that begins at a corner, as a share of all squares of such
        /// edges. Only corners with the fewest neighbours count.
        CornerRuns = "corner-runs",
    }
}

impl Feature {
    /// Whether it is a family of numbers for classes of squares.
    pub fn is_of_squares(self) -> bool {
        matches!(self, Feature::Classes | Feature::MirrorClasses)
    }
}

choices! {
    /// The weights for a number of discs between those of two stages.
    pub enum Between {
        /// Interpolated linearly in the number of discs.
        #[default]
        Interpolated = "interpolated",
        /// Those of the stage with more discs.
        Larger = "larger",
    }
}

/// The options of a linear model, as its description has them.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Options {
    /// The features, in the order of their weights.
    pub features: Vec<Feature>,
    /// The weights between two stages.
    pub between: Between,
}

impl Default for Options {
    /// The options of a model whose description has none.
    fn default() -> Options {
        use Feature::{Classes, Constant, Discs, Frontier, Mobility, Parity};
        let features = vec![Constant, Mobility, Frontier, Parity, Discs, Classes];
        Options { features, between: Between::default() }
    }
}

impl Options {
    /// The description of a model with these options, before its training.
    pub fn description<G: Geometry>(&self, goal: Goal) -> Description {
        // Names and lists of names are always JSON.
        let options = serde_json::to_value(self).unwrap_or_default();
        let (kind, shape) = (Kind::Linear, G::SHAPE);
        Description { kind, shape, options, goal, positions: 0, steps: 0 }
    }

    /// Reads the options of a description; those of a description without any are the default.
    ///
    /// # Errors
    ///
    /// An option is missing, unknown or not allowed.
    pub fn read(options: &Value) -> Result<Options, ModelError> {
        if options.is_null() {
            return Ok(Options::default());
        }
        let read = Options::deserialize(options);
        read.map_err(|error| ModelError::Options { problem: error.to_string().into() })
    }
}
