//! A run of a method that trains stage by stage: it does one unit of the learner after the other,
//! and writes a checkpoint after each.
//!
//! There are no actors, no games and no evaluations. The unit runs on rayon threads of its own.

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use anyhow::{Context as _, bail, ensure};
use crossbeam_channel::Sender;

use super::clock::TrainingClock;
use super::{Ending, RunEnd, RunState};
use crate::config::{Config, Method};
use crate::model::weights::Metadata;
use crate::model::{Description, Weights};
use crate::players::models::LoadedModel;
use crate::store::checkpoint::{self, Checkpoint, CheckpointError, ModelLocation, Retention};
use crate::store::labels;
use crate::store::model_file::ModelFile;
use crate::store::run_dir::{RunDir, State};
use crate::telemetry::{self, Event, Progress, Stages, Telemetry};
use crate::train::learners::endgame::EndgameLearner;
use crate::train::learners::ntuple::NTupleLearner;
use crate::train::learners::stages::StagesLearner;
use crate::train::learners::td::TdLearner;
use crate::train::stagewise::{StagewiseLearner, UnitContext, UnitReport};

/// The learner of a configuration whose method trains stage by stage.
fn learner(config: &Config) -> anyhow::Result<Box<dyn StagewiseLearner>> {
    Ok(match config.method {
        Method::AlphaZero => bail!("method \"alphazero\" does not train stage by stage"),
        Method::Stages => dispatch!(config.board, G => {
            Box::new(StagesLearner::<G>::new(&config.stages, config.goal, config.seed)?)
        }),
        Method::Endgame => dispatch!(config.board, G => {
            Box::new(EndgameLearner::<G>::new(&config.endgame, config.goal, config.seed)?)
        }),
        Method::NTuple => dispatch!(config.board, G => {
            Box::new(NTupleLearner::<G>::new(&config.ntuple, config.goal, config.seed)?)
        }),
        Method::Td => dispatch!(config.board, G => {
            Box::new(TdLearner::<G>::new(&config.td, config.goal, config.seed)?)
        }),
    })
}

/// Checks that a run of this configuration can start, before any file is created.
pub(super) fn check(config: &Config) -> anyhow::Result<()> {
    learner(config).map(drop)
}

/// Trains in the run directory, from the start or from its newest checkpoint, until all units are
/// done or `stop` is set. If all units were done before, the run directory is unchanged.
pub(super) fn train(
    config: &Config,
    run: &mut RunDir,
    telemetry: &Telemetry,
    stop: &AtomicBool,
) -> anyhow::Result<RunEnd> {
    let mut learner = learner(config)?;
    let state = restore(learner.as_mut(), run)?;
    if state.steps >= learner.units() && run.manifest().state == State::Finished {
        return Ok(RunEnd { state, ending: Ending::Complete });
    }
    let threads = rayon::ThreadPoolBuilder::new().num_threads(config.threads as usize);
    let threads = threads.build().context("cannot start the threads")?;
    run.set_stages(learner.units());
    run.start(&config.resolved())?;
    labels::remove_temporary_files(run.path())?;
    let clock = TrainingClock::starting_at(state.seconds);
    let units = Units { learner, run, state, clock, telemetry: telemetry.sender() };
    threads.install(|| units.run(stop))
}

/// The counters of a run; the learner continues from the newest checkpoint.
fn restore(learner: &mut dyn StagewiseLearner, run: &RunDir) -> anyhow::Result<RunState> {
    let path = match checkpoint::newest(&run.checkpoints()) {
        Err(CheckpointError::NoneYet { .. }) => {
            let steps = run.manifest().summary.steps;
            let folder = run.checkpoints();
            ensure!(
                steps == 0,
                "{} holds no checkpoint, but the run has done {steps} stages; put one back, or \
                 start a new run",
                folder.display()
            );
            return Ok(RunState::default());
        }
        found => found?,
    };
    let saved = Checkpoint::load(&path)?;
    let model = LoadedModel::of(&saved.net, ModelLocation::Checkpoint(path.clone()))?;
    let wanted = learner.description();
    let path = path.display();
    if let Some(difference) = model.description.difference(&wanted) {
        bail!("checkpoint {path} has {difference}; this key cannot change on resume");
    }
    let counters = || format!("the counters in {path}/state.json");
    let state: RunState = serde_json::from_value(saved.state).with_context(counters)?;
    state.check(wanted.shape.layout().squares).with_context(counters)?;
    ensure!(
        state.steps == saved.step && (1..=learner.units()).contains(&state.steps),
        "{}: `steps` is {}; allowed: {}, the step of the checkpoint, and 1 to {}",
        counters(),
        state.steps,
        saved.step,
        learner.units()
    );
    let bytes = saved.learner.with_context(|| {
        format!("checkpoint {path} has no learner.safetensors, so a run cannot continue from it")
    })?;
    let (arrays, _) =
        Weights::from_bytes(&bytes).with_context(|| format!("the arrays in checkpoint {path}"))?;
    learner
        .load(&arrays, state.steps)
        .with_context(|| format!("checkpoint {path} does not fit this configuration"))?;
    Ok(state)
}

