//! Move generation for one board with vector instructions, one direction in each lane.
//!
//! It covers the shapes with 64-bit bitboards, on x86-64 with AVX-512 or AVX2. All other cases use
//! the portable [`super::kernel`], and tests compare with it. The choice is made at compile time,
//! since a build is for the processor that it runs on.
//!
//! This file has the only `unsafe` code of the rules. A call of an intrinsic needs its instruction
//! set. The `cfg` of each module guarantees that the whole program is compiled for that set.

use super::geometry::{Bitboard, Geometry};
use super::kernel;
#[cfg_attr(
    not(target_feature = "bmi2"),
    allow(unused_imports, reason = "kernels of newer processors")
)]
use super::square_tables::{LINE_FLIPS, SquareTables};

/// The legal moves of the owner of `mine`.
#[inline(always)]
pub(super) fn legal<G: Geometry>(mine: G::Bitboard, theirs: G::Bitboard) -> G::Bitboard {
    #[cfg(all(target_arch = "x86_64", target_feature = "avx2"))]
    if size_of::<G::Bitboard>() == size_of::<u64>() {
        let found = avx2::legal::<G>(mine.widen() as u64, theirs.widen() as u64);
        return G::Bitboard::narrow(u128::from(found));
    }
    kernel::legal::<G, G::Bitboard>(mine, theirs)
}

/// The legal moves of the owner of `mine`, then those of the other side.
#[inline(always)]
pub(super) fn legal_of_both<G: Geometry>(
    mine: G::Bitboard,
    theirs: G::Bitboard,
) -> [G::Bitboard; 2] {
    #[cfg(all(
        target_arch = "x86_64",
        target_feature = "avx512f",
        target_feature = "avx512vl",
        target_feature = "avx512cd"
    ))]
    if size_of::<G::Bitboard>() == size_of::<u64>() {
        let found = avx512::legal_of_both::<G>(mine.widen() as u64, theirs.widen() as u64);
        return found.map(|set| G::Bitboard::narrow(u128::from(set)));
    }
    [legal::<G>(mine, theirs), legal::<G>(theirs, mine)]
}

/// The discs of `theirs` that turn when the owner of `mine` plays at bit index `bit`.
#[inline(always)]
pub(super) fn flips<G: Geometry>(
    bit: usize,
    mine: G::Bitboard,
    theirs: G::Bitboard,
) -> G::Bitboard {
    #[cfg(all(
        target_arch = "x86_64",
        target_feature = "avx512f",
        target_feature = "avx512vl",
        target_feature = "avx512cd"
    ))]
    if size_of::<G::Bitboard>() == size_of::<u64>() {
        let found = avx512::flips::<G>(bit, mine.widen() as u64, theirs.widen() as u64);
        return G::Bitboard::narrow(u128::from(found));
    }
    kernel::flips::<G, G::Bitboard>(G::Bitboard::bit(bit), mine, theirs)
}

/// How many discs turn when the owner of `mine` plays at bit index `bit`, the only empty
/// square.
#[inline(always)]
pub(super) fn count_last_flips<G: Geometry>(bit: usize, mine: G::Bitboard) -> u32 {
    #[cfg(all(target_arch = "x86_64", target_feature = "bmi2"))]
    if size_of::<G::Bitboard>() == size_of::<u64>() {
        return bmi2::count_last_flips::<G>(bit, mine.widen() as u64);
    }
    let theirs = G::PLAYABLE & !(mine | G::Bitboard::bit(bit));
    flips::<G>(bit, mine, theirs).count()
}

#[cfg(all(target_arch = "x86_64", target_feature = "bmi2"))]
mod bmi2 {
    use std::arch::x86_64::_pext_u64;

    use super::{Geometry, LINE_FLIPS, SquareTables};

    /// Looks up the number of flips on each line by the discs of `mine` on it.
    #[inline(always)]
    pub(super) fn count_last_flips<G: Geometry>(bit: usize, mine: u64) -> u32 {
        let lines = &SquareTables::<G>::LINES[bit & 63];
        let flips_on = |line: usize| {
            // SAFETY: BMI2 is enabled for the whole program.
            let own = unsafe { _pext_u64(mine, lines.squares[line]) };
            u32::from(LINE_FLIPS[lines.before[line] as usize & 7][own as usize & 255])
        };
        flips_on(0) + flips_on(1) + flips_on(2) + flips_on(3)
    }
}

