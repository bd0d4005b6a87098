//! What passes between the coordinator and the actors: games up, nets down, activity up.
//!
//! [`Transport`] is the coordinator's end. [`InProcess`] carries everything over the channels of one
//! process, and is the default. Workers on other machines are a second transport around the first
//! one (`cluster/serve`).
//!
//! A transport may deliver a game twice and in any order: the coordinator counts each number once.

use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, Select, Sender, TryRecvError, bounded};

use super::messages::{Activity, NewNet};
use crate::game::record::GameRecord;

/// Capacity of the channel for activity reports.
const REPORTS_IN_FLIGHT: usize = 256;

/// All senders are gone, and all their games have been received.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("no actor is left that sends games")]
pub struct Closed;

/// A finished game on its way to the coordinator.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct FinishedGame {
    /// The game. Its `net_version` is the net that played the first move.
    pub record: GameRecord,
    /// The version of the net that played the last move.
    pub last_net: u32,
}

/// The coordinator's end of all that passes between it and the actors.
pub(super) trait Transport: Send {
    /// The next game, or `None` if none came within `wait`.
    ///
    /// # Errors
    ///
    /// No game can come any more.
    fn receive(&mut self, wait: Duration) -> Result<Option<GameRecord>, Closed>;

    /// Sends a net to all actors. Actors that have ended are ignored.
    fn publish(&mut self, net: &NewNet);

    /// The activity reports since the last call.
    fn activity(&mut self) -> Vec<Activity>;

    /// Whether someone keeps a copy of a received game until [`Transport::stored`] is called.
    fn keeps_copies(&self) -> bool {
        false
    }

    /// All games received so far are on the disk: copies of them may be deleted.
    fn stored(&mut self) {}

    /// Numbers of stored games that must not train any more.
    fn set_aside(&mut self) -> Vec<u64> {
        Vec::new()
    }

    /// Values about the actors, with the names of their curves.
    fn scalars(&mut self) -> Vec<(String, f64)> {
        Vec::new()
    }

    /// No more nets follow, and actors end. Games that are finished are still delivered. `has_ended`:
    /// the run has reached its end, and is not only interrupted.
    fn close(&mut self, has_ended: bool);
}

/// The coordinator's end of the channels within this process.
pub(super) struct InProcess {
    games: Receiver<FinishedGame>,
    nets: Vec<Sender<NewNet>>,
    activity: Receiver<Activity>,
}

/// The actors' ends of the channels within this process.
#[derive(Clone)]
pub(super) struct ToCoordinator {
    /// Finished games. An actor waits while the channel is full.
    pub games: Sender<FinishedGame>,
    /// Activity reports. If the channel is full, the next report includes this one.
    pub activity: Sender<Activity>,
}

/// Channels that hold up to `capacity` games. When they are full, actors wait, so that they do not
/// get far ahead of the learner.
pub(super) fn in_process(capacity: usize) -> (ToCoordinator, InProcess) {
    let (games, received) = bounded(capacity);
    let (activity, reports) = bounded(REPORTS_IN_FLIGHT);
    let local = InProcess { games: received, nets: Vec::new(), activity: reports };
    (ToCoordinator { games, activity }, local)
}

impl InProcess {
    /// Adds an actor that takes nets from this channel.
    pub fn add_actor(&mut self, nets: Sender<NewNet>) {
        self.nets.push(nets);
    }

    /// A finished game, if there is one.
    pub fn try_receive(&self) -> Result<FinishedGame, TryRecvError> {
        self.games.try_recv()
    }

    /// Adds the channel of games to a selection.
    pub fn select<'a>(&'a self, select: &mut Select<'a>) {
        select.recv(&self.games);
    }

    /// The next finished game, as [`Transport::receive`].
    pub fn receive_finished(&mut self, wait: Duration) -> Result<Option<FinishedGame>, Closed> {
        match self.games.recv_timeout(wait) {
            Ok(game) => Ok(Some(game)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(Closed),
        }
    }
}

impl Transport for InProcess {
    fn receive(&mut self, wait: Duration) -> Result<Option<GameRecord>, Closed> {
        Ok(self.receive_finished(wait)?.map(|game| game.record))
    }

    fn publish(&mut self, net: &NewNet) {
        // An actor that has ended has logged why, or the run is stopping.
        for actor in &self.nets {
            let _ = actor.send(net.clone());
        }
    }

    fn activity(&mut self) -> Vec<Activity> {
        self.activity.try_iter().collect()
    }

    fn close(&mut self, _: bool) {
        self.nets.clear();
    }
}

#[cfg(test)]
#[path = "transport_tests.rs"]
pub(super) mod tests;
