//! How the coordinator has its nets rated: what the evaluator is given is kept in a checkpoint.

use crossbeam_channel::Sender;

use super::clock::TrainingClock;
use super::coordinator::Coordinator;
use super::messages::NetToRate;
use crate::arena::nets::LoadedNet;
use crate::game::Geometry;
use crate::store::checkpoint::Found;

impl<G: Geometry> Coordinator<'_, G> {
    /// Gives the evaluator the newest net, if it has room for it, and tells whether it had.
    pub(super) fn evaluate(&mut self, clock: &TrainingClock) -> anyhow::Result<bool> {
        match &self.to_evaluator {
            None => return Ok(false),
            Some(evaluator) if evaluator.is_full() => {
                tracing::info!("an evaluation is skipped: two before it are not done yet");
                return Ok(false);
            }
            Some(_) => {}
        }
        let net = self.net_to_rate(clock)?;
        // One that is gone has said why; no more nets are kept for it.
        self.to_evaluator = self.to_evaluator.take().filter(|to| to.send(net).is_ok());
        Ok(true)
    }

    /// The newest net, from a checkpoint that keeps it. It is on the disk before its games are in the
    /// ladder, so that a run which is killed does not make another net of this step.
    fn net_to_rate(&mut self, clock: &TrainingClock) -> anyhow::Result<NetToRate> {
        self.state.evaluated = Some(self.state.steps);
        let (path, file) = self.checkpoint(clock)?;
        let net = LoadedNet::of(&file, Found::Checkpoint(path))?;
        let (games, minutes) = (self.state.games, self.state.seconds / 60.0);
        Ok(NetToRate { net, games, minutes })
    }

    /// Has the net that the run ends with rated, and waits for that unless it is interrupted.
    pub(super) fn rate_last_net(
        &mut self,
        evaluator: Sender<NetToRate>,
        clock: &TrainingClock,
    ) -> anyhow::Result<()> {
        let net = self.net_to_rate(clock)?;
        // An evaluator that is gone has said why.
        if evaluator.send(net).is_ok() {
            tracing::info!("the last net is being rated; Ctrl-C ends that");
        }
        drop(evaluator);
        // It hangs up when it has no more nets to rate.
        while let Ok(found) = self.ratings.recv() {
            self.state.note_rating(found);
        }
        if self.state.last_rating().is_none() {
            tracing::info!("the last net is not rated; `train --resume` goes on with that");
        }
        // A run that goes on later knows the rating, too.
        self.checkpoint(clock).map(drop)
    }
}
