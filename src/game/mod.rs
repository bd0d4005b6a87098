//! The rules of Othello on five boards. Uses the standard library only.
//!
//! A board shape is a zero-sized type that implements [`Geometry`]; everything below the
//! command line is generic over it, so that masks and strides are constants in the compiled
//! code. [`Shape`] is the same choice made at run time, and [`dispatch!`](crate::dispatch)
//! leads from one to the other, once, at the edge of the program.

// First, so that `dispatch!` is in scope in what follows.
#[macro_use]
mod geometry;

mod around;
mod board;
mod kernel;
mod lanes;
pub mod notation;
pub mod perft;
pub mod record;
mod rules;
mod simd;
mod stability;
mod symmetry;

pub use board::{Board, Colour, Position, SquareSet};
pub use geometry::{
    Cross92, Geometry, Layout, MAX_SQUARES, Octagon88, Shape, Square, Square6, Square7, Square8,
    UnknownShape, Word,
};
pub use rules::{Goal, ScoreRule};
pub use symmetry::Symmetry;
