//! What a player is: somebody who is shown positions of many games and names a move for each.
//!
//! A player gets the turns of all its games at once, so that one that evaluates positions in
//! batches can. It must not remember more than speeds it up: its move follows from the turn and
//! its seed, whatever else is in the batch, so that a match comes out the same with any number
//! of threads and after any interruption. Only among moves that are proven to be equally good, what
//! its solver has met before may decide.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::control::{Analysis, Control};
use crate::game::{Board, Geometry, Position, Square, SquareSet};

/// A position of a running game whose side to move is the player's.
#[derive(Clone, Copy, Debug)]
pub struct Turn<'a, G: Geometry> {
    /// The game's number, the same all through the game and unique within a match.
    pub game: u32,
    /// The position where the game began.
    pub start: Position<G>,
    /// The moves since then, without passes.
    pub moves: &'a [Square],
    /// Where the game stands. It has a legal move.
    pub position: Position<G>,
}

impl<G: Geometry> Turn<'_, G> {
    /// Moves made before this one since the board's own start position, passes not counted.
    pub fn ply(&self) -> u32 {
        self.position.board.discs().saturating_sub(Board::<G>::start().discs())
    }
}

/// A move and what the player thought of it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Choice {
    /// The move.
    pub square: Square,
    /// The final disc difference that the player expects, for itself.
    pub score: Option<f32>,
    /// How deep it searched, in plies, or in simulations for a tree search by samples.
    pub depth: Option<u32>,
    /// Positions searched.
    pub nodes: u64,
    /// Time spent; a batch's time is shared out evenly among its turns.
    pub seconds: f64,
}

impl Choice {
    /// A move without thoughts.
    pub fn plain(square: Square) -> Choice {
        Choice { square, score: None, depth: None, nodes: 0, seconds: 0.0 }
    }
}

/// How a hint's score relates to the move's exact score.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bound {
    /// It is what the player expects.
    Estimated,
    /// The exact score is proven to be this or less.
    AtMost,
    /// The exact score is proven to be this or more.
    AtLeast,
    /// It is the exact score.
    Exact,
}

impl Bound {
    /// The same relation for the other side, to whom all scores are negated.
    #[must_use]
    pub fn reversed(self) -> Bound {
        match self {
            Bound::AtMost => Bound::AtLeast,
            Bound::AtLeast => Bound::AtMost,
            Bound::Estimated | Bound::Exact => self,
        }
    }

    /// A word for programs: `estimated`, `at-most`, `at-least` or `exact`.
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

/// One of the moves that a player considers, with its reasons.
#[derive(Clone, PartialEq, Debug)]
pub struct Hint {
    /// The line that the player expects, beginning with the move itself; passes left out.
    pub line: Vec<Square>,
    /// The chance of winning, a draw counted as half, from 0 to 1, if the player estimates it.
    pub win_chance: Option<f32>,
    /// The final disc difference for the side to move, if the player says anything about it.
    pub score: Option<f32>,
    /// Whether the score is an estimate, a bound, or exact.
    pub bound: Bound,
    /// Depth in plies, or simulations.
    pub depth: Option<u32>,
}

/// Why a player has no move: it forfeits the game.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum PlayerError {
    /// The move that it named is not legal.
    #[error("played `{shown}`, which is not legal")]
    IllegalMove {
        /// What it said, shortened.
        shown: Box<str>,
    },
    /// The player gave the game up.
    #[error("resigned")]
    Resigned,
    /// The program is being stopped, and an outside engine was ended for that reason.
    #[error("the program was stopped while the engine was to move")]
    Interrupted,
    /// An outside engine's process ended.
    #[error("the engine ended ({status})")]
    Ended {
        /// Its exit status.
        status: Box<str>,
    },
    /// An outside engine did not answer in time.
    #[error("the engine gave no answer within {seconds} s")]
    Hung {
        /// The time it was given.
        seconds: f64,
    },
    /// An outside engine said what nobody can understand.
    #[error("the engine said `{shown}` where {wanted} was expected")]
    Garbled {
        /// What it said, shortened.
        shown: Box<str>,
        /// What should have come.
        wanted: &'static str,
    },
    /// An outside engine said more than anybody will read.
    #[error("the engine printed over {limit} bytes without an answer")]
    Flooded {
        /// How much is read at most.
        limit: usize,
    },
    /// An outside engine could not be started.
    #[error("the engine could not be started: {reason}")]
    NotStarted {
        /// What the system says.
        reason: Box<str>,
    },
    /// An outside engine cannot be told where the game stands.
    #[error("the engine cannot be given this position: {reason}")]
    NotToldPosition {
        /// What its protocol lacks.
        reason: &'static str,
    },
    /// The network behind the player failed.
    #[error("the network failed: {reason}")]
    Network {
        /// What it says.
        reason: Box<str>,
    },
}

