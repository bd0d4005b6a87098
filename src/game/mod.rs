//! The rules of Othello on five boards. This module uses the standard library only.
//!
//! A board shape is a zero-sized type that implements [`Geometry`], such as [`Square8`]. All code
//! below the command line is generic over it, so that masks and strides are compile-time
//! constants. [`Shape`] is the shape as a run-time value. The program turns it into the type once,
//! at the start of a command, with [`dispatch!`](crate::dispatch).
//!
//! ```
//! use outflank::dispatch;
//! use outflank::game::{Board, Colour, Goal, Position, Shape, Square8, notation, perft};
//!
//! let mut position = Position::<Square8>::start();
//! for name in ["f5", "f6", "e6"] {
//!     let square = notation::parse_square::<Square8>(name).expect("a square of the board");
//!     let after = position.play(square).expect("a legal move");
//!     position = after.pass_if_forced();
//! }
//! assert_eq!((position.side, position.board.discs()), (Colour::White, 7));
//! println!("{}", notation::diagram(position));
//!
//! // A board is seen from the side to move.
//! let Board { mine, theirs } = position.board;
//! assert_eq!((mine.count_ones(), theirs.count_ones()), (2, 5));
//! assert!(!position.board.is_over());
//! // If the game ended here, the winner would get the empty squares too.
//! assert_eq!(position.board.final_score(Goal::Most), -60);
//!
//! let shape: Shape = "octagon88".parse()?;
//! let leaves = dispatch!(shape, G => perft::count(Board::<G>::start(), 4));
//! assert_eq!(leaves, 244);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

// The first module, so that the others can use its macro `dispatch!`.
#[macro_use]
mod geometry;

mod board;
mod flippable;
mod kernel;
mod lanes;
mod layout;
pub mod notation;
pub mod perft;
pub mod record;
mod rules;
mod simd;
mod square_tables;
mod stability;
mod symmetry;

pub use board::{Board, Colour, Position, SquareSet};
pub use geometry::{
    Bitboard, Cross92, Geometry, MAX_SQUARES, Octagon88, Shape, Square, Square6, Square7, Square8,
    UnknownShape,
};
pub use layout::Layout;
pub use rules::{Goal, ScoreRule, UnknownGoal};
pub use symmetry::Symmetry;
