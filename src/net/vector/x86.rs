//! What vectors of x86-64 do beyond [`wide`]: casts to f16 and bf16 and back, products, bits.
//!
//! Each operation is safe to call, and this file holds all `unsafe` of vectors in `net`. It rests
//! on one fact: an [`Avx512`] is made by [`Avx512::new`] alone, and only where the processor has
//! every instruction set that an operation is compiled for. Operations take values and references,
//! and a prefetch reads nothing, so that no address needs to be trusted.
//!
//! A vector is 64 bytes: 16 floats, or 32 numbers of bf16 with which nobody computes as floats.

use std::arch::x86_64::*;

use bytemuck::must_cast;

use super::{LANES, Vector};

/// 16 numbers of bf16 or f16, by their bits.
pub(in crate::net) type Half = wide::u16x16;

/// The right to use AVX-512 (F, BW and BF16) and BMI2.
#[derive(Clone, Copy, Debug)]
pub(in crate::net) struct Avx512(());

impl Avx512 {
    /// `None` where the processor lacks some of the instructions. In a build for a processor that
    /// has them this costs nothing; in any other each operation below is a call.
    #[inline(always)]
    pub(in crate::net) fn new() -> Option<Avx512> {
        let has_all = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512bf16")
            && is_x86_feature_detected!("bmi2");
        has_all.then_some(Avx512(()))
    }
}

/// Makes methods of [`Avx512`] of functions that need its instructions.
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

                    // SAFETY: the processor has the instructions, or there were no `self`.
                    unsafe { compute($($argument),*) }
                }
            )*
        }
    };
}

