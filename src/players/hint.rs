//! Hints: the moves that a player considers, with their values and where the values come from.

use crate::game::Square;

/// How a hint's score relates to the move's exact score.
///
/// ```
/// use outflank::players::player::Bound;
///
/// // A score of at most 4 for one side is at least -4 for the other.
/// assert_eq!(Bound::AtMost.reversed(), Bound::AtLeast);
/// assert_eq!(Bound::AtLeast.mark(), ">=");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bound {
    /// The score is an estimate.
    Estimated,
    /// The exact score is proven to be this or less.
    AtMost,
    /// The exact score is proven to be this or more.
    AtLeast,
    /// The score is exact.
    Exact,
}

impl Bound {
    /// The same relation for the other side, for which all scores are negated.
    #[must_use]
    pub fn reversed(self) -> Bound {
        match self {
            Bound::AtMost => Bound::AtLeast,
            Bound::AtLeast => Bound::AtMost,
            Bound::Estimated | Bound::Exact => self,
        }
    }

    /// The name in machine-readable output: `estimated`, `at-most`, `at-least` or `exact`.
    pub fn name(self) -> &'static str {
        match self {
            Bound::Estimated => "estimated",
            Bound::AtMost => "at-most",
            Bound::AtLeast => "at-least",
            Bound::Exact => "exact",
        }
    }

    /// The mark before a score: `=`, `<=`, `>=`, or nothing for an estimate.
    pub fn mark(self) -> &'static str {
        match self {
            Bound::Estimated => "",
            Bound::AtMost => "<=",
            Bound::AtLeast => ">=",
            Bound::Exact => "=",
        }
    }
}

/// Where a hint's value comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Source {
    /// The choice of a player that does not search, such as `random`.
    Choice,
    /// A net's predictions for the position and for those after its moves, without a search.
    Policy,
    /// A tree search with a net.
    Net,
    /// A tree search with random games.
    Rollouts,
    /// Alpha-beta search.
    AlphaBeta,
    /// The endgame solver.
    Solver,
    /// Another program.
    Engine,
}

impl Source {
    /// The name in machine-readable output: `choice`, `policy`, `net`, `rollouts`,
    /// `alphabeta`, `solver` or `engine`.
    pub fn name(self) -> &'static str {
        match self {
            Source::Choice => "choice",
            Source::Policy => "policy",
            Source::Net => "net",
            Source::Rollouts => "rollouts",
            Source::AlphaBeta => "alphabeta",
            Source::Solver => "solver",
            Source::Engine => "engine",
        }
    }
}

/// A move that a player considers, with its value for the side to move.
///
/// ```
/// use outflank::game::Square;
/// use outflank::players::player::{Bound, Hint, Source};
///
/// let plain = Hint::plain(Square(19), Source::AlphaBeta);
/// let hint = Hint { score: Some(2.5), depth: Some(6), ..plain };
/// assert_eq!((hint.bound, hint.effort()), (Bound::Estimated, Some(6)));
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct Hint {
    /// The expected line, which begins with the move itself, without passes.
    pub line: Vec<Square>,
    /// The chance to win, from 0 to 1, if the player estimates it. A draw counts as half a win.
    pub win_chance: Option<f32>,
    /// The final disc difference for the side to move, if the player has one. For a net see
    /// [`Choice::score`](super::player::Choice::score); `win_chance` is the search's.
    pub score: Option<f32>,
    /// Whether the score is an estimate, a bound, or exact.
    pub bound: Bound,
    /// Depth of the search in plies, if it has one.
    pub depth: Option<u32>,
    /// The simulations of a tree search that began with this move.
    pub visits: Option<u32>,
    /// The probability from 0 to 1 that a net gives the move before the search. Over all legal moves
    /// they add up to 1.
    pub policy: Option<f32>,
    /// Where the value comes from.
    pub source: Source,
}

impl Hint {
    /// A move without a value.
    pub fn plain(square: Square, source: Source) -> Hint {
        Hint {
            line: vec![square],
            win_chance: None,
            score: None,
            bound: Bound::Estimated,
            depth: None,
            visits: None,
            policy: None,
            source,
        }
    }

    /// The search behind the hint: its visits, or else its depth in plies.
    pub fn effort(&self) -> Option<u32> {
        self.visits.or(self.depth)
    }
}
