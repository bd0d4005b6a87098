//! A board shape as the kernel walks it: squares in pairs, and which neighbours each tap meets.

use crate::game::Layout;

/// No tap: the second square of the last pair where the number of squares is odd.
const NONE: usize = usize::MAX;

/// A step in which one tap meets a square for both squares of a pair.
#[derive(Clone, Copy, Debug)]
pub(super) struct Both {
    /// The tap, 0 to 8 in reading order.
    pub tap: usize,
    /// The square that the first square's tap meets.
    pub first: usize,
    /// The square that the second square's tap meets.
    pub second: usize,
}

/// A step in which a tap meets a square for one square of a pair only.
#[derive(Clone, Copy, Debug)]
pub(super) struct Single {
    /// The tap, 0 to 8 in reading order.
    pub tap: usize,
    /// The square that it meets.
    pub square: usize,
}

/// Two squares in a row, computed together: `2 p` and `2 p + 1`.
#[derive(Clone, Debug, Default)]
pub(super) struct Pair {
    /// Taps that meet a square for both.
    pub both: Vec<Both>,
    /// Taps that do for the first alone.
    pub first: Vec<Single>,
    /// Taps that do for the second alone.
    pub second: Vec<Single>,
}

/// How to cut the window of 3 x 3 bits around a square out of a board's word.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    /// Shift right by this first; the window then lies within 64 bits.
    pub shift: u32,
    /// The window's bits that are on the board.
    pub bits: u64,
    /// Where they belong among 9 taps.
    pub taps: u64,
}

/// A board shape as the kernel walks it.
#[derive(Clone, Debug)]
pub(super) struct Route {
    /// Squares of the board.
    pub squares: usize,
    /// The pairs, in the order of their squares.
    pub pairs: Vec<Pair>,
    /// For each square, its window.
    pub windows: Vec<Window>,
    /// For each square, its cell in the bounding box.
    pub cells: Vec<usize>,
}

impl Route {
    /// The walk over a board.
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

/// Row and column of a square plus an offset; `None` beyond the bounding box.
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
            (true, true) => pair.both.push(Both { tap, first, second }),
            (true, false) => pair.first.push(Single { tap, square: first }),
            (false, true) => pair.second.push(Single { tap, square: second }),
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
    fn every_tap_on_the_board_is_walked_once() {
        for shape in Shape::ALL {
            let layout = shape.layout();
            let route = Route::new(layout);
            let mut met = vec![0u32; layout.squares];
            for (index, pair) in route.pairs.iter().enumerate() {
                for both in &pair.both {
                    met[2 * index] |= 1 << both.tap;
                    met[2 * index + 1] |= 1 << both.tap;
                }
                pair.first.iter().for_each(|one| met[2 * index] |= 1 << one.tap);
                pair.second.iter().for_each(|one| met[2 * index + 1] |= 1 << one.tap);
            }
            for (taps, window) in met.iter().zip(&route.windows) {
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
