//! Emulated tiles for tests, on processors that have everything that the kernels need except tiles.

use std::cell::RefCell;

use bytemuck::{must_cast, must_cast_mut};
use half::bf16;

use super::{Source, TILE_ROWS, Tile, ZEROS};

/// Bytes of a row.
const ROW: usize = size_of::<Tile>() / TILE_ROWS;

type Bytes = [u8; size_of::<Tile>()];

thread_local! {
    static TILES: RefCell<Option<[Tile; 8]>> = const { RefCell::new(None) };
}

/// Runs `test` with emulated tiles on this thread.
pub fn with(test: impl FnOnce()) {
    TILES.set(Some([ZEROS; 8]));
    test();
    TILES.set(None);
}

/// Whether this thread uses emulated tiles.
pub(super) fn is_on() -> bool {
    TILES.with_borrow(Option::is_some)
}

fn tile<R>(tile: u8, work: impl FnOnce(&mut Tile) -> R) -> R {
    TILES.with_borrow_mut(|tiles| work(&mut tiles.as_mut().expect("emulated tiles")[tile as usize]))
}

/// Emulates [`super::Tiles::load`].
pub(super) fn load(to: u8, from: Source<'_>) {
    tile(to, |tile| {
        *tile = match from {
            Source::Tile(rows) => *rows,
            Source::RepeatedRow(row) => [*row; TILE_ROWS],
        };
    });
}

/// Emulates [`super::Tiles::store`].
pub(super) fn store(from: u8, to: &mut Tile) {
    tile(from, |tile| *to = *tile);
}

/// Emulates [`super::Tiles::multiply`].
pub(super) fn multiply(c: u8, a: u8, b: u8) {
    let [a, b] = [a, b].map(|index| tile(index, |tile| must_cast::<Tile, Bytes>(*tile)));
    let number = |tile: &Bytes, row: usize, column: usize| {
        let at = row * ROW + 2 * column;
        bf16::from_le_bytes([tile[at], tile[at + 1]]).to_f32()
    };
    tile(c, |c| {
        let c: &mut Bytes = must_cast_mut(c);
        for row in 0..16 {
            for column in 0..16 {
                let products =
                    (0..32).map(|k| number(&a, row, k) * number(&b, k / 2, 2 * column + k % 2));
                let at = row * ROW + 4 * column;
                let sum: &mut [u8; 4] = (&mut c[at..at + 4]).try_into().expect("four bytes");
                *sum = (f32::from_le_bytes(*sum) + products.sum::<f32>()).to_le_bytes();
            }
        }
    });
}
