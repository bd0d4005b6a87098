//! The average of a net over its last steps, which plays better than the last step alone.

use tch::Tensor;

use super::tower::Net;
use super::weights::{Weights, WeightsError};

/// An exponential moving average of a net's variables and running statistics.
#[derive(Debug)]
pub struct Average {
    vectors: [Tensor; 4],
}

impl Average {
    /// An average that starts at the net as it is.
    pub fn new(net: &Net) -> Average {
        Average { vectors: net.variables().vectors().each_ref().map(|v| v.detach().copy()) }
    }

    /// Moves towards the net after one of its steps, before which there were `steps`: the old
    /// average keeps the share `kept`, 0 to below 1.
    ///
    /// It keeps less at first, so that the random net is soon forgotten: with 0.99 throughout it
    /// would still be a third of the average after a hundred steps.
    pub fn update(&mut self, net: &Net, kept: f64, steps: u64) {
        let kept = kept.min((1 + steps) as f64 / (10 + steps) as f64);
        tch::no_grad(|| {
            for (average, vector) in self.vectors.iter_mut().zip(net.variables().vectors()) {
                let _ = average.lerp_(vector, 1.0 - kept);
            }
        });
    }

    /// The averaged weights of `net`, whose average this is.
    pub fn weights(&self, net: &Net) -> Weights {
        net.variables().export(&self.vectors)
    }

    /// Continues from averaged weights that were saved.
    ///
    /// # Errors
    ///
    /// They are of another net; then nothing changes.
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

    /// How far the average still is from the net after so many of its steps, as a share of how far
    /// it was, where all steps leave the net as it is.
    fn left(steps: u64, kept: f64) -> f64 {
        let spec = resnet(Shape::Square6, 1, 32);
        let [start, net] = [1, 2].map(|seed| Net::new(&spec, seed, tch::Device::Cpu));
        let apart = |weights: &Weights| -> f64 {
            let wanted = net.weights();
            let pairs = weights.iter().zip(wanted.iter());
            let pairs = pairs.flat_map(|((_, a), (_, b))| a.values.iter().zip(&b.values));
            pairs.map(|(a, b)| f64::from(a - b).powi(2)).sum::<f64>().sqrt()
        };
        let mut average = Average::new(&start);
        (0..steps).for_each(|step| average.update(&net, kept, step));
        apart(&average.weights(&net)) / apart(&start.weights())
    }

    #[test]
    fn a_young_average_soon_forgets_the_random_net() {
        assert!((left(1, 0.99) - 0.1).abs() < 1e-4);
        assert!(left(30, 0.99) < 1e-3, "{}", left(30, 0.99));
    }

    #[test]
    fn an_average_keeps_no_more_than_its_share() {
        assert!((left(4, 0.05) - 0.05f64.powi(4)).abs() < 1e-4);
    }
}