#[cfg(all(target_arch = "x86_64", target_feature = "avx2"))]
mod avx2 {
    use std::arch::x86_64::*;

    use super::{Bitboard, Geometry};

    /// The OR of the four 64-bit lanes.
    #[inline(always)]
    pub(super) fn join(lanes: __m256i) -> u64 {
        // SAFETY: AVX2 is enabled for the whole program.
        unsafe {
            let halves =
                _mm_or_si128(_mm256_castsi256_si128(lanes), _mm256_extracti128_si256::<1>(lanes));
            let joined = _mm_or_si128(halves, _mm_unpackhi_epi64(halves, halves));
            _mm_cvtsi128_si64(joined) as u64
        }
    }

    /// Fills along row, column and diagonals in four lanes, in both directions at once.
    #[inline(always)]
    pub(super) fn legal<G: Geometry>(own: u64, theirs: u64) -> u64 {
        let stride = G::STRIDE as i64;
        let inner = (theirs & G::INNER.widen() as u64) as i64;
        // SAFETY: AVX2 is enabled for the whole program.
        unsafe {
            let by = _mm256_set_epi64x(stride + 1, stride - 1, stride, 1);
            let by2 = _mm256_add_epi64(by, by);
            let through = _mm256_set_epi64x(inner, inner, theirs as i64, inner);
            let mine = _mm256_set1_epi64x(own as i64);
            let mut up = _mm256_and_si256(through, _mm256_sllv_epi64(mine, by));
            let mut down = _mm256_and_si256(through, _mm256_srlv_epi64(mine, by));
            up = _mm256_or_si256(up, _mm256_and_si256(through, _mm256_sllv_epi64(up, by)));
            down = _mm256_or_si256(down, _mm256_and_si256(through, _mm256_srlv_epi64(down, by)));
            let pairs_up = _mm256_and_si256(through, _mm256_sllv_epi64(through, by));
            let pairs_down = _mm256_srlv_epi64(pairs_up, by);
            for _ in 0..2 {
                up = _mm256_or_si256(up, _mm256_and_si256(pairs_up, _mm256_sllv_epi64(up, by2)));
                down = _mm256_or_si256(
                    down,
                    _mm256_and_si256(pairs_down, _mm256_srlv_epi64(down, by2)),
                );
            }
            let reached = _mm256_or_si256(_mm256_sllv_epi64(up, by), _mm256_srlv_epi64(down, by));
            join(reached) & !(own | theirs) & G::PLAYABLE.widen() as u64
        }
    }
}

#[cfg(all(
    target_arch = "x86_64",
    target_feature = "avx512f",
    target_feature = "avx512vl",
    target_feature = "avx512cd"
))]
mod avx512 {
    use std::arch::x86_64::*;

    use super::{Bitboard, Geometry, SquareTables};

    /// The fills of [`super::avx2::legal`] for both sides: the owner of `mine` in the lower four
    /// lanes, the other side in the upper four.
    #[inline(always)]
    pub(super) fn legal_of_both<G: Geometry>(mine: u64, theirs: u64) -> [u64; 2] {
        let stride = G::STRIDE as i64;
        let inner = G::INNER.widen() as u64;
        let [own, other] = [mine as i64, theirs as i64];
        let [own_in, other_in] = [(mine & inner) as i64, (theirs & inner) as i64];
        // SAFETY: AVX-512 F is enabled for the whole program.
        unsafe {
            let by = _mm512_broadcast_i64x4(_mm256_set_epi64x(stride + 1, stride - 1, stride, 1));
            let by2 = _mm512_add_epi64(by, by);
            let from = _mm512_set_epi64(other, other, other, other, own, own, own, own);
            let through =
                _mm512_set_epi64(own_in, own_in, own, own_in, other_in, other_in, other, other_in);
            // 0xF8 is the truth table of a | b & c.
            let mut up = _mm512_and_si512(through, _mm512_sllv_epi64(from, by));
            let mut down = _mm512_and_si512(through, _mm512_srlv_epi64(from, by));
            up = _mm512_ternarylogic_epi64::<0xF8>(up, through, _mm512_sllv_epi64(up, by));
            down = _mm512_ternarylogic_epi64::<0xF8>(down, through, _mm512_srlv_epi64(down, by));
            let pairs_up = _mm512_and_si512(through, _mm512_sllv_epi64(through, by));
            let pairs_down = _mm512_srlv_epi64(pairs_up, by);
            for _ in 0..2 {
                up = _mm512_ternarylogic_epi64::<0xF8>(up, pairs_up, _mm512_sllv_epi64(up, by2));
                down = _mm512_ternarylogic_epi64::<0xF8>(
                    down,
                    pairs_down,
                    _mm512_srlv_epi64(down, by2),
                );
            }
            let reached = _mm512_or_si512(_mm512_sllv_epi64(up, by), _mm512_srlv_epi64(down, by));
            let free = G::PLAYABLE.widen() as u64 & !(mine | theirs);
            [
                super::avx2::join(_mm512_castsi512_si256(reached)) & free,
                super::avx2::join(_mm512_extracti64x4_epi64::<1>(reached)) & free,
            ]
        }
    }

