//! The learner: it owns the net in training, the optimiser, and the averaged weights.
//!
//! A step is forward pass, losses, backward pass and update, on one batch of the replay window. The
//! losses stay on the device and are read once per published net, so that no step waits for a
//! transfer from the device.

use rand::{Rng, RngExt as _};
use tch::{Device, Kind, Tensor};

pub use super::losses::Losses;
pub use super::options::learner::{Backend, OptimizerKind, Options, Precision};

use super::replay::Batch;
use crate::net::average::Average;
use crate::net::encode::upload;
use crate::net::optimizer::{Optimizer, UpdateRule};
use crate::net::trainer::Trainer;
use crate::net::weights::{Weights, WeightsError};
use crate::net::{Heads, Net, NetSpec, Pass, inference};

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
    /// Saved weights or a saved state do not fit the net or the optimiser.
    #[error(transparent)]
    Weights(#[from] WeightsError),
}

const LOSSES: usize = 5;

/// The factor of the learning rate at the end of a cooldown.
const COOLDOWN_END: f64 = 0.05;

/// The progress of a run. The learning rate depends on it, and on the number of steps.
#[derive(Clone, Copy, Default, PartialEq, Debug)]
pub struct RunProgress {
    /// Positions of self-play generated so far.
    pub positions: u64,
    /// The share of the run that is done, 0 to 1; 0 without limits.
    pub share: f64,
}

/// Prefix of the net's arrays in a saved state.
const NET: &str = "net.";
/// Prefix of the optimiser's arrays in a saved state.
const OPTIMIZER: &str = "optimizer.";

/// How well the net predicts positions that it was not trained on.
#[derive(Clone, Copy, Default, PartialEq, Debug)]
pub struct HeldOutMetrics {
    /// The same losses as in training.
    pub losses: Losses,
    /// Entropy of the net's policy over the legal moves, in nats.
    pub policy_entropy: f64,
    /// Entropy of the search's policy, in nats.
    pub target_entropy: f64,
    /// How often the net and the search prefer the same move, 0 to 1.
    pub agreement: f64,
    /// Root of the mean squared error of the value.
    pub value_error: f64,
}

/// The training targets of a batch, as tensors on the learner's device.
struct Targets {
    legal: Tensor,
    policy: Tensor,
    has_policy: Tensor,
    value: Tensor,
    score: Tensor,
    owner: Tensor,
    has_ending: Tensor,
}

/// Trains one net.
pub struct Learner {
    net: Net,
    /// This program's own kernels; `None` if libtorch computes the gradients.
    trainer: Option<Trainer>,
    optimizer: Optimizer,
    /// The averaged weights; `None` if averaging is off.
    average: Option<Average>,
    options: Options,
    kind: Kind,
    steps: u64,
    /// Sums of the losses since they were last read, and the number of steps.
    loss_sums: Tensor,
    summed_steps: u32,
}

impl Learner {
    /// A learner with random weights, which depend on `seed` only.
    pub fn new(spec: &NetSpec, options: &Options, seed: u64, device: Device) -> Learner {
        let net = Net::new(spec, seed, device);
        let allows_own_kernels = options.backend == Backend::Auto;
        let wanted =
            (options.precision != Precision::Auto).then(|| kind(options.precision, device));
        Learner {
            trainer: allows_own_kernels.then(|| Trainer::new(spec, device, wanted)).flatten(),
            optimizer: Optimizer::new(&net, update_rule(options), options.weight_decay),
            average: (options.ema > 0.0).then(|| Average::new(&net)),
            net,
            options: options.clone(),
            kind: kind(options.precision, device),
            steps: 0,
            loss_sums: Tensor::zeros([LOSSES as i64], (Kind::Float, device)),
            summed_steps: 0,
        }
    }

    /// Steps done.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// The learning rate of the next step at this progress of the run.
    pub fn learning_rate(&self, progress: RunProgress) -> f64 {
        let pairs = self.options.learning_rate.iter();
        let reached = pairs.take_while(|&&(from, _)| from <= progress.positions);
        let rate = reached.last().map_or(0.0, |pair| pair.1);
        let warmup = self.options.warmup_steps.max(1) as f64;
        let cooldown = self.options.cooldown;
        let cooled =
            if cooldown > 0.0 { (progress.share - (1.0 - cooldown)) / cooldown } else { 0.0 };
        let cooldown_factor = 1.0 - (1.0 - COOLDOWN_END) * cooled.clamp(0.0, 1.0);
        rate * ((self.steps + 1) as f64 / warmup).min(1.0) * cooldown_factor
    }

