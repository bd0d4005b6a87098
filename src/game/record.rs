//! Game records: the start of a game, its moves with the search's results, and its score.
//!
//! A record stores squares by number and the shape as a value, so its type is the same for all
//! shapes. [`GameRecord::positions`] replays it by the rules of a shape.

use super::board::{Board, Colour, Position};
use super::geometry::{Bitboard, Geometry, Shape, Square};
use super::rules::Goal;

/// One move of a game, with the results of the search that chose it.
#[derive(Clone, PartialEq, Debug)]
pub struct MoveRecord {
    /// The square played.
    pub square: Square,
    /// The policy that the search found, as one weight for each legal move in the order of the
    /// square numbers; only their shares count. Empty if no policy is trained on this position (an opening move, or a search
    /// with few simulations).
    pub policy: Vec<u16>,
    /// The search's value of the position for the side to move, -1 to 1; `None` if it is unknown, as
    /// for an opening move or in a game of an archive.
    pub value: Option<f32>,
    /// The exact final score for the side to move under perfect play; `None` if the position was
    /// not solved.
    pub exact: Option<i8>,
}

impl MoveRecord {
    /// A move of which only its square is known.
    pub fn of(square: Square) -> MoveRecord {
        MoveRecord { square, policy: Vec::new(), value: None, exact: None }
    }

    /// Whether the value is unknown, or a number from -1 to 1 with a small tolerance for rounding.
    pub fn has_valid_value(&self) -> bool {
        const ROUNDING: f32 = 1e-3;
        self.value.is_none_or(|value| value.abs() <= 1.0 + ROUNDING)
    }
}

/// Where a game comes from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Source {
    /// Self-play of a run.
    #[default]
    SelfPlay,
    /// A match between two players.
    Match,
    /// A file of games of other programs or of people.
    Import,
}

impl Source {
    /// Every source.
    pub const ALL: [Source; 3] = [Source::SelfPlay, Source::Match, Source::Import];

    /// The name in files.
    pub const fn name(self) -> &'static str {
        match self {
            Source::SelfPlay => "self-play",
            Source::Match => "match",
            Source::Import => "import",
        }
    }
}

impl std::fmt::Display for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

impl std::str::FromStr for Source {
    type Err = UnknownSource;

    fn from_str(name: &str) -> Result<Source, UnknownSource> {
        Source::ALL.into_iter().find(|source| source.name() == name).ok_or(UnknownSource)
    }
}

/// The error for a name that no source has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UnknownSource;

impl std::fmt::Display for UnknownSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("unknown source; allowed: self-play, match, import")
    }
}

impl std::error::Error for UnknownSource {}

/// The longest name of a worker, in bytes.
pub const LONGEST_WORKER: usize = 32;

/// Whether a text may name a worker: 1 to 32 of `a` to `z`, `0` to `9` and `-`.
pub fn is_worker_name(name: &str) -> bool {
    let allowed = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-');
    (1..=LONGEST_WORKER).contains(&name.len()) && name.bytes().all(allowed)
}

/// A finished game.
///
/// ```
/// use outflank::game::record::{GameRecord, MoveRecord, RecordError};
/// use outflank::game::{Goal, Position, Square6};
///
/// let mut position = Position::<Square6>::start();
/// let mut record = GameRecord::begin(position, Goal::Most, 7);
/// while let Some(square) = position.board.legal().next() {
///     record.moves.push(MoveRecord::of(square));
///     position = position.play(square).expect("a legal move").pass_if_forced();
/// }
/// record.score = position.black_view().final_score(Goal::Most) as i16;
/// assert_eq!(record.positions::<Square6>()?.last(), Some(&position));
/// // The rules are checked.
/// record.moves.pop();
/// assert_eq!(record.positions::<Square6>(), Err(RecordError::Unfinished));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct GameRecord {
    /// The board.
    pub shape: Shape,
    /// Which score wins.
    pub goal: Goal,
    /// The number of the game, unique within a run.
    pub id: u64,
    /// Where the game comes from.
    pub source: Source,
    /// The worker that played the game ([`is_worker_name`]); `None` for the machine of the run.
    pub worker: Option<Box<str>>,
    /// The version of the net that played the first move; 0 is the net that the run began with.
    pub net_version: u32,
    /// How many of the first moves were not chosen by search. No net is trained on the positions
    /// in which they were played.
    pub opening_moves: u16,
    /// Discs of the side to move in the start position of the record.
    pub start_mine: u128,
    /// Discs of the other side in the start position.
    pub start_theirs: u128,
    /// The side to move in the start position.
    pub start_side: Colour,
    /// The moves, without passes.
    pub moves: Vec<MoveRecord>,
    /// The final score for black under `goal`, empty squares to the side with more discs.
    pub score: i16,
    /// Whether the game ended early because one side resigned. The score is then an estimate.
    pub resigned: bool,
}

