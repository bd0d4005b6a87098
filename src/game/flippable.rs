//! Counts the discs that all legal moves turn, without the moves. Along each line, discs of one colour
//! in an unbroken run turn if the run has a disc of the other colour at one end and an empty square at
//! the other.
//!
//! The fills are those of [`super::kernel`]. They run in eight lanes, four lines for each side. The
//! code is plain loops over arrays, which the compiler turns into vector instructions.

use super::geometry::{Bitboard, Geometry};

/// Four lines for the side to move, then four for the other side.
const LANES: usize = 8;
type Lanes<W> = [W; LANES];

#[inline(always)]
fn zip<W: Bitboard>(left: Lanes<W>, right: Lanes<W>, f: impl Fn(W, W) -> W) -> Lanes<W> {
    std::array::from_fn(|lane| f(left[lane], right[lane]))
}

#[inline(always)]
fn step<W: Bitboard, const UP: bool>(set: Lanes<W>, by: &Lanes<usize>) -> Lanes<W> {
    std::array::from_fn(|lane| if UP { set[lane] << by[lane] } else { set[lane] >> by[lane] })
}

/// The bits of `through` in unbroken runs that start beside `from`, in one direction of each line.
#[inline(always)]
fn run<G: Geometry, const UP: bool>(
    from: Lanes<G::Bitboard>,
    through: Lanes<G::Bitboard>,
    [by, by2]: [&Lanes<usize>; 2],
) -> Lanes<G::Bitboard> {
    let and = |a: Lanes<_>, b: Lanes<_>| zip(a, b, |a, b| a & b);
    let or = |a: Lanes<_>, b: Lanes<_>| zip(a, b, |a, b| a | b);
    let mut run = and(through, step::<_, UP>(from, by));
    run = or(run, and(through, step::<_, UP>(run, by)));
    let pairs = and(through, step::<_, UP>(through, by));
    run = or(run, and(pairs, step::<_, UP>(run, by2)));
    run = or(run, and(pairs, step::<_, UP>(run, by2)));
    if G::WIDTH > 8 { or(run, and(pairs, step::<_, UP>(run, by2))) } else { run }
}

/// The discs that turn, summed over the legal moves of the owner of `mine`, then over those of the
/// other side. A disc counts once for each line along which a move turns it.
#[inline(always)]
pub(super) fn counts<G: Geometry>(mine: G::Bitboard, theirs: G::Bitboard) -> [u32; 2] {
    let empty = [G::PLAYABLE & !(mine | theirs); LANES];
    let side = |own: G::Bitboard, other: G::Bitboard| [own, other, other & G::INNER];
    let ([own, discs, inner], [own2, discs2, inner2]) = (side(mine, theirs), side(theirs, mine));
    let from = [own, own, own, own, own2, own2, own2, own2];
    let through = [inner, discs, inner, inner, inner2, discs2, inner2, inner2];
    let stride = G::STRIDE;
    let by: Lanes<usize> =
        std::array::from_fn(|lane| [1, stride, stride - 1, stride + 1][lane % 4]);
    let by2 = by.map(|by| 2 * by);
    let up = [&by, &by2];
    let upwards =
        zip(run::<G, true>(from, through, up), run::<G, false>(empty, through, up), |a, b| a & b);
    let downwards =
        zip(run::<G, false>(from, through, up), run::<G, true>(empty, through, up), |a, b| a & b);
    let counts: [u32; LANES] =
        std::array::from_fn(|lane| upwards[lane].count() + downwards[lane].count());
    let (first, second) = counts.split_at(LANES / 2);
    [first.iter().sum(), second.iter().sum()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::{Board, Shape};

    /// Compares with the flips of each move on boards of random games.
    fn agrees_with_single_moves<G: Geometry>() {
        let mut state = 1u64;
        let mut random = |below: usize| {
            state = state.wrapping_mul(0xD134_2543_DE82_EF95).wrapping_add(1);
            (state >> 33) as usize % below
        };
        for _ in 0..50 {
            let mut board = Board::<G>::start();
            while !board.is_over() {
                let flips = |board: Board<G>| -> u32 {
                    board.legal().map(|square| board.flips(square).len() as u32).sum()
                };
                let wanted = [flips(board), flips(board.pass())];
                assert_eq!(counts::<G>(board.mine, board.theirs), wanted, "{board:?}");
                let mut legal = board.legal();
                board = match legal.len() {
                    0 => board.pass(),
                    count => {
                        let square = legal.nth(random(count)).expect("a move");
                        board.play_unchecked(square)
                    }
                };
            }
        }
    }

    #[test]
    fn counts_agree_with_the_flips_of_each_move() {
        for shape in Shape::ALL {
            dispatch!(shape, G => agrees_with_single_moves::<G>());
        }
    }
}
