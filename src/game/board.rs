//! Boards from the view of the side to move, and positions: boards with the colour to move.

use std::fmt;
use std::ops::Not;

use super::flippable;
use super::geometry::{Bitboard, Geometry, Square};
use super::rules::{Goal, ScoreRule};
use super::simd;
use super::square_tables::SquareTables;

/// The colour of a player. Black moves first on every shape.
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

/// A set of squares of one shape. As an iterator it yields its squares in reading order.
///
/// ```
/// use outflank::game::{Board, Square8, SquareSet, notation};
///
/// let legal = Board::<Square8>::start().legal();
/// assert_eq!(legal.len(), 4);
/// assert_eq!(notation::transcript::<Square8>(legal), "d3c4f5e6");
/// // The field is the bitboard, with the operators of integers.
/// let corners = SquareSet::<Square8>::always_stable();
/// assert_eq!(notation::transcript::<Square8>(corners), "a1h1a8h8");
/// assert!(SquareSet::<Square8>(legal.0 & corners.0).is_empty());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SquareSet<G: Geometry>(pub G::Bitboard);

impl<G: Geometry> SquareSet<G> {
    /// Whether the set has no squares.
    #[inline(always)]
    pub fn is_empty(self) -> bool {
        self.0.is_zero()
    }

    /// The number of squares in the set.
    #[inline(always)]
    pub fn len(self) -> usize {
        self.0.count() as usize
    }

    /// Whether `square` is in the set.
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
///
/// ```
/// use outflank::game::{Board, Square8, notation};
///
/// let f5 = notation::parse_square::<Square8>("f5").expect("a square");
/// let board = Board::<Square8>::start();
/// assert_eq!(notation::transcript::<Square8>(board.flips(f5)), "e5");
/// // White is to move now, so `mine` has white's discs.
/// let after = board.play(f5).expect("a legal move");
/// assert_eq!((after.mine.count_ones(), after.theirs.count_ones()), (1, 4));
/// assert_eq!((after.empties(), after.legal().len()), (59, 3));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Board<G: Geometry> {
    /// Discs of the side to move.
    pub mine: G::Bitboard,
    /// Discs of the other side.
    pub theirs: G::Bitboard,
}

impl<G: Geometry> Board<G> {
    /// The start position, black to move.
    #[inline]
    pub fn start() -> Board<G> {
        Board { mine: G::START_BLACK, theirs: G::START_WHITE }
    }

    /// The legal moves of the side to move. If there are none, it passes or the game is over.
    #[inline(always)]
    pub fn legal(self) -> SquareSet<G> {
        SquareSet(simd::legal::<G>(self.mine, self.theirs))
    }

    /// The legal moves of the side to move, then those of the other side.
    #[inline(always)]
    pub fn legal_of_both(self) -> [SquareSet<G>; 2] {
        simd::legal_of_both::<G>(self.mine, self.theirs).map(SquareSet)
    }

    /// The discs that turn when the side to move plays at `square`, which must be empty. If there
    /// are none, the move is not legal.
    #[inline(always)]
    pub fn flips(self, square: Square) -> SquareSet<G> {
        SquareSet(simd::flips::<G>(G::bit_of(square), self.mine, self.theirs))
    }

    /// The discs that turn, summed over the legal moves of the side to move, then over those of the
    /// other side.
    ///
    /// ```
    /// use outflank::game::{Board, Square8};
    ///
    /// // Each of the four first moves turns one disc.
    /// assert_eq!(Board::<Square8>::start().flippable(), [4, 4]);
    /// ```
    #[inline(always)]
    pub fn flippable(self) -> [u32; 2] {
        flippable::counts::<G>(self.mine, self.theirs)
    }

    /// The same as [`Board::flips`], with the bit index of the square.
    #[inline(always)]
    pub(crate) fn flips_at(self, bit: usize) -> G::Bitboard {
        simd::flips::<G>(bit, self.mine, self.theirs)
    }

    /// How many discs turn when the side to move plays at bit index `bit`, which must be the
    /// only empty square.
    #[inline(always)]
    pub(crate) fn count_last_flips(self, bit: usize) -> u32 {
        simd::count_last_flips::<G>(bit, self.mine)
    }

    /// Whether the opponent has a disc beside the square at bit index `bit`. If not, a move there
    /// turns no disc.
    #[inline(always)]
    pub(crate) fn touches_opponent(self, bit: usize) -> bool {
        !(self.theirs & G::Bitboard::narrow(SquareTables::<G>::NEIGHBOURS[bit & 127])).is_zero()
    }

    /// The board after a move, from the view of the opponent; `None` if the move is not legal.
    ///
    /// ```
    /// use outflank::game::{Board, Square, Square8};
    ///
    /// let board = Board::<Square8>::start();
    /// assert_eq!(board.play(Square(0)), None, "a1 turns no disc");
    /// let boards = board.legal().filter_map(|square| board.play(square));
    /// assert!(boards.into_iter().all(|after| after.discs() == 5));
    /// ```
    pub fn play(self, square: Square) -> Option<Board<G>> {
        (square.index() < G::SQUARES && self.empty().contains(square))
            .then(|| self.flips(square))
            .filter(|flips| !flips.is_empty())
            .map(|flips| self.after(square, flips))
    }

    /// The board after a legal move, from the view of the opponent.
    ///
    /// The caller guarantees that the move is legal; otherwise the board is meaningless.
    #[inline(always)]
    pub fn play_unchecked(self, square: Square) -> Board<G> {
        self.after(square, self.flips(square))
    }