/// The work of a run.
struct Units<'a> {
    learner: Box<dyn StagewiseLearner>,
    run: &'a mut RunDir,
    /// The counters: steps are units.
    state: RunState,
    clock: TrainingClock,
    telemetry: Sender<Event>,
}

impl Units<'_> {
    fn run(mut self, stop: &AtomicBool) -> anyhow::Result<RunEnd> {
        let all = self.learner.units();
        while self.state.steps < all {
            self.report_progress(0.0);
            let begun = Instant::now();
            let Some(report) = self.train_unit(stop)? else {
                self.state.seconds = self.clock.seconds();
                return Ok(RunEnd { state: self.state, ending: Ending::Stopped });
            };
            self.count(&report);
            // First: a unit whose checkpoint is stored is not done again, and its curves would be lost.
            self.report(report, begun.elapsed().as_secs_f64());
            telemetry::wait_until_written(&self.telemetry);
            self.checkpoint()?;
        }
        self.report_progress(0.0);
        Ok(RunEnd { state: self.state, ending: Ending::Complete })
    }

    /// Does the next unit; `None` if it was stopped.
    fn train_unit(&mut self, stop: &AtomicBool) -> anyhow::Result<Option<UnitReport>> {
        let (state, clock, all) = (&self.state, &self.clock, self.learner.units());
        let telemetry = &self.telemetry;
        // A full channel means that enough is reported.
        let progress = |share: f64| {
            let _ = telemetry.try_send(Event::Progress(progress(state, clock, all, share)));
        };
        let context = UnitContext::new(self.run.path(), stop, &progress);
        Ok(self.learner.train_unit(state.steps, &context)?)
    }

    fn count(&mut self, report: &UnitReport) {
        let state = &mut self.state;
        state.steps += 1;
        state.games += report.games;
        state.next_game = state.games;
        state.positions += report.positions;
        state.seconds = self.clock.seconds();
    }

    fn checkpoint(&mut self) -> anyhow::Result<()> {
        self.run.check()?;
        let (positions, steps) = (self.state.positions, self.state.steps);
        let description = Description { positions, steps, ..self.learner.description() };
        let none = Metadata::new();
        let model = self.learner.model().to_bytes(&none);
        let checkpoint = Checkpoint {
            step: steps,
            minutes: self.state.seconds / 60.0,
            net: ModelFile::seal(&serde_json::to_value(description)?, &model)?,
            learner: Some(self.learner.state().to_bytes(&none)),
            state: serde_json::to_value(&self.state)?,
            keep_net: false,
        };
        checkpoint.save(&self.run.checkpoints())?;
        checkpoint::prune(&self.run.checkpoints(), &Retention::default())?;
        self.run.record(State::Running, self.state.summary())?;
        Ok(())
    }

    fn report(&self, report: UnitReport, seconds: f64) {
        let speed = report.positions as f64 / seconds.max(1e-9);
        let more = [("stage/seconds", seconds), ("speed/positions_per_second", speed)];
        let more = more.map(|(name, value)| (name.to_string(), value));
        let values: Vec<_> = report.curves.into_iter().chain(more).collect();
        tracing::info!("{}, in {seconds:.1} s", report.name);
        let _ = self.telemetry.send(Event::Scalars { positions: self.state.positions, values });
    }

    fn report_progress(&self, share: f64) {
        let progress = progress(&self.state, &self.clock, self.learner.units(), share);
        let _ = self.telemetry.send(Event::Progress(progress));
    }
}

/// The progress of a run that has done this share of its present unit.
fn progress(state: &RunState, clock: &TrainingClock, all: u64, share: f64) -> Progress {
    Progress {
        games: state.games,
        positions: state.positions,
        steps: state.steps,
        stages: Some(Stages { done: state.steps, all }),
        games_per_second: None,
        evaluations_per_second: None,
        loss: None,
        rating: None,
        seconds: clock.seconds(),
        share_done: Some((state.steps as f64 + share) / all as f64),
    }
}
