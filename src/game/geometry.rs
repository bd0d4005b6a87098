//! Board shapes: the constants of each shape, and the integer type of its bitboards.
//!
//! Bit `row * STRIDE + column` of a bitboard is the square in that row and column; a1 is bit 0. On
//! every shape but 8x8 the stride exceeds the width. The spare columns are never occupied, so a
//! fill that runs over the edge of the board stops there and does not wrap to the next row. Holes
//! inside the bounding box work the same way.

use std::fmt;
use std::hash::Hash;
use std::ops::{BitAnd, BitAndAssign, BitOr, BitOrAssign, BitXor, BitXorAssign, Not, Shl, Shr};
use std::str::FromStr;
use std::sync::LazyLock;

use super::lanes::{BitboardVector, U64x8, U128x8};
use super::layout::Layout;

/// The greatest number of playable squares of any shape.
pub const MAX_SQUARES: usize = 92;

/// An unsigned integer with one bit for each square of a board.
pub trait Bitboard:
    Copy
    + Default
    + Eq
    + Ord
    + Hash
    + Send
    + Sync
    + fmt::Debug
    + fmt::LowerHex
    + BitAnd<Output = Self>
    + BitOr<Output = Self>
    + BitXor<Output = Self>
    + Not<Output = Self>
    + Shl<usize, Output = Self>
    + Shr<usize, Output = Self>
    + BitAndAssign
    + BitOrAssign
    + BitXorAssign
    + 'static
{
    /// A vector of these bitboards, for code that works on several boards at once.
    type Vector: BitboardVector<Self>;
    /// No bit set.
    const ZERO: Self;
    /// Only bit `index` set.
    fn bit(index: usize) -> Self;
    /// The number of set bits.
    fn count(self) -> u32;
    /// The index of the lowest set bit; the width of the integer if no bit is set.
    fn lowest(self) -> usize;
    /// The same bits without the lowest set one.
    fn without_lowest(self) -> Self;
    /// The same bits as `u128`.
    fn widen(self) -> u128;
    /// The low bits of a `u128`.
    fn narrow(wide: u128) -> Self;
    /// Whether no bit is set.
    fn is_zero(self) -> bool {
        self == Self::ZERO
    }
}

macro_rules! impl_bitboard {
    ($bits:ty, $vector:ty) => {
        impl Bitboard for $bits {
            type Vector = $vector;
            const ZERO: Self = 0;
            #[inline(always)]
            fn bit(index: usize) -> Self {
                1 << index
            }
            #[inline(always)]
            fn count(self) -> u32 {
                self.count_ones()
            }
            #[inline(always)]
            fn lowest(self) -> usize {
                self.trailing_zeros() as usize
            }
            #[inline(always)]
            fn without_lowest(self) -> Self {
                self & self.wrapping_sub(1)
            }
            #[inline(always)]
            fn widen(self) -> u128 {
                self as u128
            }
            #[inline(always)]
            fn narrow(wide: u128) -> Self {
                wide as $bits
            }
        }
    };
}
impl_bitboard!(u64, U64x8);
impl_bitboard!(u128, U128x8);

/// A playable square, by its number in reading order: a1 is 0, then b1 and so on.
///
/// Squares are numbered without gaps, so the number is also the index in a policy vector. On 8x8
/// it equals the index of the bit.
///
/// ```
/// use outflank::game::{Square, Square6, Square8, notation};
///
/// // The number of a square depends on the shape: f5 is in the fifth row.
/// assert_eq!(notation::parse_square::<Square8>("f5"), Some(Square(4 * 8 + 5)));
/// assert_eq!(notation::parse_square::<Square6>("f5"), Some(Square(4 * 6 + 5)));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Square(pub u8);

impl Square {
    /// The number as an array index.
    #[inline(always)]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A board shape as a zero-sized type.
///
/// The macro `shapes!` of this file implements it from the bounding box, the stride, the holes and
/// the start position. The tables are computed at compile time.
///
/// ```
/// use outflank::game::{Board, Cross92, Geometry, Square8};
///
/// /// Code for all shapes takes the shape as a type parameter.
/// fn first_empties<G: Geometry>() -> (usize, u32) {
///     (G::SQUARES, Board::<G>::start().empties())
/// }
/// assert_eq!(first_empties::<Square8>(), (64, 60));
/// assert_eq!(first_empties::<Cross92>(), (92, 88));
/// ```
pub trait Geometry: Copy + Default + Eq + Ord + Hash + Send + Sync + fmt::Debug + 'static {
    /// The integer type of a set of squares.
    type Bitboard: Bitboard;
    /// The same shape as a run-time value.
    const SHAPE: Shape;
    /// Columns, and rows, of the bounding box, which is always square.
    const WIDTH: usize;
    /// The distance between the bits of vertically neighbouring squares.
    const STRIDE: usize;
    /// The number of playable squares.
    const SQUARES: usize;
    /// The set of playable squares.
    const PLAYABLE: Self::Bitboard;
    /// The playable squares that a fill along a row or diagonal may pass over. On 8x8, which has no
    /// spare columns between rows, the outer columns are left out; on other shapes it is all
    /// squares.
    const INNER: Self::Bitboard;
    /// Black's discs at the start.
    const START_BLACK: Self::Bitboard;
    /// White's discs at the start.
    const START_WHITE: Self::Bitboard;
    /// The bit of each square number.
    const BIT_OF: &'static [u8; MAX_SQUARES];
    /// The square number of each bit; 255 if there is no square.
    const SQUARE_OF: &'static [u8; 128];
    /// For each of the eight symmetries, the image of each square number.
    const MAPS: &'static [[u8; MAX_SQUARES]; 8];

