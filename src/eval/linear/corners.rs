//! The features about corners, as Perversi has them (Wang, Eisenberg and Vadera,
//! docs/references.md). Each is a share, so that it lies between -1 and 1.
//!
//! A corner is a square whose disc can never turn. The 92-square board has twelve: four at the ends
//! of two edges each, and eight beside its gaps.

use crate::eval::outline::{Direction, neighbour, with_turnable_lines};
use crate::game::{Bitboard, Board, Geometry, Square, SquareSet};

/// The most squares beside a corner, by Perversi's count; a corner where two edges meet has three.
const BESIDE: f32 = 4.0;

const ORTHOGONAL: [Direction; 4] = [(0, 1), (1, 0), (0, -1), (-1, 0)];
const DIAGONAL: [Direction; 4] = [(1, 1), (1, -1), (-1, -1), (-1, 1)];

/// Counts discs on corners, beside corners, and along edges from corners.
#[derive(Clone, Debug)]
pub(super) struct Corners<G: Geometry> {
    corners: G::Bitboard,
    /// The corners with the fewest neighbours: where two edges meet, if there are such.
    ends: G::Bitboard,
    /// The squares of the edges that begin at the ends, and the length of the longest edge.
    edges: G::Bitboard,
    longest: usize,
}

impl<G: Geometry> Corners<G> {
    pub(super) fn new() -> Self {
        let corners = with_turnable_lines::<G>(0);
        let neighbours = |square: &Square| {
            let steps = ORTHOGONAL.iter().chain(&DIAGONAL);
            steps.filter(|&&step| neighbour::<G>(*square, step).is_some()).count()
        };
        let all = || SquareSet::<G>(corners);
        let fewest = all().map(|square| neighbours(&square)).min();
        let mut found =
            Corners { corners, ends: G::Bitboard::ZERO, edges: G::Bitboard::ZERO, longest: 0 };
        for end in all().filter(|square| Some(neighbours(square)) == fewest) {
            found.ends |= G::mask(end);
            for direction in ORTHOGONAL {
                let edge = edge::<G>(end, direction);
                found.longest = found.longest.max(edge.len());
                edge.iter().for_each(|&square| found.edges |= G::mask(square));
            }
        }
        found
    }

    /// The corners of a side.
    pub(super) fn owned(&self, board: Board<G>) -> f32 {
        self.share_of(board, self.corners, self.corners.count() as f32)
    }

    /// The discs of a side beside empty corners.
    pub(super) fn beside_empty(&self, board: Board<G>) -> f32 {
        self.share_of(board, beside::<G>(self.corners & board.empty().0), self.most_beside())
    }

    /// The discs of a side beside its own corners.
    pub(super) fn beside_own(&self, board: Board<G>) -> f32 {
        let of = |discs: G::Bitboard| (beside::<G>(self.corners & discs) & discs).count() as f32;
        (of(board.mine) - of(board.theirs)) / self.most_beside()
    }

    /// The discs of a side along the edges, in rows without a gap that begin at an end.
    pub(super) fn runs(&self, board: Board<G>) -> f32 {
        let of = |discs: G::Bitboard| self.run(discs).count() as f32;
        (of(board.mine) - of(board.theirs)) / self.edges.count() as f32
    }

    fn run(&self, discs: G::Bitboard) -> G::Bitboard {
        let discs = discs & self.edges;
        let mut run = discs & self.ends;
        if !run.is_zero() {
            for _ in 1..self.longest {
                run |= SquareSet::<G>(run).beside_orthogonally().0 & discs;
            }
        }
        run
    }

    fn most_beside(&self) -> f32 {
        BESIDE * self.corners.count() as f32
    }

    /// The discs of the side to move on some squares minus those of the opponent, as a share.
    #[inline(always)]
    fn share_of(&self, board: Board<G>, squares: G::Bitboard, most: f32) -> f32 {
        let [mine, theirs] = [board.mine, board.theirs].map(|discs| (discs & squares).count());
        (mine as f32 - theirs as f32) / most
    }
}

/// The squares beside some squares, in any direction.
#[inline(always)]
fn beside<G: Geometry>(squares: G::Bitboard) -> G::Bitboard {
    let squares = SquareSet::<G>(squares);
    squares.beside_orthogonally().0 | squares.beside_diagonally().0
}

/// The squares of the edge that begins at a square: those in one direction, as long as the board
/// ends on one side of them.
fn edge<G: Geometry>(start: Square, (down, right): Direction) -> Vec<Square> {
    let sides = [(right, down), (-right, -down)];
    let is_edge =
        |square: &Square| sides.into_iter().any(|side| neighbour::<G>(*square, side).is_none());
    let next = |&square: &Square| neighbour::<G>(square, (down, right));
    std::iter::successors(Some(start), next).take_while(is_edge).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::Shape;

    #[test]
    fn ends_and_edges_follow_from_the_outline() {
        let of = |shape| {
            dispatch!(shape, G => {
                let corners = Corners::<G>::new();
                [corners.corners, corners.ends, corners.edges].map(|set| set.count() as usize)
            })
        };
        let found = Shape::ALL.map(of);
        assert_eq!(found, [[4, 4, 28], [4, 4, 20], [4, 4, 24], [8, 8, 24], [12, 4, 28]]);
    }
}
