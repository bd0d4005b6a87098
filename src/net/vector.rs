//! Vectors of 16 floats, with which the CPU kernels compute.

#[cfg(target_arch = "x86_64")]
pub(super) mod x86;

pub(super) use wide::f32x16 as Vector;

/// Floats of a vector.
pub(super) const LANES: usize = 16;

/// The floats of `vectors` in order.
pub(super) fn flat(vectors: &[Vector]) -> &[f32] {
    bytemuck::cast_slice(vectors)
}

/// The floats of `vectors` in order, for writing.
pub(super) fn flat_mut(vectors: &mut [Vector]) -> &mut [f32] {
    bytemuck::cast_slice_mut(vectors)
}

/// The number of vectors that hold `numbers` floats.
pub(super) fn vectors(numbers: usize) -> usize {
    numbers.div_ceil(LANES)
}

/// Prefetches the cache line at an address, which need not be valid.
#[inline(always)]
pub(super) fn prefetch<T>(address: *const T) {
    #[cfg(target_arch = "x86_64")]
    x86::prefetch(address);
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

/// The name of the instruction set that this build uses for vectors, for messages.
pub(super) fn instructions() -> &'static str {
    match () {
        () if cfg!(target_feature = "avx512f") => "AVX-512",
        () if cfg!(target_feature = "avx2") => "AVX2",
        () => "plain vectors",
    }
}