    /// The board after a move at `square` that turns `flips`, from the view of the opponent.
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

    /// The number of empty squares.
    #[inline(always)]
    pub fn empties(self) -> u32 {
        G::SQUARES as u32 - self.discs()
    }

    /// The number of discs on the board.
    #[inline(always)]
    pub fn discs(self) -> u32 {
        (self.mine | self.theirs).count()
    }

    /// Frontier discs of both sides: those beside an empty square, in any of the eight directions.
    ///
    /// ```
    /// use outflank::game::{Board, Square8};
    ///
    /// let board = Board::<Square8>::start();
    /// assert_eq!(board.frontier().len(), 4, "every disc is beside an empty square");
    /// ```
    #[inline(always)]
    pub fn frontier(self) -> SquareSet<G> {
        let empty = self.empty();
        let beside = empty.beside_orthogonally().0 | empty.beside_diagonally().0;
        SquareSet((self.mine | self.theirs) & beside)
    }

    /// Whether neither side can move.
    #[inline]
    pub fn is_over(self) -> bool {
        self.legal().is_empty() && self.pass().legal().is_empty()
    }

    /// The disc difference for the side to move, empty squares to the winner: from `-SQUARES` to
    /// `SQUARES`. It is even if `SQUARES` is even; if `SQUARES` is odd, it is odd or 0.
    ///
    /// For a finished game this is the score under [`Goal::Most`]. [`Board::final_score`] takes
    /// the goal into account.
    #[inline(always)]
    pub fn difference(self) -> i32 {
        self.difference_by(ScoreRule::EmptiesToWinner)
    }

    /// The disc difference for the side to move under a rule for empty squares.
    ///
    /// ```
    /// use outflank::game::{ScoreRule, Square6, notation};
    ///
    /// let line = format!("{}{} X", "*".repeat(30), "-".repeat(6));
    /// let board = notation::parse_obf::<Square6>(&line)?.position.board;
    /// assert_eq!(board.difference_by(ScoreRule::EmptiesToWinner), 36);
    /// assert_eq!(board.difference_by(ScoreRule::DiscsOnly), 30);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline(always)]
    pub fn difference_by(self, rule: ScoreRule) -> i32 {
        rule.difference(self.mine.count(), self.theirs.count(), self.empties())
    }

    /// The score of a finished game for the side to move under `goal`: the disc difference, with
    /// the empty squares to the side that has more discs, negated for [`Goal::Fewest`].
    ///
    /// ```
    /// use outflank::game::{Goal, Square6, notation};
    ///
    /// let line = format!("{}{} X", "*".repeat(30), "-".repeat(6));
    /// let board = notation::parse_obf::<Square6>(&line)?.position.board;
    /// assert!(board.is_over());
    /// assert_eq!((board.final_score(Goal::Most), board.final_score(Goal::Fewest)), (36, -36));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline(always)]
    pub fn final_score(self, goal: Goal) -> i32 {
        goal.apply(self.difference())
    }

    /// Whether `mine` and `theirs` are disjoint and within the playable squares.
    pub fn is_valid(self) -> bool {
        (self.mine & self.theirs).is_zero() && ((self.mine | self.theirs) & !G::PLAYABLE).is_zero()
    }
}

/// A board and the colour of the side to move.
///
/// ```
/// use outflank::game::{Goal, Position, Square6};
///
/// // The first legal move, until the game is over.
/// let mut position = Position::<Square6>::start();
/// while let Some(square) = position.board.legal().next() {
///     position = position.play(square).expect("a legal move").pass_if_forced();
/// }
/// assert!(position.board.is_over());
/// let score = position.black_view().final_score(Goal::Most);
/// assert_eq!(score % 2, 0, "all squares count for one side or are shared");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position<G: Geometry> {
    /// The board from the view of `side`.
    pub board: Board<G>,
    /// The side to move.
    pub side: Colour,
}

impl<G: Geometry> Position<G> {
    /// The start position, black to move.
    pub fn start() -> Position<G> {
        Position { board: Board::start(), side: Colour::Black }
    }

    /// The position after a move; `None` if the move is not legal. The other side is to move, even
    /// if it must pass: see [`Position::pass_if_forced`].
    pub fn play(self, square: Square) -> Option<Position<G>> {
        let board = self.board.play(square)?;
        Some(Position { board, side: !self.side })
    }

    /// The position with the other side to move.
    pub fn pass(self) -> Position<G> {
        Position { board: self.board.pass(), side: !self.side }
    }

    /// The position after a pass if the side to move must pass, else the position itself. A side
    /// must pass if it has no legal move and the game is not over.
    ///
    /// A pass is never a choice in this program: callers apply this after every move.
    ///
    /// ```
    /// use outflank::game::{Colour, Square8, notation};
    ///
    /// // Black has no move, since the white disc in the corner cannot be outflanked.
    /// let black_has_no_move = format!("O*{} X", "-".repeat(62));
    /// let position = notation::parse_obf::<Square8>(&black_has_no_move)?.position;
    /// assert_eq!(position.side, Colour::Black);
    /// assert_eq!(position.pass_if_forced(), position.pass());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn pass_if_forced(self) -> Position<G> {
        if self.board.legal().is_empty() && !self.board.pass().legal().is_empty() {
            self.pass()
        } else {
            self
        }
    }

    /// The board from the view of black.
    pub fn black_view(self) -> Board<G> {
        match self.side {
            Colour::Black => self.board,
            Colour::White => self.board.pass(),
        }
    }
}
