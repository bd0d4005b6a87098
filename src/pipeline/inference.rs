//! Where the actors' predictions are computed: each actor has its own copy of the net, or one
//! server computes for all actors.

use std::sync::Arc;

use crate::config::Config;
use crate::model::Description;
use crate::model::weights::Weights;
use crate::net::inference::{self, Device};
use crate::players::models::open_backend;
use crate::predict::{LocalPredictor, PredictError, Predictor, Server};

/// Batches in progress on a device: one is computed while the results of another are copied back.
const BATCHES_IN_FLIGHT: usize = 2;

/// An actor's predictor, and the number of groups that its games should form.
pub(super) type PredictorAndGroups = (Box<dyn Predictor>, usize);

/// Source of the actors' predictors.
pub(super) struct Inference {
    /// On a GPU, one server for all actors. On a CPU `None`: each actor has a copy of the net and
    /// computes it on its own core.
    server: Option<Server>,
}

impl Inference {
    /// Starts a server if the configured device needs one.
    ///
    /// # Errors
    ///
    /// The device does not exist, or the model cannot be computed on it.
    fn open(
        config: &Config,
        description: &Description,
        weights: &Arc<Weights>,
    ) -> anyhow::Result<Inference> {
        if inference::device(&config.device)? == Device::Cpu {
            return Ok(Inference { server: None });
        }
        let backend = |_| open_backend(description, weights, &config.inference, &config.device);
        let backends = (0..BATCHES_IN_FLIGHT).map(backend).collect::<Result<Vec<_>, _>>()?;
        let games = config.selfplay.actors as usize * config.selfplay.games_per_actor as usize;
        let batch = games / BATCHES_IN_FLIGHT;
        Ok(Inference { server: Some(Server::start(backends, batch)?) })
    }

    /// Opens the source, and one predictor for each of `actors` actors.
    ///
    /// # Errors
    ///
    /// As for [`Inference::open`] and [`Inference::predictors`].
    pub fn start(
        config: &Config,
        description: &Description,
        weights: &Arc<Weights>,
        actors: u32,
    ) -> anyhow::Result<(Inference, Vec<PredictorAndGroups>)> {
        let inference = Inference::open(config, description, weights)?;
        let predictors = inference.predictors(config, description, weights, actors)?;
        Ok((inference, predictors))
    }

    /// One predictor for each of `actors` actors.
    ///
    /// # Errors
    ///
    /// The net cannot be computed on the device.
    fn predictors(
        &self,
        config: &Config,
        description: &Description,
        weights: &Weights,
        actors: u32,
    ) -> Result<Vec<PredictorAndGroups>, PredictError> {
        let predictor = |_| -> Result<PredictorAndGroups, PredictError> {
            Ok(match &self.server {
                None => {
                    let (options, device) = (&config.inference, &config.device);
                    let backend = open_backend(description, weights, options, device)?;
                    (Box::new(LocalPredictor::new(backend)), 1)
                }
                Some(server) => (Box::new(server.client()), BATCHES_IN_FLIGHT),
            })
        };
        (0..actors).map(predictor).collect()
    }
}

impl Drop for Inference {
    /// Waits for the server's threads to end; all actors must have ended. This also runs after a
    /// panic: a process that ends with an error must not leave threads in libtorch.
    fn drop(&mut self) {
        if let Some(server) = self.server.take() {
            server.join();
        }
    }
}
