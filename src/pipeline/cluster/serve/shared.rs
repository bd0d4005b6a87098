//! What the threads that serve workers share.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::RunParts;
use super::exclusions;
use super::identity::Identity;
use crate::model::weights::Weights;
use crate::pipeline::cluster::names::Name;
use crate::pipeline::cluster::trust::Ledger;
use crate::pipeline::cluster::trust::ledger::Standing;
use crate::pipeline::cluster::wire::{Announcement, NetId, Report};
use crate::pipeline::messages::{Activity, NewNet};
use crate::pipeline::sync::{Counters, Schedule};
use crate::store::FileError;
use crate::store::leases::LeaseBook;
use crate::train::game::Work;

/// The most numbers of one lease.
const LARGEST_LEASE: u64 = 1 << 20;
/// A worker that asks for numbers sooner than this gets none.
const LEASE_EVERY: Duration = Duration::from_millis(200);
/// The most reports that wait for the coordinator.
const MOST_REPORTS: usize = 4096;
/// The most excluded workers that a state names. Others learn it when they ask for numbers.
const MOST_EXCLUDED: usize = 100;
/// The most workers that are remembered.
const MOST_WORKERS: usize = 4096;
/// The most workers with curves of their own.
const MOST_CURVES: usize = 32;
/// A worker without a report for so long has left.
const LEFT_AFTER: Duration = Duration::from_secs(15);
/// Memory of the nets that are kept to play games again, in bytes.
const NETS_BYTES: usize = 256 << 20;

/// A net that games may still name.
#[derive(Clone)]
pub(super) struct KnownNet {
    pub weights: Arc<Weights>,
    pub positions: u64,
}

/// A worker that has sent something.
#[derive(Default)]
struct Worker {
    reported: Option<Instant>,
    report: Report,
    /// When it got numbers.
    leased: Option<Instant>,
    /// Games that counted since the last curve.
    games: u64,
    /// Games that are far from their replay.
    far: u32,
}

pub(super) struct Shared {
    pub run: Name,
    /// The number of this start of the learner.
    pub start: u32,
    pub announcement: Announcement,
    pub run_dir: PathBuf,
    pub counters: Arc<Counters>,
    pub schedule: Schedule,
    /// The version of the newest net.
    pub newest: AtomicU32,
    /// Whether the run has reached its end.
    pub has_ended: AtomicBool,
    book: Mutex<LeaseBook>,
    nets: Mutex<BTreeMap<NetId, KnownNet>>,
    workers: Mutex<HashMap<Name, Worker>>,
    ledger: Mutex<Ledger>,
    /// The clock of the ledger.
    since: Instant,
    activity: Mutex<Vec<Activity>>,
    set_aside: Mutex<Vec<u64>>,
    curves: Mutex<Instant>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    pub fn new(
        identity: Identity,
        announcement: Announcement,
        parts: &RunParts<'_>,
    ) -> anyhow::Result<Shared> {
        let excluded = exclusions::read(parts.run.path())?;
        Ok(Shared {
            run: identity.run,
            start: identity.start,
            announcement,
            run_dir: parts.run.path().to_path_buf(),
            counters: Arc::clone(parts.counters),
            schedule: parts.schedule,
            newest: AtomicU32::new(parts.state.version),
            has_ended: AtomicBool::new(false),
            book: Mutex::new(LeaseBook::read(parts.run.path())?),
            nets: Mutex::default(),
            workers: Mutex::default(),
            ledger: Mutex::new(Ledger::restored(&excluded)),
            since: Instant::now(),
            activity: Mutex::default(),
            set_aside: Mutex::default(),
            curves: Mutex::new(Instant::now()),
        })
    }

    /// Leases numbers to a worker; none if it asks too often.
    ///
    /// # Errors
    ///
    /// The lease cannot be written to the disk.
    pub fn lease(&self, worker: &Name, count: u64) -> Result<Range<u64>, FileError> {
        let is_too_soon = self.with_worker(worker, |worker| {
            let is_too_soon = worker.leased.is_some_and(|last| last.elapsed() < LEASE_EVERY);
            if !is_too_soon {
                worker.leased = Some(Instant::now());
            }
            is_too_soon
        });
        if is_too_soon != Some(false) {
            return Ok(0..0);
        }
        let mut book = locked(&self.book);
        let numbers = self.counters.numbers.take_range(count.clamp(1, LARGEST_LEASE));
        book.add(numbers.clone(), worker.as_str())?;
        Ok(numbers)
    }

    /// Whether a number is leased to a worker.
    pub fn is_leased(&self, number: u64, worker: &Name) -> bool {
        locked(&self.book).owner(number) == Some(worker.as_str())
    }

    /// Remembers a published net, and forgets the oldest ones.
    pub fn note_net(&self, net: &NewNet) {
        let id = NetId { start: self.start, version: net.version };
        let known = KnownNet { weights: Arc::clone(&net.weights), positions: net.positions };
        let mut nets = locked(&self.nets);
        nets.insert(id, known);
        let numbers = |weights: &Weights| -> usize {
            weights.iter().map(|(_, array)| array.values.len()).sum()
        };
        let each = 4 * numbers(&net.weights).max(1);
        while nets.len() > 2 && nets.len() * each > NETS_BYTES {
            nets.pop_first();
        }
    }

    /// A net, if it is still known.
    pub fn net(&self, id: NetId) -> Option<KnownNet> {
        locked(&self.nets).get(&id).cloned()
    }

    /// Whether a net exists. Of earlier starts of the learner only the start is known.
    pub fn net_exists(&self, id: NetId) -> bool {
        if id.start == self.start {
            id.version <= self.newest.load(Ordering::Relaxed)
        } else {
            (1..self.start).contains(&id.start)
        }
    }

