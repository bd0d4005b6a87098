//! The thread that decides which games of workers count.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use crossbeam_channel::{Receiver, Sender};
use rand::RngExt as _;
use tokio::sync::mpsc::UnboundedSender;

use super::desk::Message;
use super::network::Command;
use super::replayer::Doubt;
use super::shared::Shared;
use super::{Receipt, RemoteGame};
use crate::game::record::GameRecord;
use crate::game::{Geometry, Shape};
use crate::pipeline::cluster::names::Name;
use crate::pipeline::cluster::trust::exact::Sample;
use crate::pipeline::cluster::trust::{ExactChecker, Facts, check};
use crate::pipeline::cluster::wire::{SentGame, unpack};
use crate::pipeline::counted::CountedGames;
use crate::pipeline::holds_out;
use crate::store::games::training_positions;
use crate::train::game::SelfPlaySettings;
use crate::train::seeds::Random;

/// Positions that are solved again have at most this many empty squares: some milliseconds each.
const MOST_EMPTIES: u32 = 16;
/// Positions of a game that are solved again.
const SOLVED_AGAIN: usize = 3;
/// Size of the solver's table in bytes.
const SOLVER_TABLE_BYTES: usize = 1 << 20;

pub(super) struct Checker {
    pub board: Shape,
    pub settings: SelfPlaySettings,
    pub shared: Arc<Shared>,
    pub commands: UnboundedSender<Command>,
    /// Games that are played again.
    pub doubts: Sender<Doubt>,
    pub solve_share: f64,
    pub replay_share: f64,
    /// Games that were counted before, so that positions are counted once.
    pub seen: CountedGames,
    /// Not seeded: a worker must not know which games are looked at.
    pub random: Random,
}

/// Why a game does not count.
enum Fault {
    /// It is not a game of this run. A damaged record proves no intent.
    Refused(&'static str, String),
    /// It was forged.
    Forged(String),
}

impl Checker {
    /// Checks messages until no more come.
    pub fn run(self, messages: &Receiver<Message>, games: &Sender<RemoteGame>) {
        dispatch!(self.board, G => CheckerOn::<G>::new(self).run(messages, games));
    }
}

struct CheckerOn<G: Geometry> {
    checker: Checker,
    exact: ExactChecker<G>,
    sample: Sample,
}

impl<G: Geometry> CheckerOn<G> {
    fn new(checker: Checker) -> CheckerOn<G> {
        CheckerOn {
            exact: ExactChecker::new(&checker.settings, SOLVER_TABLE_BYTES),
            sample: Sample {
                share: checker.solve_share,
                positions: SOLVED_AGAIN,
                most_empties: MOST_EMPTIES,
            },
            checker,
        }
    }

    fn run(mut self, messages: &Receiver<Message>, games: &Sender<RemoteGame>) {
        for message in messages {
            if !self.check_message(&message, games) {
                return;
            }
        }
    }

    /// Checks the games of a message; false if the coordinator has ended.
    fn check_message(&mut self, message: &Message, games: &Sender<RemoteGame>) -> bool {
        let (worker, commands) = (&message.worker, self.checker.commands.clone());
        let (kernel, sent) = match unpack(&message.bytes) {
            Ok((kernel, sent)) if !sent.is_empty() => (Arc::<str>::from(kernel), sent),
            found => {
                let why = found.map_or_else(|error| error.to_string(), |_| "it has no game".into());
                tracing::warn!("refused a message of worker {worker}: {why}");
                self.checker.shared.note_refusal(worker, "message");
                let _ = commands.send(Command::Unreadable(message.number));
                return true;
            }
        };
        let of = sent.len();
        for game in sent {
            let number = game.record.id;
            let receipt = Receipt { message: message.number, of, number, refused: None };
            let refused = match self.check_game(worker, &kernel, game) {
                Ok(record) => {
                    if games.send(RemoteGame { record, receipt }).is_err() {
                        return false;
                    }
                    continue;
                }
                Err(Fault::Refused(kind, why)) => {
                    tracing::warn!("refused game {number} of worker {worker}: {why}");
                    self.checker.shared.note_refusal(worker, kind);
                    why
                }
                Err(Fault::Forged(why)) => {
                    self.checker.shared.exclude(worker, &format!("game {number}: {why}"));
                    why
                }
            };
            let refused = Receipt { refused: Some(refused.into()), ..receipt };
            let _ = commands.send(Command::Done(vec![refused]));
        }
        true
    }

    fn check_game(
        &mut self,
        worker: &Name,
        kernel: &Arc<str>,
        sent: SentGame,
    ) -> Result<GameRecord, Fault> {
        let checker = &mut self.checker;
        let shared = &checker.shared;
        if !shared.is_heard(worker) {
            return Err(Fault::Refused("excluded", "the worker is not listened to".into()));
        }
        let facts = Facts {
            board: checker.board,
            settings: &checker.settings,
            is_leased: &|number| shared.is_leased(number, worker),
            has_net: &|version| {
                sent.nets.first().is_some_and(|net| net.version == version)
                    && sent.nets.iter().all(|&net| shared.net_exists(net))
            },
        };
        check(&sent.record, &facts)
            .map_err(|refusal| Fault::Refused(refusal.name(), refusal.to_string()))?;
        // A game that comes again is not checked again; the coordinator does not count it.
        if checker.seen.insert(sent.record.id) {
            let wrong = self.exact.check(&sent.record, &self.sample, &mut checker.random);
            if let Err(wrong) = wrong {
                checker.seen.remove(sent.record.id);
                return Err(Fault::Forged(wrong.to_string()));
            }
            let counters = &shared.counters;
            let positions = training_positions(&sent.record);
            if positions > 0 && !holds_out(&sent.record) {
                counters.learner_starved.store(false, Ordering::Relaxed);
            }
            counters.positions.fetch_add(positions.into(), Ordering::AcqRel);
            shared.note_game(worker, sent.record.id);
            if checker.random.random::<f64>() < checker.replay_share {
                let (worker, kernel) = (worker.clone(), Arc::clone(kernel));
                // If many wait already, this one is left out.
                let _ = checker.doubts.try_send(Doubt { worker, kernel, sent: sent.clone() });
            }
        }
        Ok(GameRecord { worker: Some(worker.as_str().into()), ..sent.record })
    }
}
