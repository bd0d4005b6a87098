//! The parameters of Multi-ProbCut for the positional evaluation.
//!
//! Fitted by least squares to 1,800 positions with 12 to 56 empty squares, searched to depths 0
//! to 10. The positions come from games of players that look one ply ahead and often err.
//! `cargo bench --bench probcut -- fit` generates the same positions every time and prints this
//! table. Offset and standard deviation are in units of the evaluation.

use std::borrow::Cow;

use crate::eval::probcut::{ProbCut, Regression};

const fn regression(
    stage: u32,
    shallow: u32,
    deep: u32,
    slope: f32,
    offset: f32,
    sigma: f32,
) -> Regression {
    Regression { stage, shallow, deep, slope, offset, sigma }
}

/// For the 8x8 board and [`Goal::Most`](crate::game::Goal::Most).
pub(super) static SQUARE8: ProbCut =
    ProbCut { empties_per_stage: 12, regressions: Cow::Borrowed(REGRESSIONS) };

#[rustfmt::skip]
const REGRESSIONS: &[Regression] = &[
    // 480 positions.
    regression(1, 0, 3, 1.046, 117.5, 487.7),
    regression(1, 1, 3, 1.029, 11.4, 340.4),
    regression(1, 0, 4, 1.070, 110.5, 574.2),
    regression(1, 2, 4, 1.033, 32.8, 304.9),
    regression(1, 0, 5, 1.092, 164.6, 649.0),
    regression(1, 1, 5, 1.075, 53.8, 524.7),
    regression(1, 0, 6, 1.122, 151.1, 698.0),
    regression(1, 2, 6, 1.084, 69.6, 469.9),
    regression(1, 0, 7, 1.158, 194.6, 806.0),
    regression(1, 1, 7, 1.141, 77.0, 691.6),
    regression(1, 3, 7, 1.113, 63.7, 530.7),
    regression(1, 0, 8, 1.193, 176.0, 881.3),
    regression(1, 2, 8, 1.154, 89.2, 677.9),
    regression(1, 4, 8, 1.121, 51.9, 537.1),
    regression(1, 0, 9, 1.225, 252.9, 955.3),
    regression(1, 3, 9, 1.179, 114.1, 694.5),
    regression(1, 0, 10, 1.271, 245.3, 1053.6),
    regression(1, 4, 10, 1.198, 112.5, 711.8),
    // 480 positions.
    regression(2, 0, 3, 1.025, 239.1, 413.4),
    regression(2, 1, 3, 1.022, 11.8, 265.1),
    regression(2, 0, 4, 1.042, 127.2, 460.6),
    regression(2, 2, 4, 1.033, 29.6, 243.7),
    regression(2, 0, 5, 1.060, 249.7, 515.7),
    regression(2, 1, 5, 1.056, 14.8, 401.2),
    regression(2, 0, 6, 1.090, 153.6, 570.1),
    regression(2, 2, 6, 1.083, 51.3, 378.2),
    regression(2, 0, 7, 1.115, 256.6, 612.8),
    regression(2, 1, 7, 1.111, 9.3, 506.6),
    regression(2, 3, 7, 1.097, -5.6, 341.0),
    regression(2, 0, 8, 1.139, 162.3, 672.8),
    regression(2, 2, 8, 1.135, 55.3, 486.4),
    regression(2, 4, 8, 1.107, 21.9, 331.3),
    regression(2, 0, 9, 1.174, 253.1, 715.3),
    regression(2, 3, 9, 1.159, -23.7, 450.4),
    regression(2, 0, 10, 1.202, 171.9, 753.7),
    regression(2, 4, 10, 1.170, 23.6, 411.6),
    // 480 positions.
    regression(3, 0, 3, 0.988, 355.8, 392.3),
    regression(3, 1, 3, 1.017, -39.6, 293.7),
    regression(3, 0, 4, 1.008, 67.1, 423.0),
    regression(3, 2, 4, 1.036, -0.3, 228.9),
    regression(3, 0, 5, 1.033, 344.6, 469.6),
    regression(3, 1, 5, 1.062, -68.6, 387.6),
    regression(3, 0, 6, 1.053, 107.9, 496.7),
    regression(3, 2, 6, 1.085, 37.8, 320.9),
    regression(3, 0, 7, 1.068, 344.1, 530.6),
    regression(3, 1, 7, 1.099, -83.4, 451.8),
    regression(3, 3, 7, 1.098, -43.7, 253.2),
    regression(3, 0, 8, 1.084, 125.9, 562.7),
    regression(3, 2, 8, 1.122, 54.3, 390.8),
    regression(3, 4, 8, 1.099, 56.2, 234.5),
    regression(3, 0, 9, 1.115, 342.6, 603.5),
    regression(3, 3, 9, 1.154, -63.6, 330.2),
    regression(3, 0, 10, 1.131, 154.2, 634.4),
    regression(3, 4, 10, 1.157, 82.7, 301.0),
    // 360 positions.
    regression(4, 0, 3, 0.836, 370.4, 306.0),
    regression(4, 1, 3, 0.955, 14.2, 215.3),
    regression(4, 0, 4, 0.891, -18.7, 322.3),
    regression(4, 2, 4, 0.955, 4.3, 192.6),
    regression(4, 0, 5, 0.889, 353.0, 325.5),
    regression(4, 1, 5, 0.976, -11.5, 263.2),
    regression(4, 0, 6, 0.907, -24.5, 347.8),
    regression(4, 2, 6, 0.973, -1.0, 226.8),
    regression(4, 0, 7, 0.915, 330.8, 343.3),
    regression(4, 1, 7, 1.003, -44.0, 282.1),
    regression(4, 3, 7, 1.041, -55.3, 182.7),
    regression(4, 0, 8, 0.903, -23.6, 361.3),
    regression(4, 2, 8, 0.966, -0.4, 251.1),
    regression(4, 4, 8, 1.011, -4.8, 159.8),
    regression(4, 0, 9, 0.933, 318.5, 370.5),
    regression(4, 3, 9, 1.070, -78.5, 211.5),
    regression(4, 0, 10, 0.947, -2.6, 384.6),
    regression(4, 4, 10, 1.056, 17.1, 186.3),
];