    /// The bit index of `square`.
    #[inline(always)]
    fn bit_of(square: Square) -> usize {
        if Self::SQUARES == 64 {
            return square.index();
        }
        Self::BIT_OF[square.index()] as usize
    }

    /// The square at bit index `bit`, which must be playable.
    #[inline(always)]
    fn square_at(bit: usize) -> Square {
        if Self::SQUARES == 64 {
            return Square(bit as u8);
        }
        Square(Self::SQUARE_OF[bit])
    }

    /// The set of `square` alone.
    #[inline(always)]
    fn mask(square: Square) -> Self::Bitboard {
        Self::Bitboard::bit(Self::bit_of(square))
    }
}

const fn is_hole(hole: &[(usize, usize)], width: usize, row: usize, column: usize) -> bool {
    // Holes are listed for the upper left quarter and mirrored to the others.
    let (r, c) = (
        if row * 2 >= width { width - 1 - row } else { row },
        if column * 2 >= width { width - 1 - column } else { column },
    );
    let mut i = 0;
    while i < hole.len() {
        if hole[i].0 == r && hole[i].1 == c {
            return true;
        }
        i += 1;
    }
    false
}

const fn playable(width: usize, stride: usize, holes: &[(usize, usize)]) -> u128 {
    let mut set = 0;
    let mut row = 0;
    while row < width {
        let mut column = 0;
        while column < width {
            if !is_hole(holes, width, row, column) {
                set |= 1 << (row * stride + column);
            }
            column += 1;
        }
        row += 1;
    }
    set
}

const fn inner(width: usize, stride: usize, playable: u128) -> u128 {
    if stride > width {
        return playable;
    }
    let mut set = playable;
    let mut row = 0;
    while row < width {
        set &= !(1 << (row * stride) | 1 << (row * stride + width - 1));
        row += 1;
    }
    set
}

const fn bit_of(playable: u128) -> [u8; MAX_SQUARES] {
    let mut table = [255; MAX_SQUARES];
    let (mut bit, mut square) = (0, 0);
    while bit < 128 {
        if playable >> bit & 1 == 1 {
            table[square] = bit as u8;
            square += 1;
        }
        bit += 1;
    }
    table
}

const fn square_of(playable: u128) -> [u8; 128] {
    let mut table = [255; 128];
    let (mut bit, mut square) = (0, 0);
    while bit < 128 {
        if playable >> bit & 1 == 1 {
            table[bit] = square;
            square += 1;
        }
        bit += 1;
    }
    table
}

/// Symmetry `k` mirrors the columns if bit 0 is set, then the rows if bit 1 is set, then
/// transposes if bit 2 is set.
const fn maps(width: usize, stride: usize, playable: u128) -> [[u8; MAX_SQUARES]; 8] {
    let (bit_of, square_of) = (bit_of(playable), square_of(playable));
    let mut table = [[255; MAX_SQUARES]; 8];
    let mut k = 0;
    while k < 8 {
        let mut square = 0;
        while square < playable.count_ones() as usize {
            let bit = bit_of[square] as usize;
            let (mut row, mut column) = (bit / stride, bit % stride);
            if k & 1 != 0 {
                column = width - 1 - column;
            }
            if k & 2 != 0 {
                row = width - 1 - row;
            }
            if k & 4 != 0 {
                (row, column) = (column, row);
            }
            table[k][square] = square_of[row * stride + column];
            square += 1;
        }
        k += 1;
    }
    table
}

/// Black's and white's discs at the start. White has (row, column) and the square diagonally below
/// it to the right; black has the other two squares of the four.
const fn start(stride: usize, row: usize, column: usize) -> (u128, u128) {
    let white = 1u128 << (row * stride + column) | 1u128 << ((row + 1) * stride + column + 1);
    let black = 1u128 << (row * stride + column + 1) | 1u128 << ((row + 1) * stride + column);
    (black, white)
}

