//! Predictions: what a search asks about positions, and what answers it.
//!
//! A search has an [`Input`] for each position that it asks about, and gets a [`Prediction`]: a
//! policy, a value and a score. A [`Backend`] computes a batch of them. It may be a net, an
//! evaluator, or a table in a test; the search does not know which. A [`Predictor`] takes batches
//! from actors and computes them on the caller's thread or on a shared device.

mod evaluator;
mod server;

use std::error::Error;

pub use evaluator::EvaluatorBackend;
pub use server::{Client, LocalPredictor, Predictor, Query, Server};

use crate::game::{Bitboard, Board, Geometry, SquareSet};
use crate::model::{Weights, WeightsError};

/// A position from the view of the side to move. Bits are numbered `row * stride + column`, with
/// the stride of the board's [`Layout`](crate::game::Layout).
///
/// It is small enough to be passed between threads by value. Each backend encodes it directly into
/// its own memory layout.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Input {
    /// Discs of the side to move.
    pub mine: u128,
    /// Discs of the other side.
    pub theirs: u128,
    /// Squares where the side to move may play.
    pub legal: u128,
}

impl Input {
    /// A board whose legal moves are known.
    #[inline]
    pub fn new<G: Geometry>(board: Board<G>, legal: SquareSet<G>) -> Input {
        Input { mine: board.mine.widen(), theirs: board.theirs.widen(), legal: legal.0.widen() }
    }
}

/// The prediction for one position.
#[derive(Clone, Copy, Debug)]
pub struct Prediction<'a> {
    /// One logit for each square of the board; only those of legal moves are read.
    pub policy: &'a [f32],
    /// The expected result for the side to move, from -1 (loss) to 1 (win).
    pub value: f32,
    /// The expected final disc difference for the side to move.
    pub score: f32,
}

/// The predictions for a batch of positions. The vectors are reused for the next batch.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Predictions {
    /// One row per position: a logit for each square, legal or not.
    pub policy: Vec<f32>,
    /// The expected result for the side to move, -1 (loss) to 1 (win).
    pub value: Vec<f32>,
    /// The final disc difference for the side to move, in discs. 0 if it is not predicted.
    pub score: Vec<f32>,
}

impl Predictions {
    /// Makes room for the predictions of `positions` positions on a board of `squares` squares.
    pub fn resize(&mut self, positions: usize, squares: usize) {
        self.policy.resize(positions * squares, 0.0);
        self.value.resize(positions, 0.0);
        self.score.resize(positions, 0.0);
    }

    /// The prediction for the position at `index` of the batch, on a board of `squares` squares.
    ///
    /// # Panics
    ///
    /// The batch has no such position.
    pub fn get(&self, index: usize, squares: usize) -> Prediction<'_> {
        Prediction {
            policy: &self.policy[index * squares..][..squares],
            value: self.value[index],
            score: self.score[index],
        }
    }
}

/// Why predictions cannot be computed.
#[derive(Debug, thiserror::Error)]
pub enum PredictError {
    /// The weights belong to another model.
    #[error(transparent)]
    Weights(#[from] WeightsError),
    /// The backend failed.
    #[error(transparent)]
    Backend(Box<dyn Error + Send + Sync>),
    /// A query was collected from an empty slot.
    #[error("slot {slot} holds no query")]
    EmptySlot {
        /// The slot.
        slot: usize,
    },
    /// The threads of the inference server have ended.
    #[error("the inference server has ended")]
    ServerEnded,
}

/// A copy of a model that computes predictions for batches of positions.
pub trait Backend: Send {
    /// Writes the predictions for `inputs` into `predictions`.
    ///
    /// # Errors
    ///
    /// The device fails.
    fn predict(
        &mut self,
        inputs: &[Input],
        predictions: &mut Predictions,
    ) -> Result<(), PredictError>;

    /// Replaces the weights.
    ///
    /// # Errors
    ///
    /// `weights` belong to another model. Nothing has changed then.
    fn load(&mut self, weights: &Weights) -> Result<(), PredictError>;

    /// The code, precision and device, for messages.
    fn describe(&self) -> String;

    /// Whether the prediction for a position has the same bits in every batch, whatever the other
    /// positions are.
    fn is_batch_invariant(&self) -> bool {
        false
    }
}
