//! The coordinator: it owns the replay window, the learner, the game files and the counters.
//!
//! It works in generations. In each, it receives games until there are enough positions, trains,
//! and publishes a net. Checkpoints and reports come between generations. A game is counted only
//! after it is in the game file.

mod openings;
mod report;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context;
use crossbeam_channel::{Receiver, Sender};

use super::clock::{Timer, TrainingClock};
use super::counted::CountedGames;
use super::held_out;
use super::limits;
use super::messages::{NetToRate, NewNet};
use super::restore::refill_windows;
use super::state::{Ending, NetRating, RunEnd, RunState};
use super::statistics::Statistics;
use super::sync::{Schedule, Shared};
use super::transport::{Closed, Transport};
use crate::config::Config;
use crate::game::Geometry;
use crate::game::record::GameRecord;
use crate::model::Description;
use crate::model::weights::Metadata;
use crate::store::checkpoint::{self, Checkpoint};
use crate::store::games::{self, GameWriter, training_positions};
use crate::store::leases;
use crate::store::model_file::ModelFile;
use crate::store::run_dir::{RunDir, State};
use crate::store::set_aside::{self, SetAside};
use crate::telemetry::Event;
use crate::train::learner::{Learner, Losses, RunProgress};
use crate::train::replay::{AddedGame, Batch, Replay};
use crate::train::seeds::{Purpose, stream};

/// Time between two reports to the curves.
const REPORT_EVERY: Duration = Duration::from_secs(5);
/// The longest time for which someone else keeps a copy of a game that has been received.
const CONFIRM_EVERY: Duration = Duration::from_secs(1);

pub(super) struct Coordinator<'a, G: Geometry> {
    pub config: &'a Config,
    pub shared: &'a Shared<'a>,
    pub schedule: Schedule,
    pub state: RunState,
    /// The description of the model; its counters are those of the start.
    pub description: Description,
    pub learner: Box<dyn Learner>,
    pub replay: Replay<G>,
    pub held_out: Replay<G>,
    pub games: GameWriter,
    /// The numbers of all games in `games`.
    pub counted: CountedGames,
    /// The numbers of games that are set aside.
    pub excluded: SetAside,
    pub run: &'a mut RunDir,
    pub transport: Box<dyn Transport>,
    pub to_evaluation: Option<Sender<NetToRate>>,
    pub telemetry: Sender<Event>,
    pub ratings: Receiver<NetRating>,
    /// The mean total loss of the last report that had one.
    pub newest_loss: Option<f64>,
    /// When the first game came of which someone keeps a copy; `None` if there is none.
    pub unconfirmed: Option<Instant>,
}

