//! Starts and joins the threads of a run, and the actor threads of a worker.

use std::path::Path;
use std::thread::{Scope, ScopedJoinHandle};

use anyhow::anyhow;
use crossbeam_channel::{Sender, bounded, unbounded};

use super::actor_thread::ActorThread;
use super::evaluation_thread::EvaluationThread;
use super::inference::PredictorAndGroups;
use super::messages::NetToRate;
use super::selfplay_settings;
use super::state::{NetRating, RunEnd};
use super::sync::{Pace, Shared};
use super::transport::{InProcess, ToCoordinator};
use crate::config::Config;
use crate::game::Geometry;
use crate::predict::PredictError;
use crate::telemetry::Event;
use crate::train::selfplay::{Actor, NetVersion};

/// What the constructors of the threads need.
pub(super) struct ThreadParts<'env> {
    pub config: &'env Config,
    pub shared: &'env Shared<'env>,
    pub pace: Pace,
}

/// Ends the run when it is dropped. So the run ends if an actor ends for any reason, or if the
/// coordinator panics.
pub(super) struct EndRunOnDrop<'a>(pub &'a Shared<'a>);

impl Drop for EndRunOnDrop<'_> {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// The actor threads of a run or a worker.
pub(super) type ActorThreads<'scope> = Vec<ScopedJoinHandle<'scope, Result<(), PredictError>>>;

impl<'env> ThreadParts<'env> {
    /// Starts one actor thread per predictor and connects it to `local`. `net` is the version of the
    /// predictors' net.
    pub fn actors<'scope, G: Geometry>(
        &self,
        scope: &'scope Scope<'scope, 'env>,
        predictors: Vec<PredictorAndGroups>,
        net: NetVersion,
        channels: ToCoordinator,
        local: &mut InProcess,
    ) -> ActorThreads<'scope> {
        let (shared, numbers) = (self.shared, &self.shared.counters.numbers);
        let mut threads = Vec::new();
        for (predictor, groups) in predictors {
            // Unbounded, but never long: an actor takes nets faster than the learner trains them.
            let (sender, nets) = unbounded();
            local.add_actor(sender);
            let thread = ActorThread::<G> {
                actor: Actor::new(selfplay_settings(self.config), predictor, groups, numbers, net),
                shared,
                pace: self.pace.clone(),
                version: net.version,
                nets,
                channels: channels.clone(),
            };
            threads.push(scope.spawn(move || {
                let _end = EndRunOnDrop(shared);
                thread.run().inspect_err(|error| tracing::warn!("an actor failed: {error}"))
            }));
        }
        threads
    }

    /// Starts the evaluation thread, if the configuration asks for evaluations.
    pub fn evaluation<'scope, G: Geometry>(
        &self,
        scope: &'scope Scope<'scope, 'env>,
        run_dir: &Path,
        telemetry: Sender<Event>,
        ratings: Sender<NetRating>,
    ) -> (Option<ScopedJoinHandle<'scope, ()>>, Option<Sender<NetToRate>>) {
        if self.config.evaluation.every_minutes == 0.0 {
            return (None, None);
        }
        let (config, shared) = (self.config, self.shared);
        let thread =
            EvaluationThread { config, run_dir: run_dir.to_path_buf(), shared, telemetry, ratings };
        let (sender, nets) = bounded(1);
        (Some(scope.spawn(move || thread.run::<G>(nets))), Some(sender))
    }
}

/// Joins all threads. Returns the coordinator's result, or an error of an actor.
pub(super) fn join_threads(
    actors: ActorThreads<'_>,
    evaluation: Option<ScopedJoinHandle<'_, ()>>,
    result: anyhow::Result<RunEnd>,
) -> anyhow::Result<RunEnd> {
    // Joins all threads before it returns an error: otherwise the scope panics if one panicked.
    let actors: Vec<_> = actors.into_iter().map(ScopedJoinHandle::join).collect();
    if evaluation.is_some_and(|thread| thread.join().is_err()) {
        tracing::warn!("the evaluation thread panicked; the run continued without evaluations");
    }
    let end = result?;
    for actor in actors {
        actor.map_err(|_| anyhow!("an actor thread panicked"))??;
    }
    Ok(end)
}
