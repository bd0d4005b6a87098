//! The table of all patterns at one stage, and the sum of its entries over the lanes.
//!
//! With AVX-512 sixteen entries are gathered at once. The choice is made at compile time, since a
//! build is for the processor that it runs on.
//!
//! This file has the only `unsafe` code of the evaluators. A call of an intrinsic needs its
//! instruction set, which the `cfg` guarantees for the whole program.

use super::set::{Codes, Image, LANES, Pattern, PatternSet};

/// Lanes that are summed at once.
const BLOCK: usize = 16;

/// For each lane the place of code 0 in a table. Lanes without an image have a place whose entry is
/// 0.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub struct Centres {
    places: [u32; LANES],
    /// How many lanes are read.
    lanes: usize,
}

impl Centres {
    /// The centres of a set's lanes, for its tables one behind the other.
    pub fn of(set: &PatternSet) -> Centres {
        let centre = |image: &Image| {
            let before = set.patterns()[..image.pattern].iter().map(Pattern::codes).sum::<usize>();
            (before + set.patterns()[image.pattern].codes() / 2) as u32
        };
        let centres: Vec<u32> = set.images().iter().map(centre).collect();
        Centres::new(&centres, set.codes())
    }

    /// The centres of the lanes that have an image, for a table with this many codes.
    fn new(centres: &[u32], codes: usize) -> Centres {
        let mut places = [codes as u32; LANES];
        places[..centres.len()].copy_from_slice(centres);
        Centres { places, lanes: centres.len().next_multiple_of(BLOCK) }
    }
}

/// The values of all codes of all patterns. Two entries of 0 follow them: one for lanes without an
/// image, and one more since a gather reads two entries.
#[derive(Clone, Debug)]
pub struct Table(Box<[i16]>);

impl Table {
    /// The tables of a set's patterns, from the weights of all codes in units of the evaluation.
    pub fn of(set: &PatternSet, weights: &[f32]) -> Table {
        let mut before = 0;
        let mut tables = Vec::with_capacity(set.codes());
        for pattern in set.patterns() {
            let own = &weights[before..][..pattern.weights()];
            let value = |&at: &u32| own[at as usize].round_ties_even() as i16;
            tables.extend(pattern.weight_of().iter().map(value));
            before += own.len();
        }
        Table::new(tables)
    }

    /// The table of these values.
    fn new(mut values: Vec<i16>) -> Table {
        values.extend([0, 0]);
        Table(values.into())
    }

    /// The sum of the entries of all lanes.
    #[inline(always)]
    pub fn sum(&self, centres: &Centres, codes: &Codes) -> i32 {
        #[cfg(all(
            target_arch = "x86_64",
            target_feature = "avx512f",
            target_feature = "avx512bw"
        ))]
        return self.gathered(centres, codes);
        #[cfg(not(all(
            target_arch = "x86_64",
            target_feature = "avx512f",
            target_feature = "avx512bw"
        )))]
        self.plain(centres, codes)
    }

    /// [`Table::sum`], entry by entry.
    #[cfg_attr(
        all(target_arch = "x86_64", target_feature = "avx512f", target_feature = "avx512bw"),
        cfg(test)
    )]
    fn plain(&self, centres: &Centres, codes: &Codes) -> i32 {
        let places = centres.places.iter().zip(&codes.0).take(centres.lanes);
        let entry = |(centre, &code): (&u32, &i16)| {
            i32::from(self.0[centre.wrapping_add_signed(code.into()) as usize])
        };
        places.map(entry).sum()
    }

    /// [`Table::sum`], sixteen entries at once.
    #[cfg(all(target_arch = "x86_64", target_feature = "avx512f", target_feature = "avx512bw"))]
    #[inline(always)]
    fn gathered(&self, centres: &Centres, codes: &Codes) -> i32 {
        use std::arch::x86_64::*;
        let blocks = centres.places.chunks_exact(BLOCK).zip(codes.0.chunks_exact(BLOCK));
        // SAFETY: AVX-512 F and BW are enabled for the whole program. Each chunk has sixteen
        // numbers, as many as the loads read. A place is at most that of the last entry but one, so
        // the four bytes from it on belong to the table.
        unsafe {
            let last = _mm512_set1_epi32(self.0.len() as i32 - 2);
            let mut sum = _mm512_setzero_si512();
            for (centres, codes) in blocks.take(centres.lanes / BLOCK) {
                let codes = _mm512_cvtepi16_epi32(_mm256_loadu_si256(codes.as_ptr().cast()));
                let centres = _mm512_loadu_si512(centres.as_ptr().cast());
                let places = _mm512_min_epu32(_mm512_add_epi32(centres, codes), last);
                let pairs = _mm512_i32gather_epi32::<2>(places, self.0.as_ptr().cast());
                // The entry is the lower half.
                let entries = _mm512_srai_epi32::<16>(_mm512_slli_epi32::<16>(pairs));
                sum = _mm512_add_epi32(sum, entries);
            }
            _mm512_reduce_add_epi32(sum)
        }
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    #[test]
    fn sums_are_those_of_the_single_entries() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(3);
        for _ in 0..300 {
            let lanes = random.random_range(1..=LANES);
            let half = random.random_range(1..2000);
            let sizes: Vec<u32> = (0..lanes as u32).map(|lane| lane * (2 * half + 1)).collect();
            let codes = lanes * (2 * half as usize + 1);
            let values: Vec<i16> = (0..codes).map(|_| random.random()).collect();
            let centres: Vec<u32> = sizes.iter().map(|before| before + half).collect();
            let mut lane_codes = Codes([0; LANES]);
            for code in &mut lane_codes.0[..lanes] {
                *code = random.random_range(-(half as i16)..=half as i16);
            }
            let entry = |(centre, &code): (&u32, &i16)| {
                i32::from(values[centre.wrapping_add_signed(code.into()) as usize])
            };
            let wanted: i32 = centres.iter().zip(&lane_codes.0).map(entry).sum();
            let (centres, table) = (Centres::new(&centres, codes), Table::new(values));
            assert_eq!(table.sum(&centres, &lane_codes), wanted);
            assert_eq!(table.plain(&centres, &lane_codes), wanted);
        }
    }
}
