//! A game as it was played: its start, its moves, what the search said, and its outcome.
//!
//! Records name squares by number and the shape by value, so that they need not be compiled
//! per shape; [`GameRecord::positions`] replays one with the rules of a shape.

use super::board::{Board, Colour, Position};
use super::geometry::{Geometry, Shape, Square, Word};
use super::rules::Goal;

/// One move of a game, with what the search that chose it had found.
#[derive(Clone, PartialEq, Debug)]
pub struct MoveRecord {
    /// The square played.
    pub square: Square,
    /// The share of the search's attention that each legal move got, as weights in the order
    /// of the legal moves' square numbers; empty where no policy is to be learnt from the
    /// move (an opening move, a cheap search).
    pub policy: Vec<u16>,
    /// The search's value of the position for the side to move, -1 to 1.
    pub value: f32,
    /// The exact final score for the side to move under perfect play, where it was solved.
    pub exact: Option<i8>,
}

impl MoveRecord {
    /// Whether the value is a number from -1 to 1, as far as rounding lets it be.
    pub fn has_sound_value(&self) -> bool {
        const ROUNDING: f32 = 1e-3;
        self.value.abs() <= 1.0 + ROUNDING
    }
}

/// A finished game.
#[derive(Clone, PartialEq, Debug)]
pub struct GameRecord {
    /// The board.
    pub shape: Shape,
    /// Which side of the score wins.
    pub goal: Goal,
    /// A number that is unique within a run.
    pub id: u64,
    /// The version of the net that made the first move; 0 is the one that the run began with.
    pub net_version: u32,
    /// How many of the first moves were not chosen by search: no position before the last of
    /// them is to be learnt from.
    pub opening_moves: u16,
    /// Discs of the side to move in the position where the record starts.
    pub start_mine: u128,
    /// Discs of the other side there.
    pub start_theirs: u128,
    /// The side to move there.
    pub start_side: Colour,
    /// The moves, without passes.
    pub moves: Vec<MoveRecord>,
    /// The final score for black under `goal`, empty squares to the winner of the disc count.
    pub score: i16,
    /// Whether the last moves were cut off because one side resigned; the score is then the
    /// estimate that the game ended with.
    pub resigned: bool,
}

/// Why a record does not fit the rules.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RecordError {
    /// The record is of another board.
    WrongShape {
        /// The record's.
        found: Shape,
        /// The one asked for.
        wanted: Shape,
    },
    /// The start position has overlapping discs or discs outside the board.
    BadStart,
    /// A move is not legal.
    IllegalMove {
        /// Counted from 0.
        index: usize,
    },
    /// A policy does not have one weight for each legal move.
    BadPolicy {
        /// The move's number, counted from 0.
        index: usize,
    },
    /// The search's value of a position is not from -1 to 1, or not a number.
    BadValue {
        /// The move's number, counted from 0.
        index: usize,
    },
    /// The moves end before the game does, without a resignation.
    Unfinished,
    /// The score is not what the final board says.
    WrongScore {
        /// The record's.
        found: i16,
        /// The board's.
        wanted: i16,
    },
}

impl std::fmt::Display for RecordError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            RecordError::WrongShape { found, wanted } => {
                write!(f, "the game is on board {found}, not {wanted}")
            }
            RecordError::BadStart => f.write_str("the start position is impossible"),
            RecordError::IllegalMove { index } => write!(f, "move {} is not legal", index + 1),
            RecordError::BadPolicy { index } => {
                write!(f, "the policy of move {} has not one weight per legal move", index + 1)
            }
            RecordError::BadValue { index } => {
                write!(f, "the value of move {} is not a number from -1 to 1", index + 1)
            }
            RecordError::Unfinished => f.write_str("the moves end before the game does"),
            RecordError::WrongScore { found, wanted } => {
                write!(f, "the score is given as {found}, but the final board says {wanted}")
            }
        }
    }
}

impl std::error::Error for RecordError {}

impl GameRecord {
    /// The position where the record starts.
    ///
    /// # Errors
    ///
    /// The record is of another shape or its start is impossible.
    pub fn start<G: Geometry>(&self) -> Result<Position<G>, RecordError> {
        if self.shape != G::SHAPE {
            return Err(RecordError::WrongShape { found: self.shape, wanted: G::SHAPE });
        }
        let board = Board::<G> {
            mine: G::Word::narrow(self.start_mine),
            theirs: G::Word::narrow(self.start_theirs),
        };
        let fits = board.mine.widen() == self.start_mine
            && board.theirs.widen() == self.start_theirs
            && board.is_valid();
        fits.then_some(Position { board, side: self.start_side }.settled())
            .ok_or(RecordError::BadStart)
    }

    /// Replays the record: the position before each move, and the last one.
    ///
    /// # Errors
    ///
    /// The first thing in the record that the rules do not allow.
    pub fn positions<G: Geometry>(&self) -> Result<Vec<Position<G>>, RecordError> {
        let mut position = self.start::<G>()?;
        let mut positions = Vec::with_capacity(self.moves.len() + 1);
        for (index, made) in self.moves.iter().enumerate() {
            positions.push(position);
            if !made.policy.is_empty() && made.policy.len() != position.board.legal().len() {
                return Err(RecordError::BadPolicy { index });
            }
            if !made.has_sound_value() {
                return Err(RecordError::BadValue { index });
            }
            position =
                position.play(made.square).ok_or(RecordError::IllegalMove { index })?.settled();
        }
        positions.push(position);
        if !self.resigned {
            if !position.board.is_over() {
                return Err(RecordError::Unfinished);
            }
            let wanted = position.black_view().final_score(self.goal) as i16;
            if wanted != self.score {
                return Err(RecordError::WrongScore { found: self.score, wanted });
            }
        }
        Ok(positions)
    }
}
