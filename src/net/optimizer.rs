//! Optimisers over a net's long vectors, with a state that can be saved.
//!
//! The optimisers of the `tch` crate do not give access to their moments, so a resumed run would
//! differ from one that never stopped. Here the state is accessible. A step copies no number from
//! the device to the host.

use tch::Tensor;

use super::muon;
use super::plan::Role;
use super::tower::Net;
use super::variables::{ROLES, TRAINED, to_vec};
use crate::model::weights::{Weights, WeightsError};

/// Added to the root of Adam's second moment, against division by 0.
const EPSILON: f64 = 1e-8;
/// Share of the old value in Adam's first moment.
const BETA1: f64 = 0.9;
/// Share of the old value in Adam's second moment.
const BETA2: f64 = 0.999;
/// Share of the old value in Muon's mean gradient.
const MUON_BETA: f64 = 0.95;
/// float32 holds all whole numbers up to this exactly.
const LOW_STEPS: u64 = 1 << 24;

/// The rule that turns a gradient into a step.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum UpdateRule {
    /// `v = momentum * v + g; w -= rate * v`.
    Sgd {
        /// Share of the old step in the new one, 0 to below 1.
        momentum: f64,
    },
    /// Adam (Kingma and Ba 2015); weight decay is part of the gradient.
    Adam,
    /// Adam with decoupled weight decay (Loshchilov and Hutter 2019).
    AdamW,
    /// AdamW, but the steps of filters and other matrices within the net are orthogonal, with the
    /// momentum of Nesterov (Muon, Jordan 2024).
    Muon,
}

impl UpdateRule {
    fn moments(self) -> &'static [&'static str] {
        match self {
            UpdateRule::Sgd { .. } => &["momentum"],
            UpdateRule::Adam | UpdateRule::AdamW | UpdateRule::Muon => &["first", "second"],
        }
    }
}

/// Updates a net's variables, and keeps the moments that the rule needs.
///
/// Weight decay applies to all roles but [`Role::Offset`].
#[derive(Debug)]
pub struct Optimizer {
    rule: UpdateRule,
    decay: f64,
    steps: u64,
    /// `[moment of the rule][long vector]`.
    moments: Vec<Vec<Tensor>>,
    decayed: [bool; TRAINED],
}

impl Optimizer {
    /// An optimiser for `net` before its first step.
    pub fn new(net: &Net, rule: UpdateRule, decay: f64) -> Optimizer {
        let zeros = || net.parameters().iter().map(|vector| vector.detach().zeros_like()).collect();
        Optimizer {
            rule,
            decay,
            steps: 0,
            moments: rule.moments().iter().map(|_| zeros()).collect(),
            decayed: std::array::from_fn(|vector| ROLES[vector] != Role::Offset),
        }
    }

    /// The number of steps so far.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Updates `net` by one step. `gradients` are from [`Net::gradients`], `rate` is the learning
    /// rate.
    pub fn step(&mut self, net: &Net, gradients: &[Tensor], rate: f64) {
        self.steps += 1;
        tch::no_grad(|| {
            for (vector, gradient) in gradients.iter().enumerate() {
                let mut weights = net.parameters()[vector].detach();
                let decay = if self.decayed[vector] { self.decay } else { 0.0 };
                match self.rule {
                    UpdateRule::Sgd { momentum } => {
                        self.sgd(vector, &mut weights, gradient, decay, momentum, rate);
                    }
                    UpdateRule::Muon if ROLES[vector] == Role::Factor => {
                        self.muon(net, vector, gradient, decay, rate);
                    }
                    UpdateRule::Adam | UpdateRule::AdamW | UpdateRule::Muon => {
                        self.adam(vector, &mut weights, gradient, decay, rate);
                    }
                }
            }
        });
    }

    fn sgd(
        &mut self,
        vector: usize,
        weights: &mut Tensor,
        gradient: &Tensor,
        decay: f64,
        momentum: f64,
        rate: f64,
    ) {
        let velocity = &mut self.moments[0][vector];
        let _ = velocity.g_mul_scalar_(momentum).g_add_(gradient);
        if decay > 0.0 {
            let _ = velocity.g_add_(&(&*weights * decay));
        }
        let _ = weights.g_sub_(&(&*velocity * rate));
    }

