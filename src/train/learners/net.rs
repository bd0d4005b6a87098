//! The learner of nets: it owns the net in training, the optimiser, and the averaged weights.
//!
//! A step is forward pass, losses, backward pass and update, on one batch of the replay window. The
//! losses stay on the device and are read once per published net, so that no step waits for a
//! transfer from the device.

use std::ops::Range;

use rand::RngExt as _;
use tch::{Device, Kind, Tensor};

use crate::model::Weights;
use crate::net::average::Average;
use crate::net::encode::tensors::upload;
use crate::net::inference::{self, number_format};
use crate::net::optimizer::{Optimizer, UpdateRule};
use crate::net::trainer::Trainer;
use crate::net::{Heads, Net, NetSpec, Pass};
use crate::train::learner::{
    Backend, Learner, LearnerError, Losses, OptimizerKind, Options, Precision, RunProgress,
};
use crate::train::learners::shards::Shards;
use crate::train::replay::Batch;
use crate::train::seeds::Random;

/// Weight of the loss on the squares' final owners.
const OWNER_WEIGHT: f64 = 0.25;
/// Momentum of `sgd`.
const MOMENTUM: f64 = 0.9;
/// The names of the losses: the total, then the parts.
const LOSSES: [&str; 5] = ["total", "policy", "value", "score", "owner"];

/// Prefix of the net's arrays in a saved state.
const NET: &str = "net.";
/// Prefix of the optimiser's arrays in a saved state.
const OPTIMIZER: &str = "optimizer.";

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
pub struct NetLearner {
    net: Net,
    /// This program's own kernels; `None` if libtorch computes the gradients.
    trainer: Option<Trainer>,
    shards: Shards,
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

impl NetLearner {
    /// A learner with random weights, which depend on `seed` only.
    pub fn new(
        spec: &NetSpec,
        options: &Options,
        seed: u64,
        device: inference::Device,
    ) -> NetLearner {
        let kind = |precision| kind(precision, device);
        let device = Device::from(device);
        let net = Net::new(spec, seed, device);
        let allows_own_kernels = options.backend == Backend::Auto;
        let wanted = (options.precision != Precision::Auto).then(|| kind(options.precision));
        let trainer = || allows_own_kernels.then(|| Trainer::new(spec, device, wanted)).flatten();
        // One thread keeps a GPU busy.
        let threads = if device == Device::Cpu { options.threads as usize } else { 1 };
        NetLearner {
            shards: Shards::new(spec, (threads, kind(options.precision)), trainer),
            trainer: trainer(),
            optimizer: Optimizer::new(&net, update_rule(options), options.weight_decay),
            average: (options.ema > 0.0).then(|| Average::new(&net)),
            net,
            options: options.clone(),
            kind: kind(options.precision),
            steps: 0,
            loss_sums: Tensor::zeros([LOSSES.len() as i64], (Kind::Float, device)),
            summed_steps: 0,
        }
    }
}

impl Learner for NetLearner {
    fn steps(&self) -> u64 {
        self.steps
    }

    fn learning_rate(&self, progress: RunProgress) -> f64 {
        self.options.learning_rate_at(self.steps, progress)
    }

    fn step(&mut self, batch: &Batch, progress: RunProgress, random: &mut Random) {
        // libtorch's generator draws the dropped units.
        if self.net.spec().options.dropout > 0.0 {
            tch::manual_seed(random.random());
        }
        let device = self.net.device();
        let loss = |part: Range<usize>, heads: &Heads| {
            Targets::new(batch, part, device).losses(heads, &self.options)
        };
        let computer = (&mut self.net, self.trainer.as_mut());
        let (losses, gradients) = self.shards.gradients(computer, batch, loss);
        self.optimizer.step(&self.net, &gradients, self.learning_rate(progress));
        if let Some(average) = &mut self.average {
            average.update(&self.net, self.options.ema, self.steps);
        }
        self.loss_sums += losses;
        self.steps += 1;
        self.summed_steps += 1;
    }

