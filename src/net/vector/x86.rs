//! Vector operations of x86-64 that [`wide`] lacks: casts to and from f16 and bf16, products of
//! bf16 numbers, and bit operations.
//!
//! All `unsafe` code for vectors in `net` is in this file, behind safe functions. They are safe
//! because only [`Avx512::new`] can create an [`Avx512`], and only where the processor has every
//! instruction set that the operations are compiled for. Operations take values and references, and
//! a prefetch may take any address.
//!
//! A vector is 64 bytes: 16 floats, or 32 bf16 numbers stored in the type of 16 floats.

use std::arch::x86_64::*;

use bytemuck::must_cast;

use super::{LANES, Vector};

/// The bits of 16 numbers of bf16 or f16.
pub(in crate::net) type HalfVector = wide::u16x16;

/// A proof that the processor has AVX-512 (F, BW and BF16) and BMI2.
#[derive(Clone, Copy, Debug)]
pub(in crate::net) struct Avx512(());

impl Avx512 {
    /// `None` where the processor lacks one of the instruction sets. In a build for a processor
    /// that has them this costs nothing. In other builds each operation is a function call.
    #[inline(always)]
    pub(in crate::net) fn new() -> Option<Avx512> {
        let has_all = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512bf16")
            && is_x86_feature_detected!("bmi2");
        has_all.then_some(Avx512(()))
    }
}

