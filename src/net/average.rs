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

    /// Moves towards the net: the old average keeps the share `kept`, 0 to below 1.
    pub fn update(&mut self, net: &Net, kept: f64) {
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
