//! Sums that leave the tiles: ReLU, the residual, and the cast to bf16.

use std::arch::x86_64::*;

use super::kernel::GROUP;
use super::pack::Row;
use crate::net::tile::{ROW_BYTES, TILE_BYTES, as_bits, widen};

/// Bytes of the four sums of a pair of squares.
pub(super) const SUMS_BYTES: usize = 4 * TILE_BYTES;

/// Sums on their way into activations: tiles `[first square, 2 halves][second square, 2 halves]`.
#[derive(Clone, Copy)]
pub(super) struct Leave {
    pub sums: *const u8,
    pub first: *mut u8,
    pub second: *mut u8,
}

impl Leave {
    /// ReLU and the cast to bf16 of one position, with `RESIDUAL` after adding what is there.
    ///
    /// # Safety
    ///
    /// `sums` has four tiles, `first` and `second` one each; `position` is below 16.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512bf16")]
    pub unsafe fn position<const RESIDUAL: bool>(&self, position: usize) {
        let (zero, row) = (_mm512_setzero_ps(), position * ROW_BYTES);
        for (half, to) in [(0, self.first), (SUMS_BYTES / 2, self.second)] {
            // SAFETY: as the caller promises.
            unsafe {
                let sums = self.sums.add(half + row).cast::<f32>();
                let mut low = _mm512_load_ps(sums);
                let mut high = _mm512_load_ps(sums.byte_add(TILE_BYTES));
                let to = to.add(row);
                if RESIDUAL {
                    low = _mm512_add_ps(low, widen(_mm256_load_si256(to.cast())));
                    high = _mm512_add_ps(high, widen(_mm256_load_si256(to.add(32).cast())));
                }
                let low = _mm512_max_ps(low, zero);
                let high = _mm512_max_ps(high, zero);
                _mm512_store_si512(to.cast(), as_bits(_mm512_cvtne2ps_pbh(high, low)));
            }
        }
    }
}

/// Sums that leave while the tiles already work on the next pair: a few positions at each step,
/// so that vector and tile units work at the same time.
pub(super) struct Leaving<const RESIDUAL: bool> {
    pub leave: Leave,
    pub next: usize,
}

impl<const RESIDUAL: bool> Leaving<RESIDUAL> {
    pub const NOTHING: Leaving<RESIDUAL> = Leaving {
        leave: Leave {
            sums: std::ptr::null(),
            first: std::ptr::null_mut(),
            second: std::ptr::null_mut(),
        },
        next: GROUP,
    };

    /// # Safety
    ///
    /// As for [`Leave::position`].
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512bf16")]
    pub unsafe fn advance(&mut self) {
        if self.next < GROUP {
            // SAFETY: as the caller promises; 16 is even.
            unsafe {
                self.leave.position::<RESIDUAL>(self.next);
                self.leave.position::<RESIDUAL>(self.next + 1);
            }
            self.next += 2;
        }
    }

    /// # Safety
    ///
    /// As for [`Leave::position`].
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512bf16")]
    pub unsafe fn finish(&mut self) {
        while self.next < GROUP {
            // SAFETY: as the caller promises.
            unsafe { self.advance() };
        }
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn load_row(row: &Row) -> __m512 {
    // SAFETY: a row is 64 bytes and aligned so.
    unsafe { _mm512_load_ps(row.0.as_ptr()) }
}
