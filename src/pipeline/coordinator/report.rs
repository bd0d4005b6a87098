//! What the coordinator reports: values of curves, and the line of progress.

use super::Coordinator;
use crate::game::Geometry;
use crate::pipeline::clock::TrainingClock;
use crate::pipeline::statistics::Statistics;
use crate::telemetry::{Event, Progress};
use crate::train::learner::Losses;
use crate::train::replay::Batch;
use crate::train::seeds::{Purpose, stream};

/// Held-out positions on which each report evaluates the net.
const HELD_OUT_BATCH: usize = 512;

impl<G: Geometry> Coordinator<'_, G> {
    /// Values of the learner and the window, with the names of their curves. `last_batch` is the
    /// newest training batch.
    pub(super) fn figures(
        &mut self,
        losses: Option<Losses>,
        last_batch: Option<&Batch>,
        clock: &TrainingClock,
    ) -> Vec<(String, f64)> {
        let mut values = Vec::new();
        let mut put = |name: &str, value: f64| values.push((name.to_string(), value));
        if let Some(losses) = losses {
            put("loss/total", losses.total);
            losses.parts.iter().for_each(|&(name, loss)| put(&format!("loss/{name}"), loss));
            self.newest_loss = Some(losses.total);
        }
        put("learner/rate", self.learner.learning_rate(self.run_progress(clock)));
        put("learner/steps", self.state.steps as f64);
        put("replay/positions", self.replay.len() as f64);
        put("replay/bytes", self.replay.bytes() as f64);
        if let Some(batch) = last_batch {
            put("replay/mean_age", batch.mean_age);
        }
        let samples = self.state.steps as f64 * self.config.learner.batch as f64;
        put("replay/ratio", samples / self.state.positions.max(1) as f64);
        if !self.held_out.is_empty() {
            let mut random = stream(self.config.seed, Purpose::HeldOut, self.state.steps);
            let mut batch = Batch::default();
            self.held_out.sample(HELD_OUT_BATCH, false, 0.0, &mut random, &mut batch);
            self.learner.evaluate(&batch).into_iter().for_each(|(name, value)| put(name, value));
        }
        // Weights that are not finite end the run where it publishes them.
        values.extend(self.opinions().unwrap_or_default());
        values
    }

    pub(super) fn report(
        &mut self,
        mut values: Vec<(String, f64)>,
        statistics: &Statistics,
        clock: &TrainingClock,
    ) {
        values.extend(self.transport.scalars());
        let _ = self.telemetry.send(Event::Scalars { positions: self.state.positions, values });
        self.report_progress(statistics, clock);
    }

    pub(super) fn report_progress(&mut self, statistics: &Statistics, clock: &TrainingClock) {
        for rating in self.ratings.try_iter() {
            self.state.note_rating(rating);
        }
        let _ = self.telemetry.send(Event::Progress(Progress {
            games: self.state.games,
            positions: self.state.positions,
            steps: self.state.steps,
            stages: None,
            games_per_second: Some(statistics.games_per_second()),
            evaluations_per_second: Some(statistics.evaluations_per_second()),
            loss: self.newest_loss,
            rating: self.state.rating.map(|newest| newest.rating),
            seconds: clock.seconds(),
            share_done: self.share_done(clock),
        }));
    }
}
