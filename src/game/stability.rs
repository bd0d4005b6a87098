//! Discs that can never turn again.

use super::around::Around;
use super::board::{Board, SquareSet};
use super::geometry::{Geometry, Word};

/// Bits between neighbours along the four lines, in the order of [`Around::REACHED`].
const fn steps<G: Geometry>() -> [usize; 4] {
    [1, G::STRIDE, G::STRIDE - 1, G::STRIDE + 1]
}

impl<G: Geometry> Board<G> {
    /// Discs of the opponent that no sequence of moves can turn: a safe subset, found quickly.
    ///
    /// A disc is safe along a line if the line is full, or if one neighbour on it is missing
    /// or is itself a safe disc of the same colour; a disc that is safe along all four lines
    /// is safe.
    #[inline]
    pub fn their_stable(self) -> SquareSet<G> {
        let full = full_lines::<G>(self.mine | self.theirs);
        let edge = |line: usize| {
            let both = Around::<G>::REACHED[line] & Around::<G>::REACHED[line + 4];
            G::PLAYABLE & !G::Word::narrow(both)
        };
        let safe: [G::Word; 4] = std::array::from_fn(|line| full[line] | edge(line));
        let mut stable = self.theirs & safe[0] & safe[1] & safe[2] & safe[3];
        if stable.is_zero() {
            return SquareSet(stable);
        }
        loop {
            let mut grown = self.theirs;
            for (line, by) in steps::<G>().into_iter().enumerate() {
                let up = stable << by & G::Word::narrow(Around::<G>::REACHED[line]);
                let down = stable >> by & G::Word::narrow(Around::<G>::REACHED[line + 4]);
                grown &= safe[line] | up | down;
            }
            if grown == stable {
                return SquareSet(stable);
            }
            stable = grown;
        }
    }
}

impl<G: Geometry> SquareSet<G> {
    /// The squares whose discs never turn, since on each line through them one neighbour is
    /// missing: on 8x8 the corners.
    #[inline]
    pub fn never_turned() -> SquareSet<G> {
        let reached = |direction: usize| G::Word::narrow(Around::<G>::REACHED[direction]);
        let inner = (0..4).map(|line| reached(line) & reached(line + 4));
        SquareSet(inner.fold(G::PLAYABLE, |outer, line| outer & !line))
    }
}

/// For each of the four lines, the squares whose whole line is occupied.
#[inline(always)]
fn full_lines<G: Geometry>(occupied: G::Word) -> [G::Word; 4] {
    let empty = G::PLAYABLE & !occupied;
    let steps = steps::<G>();
    std::array::from_fn(|line| {
        let by = steps[line];
        let (mut up, mut down) = (empty, empty);
        let mut above = G::Word::narrow(Around::<G>::REACHED[line]);
        let mut below = G::Word::narrow(Around::<G>::REACHED[line + 4]);
        let mut reach = by;
        let mut length = 1;
        while length < G::WIDTH {
            up |= up << reach & above;
            down |= down >> reach & below;
            above &= above << reach;
            below &= below >> reach;
            reach *= 2;
            length *= 2;
        }
        G::PLAYABLE & !(up | down)
    })
}
