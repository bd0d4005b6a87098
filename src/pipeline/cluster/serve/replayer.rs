//! The thread that plays some games of workers again.

use std::sync::Arc;

use crossbeam_channel::Receiver;

use super::shared::{KnownNet, Shared};
use crate::config::Config;
use crate::game::Geometry;
use crate::model::Description;
use crate::pipeline::cluster::names::Name;
use crate::pipeline::cluster::trust::Replayer;
use crate::pipeline::cluster::trust::replay::{Claim, Difference, Net, Thresholds, Verdict};
use crate::pipeline::cluster::wire::{NetId, SentGame};
use crate::pipeline::selfplay_settings;
use crate::players::models::open_backend;
use crate::predict::{Backend, PredictError};
use crate::train::selfplay::NetVersion;

/// Games that are played again at the same time.
const AT_ONCE: usize = 16;

/// An honest game may be far from its replay if the kernels differ, but hardly this many.
const MOST_FAR: u32 = 3;

/// A game to play again.
pub(super) struct Doubt {
    pub worker: Name,
    /// The kind of the worker's kernels.
    pub kernel: Arc<str>,
    pub sent: SentGame,
}

pub(super) struct ReplayThread {
    pub config: Config,
    pub description: Description,
    pub shared: Arc<Shared>,
}

impl ReplayThread {
    /// Plays games again until no more come.
    pub fn run(self, doubts: &Receiver<Doubt>) {
        dispatch!(self.config.board, G => self.run_on::<G>(doubts));
    }

    fn run_on<G: Geometry>(self, doubts: &Receiver<Doubt>) {
        let settings = selfplay_settings(&self.config);
        let mut replayer = Replayer::<G>::new(settings, Thresholds::default());
        while let Ok(first) = doubts.recv() {
            let nets = first.sent.nets.clone();
            let (mut group, mut others) = (vec![first], Vec::new());
            for doubt in doubts.try_iter().take(AT_ONCE - 1) {
                let fits = doubt.sent.nets == nets;
                if fits { group.push(doubt) } else { others.push(doubt) }
            }
            let rest = others.into_iter().map(|doubt| vec![doubt]);
            for group in std::iter::once(group).chain(rest) {
                if let Err(error) = self.judge(&mut replayer, &group) {
                    tracing::warn!("games of workers cannot be played again: {error}");
                    return;
                }
            }
        }
    }

    /// Plays games with the same nets again.
    fn judge<G: Geometry>(
        &self,
        replayer: &mut Replayer<G>,
        group: &[Doubt],
    ) -> Result<(), PredictError> {
        let Some(Doubt { sent, .. }) = group.first() else { return Ok(()) };
        let (first_id, last_id) = match *sent.nets {
            [net] => (net, net),
            [first, last] => (first, last),
            // Which of more nets played a position is not known.
            _ => return Ok(()),
        };
        let (Some(first), Some(last)) = (self.shared.net(first_id), self.shared.net(last_id))
        else {
            // An old net: these games were long on their way.
            return Ok(());
        };
        let (mut first_backend, mut last_backend) = (self.open(&first)?, self.open(&last)?);
        let net = |id: NetId, known: &KnownNet, backend| Net {
            version: NetVersion { version: id.version, positions: known.positions },
            backend,
        };
        let claims: Vec<Claim<'_>> = group
            .iter()
            .map(|doubt| Claim {
                record: &doubt.sent.record,
                last_net: last_id.version,
                kernel: &doubt.kernel,
            })
            .collect();
        let first = net(first_id, &first, &mut *first_backend);
        let last = net(last_id, &last, &mut *last_backend);
        let verdicts = replayer.replay(&claims, first, Some(last))?;
        for (doubt, verdict) in group.iter().zip(verdicts) {
            let (worker, number) = (&doubt.worker, doubt.sent.record.id);
            match verdict {
                Verdict::Same | Verdict::Close { .. } => self.shared.note_replay(worker),
                Verdict::NotPossible(why) => tracing::debug!("game {number}: {why:?}"),
                Verdict::Different { what, distance } => {
                    let why =
                        format!("game {number} is not what its net plays: {what} ({distance})");
                    if what == Difference::Distance && self.shared.note_far(worker) < MOST_FAR {
                        tracing::warn!("worker {worker}: {why}");
                    } else {
                        self.shared.exclude(worker, &why);
                    }
                }
            }
        }
        Ok(())
    }

    fn open(&self, net: &KnownNet) -> Result<Box<dyn Backend>, PredictError> {
        open_backend(&self.description, &net.weights, &self.config.inference, "cpu")
    }
}
