//! The score of a finished game: the goal of the players, and how empty squares count.

use std::fmt;
use std::str::FromStr;

/// Which score wins: the goal of both players.
///
/// The goal changes only the sign of a final score. Moves, passes and the end of the game are the
/// same for both goals.
///
/// ```
/// use outflank::game::Goal;
///
/// let goal: Goal = "fewest".parse()?;
/// assert_eq!(goal, Goal::Fewest);
/// // Six discs more than the opponent are a loss by six.
/// assert_eq!(goal.apply(6), -6);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Goal {
    /// The most discs win: Othello.
    #[default]
    Most,
    /// The fewest discs win: reversed Othello.
    Fewest,
}

impl Goal {
    /// The score of a disc difference: the difference itself for [`Goal::Most`], its negative for
    /// [`Goal::Fewest`].
    #[inline(always)]
    pub fn apply(self, difference: i32) -> i32 {
        match self {
            Goal::Most => difference,
            Goal::Fewest => -difference,
        }
    }

    /// The name that configurations and the command line use.
    pub const fn name(self) -> &'static str {
        match self {
            Goal::Most => "most",
            Goal::Fewest => "fewest",
        }
    }
}

impl fmt::Display for Goal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Goal {
    type Err = UnknownGoal;

    fn from_str(name: &str) -> Result<Goal, UnknownGoal> {
        [Goal::Most, Goal::Fewest].into_iter().find(|goal| goal.name() == name).ok_or(UnknownGoal)
    }
}

/// The error for a name that no goal has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UnknownGoal;

impl fmt::Display for UnknownGoal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("unknown goal; allowed: most, fewest")
    }
}

impl std::error::Error for UnknownGoal {}

/// How the empty squares of a finished game count.
///
/// ```
/// use outflank::game::ScoreRule;
///
/// let (mine, theirs, empties) = (33, 29, 2);
/// assert_eq!(ScoreRule::EmptiesToWinner.difference(mine, theirs, empties), 6);
/// assert_eq!(ScoreRule::DiscsOnly.difference(mine, theirs, empties), 4);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum ScoreRule {
    /// The winner gets them. FFO test files, the WTHOR archive and this program count like this.
    #[default]
    EmptiesToWinner,
    /// Neither side gets them. Some papers count like this.
    DiscsOnly,
}

impl ScoreRule {
    /// The disc difference `mine - theirs` of a finished game under this rule.
    #[inline(always)]
    pub fn difference(self, mine: u32, theirs: u32, empties: u32) -> i32 {
        let difference = mine as i32 - theirs as i32;
        match self {
            ScoreRule::EmptiesToWinner => difference + difference.signum() * empties as i32,
            ScoreRule::DiscsOnly => difference,
        }
    }
}
