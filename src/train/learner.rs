//! The learner: sole owner of the net that is trained, its optimiser, and the averaged copy.
//!
//! A step is forward, losses, backward, update, on one batch from the replay window. Losses
//! stay on the device and are read once for each published net, so that a step never waits
//! for the host.

use rand::{Rng, RngExt as _};
use tch::{Device, Kind, Tensor};

pub use super::losses::Losses;
pub use super::options::learner::{Backend, OptimizerKind, Options, Precision};

use super::replay::Batch;
use crate::net::average::Average;
use crate::net::encode::sent;
use crate::net::optimizer::{self, Optimizer, UpdateRule};
use crate::net::trainer::Trainer;
use crate::net::weights::{Weights, WeightsError};
use crate::net::{Heads, Net, NetSpec, Pass, inference};

/// What a step of learning can fail with.
#[derive(Debug, thiserror::Error)]
pub enum LearnerError {
    /// The loss is no number, or beyond the limit of the configuration.
    #[error(
        "the loss is {loss} at step {step} (allowed: up to learner.loss_limit = {limit}); \
         the last checkpoint is still good: lower learner.learning_rate and resume"
    )]
    Diverged {
        /// The mean total loss since the last reading.
        loss: f64,
        /// The step at which it was read.
        step: u64,
        /// The limit.
        limit: f64,
    },
    /// The weights are no numbers any more.
    #[error(
        "the weights or the optimiser's state after step {step} are not finite; the last \
         checkpoint is still good: lower learner.learning_rate and resume"
    )]
    NotFinite {
        /// The step that made them.
        step: u64,
    },
    /// Saved weights, or a saved state, are of another net or optimiser.
    #[error(transparent)]
    Weights(#[from] WeightsError),
}

const LOSSES: usize = 5;

/// What is left of the learning rate at the end of a run that cools down.
const COLDEST: f64 = 0.05;

/// How far a run has come: what its learning rate depends on, besides its steps.
#[derive(Clone, Copy, Default, PartialEq, Debug)]
pub struct RunProgress {
    /// Positions of self-play made.
    pub positions: u64,
    /// The share of the run that is done, 0 to 1; 0 without limits.
    pub share: f64,
}

/// How the arrays of a saved state begin, by what they belong to.
const NET: &str = "net.";
const OPTIMIZER: &str = "optimizer.";

/// What the net says of positions that it has not learnt from.
#[derive(Clone, Copy, Default, PartialEq, Debug)]
pub struct HeldOut {
    /// The same losses as in training.
    pub losses: Losses,
    /// Entropy of the net's policy over the legal moves, in nats.
    pub policy_entropy: f64,
    /// Entropy of the search's policy, in nats.
    pub target_entropy: f64,
    /// How often the net's first choice is the search's.
    pub agreement: f64,
    /// Root of the mean squared error of the value.
    pub value_error: f64,
}

/// What a batch wants the heads to say, as tensors on the learner's device.
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
    /// This program's own kernels; none where libtorch computes the gradients.
    trainer: Option<Trainer>,
    optimizer: Optimizer,
    /// The averaged weights; none where averaging is off.
    average: Option<Average>,
    options: Options,
    kind: Kind,
    steps: u64,
    sums: Tensor,
    summed: u32,
}

impl Learner {
    /// A learner of a random net, the same for the same `seed`.
    pub fn new(spec: &NetSpec, options: &Options, seed: u64, device: Device) -> Learner {
        let net = Net::new(spec, seed, device);
        let own = options.backend == Backend::Auto;
        let wanted =
            (options.precision != Precision::Auto).then(|| kind(options.precision, device));
        Learner {
            trainer: own.then(|| Trainer::new(spec, device, wanted)).flatten(),
            optimizer: Optimizer::new(&net, rule(options), options.weight_decay),
            average: (options.ema > 0.0).then(|| Average::new(&net)),
            net,
            options: options.clone(),
            kind: kind(options.precision, device),
            steps: 0,
            sums: Tensor::zeros([LOSSES as i64], (Kind::Float, device)),
            summed: 0,
        }
    }

    /// Steps done.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// The learning rate of the next step of a run that has come so far.
    pub fn learning_rate(&self, reached: RunProgress) -> f64 {
        let stairs = self.options.learning_rate.iter();
        let began = stairs.take_while(|&&(from, _)| from <= reached.positions);
        let rate = began.last().map_or(0.0, |stair| stair.1);
        let warmup = self.options.warmup_steps.max(1) as f64;
        let cooldown = self.options.cooldown;
        let cooled =
            if cooldown > 0.0 { (reached.share - (1.0 - cooldown)) / cooldown } else { 0.0 };
        let left = 1.0 - (1.0 - COLDEST) * cooled.clamp(0.0, 1.0);
        rate * ((self.steps + 1) as f64 / warmup).min(1.0) * left
    }

    /// Seeds the units that the next step drops, which libtorch draws by itself; draws nothing
    /// from `random` where the net drops none.
    pub fn seed_dropout<R: Rng>(&self, random: &mut R) {
        if self.net.spec().options.dropout > 0.0 {
            tch::manual_seed(random.random());
        }
    }

