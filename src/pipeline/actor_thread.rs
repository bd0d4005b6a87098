//! The loop of an actor thread: play a batch, send the finished games, load the next net when due.

use std::sync::atomic::Ordering;
use std::time::Instant;

use crossbeam_channel::{Receiver, RecvTimeoutError};

use super::held_out::holds_out;
use super::messages::{Activity, NewNet};
use super::sync::{Pace, REPORT_EVERY, Shared};
use super::transport::{FinishedGame, ToCoordinator};
use crate::game::Geometry;
use crate::game::record::GameRecord;
use crate::predict::PredictError;
use crate::store::games::training_positions;
use crate::train::selfplay::{Actor, NetVersion};

/// An actor thread.
pub(super) struct ActorThread<'a, G: Geometry> {
    pub actor: Actor<G>,
    pub shared: &'a Shared<'a>,
    pub pace: Pace,
    /// The version of the net that the actor has.
    pub version: u32,
    pub nets: Receiver<NewNet>,
    pub channels: ToCoordinator,
}

impl<G: Geometry> ActorThread<'_, G> {
    /// Plays until the run stops or the coordinator has ended.
    pub fn run(mut self) -> Result<(), PredictError> {
        let mut finished = Vec::new();
        let mut activity = Activity::default();
        let mut reported = Instant::now();
        while !self.shared.stopping() {
            if reported.elapsed() >= REPORT_EVERY {
                reported = Instant::now();
                activity.work += self.actor.take_work();
                // If the channel is full, the next report includes this one.
                if self.channels.activity.try_send(activity).is_ok() {
                    activity = Activity::default();
                }
            }
            let start = Instant::now();
            if self.pace.takes_nets_at_once()
                && let Some(net) = self.nets.try_iter().last()
            {
                self.load(&net)?;
            }
            if self.pace.has_enough(self.version, &self.shared.counters) {
                self.wait_for_net()?;
                activity.waiting += start.elapsed();
                continue;
            }
            let start = Instant::now();
            self.actor.step(&self.shared.counters.numbers, &mut finished)?;
            activity.busy += start.elapsed();
            let start = Instant::now();
            if !self.send(&mut finished) {
                return Ok(());
            }
            activity.waiting += start.elapsed();
        }
        Ok(())
    }

    /// Waits a short time for the next net and loads it. Returns without one so that the thread
    /// notices a stop.
    fn wait_for_net(&mut self) -> Result<(), PredictError> {
        match self.nets.recv_timeout(self.pace.patience()) {
            Ok(net) if self.pace.skips(net.version, &self.shared.counters) => {
                self.version = net.version;
            }
            Ok(net) => self.load(&net)?,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => self.shared.end(),
        }
        Ok(())
    }

    fn load(&mut self, net: &NewNet) -> Result<(), PredictError> {
        let version = NetVersion { version: net.version, positions: net.positions };
        self.actor.load(&net.weights, version)?;
        self.version = net.version;
        Ok(())
    }

    /// Sends the finished games; false if the receiver was dropped.
    fn send(&mut self, finished: &mut Vec<GameRecord>) -> bool {
        for game in finished.drain(..) {
            let positions = training_positions(&game);
            // The actor updates the shared counters, not the coordinator: whether it may continue
            // must not depend on when another thread receives its games.
            if positions > 0 && !holds_out(&game) {
                self.shared.counters.learner_starved.store(false, Ordering::Relaxed);
            }
            self.shared.counters.positions.fetch_add(positions as u64, Ordering::AcqRel);
            let game = FinishedGame { record: game, last_net: self.actor.net().version };
            if self.channels.games.send(game).is_err() {
                return false;
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;
    use std::sync::{Arc, Mutex};
    use std::time::Duration;

    use crossbeam_channel::{Sender, bounded, unbounded};

    use super::*;
    use crate::config::Config;
    use crate::game::Square6;
    use crate::model::weights::Weights;
    use crate::pipeline::messages::Activity;
    use crate::pipeline::sync::{Counters, Schedule};
    use crate::pipeline::transport::in_process;
    use crate::predict::{Predictor, Query};
    use crate::train::selfplay::GameNumbers;

    /// A predictor that returns zeros, records the versions that it loads, and stops the run after
    /// some queries.
    struct RecordingPredictor {
        loaded: Arc<Mutex<Vec<u64>>>,
        query: Option<Query>,
        queries_left: u32,
        stop: Arc<AtomicBool>,
    }

    impl Predictor for RecordingPredictor {
        fn submit(&mut self, _: usize, mut query: Query) -> Result<(), PredictError> {
            let (count, predictions) = (query.inputs.len(), &mut query.predictions);
            predictions.policy = vec![0.0; 36 * count];
            (predictions.value, predictions.score) = (vec![0.0; count], vec![0.0; count]);
            self.query = Some(query);
            self.queries_left -= 1;
            self.stop.fetch_or(self.queries_left == 0, Ordering::Relaxed);
            Ok(())
        }

        fn collect(&mut self, slot: usize) -> Result<Query, PredictError> {
            self.query.take().ok_or(PredictError::EmptySlot { slot })
        }

        fn load(&mut self, _: &Arc<Weights>, version: u64) -> Result<(), PredictError> {
            self.loaded.lock().expect("one thread").push(version);
            Ok(())
        }
    }

    /// The versions that an actor loads. It finds versions 1 to 3 in its channel and plays until it
    /// has submitted `queries` queries, or waits for a fourth version. Nobody receives its games.
    fn loaded_versions(schedule: Schedule, queries: u32) -> Vec<u64> {
        let (sender, nets) = bounded(8);
        for version in 1..=3 {
            let weights = Arc::new(Weights::default());
            sender.send(NewNet { weights, version, positions: 0 }).expect("room");
        }
        drop(sender);
        let (activity, _reports) = unbounded();
        run_actor(nets, activity, schedule, queries, true)
    }

    /// Runs one actor thread and returns the versions that it loads from `nets`.
    fn run_actor(
        nets: Receiver<NewNet>,
        activity: Sender<Activity>,
        schedule: Schedule,
        queries: u32,
        learner_starved: bool,
    ) -> Vec<u64> {
        let text =
            "board = \"6x6\"\n[search]\nsimulations = 2\nsolve_empties = 0\nsolve_leaves = 0";
        let config = Config::parse("test", text, &[]).expect("a configuration");
        let (loaded, stop) = (Arc::default(), Arc::new(AtomicBool::new(false)));
        let predictor = RecordingPredictor {
            loaded: Arc::clone(&loaded),
            query: None,
            queries_left: queries,
            stop: stop.clone(),
        };
        let counters = Arc::new(Counters {
            numbers: GameNumbers::from(0),
            positions: Default::default(),
            learner_starved: AtomicBool::new(learner_starved),
        });
        let settings = crate::pipeline::selfplay_settings(&config);
        let net = NetVersion::default();
        let actor = Actor::<Square6>::new(settings, Box::new(predictor), 1, &counters.numbers, net);
        let (channels, _local) = in_process(1000);
        let shared = Shared { counters, stop: &stop, finished: AtomicBool::new(false) };
        let channels = ToCoordinator { activity, ..channels };
        let (pace, shared) = (Pace::Schedule(schedule), &shared);
        let thread = ActorThread { actor, shared, pace, version: 0, nets, channels };
        thread.run().expect("a net that does not fail");
        loaded.lock().expect("one thread").clone()
    }

    /// An actor reports its waiting time even if it does not play.
    #[test]
    fn a_waiting_actor_reports_its_waiting_time() {
        let (sender, nets) = bounded(1);
        let (activity, reports) = unbounded();
        let closer = std::thread::spawn(move || {
            std::thread::sleep(3 * REPORT_EVERY);
            drop(sender);
        });
        run_actor(nets, activity, schedule(0, 0.0, 0.0), 200, false);
        closer.join().expect("a thread");
        let waited: Duration = reports.iter().map(|report| report.waiting).sum();
        assert!(waited >= REPORT_EVERY, "{waited:?}");
    }

    fn schedule(warmup: u64, quota: f64, largest_quota: f64) -> Schedule {
        Schedule { first: 0, warmup, quota, largest_quota }
    }

    #[test]
    fn with_a_range_of_ratios_the_newest_net_is_loaded_at_once() {
        assert_eq!(loaded_versions(schedule(1_000_000, 1000.0, 8000.0), 20), [3]);
    }

    #[test]
    fn with_a_single_ratio_a_net_is_loaded_when_it_is_due() {
        assert!(loaded_versions(schedule(1_000_000, 1000.0, 1000.0), 20).is_empty());
    }

    /// Otherwise it would play with an old net while the coordinator is busy.
    #[test]
    fn an_actor_takes_the_next_net_even_if_its_games_were_not_received() {
        assert_eq!(loaded_versions(schedule(0, 1000.0, 1000.0), 200).last(), Some(&3));
    }
}
