//! Compares transforms and products with direct sums.

use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::product::{Rows, add_transposed, multiply};
use super::transform::ZERO_SCRATCH;
use super::*;
use crate::net::vector::{LANES, Vector, flat, flat_mut, vectors};

fn random(count: usize, random: &mut impl Rng) -> Vec<Vector> {
    (0..count)
        .map(|_| Vector::new(std::array::from_fn(|_| random.random_range(-1.0..1.0))))
        .collect()
}

fn dot(a: &[Vector], b: &[Vector]) -> f64 {
    flat(a).iter().zip(flat(b)).map(|(&a, &b)| f64::from(a) * f64::from(b)).sum()
}

fn size(a: &[Vector]) -> f64 {
    dot(a, a).sqrt()
}

/// The direct convolution of one position of `W * W` cells of `depth` channel vectors. `taps` are
/// `[row][column][input][output vector]`.
fn direct<const W: usize>(cells: &[Vector], taps: &[Vector], depth: usize) -> Vec<Vector> {
    let inputs = depth * LANES;
    let (numbers, factors) = (flat(cells), flat(taps));
    let mut out = vec![Vector::ZERO; cells.len()];
    let sums = flat_mut(&mut out);
    for (row, column) in (0..W * W).map(|cell| (cell / W, cell % W)) {
        for (a, b) in (0..9).map(|tap| (tap / 3, tap % 3)) {
            let (Some(from_row), Some(from)) =
                ((row + a).checked_sub(1), (column + b).checked_sub(1))
            else {
                continue;
            };
            if from_row >= W || from >= W {
                continue;
            }
            for input in 0..inputs {
                let number = numbers[(from_row * W + from) * inputs + input];
                for output in 0..inputs {
                    let factor = factors[((a * 3 + b) * inputs + input) * inputs + output];
                    sums[(row * W + column) * inputs + output] += number * factor;
                }
            }
        }
    }
    out
}

/// The plane of channel vector `c`.
fn plane_of<const W: usize>(cells: &[Vector], depth: usize, c: usize) -> Plane<W> {
    std::array::from_fn(|row| std::array::from_fn(|column| cells[(row * W + column) * depth + c]))
}

fn convolves<const W: usize, const PAIRS: usize>(tolerance: f64) {
    let mut source = Xoshiro256PlusPlus::seed_from_u64(1);
    let (depth, positions) = (2, 3);
    let mut workspace = Workspace::<W, PAIRS>::new(positions, depth);
    let (cells, inputs) = (W * W * depth, depth * LANES);
    let channels = Channels { inputs, outputs: depth };
    let boards = random(positions * cells, &mut source);
    let taps = random(9 * channels.size(), &mut source);
    let mut filter = vec![Vector::ZERO; BoardTransform::<W, PAIRS>::POINTS * channels.size()];
    workspace.board().filter(&taps, &mut filter, channels.size());
    let mut found = vec![Vector::ZERO; boards.len()];
    workspace.convolve(
        &filter[..],
        channels,
        positions,
        |position, c, plane| *plane = plane_of(&boards[position * cells..], depth, c),
        |position, c, plane| {
            for (cell, sum) in plane.as_flattened().iter().enumerate() {
                found[position * cells + cell * depth + c] = *sum;
            }
        },
    );
    for (found, board) in found.chunks_exact(cells).zip(boards.chunks_exact(cells)) {
        let wanted = direct::<W>(board, &taps, depth);
        let error: Vec<Vector> = found.iter().zip(&wanted).map(|(&a, &b)| a - b).collect();
        assert!(size(&error) < tolerance * size(&wanted), "{W}: {}", size(&error) / size(&wanted));
    }
}

#[test]
fn convolutions_agree_with_direct_sums() {
    convolves::<6, 3>(1e-5);
    convolves::<7, 4>(5e-5);
    convolves::<8, 4>(5e-5);
    convolves::<10, 5>(5e-4);
}