    /// Seeds libtorch's generator, which draws the dropped units of the next step. Does not use
    /// `random` if the net has no dropout.
    pub fn seed_dropout<R: Rng>(&self, random: &mut R) {
        if self.net.spec().options.dropout > 0.0 {
            tch::manual_seed(random.random());
        }
    }

    /// One step on `batch` at this progress of the run.
    ///
    /// Divergence is detected by [`Learner::take_losses`], not here.
    pub fn step(&mut self, batch: &Batch, progress: RunProgress) {
        let device = self.net.device();
        let targets = Targets::new(batch, device);
        let loss = |heads: &Heads| targets.losses(heads, &self.options);
        let (losses, gradients) = match &mut self.trainer {
            Some(trainer) => trainer.gradients(&mut self.net, &batch.inputs, loss),
            None => {
                let planes = self.net.planes(&batch.inputs, self.kind);
                let losses = loss(&self.net.forward(&planes, Pass::train(self.kind)));
                let gradients = self.net.gradients(&losses.get(0));
                (losses, gradients)
            }
        };
        self.optimizer.step(&self.net, &gradients, self.learning_rate(progress));
        if let Some(average) = &mut self.average {
            average.update(&self.net, self.options.ema, self.steps);
        }
        self.loss_sums += losses.detach();
        self.steps += 1;
        self.summed_steps += 1;
    }

    /// The mean losses since the last call. Only here losses are read from the device.
    ///
    /// # Errors
    ///
    /// The loss has diverged.
    pub fn take_losses(&mut self) -> Result<Losses, LearnerError> {
        let count = std::mem::take(&mut self.summed_steps).max(1) as f64;
        let losses = read_losses(&self.loss_sums, count);
        self.loss_sums = Tensor::zeros([LOSSES as i64], (Kind::Float, self.net.device()));
        let limit = self.options.loss_limit;
        if !losses.total.is_finite() || losses.total > limit {
            return Err(LearnerError::Diverged { loss: losses.total, step: self.steps, limit });
        }
        Ok(losses)
    }

    /// Evaluates the net with its newest weights on a batch, without training on it.
    pub fn evaluate(&mut self, batch: &Batch) -> HeldOutMetrics {
        let targets = Targets::new(batch, self.net.device());
        tch::no_grad(|| {
            let planes = self.net.planes(&batch.inputs, self.kind);
            let heads = self.net.forward(&planes, Pass::INFERENCE);
            let losses = read_losses(&targets.losses(&heads, &self.options), 1.0);
            let policy = masked(&heads.policy, &targets.legal).softmax(1, Kind::Float);
            let share = targets.has_policy.mean(Kind::Float).double_value(&[]).max(1e-9);
            let mean = |per_sample: Tensor| {
                (per_sample * &targets.has_policy).mean(Kind::Float).double_value(&[]) / share
            };
            let entropy = |probabilities: &Tensor| {
                let logs = probabilities.clamp_min(1e-12).log();
                mean(-(probabilities * logs).sum_dim_intlist([1i64].as_slice(), false, Kind::Float))
            };
            let same = policy.argmax(1, false).eq_tensor(&targets.policy.argmax(1, false));
            HeldOutMetrics {
                losses,
                policy_entropy: entropy(&policy),
                target_entropy: entropy(&targets.policy),
                agreement: mean(same.to_kind(Kind::Float)),
                value_error: losses.value.sqrt(),
            }
        })
    }

    /// The weights to play with: the averaged ones if averaging is on, otherwise the newest.
    pub fn play_weights(&self) -> Weights {
        match &self.average {
            Some(average) => average.weights(&self.net),
            None => self.net.weights(),
        }
    }

    /// [`Learner::play_weights`], checked before they are stored or published. A step's losses are
    /// computed before its update, so they do not show whether the last update was bad.
    ///
    /// # Errors
    ///
    /// The weights are not finite.
    pub fn finite_weights(&self) -> Result<Weights, LearnerError> {
        self.require_finite(self.play_weights())
    }

    /// [`Learner::state`], checked before it is stored.
    ///
    /// # Errors
    ///
    /// The state is not finite.
    pub fn finite_state(&self) -> Result<Weights, LearnerError> {
        self.require_finite(self.state())
    }

    fn require_finite(&self, weights: Weights) -> Result<Weights, LearnerError> {
        let is_finite = weights.iter().all(|(_, array)| array.values.iter().all(|x| x.is_finite()));
        if is_finite { Ok(weights) } else { Err(LearnerError::NotFinite { step: self.steps }) }
    }

