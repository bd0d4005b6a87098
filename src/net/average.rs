//! A moving average of a net's weights. It plays better than the weights of the last step.

use tch::Tensor;

use super::tower::Net;
use crate::model::weights::{Weights, WeightsError};

/// An exponential moving average of a net's variables and running statistics.
#[derive(Debug)]
pub struct Average {
    vectors: [Tensor; 4],
}

impl Average {
    /// An average that starts as a copy of `net`.
    pub fn new(net: &Net) -> Average {
        Average { vectors: net.variables().vectors().each_ref().map(|v| v.detach().copy()) }
    }

    /// Moves the average towards `net` after a training step. `steps` counts the steps before that
    /// one. `decay`, 0 to below 1, is the share of the old average in the new one.
    ///
    /// The first steps use a smaller share, so that the random initial net soon drops out. With
    /// 0.99 from the start it would still make up a third of the average after a hundred steps.
    pub fn update(&mut self, net: &Net, decay: f64, steps: u64) {
        let decay = decay.min((1 + steps) as f64 / (10 + steps) as f64);
        tch::no_grad(|| {
            for (average, vector) in self.vectors.iter_mut().zip(net.variables().vectors()) {
                let _ = average.lerp_(vector, 1.0 - decay);
            }
        });
    }

    /// The averaged weights. `net` is the net that was averaged.
    pub fn weights(&self, net: &Net) -> Weights {
        net.variables().export(&self.vectors)
    }

    /// Restores saved averaged weights.
    ///
    /// # Errors
    ///
    /// `weights` belong to another net. Nothing has changed then.
    pub fn load(&mut self, net: &Net, weights: &Weights) -> Result<(), WeightsError> {
        let values = net.variables().import(weights)?;
        for (average, values) in self.vectors.iter_mut().zip(&values) {
            average.copy_(&Tensor::from_slice(values));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::Shape;
    use crate::net::fixtures::resnet;

    /// The distance between average and net after `steps` updates, as a share of the distance
    /// before. The net itself does not change.
    fn distance_left(steps: u64, decay: f64) -> f64 {
        let spec = resnet(Shape::Square6, 1, 32);
        let [start, net] = [1, 2].map(|seed| Net::new(&spec, seed, tch::Device::Cpu));
        let apart = |weights: &Weights| -> f64 {
            let wanted = net.weights();
            let pairs = weights.iter().zip(wanted.iter());
            let pairs = pairs.flat_map(|((_, a), (_, b))| a.values.iter().zip(&b.values));
            pairs.map(|(a, b)| f64::from(a - b).powi(2)).sum::<f64>().sqrt()
        };
        let mut average = Average::new(&start);
        (0..steps).for_each(|step| average.update(&net, decay, step));
        apart(&average.weights(&net)) / apart(&start.weights())
    }

    #[test]
    fn a_young_average_soon_forgets_the_random_net() {
        assert!((distance_left(1, 0.99) - 0.1).abs() < 1e-4);
        assert!(distance_left(30, 0.99) < 1e-3, "{}", distance_left(30, 0.99));
    }

    #[test]
    fn a_small_decay_is_used_from_the_start() {
        assert!((distance_left(4, 0.05) - 0.05f64.powi(4)).abs() < 1e-4);
    }
}
