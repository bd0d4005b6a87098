//! Matrix tiles (Intel AMX): the instructions, and the right to use them.
//!
//! Stable Rust has no intrinsics for tiles, so this file holds them as inline assembly, and
//! nothing else of the program does. The compiler knows nothing of tile registers: it neither
//! saves nor uses them. What that asks of callers:
//!
//! - Tile registers mean something only between [`Tiles::configure`] and the drop of its guard,
//!   on one thread. The functions below take the guard as proof.
//! - libtorch uses tiles of its own on the same thread, so nothing of libtorch may run in
//!   between.
//! - A load reads, and a store writes, 16 rows of 64 bytes, `stride` bytes apart; all of them
//!   must be within one allocation.

#[cfg(test)]
pub mod emulated;

use std::arch::asm;
use std::arch::x86_64::{
    __cpuid_count, __m256i, __m512, __m512bh, __m512i, _mm512_castsi512_ps, _mm512_cvtepu16_epi32,
    _mm512_slli_epi32, _xgetbv,
};
use std::marker::PhantomData;
use std::sync::LazyLock;

/// Bytes of a tile: 16 rows of 64.
pub(super) const TILE_BYTES: usize = 1024;
/// Bytes of a tile's row.
pub(super) const ROW_BYTES: usize = 64;

/// Whether this process may use tiles of bf16 numbers. The first call asks the system.
pub(super) fn available() -> bool {
    #[cfg(test)]
    if emulated::on() {
        return has_vectors();
    }
    static AVAILABLE: LazyLock<bool> =
        LazyLock::new(|| processor_has_tiles() && has_vectors() && system_allows_tiles());
    *AVAILABLE
}

/// Whether the processor has what kernels use besides tiles.
fn has_vectors() -> bool {
    std::arch::is_x86_feature_detected!("avx512f")
        && std::arch::is_x86_feature_detected!("avx512bf16")
        && std::arch::is_x86_feature_detected!("avx512bw")
        && std::arch::is_x86_feature_detected!("bmi2")
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
    let enabled = unsafe { xgetbv() };
    enabled & TILE_STATE == TILE_STATE
}

/// # Safety
///
/// The processor has `xsave`, and the system has switched it on.
#[target_feature(enable = "xsave")]
unsafe fn xgetbv() -> u64 {
    // SAFETY: as the caller promises.
    unsafe { _xgetbv(0) }
}

/// Linux saves the 8 KB of tiles at a context switch only for processes that asked for it.
#[cfg(target_os = "linux")]
fn system_allows_tiles() -> bool {
    const ARCH_REQ_XCOMP_PERM: libc::c_ulong = 0x1023;
    const XFEATURE_XTILEDATA: libc::c_ulong = 18;
    // SAFETY: this call takes two numbers and touches no memory of ours. Asking twice is allowed.
    unsafe { libc::syscall(libc::SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA) == 0 }
}

#[cfg(not(target_os = "linux"))]
fn system_allows_tiles() -> bool {
    false
}

/// The tile registers of this thread, all eight set up as 16 rows of 64 bytes.
///
/// Neither `Send` nor `Sync`: registers belong to a thread.
pub(super) struct Tiles(PhantomData<*const ()>);

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

/// 16 numbers of bf16 as float32.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn widen(numbers: __m256i) -> __m512 {
    _mm512_castsi512_ps(_mm512_slli_epi32::<16>(_mm512_cvtepu16_epi32(numbers)))
}

/// The same bits as numbers of bf16.
#[inline(always)]
pub(super) fn as_bf16(bits: __m512i) -> __m512bh {
    // SAFETY: both are 64 bytes without invalid values.
    unsafe { std::mem::transmute(bits) }
}

/// The bits of numbers of bf16.
#[inline(always)]
pub(super) fn as_bits(numbers: __m512bh) -> __m512i {
    // SAFETY: both are 64 bytes without invalid values.
    unsafe { std::mem::transmute(numbers) }
}

impl Tiles {
    /// Sets the registers up; `None` where [`available`] is false.
    pub(super) fn configure() -> Option<Tiles> {
        if !available() {
            return None;
        }
        #[cfg(test)]
        if emulated::on() {
            return Some(Tiles(PhantomData));
        }
        // SAFETY: the instruction exists, and the configuration is valid and 64 bytes long.
        unsafe {
            asm!("ldtilecfg [{}]", in(reg) &raw const CONFIGURATION, options(readonly, nostack, preserves_flags));
        }
        Some(Tiles(PhantomData))
    }

    /// Fills tile `T` from 16 rows that lie `stride` bytes apart; 0 repeats one row.
    ///
    /// # Safety
    ///
    /// 64 bytes at each of the 16 addresses `from + k * stride` may be read.
    #[inline(always)]
    pub(super) unsafe fn load<const T: u8>(&self, from: *const u8, stride: usize) {
        #[cfg(test)]
        if emulated::on() {
            // SAFETY: as the caller promises.
            return unsafe { emulated::load(T, from, stride) };
        }
        // SAFETY: tiles are configured, as `self` proves; the caller answers for the memory.
        unsafe {
            asm!(
                "tileloadd tmm{tile}, [{from} + {stride}*1]",
                tile = const T, from = in(reg) from, stride = in(reg) stride,
                options(readonly, nostack, preserves_flags),
            );
        }
    }

    /// Writes tile `T` as 16 rows in a row, 1 KB.
    ///
    /// # Safety
    ///
    /// 1024 bytes at `to` may be written.
    #[inline(always)]
    pub(super) unsafe fn store<const T: u8>(&self, to: *mut u8) {
        #[cfg(test)]
        if emulated::on() {
            // SAFETY: as the caller promises.
            return unsafe { emulated::store(T, to) };
        }
        // SAFETY: tiles are configured, as `self` proves; the caller answers for the memory.
        unsafe {
            asm!(
                "tilestored [{to} + {stride}*1], tmm{tile}",
                tile = const T, to = in(reg) to, stride = in(reg) ROW_BYTES,
                options(nostack, preserves_flags),
            );
        }
    }

    /// `C += A * B`: `C` is 16 x 16 float32, `A` 16 x 32 bf16, and `B` 32 x 16 bf16 with the two
    /// numbers of rows `2k` and `2k + 1` side by side.
    #[inline(always)]
    pub(super) fn multiply<const C: u8, const A: u8, const B: u8>(&self) {
        #[cfg(test)]
        if emulated::on() {
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

    /// Tiles 0 to 3 += tiles 4 and 5 times tiles 6 and 7.
    #[inline(always)]
    pub(super) fn multiply_four(&self) {
        self.multiply::<0, 4, 6>();
        self.multiply::<1, 4, 7>();
        self.multiply::<2, 5, 6>();
        self.multiply::<3, 5, 7>();
    }

    /// Writes tiles 0 to 3 one after another.
    ///
    /// # Safety
    ///
    /// 4 KB at `to` may be written.
    #[inline(always)]
    pub(super) unsafe fn store_four(&self, to: *mut u8) {
        // SAFETY: as the caller promises.
        unsafe {
            self.store::<0>(to);
            self.store::<1>(to.add(TILE_BYTES));
            self.store::<2>(to.add(2 * TILE_BYTES));
            self.store::<3>(to.add(3 * TILE_BYTES));
        }
    }
}

impl Drop for Tiles {
    fn drop(&mut self) {
        #[cfg(test)]
        if emulated::on() {
            return;
        }
        // SAFETY: the instruction exists, or there were no `Tiles`.
        unsafe { asm!("tilerelease", options(nomem, nostack, preserves_flags)) };
    }
}
