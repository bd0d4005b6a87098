//! The interface of players: a player gets positions of many games and names a move for each.
//!
//! A player gets the turns of all its games at once, so that it can evaluate positions in batches.
//! Its move must depend on the turn and its seed only, not on the rest of the batch. Otherwise a
//! match would change with the number of threads or after an interruption. Memory of earlier turns
//! may only save time. One exception: among moves that are proven to be equally good, the solver's
//! table of earlier positions may decide.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::control::{Analysis, Control};
pub use super::hint::{Bound, Hint, Source};
use crate::game::{Board, Geometry, Position, Square, SquareSet};

/// A position of a game in progress in which the player is to move.
///
/// ```
/// use outflank::game::{Position, Square8, notation};
/// use outflank::players::player::Turn;
///
/// let start = Position::<Square8>::start();
/// let (moves, position) = notation::parse_transcript("f5d6c3", start)?;
/// // A turn of a game, and one of a single position.
/// let turn = Turn { game: 7, start, moves: &moves, position };
/// assert_eq!((turn.ply(), Turn::at(position).ply()), (3, 3));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Turn<'a, G: Geometry> {
    /// The game's number: the same for all turns of the game, unique within a match. Players keep
    /// trees and clocks by it. For a single position any number will do.
    pub game: u32,
    /// The position where the game began.
    pub start: Position<G>,
    /// The moves since `start`, without passes.
    pub moves: &'a [Square],
    /// The current position. It must have a legal move, so it follows a forced pass and does not
    /// end the game ([`Board::is_over`]). Players may panic without one.
    pub position: Position<G>,
}

impl<G: Geometry> Turn<'_, G> {
    /// The turn at a single position, without the game before it.
    pub fn at(position: Position<G>) -> Turn<'static, G> {
        Turn { game: 0, start: position, moves: &[], position }
    }

    /// The number of moves since the board's own start position, without passes.
    pub fn ply(&self) -> u32 {
        self.position.board.discs().saturating_sub(Board::<G>::start().discs())
    }
}

/// A move with the score, depth and cost of the player's search.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Choice {
    /// The move.
    pub square: Square,
    /// The expected final disc difference for the player, if it estimates one. For a net it is the
    /// prediction after the move, without search, unless the search has proven the score.
    pub score: Option<f32>,
    /// Search depth in plies; for Monte Carlo tree search the number of simulations.
    pub depth: Option<u32>,
    /// Positions searched.
    pub nodes: u64,
    /// Time in seconds. The time of a batch is divided evenly among its turns.
    pub seconds: f64,
    /// The part of it in an iteration of alpha-beta that was not completed.
    pub unfinished: f64,
    /// The part of `unfinished` in an iteration that did not change the move either.
    pub wasted: f64,
}

impl Choice {
    /// A move without score, depth or cost.
    pub fn plain(square: Square) -> Choice {
        let (depth, nodes, seconds, unfinished, wasted) = (None, 0, 0.0, 0.0, 0.0);
        Choice { square, score: None, depth, nodes, seconds, unfinished, wasted }
    }
}

/// Why a player has no move. The player forfeits the game.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum PlayerError {
    /// The player's move is not legal.
    #[error("played `{shown}`, which is not legal")]
    IllegalMove {
        /// The move, shortened.
        shown: Box<str>,
    },
    /// The player resigned.
    #[error("resigned")]
    Resigned,
    /// The program or the analysis is stopping and has ended the external engine.
    #[error("stopped while the engine was to move")]
    Interrupted,
    /// The process of an external engine ended.
    #[error("the engine ended ({status})")]
    Ended {
        /// Its exit status.
        status: Box<str>,
    },
    /// An external engine did not answer in time.
    #[error("the engine gave no answer within {seconds} s")]
    Timeout {
        /// The time limit.
        seconds: f64,
    },
    /// The answer of an external engine cannot be understood.
    #[error("the engine answered `{shown}`; expected {wanted}")]
    UnexpectedAnswer {
        /// The answer, shortened.
        shown: Box<str>,
        /// A description of the expected answer.
        wanted: &'static str,
    },
    /// An external engine printed too much before its answer.
    #[error("the engine printed over {limit} bytes without an answer")]
    TooMuchOutput {
        /// The most bytes that are read.
        limit: usize,
    },
    /// An external engine could not be started.
    #[error("the engine could not be started: {reason}")]
    NotStarted {
        /// The system's error.
        reason: Box<str>,
    },
    /// An external engine cannot play the game's position.
    #[error("the engine cannot be given this position: {reason}")]
    UnsupportedPosition {
        /// The reason.
        reason: &'static str,
    },
    /// The player's net could not be computed.
    #[error("the net failed: {reason}")]
    Network {
        /// The error of the inference.
        reason: Box<str>,
    },
}

