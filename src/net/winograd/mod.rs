//! Winograd's algorithm for 3x3 convolutions, applied to a whole board at once.
//!
//! A filter and a board are treated as polynomials in two variables. Both are evaluated at a grid
//! of `(width + 2)^2` points and multiplied there, and the product is interpolated. A convolution
//! then takes one matrix product per point: 100 on 8x8. A direct convolution takes one for each
//! square and each tap on the board: 484 on 8x8. The cost of the transforms is linear in the number
//! of channels, the saving is quadratic. (Lavin and Gray 2016, "Fast algorithms for convolutional
//! neural networks". Here one polynomial covers the whole board, so the board is not split into
//! overlapping tiles.)
//!
//! All numbers are float32. With the points of [`points`] an output differs from the direct sum by
//! about 1e-5 of its size (1e-4 on boards of ten rows), a hundredth of the error of bf16.
//!
//! All code works on channel vectors: a [`Vector`](super::vector::Vector) of channels of one cell.
//! Activations lie as `[position][channel vector][cell]`, numbers at the points as
//! `[point][position][channel vector]`.
//!
//! | file | content |
//! |---|---|
//! | `points` | the points, and the transform matrices computed from them |
//! | `transform` | transforms of boards and filters to the points and back |
//! | `product` | matrix products with sums in registers |
//! | `workspace` | convolutions of a group of positions, forward and backward |

mod points;
pub(super) mod product;
mod transform;
mod workspace;

pub(super) use transform::{BoardTransform, Plane};
pub(super) use workspace::{Channels, Workspace};

/// Runs code with a board's width as constants: the number of rows, and of pairs of points.
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