/// Somebody who plays.
pub trait Player<G: Geometry>: Send {
    /// What it is called: short.
    fn name(&self) -> String;

    /// A move for each turn, in their order.
    fn choose(&mut self, turns: &[Turn<'_, G>]) -> Vec<Result<Choice, PlayerError>>;

    /// Tells that a game is over and its number will not come again.
    fn end_game(&mut self, game: u32);

    /// A move for one turn, steered by `control` while the player thinks. A plain control gives the
    /// move of [`Player::choose`], perhaps with a score that `choose` leaves out.
    ///
    /// # Errors
    ///
    /// As for [`Player::choose`].
    fn think(
        &mut self,
        turn: &Turn<'_, G>,
        control: &mut Control<'_>,
    ) -> Result<Choice, PlayerError> {
        let _ = control;
        let nothing = || PlayerError::IllegalMove { shown: "nothing".into() };
        self.choose(std::slice::from_ref(turn)).pop().ok_or_else(nothing)?
    }

    /// The best moves, at most `count`, best first. They cost nothing of the time that a player has
    /// for a whole game.
    ///
    /// # Errors
    ///
    /// As for [`Player::choose`].
    fn analyze(
        &mut self,
        turn: &Turn<'_, G>,
        count: usize,
        control: &mut Control<'_>,
    ) -> Result<Analysis, PlayerError> {
        let choice = self.think(turn, control)?;
        let hint = Hint {
            line: vec![choice.square],
            win_chance: None,
            score: choice.score,
            bound: Bound::Estimated,
            depth: choice.depth,
        };
        Ok(control.analysis(Vec::from_iter((count > 0).then_some(hint)), choice.nodes))
    }

    /// The hints of [`Player::analyze`] with a plain control.
    ///
    /// # Errors
    ///
    /// As for [`Player::choose`].
    fn hints(&mut self, turn: &Turn<'_, G>, count: usize) -> Result<Vec<Hint>, PlayerError> {
        Ok(self.analyze(turn, count, &mut Control::plain())?.hints)
    }

    /// What a level of play ([`Effort::level`](super::control::Effort::level)) comes to for this
    /// player, such as `depth=8`; `None` if it does not play by levels.
    fn level(&self, level: u32) -> Option<String> {
        let _ = level;
        None
    }

    /// How many games it likes to be shown at once.
    fn batch(&self) -> usize {
        1
    }
}

/// The random stream of a player's move: named by the player's seed, the game and the ply.
pub fn stream<G: Geometry>(seed: u64, turn: &Turn<'_, G>) -> Xoshiro256PlusPlus {
    let parts = [seed, u64::from(turn.game), u64::from(turn.ply())];
    Xoshiro256PlusPlus::seed_from_u64(combine(&parts))
}

/// Mixes numbers into one, as a seed.
pub fn combine(parts: &[u64]) -> u64 {
    parts.iter().fold(0x6A09_E667_F3BC_C908, |state, &part| finalise(state ^ finalise(part)))
}

/// The finaliser of SplitMix64 (Steele, Lea, Flood 2014).
fn finalise(value: u64) -> u64 {
    let value = value.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let value = (value ^ value >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let value = (value ^ value >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    value ^ value >> 31
}

/// One of the squares, all equally likely; `None` of none.
pub fn any_of<G: Geometry>(squares: SquareSet<G>, random: &mut impl rand::Rng) -> Option<Square> {
    let count = squares.len();
    if count == 0 {
        return None;
    }
    let mut squares = squares;
    squares.nth(random.random_range(0..count))
}