impl<G: Geometry> Coordinator<'_, G> {
    /// Trains until a limit is reached or the run is stopped, and writes a last checkpoint.
    ///
    /// # Errors
    ///
    /// The learner diverges, or a file cannot be written. The previous checkpoint then remains.
    pub fn run(mut self) -> anyhow::Result<RunEnd> {
        let clock = TrainingClock::starting_at(self.state.seconds);
        let mut statistics = Statistics::default();
        let trained = super::catch_panic(|| self.generations(&mut statistics, &clock));
        let clock = clock.stopped();
        let limit = limits::reached_limit(&self.config.limits, &self.state, clock.seconds());
        let rates_last_net = limit.is_some() && trained.is_ok() && !self.shared.interrupted();
        if rates_last_net {
            self.shared.finish()
        } else {
            self.shared.stop()
        }
        self.transport.close(limit.is_some());
        // Also after an error: games that were played are stored.
        let drained = self.drain(&mut statistics);
        let synced = self.confirm();
        let losses = trained?;
        drained?;
        synced?;
        // No speeds in this report: activity reports for these games may be missing.
        let values = self.figures(losses, None, &clock);
        self.report(values, &statistics, &clock);
        match self.to_evaluation.take() {
            Some(nets) if rates_last_net => self.rate_last_net(nets, &clock)?,
            nets => {
                self.checkpoint(&clock)?;
                if nets.is_some() {
                    let reason = match limit {
                        None => "the run stopped before a limit",
                        Some(_) => "Ctrl-C stopped the run",
                    };
                    tracing::info!("the last net is not rated: {reason}");
                }
            }
        }
        Ok(RunEnd { state: self.state, ending: Ending::at(limit) })
    }

    /// Trains and publishes nets until the run ends. Returns the losses since the last report.
    fn generations(
        &mut self,
        statistics: &mut Statistics,
        clock: &TrainingClock,
    ) -> anyhow::Result<Option<Losses>> {
        let mut batch = Batch::default();
        let mut checkpoint = Timer::every(self.config.checkpoint.every_minutes);
        let mut evaluation = Timer::every(self.config.evaluation.every_minutes);
        let mut losses: Option<(Losses, u64)> = None;
        self.publish()?;
        while !self.shared.stopping() && !self.is_limit_reached(clock) {
            let start = Instant::now();
            if !self.receive_generation(statistics, clock)? {
                break;
            }
            let waited = start.elapsed();
            let start = Instant::now();
            let before = self.state.steps;
            let found = self.train_generation(&mut batch, clock)?;
            let steps = self.state.steps - before;
            losses = Some(match losses {
                Some((earlier, count)) => (earlier.joined(count, &found, steps), count + steps),
                None => (found, steps),
            });
            if steps < u64::from(self.config.learner.steps_per_publish) {
                break;
            }
            self.state.version += 1;
            self.publish()?;
            statistics.learner(start.elapsed(), waited);
            if statistics.seconds() >= REPORT_EVERY.as_secs_f64() {
                let losses = losses.take().map(|(losses, _)| losses);
                let mut values = statistics.scalars();
                values.extend(self.figures(losses, Some(&batch), clock));
                self.report(values, statistics, clock);
                *statistics = Statistics::default();
            }
            // An evaluation writes a checkpoint itself.
            let is_evaluated = evaluation.is_due() && self.request_evaluation(clock)?;
            if checkpoint.is_due() && !is_evaluated {
                self.checkpoint(clock)?;
            }
        }
        Ok(losses.map(|(losses, _)| losses))
    }

    /// The share of the run that is done, 0 to 1, by its nearest limit; `None` without limits.
    fn share_done(&self, clock: &TrainingClock) -> Option<f64> {
        limits::share_done(&self.config.limits, &self.state, clock.seconds())
    }

    fn run_progress(&self, clock: &TrainingClock) -> RunProgress {
        RunProgress {
            positions: self.state.positions,
            share: self.share_done(clock).unwrap_or(0.0),
        }
    }

    fn is_limit_reached(&self, clock: &TrainingClock) -> bool {
        limits::reached_limit(&self.config.limits, &self.state, clock.seconds()).is_some()
    }

    /// Whether a limit on steps or time is reached. Only these change during training.
    fn is_training_limit_reached(&self, clock: &TrainingClock) -> bool {
        let limits = &self.config.limits;
        let is_reached = |limit: f64, count: f64| limit > 0.0 && count >= limit;
        is_reached(limits.steps as f64, self.state.steps as f64)
            || is_reached(limits.minutes * 60.0, clock.seconds())
    }

    /// Receives games until the next net may be trained; false if the run ends before that.
    fn receive_generation(
        &mut self,
        statistics: &mut Statistics,
        clock: &TrainingClock,
    ) -> anyhow::Result<bool> {
        let needed = self.schedule.positions_needed(self.state.version + 1);
        // If the ratio is a range, there may be more games than the next net needs. All are
        // received, so that the stream does not fill up and no actor waits.
        while self.schedule.has_ratio_range()
            && let Ok(Some(game)) = self.transport.receive(Duration::ZERO)
        {
            self.take_game(&game, statistics)?;
        }
        let mut last_report = Instant::now();
        // Held-out positions count as well, so the window may be empty even after `needed`.
        while self.state.positions < needed || self.replay.is_empty() {
            if self.shared.stopping() || self.is_limit_reached(clock) {
                return Ok(false);
            }
            match self.transport.receive(Duration::from_millis(200)) {
                Ok(game) => {
                    game.map_or(Ok(()), |game| self.take_game(&game, statistics))?;
                }
                Err(Closed) => return Ok(false),
            }
            self.tend_transport(statistics)?;
            if last_report.elapsed() >= REPORT_EVERY {
                last_report = Instant::now();
                self.report_progress(statistics, clock);
                // The first report on training must not include the warm-up.
                if self.state.version == 0 {
                    *statistics = Statistics::default();
                }
            }
        }
        self.tend_transport(statistics)?;
        Ok(true)
    }

    /// Takes activity reports, and confirms games of which others keep copies.
    fn tend_transport(&mut self, statistics: &mut Statistics) -> anyhow::Result<()> {
        let excluded = self.transport.set_aside();
        if !excluded.is_empty() {
            self.set_aside(&excluded)?;
        }
        let activity = self.transport.activity();
        activity.into_iter().for_each(|activity| statistics.activity(activity));
        if self.unconfirmed.is_some_and(|since| since.elapsed() >= CONFIRM_EVERY) {
            self.confirm()?;
        }
        Ok(())
    }

    /// From now on these stored games do not train. They stay in the files, and remain counted.
    fn set_aside(&mut self, numbers: &[u64]) -> anyhow::Result<()> {
        self.games.flush_sync()?;
        self.excluded = set_aside::add(self.run.path(), numbers)?;
        self.replay = Replay::new(&self.config.replay);
        self.held_out = Replay::new(&held_out::options(&self.config.replay));
        let most = held_out::positions_to_read(self.config.replay.max_positions);
        let newest = games::read_tail(&self.run.games(), most)?;
        let windows = (&mut self.replay, &mut self.held_out);
        refill_windows(newest, self.state.positions, &self.excluded, windows);
        Ok(())
    }

    /// Writes all games to the disk, and tells those who keep copies of them.
    fn confirm(&mut self) -> anyhow::Result<()> {
        self.games.flush_sync()?;
        self.unconfirmed = None;
        self.transport.stored();
        Ok(())
    }

    fn take_game(&mut self, game: &GameRecord, statistics: &mut Statistics) -> anyhow::Result<()> {
        if self.unconfirmed.is_none() && self.transport.keeps_copies() {
            self.unconfirmed = Some(Instant::now());
        }
        if self.counted.contains(game.id) {
            return Ok(());
        }
        // Before it is stored: a game with illegal moves must not be in the file.
        let added = match self.excluded.contains(game.id) {
            true => AddedGame { positions: training_positions(game) as usize, passes: 0 },
            false => {
                let window = held_out::window_for(game, &mut self.replay, &mut self.held_out);
                window.add(game).context("a self-play game is not legal")?
            }
        };
        self.games.append(game)?;
        self.counted.insert(game.id);
        self.state.games += 1;
        self.state.positions += added.positions as u64;
        self.replay.set_total_positions(self.state.positions);
        statistics.game(game, added);
        Ok(())
    }

    /// Trains the steps of the next net, or fewer if the run stops or reaches a limit meanwhile.
    fn train_generation(
        &mut self,
        batch: &mut Batch,
        clock: &TrainingClock,
    ) -> anyhow::Result<Losses> {
        let options = &self.config.learner;
        for _ in 0..options.steps_per_publish {
            let mut random = stream(self.config.seed, Purpose::Batch, self.state.steps);
            self.replay.sample(
                options.batch as usize,
                options.augment,
                options.search_value_share,
                &mut random,
                batch,
            );
            let progress = self.run_progress(clock);
            self.learner.step(batch, progress, &mut random);
            self.state.steps += 1;
            if self.shared.stopping() || self.is_training_limit_reached(clock) {
                break;
            }
        }
        Ok(self.learner.take_losses()?)
    }

    fn publish(&mut self) -> anyhow::Result<()> {
        let net = NewNet {
            weights: Arc::new(self.learner.finite_weights()?),
            version: self.state.version,
            positions: self.state.positions,
        };
        tracing::debug!(
            "net version {} is sent to the actors: {} steps, {} positions in the window",
            net.version,
            self.state.steps,
            self.replay.len()
        );
        self.transport.publish(&net);
        Ok(())
    }

    /// Writes a checkpoint. Returns its folder and its net.
    pub(super) fn checkpoint(
        &mut self,
        clock: &TrainingClock,
    ) -> anyhow::Result<(PathBuf, ModelFile)> {
        // The games that it counts must be on the disk first, and in the run's directory.
        self.confirm()?;
        self.run.check()?;
        self.games.check()?;
        let play = self.learner.finite_weights()?;
        self.state.seconds = clock.seconds();
        self.state.next_game = self.shared.counters.numbers.next();
        self.state.leases = leases::length(self.run.path())?;
        let description = serde_json::to_value(Description {
            positions: self.state.positions,
            steps: self.state.steps,
            ..self.description.clone()
        })?;
        let none = Metadata::new();
        let checkpoint = Checkpoint {
            step: self.state.steps,
            minutes: self.state.seconds / 60.0,
            net: ModelFile::seal(&description, &play.to_bytes(&none))?,
            learner: Some(self.learner.finite_state()?.to_bytes(&none)),
            state: serde_json::to_value(&self.state)?,
            keep_net: self.state.evaluated == Some(self.state.steps),
        };
        let path = checkpoint.save(&self.run.checkpoints())?;
        checkpoint::prune(&self.run.checkpoints(), &self.config.checkpoint)?;
        self.run.record(State::Running, self.state.summary())?;
        Ok((path, checkpoint.net))
    }

    /// Receives the actors' remaining games until all actors have ended.
    fn drain(&mut self, statistics: &mut Statistics) -> anyhow::Result<()> {
        loop {
            match self.transport.receive(Duration::from_secs(1)) {
                Ok(game) => game.map_or(Ok(()), |game| self.take_game(&game, statistics))?,
                Err(Closed) => return Ok(()),
            }
        }
    }
}
