//! Tiles in memory: for tests on a processor that has all that the kernel asks for but tiles.

use std::cell::RefCell;

use half::bf16;

use super::{ROW_BYTES, TILE_BYTES};

type Tile = [u8; TILE_BYTES];

thread_local! {
    static TILES: RefCell<Option<[Tile; 8]>> = const { RefCell::new(None) };
}

/// Runs `test` on this thread with tiles in memory.
pub fn with(test: impl FnOnce()) {
    TILES.set(Some([[0; TILE_BYTES]; 8]));
    test();
    TILES.set(None);
}

/// Whether this thread has its tiles in memory.
pub(super) fn on() -> bool {
    TILES.with_borrow(Option::is_some)
}

fn tile<R>(tile: u8, work: impl FnOnce(&mut Tile) -> R) -> R {
    TILES
        .with_borrow_mut(|tiles| work(&mut tiles.as_mut().expect("tiles in memory")[tile as usize]))
}

/// # Safety
///
/// As for [`super::Tiles::load`].
pub(super) unsafe fn load(to: u8, from: *const u8, stride: usize) {
    tile(to, |tile| {
        for (k, row) in tile.chunks_exact_mut(ROW_BYTES).enumerate() {
            // SAFETY: as the caller promises.
            row.copy_from_slice(unsafe {
                std::slice::from_raw_parts(from.add(k * stride), ROW_BYTES)
            });
        }
    });
}

/// # Safety
///
/// As for [`super::Tiles::store`].
pub(super) unsafe fn store(from: u8, to: *mut u8) {
    // SAFETY: as the caller promises.
    tile(from, |tile| unsafe { to.copy_from_nonoverlapping(tile.as_ptr(), TILE_BYTES) });
}

/// `C += A * B`, as [`super::Tiles::multiply`] says.
pub(super) fn multiply(c: u8, a: u8, b: u8) {
    let [a, b] = [a, b].map(|index| tile(index, |tile| *tile));
    let number = |tile: &Tile, row: usize, column: usize| {
        let at = row * ROW_BYTES + 2 * column;
        bf16::from_le_bytes([tile[at], tile[at + 1]]).to_f32()
    };
    tile(c, |c| {
        for row in 0..16 {
            for column in 0..16 {
                let products =
                    (0..32).map(|k| number(&a, row, k) * number(&b, k / 2, 2 * column + k % 2));
                let at = row * ROW_BYTES + 4 * column;
                let sum: &mut [u8; 4] = (&mut c[at..at + 4]).try_into().expect("four bytes");
                *sum = (f32::from_le_bytes(*sum) + products.sum::<f32>()).to_le_bytes();
            }
        }
    });
}
