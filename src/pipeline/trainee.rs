//! What a run trains: the kind of model, and how its learner is made.

use super::net_spec;
use crate::config::Config;
use crate::model::Description;
use crate::net::NetSpec;
use crate::players::inputs::InputsError;
use crate::store::run_dir::RunDir;
use crate::train::learner::Learner;

/// What a run trains. The rest of the pipeline knows the model by its description and its weights,
/// and trains it by its [`Learner`].
pub trait Trainee: Sync {
    /// The description of the model before its training.
    fn description(&self) -> Description;

    /// A learner with first weights, which depend on the configuration only.
    ///
    /// # Errors
    ///
    /// The learner cannot run on this machine.
    fn learner(&self) -> anyhow::Result<Box<dyn Learner>>;
}

/// The net of a configuration.
pub struct NetTrainee<'a> {
    config: &'a Config,
    spec: NetSpec,
}

impl NetTrainee<'_> {
    /// The net of a configuration, for the run directory `run` if there is one.
    ///
    /// # Errors
    ///
    /// As for [`net_spec`].
    pub fn open<'a>(
        config: &'a Config,
        run: Option<&RunDir>,
    ) -> Result<NetTrainee<'a>, InputsError> {
        Ok(NetTrainee { spec: net_spec(config, run)?, config })
    }
}

impl Trainee for NetTrainee<'_> {
    fn description(&self) -> Description {
        self.spec.description(self.config.goal)
    }

    #[cfg(feature = "torch")]
    fn learner(&self) -> anyhow::Result<Box<dyn Learner>> {
        use crate::net::inference::{Device, device, use_one_thread};
        use crate::train::learners::net::NetLearner;

        let config = self.config;
        let device = device(&config.device)?;
        if device == Device::Cpu {
            // The other cores are for the actors.
            use_one_thread();
            crate::net::keep_freed_memory();
        }
        Ok(Box::new(NetLearner::new(&self.spec, &config.learner, config.seed, device)))
    }

    #[cfg(not(feature = "torch"))]
    fn learner(&self) -> anyhow::Result<Box<dyn Learner>> {
        anyhow::bail!(NO_LIBTORCH)
    }
}

const NO_LIBTORCH: &str = "this build cannot train nets: it has no libtorch (feature `torch`)";

/// Checks that this build can train nets.
///
/// # Errors
///
/// It has no libtorch.
pub fn check_build() -> anyhow::Result<()> {
    if cfg!(feature = "torch") {
        return Ok(());
    }
    anyhow::bail!(NO_LIBTORCH)
}
