//! The loop of an actor thread: play a batch, send what ended, take the next net when due.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender};

use super::messages::{Activity, NewNet};
use super::sync::{Schedule, Shared};
use crate::game::Geometry;
use crate::game::record::GameRecord;
use crate::net::inference::InferenceError;
use crate::store::games::learnable;
use crate::store::stream::GameStream;
use crate::train::selfplay::{Actor, GameNumbers};

/// How often an actor reports its activity, and how soon it notices a stop while it waits.
const REPORT_EVERY: Duration = Duration::from_millis(500);

/// What an actor thread works with.
pub(super) struct ActorThread<'a, G: Geometry> {
    pub actor: Actor<G>,
    pub numbers: &'a GameNumbers,
    pub shared: &'a Shared<'a>,
    pub schedule: Schedule,
    /// The version that the actor starts with.
    pub version: u32,
    pub nets: Receiver<NewNet>,
    pub games: Box<dyn GameStream>,
    pub activity: Sender<Activity>,
}

impl<G: Geometry> ActorThread<'_, G> {
    /// Plays until the run stops or the learner is gone.
    pub fn run(mut self) -> Result<(), InferenceError> {
        let mut finished = Vec::new();
        let (mut busy, mut waiting) = (Duration::ZERO, Duration::ZERO);
        let mut reported = Instant::now();
        while !self.shared.stopping() {
            let start = Instant::now();
            if self.shared.made.load(Ordering::Acquire) >= self.schedule.allowed(self.version) {
                self.take_net()?;
                waiting += start.elapsed();
                continue;
            }
            let start = Instant::now();
            self.actor.step(self.numbers, &mut finished)?;
            busy += start.elapsed();
            let start = Instant::now();
            if !self.send(&mut finished) {
                return Ok(());
            }
            waiting += start.elapsed();
            if reported.elapsed() >= REPORT_EVERY {
                reported = Instant::now();
                let work = self.actor.take_work();
                let (busy, waiting) = (std::mem::take(&mut busy), std::mem::take(&mut waiting));
                // A report that finds the channel full is worth less than the time to wait.
                let _ = self.activity.try_send(Activity { work, busy, waiting });
            }
        }
        Ok(())
    }

    /// Takes the next net if it comes soon; returns without it so that a stop is noticed.
    fn take_net(&mut self) -> Result<(), InferenceError> {
        match self.nets.recv_timeout(REPORT_EVERY) {
            Ok(net) => {
                self.actor.load(&net.weights, net.version, net.positions)?;
                self.version = net.version;
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                self.shared.stop();
            }
        }
        Ok(())
    }

    /// Sends the games that ended; false if nobody listens any more.
    fn send(&mut self, finished: &mut Vec<GameRecord>) -> bool {
        for game in finished.drain(..) {
            let positions = learnable(&game);
            self.shared.made.fetch_add(positions as u64, Ordering::AcqRel);
            if self.games.send(game).is_err() {
                return false;
            }
        }
        true
    }
}
