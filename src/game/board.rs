//! Boards as the side to move sees them, and positions that also say who that is.

use std::fmt;
use std::ops::Not;

use super::around::Around;
use super::geometry::{Geometry, Square, Word};
use super::rules::{Goal, ScoreRule};
use super::simd;

/// The players by colour. Black moves first on every shape.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Colour {
    /// Moves first from the start position.
    Black,
    /// Moves second.
    White,
}

impl Not for Colour {
    type Output = Colour;

    fn not(self) -> Colour {
        match self {
            Colour::Black => Colour::White,
            Colour::White => Colour::Black,
        }
    }
}

impl fmt::Display for Colour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Colour::Black => "black",
            Colour::White => "white",
        })
    }
}

/// A set of squares of one shape.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SquareSet<G: Geometry>(pub G::Word);

impl<G: Geometry> SquareSet<G> {
    /// Whether the set holds no square.
    #[inline(always)]
    pub fn is_empty(self) -> bool {
        self.0.is_zero()
    }

    /// How many squares it holds.
    #[inline(always)]
    pub fn len(self) -> usize {
        self.0.count() as usize
    }

    /// Whether it holds `square`.
    #[inline(always)]
    pub fn contains(self, square: Square) -> bool {
        !(self.0 & G::mask(square)).is_zero()
    }
}

impl<G: Geometry> fmt::Debug for SquareSet<G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(*self).finish()
    }
}

/// Squares in reading order.
impl<G: Geometry> Iterator for SquareSet<G> {
    type Item = Square;

    #[inline(always)]
    fn next(&mut self) -> Option<Square> {
        if self.0.is_zero() {
            return None;
        }
        let square = G::square_at(self.0.lowest());
        self.0 = self.0.without_lowest();
        Some(square)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.len(), Some(self.len()))
    }
}

/// A board from the point of view of the side to move.
///
/// Invariants: `mine` and `theirs` are disjoint and within the playable squares.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Board<G: Geometry> {
    /// Discs of the side to move.
    pub mine: G::Word,
    /// Discs of the other side.
    pub theirs: G::Word,
}

impl<G: Geometry> Board<G> {
    /// The start position, black to move.
    #[inline]
    pub fn start() -> Board<G> {
        Board { mine: G::START_BLACK, theirs: G::START_WHITE }
    }

    /// The squares where the side to move may play; none means that it passes or the game is
    /// over.
    #[inline(always)]
    pub fn legal(self) -> SquareSet<G> {
        SquareSet(simd::legal::<G>(self.mine, self.theirs))
    }

    /// [`Board::legal`] of the side to move and of the other side.
    #[inline(always)]
    pub fn legal_of_both(self) -> [SquareSet<G>; 2] {
        simd::legal_of_both::<G>(self.mine, self.theirs).map(SquareSet)
    }

    /// The discs that turn when the side to move plays at `square`; none means that the move
    /// is not legal, given that the square is empty.
    #[inline(always)]
    pub fn flips(self, square: Square) -> SquareSet<G> {
        SquareSet(simd::flips::<G>(G::bit_of(square), self.mine, self.theirs))
    }

    /// [`Board::flips`] by bit index.
    #[inline(always)]
    pub(crate) fn flips_at(self, bit: usize) -> G::Word {
        simd::flips::<G>(bit, self.mine, self.theirs)
    }

    /// How many discs turn when the side to move plays at bit index `bit`, which must be the
    /// only empty square.
    #[inline(always)]
    pub(crate) fn last_flips(self, bit: usize) -> u32 {
        simd::last_flips::<G>(bit, self.mine)
    }

    /// Whether the opponent has a disc beside the square at bit index `bit`; if not, playing
    /// there turns nothing.
    #[inline(always)]
    pub(crate) fn touches(self, bit: usize) -> bool {
        !(self.theirs & G::Word::narrow(Around::<G>::NEIGHBOURS[bit & 127])).is_zero()
    }