operations! {
    /// The greater number of each lane.
    fn greater(a: Vector, b: Vector) -> Vector {
        must_cast(_mm512_max_ps(must_cast(a), must_cast(b)))
    }

    /// The greater of each two numbers of 16 bits.
    fn greater_bits(a: Vector, b: Vector) -> Vector {
        must_cast(_mm512_max_epu16(must_cast(a), must_cast(b)))
    }

    /// The sum of all lanes.
    fn total(vector: Vector) -> f32 {
        _mm512_reduce_add_ps(must_cast(vector))
    }

    /// A vector cast to bf16.
    fn narrow(vector: Vector) -> Half {
        must_cast(_mm512_cvtneps_pbh(must_cast(vector)))
    }

    /// What was cast to bf16 as floats again.
    fn widen(half: Half) -> Vector {
        must_cast(_mm512_slli_epi32::<16>(_mm512_cvtepu16_epi32(must_cast(half))))
    }

    /// A vector cast to f16; what is too great for that becomes infinite.
    fn narrow_f16(vector: Vector) -> Half {
        const NEAREST: i32 = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
        must_cast(_mm512_cvtps_ph::<NEAREST>(must_cast(vector)))
    }

    /// What was cast to f16 as floats again.
    fn widen_f16(half: Half) -> Vector {
        must_cast(_mm512_cvtph_ps(must_cast(half)))
    }

    /// Two vectors cast to bf16, one after the other.
    fn join(first: Vector, second: Vector) -> Vector {
        must_cast(_mm512_cvtne2ps_pbh(must_cast(second), must_cast(first)))
    }

    /// Two vectors cast to bf16, number by number side by side.
    fn interleave(first: Vector, second: Vector) -> Vector {
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

    /// Adds to each lane the dot product of the two pairs of bf16 numbers there.
    fn add_products(sums: Vector, a: Vector, b: Vector) -> Vector {
        must_cast(_mm512_dpbf16_ps(must_cast(sums), must_cast(a), must_cast(b)))
    }

    /// Of 32 numbers of bf16 those whose bit is set, and zeros.
    fn keep_where(bits: u32, numbers: Vector) -> Vector {
        must_cast(_mm512_maskz_mov_epi16(bits, must_cast(numbers)))
    }

    /// The bits of `word` where `places` has some, packed.
    fn gather_bits(word: u64, places: u64) -> u64 {
        _pext_u64(word, places)
    }

    /// The lowest bits of `word`, spread to where `places` has some.
    fn scatter_bits(word: u64, places: u64) -> u64 {
        _pdep_u64(word, places)
    }

    /// Turns columns into rows, 4 bytes at a time.
    fn transpose(tile: &mut [Vector; 16]) {
        let rows: [__m512; 16] = must_cast(*tile);
        // Pairs of rows, then rows of four, within each quarter of a row.
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

/// Asks for the cache line at an address, which need not be one of ours.
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

    /// Runs `test` on random vectors, 300 times.
    fn with(test: impl Fn(Avx512, &mut Xoshiro256PlusPlus, [[f32; LANES]; 3])) {
        let Some(avx512) = Avx512::new() else {
            skipped("vectors: the processor has no AVX-512 with bf16");
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
    fn lanes_are_compared_and_added() {
        with(|avx512, _, [a, b, _]| {
            let greater = avx512.greater(a.into(), b.into()).to_array();
            assert_eq!(greater, std::array::from_fn(|lane| a[lane].max(b[lane])));
            let bits: Words = must_cast(avx512.greater_bits(a.into(), b.into()));
            let (a_bits, b_bits): (Words, Words) = (must_cast(a), must_cast(b));
            assert_eq!(bits, std::array::from_fn(|place| a_bits[place].max(b_bits[place])));
            let total = a.map(f64::from).iter().sum::<f64>();
            assert!((f64::from(avx512.total(a.into())) - total).abs() < 1e-3);
        });
    }

    #[test]
    fn casts_to_bf16_are_those_of_the_library() {
        with(|avx512, _, [a, b, _]| {
            let half = avx512.narrow(a.into());
            assert_eq!(half.to_array(), words(a));
            let wanted = words(a).map(|word| u32::from(word) << 16);
            assert_eq!(avx512.widen(half).to_array().map(f32::to_bits), wanted);
            let joined: Words = must_cast(avx512.join(a.into(), b.into()));
            assert_eq!(joined[..LANES], words(a));
            assert_eq!(joined[LANES..], words(b));
            let interleaved: Words = must_cast(avx512.interleave(a.into(), b.into()));
            for (lane, both) in interleaved.chunks(2).enumerate() {
                assert_eq!(both, [words(a)[lane], words(b)[lane]]);
            }
        });
    }

    #[test]
    fn casts_to_f16_are_those_of_the_library() {
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
    fn products_add_the_two_of_each_lane() {
        with(|avx512, _, [sums, a, b]| {
            let (x, y) = (avx512.join(a.into(), b.into()), avx512.join(b.into(), sums.into()));
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
    fn bits_are_gathered_spread_and_chosen_by() {
        with(|avx512, random, [a, _, _]| {
            let bits: u32 = random.random();
            let (found, all): (Words, Words) =
                (must_cast(avx512.keep_where(bits, a.into())), must_cast(a));
            let wanted = |place: usize| if bits >> place & 1 == 1 { all[place] } else { 0 };
            assert_eq!(found, std::array::from_fn(wanted));

            let (word, places): (u64, u64) = (random.random(), random.random());
            let set = (0..64).filter(|bit| places >> bit & 1 == 1);
            let (mut gathered, mut spread) = (0, 0);
            for (index, bit) in set.enumerate() {
                gathered |= (word >> bit & 1) << index;
                spread |= (word >> index & 1) << bit;
            }
            assert_eq!(avx512.gather_bits(word, places), gathered);
            assert_eq!(avx512.scatter_bits(word, places), spread);
        });
    }

    #[test]
    fn columns_become_rows() {
        with(|avx512, random, _| {
            let rows: [[f32; LANES]; LANES] =
                std::array::from_fn(|_| std::array::from_fn(|_| random.random()));
            let mut tile: [Vector; LANES] = must_cast(rows);
            avx512.transpose(&mut tile);
            let turned = |row: usize| std::array::from_fn(|column| rows[column][row]);
            assert_eq!(tile.map(|row| row.to_array()), std::array::from_fn(turned));
        });
    }
}
