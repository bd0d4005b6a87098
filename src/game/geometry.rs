//! Board shapes: the constants of each, and the machine word its squares live in.
//!
//! Bit `row * STRIDE + column` of a word is the square in that row and column, so that a1 is
//! bit 0. On every shape but 8x8 the stride exceeds the width: the spare columns are never
//! occupied, and a fill that runs over the edge of the board dies there instead of wrapping.
//! Holes inside the bounding box work the same way.

use std::fmt;
use std::hash::Hash;
use std::ops::{BitAnd, BitAndAssign, BitOr, BitOrAssign, BitXor, BitXorAssign, Not, Shl, Shr};
use std::str::FromStr;
use std::sync::LazyLock;

use super::lanes::{Lanes, NarrowLanes, WideLanes};

/// The most playable squares that any shape has.
pub const MAX_SQUARES: usize = 92;

/// The machine word that holds one bit for each square of a board.
pub trait Word:
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
    /// Several of these words side by side, for kernels that take many boards at once.
    type Lanes: Lanes<Self>;
    /// The word without a bit.
    const ZERO: Self;
    /// The word whose only bit is `index`.
    fn bit(index: usize) -> Self;
    /// How many bits are set.
    fn count(self) -> u32;
    /// The index of the lowest set bit; the width of the word when there is none.
    fn lowest(self) -> usize;
    /// The word without its lowest set bit.
    fn without_lowest(self) -> Self;
    /// The same bits in the widest word.
    fn widen(self) -> u128;
    /// The low bits of the widest word.
    fn narrow(wide: u128) -> Self;
    /// Whether no bit is set.
    fn is_zero(self) -> bool {
        self == Self::ZERO
    }
}

macro_rules! impl_word {
    ($word:ty, $lanes:ty) => {
        impl Word for $word {
            type Lanes = $lanes;
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
                wide as $word
            }
        }
    };
}
impl_word!(u64, NarrowLanes);
impl_word!(u128, WideLanes);

/// A playable square, by its number in reading order: a1 is 0, then along the first row.
///
/// Squares are numbered without gaps, so the number of a square is also its index in a policy
/// vector. On 8x8 it equals the index of its bit.
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
/// Implementors give the bounding box, the stride, the holes and the start position; the
/// tables follow from them at compile time.
pub trait Geometry: Copy + Default + Eq + Ord + Hash + Send + Sync + fmt::Debug + 'static {
    /// The word that a set of squares fits into.
    type Word: Word;
    /// The same shape as a run-time value.
    const SHAPE: Shape;
    /// Columns of the bounding box. All boards are square, so also its rows.
    const WIDTH: usize;
    /// Distance between the bits of vertically neighbouring squares.
    const STRIDE: usize;
    /// How many squares are playable.
    const SQUARES: usize;
    /// The set of playable squares.
    const PLAYABLE: Self::Word;
    /// The playable squares that a fill along a row or diagonal may pass over: without the
    /// outer columns where rows lie back to back (8x8), all of them elsewhere.
    const INNER: Self::Word;
    /// Black's discs at the start.
    const START_BLACK: Self::Word;
    /// White's discs at the start.
    const START_WHITE: Self::Word;
    /// The bit of each square number.
    const BIT_OF: &'static [u8; MAX_SQUARES];
    /// The square number of each bit; 255 where no square is.
    const SQUARE_OF: &'static [u8; 128];
    /// For each of the eight symmetries, where it takes each square number.
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

    /// The set that holds `square` alone.
    #[inline(always)]
    fn mask(square: Square) -> Self::Word {
        Self::Word::bit(Self::bit_of(square))
    }
}

const fn is_hole(hole: &[(usize, usize)], width: usize, row: usize, column: usize) -> bool {
    // Holes are listed for one corner region and mirrored four ways.
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

/// The bit set of four discs: a pair on a falling diagonal from (row, column) for white, the
/// other diagonal for black.
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
                type Word = $word;
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
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum Shape {
            $($(#[$doc])* $variant,)*
        }

        impl Shape {
            /// Every shape.
            pub const ALL: [Shape; 5] = [$(Shape::$variant,)*];

            /// The name that configurations and the command line use.
            pub fn name(self) -> &'static str {
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

        /// Runs a block with a type parameter bound to the geometry of a run-time [`Shape`](crate::game::Shape).
        ///
        /// `dispatch!(shape, G => perft::<G>(depth))` compiles the block once per shape and
        /// picks one. It belongs at the edge of the program, never inside a loop.
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
    /// The board of 49 squares; its start is off centre, for there is no central 2x2.
    Square7, Square7, "7x7", u64, width 7, stride 8, white 3 3, holes [];
    /// 10x10 less three squares at each corner: 88 squares (source B).
    Octagon88, Octagon88, "octagon88", u128, width 10, stride 11, white 4 4,
        holes [(0, 0), (0, 1), (1, 0)];
    /// 10x10 less the middle two squares of each side: 92 squares (source C, Perversi).
    Cross92, Cross92, "cross92", u128, width 10, stride 11, white 4 4,
        holes [(0, 4), (4, 0)];
}

/// A name that is no board shape.
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

/// A shape's constants as run-time values, for code that need not be compiled per shape.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Layout {
    /// Which shape this is.
    pub shape: Shape,
    /// Columns, and rows, of the bounding box.
    pub width: usize,
    /// Distance between the bits of vertically neighbouring squares.
    pub stride: usize,
    /// How many squares are playable.
    pub squares: usize,
    /// The set of playable squares.
    pub playable: u128,
    /// For each square, its bit.
    pub bit_of: Vec<u8>,
    /// For each square, its cell `row * width + column` in the bounding box.
    pub cell_of: Vec<u8>,
    /// For each symmetry, where it takes each square.
    pub maps: [Vec<u8>; 8],
}

impl Layout {
    fn of<G: Geometry>() -> Layout {
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

    /// Cells of the bounding box: width times height.
    pub fn cells(&self) -> usize {
        self.width * self.width
    }
}
