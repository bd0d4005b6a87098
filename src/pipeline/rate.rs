//! The coordinator's part of evaluation: it stores a net in a checkpoint and sends it to the
//! evaluation thread.

use crossbeam_channel::Sender;

use super::clock::TrainingClock;
use super::coordinator::Coordinator;
use super::messages::NetToRate;
use crate::game::Geometry;
use crate::players::models::LoadedModel;
use crate::store::checkpoint::ModelLocation;

impl<G: Geometry> Coordinator<'_, G> {
    /// Sends the newest net to the evaluation thread if its channel has room. Returns whether a
    /// checkpoint was written for this.
    pub(super) fn request_evaluation(&mut self, clock: &TrainingClock) -> anyhow::Result<bool> {
        match &self.to_evaluation {
            None => return Ok(false),
            Some(nets) if nets.is_full() => {
                tracing::info!("an evaluation is skipped: the two before it are not finished");
                return Ok(false);
            }
            Some(_) => {}
        }
        let net = self.net_to_rate(clock)?;
        // A thread that has ended has logged why. After that no nets are sent.
        self.to_evaluation = self.to_evaluation.take().filter(|to| to.send(net).is_ok());
        Ok(true)
    }

    /// Writes a checkpoint that keeps the newest net, and returns the net. The net is on the disk
    /// before its games are in the ladder, so a killed run cannot produce another net of this step.
    fn net_to_rate(&mut self, clock: &TrainingClock) -> anyhow::Result<NetToRate> {
        self.state.evaluated = Some(self.state.steps);
        let (path, file) = self.checkpoint(clock)?;
        let net = LoadedModel::of(&file, ModelLocation::Checkpoint(path))?;
        let (games, minutes) = (self.state.games, self.state.seconds / 60.0);
        Ok(NetToRate { net, games, minutes })
    }

    /// Sends the run's last net to the evaluation thread and waits for its rating, or until the
    /// evaluation is interrupted.
    pub(super) fn rate_last_net(
        &mut self,
        nets: Sender<NetToRate>,
        clock: &TrainingClock,
    ) -> anyhow::Result<()> {
        let net = self.net_to_rate(clock)?;
        // A thread that has ended has logged why.
        if nets.send(net).is_ok() {
            tracing::info!("the last net is being rated; Ctrl-C stops the rating");
        }
        drop(nets);
        // The thread closes this channel when it has no more nets to rate.
        while let Ok(found) = self.ratings.recv() {
            self.state.note_rating(found);
        }
        if self.state.last_rating().is_none() {
            tracing::info!("the last net is not rated; `train --resume` continues the rating");
        }
        // So that a resumed run has the rating, too.
        self.checkpoint(clock).map(drop)
    }
}
