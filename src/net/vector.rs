//! Vectors of floats, the unit that kernels on a processor compute with.

#[cfg(target_arch = "x86_64")]
pub(super) mod x86;

pub(super) use wide::f32x16 as Vector;

/// Numbers of a vector.
pub(super) const LANES: usize = 16;

/// The numbers of vectors one after another.
pub(super) fn flat(vectors: &[Vector]) -> &[f32] {
    bytemuck::cast_slice(vectors)
}

/// The numbers of vectors one after another, to be written.
pub(super) fn flat_mut(vectors: &mut [Vector]) -> &mut [f32] {
    bytemuck::cast_slice_mut(vectors)
}

/// So many numbers as vectors, rounded up.
pub(super) fn vectors(numbers: usize) -> usize {
    numbers.div_ceil(LANES)
}

/// Asks for the cache line at an address, which need not be one of ours.
#[inline(always)]
pub(super) fn prefetch<T>(address: *const T) {
    #[cfg(target_arch = "x86_64")]
    x86::prefetch(address);
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

/// The instructions that vectors are computed with, for people.
pub(super) fn instructions() -> &'static str {
    match () {
        () if cfg!(target_feature = "avx512f") => "AVX-512",
        () if cfg!(target_feature = "avx2") => "AVX2",
        () => "plain vectors",
    }
}