    fn adam(
        &mut self,
        vector: usize,
        weights: &mut Tensor,
        gradient: &Tensor,
        decay: f64,
        rate: f64,
    ) {
        let gradient = match self.rule {
            UpdateRule::Adam if decay > 0.0 => gradient + &*weights * decay,
            _ => gradient.shallow_clone(),
        };
        if decay > 0.0 && self.rule != UpdateRule::Adam {
            let _ = weights.g_mul_scalar_(1.0 - rate * decay);
        }
        let (first, second) = self.moments.split_at_mut(1);
        let first = first[0][vector].lerp_(&gradient, 1.0 - BETA1);
        let second =
            second[0][vector].g_mul_scalar_(BETA2).g_add_(&(gradient.square() * (1.0 - BETA2)));
        let steps = self.steps as f64;
        let (correct1, correct2) = (1.0 - BETA1.powf(steps), 1.0 - BETA2.powf(steps));
        let root = (second / correct2).sqrt_().g_add_scalar_(EPSILON);
        let _ = weights.g_sub_(&(first / root * (rate / correct1)));
    }

    /// The second moment is not used.
    fn muon(&mut self, net: &Net, vector: usize, gradient: &Tensor, decay: f64, rate: f64) {
        let mean = self.moments[0][vector].lerp_(gradient, 1.0 - MUON_BETA);
        let directions: Vec<Tensor> = net
            .arrays_of(vector, &gradient.lerp(&mean, MUON_BETA))
            .iter()
            .map(|array| muon::direction(array).flatten(0, -1))
            .collect();
        let mut weights = net.parameters()[vector].detach();
        if decay > 0.0 {
            let _ = weights.g_mul_scalar_(1.0 - rate * decay);
        }
        let _ = weights.g_sub_(&(Tensor::cat(&directions, 0) * rate));
    }

    /// The step count and the moments as named arrays.
    pub fn state(&self) -> Weights {
        let mut state = Weights::default();
        let steps = [self.steps % LOW_STEPS, self.steps / LOW_STEPS].map(|part| part as f32);
        state.insert("steps", vec![2], steps.to_vec());
        for (name, tensors) in self.rule.moments().iter().zip(&self.moments) {
            for (index, tensor) in tensors.iter().enumerate() {
                state.insert(format!("{name}.{index}"), vec![tensor.numel()], to_vec(tensor));
            }
        }
        state
    }