    /// Changes what is known of a worker; `None` if there are too many workers.
    fn with_worker<T>(&self, name: &Name, change: impl FnOnce(&mut Worker) -> T) -> Option<T> {
        let mut workers = locked(&self.workers);
        if !workers.contains_key(name) && workers.len() >= MOST_WORKERS {
            return None;
        }
        Some(change(workers.entry(name.clone()).or_default()))
    }

    /// Takes a worker's report. The first one after a pause is logged.
    pub fn note_report(&self, name: &Name, report: Report) {
        let activity = Activity {
            work: Work {
                simulations: report.simulations,
                evaluations: report.evaluations,
                searches: report.searches,
            },
            busy: seconds(report.busy),
            waiting: seconds(report.waiting),
        };
        let mut reports = locked(&self.activity);
        if reports.len() < MOST_REPORTS {
            reports.push(activity);
        }
        drop(reports);
        let actors = report.actors;
        let joined = self.with_worker(name, |worker| {
            let is_new = worker.reported.is_none_or(|last| last.elapsed() > LEFT_AFTER);
            (worker.reported, worker.report) = (Some(Instant::now()), report);
            is_new
        });
        if joined == Some(true) {
            tracing::info!("worker {name} has joined, with {actors} actors");
        }
    }

    /// Whether games of a worker are taken.
    pub fn is_heard(&self, name: &Name) -> bool {
        locked(&self.ledger).is_heard(name.as_str())
    }

    /// A game of a worker counts.
    pub fn note_game(&self, name: &Name, number: u64) {
        self.with_worker(name, |worker| worker.games += 1);
        locked(&self.ledger).accept(name.as_str(), number, self.since.elapsed().as_secs());
    }

    /// A game or a message of a worker is refused.
    pub fn note_refusal(&self, name: &Name, kind: &'static str) {
        locked(&self.ledger).refuse(name.as_str(), kind);
    }

    /// A game was played again, and is right.
    pub fn note_replay(&self, name: &Name) {
        locked(&self.ledger).confirm(name.as_str());
    }

    /// A game of a worker is far from its replay. Returns how many there are.
    pub fn note_far(&self, name: &Name) -> u32 {
        let far = self.with_worker(name, |worker| {
            worker.far += 1;
            worker.far
        });
        far.unwrap_or(0)
    }

    /// A worker has forged a game. It is not listened to any more, and its games of the last hour
    /// are set aside.
    pub fn exclude(&self, name: &Name, why: &str) {
        let mut ledger = locked(&self.ledger);
        if !ledger.is_heard(name.as_str()) {
            return;
        }
        let games = ledger.fail(name.as_str(), why, self.since.elapsed().as_secs());
        tracing::warn!(
            "worker {name} is not listened to any more, and {} games of its last hour are set \
             aside: {why}",
            games.len()
        );
        if let Err(error) = exclusions::write(&self.run_dir, &ledger.excluded()) {
            tracing::warn!("{error}");
        }
        locked(&self.set_aside).extend(games);
    }

    /// Excluded workers with their reasons.
    pub fn excluded(&self) -> Vec<(String, String)> {
        locked(&self.ledger).excluded().excluded.into_iter().take(MOST_EXCLUDED).collect()
    }

    pub fn take_activity(&self) -> Vec<Activity> {
        std::mem::take(&mut *locked(&self.activity))
    }

    pub fn take_set_aside(&self) -> Vec<u64> {
        std::mem::take(&mut *locked(&self.set_aside))
    }

    /// The values of the curves of workers since the last call.
    pub fn scalars(&self) -> Vec<(String, f64)> {
        let elapsed = std::mem::replace(&mut *locked(&self.curves), Instant::now()).elapsed();
        let newest = self.newest.load(Ordering::Relaxed);
        let ledger = locked(&self.ledger);
        let mut workers = locked(&self.workers);
        let mut present: Vec<(&Name, &mut Worker)> = workers
            .iter_mut()
            .filter(|(_, worker)| worker.reported.is_some_and(|last| last.elapsed() < LEFT_AFTER))
            .collect();
        present.sort_by(|one, other| one.0.cmp(other.0));
        let mut values = vec![("workers/count".to_string(), present.len() as f64)];
        for (name, worker) in present.into_iter().take(MOST_CURVES) {
            let games = std::mem::take(&mut worker.games) as f64;
            let standing = ledger.standing(name.as_str());
            let lag = worker.reported.map_or(0.0, |last| last.elapsed().as_secs_f64());
            let behind = match worker.report.net.start == self.start {
                true => f64::from(newest.saturating_sub(worker.report.net.version)),
                false => f64::from(newest),
            };
            for (key, value) in [
                ("games_per_second", games / elapsed.as_secs_f64().max(1e-3)),
                ("games", standing.map_or(0, |standing| standing.accepted) as f64),
                ("rejected", standing.map_or(0, Standing::refusals) as f64),
                ("replayed", standing.map_or(0, |standing| standing.replayed) as f64),
                ("net_version", f64::from(worker.report.net.version)),
                ("nets_behind", behind),
                ("lag_seconds", lag),
                ("unconfirmed", worker.report.unconfirmed as f64),
            ] {
                values.push((format!("workers/{name}/{key}"), value));
            }
        }
        values
    }
}

/// Seconds from a message as a duration; nonsense counts as none.
fn seconds(number: f64) -> Duration {
    Duration::try_from_secs_f64(number.clamp(0.0, 3600.0)).unwrap_or_default()
}
