//! The marks of squares: what a square holds, from the view of the side to move.

use crate::game::{Board, Geometry};

/// What a square holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mark {
    /// A disc of the side to move. With frontier or stable discs among the marks, it is neither.
    Own,
    /// The same of the other side.
    Other,
    /// An empty square where only the side to move has a legal move.
    OwnMove,
    /// The same of the other side.
    OtherMove,
    /// An empty square where both sides have one.
    BothMove,
    /// A disc beside an empty square.
    OwnFrontier,
    /// The same of the other side.
    OtherFrontier,
    /// A disc that can never turn. It is no frontier disc.
    OwnStable,
    /// The same of the other side.
    OtherStable,
}

/// The number of marks that a model may have. An empty square without a legal move has no mark.
pub const MARKS: usize = 9;

impl Mark {
    /// All marks, in the order in which models have them.
    pub const ALL: [Mark; MARKS] = [
        Mark::Own,
        Mark::Other,
        Mark::OwnMove,
        Mark::OtherMove,
        Mark::BothMove,
        Mark::OwnFrontier,
        Mark::OtherFrontier,
        Mark::OwnStable,
        Mark::OtherStable,
    ];

    /// The mark for the other side.
    pub fn passed(self) -> Mark {
        match self {
            Mark::Own => Mark::Other,
            Mark::Other => Mark::Own,
            Mark::OwnMove => Mark::OtherMove,
            Mark::OtherMove => Mark::OwnMove,
            Mark::BothMove => Mark::BothMove,
            Mark::OwnFrontier => Mark::OtherFrontier,
            Mark::OtherFrontier => Mark::OwnFrontier,
            Mark::OwnStable => Mark::OtherStable,
            Mark::OtherStable => Mark::OwnStable,
        }
    }
}

/// Which marks a model has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Marks {
    /// Whether frontier discs have marks of their own.
    pub frontier: bool,
    /// Whether stable discs have.
    pub stable: bool,
    /// For each mark its place among those of the model; 0 for those that it does not have.
    slots: [usize; MARKS],
}

impl Marks {
    /// The marks of discs and moves, and perhaps those of frontier discs and of stable discs.
    pub fn new(frontier: bool, stable: bool) -> Marks {
        let mut marks = Marks { frontier, stable, slots: [0; MARKS] };
        for (slot, mark) in marks.list().into_iter().enumerate() {
            marks.slots[mark as usize] = slot;
        }
        marks
    }

    /// The marks in the order of [`Mark::ALL`].
    pub fn list(&self) -> Vec<Mark> {
        let has = |mark: &Mark| match mark {
            Mark::OwnFrontier | Mark::OtherFrontier => self.frontier,
            Mark::OwnStable | Mark::OtherStable => self.stable,
            _ => true,
        };
        Mark::ALL.into_iter().filter(has).collect()
    }

    /// For each mark its place among those of the model; 0 for those that it does not have.
    #[inline(always)]
    pub fn slots(&self) -> &[usize; MARKS] {
        &self.slots
    }

    /// The squares of a board with each mark. No square has two.
    pub fn sets<G: Geometry>(self, board: Board<G>) -> [G::Bitboard; MARKS] {
        Facts::of(board, self).sets(board)
    }
}

/// What the marks of a board follow from, besides the discs.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Facts<G: Geometry> {
    /// The legal moves of the side to move and of the other side.
    pub moves: [G::Bitboard; 2],
    /// The frontier discs of both sides; none if they have no marks.
    frontier: G::Bitboard,
    /// The same for stable discs.
    stable: G::Bitboard,
}

impl<G: Geometry> Facts<G> {
    #[inline(always)]
    pub fn of(board: Board<G>, marks: Marks) -> Facts<G> {
        let none = G::Bitboard::default();
        Facts {
            moves: board.legal_of_both().map(|moves| moves.0),
            frontier: if marks.frontier { board.frontier().0 } else { none },
            stable: if marks.stable { board.stable().0 } else { none },
        }
    }

    /// The facts with the other side to move.
    #[inline(always)]
    pub fn passed(self) -> Facts<G> {
        Facts { moves: [self.moves[1], self.moves[0]], ..self }
    }

    /// The squares with each mark.
    #[inline(always)]
    pub fn sets(&self, board: Board<G>) -> [G::Bitboard; MARKS] {
        let [own, other] = self.moves;
        let frontier = self.frontier & !self.stable;
        let plain = !(frontier | self.stable);
        [
            board.mine & plain,
            board.theirs & plain,
            own & !other,
            other & !own,
            own & other,
            board.mine & frontier,
            board.theirs & frontier,
            board.mine & self.stable,
            board.theirs & self.stable,
        ]
    }
}