    /// Only here losses are read from the device.
    fn take_losses(&mut self) -> Result<Losses, LearnerError> {
        let count = std::mem::take(&mut self.summed_steps).max(1) as f64;
        let losses = read_losses(&self.loss_sums, count);
        self.loss_sums = Tensor::zeros([LOSSES.len() as i64], (Kind::Float, self.net.device()));
        self.options.check_losses(losses, self.steps)
    }

    /// Besides the losses: entropies of the net's and the search's policy in nats, how often both
    /// prefer the same move, and the root of the mean squared error of the value.
    fn evaluate(&mut self, batch: &Batch) -> Vec<(&'static str, f64)> {
        let targets = Targets::new(batch, 0..batch.len(), self.net.device());
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
            vec![
                ("held_out/policy_loss", losses.part("policy")),
                ("held_out/value_loss", losses.part("value")),
                ("held_out/score_loss", losses.part("score")),
                ("held_out/owner_loss", losses.part("owner")),
                ("held_out/value_error", losses.part("value").sqrt()),
                ("policy/entropy", entropy(&policy)),
                ("policy/target_entropy", entropy(&targets.policy)),
                ("policy/agreement", mean(same.to_kind(Kind::Float))),
            ]
        })
    }

    /// The averaged weights if averaging is on, otherwise the newest.
    fn play_weights(&self) -> Weights {
        match &self.average {
            Some(average) => average.weights(&self.net),
            None => self.net.weights(),
        }
    }

    /// The newest weights and the optimiser's state.
    fn state(&self) -> Weights {
        let mut state = Weights::default();
        for (part, weights) in [(NET, self.net.weights()), (OPTIMIZER, self.optimizer.state())] {
            for (name, array) in weights.iter() {
                state.insert(format!("{part}{name}"), array.shape.clone(), array.values.clone());
            }
        }
        state
    }

    fn start_from(&mut self, weights: &Weights) -> Result<(), LearnerError> {
        self.net.load(weights)?;
        if let Some(average) = &mut self.average {
            average.load(&self.net, weights)?;
        }
        Ok(())
    }

    fn load(&mut self, play: &Weights, state: &Weights, steps: u64) -> Result<(), LearnerError> {
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
    /// The targets of a part of a batch.
    fn new(batch: &Batch, part: Range<usize>, device: Device) -> Targets {
        let count = part.len() as i64;
        let column = |data: &[f32]| upload(Tensor::from_slice(&data[part.clone()]), device);
        let rows = |data: &[f32]| {
            let width = data.len() / batch.len();
            let rows = &data[part.start * width..part.end * width];
            upload(Tensor::from_slice(rows).view([count, -1]), device)
        };
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
            + &owner * OWNER_WEIGHT;
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
        OptimizerKind::Sgd => UpdateRule::Sgd { momentum: MOMENTUM },
        OptimizerKind::Adam => UpdateRule::Adam,
        OptimizerKind::Adamw => UpdateRule::AdamW,
        OptimizerKind::Muon => UpdateRule::Muon,
    }
}

fn kind(precision: Precision, device: inference::Device) -> Kind {
    match precision {
        Precision::F32 => Kind::Float,
        Precision::Bf16 => Kind::BFloat16,
        Precision::Auto => number_format(inference::Precision::Auto, device).into(),
    }
}

/// Logits, with those of illegal moves so low that their softmax is 0.
fn masked(logits: &Tensor, legal: &Tensor) -> Tensor {
    logits.to_kind(Kind::Float) + (legal - 1.0) * 1e4
}

fn read_losses(sums: &Tensor, count: f64) -> Losses {
    let mut values = [0.0f32; LOSSES.len()];
    sums.to(Device::Cpu).copy_data(&mut values, LOSSES.len());
    let mut means = LOSSES.into_iter().zip(values.map(|value| value as f64 / count));
    let total = means.next().map_or(0.0, |(_, total)| total);
    Losses { total, parts: means.collect() }
}