    /// One step on `batch`, in a run that has come so far.
    ///
    /// Divergence is seen by [`Learner::take_losses`], not here.
    pub fn step(&mut self, batch: &Batch, reached: RunProgress) {
        let device = self.net.device();
        let targets = Targets::new(batch, device);
        let loss = |heads: &Heads| targets.losses(heads, &self.options);
        let (losses, mut gradients) = match &mut self.trainer {
            Some(trainer) => trainer.gradients(&mut self.net, &batch.inputs, loss),
            None => {
                let planes = self.net.planes(&batch.inputs, self.kind);
                let losses = loss(&self.net.forward(&planes, Pass::train(self.kind)));
                let gradients = self.net.gradients(&losses.get(0));
                (losses, gradients)
            }
        };
        if self.options.gradient_clip > 0.0 {
            let _norm = optimizer::clip(&mut gradients, self.options.gradient_clip);
        }
        self.optimizer.step(&self.net, &gradients, self.learning_rate(reached));
        if let Some(average) = &mut self.average {
            average.update(&self.net, self.options.ema, self.steps);
        }
        self.sums += losses.detach();
        self.steps += 1;
        self.summed += 1;
    }

    /// The mean losses since this was last called; the one reading from the device.
    ///
    /// # Errors
    ///
    /// The loss has diverged.
    pub fn take_losses(&mut self) -> Result<Losses, LearnerError> {
        let count = std::mem::take(&mut self.summed).max(1) as f64;
        let losses = read_losses(&self.sums, count);
        self.sums = Tensor::zeros([LOSSES as i64], (Kind::Float, self.net.device()));
        let limit = self.options.loss_limit;
        if !losses.total.is_finite() || losses.total > limit {
            return Err(LearnerError::Diverged { loss: losses.total, step: self.steps, limit });
        }
        Ok(losses)
    }

    /// What the net with the newest weights says of a batch, without learning from it.
    pub fn evaluate(&mut self, batch: &Batch) -> HeldOut {
        let targets = Targets::new(batch, self.net.device());
        tch::no_grad(|| {
            let planes = self.net.planes(&batch.inputs, self.kind);
            let heads = self.net.forward(&planes, Pass::EVALUATE);
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
            HeldOut {
                losses,
                policy_entropy: entropy(&policy),
                target_entropy: entropy(&targets.policy),
                agreement: mean(same.to_kind(Kind::Float)),
                value_error: losses.value.sqrt(),
            }
        })
    }

    /// The weights to play with: averaged where averaging is on, else the newest.
    pub fn play_weights(&self) -> Weights {
        match &self.average {
            Some(average) => average.weights(&self.net),
            None => self.net.weights(),
        }
    }

    /// The weights to play with, for storing them. A step's losses are those before it, so the
    /// last step may have spoilt the weights unnoticed.
    ///
    /// # Errors
    ///
    /// They are not finite.
    pub fn sound_weights(&self) -> Result<Weights, LearnerError> {
        self.sound(self.play_weights())
    }

    /// [`Learner::state`], for storing it.
    ///
    /// # Errors
    ///
    /// It is not finite.
    pub fn sound_state(&self) -> Result<Weights, LearnerError> {
        self.sound(self.state())
    }

    fn sound(&self, weights: Weights) -> Result<Weights, LearnerError> {
        let is_sound = weights.iter().all(|(_, array)| array.values.iter().all(|x| x.is_finite()));
        if is_sound { Ok(weights) } else { Err(LearnerError::NotFinite { step: self.steps }) }
    }

    /// What a resumed run needs besides the weights to play with and the counters: the newest
    /// weights and the optimiser's state.
    pub fn state(&self) -> Weights {
        let mut state = Weights::default();
        for (part, weights) in [(NET, self.net.weights()), (OPTIMIZER, self.optimizer.state())] {
            for (name, array) in weights.iter() {
                state.insert(format!("{part}{name}"), array.shape.clone(), array.values.clone());
            }
        }
        state
    }

    /// Begins with the weights of another net instead of random ones.
    ///
    /// # Errors
    ///
    /// They are of another net.
    pub fn begin_with(&mut self, weights: &Weights) -> Result<(), LearnerError> {
        self.net.load(weights)?;
        if let Some(average) = &mut self.average {
            average.load(&self.net, weights)?;
        }
        Ok(())
    }

    /// Continues from saved weights and state that were taken after `steps` steps.
    ///
    /// # Errors
    ///
    /// They are of another net or optimiser.
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
        let rows = |data: &[f32]| sent(Tensor::from_slice(data).view([count, -1]), device);
        let column = |data: &[f32]| sent(Tensor::from_slice(data), device);
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

    /// Total, policy, value, score and owner loss as one tensor of five.
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

/// The arrays of a state whose names begin with `prefix`, under the rest of their names.
fn part(state: &Weights, prefix: &str) -> Weights {
    let mut part = Weights::default();
    for (name, array) in state.iter() {
        if let Some(name) = name.strip_prefix(prefix) {
            part.insert(name, array.shape.clone(), array.values.clone());
        }
    }
    part
}

fn rule(options: &Options) -> UpdateRule {
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

/// Logits with those of illegal moves pushed out of the softmax.
fn masked(logits: &Tensor, legal: &Tensor) -> Tensor {
    logits.to_kind(Kind::Float) + (legal - 1.0) * 1e4
}

fn read_losses(sums: &Tensor, count: f64) -> Losses {
    let mut values = [0.0f32; LOSSES];
    sums.to(Device::Cpu).copy_data(&mut values, LOSSES);
    let [total, policy, value, score, owner] = values.map(|value| value as f64 / count);
    Losses { total, policy, value, score, owner }
}
