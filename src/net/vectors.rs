//! What vectors of the processor do beyond [`wide`]: products of bf16.
//!
//! Each operation is safe to call, and this file holds all `unsafe` of vectors in `net`. It rests
//! on one fact: a [`Vectors`] is made by [`Vectors::new`] alone, and only where the processor has
//! every instruction set that an operation is compiled for. Operations take values and references,
//! and a prefetch reads nothing, so that no address needs to be trusted.
//!
//! A vector is 64 bytes: 16 floats, or 32 numbers of bf16 of which nobody computes as floats.

use std::arch::x86_64::*;

use bytemuck::must_cast;

use super::winograd::Vector;

/// The right to use AVX-512 (F, BW and BF16) and BMI2.
#[derive(Clone, Copy)]
pub(super) struct Vectors(());

impl Vectors {
    /// `None` where the processor lacks some of the instructions. Costs nothing in a build for a
    /// processor that has them.
    #[inline(always)]
    pub(super) fn new() -> Option<Vectors> {
        let has_all = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512bf16")
            && is_x86_feature_detected!("bmi2");
        has_all.then_some(Vectors(()))
    }
}

/// Makes methods of [`Vectors`] of functions that need its instructions.
macro_rules! operations {
    ($($(#[$doc:meta])* fn $name:ident($($argument:ident: $type:ty),*) $(-> $out:ty)? $body:block)*) => {
        impl Vectors {
            $(
                $(#[$doc])*
                #[inline(always)]
                pub(super) fn $name(self, $($argument: $type),*) $(-> $out)? {
                    #[inline]
                    #[target_feature(enable = "avx512f,avx512bw,avx512bf16,bmi2")]
                    fn compute($($argument: $type),*) $(-> $out)? $body

                    // SAFETY: the processor has the instructions, or there were no `self`.
                    unsafe { compute($($argument),*) }
                }
            )*
        }
    };
}

operations! {
    /// The sum of all lanes.
    fn total(vector: Vector) -> f32 {
        _mm512_reduce_add_ps(must_cast(vector))
    }

    /// Sums plus, of 32 numbers of bf16 each, the products of those that lie side by side in a lane.
    fn add_products(sums: Vector, a: Vector, b: Vector) -> Vector {
        must_cast(_mm512_dpbf16_ps(must_cast(sums), must_cast(a), must_cast(b)))
    }
}

/// Asks for the cache line at an address, which need not be one of ours.
#[inline(always)]
pub(super) fn fetch(address: *const Vector) {
    // SAFETY: SSE is part of every x86_64, and a prefetch changes nothing but the cache.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) };
}
