//! The thread that decides which games of workers count.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use crossbeam_channel::{Receiver, Sender};
use tokio::sync::mpsc::UnboundedSender;

use super::network::{Command, Message};
use super::shared::Shared;
use super::{Receipt, RemoteGame, ServeOptions};
use crate::game::record::GameRecord;
use crate::pipeline::cluster::names::Name;
use crate::pipeline::cluster::wire::{SentGame, unpack};
use crate::pipeline::counted::CountedGames;
use crate::pipeline::{RunParts, holds_out};
use crate::store::games::training_positions;

pub(super) struct Checker {
    shared: Arc<Shared>,
    commands: UnboundedSender<Command>,
    /// Games that were counted before, so that positions are counted once.
    seen: CountedGames,
}

impl Checker {
    pub fn new(
        _options: &ServeOptions,
        parts: &RunParts<'_>,
        shared: Arc<Shared>,
        commands: UnboundedSender<Command>,
    ) -> anyhow::Result<Checker> {
        Ok(Checker { shared, commands, seen: parts.counted.clone() })
    }

    /// Checks messages until no more come.
    pub fn run(mut self, messages: &Receiver<Message>, games: &Sender<RemoteGame>) {
        for message in messages {
            if !self.check_message(&message, games) {
                return;
            }
        }
    }

    /// Checks the games of a message; false if the coordinator has ended.
    fn check_message(&mut self, message: &Message, games: &Sender<RemoteGame>) -> bool {
        let worker = &message.worker;
        let sent = match unpack(&message.bytes) {
            Ok((_, sent)) if !sent.is_empty() => sent,
            found => {
                let why = found.map_or_else(|error| error.to_string(), |_| "it has no game".into());
                tracing::warn!("refused a message of worker {worker}: {why}");
                self.shared.with_worker(worker, |worker| worker.refused += 1);
                let _ = self.commands.send(Command::Unreadable(message.number));
                return true;
            }
        };
        let of = sent.len();
        for game in sent {
            let number = game.record.id;
            let receipt = Receipt { message: message.number, of, number, refused: None };
            match self.check_game(worker, game) {
                Ok(record) => {
                    if games.send(RemoteGame { record, receipt }).is_err() {
                        return false;
                    }
                }
                Err(why) => {
                    tracing::warn!("refused game {number} of worker {worker}: {why}");
                    self.shared.with_worker(worker, |worker| worker.refused += 1);
                    let refused = Receipt { refused: Some(why), ..receipt };
                    let _ = self.commands.send(Command::Done(vec![refused]));
                }
            }
        }
        true
    }

    fn check_game(&mut self, worker: &Name, sent: SentGame) -> Result<GameRecord, Box<str>> {
        if !self.shared.is_leased(sent.record.id, worker) {
            return Err("its number was not leased to this worker".into());
        }
        let record = sent.record;
        if self.seen.insert(record.id) {
            let counters = &self.shared.counters;
            let positions = training_positions(&record);
            if positions > 0 && !holds_out(&record) {
                counters.learner_starved.store(false, Ordering::Relaxed);
            }
            counters.positions.fetch_add(positions.into(), Ordering::AcqRel);
            self.shared.note_game(worker);
        }
        Ok(record)
    }
}