    /// The newest weights and the optimiser's state. Together with the weights to play with and the
    /// counters, a resumed run needs nothing else.
    pub fn state(&self) -> Weights {
        let mut state = Weights::default();
        for (part, weights) in [(NET, self.net.weights()), (OPTIMIZER, self.optimizer.state())] {
            for (name, array) in weights.iter() {
                state.insert(format!("{part}{name}"), array.shape.clone(), array.values.clone());
            }
        }
        state
    }

    /// Replaces the random weights by those of another net, before the first step.
    ///
    /// # Errors
    ///
    /// The weights do not fit the net.
    pub fn start_from(&mut self, weights: &Weights) -> Result<(), LearnerError> {
        self.net.load(weights)?;
        if let Some(average) = &mut self.average {
            average.load(&self.net, weights)?;
        }
        Ok(())
    }

    /// Continues from saved weights and a saved state after `steps` steps.
    ///
    /// # Errors
    ///
    /// The weights or the state do not fit the net or the optimiser.
    pub fn load(
        &mut self,
        play: &Weights,
        state: &Weights,
        steps: u64,
    ) -> Result<(), LearnerError> {
        self.net.load(&part(state, NET))?;
        if let Some(average) = &mut self.average {
            average.load(&self.net, play)?;
        }
        self.optimizer.load_state(&part(state, OPTIMIZER))?;
        self.steps = steps;
        Ok(())
    }
}

impl Targets {
    fn new(batch: &Batch, device: Device) -> Targets {
        let count = batch.len() as i64;
        let rows = |data: &[f32]| upload(Tensor::from_slice(data).view([count, -1]), device);
        let column = |data: &[f32]| upload(Tensor::from_slice(data), device);
        Targets {
            legal: rows(&batch.legal),
            policy: rows(&batch.policy),
            has_policy: column(&batch.has_policy),
            value: column(&batch.value),
            score: column(&batch.score),
            owner: rows(&batch.owner),
            has_ending: column(&batch.has_ending),
        }
    }

    /// Total, policy, value, score and owner loss as one tensor of shape [5].
    fn losses(&self, heads: &Heads, options: &Options) -> Tensor {
        let zero = || Tensor::zeros([], (Kind::Float, self.legal.device()));
        let masked_mean = |per_sample: Tensor, mask: &Tensor| {
            (per_sample * mask).sum(Kind::Float) / mask.sum(Kind::Float).clamp_min(1.0)
        };
        let logits = masked(&heads.policy, &self.legal);
        let likelihood = logits.log_softmax(1, Kind::Float) * &self.policy;
        let policy = masked_mean(
            -likelihood.sum_dim_intlist([1i64].as_slice(), false, Kind::Float),
            &self.has_policy,
        );
        let value = (&heads.value - &self.value).square().mean(Kind::Float);
        let score = heads.score.as_ref().map_or_else(zero, |score| {
            masked_mean((score - &self.score).square(), &self.has_ending)
        });
        let owner = heads.owner.as_ref().map_or_else(zero, |owner| {
            let error = (owner - &self.owner).square();
            masked_mean(error.mean_dim([1i64].as_slice(), false, Kind::Float), &self.has_ending)
        });
        let total = &policy * options.policy_weight
            + &value * options.value_weight
            + &score * options.score_weight
            + &owner * options.owner_weight;
        Tensor::stack(&[total, policy, value, score, owner], 0)
    }
}

/// The arrays of a state whose names start with `prefix`; the prefix is removed.
fn part(state: &Weights, prefix: &str) -> Weights {
    let mut part = Weights::default();
    for (name, array) in state.iter() {
        if let Some(name) = name.strip_prefix(prefix) {
            part.insert(name, array.shape.clone(), array.values.clone());
        }
    }
    part
}

fn update_rule(options: &Options) -> UpdateRule {
    match options.optimizer {
        OptimizerKind::Sgd => UpdateRule::Sgd { momentum: options.momentum },
        OptimizerKind::Adam => UpdateRule::Adam,
        OptimizerKind::Adamw => UpdateRule::AdamW,
    }
}

fn kind(precision: Precision, device: Device) -> Kind {
    match precision {
        Precision::F32 => Kind::Float,
        Precision::Bf16 => Kind::BFloat16,
        Precision::Auto => inference::kind(inference::Precision::Auto, device),
    }
}

/// Logits, with those of illegal moves so low that their softmax is 0.
fn masked(logits: &Tensor, legal: &Tensor) -> Tensor {
    logits.to_kind(Kind::Float) + (legal - 1.0) * 1e4
}

fn read_losses(sums: &Tensor, count: f64) -> Losses {
    let mut values = [0.0f32; LOSSES];
    sums.to(Device::Cpu).copy_data(&mut values, LOSSES);
    let [total, policy, value, score, owner] = values.map(|value| value as f64 / count);
    Losses { total, policy, value, score, owner }
}
