//! The constants of a shape as run-time values.

use super::geometry::{Bitboard, Geometry, Shape};

/// The constants of a shape as run-time values, for code that is not generic over shapes.
///
/// ```
/// use outflank::game::{Shape, Square};
///
/// // For programs that know the board at run time only.
/// let layout = Shape::Octagon88.layout();
/// assert_eq!(layout.square_name(Square(0)), "c1", "the corners are cut off");
/// assert_eq!(layout.parse_square("j10"), None);
/// assert_eq!(layout.split_square("e10f4").map(|(_, rest)| rest), Some("f4"));
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Layout {
    /// The shape.
    pub shape: Shape,
    /// Columns, and rows, of the bounding box.
    pub width: usize,
    /// The distance between the bits of vertically neighbouring squares.
    pub stride: usize,
    /// The number of playable squares.
    pub squares: usize,
    /// The set of playable squares.
    pub playable: u128,
    /// For each square, the index of its bit.
    pub bit_of: Vec<u8>,
    /// For each square, its cell `row * width + column` in the bounding box.
    pub cell_of: Vec<u8>,
    /// For each symmetry, the image of each square.
    pub maps: [Vec<u8>; 8],
}

impl Layout {
    pub(super) fn of<G: Geometry>() -> Layout {
        let bit_of = G::BIT_OF[..G::SQUARES].to_vec();
        let cell = |&bit: &u8| {
            let bit = bit as usize;
            (bit / G::STRIDE * G::WIDTH + bit % G::STRIDE) as u8
        };
        Layout {
            shape: G::SHAPE,
            width: G::WIDTH,
            stride: G::STRIDE,
            squares: G::SQUARES,
            playable: G::PLAYABLE.widen(),
            cell_of: bit_of.iter().map(cell).collect(),
            bit_of,
            maps: (*G::MAPS).map(|map| map[..G::SQUARES].to_vec()),
        }
    }

    /// The number of cells of the bounding box: width times height.
    pub fn cells(&self) -> usize {
        self.width * self.width
    }
}
