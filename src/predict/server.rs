//! One interface to a net's predictions: computed on the caller's thread, or by a server that
//! shares a device between threads.
//!
//! ```text
//! CPU   actor ── LocalPredictor ── Backend             computed at once, on the actor's thread
//! GPU   actor ── Client ──┐ requests   ┌ worker ── Backend ┐
//!       actor ── Client ──┼───────────▶┤                   ├── one device
//!       actor ── Client ──┘            └ worker ── Backend ┘
//!           ▲───────── one reply channel per slot ─────────┘
//! ```
//!
//! A worker collects requests into a batch, computes it and replies. Two workers keep two batches
//! in flight: while the device computes one batch, the other is collected, encoded and queued. The
//! buffers of a query go to the server and back and are reused. Only the reply channel is allocated
//! for each query.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};

use super::{Backend, Input, PredictError, Predictions};
use crate::model::Weights;

/// The longest time that a worker waits for a full batch while another batch is in flight.
const FILL_TIMEOUT: Duration = Duration::from_micros(500);
/// A client that waits for a reply checks in this interval whether a worker is left.
const END_CHECK_INTERVAL: Duration = Duration::from_millis(200);

/// Positions and their predictions. The buffers can be reused for the next query.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Query {
    /// The positions.
    pub inputs: Vec<Input>,
    /// The predictions, once the query is collected.
    pub predictions: Predictions,
}

/// Computes predictions for queries, several at a time if the implementation allows it.
///
/// Each slot holds one query. The caller submits it, may do other work, and collects it.
pub trait Predictor: Send {
    /// Submits a query in `slot`, which must be empty. May block while the device is busy.
    ///
    /// # Errors
    ///
    /// The computation fails, or the server has ended.
    fn submit(&mut self, slot: usize, query: Query) -> Result<(), PredictError>;

    /// Takes the query from `slot`, with its predictions. Blocks until they are computed.
    ///
    /// # Errors
    ///
    /// The computation fails, the server has ended, or the slot is empty.
    fn collect(&mut self, slot: usize) -> Result<Query, PredictError>;

    /// Uses `weights` for later queries if `version` is newer than the version in use. Therefore
    /// all clients of a server may pass on the same weights.
    ///
    /// # Errors
    ///
    /// The weights belong to another net. A server reports that for a later query, and ends.
    fn load(&mut self, weights: &Arc<Weights>, version: u64) -> Result<(), PredictError>;
}

/// A predictor with its own backend. It computes a query when it is submitted.
pub struct LocalPredictor {
    backend: Box<dyn Backend>,
    version: u64,
    slots: Vec<Option<Query>>,
}

impl LocalPredictor {
    /// A predictor that computes with `backend`.
    pub fn new(backend: Box<dyn Backend>) -> LocalPredictor {
        LocalPredictor { backend, version: 0, slots: Vec::new() }
    }
}

impl Predictor for LocalPredictor {
    fn submit(&mut self, slot: usize, mut query: Query) -> Result<(), PredictError> {
        self.backend.predict(&query.inputs, &mut query.predictions)?;
        if self.slots.len() <= slot {
            self.slots.resize_with(slot + 1, || None);
        }
        self.slots[slot] = Some(query);
        Ok(())
    }

    fn collect(&mut self, slot: usize) -> Result<Query, PredictError> {
        let taken = self.slots.get_mut(slot).and_then(Option::take);
        taken.ok_or(PredictError::EmptySlot { slot })
    }

    fn load(&mut self, weights: &Arc<Weights>, version: u64) -> Result<(), PredictError> {
        if version > self.version {
            self.backend.load(weights)?;
            self.version = version;
        }
        Ok(())
    }
}

struct Request {
    query: Query,
    reply: Sender<Result<Query, PredictError>>,
}