/// Checks that `a . F(b)` equals `F'(a) . b`, where `F'` is the transpose of `F`.
fn agree(left: f64, right: f64, size: f64, what: &str) {
    assert!((left - right).abs() < 1e-5 * size, "{what}: {left} and {right}");
}

fn transposes<const W: usize, const PAIRS: usize>() {
    let mut source = Xoshiro256PlusPlus::seed_from_u64(2);
    let (board, stride) = (BoardTransform::<W, PAIRS>::new(), 3);
    let count = (BoardTransform::<W, PAIRS>::POINTS - 1) * stride + 1;
    let cells = plane_of::<W>(&random(W * W, &mut source), 1, 0);
    // Vectors between the points belong to others: set them to 0.
    let mut points = random(count, &mut source);
    points.iter_mut().enumerate().for_each(|(index, point)| {
        *point *= Vector::splat((index % stride == 0) as u8 as f32);
    });
    let mut scratch = ZERO_SCRATCH;
    let (mut to, mut back) = (vec![Vector::ZERO; count], cells);
    let same = |to: &[Vector], back: &Plane<W>, what| {
        let (left, right) = (dot(&points, to), dot(cells.as_flattened(), back.as_flattened()));
        agree(left, right, size(&points) * size(to), what);
    };
    board.inputs(&cells, &mut to, stride, &mut scratch);
    board.input_gradients(&points, stride, &mut back, &mut scratch);
    same(&to, &back, "inputs");
    board.output_gradients(&cells, &mut to, stride, &mut scratch);
    board.outputs(&points, stride, &mut back, &mut scratch);
    same(&to, &back, "outputs");
    let taps = random(9 * 5, &mut source);
    let points = random(BoardTransform::<W, PAIRS>::POINTS * 5, &mut source);
    let (mut to, mut back) = (vec![Vector::ZERO; points.len()], vec![Vector::ZERO; taps.len()]);
    board.filter(&taps, &mut to, 5);
    board.filter_gradients(&points, &mut back, 5);
    agree(dot(&points, &to), dot(&taps, &back), size(&points) * size(&to), "filter");
}

#[test]
fn gradient_transforms_are_transposes() {
    transposes::<6, 3>();
    transposes::<7, 4>();
    transposes::<8, 4>();
    transposes::<10, 5>();
}

#[test]
fn products_agree_with_direct_sums() {
    let mut source = Xoshiro256PlusPlus::seed_from_u64(3);
    for (rows, depth, columns) in [(1, 1, 1), (7, 4, 3), (16, 32, 2), (13, 33, 5), (8, 64, 4)] {
        let stride = vectors(depth) * LANES;
        let left = random(rows * vectors(depth), &mut source);
        let right = random(rows.max(depth) * columns, &mut source);
        let old = random(rows.max(depth) * columns, &mut source);
        let numbers = Rows { numbers: flat(&left), stride };
        let (mut product, mut transposed) = (old.clone(), old.clone());
        multiply(numbers, &right, &mut product, (rows, depth, columns));
        add_transposed(numbers, &right, &mut transposed, (rows, depth, columns));
        let number = |row: usize, k: usize| f64::from(flat(&left)[row * stride + k]);
        for column in 0..columns * LANES {
            let factor = |row: usize| f64::from(flat(&right)[row * columns * LANES + column]);
            for row in 0..rows {
                let wanted: f64 = (0..depth).map(|k| number(row, k) * factor(k)).sum();
                let found = f64::from(flat(&product)[row * columns * LANES + column]);
                assert!((found - wanted).abs() < 1e-5, "{rows} {depth} {columns}");
            }
            for k in 0..depth {
                let sum: f64 = (0..rows).map(|row| number(row, k) * factor(row)).sum();
                let place = k * columns * LANES + column;
                let wanted = sum + f64::from(flat(&old)[place]);
                assert!((f64::from(flat(&transposed)[place]) - wanted).abs() < 1e-5);
            }
        }
    }
}