    /// Restores a saved state.
    ///
    /// # Errors
    ///
    /// The state belongs to another rule or another net. Nothing has changed then.
    pub fn load_state(&mut self, state: &Weights) -> Result<(), WeightsError> {
        let steps = state.get("steps", &[2])?;
        let mut moments = Vec::new();
        for (name, tensors) in self.rule.moments().iter().zip(&self.moments) {
            let read = |(index, tensor): (usize, &Tensor)| {
                let values = state.get(&format!("{name}.{index}"), &[tensor.numel()])?;
                Ok(Tensor::from_slice(values).to_device(tensor.device()))
            };
            moments
                .push(tensors.iter().enumerate().map(read).collect::<Result<_, WeightsError>>()?);
        }
        self.steps = steps[0] as u64 + steps[1] as u64 * LOW_STEPS;
        self.moments = moments;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::Shape;
    use crate::net::{NetSpec, TowerOptions};
    use tch::Device;

    fn net() -> Net {
        let options = TowerOptions { blocks: 1, channels: 8, ..TowerOptions::default() };
        Net::new(&NetSpec { shape: Shape::Square6, options, evaluator: None }, 7, Device::Cpu)
    }

    fn gradients(net: &Net, step: usize) -> Vec<Tensor> {
        let wave = |vector: &Tensor| {
            let count = vector.numel();
            let values: Vec<f32> =
                (0..count).map(|i| ((i * 7 + step * 3) % 11) as f32 / 10.0 - 0.4).collect();
            Tensor::from_slice(&values)
        };
        net.parameters().iter().map(wave).collect()
    }

    /// Each rule as in its paper, for one number, in float64.
    struct Reference {
        rule: UpdateRule,
        decay: f64,
        weight: f64,
        first: f64,
        second: f64,
        steps: i32,
    }

    impl Reference {
        fn step(&mut self, mut gradient: f64, rate: f64) {
            self.steps += 1;
            match self.rule {
                UpdateRule::Sgd { momentum } => {
                    self.first = momentum * self.first + gradient + self.decay * self.weight;
                    self.weight -= rate * self.first;
                    return;
                }
                UpdateRule::Adam => gradient += self.decay * self.weight,
                UpdateRule::AdamW | UpdateRule::Muon => {
                    self.weight -= rate * self.decay * self.weight
                }
            }
            self.first = 0.9 * self.first + 0.1 * gradient;
            self.second = 0.999 * self.second + 0.001 * gradient * gradient;
            let first = self.first / (1.0 - 0.9f64.powi(self.steps));
            let second = self.second / (1.0 - 0.999f64.powi(self.steps));
            self.weight -= rate * first / (second.sqrt() + 1e-8);
        }
    }

    const RULES: [UpdateRule; 4] =
        [UpdateRule::Sgd { momentum: 0.9 }, UpdateRule::Adam, UpdateRule::AdamW, UpdateRule::Muon];

    #[test]
    fn steps_are_those_of_the_papers() {
        for rule in [RULES[0], RULES[1], RULES[2]] {
            let net = net();
            let mut optimizer = Optimizer::new(&net, rule, 0.01);
            let mut reference: Vec<Vec<Reference>> = (net.parameters().iter().enumerate())
                .map(|(vector, tensor)| {
                    let decay = if vector == 2 { 0.0 } else { 0.01 };
                    let start = |weight| Reference {
                        rule,
                        decay,
                        weight,
                        first: 0.0,
                        second: 0.0,
                        steps: 0,
                    };
                    to_vec(tensor).into_iter().map(|weight| start(weight as f64)).collect()
                })
                .collect();
            for step in 0..5 {
                let gradients = gradients(&net, step);
                optimizer.step(&net, &gradients, 0.05);
                for (vector, gradient) in reference.iter_mut().zip(&gradients) {
                    for (number, gradient) in vector.iter_mut().zip(to_vec(gradient)) {
                        number.step(gradient as f64, 0.05);
                    }
                }
            }
            for (vector, wanted) in net.parameters().iter().zip(&reference) {
                for (found, wanted) in to_vec(vector).into_iter().zip(wanted) {
                    assert!((found as f64 - wanted.weight).abs() < 1e-5, "{rule:?}");
                }
            }
        }
    }

    #[test]
    fn muon_steps_along_the_nesterov_mean_of_matrices_and_as_adamw_elsewhere() {
        let (nets, decay, rate) = ([net(), net()], 0.01, 0.05);
        let [mut muon, mut adamw] = [(&nets[0], UpdateRule::Muon), (&nets[1], UpdateRule::AdamW)]
            .map(|(net, rule)| Optimizer::new(net, rule, decay));
        let mut mean = nets[0].parameters()[0].detach().zeros_like();
        for step in 0..3 {
            let gradients = gradients(&nets[0], step);
            mean = mean * 0.95 + &gradients[0] * 0.05;
            let nesterov = &mean * 0.95 + &gradients[0] * 0.05;
            let arrays = nets[0].arrays_of(0, &nesterov);
            let directions: Vec<Tensor> =
                arrays.iter().map(|array| muon::direction(array).flatten(0, -1)).collect();
            let before = nets[0].parameters()[0].detach().copy();
            let wanted = before * (1.0 - rate * decay) - Tensor::cat(&directions, 0) * rate;
            muon.step(&nets[0], &gradients, rate);
            adamw.step(&nets[1], &gradients, rate);
            let off = (nets[0].parameters()[0].detach() - wanted).abs().max();
            assert!(f64::try_from(off).unwrap() < 1e-5);
        }
        for vector in 1..TRAINED {
            let [own, other] = nets.each_ref().map(|net| to_vec(&net.parameters()[vector]));
            assert_eq!(own, other);
        }
    }

    #[test]
    fn a_restored_state_continues_exactly() {
        for rule in RULES {
            let (unstopped, mut stopped) = (net(), net());
            let mut optimizer = Optimizer::new(&unstopped, rule, 1e-3);
            for step in 0..6 {
                optimizer.step(&unstopped, &gradients(&unstopped, step), 0.01);
            }
            let mut first = Optimizer::new(&stopped, rule, 1e-3);
            for step in 0..3 {
                first.step(&stopped, &gradients(&stopped, step), 0.01);
            }
            let bytes = (
                stopped.weights().to_bytes(&Default::default()),
                first.state().to_bytes(&Default::default()),
            );
            stopped = net();
            stopped.load(&Weights::from_bytes(&bytes.0).unwrap().0).unwrap();
            let mut second = Optimizer::new(&stopped, rule, 1e-3);
            second.load_state(&Weights::from_bytes(&bytes.1).unwrap().0).unwrap();
            assert_eq!(second.steps(), 3);
            for step in 3..6 {
                second.step(&stopped, &gradients(&stopped, step), 0.01);
            }
            assert_eq!(unstopped.weights(), stopped.weights());
            assert_eq!(optimizer.state(), second.state());
        }
    }

    #[test]
    fn the_state_of_another_rule_is_refused() {
        let net = net();
        let sgd = Optimizer::new(&net, RULES[0], 0.0).state();
        let mut adam = Optimizer::new(&net, UpdateRule::Adam, 0.0);
        assert!(matches!(adam.load_state(&sgd), Err(WeightsError::Missing { .. })));
    }
}