macro_rules! shapes {
    ($($(#[$doc:meta])* $geometry:ident, $variant:ident, $name:literal, $word:ty,
       width $width:literal, stride $stride:literal, white $row:literal $column:literal,
       holes $holes:expr;)*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
            pub struct $geometry;

            impl Geometry for $geometry {
                type Bitboard = $word;
                const SHAPE: Shape = Shape::$variant;
                const WIDTH: usize = $width;
                const STRIDE: usize = $stride;
                const SQUARES: usize = Self::PLAYABLE.count_ones() as usize;
                const PLAYABLE: $word = playable($width, $stride, &$holes) as $word;
                const INNER: $word = inner($width, $stride, Self::PLAYABLE as u128) as $word;
                const START_BLACK: $word = start($stride, $row, $column).0 as $word;
                const START_WHITE: $word = start($stride, $row, $column).1 as $word;
                const BIT_OF: &'static [u8; MAX_SQUARES] = &bit_of(Self::PLAYABLE as u128);
                const SQUARE_OF: &'static [u8; 128] = &square_of(Self::PLAYABLE as u128);
                const MAPS: &'static [[u8; MAX_SQUARES]; 8] =
                    &maps($width, $stride, Self::PLAYABLE as u128);
            }
        )*

        /// A board shape chosen at run time.
        ///
        /// ```
        /// use outflank::game::Shape;
        ///
        /// let shape: Shape = "octagon88".parse()?;
        /// assert_eq!((shape, shape.layout().width), (Shape::Octagon88, 10));
        /// let names = Shape::ALL.map(Shape::name);
        /// assert_eq!(names, ["8x8", "6x6", "7x7", "octagon88", "cross92"]);
        /// let error = "9x9".parse::<Shape>().expect_err("no such board");
        /// assert!(error.to_string().contains("allowed: 8x8, 6x6"));
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum Shape {
            $($(#[$doc])* $variant,)*
        }

        impl Shape {
            /// Every shape.
            pub const ALL: [Shape; 5] = [$(Shape::$variant,)*];

            /// The name that configurations and the command line use.
            pub const fn name(self) -> &'static str {
                match self { $(Shape::$variant => $name,)* }
            }

            /// The constants of this shape as run-time values.
            pub fn layout(self) -> &'static Layout {
                match self {
                    $(Shape::$variant => {
                        static LAYOUT: LazyLock<Layout> = LazyLock::new(Layout::of::<$geometry>);
                        &LAYOUT
                    })*
                }
            }
        }

        /// Evaluates an expression with a type name bound to the geometry of a run-time
        /// [`Shape`](crate::game::Shape).
        ///
        /// The expression is compiled once for each shape, and one is selected at run time. Use it
        /// at the start of a command, never inside a loop.
        ///
        /// ```
        /// use outflank::dispatch;
        /// use outflank::game::{Position, Shape};
        ///
        /// let shape: Shape = "octagon88".parse()?;
        /// let moves = dispatch!(shape, G => Position::<G>::start().board.legal().len());
        /// assert_eq!(moves, 4);
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        #[macro_export]
        macro_rules! dispatch {
            ($shape:expr, $g:ident => $body:expr) => {
                match $shape {
                    $($crate::game::Shape::$variant => {
                        type $g = $crate::game::$geometry;
                        $body
                    })*
                }
            };
        }
    };
}

shapes! {
    /// The standard board of 64 squares.
    Square8, Square8, "8x8", u64, width 8, stride 8, white 3 3, holes [];
    /// The board of 36 squares; solved: the second player wins by 4.
    Square6, Square6, "6x6", u64, width 6, stride 8, white 2 2, holes [];
    /// The board of 49 squares. An odd board has no central 2x2, so its start is off centre.
    Square7, Square7, "7x7", u64, width 7, stride 8, white 3 3, holes [];
    /// 10x10 less three squares at each corner: 88 squares (Engel).
    Octagon88, Octagon88, "octagon88", u128, width 10, stride 11, white 4 4,
        holes [(0, 0), (0, 1), (1, 0)];
    /// 10x10 less the middle two squares of each side: 92 squares (Wang, Eisenberg and Vadera,
    /// Perversi).
    Cross92, Cross92, "cross92", u128, width 10, stride 11, white 4 4,
        holes [(0, 4), (4, 0)];
}

/// The error for a name that no board shape has.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnknownShape {
    /// The name as given.
    pub name: Box<str>,
}

impl fmt::Display for UnknownShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown board shape `{}`; allowed:", self.name)?;
        for (i, shape) in Shape::ALL.into_iter().enumerate() {
            write!(f, "{} {shape}", if i == 0 { "" } else { "," })?;
        }
        Ok(())
    }
}

impl std::error::Error for UnknownShape {}

impl FromStr for Shape {
    type Err = UnknownShape;

    fn from_str(name: &str) -> Result<Shape, UnknownShape> {
        Shape::ALL
            .into_iter()
            .find(|shape| shape.name() == name)
            .ok_or_else(|| UnknownShape { name: name.into() })
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