/// Defines methods of [`Avx512`] from functions that need its instructions.
macro_rules! operations {
    ($($(#[$doc:meta])* fn $name:ident($($argument:ident: $type:ty),*) $(-> $out:ty)? $body:block)*) => {
        impl Avx512 {
            $(
                $(#[$doc])*
                #[inline(always)]
                pub(in crate::net) fn $name(self, $($argument: $type),*) $(-> $out)? {
                    #[inline]
                    #[target_feature(enable = "avx512f,avx512bw,avx512bf16,bmi2")]
                    fn compute($($argument: $type),*) $(-> $out)? $body

                    // SAFETY: `self` exists only where the processor has the instructions.
                    unsafe { compute($($argument),*) }
                }
            )*
        }
    };
}

operations! {
    /// The maximum of each lane.
    fn max(a: Vector, b: Vector) -> Vector {
        must_cast(_mm512_max_ps(must_cast(a), must_cast(b)))
    }

    /// The maximum of each lane of 16 bits, as unsigned numbers.
    fn max_u16(a: Vector, b: Vector) -> Vector {
        must_cast(_mm512_max_epu16(must_cast(a), must_cast(b)))
    }

    /// The sum of all lanes.
    fn sum(vector: Vector) -> f32 {
        _mm512_reduce_add_ps(must_cast(vector))
    }

    /// Casts 16 floats to bf16.
    fn narrow_bf16(vector: Vector) -> HalfVector {
        must_cast(_mm512_cvtneps_pbh(must_cast(vector)))
    }

    /// Casts 16 bf16 numbers to floats.
    fn widen_bf16(half: HalfVector) -> Vector {
        must_cast(_mm512_slli_epi32::<16>(_mm512_cvtepu16_epi32(must_cast(half))))
    }

    /// Casts 16 floats to f16. Numbers that are too large become infinite.
    fn narrow_f16(vector: Vector) -> HalfVector {
        const NEAREST: i32 = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
        must_cast(_mm512_cvtps_ph::<NEAREST>(must_cast(vector)))
    }

    /// Casts 16 f16 numbers to floats.
    fn widen_f16(half: HalfVector) -> Vector {
        must_cast(_mm512_cvtph_ps(must_cast(half)))
    }

    /// Casts two vectors to bf16: first all numbers of `first`, then those of `second`.
    fn join_bf16(first: Vector, second: Vector) -> Vector {
        must_cast(_mm512_cvtne2ps_pbh(must_cast(second), must_cast(first)))
    }

    /// Casts two vectors to bf16: number 0 of both, then number 1 of both, and so on.
    fn interleave_bf16(first: Vector, second: Vector) -> Vector {
        const ORDER: [u16; 2 * LANES] = {
            let mut order = [0; 2 * LANES];
            let mut place = 0;
            while place < order.len() {
                order[place] = (place / 2 + place % 2 * LANES) as u16;
                place += 1;
            }
            order
        };
        let both = _mm512_cvtne2ps_pbh(must_cast(second), must_cast(first));
        must_cast(_mm512_permutexvar_epi16(must_cast(ORDER), must_cast(both)))
    }

    /// Adds to each float lane of `sums` the dot product of the bf16 pairs in that lane of `a` and
    /// `b`.
    fn add_products(sums: Vector, a: Vector, b: Vector) -> Vector {
        must_cast(_mm512_dpbf16_ps(must_cast(sums), must_cast(a), must_cast(b)))
    }

    /// Keeps those of 32 bf16 numbers whose bit is set. The others become 0.
    fn select_bf16(bits: u32, numbers: Vector) -> Vector {
        must_cast(_mm512_maskz_mov_epi16(bits, must_cast(numbers)))
    }

    /// The bits of `word` that are set in `mask`, packed into the lowest bits.
    fn gather_bits(word: u64, mask: u64) -> u64 {
        _pext_u64(word, mask)
    }

    /// The lowest bits of `word`, scattered to the bits that are set in `mask`.
    fn scatter_bits(word: u64, mask: u64) -> u64 {
        _pdep_u64(word, mask)
    }

    /// Transposes a matrix of 16 x 16 elements of 4 bytes.
    fn transpose(tile: &mut [Vector; 16]) {
        let rows: [__m512; 16] = must_cast(*tile);
        // First interleaves two rows, then four, within each quarter of a row.
        let twos: [__m512d; 16] = std::array::from_fn(|i| {
            let (even, odd) = (rows[i & !1], rows[i | 1]);
            _mm512_castps_pd(match i % 2 {
                0 => _mm512_unpacklo_ps(even, odd),
                _ => _mm512_unpackhi_ps(even, odd),
            })
        });
        let fours: [__m512; 16] = std::array::from_fn(|i| {
            let (quad, column) = (i & !3, i % 4);
            let (upper, lower) = (twos[quad + column / 2], twos[quad + 2 + column / 2]);
            _mm512_castpd_ps(match column % 2 {
                0 => _mm512_unpacklo_pd(upper, lower),
                _ => _mm512_unpackhi_pd(upper, lower),
            })
        });
        // Row `4 q + j` now has, in quarter `p`, column `4 p + j` of rows `4 q ..`.
        for column in 0..4 {
            let [a, b, c, d]: [__m512; 4] = std::array::from_fn(|quad| fours[4 * quad + column]);
            let (even_ab, odd_ab) =
                (_mm512_shuffle_f32x4::<0x88>(a, b), _mm512_shuffle_f32x4::<0xdd>(a, b));
            let (even_cd, odd_cd) =
                (_mm512_shuffle_f32x4::<0x88>(c, d), _mm512_shuffle_f32x4::<0xdd>(c, d));
            tile[column] = must_cast(_mm512_shuffle_f32x4::<0x88>(even_ab, even_cd));
            tile[4 + column] = must_cast(_mm512_shuffle_f32x4::<0x88>(odd_ab, odd_cd));
            tile[8 + column] = must_cast(_mm512_shuffle_f32x4::<0xdd>(even_ab, even_cd));
            tile[12 + column] = must_cast(_mm512_shuffle_f32x4::<0xdd>(odd_ab, odd_cd));
        }
    }
}

/// Prefetches the cache line at an address, which need not be valid.
#[inline(always)]
pub(super) fn prefetch<T>(address: *const T) {
    // SAFETY: SSE is part of every x86_64, and a prefetch changes nothing but the cache.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) };
}

#[cfg(test)]
mod tests {
    use bytemuck::must_cast;
    use half::{bf16, f16};
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;
    use crate::net::fixtures::skipped;

    type Words = [u16; 2 * LANES];

    fn words(numbers: [f32; LANES]) -> [u16; LANES] {
        numbers.map(|number| bf16::from_f32(number).to_bits())
    }

    fn floats(words: Words) -> [f32; 2 * LANES] {
        words.map(|word| bf16::from_bits(word).to_f32())
    }

    /// Runs `test` 300 times on random vectors.
    fn with(test: impl Fn(Avx512, &mut Xoshiro256PlusPlus, [[f32; LANES]; 3])) {
        let Some(avx512) = Avx512::new() else {
            skipped("AVX-512 vectors: the processor has no AVX-512 with bf16");
            return;
        };
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        for _ in 0..300 {
            let vectors = std::array::from_fn(|_| {
                std::array::from_fn(|_| random.random_range(-100.0..100.0f32))
            });
            test(avx512, &mut random, vectors);
        }
    }

    #[test]
    fn maxima_and_sums_are_those_of_the_lanes() {
        with(|avx512, _, [a, b, _]| {
            let max = avx512.max(a.into(), b.into()).to_array();
            assert_eq!(max, std::array::from_fn(|lane| a[lane].max(b[lane])));
            let bits: Words = must_cast(avx512.max_u16(a.into(), b.into()));
            let (a_bits, b_bits): (Words, Words) = (must_cast(a), must_cast(b));
            assert_eq!(bits, std::array::from_fn(|place| a_bits[place].max(b_bits[place])));
            let total = a.map(f64::from).iter().sum::<f64>();
            assert!((f64::from(avx512.sum(a.into())) - total).abs() < 1e-3);
        });
    }

    #[test]
    fn casts_to_bf16_equal_those_of_the_half_crate() {
        with(|avx512, _, [a, b, _]| {
            let half = avx512.narrow_bf16(a.into());
            assert_eq!(half.to_array(), words(a));
            let wanted = words(a).map(|word| u32::from(word) << 16);
            assert_eq!(avx512.widen_bf16(half).to_array().map(f32::to_bits), wanted);
            let joined: Words = must_cast(avx512.join_bf16(a.into(), b.into()));
            assert_eq!(joined[..LANES], words(a));
            assert_eq!(joined[LANES..], words(b));
            let interleaved: Words = must_cast(avx512.interleave_bf16(a.into(), b.into()));
            for (lane, both) in interleaved.chunks(2).enumerate() {
                assert_eq!(both, [words(a)[lane], words(b)[lane]]);
            }
        });
    }

    #[test]
    fn casts_to_f16_equal_those_of_the_half_crate() {
        with(|avx512, _, [a, b, _]| {
            for numbers in [a, b.map(|number| number * 1e-7), b.map(|number| number * 1e4)] {
                let half = avx512.narrow_f16(numbers.into());
                let wanted = numbers.map(f16::from_f32);
                assert_eq!(half.to_array(), wanted.map(f16::to_bits));
                assert_eq!(avx512.widen_f16(half).to_array(), wanted.map(f16::to_f32));
            }
        });
    }

    #[test]
    fn products_are_added_pair_by_pair() {
        with(|avx512, _, [sums, a, b]| {
            let (x, y) =
                (avx512.join_bf16(a.into(), b.into()), avx512.join_bf16(b.into(), sums.into()));
            let found = avx512.add_products(sums.into(), x, y).to_array();
            let (x, y) = (floats(must_cast(x)), floats(must_cast(y)));
            for lane in 0..LANES {
                let pair = [2 * lane, 2 * lane + 1];
                let wanted = sums[lane] + pair.map(|place| x[place] * y[place]).iter().sum::<f32>();
                assert!((found[lane] - wanted).abs() <= 1e-2, "{} {wanted}", found[lane]);
            }
        });
    }

    #[test]
    fn bits_are_gathered_scattered_and_select_numbers() {
        with(|avx512, random, [a, _, _]| {
            let bits: u32 = random.random();
            let (found, all): (Words, Words) =
                (must_cast(avx512.select_bf16(bits, a.into())), must_cast(a));
            let wanted = |place: usize| if bits >> place & 1 == 1 { all[place] } else { 0 };
            assert_eq!(found, std::array::from_fn(wanted));

            let (word, mask): (u64, u64) = (random.random(), random.random());
            let set = (0..64).filter(|bit| mask >> bit & 1 == 1);
            let (mut gathered, mut scattered) = (0, 0);
            for (index, bit) in set.enumerate() {
                gathered |= (word >> bit & 1) << index;
                scattered |= (word >> index & 1) << bit;
            }
            assert_eq!(avx512.gather_bits(word, mask), gathered);
            assert_eq!(avx512.scatter_bits(word, mask), scattered);
        });
    }

    #[test]
    fn a_matrix_is_transposed() {
        with(|avx512, random, _| {
            let rows: [[f32; LANES]; LANES] =
                std::array::from_fn(|_| std::array::from_fn(|_| random.random()));
            let mut tile: [Vector; LANES] = must_cast(rows);
            avx512.transpose(&mut tile);
            let transposed = |row: usize| std::array::from_fn(|column| rows[column][row]);
            assert_eq!(tile.map(|row| row.to_array()), std::array::from_fn(transposed));
        });
    }
}
