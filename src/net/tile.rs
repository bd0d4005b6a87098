//! Matrix tiles (Intel AMX): a safe interface to their instructions.
//!
//! Stable Rust has no intrinsics for tiles. This file has them as inline assembly, the only
//! assembly of the program. The compiler neither uses nor saves tile registers. The interface is
//! safe for these reasons:
//!
//! - Tile registers are valid only between [`Tiles::configure`] and the drop of its guard, on one
//!   thread. They can be used only through the methods of the guard.
//! - A load reads and a store writes 16 rows of 64 bytes. Both take references to arrays of exactly
//!   that size. A load that repeats one row reads only the 64 bytes of that row.
//!
//! libtorch configures tiles for itself, so no function of libtorch may run on a thread that has a
//! guard. Otherwise sums would be wrong, or the processor would stop the program. Memory would be
//! safe even then, because no configuration has more or longer rows.

#[cfg(test)]
pub mod emulated;

use std::arch::asm;
use std::arch::x86_64::{__cpuid_count, _xgetbv};
use std::cell::Cell;
use std::marker::PhantomData;
use std::sync::LazyLock;

use super::vector::Vector;
use super::vector::x86::Avx512;

/// Rows of a tile.
pub(super) const TILE_ROWS: usize = 16;

/// A tile in memory: rows of 64 bytes, 16 floats or 32 numbers of bf16.
pub(super) type Tile = [Vector; TILE_ROWS];

/// A tile of zeros.
pub(super) const ZEROS: Tile = [Vector::ZERO; TILE_ROWS];

/// The memory from which a tile is loaded.
#[derive(Clone, Copy)]
pub(super) enum Source<'a> {
    /// One row of memory for each row of the tile.
    Tile(&'a Tile),
    /// One row of memory for all rows of the tile.
    RepeatedRow(&'a Vector),
}

impl<'a> From<&'a Tile> for Source<'a> {
    #[inline(always)]
    fn from(tile: &'a Tile) -> Self {
        Source::Tile(tile)
    }
}

impl<'a> From<&'a Vector> for Source<'a> {
    #[inline(always)]
    fn from(row: &'a Vector) -> Self {
        Source::RepeatedRow(row)
    }
}

/// Whether this process may use tiles of bf16 numbers. The first call requests the permission of
/// the operating system.
pub(super) fn available() -> bool {
    #[cfg(test)]
    if emulated::is_on() {
        return Avx512::new().is_some();
    }
    static AVAILABLE: LazyLock<bool> =
        LazyLock::new(|| processor_has_tiles() && Avx512::new().is_some() && system_allows_tiles());
    *AVAILABLE
}

fn processor_has_tiles() -> bool {
    const AMX_BF16: u32 = 1 << 22;
    const AMX_TILE: u32 = 1 << 24;
    const OSXSAVE: u32 = 1 << 27;
    const TILE_STATE: u64 = 0b11 << 17;
    let (basic, features) = (__cpuid_count(1, 0), __cpuid_count(7, 0).edx);
    if features & AMX_BF16 == 0 || features & AMX_TILE == 0 || basic.ecx & OSXSAVE == 0 {
        return false;
    }
    // SAFETY: `xgetbv` exists where the OSXSAVE bit is set.
    let enabled = unsafe { _xgetbv(0) };
    enabled & TILE_STATE == TILE_STATE
}

/// Requests permission: Linux saves the 8 KB of tiles at a context switch only for processes that
/// have requested it.
#[cfg(target_os = "linux")]
fn system_allows_tiles() -> bool {
    const ARCH_REQ_XCOMP_PERM: libc::c_ulong = 0x1023;
    const XFEATURE_XTILEDATA: libc::c_ulong = 18;
    // SAFETY: this call takes two numbers and touches no memory of ours. It may be repeated.
    unsafe { libc::syscall(libc::SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA) == 0 }
}

#[cfg(not(target_os = "linux"))]
fn system_allows_tiles() -> bool {
    false
}

thread_local! {
    /// Whether this thread has a guard. With two guards, the drop of one would release the
    /// registers of the other.
    static IN_USE: Cell<bool> = const { Cell::new(false) };
}

/// The tile registers of this thread, all eight set up as 16 rows of 64 bytes.
///
/// Neither `Send` nor `Sync`: registers belong to a thread.
pub(super) struct Tiles {
    /// AVX-512, which the kernels need besides tiles.
    pub avx512: Avx512,
    not_send: PhantomData<*const ()>,
}

#[repr(C, align(64))]
struct Configuration {
    palette: u8,
    start_row: u8,
    reserved: [u8; 14],
    row_bytes: [u16; 16],
    rows: [u8; 16],
}