/// What a server's workers and clients share.
struct Shared {
    /// Batches that are being computed.
    in_flight: AtomicUsize,
    /// Workers that have not ended. After the last one has ended, queries that remain in the
    /// channel get no reply.
    workers: AtomicUsize,
    /// The newest version and its weights. `None` until the first [`Predictor::load`].
    newest: Mutex<Option<(u64, Arc<Weights>)>>,
}

/// Counts a worker in [`Shared::workers`] until it ends, also by a panic.
struct WorkerGuard(Arc<Shared>);

impl WorkerGuard {
    fn begin(shared: &Arc<Shared>) -> WorkerGuard {
        shared.workers.fetch_add(1, Ordering::Relaxed);
        WorkerGuard(shared.clone())
    }
}

impl Drop for WorkerGuard {
    fn drop(&mut self) {
        self.0.workers.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Worker threads that compute predictions on a shared device. They end when the server and all its
/// clients are dropped, or when the device fails.
pub struct Server {
    requests: Sender<Request>,
    shared: Arc<Shared>,
    workers: Vec<JoinHandle<()>>,
}

impl Server {
    /// Starts a worker for each of `backends`, which must be copies of one net on one device. A
    /// worker adds queries to a batch until it has at least `batch` positions.
    ///
    /// # Errors
    ///
    /// The operating system cannot start a thread.
    pub fn start(backends: Vec<Box<dyn Backend>>, batch: usize) -> std::io::Result<Server> {
        // Where actors are faster than the device, the channel is full and they wait in `submit`.
        // With many waiting requests a worker can fill a batch at once.
        let (sender, receiver) = bounded(64);
        let shared = Arc::new(Shared {
            in_flight: AtomicUsize::new(0),
            workers: AtomicUsize::new(0),
            newest: Mutex::new(None),
        });
        let mut workers = Vec::new();
        for (index, backend) in backends.into_iter().enumerate() {
            let mut worker = Worker {
                requests: receiver.clone(),
                shared: shared.clone(),
                batch,
                backend,
                version: 0,
                group: Vec::new(),
                joint: Query::default(),
            };
            let builder = std::thread::Builder::new().name(format!("inference-{index}"));
            let guard = WorkerGuard::begin(&shared);
            workers.push(builder.spawn(move || {
                let _guard = guard;
                while worker.serve() {}
            })?);
        }
        Ok(Server { requests: sender, shared, workers })
    }

    /// A new client, for one actor.
    pub fn client(&self) -> Client {
        Client { requests: self.requests.clone(), shared: self.shared.clone(), slots: Vec::new() }
    }

    /// Waits until all workers have ended. They end once all clients are dropped.
    pub fn join(self) {
        drop(self.requests);
        for worker in self.workers {
            // A panic has been printed to stderr already, and the clients get an error.
            let _ = worker.join();
        }
    }
}

/// One thread of a server.
struct Worker {
    requests: Receiver<Request>,
    shared: Arc<Shared>,
    batch: usize,
    backend: Box<dyn Backend>,
    version: u64,
    group: Vec<Request>,
    /// The positions of all queries of the group, and their predictions.
    joint: Query,
}

impl Worker {
    /// Serves one batch. False if the worker must end.
    fn serve(&mut self) -> bool {
        if !self.gather() {
            return false;
        }
        self.shared.in_flight.fetch_add(1, Ordering::Relaxed);
        let result = self.refresh().and_then(|()| self.predict());
        self.shared.in_flight.fetch_sub(1, Ordering::Relaxed);
        match result {
            Ok(()) => {
                self.reply();
                true
            }
            Err(error) => {
                // One client gets this error. The others get `ServerEnded`, possibly before.
                tracing::warn!("the inference server ends: {error}");
                if let Some(request) = self.group.pop() {
                    let _ = request.reply.send(Err(error));
                }
                false
            }
        }
    }

    /// Waits for a request, then adds requests until the batch is full or [`FILL_TIMEOUT`] is over.
    /// While no other batch is in flight it adds only requests that are already waiting. False if
    /// there are no clients left.
    fn gather(&mut self) -> bool {
        let Ok(request) = self.requests.recv() else { return false };
        let mut positions = request.query.inputs.len();
        self.group.push(request);
        let deadline = Instant::now() + FILL_TIMEOUT;
        while positions < self.batch {
            let idle = self.shared.in_flight.load(Ordering::Relaxed) == 0;
            let next = match idle {
                true => self.requests.try_recv().ok(),
                false => self.requests.recv_deadline(deadline).ok(),
            };
            let Some(request) = next else { break };
            positions += request.query.inputs.len();
            self.group.push(request);
        }
        true
    }

    /// Loads the newest weights unless they are already in use.
    fn refresh(&mut self) -> Result<(), PredictError> {
        let newest = self.shared.newest.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some((version, weights)) = newest.filter(|(version, _)| *version > self.version) {
            self.backend.load(&weights)?;
            self.version = version;
        }
        Ok(())
    }

    fn predict(&mut self) -> Result<(), PredictError> {
        if let [Request { query, .. }] = &mut self.group[..] {
            return self.backend.predict(&query.inputs, &mut query.predictions);
        }
        self.joint.inputs.clear();
        for request in &self.group {
            self.joint.inputs.extend(&request.query.inputs);
        }
        self.backend.predict(&self.joint.inputs, &mut self.joint.predictions)?;
        let predictions = &self.joint.predictions;
        let squares = predictions.policy.len() / self.joint.inputs.len().max(1);
        let mut start = 0;
        for Request { query, .. } in &mut self.group {
            let end = start + query.inputs.len();
            query.predictions.policy.clear();
            query.predictions.policy.extend(&predictions.policy[start * squares..end * squares]);
            query.predictions.value.clear();
            query.predictions.value.extend(&predictions.value[start..end]);
            query.predictions.score.clear();
            query.predictions.score.extend(&predictions.score[start..end]);
            start = end;
        }
        Ok(())
    }

    fn reply(&mut self) {
        for request in self.group.drain(..) {
            // Sending fails only if the client was dropped.
            let _ = request.reply.send(Ok(request.query));
        }
    }
}

/// A predictor that sends its queries to a [`Server`].
pub struct Client {
    requests: Sender<Request>,
    shared: Arc<Shared>,
    slots: Vec<Option<Receiver<Result<Query, PredictError>>>>,
}

impl Predictor for Client {
    fn submit(&mut self, slot: usize, query: Query) -> Result<(), PredictError> {
        // One channel per query: a worker never blocks on it, and if the worker drops the request,
        // the client gets an error.
        let (reply, receiver) = bounded(1);
        let request = Request { query, reply };
        self.requests.send(request).map_err(|_| PredictError::ServerEnded)?;
        if self.slots.len() <= slot {
            self.slots.resize_with(slot + 1, || None);
        }
        self.slots[slot] = Some(receiver);
        Ok(())
    }

    fn collect(&mut self, slot: usize) -> Result<Query, PredictError> {
        let taken = self.slots.get_mut(slot).and_then(Option::take);
        let receiver = taken.ok_or(PredictError::EmptySlot { slot })?;
        loop {
            // After the last worker has ended, the request channel still holds requests and their
            // reply channels. So the end cannot be seen from the reply channel alone.
            let ended = self.shared.workers.load(Ordering::Relaxed) == 0;
            match receiver.recv_timeout(END_CHECK_INTERVAL) {
                Ok(result) => return result,
                Err(RecvTimeoutError::Timeout) if !ended => {}
                Err(_) => return Err(PredictError::ServerEnded),
            }
        }
    }

    fn load(&mut self, weights: &Arc<Weights>, version: u64) -> Result<(), PredictError> {
        let mut newest = self.shared.newest.lock().unwrap_or_else(PoisonError::into_inner);
        if newest.as_ref().is_none_or(|(known, _)| version > *known) {
            *newest = Some((version, weights.clone()));
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "server_tests.rs"]
mod tests;
