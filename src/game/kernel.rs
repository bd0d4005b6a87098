//! Portable move generation by Kogge-Stone fills, for every shape.
//!
//! A fill runs along one of the four lines (row, column, two diagonals) in one of the two
//! directions, and doubles its reach with each step. The same code runs on one board or on
//! several side by side ([`super::lanes`]). Tests compare [`super::simd`] with it.

use std::ops::{BitAnd, BitOr, Not};

use super::geometry::{Bitboard, Geometry};

/// The operand of a fill: one bitboard, or one bitboard in each lane of a vector.
pub(super) trait Bits<W: Bitboard>:
    Copy + BitAnd<Output = Self> + BitOr<Output = Self> + Not<Output = Self>
{
    /// The same bitboard in each lane.
    fn splat(word: W) -> Self;
    /// Each lane shifted towards higher bits.
    fn up(self, by: usize) -> Self;
    /// Each lane shifted towards lower bits.
    fn down(self, by: usize) -> Self;
    /// Keeps each lane where `condition` has any bit set, and clears the other lanes.
    fn where_any(self, condition: Self) -> Self;
}

impl<W: Bitboard> Bits<W> for W {
    #[inline(always)]
    fn splat(word: W) -> W {
        word
    }
    #[inline(always)]
    fn up(self, by: usize) -> W {
        self << by
    }
    #[inline(always)]
    fn down(self, by: usize) -> W {
        self >> by
    }
    #[inline(always)]
    fn where_any(self, condition: W) -> W {
        if condition.is_zero() { W::ZERO } else { self }
    }
}

#[inline(always)]
fn shift<W: Bitboard, B: Bits<W>, const UP: bool>(set: B, by: usize) -> B {
    if UP { set.up(by) } else { set.down(by) }
}

/// The bits of `through` in unbroken runs that start beside `from`, in one direction.
#[inline(always)]
fn run<G: Geometry, B: Bits<G::Bitboard>, const UP: bool>(from: B, through: B, by: usize) -> B {
    let step = |set, by| shift::<G::Bitboard, B, UP>(set, by);
    let run = through & step(from, by);
    let run = run | through & step(run, by);
    let pairs = through & step(through, by);
    let run = run | pairs & step(run, 2 * by);
    let run = run | pairs & step(run, 2 * by);
    if G::WIDTH > 8 { run | pairs & step(run, 2 * by) } else { run }
}

#[inline(always)]
fn moves_along<G: Geometry, B: Bits<G::Bitboard>>(mine: B, through: B, by: usize) -> B {
    run::<G, B, true>(mine, through, by).up(by) | run::<G, B, false>(mine, through, by).down(by)
}

/// The legal moves of the owner of `mine`.
#[inline(always)]
pub(super) fn legal<G: Geometry, B: Bits<G::Bitboard>>(mine: B, theirs: B) -> B {
    let inner = theirs & B::splat(G::INNER);
    let reached = moves_along::<G, B>(mine, inner, 1)
        | moves_along::<G, B>(mine, theirs, G::STRIDE)
        | moves_along::<G, B>(mine, inner, G::STRIDE - 1)
        | moves_along::<G, B>(mine, inner, G::STRIDE + 1);
    reached & !(mine | theirs) & B::splat(G::PLAYABLE)
}

#[inline(always)]
fn flips_one_way<G: Geometry, B: Bits<G::Bitboard>, const UP: bool>(
    at: B,
    mine: B,
    through: B,
    by: usize,
) -> B {
    let run = run::<G, B, UP>(at, through, by);
    run.where_any(shift::<G::Bitboard, B, UP>(run, by) & mine)
}

#[inline(always)]
fn flips_along<G: Geometry, B: Bits<G::Bitboard>>(at: B, mine: B, through: B, by: usize) -> B {
    flips_one_way::<G, B, true>(at, mine, through, by)
        | flips_one_way::<G, B, false>(at, mine, through, by)
}

/// The discs of `theirs` that turn when the owner of `mine` plays at `at`, a single bit.
#[inline(always)]
pub(super) fn flips<G: Geometry, B: Bits<G::Bitboard>>(at: B, mine: B, theirs: B) -> B {
    let inner = theirs & B::splat(G::INNER);
    flips_along::<G, B>(at, mine, inner, 1)
        | flips_along::<G, B>(at, mine, theirs, G::STRIDE)
        | flips_along::<G, B>(at, mine, inner, G::STRIDE - 1)
        | flips_along::<G, B>(at, mine, inner, G::STRIDE + 1)
}
