//! The features about corners, counted cell by cell.

use super::{Grid, cell};

const STEPS: [(i32, i32); 8] =
    [(0, 1), (1, 0), (0, -1), (-1, 0), (1, 1), (1, -1), (-1, -1), (-1, 1)];

pub(super) fn at_disc(grid: &Grid, (row, column): (i32, i32)) -> i32 {
    cell(grid, row, column).expect("a square")
}

fn squares_of(grid: &Grid) -> impl Iterator<Item = (i32, i32)> + '_ {
    let width = grid.len() as i32;
    let cells = (0..width).flat_map(move |row| (0..width).map(move |column| (row, column)));
    cells.filter(|&(row, column)| cell(grid, row, column).is_some())
}

/// The squares beside a square.
fn around(grid: &Grid, (row, column): (i32, i32)) -> Vec<(i32, i32)> {
    let beside = STEPS.map(|(down, right)| (row + down, column + right));
    beside.into_iter().filter(|&(row, column)| cell(grid, row, column).is_some()).collect()
}

/// The squares of which no line has neighbours on both sides.
pub(super) fn plain_corners(grid: &Grid) -> impl Iterator<Item = (i32, i32)> + '_ {
    squares_of(grid).filter(|&(row, column)| {
        let is_open = |(down, right): (i32, i32)| {
            cell(grid, row + down, column + right).is_some()
                && cell(grid, row - down, column - right).is_some()
        };
        !STEPS.into_iter().any(is_open)
    })
}

/// The discs beside corners on which there is `wanted(own)`, where `own` is the disc of the side
/// whose discs are counted.
pub(super) fn plain_beside_corners(grid: &Grid, wanted: impl Fn(i32) -> i32) -> f32 {
    let count = |own: i32| {
        let corners = plain_corners(grid).filter(|&at| at_disc(grid, at) == wanted(own));
        let mut beside: Vec<_> = corners.flat_map(|corner| around(grid, corner)).collect();
        beside.sort_unstable();
        beside.dedup();
        beside.into_iter().filter(|&at| at_disc(grid, at) == own).count() as f32
    };
    (count(1) - count(-1)) / (4 * plain_corners(grid).count()) as f32
}

/// The discs in rows along edges that begin at a corner; each edge is walked.
pub(super) fn plain_runs(grid: &Grid) -> f32 {
    let fewest = plain_corners(grid).map(|corner| around(grid, corner).len()).min();
    let ends = plain_corners(grid).filter(|&corner| Some(around(grid, corner).len()) == fewest);
    let (mut edges, mut runs) = (Vec::new(), Vec::new());
    for (row, column) in ends {
        for (down, right) in &STEPS[..4] {
            let squares = (0..).map(|n| (row + n * down, column + n * right));
            let edge = squares.take_while(|&(r, c)| {
                let sides = [(r + right, c + down), (r - right, c - down)];
                cell(grid, r, c).is_some()
                    && sides.into_iter().any(|(r, c)| cell(grid, r, c).is_none())
            });
            let edge: Vec<_> = edge.collect();
            let own = edge.first().map_or(0, |&end| at_disc(grid, end));
            if own != 0 {
                let run = edge.iter().take_while(|&&at| at_disc(grid, at) == own);
                runs.extend(run.map(|&at| (at, own)));
            }
            edges.extend(edge);
        }
    }
    edges.sort_unstable();
    edges.dedup();
    runs.sort_unstable();
    runs.dedup();
    runs.iter().map(|&(_, own)| own).sum::<i32>() as f32 / edges.len() as f32
}
