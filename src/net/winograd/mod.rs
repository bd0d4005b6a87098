//! 3x3 convolutions over a whole board at once, after Winograd: one product of matrices for each
//! of `(width + 2)^2` points instead of nine for each of the board's squares.
//!
//! A filter and a board are polynomials in two variables. Both are evaluated at a grid of points,
//! multiplied there, and the product is interpolated: 100 products on 8x8, where the sum over
//! taps takes 484. What the evaluation costs is linear in the channels, what it saves is
//! quadratic. (Lavin and Gray 2016, "Fast algorithms for convolutional neural networks"; here a
//! polynomial covers the whole board, so that there are no tiles and no overlap.)
//!
//! All numbers are float32. With the points of [`points`] an output differs from the sum over
//! taps by some 1e-5 of its size (1e-4 on boards of ten rows), a hundredth of what a computation
//! in bf16 does.
//!
//! The unit of all of it is a vector of channels of one cell. Activations lie as
//! `[position][channel vector][cell]`, points as `[point][position][channel vector]`.
//!
//! | file | what |
//! |---|---|
//! | `points` | the points, and the matrices that follow from them |
//! | `transform` | boards and filters to points and back |
//! | `product` | products of matrices with their sums in registers |
//! | `workspace` | convolutions of a group of positions, forward and backward |

mod points;
pub(super) mod product;
mod transform;
mod workspace;

pub(super) use transform::{Board, Plane};
pub(super) use workspace::{Channels, Workspace};

/// Runs code with the constants of a board's width: rows, and pairs of points.
macro_rules! for_width {
    ($width:expr, $rows:ident, $pairs:ident => $code:expr) => {{
        macro_rules! with {
            ($r:literal, $p:literal) => {{
                const $rows: usize = $r;
                const $pairs: usize = $p;
                $code
            }};
        }
        match $width {
            6 => with!(6, 3),
            7 => with!(7, 4),
            8 => with!(8, 4),
            _ => with!(10, 5),
        }
    }};
}
pub(super) use for_width;

#[cfg(test)]
mod tests;
