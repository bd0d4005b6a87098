//! The loop of an actor thread: play a batch, send what ended, take the next net when due.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender};

use super::held_out::holds_out;
use super::messages::{Activity, NewNet};
use super::sync::{Schedule, Shared};
use crate::game::Geometry;
use crate::game::record::GameRecord;
use crate::net::inference::InferenceError;
use crate::store::games::learnable;
use crate::store::stream::GameStream;
use crate::train::selfplay::{Actor, GameNumbers, NetVersion};

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
        let mut done = Activity::default();
        let mut reported = Instant::now();
        while !self.shared.stopping() {
            if reported.elapsed() >= REPORT_EVERY {
                reported = Instant::now();
                done.work += self.actor.take_work();
                // A report that finds the channel full goes with the next.
                if self.activity.try_send(done).is_ok() {
                    done = Activity::default();
                }
            }
            let start = Instant::now();
            // Where the ratio is a band, an actor may go on for long with the net that it has, and
            // must not for that.
            if self.schedule.is_band()
                && let Some(net) = self.nets.try_iter().last()
            {
                self.load(&net)?;
            }
            if self.has_enough(self.version) && !self.shared.starved.load(Ordering::Relaxed) {
                self.take_net()?;
                done.waiting += start.elapsed();
                continue;
            }
            let start = Instant::now();
            self.actor.step(self.numbers, &mut finished)?;
            done.busy += start.elapsed();
            let start = Instant::now();
            if !self.send(&mut finished) {
                return Ok(());
            }
            done.waiting += start.elapsed();
        }
        Ok(())
    }

    /// Whether as many positions are made as may be before a net that is newer than `version`.
    fn has_enough(&self, version: u32) -> bool {
        self.shared.made.load(Ordering::Acquire) >= self.schedule.allowed(version)
    }

    /// Takes the next net if it comes soon; returns without it so that a stop is noticed.
    fn take_net(&mut self) -> Result<(), InferenceError> {
        match self.nets.recv_timeout(REPORT_EVERY) {
            // One that it may not play with yet is passed over: the next is on its way.
            Ok(net) if self.has_enough(net.version) => self.version = net.version,
            Ok(net) => self.load(&net)?,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => self.shared.end(),
        }
        Ok(())
    }

    fn load(&mut self, net: &NewNet) -> Result<(), InferenceError> {
        let made = NetVersion { version: net.version, positions: net.positions };
        self.actor.load(&net.weights, made)?;
        self.version = net.version;
        Ok(())
    }

    /// Sends the games that ended; false if nobody listens any more.
    fn send(&mut self, finished: &mut Vec<GameRecord>) -> bool {
        for game in finished.drain(..) {
            let positions = learnable(&game);
            // Not left to the coordinator: what an actor may do must not depend on how soon another
            // thread has looked at its games.
            if positions > 0 && !holds_out(&game) {
                self.shared.starved.store(false, Ordering::Relaxed);
            }
            self.shared.made.fetch_add(positions as u64, Ordering::AcqRel);
            if self.games.send(game).is_err() {
                return false;
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, AtomicU64};
    use std::sync::{Arc, Mutex};

    use crossbeam_channel::{bounded, unbounded};

    use super::*;
    use crate::config::Config;
    use crate::game::Square6;
    use crate::net::server::{Predictor, Query};
    use crate::net::weights::Weights;
    use crate::store::stream::in_process;

    /// A net that knows nothing, notes which versions it was given, and ends the run by itself.
    struct Notes {
        loaded: Arc<Mutex<Vec<u64>>>,
        question: Option<Query>,
        questions_left: u32,
        stop: Arc<AtomicBool>,
    }

    impl Predictor for Notes {
        fn submit(&mut self, _: usize, mut question: Query) -> Result<(), InferenceError> {
            let (count, outputs) = (question.inputs.len(), &mut question.outputs);
            outputs.policy = vec![0.0; 36 * count];
            (outputs.value, outputs.score) = (vec![0.0; count], vec![0.0; count]);
            self.question = Some(question);
            self.questions_left -= 1;
            self.stop.fetch_or(self.questions_left == 0, Ordering::Relaxed);
            Ok(())
        }

        fn collect(&mut self, slot: usize) -> Result<Query, InferenceError> {
            self.question.take().ok_or(InferenceError::NothingAsked { slot })
        }

        fn load(&mut self, _: &Arc<Weights>, version: u64) -> Result<(), InferenceError> {
            self.loaded.lock().expect("one thread").push(version);
            Ok(())
        }
    }

    /// Versions that an actor loads which finds three in its channel and plays by this schedule until
    /// it has asked so many questions, or waits for a fourth. Nobody takes its games.
    fn loaded(schedule: Schedule, questions: u32) -> Vec<u64> {
        let (sender, nets) = bounded(8);
        for version in 1..=3 {
            let weights = Arc::new(Weights::default());
            sender.send(NewNet { weights, version, positions: 0 }).expect("room");
        }
        drop(sender);
        let (activity, _reports) = unbounded();
        alone(nets, activity, schedule, questions, true)
    }

    /// Versions that an actor loads which gets its nets from here.
    fn alone(
        nets: Receiver<NewNet>,
        activity: Sender<Activity>,
        schedule: Schedule,
        questions: u32,
        starved: bool,
    ) -> Vec<u64> {
        let text =
            "board = \"6x6\"\n[search]\nsimulations = 2\nsolve_empties = 0\nsolve_leaves = 0";
        let config = Config::parse("test", text, &[]).expect("a configuration");
        let (notes, stop) = (Arc::default(), Arc::new(AtomicBool::new(false)));
        let evaluator = Notes {
            loaded: Arc::clone(&notes),
            question: None,
            questions_left: questions,
            stop: stop.clone(),
        };
        let numbers = GameNumbers::from(0);
        let rules = crate::pipeline::rules(&config);
        let made = NetVersion::default();
        let actor = Actor::<Square6>::new(rules, Box::new(evaluator), 1, &numbers, made);
        let (games, _source) = in_process(1000);
        let starved = AtomicBool::new(starved);
        let finished = AtomicBool::new(false);
        let shared = Shared { made: AtomicU64::new(0), starved, stop: &stop, finished };
        let games = games.another();
        let (numbers, shared) = (&numbers, &shared);
        let thread =
            ActorThread { actor, numbers, shared, schedule, version: 0, nets, games, activity };
        thread.run().expect("a net that does not fail");
        notes.lock().expect("one thread").clone()
    }

    /// Nobody plays, and still it is told that all of them wait.
    #[test]
    fn an_actor_that_waits_for_a_net_says_so() {
        let (sender, nets) = bounded(1);
        let (activity, reports) = unbounded();
        let waits = std::thread::spawn(move || {
            std::thread::sleep(3 * REPORT_EVERY);
            drop(sender);
        });
        alone(nets, activity, schedule(0, 0.0, 0.0), 200, false);
        waits.join().expect("a thread");
        let waited: Duration = reports.iter().map(|report| report.waiting).sum();
        assert!(waited >= REPORT_EVERY, "{waited:?}");
    }

    fn schedule(warmup: u64, quota: f64, largest_quota: f64) -> Schedule {
        Schedule { first: 0, warmup, quota, largest_quota }
    }

    #[test]
    fn the_newest_net_is_taken_at_once_where_the_ratio_is_a_band() {
        assert_eq!(loaded(schedule(1_000_000, 1000.0, 8000.0), 20), [3]);
    }

    #[test]
    fn a_net_is_taken_when_it_is_due_where_the_ratio_is_one_number() {
        assert!(loaded(schedule(1_000_000, 1000.0, 1000.0), 20).is_empty());
    }

    /// Else it would play on with an old net for as long as the coordinator is busy elsewhere.
    #[test]
    fn an_actor_that_has_made_enough_takes_the_next_net_before_anybody_has_seen_its_games() {
        assert_eq!(loaded(schedule(0, 1000.0, 1000.0), 200).last(), Some(&3));
    }
}