/// Why a record does not fit the rules.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RecordError {
    /// The record is of another board shape.
    WrongShape {
        /// The shape of the record.
        found: Shape,
        /// The shape asked for.
        wanted: Shape,
    },
    /// The start position has overlapping discs or discs outside the board.
    BadStart,
    /// A move is not legal.
    IllegalMove {
        /// The move's number, counted from 0.
        index: usize,
    },
    /// A policy does not have one weight for each legal move.
    BadPolicy {
        /// The move's number, counted from 0.
        index: usize,
    },
    /// The search's value of a position is not a number from -1 to 1.
    BadValue {
        /// The move's number, counted from 0.
        index: usize,
    },
    /// The moves end before the game does, without a resignation.
    Unfinished,
    /// The score of the record is not the score of the final position.
    WrongScore {
        /// The score of the record.
        found: i16,
        /// The score of the final position.
        wanted: i16,
    },
}

impl std::fmt::Display for RecordError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            RecordError::WrongShape { found, wanted } => {
                write!(f, "the game is on board {found}, expected {wanted}")
            }
            RecordError::BadStart => f.write_str("the start position is impossible"),
            RecordError::IllegalMove { index } => write!(f, "move {} is not legal", index + 1),
            RecordError::BadPolicy { index } => {
                write!(f, "the policy of move {} needs one weight for each legal move", index + 1)
            }
            RecordError::BadValue { index } => {
                write!(f, "the value of move {} is not a number from -1 to 1", index + 1)
            }
            RecordError::Unfinished => f.write_str("the moves end before the game does"),
            RecordError::WrongScore { found, wanted } => {
                write!(f, "the score is {found}, but the final position gives {wanted}")
            }
        }
    }
}

impl std::error::Error for RecordError {}

impl GameRecord {
    /// A record of self-play without moves.
    pub fn begin<G: Geometry>(start: Position<G>, goal: Goal, id: u64) -> GameRecord {
        GameRecord {
            shape: G::SHAPE,
            goal,
            id,
            source: Source::SelfPlay,
            worker: None,
            net_version: 0,
            opening_moves: 0,
            start_mine: start.board.mine.widen(),
            start_theirs: start.board.theirs.widen(),
            start_side: start.side,
            moves: Vec::new(),
            score: 0,
            resigned: false,
        }
    }

    /// The start position of the record.
    ///
    /// # Errors
    ///
    /// [`RecordError::WrongShape`] or [`RecordError::BadStart`].
    pub fn start<G: Geometry>(&self) -> Result<Position<G>, RecordError> {
        if self.shape != G::SHAPE {
            return Err(RecordError::WrongShape { found: self.shape, wanted: G::SHAPE });
        }
        let board = Board::<G> {
            mine: G::Bitboard::narrow(self.start_mine),
            theirs: G::Bitboard::narrow(self.start_theirs),
        };
        let fits = board.mine.widen() == self.start_mine
            && board.theirs.widen() == self.start_theirs
            && board.is_valid();
        fits.then_some(Position { board, side: self.start_side }.pass_if_forced())
            .ok_or(RecordError::BadStart)
    }

    /// Replays the moves, whether or not the game is over after them. Returns the position before
    /// each move, then the last position.
    ///
    /// # Errors
    ///
    /// The start or the first move that breaks the rules, or has a wrong policy or value.
    pub fn replay<G: Geometry>(&self) -> Result<Vec<Position<G>>, RecordError> {
        let mut position = self.start::<G>()?;
        let mut positions = Vec::with_capacity(self.moves.len() + 1);
        for (index, played) in self.moves.iter().enumerate() {
            positions.push(position);
            if !played.policy.is_empty() && played.policy.len() != position.board.legal().len() {
                return Err(RecordError::BadPolicy { index });
            }
            if !played.has_valid_value() {
                return Err(RecordError::BadValue { index });
            }
            position = position
                .play(played.square)
                .ok_or(RecordError::IllegalMove { index })?
                .pass_if_forced();
        }
        positions.push(position);
        Ok(positions)
    }

    /// Replays the record like [`GameRecord::replay`], and checks its end.
    ///
    /// # Errors
    ///
    /// The first part of the record that breaks the rules.
    pub fn positions<G: Geometry>(&self) -> Result<Vec<Position<G>>, RecordError> {
        let positions = self.replay::<G>()?;
        if let Some(last) = positions.last().filter(|_| !self.resigned) {
            if !last.board.is_over() {
                return Err(RecordError::Unfinished);
            }
            let wanted = last.black_view().final_score(self.goal) as i16;
            if wanted != self.score {
                return Err(RecordError::WrongScore { found: self.score, wanted });
            }
        }
        Ok(positions)
    }
}