/// A player.
///
/// ```
/// use outflank::game::{Goal, Position, Square8};
/// use outflank::players::open;
/// use outflank::players::player::Turn;
///
/// // Positions of several games at once, so that a net can compute them as a batch.
/// let mut player = open::player::<Square8>(&"greedy".parse()?, Goal::Most)?;
/// let start = Position::start();
/// let turns = [Turn { game: 0, ..Turn::at(start) }, Turn { game: 1, ..Turn::at(start) }];
/// for choice in player.choose(&turns) {
///     assert!(start.board.legal().contains(choice?.square));
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Player<G: Geometry>: Send {
    /// A short name.
    fn name(&self) -> String;

    /// A move for each turn, in the order of `turns`.
    fn choose(&mut self, turns: &[Turn<'_, G>]) -> Vec<Result<Choice, PlayerError>>;

    /// Called when a game is over. Its number is not used again.
    fn end_game(&mut self, game: u32);

    /// A move for one turn. `control` can limit or stop the search. A plain control gives the move
    /// of [`Player::choose`], perhaps with a score that `choose` leaves out.
    ///
    /// # Errors
    ///
    /// As for [`Player::choose`].
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use outflank::game::{Goal, Position, Square8};
    /// use outflank::players::control::{Control, Effort};
    /// use outflank::players::open;
    /// use outflank::players::player::Turn;
    /// use outflank::search::stop::Stop;
    ///
    /// // A deep search, but at most 20 ms for this move.
    /// let spec = "alphabeta:depth=30,eval=positional".parse()?;
    /// let mut player = open::player::<Square8>(&spec, Goal::Most)?;
    /// let effort = Effort { time: Some(Duration::from_millis(20)), ..Effort::default() };
    /// let mut control = Control::new(Stop::default(), effort);
    /// let choice = player.think(&Turn::at(Position::start()), &mut control)?;
    /// assert!(choice.depth < Some(30) && choice.score.is_some());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn think(
        &mut self,
        turn: &Turn<'_, G>,
        control: &mut Control<'_>,
    ) -> Result<Choice, PlayerError> {
        let _ = control;
        let nothing = || PlayerError::IllegalMove { shown: "nothing".into() };
        self.choose(std::slice::from_ref(turn)).pop().ok_or_else(nothing)?
    }

    /// The best moves, at most `count`, best first: by the search's policy for a net, by the score
    /// for alpha-beta. `turn` must have a legal move.
    ///
    /// A control with reports gets the best moves so far: at once, then as the search improves them.
    /// A player that does not search gives its one answer at the end. After `think` on the same turn
    /// a net continues with its tree, so the first hint may differ from the choice. The time of an
    /// analysis does not count against the player's time for a game.
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
            score: choice.score,
            depth: choice.depth,
            ..Hint::plain(choice.square, Source::Choice)
        };
        Ok(control.analysis(Vec::from_iter((count > 0).then_some(hint)), choice.nodes))
    }

    /// The hints of [`Player::analyze`] with a plain control.
    ///
    /// # Errors
    ///
    /// As for [`Player::choose`].
    ///
    /// ```
    /// use outflank::game::{Goal, Square6, notation};
    /// use outflank::players::open;
    /// use outflank::players::player::{Bound, Turn};
    ///
    /// let line = "OOO***-O*-*-O*O***OOO*****O*O-*-O-O- O";
    /// let position = notation::parse_obf::<Square6>(line)?.position;
    /// let mut player =
    ///     open::player::<Square6>(&"alphabeta:depth=1,solve_empties=10".parse()?, Goal::Most)?;
    /// let hints = player.hints(&Turn::at(position), 2)?;
    /// assert_eq!((hints[0].score, hints[0].bound), (Some(8.0), Bound::Exact));
    /// assert_eq!(notation::square_name::<Square6>(hints[0].line[0]), "a2");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn hints(&mut self, turn: &Turn<'_, G>, count: usize) -> Result<Vec<Hint>, PlayerError> {
        Ok(self.analyze(turn, count, &mut Control::plain())?.hints)
    }

    /// The limit that a level of play ([`Effort::level`](super::control::Effort::level)) stands
    /// for, such as `depth=8`. `None` if the player has no levels.
    fn level(&self, level: u32) -> Option<String> {
        let _ = level;
        None
    }

    /// The preferred number of turns in one call of [`Player::choose`].
    fn batch(&self) -> usize {
        1
    }
}

/// The random stream for one move, seeded by the player's seed, the game's number and the ply.
pub fn stream<G: Geometry>(seed: u64, turn: &Turn<'_, G>) -> Xoshiro256PlusPlus {
    let parts = [seed, u64::from(turn.game), u64::from(turn.ply())];
    Xoshiro256PlusPlus::seed_from_u64(combine(&parts))
}

/// A seed that depends on all of `parts` and their order.
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

/// One of the squares, all equally likely; `None` if there are none.
pub fn random_square<G: Geometry>(
    squares: SquareSet<G>,
    random: &mut impl rand::Rng,
) -> Option<Square> {
    let count = squares.len();
    if count == 0 {
        return None;
    }
    let mut squares = squares;
    squares.nth(random.random_range(0..count))
}
