//! What a session does with the messages of its network thread.

use std::sync::atomic::Ordering;

use super::super::WorkerError;
use super::super::network::Event;
use super::{PAUSE, Session, SessionEnd};
use crate::pipeline::cluster::wire::{State, Stored};
use crate::store::games::training_positions;

impl Session {
    pub(super) fn take(&mut self, event: Event) -> Result<(), WorkerError> {
        match event {
            Event::State(state) => self.take_state(&state)?,
            Event::Net { notice, weights } => {
                // The learner repeats the newest net.
                if self.nets.last() != Some(&notice.id) {
                    self.waiting_net = Some((notice, weights));
                }
            }
            Event::Numbers(numbers) => {
                self.is_lease_asked = false;
                self.counters.numbers.add(numbers);
                self.told.remove("numbers");
            }
            Event::NoNumbers { why, is_final: true } => return Err(WorkerError::Excluded { why }),
            Event::NoNumbers { why, .. } => {
                self.is_lease_asked = false;
                self.tell("numbers", format!("waits for numbers of games: {why}"));
            }
            Event::Sent(number) => {
                self.on_their_way.remove(&number);
                self.told.remove("send");
            }
            Event::NotSent { number, why } => {
                self.on_their_way.remove(&number);
                self.outbox.failed(number, PAUSE);
                self.tell("send", format!("the server does not take games: {why}; tries again"));
            }
            Event::Stored(Stored { games, refused }) => {
                for (number, why) in refused.iter().take(3) {
                    tracing::warn!("the learner refused game {number}: {why}");
                }
                tracing::debug!("stored games: {games:?}");
                self.counts.stored += games.len() as u64;
                self.counts.refused += refused.len() as u64;
                let numbers =
                    games.into_iter().chain(refused.into_iter().map(|(number, _)| number));
                self.outbox.done(numbers)?;
            }
        }
        Ok(())
    }

    fn take_state(&mut self, state: &State) -> Result<(), WorkerError> {
        if let Some((_, why)) = state.excluded.iter().find(|(name, _)| name == self.name.as_str()) {
            return Err(WorkerError::Excluded { why: why.clone() });
        }
        if state.announcement != self.announcement {
            self.end = Some(SessionEnd::RunChanged);
        }
        if state.ended {
            self.end = Some(SessionEnd::RunEnded);
        }
        let own = self.finished.iter().map(|game| u64::from(training_positions(&game.record)));
        let positions = state.positions.saturating_add(own.sum());
        self.counters.positions.store(positions, Ordering::Release);
        self.counters.learner_starved.store(state.starved, Ordering::Relaxed);
        self.allowance.positions.store(state.wanted, Ordering::Relaxed);
        Ok(())
    }
}