    /// The board after a move, seen by the opponent; `None` if the move is not legal.
    pub fn play(self, square: Square) -> Option<Board<G>> {
        (square.index() < G::SQUARES && self.empty().contains(square))
            .then(|| self.flips(square))
            .filter(|flips| !flips.is_empty())
            .map(|flips| self.after(square, flips))
    }

    /// The board after a move that is known to be legal, seen by the opponent.
    ///
    /// A move that is not legal gives a meaningless board.
    #[inline(always)]
    pub fn play_unchecked(self, square: Square) -> Board<G> {
        self.after(square, self.flips(square))
    }

    /// The board after a move at `square` that turns `flips`, seen by the opponent.
    #[inline(always)]
    pub fn after(self, square: Square, flips: SquareSet<G>) -> Board<G> {
        Board { mine: self.theirs ^ flips.0, theirs: self.mine | flips.0 | G::mask(square) }
    }

    /// The same discs with the other side to move.
    #[inline(always)]
    pub fn pass(self) -> Board<G> {
        Board { mine: self.theirs, theirs: self.mine }
    }

    /// The empty squares.
    #[inline(always)]
    pub fn empty(self) -> SquareSet<G> {
        SquareSet(G::PLAYABLE & !(self.mine | self.theirs))
    }

    /// How many squares are empty.
    #[inline(always)]
    pub fn empties(self) -> u32 {
        G::SQUARES as u32 - self.discs()
    }

    /// How many discs lie on the board.
    #[inline(always)]
    pub fn discs(self) -> u32 {
        (self.mine | self.theirs).count()
    }

    /// Whether neither side can move.
    #[inline]
    pub fn is_over(self) -> bool {
        self.legal().is_empty() && self.pass().legal().is_empty()
    }

    /// The final disc difference for the side to move, empty squares to the winner: from
    /// `-SQUARES` to `SQUARES`, of the same parity on boards without holes left empty.
    ///
    /// Says what the game is worth if it is over, under [`Goal::Most`]; see
    /// [`Board::final_score`] for the goal.
    #[inline(always)]
    pub fn difference(self) -> i32 {
        self.difference_by(ScoreRule::EmptiesToWinner)
    }

    /// The disc difference for the side to move under a rule for empty squares.
    #[inline(always)]
    pub fn difference_by(self, rule: ScoreRule) -> i32 {
        rule.difference(self.mine.count(), self.theirs.count(), self.empties())
    }

    /// What a finished game is worth to the side to move under `goal`: the disc difference
    /// with empty squares to whoever has more discs, negated for [`Goal::Fewest`].
    #[inline(always)]
    pub fn final_score(self, goal: Goal) -> i32 {
        goal.apply(self.difference())
    }

    /// Whether `mine` and `theirs` are disjoint and playable.
    pub fn is_valid(self) -> bool {
        (self.mine & self.theirs).is_zero() && ((self.mine | self.theirs) & !G::PLAYABLE).is_zero()
    }
}

/// A board and the colour that is to move.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position<G: Geometry> {
    /// The board as `side` sees it.
    pub board: Board<G>,
    /// Who is to move.
    pub side: Colour,
}

impl<G: Geometry> Position<G> {
    /// The start position, black to move.
    pub fn start() -> Position<G> {
        Position { board: Board::start(), side: Colour::Black }
    }

    /// The position after a legal move, without resolving a pass; `None` if it is not legal.
    pub fn play(self, square: Square) -> Option<Position<G>> {
        let board = self.board.play(square)?;
        Some(Position { board, side: !self.side })
    }

    /// The position with the other side to move.
    pub fn pass(self) -> Position<G> {
        Position { board: self.board.pass(), side: !self.side }
    }

    /// The position itself, or the one after a pass where the side to move has no move and
    /// the game is not over. A side without moves passes by itself everywhere in this program.
    pub fn settled(self) -> Position<G> {
        if self.board.legal().is_empty() && !self.board.pass().legal().is_empty() {
            self.pass()
        } else {
            self
        }
    }

    /// The board as black sees it.
    pub fn black_view(self) -> Board<G> {
        match self.side {
            Colour::Black => self.board,
            Colour::White => self.board.pass(),
        }
    }
}
