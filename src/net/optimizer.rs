//! Gradient steps over a net's long vectors, with a state that can be saved.
//!
//! The rules of the `tch` crate keep their momenta to themselves, so that a stopped run could not
//! go on as if it had not stopped. Here the state is tensors of our own. A step takes no number
//! from the device to the host.

use tch::{Kind, Tensor};

use super::plan::Role;
use super::tower::Net;
use super::variables::{ROLES, TRAINED, to_vec};
use super::weights::{Weights, WeightsError};

/// Added to the root of Adam's second moment, and to a norm that is divided by.
const EPSILON: f64 = 1e-8;
/// Share of the old first moment in Adam's.
const BETA1: f64 = 0.9;
/// Share of the old second moment in Adam's.
const BETA2: f64 = 0.999;
/// A float32 counts exactly up to here.
const LOW_STEPS: u64 = 1 << 24;

/// How a gradient becomes a step.
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
}

impl UpdateRule {
    fn moments(self) -> &'static [&'static str] {
        match self {
            UpdateRule::Sgd { .. } => &["momentum"],
            UpdateRule::Adam | UpdateRule::AdamW => &["first", "second"],
        }
    }
}

/// Steps a net's variables, and remembers what the rule needs.
///
/// Factors are decayed towards 0; biases and the scales of batch norms are not.
#[derive(Debug)]
pub struct Optimizer {
    rule: UpdateRule,
    decay: f64,
    steps: u64,
    /// For each moment of the rule, one tensor for each vector.
    moments: Vec<Vec<Tensor>>,
    decayed: [bool; TRAINED],
}

impl Optimizer {
    /// An optimiser that has made no step of `net` yet.
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

    /// Steps made so far.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Moves the net against `gradients` (from [`Net::gradients`]) by a step of size `rate`.
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
                    UpdateRule::Adam | UpdateRule::AdamW => {
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
        if decay > 0.0 && self.rule == UpdateRule::AdamW {
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

    /// The steps and moments as plain data.
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

    /// Continues from a saved state.
    ///
    /// # Errors
    ///
    /// The state is of another rule or another net; then nothing changes.
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

/// Shortens gradients to a joint Euclidean norm of at most `longest`, in place. Returns the norm
/// that they had, as a tensor that need not be read.
pub fn clip(gradients: &mut [Tensor], longest: f64) -> Tensor {
    tch::no_grad(|| {
        let squares: Vec<Tensor> =
            gradients.iter().map(|gradient| gradient.square().sum(Kind::Float)).collect();
        let norm = Tensor::stack(&squares, 0).sum(Kind::Float).sqrt();
        let factor = (longest / (&norm + EPSILON)).clamp_max(1.0);
        for gradient in gradients {
            let _ = gradient.g_mul_(&factor);
        }
        norm
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::Shape;
    use crate::net::{NetSpec, TowerOptions};
    use tch::Device;

    fn net() -> Net {
        let options = TowerOptions { blocks: 1, channels: 8, ..TowerOptions::default() };
        Net::new(&NetSpec { shape: Shape::Square6, options }, 7, Device::Cpu)
    }

    fn gradients(net: &Net, step: usize) -> Vec<Tensor> {
        let of = |vector: &Tensor| {
            let count = vector.numel();
            let values: Vec<f32> =
                (0..count).map(|i| ((i * 7 + step * 3) % 11) as f32 / 10.0 - 0.4).collect();
            Tensor::from_slice(&values)
        };
        net.parameters().iter().map(of).collect()
    }

    /// Each rule as its paper writes it, one number at a time, in float64.
    struct ByHand {
        rule: UpdateRule,
        decay: f64,
        weight: f64,
        first: f64,
        second: f64,
        steps: i32,
    }

    impl ByHand {
        fn step(&mut self, mut gradient: f64, rate: f64) {
            self.steps += 1;
            match self.rule {
                UpdateRule::Sgd { momentum } => {
                    self.first = momentum * self.first + gradient + self.decay * self.weight;
                    self.weight -= rate * self.first;
                    return;
                }
                UpdateRule::Adam => gradient += self.decay * self.weight,
                UpdateRule::AdamW => self.weight -= rate * self.decay * self.weight,
            }
            self.first = 0.9 * self.first + 0.1 * gradient;
            self.second = 0.999 * self.second + 0.001 * gradient * gradient;
            let first = self.first / (1.0 - 0.9f64.powi(self.steps));
            let second = self.second / (1.0 - 0.999f64.powi(self.steps));
            self.weight -= rate * first / (second.sqrt() + 1e-8);
        }
    }

    const RULES: [UpdateRule; 3] =
        [UpdateRule::Sgd { momentum: 0.9 }, UpdateRule::Adam, UpdateRule::AdamW];

    #[test]
    fn steps_are_those_of_the_papers() {
        for rule in RULES {
            let net = net();
            let mut optimizer = Optimizer::new(&net, rule, 0.01);
            let mut by_hand: Vec<Vec<ByHand>> = (net.parameters().iter().enumerate())
                .map(|(vector, tensor)| {
                    let decay = if vector == 2 { 0.0 } else { 0.01 };
                    let start =
                        |weight| ByHand { rule, decay, weight, first: 0.0, second: 0.0, steps: 0 };
                    to_vec(tensor).into_iter().map(|weight| start(weight as f64)).collect()
                })
                .collect();
            for step in 0..5 {
                let gradients = gradients(&net, step);
                optimizer.step(&net, &gradients, 0.05);
                for (vector, gradient) in by_hand.iter_mut().zip(&gradients) {
                    for (number, gradient) in vector.iter_mut().zip(to_vec(gradient)) {
                        number.step(gradient as f64, 0.05);
                    }
                }
            }
            for (vector, wanted) in net.parameters().iter().zip(&by_hand) {
                for (found, wanted) in to_vec(vector).into_iter().zip(wanted) {
                    assert!((found as f64 - wanted.weight).abs() < 1e-5, "{rule:?}");
                }
            }
        }
    }

    #[test]
    fn a_saved_state_goes_on_as_if_never_stopped() {
        for rule in RULES {
            let (straight, mut stopped) = (net(), net());
            let mut optimizer = Optimizer::new(&straight, rule, 1e-3);
            for step in 0..6 {
                optimizer.step(&straight, &gradients(&straight, step), 0.01);
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
            assert_eq!(straight.weights(), stopped.weights());
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

    #[test]
    fn clipping_shortens_long_gradients_only() {
        let mut gradients = [Tensor::from_slice(&[3f32, 0.0]), Tensor::from_slice(&[4f32])];
        let norm = clip(&mut gradients, 10.0);
        assert!((norm.double_value(&[]) - 5.0).abs() < 1e-6);
        assert_eq!(to_vec(&gradients[1]), [4.0]);
        let _ = clip(&mut gradients, 1.0);
        assert!((to_vec(&gradients[0])[0] - 0.6).abs() < 1e-6);
        assert!((to_vec(&gradients[1])[0] - 0.8).abs() < 1e-6);
    }
}
