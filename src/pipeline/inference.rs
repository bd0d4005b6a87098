//! Who computes the net for the actors: each its own copy, or one server for all of them.

use std::sync::Arc;

use crate::config::Config;
use crate::net::NetSpec;
use crate::net::inference::{self, InferenceError};
use crate::net::server::{Local, Predictor, Server};
use crate::net::weights::Weights;

/// Batches that a device computes at a time: while one is on its way back, the next is computed.
const BATCHES_IN_FLIGHT: usize = 2;

/// A way to the net for one actor, and in how many groups its games are best played.
pub(super) type Grouped = (Box<dyn Predictor>, usize);

/// Where the actors' questions go.
pub(super) struct Inference {
    /// On a GPU all actors ask it. On a CPU every actor computes a copy of the net on its own core.
    server: Option<Server>,
}

impl Inference {
    /// What suits the device of the configuration.
    ///
    /// # Errors
    ///
    /// The device is not there, or the net cannot be computed on it.
    pub fn open(
        config: &Config,
        spec: &NetSpec,
        weights: &Arc<Weights>,
    ) -> anyhow::Result<Inference> {
        if inference::device(&config.device)? == tch::Device::Cpu {
            return Ok(Inference { server: None });
        }
        let backend = |_| inference::open(spec, weights, &config.inference, &config.device);
        let backends = (0..BATCHES_IN_FLIGHT).map(backend).collect::<Result<Vec<_>, _>>()?;
        let games = config.selfplay.actors as usize * config.selfplay.games_per_actor as usize;
        let batch = games / BATCHES_IN_FLIGHT;
        Ok(Inference { server: Some(Server::start(backends, batch)?) })
    }

    /// A way to the net for each of so many actors.
    ///
    /// # Errors
    ///
    /// The net cannot be computed.
    pub fn predictors(
        &self,
        config: &Config,
        spec: &NetSpec,
        weights: &Weights,
        actors: u32,
    ) -> Result<Vec<Grouped>, InferenceError> {
        let evaluator = |_| -> Result<Grouped, InferenceError> {
            Ok(match &self.server {
                None => {
                    let (options, device) = (&config.inference, &config.device);
                    let backend = inference::open(spec, weights, options, device)?;
                    (Box::new(Local::new(backend)), 1)
                }
                Some(server) => (Box::new(server.client()), BATCHES_IN_FLIGHT),
            })
        };
        (0..actors).map(evaluator).collect()
    }
}

impl Drop for Inference {
    /// Waits for the server's threads to end; all actors must be gone. Also after a panic: a process
    /// that ends with an error must not leave threads in libtorch.
    fn drop(&mut self) {
        if let Some(server) = self.server.take() {
            server.join();
        }
    }
}