static CONFIGURATION: Configuration = Configuration {
    palette: 1,
    start_row: 0,
    reserved: [0; 14],
    row_bytes: [64, 64, 64, 64, 64, 64, 64, 64, 0, 0, 0, 0, 0, 0, 0, 0],
    rows: [16, 16, 16, 16, 16, 16, 16, 16, 0, 0, 0, 0, 0, 0, 0, 0],
};

impl Tiles {
    /// Configures the registers. `None` where [`available`] is false, or if this thread already has
    /// a guard.
    pub(super) fn configure() -> Option<Tiles> {
        let avx512 = Avx512::new().filter(|_| available())?;
        if IN_USE.replace(true) {
            return None;
        }
        let tiles = Tiles { avx512, not_send: PhantomData };
        #[cfg(test)]
        if emulated::is_on() {
            return Some(tiles);
        }
        // SAFETY: the instruction exists, and the configuration is valid and 64 bytes long.
        unsafe {
            asm!("ldtilecfg [{}]", in(reg) &raw const CONFIGURATION, options(readonly, nostack, preserves_flags));
        }
        Some(tiles)
    }

    /// Loads tile `T`.
    #[inline(always)]
    pub(super) fn load<'a, const T: u8>(&self, from: impl Into<Source<'a>>) {
        const { assert!(T < 8) };
        let from = from.into();
        #[cfg(test)]
        if emulated::is_on() {
            return emulated::load(T, from);
        }
        let (from, stride) = match from {
            Source::Tile(tile) => (tile.as_ptr(), size_of::<Vector>()),
            Source::RepeatedRow(row) => (&raw const *row, 0),
        };
        // SAFETY: tiles are configured, as `self` proves, and the 16 rows, `stride` bytes apart,
        // are those of a tile, or 16 times the same row.
        unsafe {
            asm!(
                "tileloadd tmm{tile}, [{from} + {stride}*1]",
                tile = const T, from = in(reg) from, stride = in(reg) stride,
                options(readonly, nostack, preserves_flags),
            );
        }
    }

    /// Stores tile `T`.
    #[inline(always)]
    pub(super) fn store<const T: u8>(&self, to: &mut Tile) {
        const { assert!(T < 8) };
        #[cfg(test)]
        if emulated::is_on() {
            return emulated::store(T, to);
        }
        // SAFETY: tiles are configured, as `self` proves, and `to` is the 16 rows that are written.
        unsafe {
            asm!(
                "tilestored [{to} + {stride}*1], tmm{tile}",
                tile = const T, to = in(reg) to.as_mut_ptr(), stride = in(reg) size_of::<Vector>(),
                options(nostack, preserves_flags),
            );
        }
    }

    /// `C += A * B`: `C` is 16 x 16 float32, `A` 16 x 32 bf16, and `B` 32 x 16 bf16. Row `k` of
    /// tile `B` holds rows `2k` and `2k + 1` of the matrix, interleaved. The three tiles must
    /// differ.
    #[inline(always)]
    pub(super) fn multiply<const C: u8, const A: u8, const B: u8>(&self) {
        const { assert!(A < 8 && B < 8 && C < 8 && A != B && A != C && B != C) };
        #[cfg(test)]
        if emulated::is_on() {
            return emulated::multiply(C, A, B);
        }
        // SAFETY: tiles are configured, as `self` proves, and no memory is touched.
        unsafe {
            asm!(
                "tdpbf16ps tmm{c}, tmm{a}, tmm{b}",
                c = const C, a = const A, b = const B,
                options(nomem, nostack, preserves_flags),
            );
        }
    }

    /// Adds to tiles 0 to 3 the products 4 * 6, 4 * 7, 5 * 6 and 5 * 7.
    #[inline(always)]
    pub(super) fn multiply_four(&self) {
        self.multiply::<0, 4, 6>();
        self.multiply::<1, 4, 7>();
        self.multiply::<2, 5, 6>();
        self.multiply::<3, 5, 7>();
    }
}

impl Drop for Tiles {
    fn drop(&mut self) {
        IN_USE.set(false);
        #[cfg(test)]
        if emulated::is_on() {
            return;
        }
        // SAFETY: a `Tiles` exists only where the processor has the instruction.
        unsafe { asm!("tilerelease", options(nomem, nostack, preserves_flags)) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_has_one_guard_at_a_time() {
        emulated::with(|| {
            let Some(first) = Tiles::configure() else {
                crate::net::fixtures::skipped("emulated tiles: the processor has no AVX-512");
                return;
            };
            assert!(Tiles::configure().is_none());
            drop(first);
            assert!(Tiles::configure().is_some());
        });
    }
}
