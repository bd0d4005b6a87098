//! The options of an n-tuple model, and the tuples of each board.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::eval::ModelError;
use crate::eval::outline::{neighbour, with_turnable_lines};
use crate::game::{Bitboard, Geometry, Goal, Square, SquareSet, Symmetry, notation};
use crate::model::{Description, Kind};

/// The side of the blocks at the corners.
const BLOCK: isize = 3;

/// The options of an n-tuple model, as its description has them.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Options {
    /// The tuples, each as the names of its squares with blanks between them.
    pub tuples: Vec<String>,
    /// Whether the model counts stable discs.
    pub stable: bool,
}

impl Options {
    /// The options with the tuples of the n-tuple bot: all rows and columns, and blocks of 3x3 at the
    /// corners. On 8x8 these are four lines and one block with their images. A row with a gap is two
    /// lines.
    pub fn of_board<G: Geometry>(stable: bool) -> Options {
        let mut known = Vec::<SquareSet<G>>::new();
        let mut tuples = Vec::new();
        for squares in rows::<G>().into_iter().chain(blocks::<G>()) {
            let set = squares.iter().fold(G::Bitboard::ZERO, |set, &at| set | G::mask(at));
            let set = SquareSet::<G>(set);
            if Symmetry::ALL.iter().any(|symmetry| known.contains(&symmetry.set(set))) {
                continue;
            }
            known.push(set);
            let names: Vec<_> = squares.into_iter().map(notation::square_name::<G>).collect();
            tuples.push(names.join(" "));
        }
        Options { tuples, stable }
    }

    /// The description of a model with these options, before its training.
    pub fn description<G: Geometry>(&self, goal: Goal) -> Description {
        // Lists of texts and flags are always JSON.
        let options = serde_json::to_value(self).unwrap_or_default();
        let (kind, shape) = (Kind::NTuple, G::SHAPE);
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

fn squares<G: Geometry>() -> impl Iterator<Item = Square> {
    (0..G::SQUARES as u8).map(Square)
}

/// All rows of at least two squares without a gap.
fn rows<G: Geometry>() -> Vec<Vec<Square>> {
    let is_first = |&square: &Square| neighbour::<G>(square, (0, -1)).is_none();
    let row = |first| {
        std::iter::successors(Some(first), |&at| neighbour::<G>(at, (0, 1))).collect::<Vec<_>>()
    };
    squares::<G>().filter(is_first).map(row).filter(|row| row.len() > 1).collect()
}

/// All blocks that have a corner of the board at one of their corners.
fn blocks<G: Geometry>() -> Vec<Vec<Square>> {
    let corners = SquareSet::<G>(with_turnable_lines::<G>(0));
    let mut blocks = Vec::new();
    for corner in corners {
        for (down, right) in [(1, 1), (1, -1), (-1, 1), (-1, -1)] {
            let places = (0..BLOCK).flat_map(|row| (0..BLOCK).map(move |column| (row, column)));
            let square = |(row, column)| neighbour::<G>(corner, (row * down, column * right));
            blocks.extend(places.map(square).collect::<Option<Vec<_>>>());
        }
    }
    blocks
}
