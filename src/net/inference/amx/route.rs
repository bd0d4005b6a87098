//! The order in which the kernel convolves a board: squares in pairs, with the taps of each pair.

use crate::game::Layout;

/// No square: beyond the board, or the partner of the last square where their number is odd.
const NONE: usize = usize::MAX;

/// A tap that is on the board for both squares of a pair.
#[derive(Clone, Copy, Debug)]
pub(super) struct PairTap {
    /// The tap, 0 to 8, row by row.
    pub tap: usize,
    /// The input square for the first square of the pair.
    pub first: usize,
    /// The input square for the second square of the pair.
    pub second: usize,
}

/// A tap that is on the board for one square of a pair only.
#[derive(Clone, Copy, Debug)]
pub(super) struct SingleTap {
    /// The tap, 0 to 8, row by row.
    pub tap: usize,
    /// The input square.
    pub square: usize,
}

/// Two squares that are computed together: pair `p` is squares `2 p` and `2 p + 1`.
#[derive(Clone, Debug, Default)]
pub(super) struct Pair {
    /// Taps that are on the board for both squares.
    pub both: Vec<PairTap>,
    /// Taps that are on the board for the first square only.
    pub first: Vec<SingleTap>,
    /// Taps that are on the board for the second square only.
    pub second: Vec<SingleTap>,
}

/// How to extract the 3 x 3 bits around a square from a bit set.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    /// The first bit on the board. After a right shift by this the window lies within 64 bits.
    pub shift: u32,
    /// The shifted bits of the window that are on the board.
    pub bits: u64,
    /// The taps of these bits: bit `t` is set if tap `t` is on the board.
    pub taps: u64,
}

/// The squares of a board and their taps, in the order in which the kernel computes them.
#[derive(Clone, Debug)]
pub(super) struct Route {
    /// Squares of the board.
    pub squares: usize,
    /// The pairs, in the order of their squares.
    pub pairs: Vec<Pair>,
    /// The window of each square.
    pub windows: Vec<Window>,
    /// The cell of each square in the bounding square of the board.
    pub cells: Vec<usize>,
}

impl Route {
    /// The route of a board.
    pub(super) fn new(layout: &Layout) -> Route {
        let squares = layout.squares;
        let neighbours: Vec<[usize; 9]> =
            (0..squares).map(|square| neighbours(layout, square)).collect();
        let pairs = (0..squares.div_ceil(2)).map(|pair| {
            let second = neighbours.get(2 * pair + 1).copied().unwrap_or([NONE; 9]);
            pair_of(neighbours[2 * pair], second)
        });
        Route {
            squares,
            pairs: pairs.collect(),
            windows: (0..squares).map(|square| window(layout, square)).collect(),
            cells: layout.cell_of.iter().map(|&cell| cell as usize).collect(),
        }
    }
}

/// Row and column of the cell at a tap of a square. `None` beyond the bounding square.
fn cell(layout: &Layout, square: usize, tap: usize) -> Option<(usize, usize)> {
    let cell = layout.cell_of[square] as usize;
    let row = (cell / layout.width + tap / 3).checked_sub(1)?;
    let column = (cell % layout.width + tap % 3).checked_sub(1)?;
    (row < layout.width && column < layout.width).then_some((row, column))
}

fn neighbours(layout: &Layout, square: usize) -> [usize; 9] {
    std::array::from_fn(|tap| {
        let Some((row, column)) = cell(layout, square, tap) else { return NONE };
        let there = (row * layout.width + column) as u8;
        layout.cell_of.iter().position(|&cell| cell == there).unwrap_or(NONE)
    })
}

fn pair_of(first: [usize; 9], second: [usize; 9]) -> Pair {
    let mut pair = Pair::default();
    for (tap, (&first, &second)) in first.iter().zip(&second).enumerate() {
        match (first != NONE, second != NONE) {
            (true, true) => pair.both.push(PairTap { tap, first, second }),
            (true, false) => pair.first.push(SingleTap { tap, square: first }),
            (false, true) => pair.second.push(SingleTap { tap, square: second }),
            (false, false) => {}
        }
    }
    pair
}

fn window(layout: &Layout, square: usize) -> Window {
    let bits: Vec<(usize, usize)> = (0..9)
        .filter_map(|tap| {
            let (row, column) = cell(layout, square, tap)?;
            let bit = row * layout.stride + column;
            (layout.playable >> bit & 1 == 1).then_some((tap, bit))
        })
        .collect();
    let shift = bits[0].1;
    Window {
        shift: shift as u32,
        bits: bits.iter().fold(0, |set, &(_, bit)| set | 1 << (bit - shift)),
        taps: bits.iter().fold(0, |set, &(tap, _)| set | 1 << tap),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::Shape;

    #[test]
    fn every_tap_on_the_board_occurs_once() {
        for shape in Shape::ALL {
            let layout = shape.layout();
            let route = Route::new(layout);
            let mut found = vec![0u32; layout.squares];
            for (index, pair) in route.pairs.iter().enumerate() {
                for both in &pair.both {
                    found[2 * index] |= 1 << both.tap;
                    found[2 * index + 1] |= 1 << both.tap;
                }
                pair.first.iter().for_each(|one| found[2 * index] |= 1 << one.tap);
                pair.second.iter().for_each(|one| found[2 * index + 1] |= 1 << one.tap);
            }
            for (taps, window) in found.iter().zip(&route.windows) {
                assert_eq!(*taps as u64, window.taps);
                assert_eq!(window.bits.count_ones(), window.taps.count_ones());
            }
        }
    }

    #[test]
    fn the_standard_board_has_22_by_22_taps() {
        let route = Route::new(Shape::Square8.layout());
        let taps: u32 = route.windows.iter().map(|window| window.taps.count_ones()).sum();
        assert_eq!(taps, 22 * 22);
    }
}