    /// Finds the end of each ray from the square: four rays towards higher bits, four towards
    /// lower bits.
    #[inline(always)]
    pub(super) fn flips<G: Geometry>(bit: usize, mine: u64, theirs: u64) -> u64 {
        let rays = &SquareTables::<G>::RAYS[bit & 63];
        // SAFETY: AVX-512 F, VL and CD are enabled for the whole program; both loads lie within
        // the eight words of `rays`.
        unsafe {
            let up = _mm256_load_si256(rays.0.as_ptr().cast());
            let down = _mm256_load_si256(rays.0.as_ptr().add(4).cast());
            let mine = _mm256_set1_epi64x(mine as i64);
            let theirs = _mm256_set1_epi64x(theirs as i64);
            let ones = _mm256_set1_epi64x(-1);
            // Upwards, the first square of the ray without a disc of `theirs` is the lowest zero
            // of `theirs | !ray`.
            let blocked = _mm256_or_si256(theirs, _mm256_andnot_si256(up, ones));
            let first = _mm256_andnot_si256(blocked, _mm256_sub_epi64(blocked, ones));
            let outflanks = _mm256_test_epi64_mask(first, mine);
            let above = _mm256_maskz_and_epi64(outflanks, up, _mm256_add_epi64(first, ones));
            // Downwards, it is the highest one of `ray & !theirs`.
            let zeros = _mm256_lzcnt_epi64(_mm256_andnot_si256(theirs, down));
            let first = _mm256_srlv_epi64(_mm256_set1_epi64x(i64::MIN), zeros);
            let outflanks = _mm256_test_epi64_mask(first, mine);
            let upto = _mm256_srlv_epi64(ones, zeros);
            let below = _mm256_maskz_andnot_epi64(outflanks, upto, down);
            super::avx2::join(_mm256_or_si256(above, below))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::{Board, Shape, Square};

    /// Compares both on boards of random discs. Most of them cannot occur in a game.
    fn agrees_with_the_portable_kernel<G: Geometry>() {
        let mut state = 1u64;
        let mut noise = || {
            state = state.wrapping_mul(0xD134_2543_DE82_EF95).wrapping_add(1);
            let mixed = state ^ state >> 29;
            G::Bitboard::narrow(u128::from(mixed) << 64 | u128::from(mixed.wrapping_mul(state)))
        };
        for _ in 0..20_000 {
            let (discs, colour) = (noise() | noise(), noise());
            let mine = discs & colour & G::PLAYABLE;
            let theirs = discs & !colour & G::PLAYABLE;
            let board = Board::<G> { mine, theirs };
            let wanted = [(mine, theirs), (theirs, mine)]
                .map(|(mine, theirs)| kernel::legal::<G, G::Bitboard>(mine, theirs));
            assert_eq!(legal::<G>(mine, theirs), wanted[0]);
            assert_eq!(legal_of_both::<G>(mine, theirs), wanted);
            for square in board.empty() {
                let bit = G::bit_of(square);
                let wanted = kernel::flips::<G, G::Bitboard>(G::mask(square), mine, theirs);
                assert_eq!(flips::<G>(bit, mine, theirs), wanted, "{board:?} {square:?}");
                let full = G::PLAYABLE & !(mine | G::mask(square));
                let wanted = kernel::flips::<G, G::Bitboard>(G::mask(square), mine, full).count();
                assert_eq!(count_last_flips::<G>(bit, mine), wanted, "{board:?} {square:?}");
            }
        }
        assert_eq!(G::square_at(G::bit_of(Square(7))), Square(7));
    }

    #[test]
    fn vectors_agree_with_the_portable_kernel() {
        for shape in Shape::ALL {
            dispatch!(shape, G => agrees_with_the_portable_kernel::<G>());
        }
    }
}
