//! What a run needs of a learner, whatever it trains.
//!
//! A learner takes batches of positions with their targets, and has weights to play with and a
//! state to save. It owns neither the games nor the threads. `learners/` has those of this program.

pub use super::losses::Losses;
pub use super::options::learner::{Backend, OptimizerKind, Options, Precision};

use super::replay::Batch;
use super::seeds::Random;
use crate::model::{Weights, WeightsError};

/// Why training fails.
#[derive(Debug, thiserror::Error)]
pub enum LearnerError {
    /// The loss is not finite, or above the configuration's limit.
    #[error(
        "the loss is {loss} at step {step} (allowed: up to learner.loss_limit = {limit}); \
         the last checkpoint is still good: lower learner.learning_rate and resume"
    )]
    Diverged {
        /// The mean total loss since the losses were last read.
        loss: f64,
        /// The step at which it was read.
        step: u64,
        /// The limit.
        limit: f64,
    },
    /// The weights or the optimiser's state are not finite.
    #[error(
        "the weights or the optimiser's state after step {step} are not finite; the last \
         checkpoint is still good: lower learner.learning_rate and resume"
    )]
    NotFinite {
        /// The number of steps done.
        step: u64,
    },
    /// Saved weights or a saved state do not fit the model or the optimiser.
    #[error(transparent)]
    Weights(#[from] WeightsError),
}

/// The progress of a run. The learning rate depends on it, and on the number of steps.
#[derive(Clone, Copy, Default, PartialEq, Debug)]
pub struct RunProgress {
    /// Positions of self-play generated so far.
    pub positions: u64,
    /// The share of the run that is done, 0 to 1; 0 without limits.
    pub share: f64,
}

/// Trains one model.
pub trait Learner {
    /// Steps done.
    fn steps(&self) -> u64;

    /// The learning rate of the next step at this progress of the run.
    fn learning_rate(&self, progress: RunProgress) -> f64;

    /// One step on `batch` at this progress of the run. All of its chance comes from `random`,
    /// which is another stream in each step.
    ///
    /// Divergence is detected by [`Learner::take_losses`], not here.
    fn step(&mut self, batch: &Batch, progress: RunProgress, random: &mut Random);

    /// The mean losses since the last call.
    ///
    /// # Errors
    ///
    /// The loss has diverged.
    fn take_losses(&mut self) -> Result<Losses, LearnerError>;

    /// Measures the newest weights on a batch, without training on it. Returns the names of curves,
    /// such as `held_out/value_loss`, with their values.
    fn evaluate(&mut self, batch: &Batch) -> Vec<(&'static str, f64)>;

    /// The weights to play with.
    fn play_weights(&self) -> Weights;

    /// Everything else that training goes on from: together with the weights to play with and the
    /// counters, a resumed run needs nothing else.
    fn state(&self) -> Weights;

    /// Replaces the first weights by those of another model, before the first step.
    ///
    /// # Errors
    ///
    /// The weights do not fit the model.
    fn start_from(&mut self, weights: &Weights) -> Result<(), LearnerError>;

    /// Continues from saved weights and a saved state after `steps` steps.
    ///
    /// # Errors
    ///
    /// The weights or the state do not fit the model or the optimiser.
    fn load(&mut self, play: &Weights, state: &Weights, steps: u64) -> Result<(), LearnerError>;

    /// [`Learner::play_weights`], checked before they are stored or published. A step's losses are
    /// computed before its update, so they do not show whether the last update was bad.
    ///
    /// # Errors
    ///
    /// The weights are not finite.
    fn finite_weights(&self) -> Result<Weights, LearnerError> {
        require_finite(self.play_weights(), self.steps())
    }

    /// [`Learner::state`], checked before it is stored.
    ///
    /// # Errors
    ///
    /// The state is not finite.
    fn finite_state(&self) -> Result<Weights, LearnerError> {
        require_finite(self.state(), self.steps())
    }
}

fn require_finite(weights: Weights, step: u64) -> Result<Weights, LearnerError> {
    let is_finite = weights.iter().all(|(_, array)| array.values.iter().all(|x| x.is_finite()));
    if is_finite { Ok(weights) } else { Err(LearnerError::NotFinite { step }) }
}

/// The factor of the learning rate at the end of a cooldown.
const COOLDOWN_END: f64 = 0.05;

impl Options {
    /// The learning rate after `steps` steps at this progress of the run: its schedule, with the
    /// warm-up at the start and the cooldown at the end.
    pub fn learning_rate_at(&self, steps: u64, progress: RunProgress) -> f64 {
        let pairs = self.learning_rate.iter();
        let reached = pairs.take_while(|&&(from, _)| from <= progress.positions);
        let rate = reached.last().map_or(0.0, |pair| pair.1);
        let warmup = self.warmup_steps.max(1) as f64;
        let cooldown = self.cooldown;
        let cooled =
            if cooldown > 0.0 { (progress.share - (1.0 - cooldown)) / cooldown } else { 0.0 };
        let cooldown_factor = 1.0 - (1.0 - COOLDOWN_END) * cooled.clamp(0.0, 1.0);
        rate * ((steps + 1) as f64 / warmup).min(1.0) * cooldown_factor
    }

    /// `losses` after `step` steps, unless their total has diverged.
    ///
    /// # Errors
    ///
    /// The total is not finite, or above the limit.
    pub fn check_losses(&self, losses: Losses, step: u64) -> Result<Losses, LearnerError> {
        let (loss, limit) = (losses.total, self.loss_limit);
        if loss.is_finite() && loss <= limit {
            Ok(losses)
        } else {
            Err(LearnerError::Diverged { loss, step, limit })
        }
    }
}
