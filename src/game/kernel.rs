//! Move generation by fills, for every shape and word.
//!
//! A fill along one of the four lines (row, column, two diagonals) in one of the two
//! directions doubles its reach with each step (Kogge-Stone). Portable code: it is also the
//! oracle of any faster override.

use super::geometry::{Geometry, Word};

#[inline(always)]
fn shift<W: Word, const UP: bool>(set: W, by: usize) -> W {
    if UP { set << by } else { set >> by }
}

/// Discs of `through` in unbroken runs that start beside `from`, in one direction.
#[inline(always)]
fn run<G: Geometry, const UP: bool>(from: G::Word, through: G::Word, by: usize) -> G::Word {
    let mut run = through & shift::<_, UP>(from, by);
    run |= through & shift::<_, UP>(run, by);
    let pairs = through & shift::<_, UP>(through, by);
    run |= pairs & shift::<_, UP>(run, 2 * by);
    run |= pairs & shift::<_, UP>(run, 2 * by);
    if G::WIDTH > 8 {
        run |= pairs & shift::<_, UP>(run, 2 * by);
    }
    run
}

#[inline(always)]
fn moves_along<G: Geometry>(mine: G::Word, through: G::Word, by: usize) -> G::Word {
    run::<G, true>(mine, through, by) << by | run::<G, false>(mine, through, by) >> by
}

/// The squares where the owner of `mine` may play.
#[inline(always)]
pub(super) fn legal<G: Geometry>(mine: G::Word, theirs: G::Word) -> G::Word {
    let inner = theirs & G::INNER;
    let reached = moves_along::<G>(mine, inner, 1)
        | moves_along::<G>(mine, theirs, G::STRIDE)
        | moves_along::<G>(mine, inner, G::STRIDE - 1)
        | moves_along::<G>(mine, inner, G::STRIDE + 1);
    reached & !(mine | theirs) & G::PLAYABLE
}

#[inline(always)]
fn flips_one_way<G: Geometry, const UP: bool>(
    at: G::Word,
    mine: G::Word,
    through: G::Word,
    by: usize,
) -> G::Word {
    let run = run::<G, UP>(at, through, by);
    if (shift::<_, UP>(run, by) & mine).is_zero() { G::Word::ZERO } else { run }
}

#[inline(always)]
fn flips_along<G: Geometry>(at: G::Word, mine: G::Word, through: G::Word, by: usize) -> G::Word {
    flips_one_way::<G, true>(at, mine, through, by)
        | flips_one_way::<G, false>(at, mine, through, by)
}

/// The discs of `theirs` that turn when the owner of `mine` plays at the single bit `at`.
#[inline(always)]
pub(super) fn flips<G: Geometry>(at: G::Word, mine: G::Word, theirs: G::Word) -> G::Word {
    let inner = theirs & G::INNER;
    flips_along::<G>(at, mine, inner, 1)
        | flips_along::<G>(at, mine, theirs, G::STRIDE)
        | flips_along::<G>(at, mine, inner, G::STRIDE - 1)
        | flips_along::<G>(at, mine, inner, G::STRIDE + 1)
}
