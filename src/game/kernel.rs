//! Move generation by fills, for every shape and word.
//!
//! A fill along one of the four lines (row, column, two diagonals) in one of the two
//! directions doubles its reach with each step (Kogge-Stone). Portable code: it also runs over
//! bundles of boards side by side ([`super::lanes`]), and is the oracle of [`super::simd`].

use std::ops::{BitAnd, BitOr, Not};

use super::geometry::{Geometry, Word};

/// What a fill runs over: one word, or several that take the same steps side by side.
pub(super) trait Bits<W: Word>:
    Copy + BitAnd<Output = Self> + BitOr<Output = Self> + Not<Output = Self>
{
    /// `word` in each lane.
    fn splat(word: W) -> Self;
    /// Each lane shifted towards higher bits.
    fn up(self, by: usize) -> Self;
    /// Each lane shifted towards lower bits.
    fn down(self, by: usize) -> Self;
    /// The lanes where `condition` has a bit; zero elsewhere.
    fn where_any(self, condition: Self) -> Self;
}

impl<W: Word> Bits<W> for W {
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
fn shift<W: Word, B: Bits<W>, const UP: bool>(set: B, by: usize) -> B {
    if UP { set.up(by) } else { set.down(by) }
}

/// Discs of `through` in unbroken runs that start beside `from`, in one direction.
#[inline(always)]
fn run<G: Geometry, B: Bits<G::Word>, const UP: bool>(from: B, through: B, by: usize) -> B {
    let step = |set, by| shift::<G::Word, B, UP>(set, by);
    let run = through & step(from, by);
    let run = run | through & step(run, by);
    let pairs = through & step(through, by);
    let run = run | pairs & step(run, 2 * by);
    let run = run | pairs & step(run, 2 * by);
    if G::WIDTH > 8 { run | pairs & step(run, 2 * by) } else { run }
}

#[inline(always)]
fn moves_along<G: Geometry, B: Bits<G::Word>>(mine: B, through: B, by: usize) -> B {
    run::<G, B, true>(mine, through, by).up(by) | run::<G, B, false>(mine, through, by).down(by)
}

/// The squares where the owner of `mine` may play.
#[inline(always)]
pub(super) fn legal<G: Geometry, B: Bits<G::Word>>(mine: B, theirs: B) -> B {
    let inner = theirs & B::splat(G::INNER);
    let reached = moves_along::<G, B>(mine, inner, 1)
        | moves_along::<G, B>(mine, theirs, G::STRIDE)
        | moves_along::<G, B>(mine, inner, G::STRIDE - 1)
        | moves_along::<G, B>(mine, inner, G::STRIDE + 1);
    reached & !(mine | theirs) & B::splat(G::PLAYABLE)
}

#[inline(always)]
fn flips_one_way<G: Geometry, B: Bits<G::Word>, const UP: bool>(
    at: B,
    mine: B,
    through: B,
    by: usize,
) -> B {
    let run = run::<G, B, UP>(at, through, by);
    run.where_any(shift::<G::Word, B, UP>(run, by) & mine)
}

#[inline(always)]
fn flips_along<G: Geometry, B: Bits<G::Word>>(at: B, mine: B, through: B, by: usize) -> B {
    flips_one_way::<G, B, true>(at, mine, through, by)
        | flips_one_way::<G, B, false>(at, mine, through, by)
}

/// The discs of `theirs` that turn when the owner of `mine` plays at the single bit `at`.
#[inline(always)]
pub(super) fn flips<G: Geometry, B: Bits<G::Word>>(at: B, mine: B, theirs: B) -> B {
    let inner = theirs & B::splat(G::INNER);
    flips_along::<G, B>(at, mine, inner, 1)
        | flips_along::<G, B>(at, mine, theirs, G::STRIDE)
        | flips_along::<G, B>(at, mine, inner, G::STRIDE - 1)
        | flips_along::<G, B>(at, mine, inner, G::STRIDE + 1)
}
