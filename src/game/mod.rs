//! The rules of Othello on five boards. This module uses the standard library only.
//!
//! A board shape is a zero-sized type that implements [`Geometry`], such as [`Square8`]. All code
//! below the command line is generic over it, so that masks and strides are compile-time
//! constants. [`Shape`] is the shape as a run-time value. The program turns it into the type once,
//! at the start of a command, with [`dispatch!`](crate::dispatch).

// The first module, so that the others can use its macro `dispatch!`.
#[macro_use]
mod geometry;

mod board;
mod kernel;
mod lanes;
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
    Bitboard, Cross92, Geometry, Layout, MAX_SQUARES, Octagon88, Shape, Square, Square6, Square7,
    Square8, UnknownShape,
};
pub use rules::{Goal, ScoreRule};
pub use symmetry::Symmetry;
