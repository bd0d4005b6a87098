//! One interface for whoever asks a net, on his own thread or through a server of a shared device.
//!
//! ```text
//! CPU   actor ── Local ── Backend                      computed at once, on the actor's thread
//! GPU   actor ── Client ──┐ requests   ┌ worker ── Backend ┐
//!       actor ── Client ──┼───────────▶┤                   ├── one device
//!       actor ── Client ──┘            └ worker ── Backend ┘
//!           ▲───────── one reply channel per slot ─────────┘
//! ```
//!
//! A worker gathers requests into a batch, computes it and answers. Two workers keep two batches
//! in flight: while the device computes one, the other is gathered and encoded and its kernels
//! are queued behind. A question's buffers travel to the server and back and are used again; what is
//! allocated for a question is its reply channel.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};

use super::encode::Input;
use super::inference::{Backend, InferenceError, Outputs};
use super::weights::Weights;

/// How long a worker waits for its batch to fill while another batch is in flight.
const PATIENCE: Duration = Duration::from_micros(500);
/// How often whoever waits for an answer looks whether anybody is left to give it.
const LOOK_AROUND: Duration = Duration::from_millis(200);

/// Positions, and room for what the net says about them.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Query {
    /// The positions.
    pub inputs: Vec<Input>,
    /// The answer, once collected.
    pub outputs: Outputs,
}

/// Answers questions about positions, possibly several at the same time.
///
/// Each slot holds one question: submit it, do something else, collect it.
pub trait Predictor: Send {
    /// Puts a question into `slot`, which must be free. May block while the device is busy.
    ///
    /// # Errors
    ///
    /// The net fails, or its server has ended.
    fn submit(&mut self, slot: usize, question: Query) -> Result<(), InferenceError>;

    /// Takes the question back from `slot` with its answer. Blocks until the answer is there.
    ///
    /// # Errors
    ///
    /// The net fails, its server has ended, or the slot is empty.
    fn collect(&mut self, slot: usize) -> Result<Query, InferenceError>;

    /// Takes newer weights for the questions to come. `version` rises with each; a version that
    /// is not newer is left aside, so that all who share a server may hand on the same.
    ///
    /// # Errors
    ///
    /// The weights are of another net.
    fn load(&mut self, weights: &Arc<Weights>, version: u64) -> Result<(), InferenceError>;
}

/// A backend of one's own: questions are answered when they are submitted.
pub struct Local {
    backend: Box<dyn Backend>,
    version: u64,
    answered: Vec<Option<Query>>,
}

impl Local {
    /// Answers with `backend`.
    pub fn new(backend: Box<dyn Backend>) -> Local {
        Local { backend, version: 0, answered: Vec::new() }
    }
}

impl Predictor for Local {
    fn submit(&mut self, slot: usize, mut question: Query) -> Result<(), InferenceError> {
        self.backend.evaluate(&question.inputs, &mut question.outputs)?;
        if self.answered.len() <= slot {
            self.answered.resize_with(slot + 1, || None);
        }
        self.answered[slot] = Some(question);
        Ok(())
    }

    fn collect(&mut self, slot: usize) -> Result<Query, InferenceError> {
        let taken = self.answered.get_mut(slot).and_then(Option::take);
        taken.ok_or(InferenceError::NothingAsked { slot })
    }

    fn load(&mut self, weights: &Arc<Weights>, version: u64) -> Result<(), InferenceError> {
        if version > self.version {
            self.backend.load(weights)?;
            self.version = version;
        }
        Ok(())
    }
}

struct Request {
    question: Query,
    reply: Sender<Result<Query, InferenceError>>,
}

/// What a server's workers and clients share.
struct Shared {
    /// Batches that are being computed.
    in_flight: AtomicUsize,
    /// Workers that have not ended. When there are none, questions may still lie in the channel, which
    /// nobody will answer.
    workers: AtomicUsize,
    /// Weights newer than those that the workers began with.
    newest: Mutex<Option<(u64, Arc<Weights>)>>,
}

/// Counts a worker out, however it ends.
struct AtWork(Arc<Shared>);

impl AtWork {
    fn begin(shared: &Arc<Shared>) -> AtWork {
        shared.workers.fetch_add(1, Ordering::Relaxed);
        AtWork(shared.clone())
    }
}

impl Drop for AtWork {
    fn drop(&mut self) {
        self.0.workers.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Threads that answer for a device. They end when the server and all its clients are dropped,
/// or when the device fails.
pub struct Server {
    requests: Sender<Request>,
    shared: Arc<Shared>,
    workers: Vec<JoinHandle<()>>,
}

impl Server {
    /// Starts a worker for each of `backends`, all copies of one net on one device. Two keep two
    /// batches in flight. To a batch questions are added until it has `batch` positions or more.
    ///
    /// # Errors
    ///
    /// The system refuses a thread.
    pub fn start(backends: Vec<Box<dyn Backend>>, batch: usize) -> std::io::Result<Server> {
        // Whoever finds the channel full waits in `submit`, which is where an actor that is
        // faster than the device ought to wait. The room lets a worker fill a batch at once.
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
            let at_work = AtWork::begin(&shared);
            workers.push(builder.spawn(move || {
                let _at_work = at_work;
                while worker.serve() {}
            })?);
        }
        Ok(Server { requests: sender, shared, workers })
    }

    /// Whom one actor asks through.
    pub fn client(&self) -> Client {
        Client { requests: self.requests.clone(), shared: self.shared.clone(), slots: Vec::new() }
    }

    /// Waits until the workers have ended, which they do once all clients are dropped.
    pub fn join(self) {
        drop(self.requests);
        for worker in self.workers {
            // A worker that panicked has said so on stderr, and its clients see it end.
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
    /// The group's questions in a row.
    joint: Query,
}

impl Worker {
    /// Serves one batch; false when there is nothing more to do.
    fn serve(&mut self) -> bool {
        if !self.gather() {
            return false;
        }
        self.shared.in_flight.fetch_add(1, Ordering::Relaxed);
        let result = self.refresh().and_then(|()| self.evaluate());
        self.shared.in_flight.fetch_sub(1, Ordering::Relaxed);
        match result {
            Ok(()) => {
                self.answer();
                true
            }
            Err(error) => {
                // One asker learns what went wrong; the others, who may be heard first, see that the
                // server has ended.
                tracing::warn!("the inference server ends: {error}");
                if let Some(request) = self.group.pop() {
                    let _ = request.reply.send(Err(error));
                }
                false
            }
        }
    }

    /// Waits for requests until the batch is full, or patience ends; where no other batch is being
    /// computed, it takes those that are there.
    fn gather(&mut self) -> bool {
        let Ok(request) = self.requests.recv() else { return false };
        let mut positions = request.question.inputs.len();
        self.group.push(request);
        let deadline = Instant::now() + PATIENCE;
        while positions < self.batch {
            let idle = self.shared.in_flight.load(Ordering::Relaxed) == 0;
            let next = match idle {
                true => self.requests.try_recv().ok(),
                false => self.requests.recv_deadline(deadline).ok(),
            };
            let Some(request) = next else { break };
            positions += request.question.inputs.len();
            self.group.push(request);
        }
        true
    }

    /// Loads the newest weights if they are not in use yet.
    fn refresh(&mut self) -> Result<(), InferenceError> {
        let newest = self.shared.newest.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some((version, weights)) = newest.filter(|(version, _)| *version > self.version) {
            self.backend.load(&weights)?;
            self.version = version;
        }
        Ok(())
    }

    fn evaluate(&mut self) -> Result<(), InferenceError> {
        if let [Request { question, .. }] = &mut self.group[..] {
            return self.backend.evaluate(&question.inputs, &mut question.outputs);
        }
        self.joint.inputs.clear();
        for request in &self.group {
            self.joint.inputs.extend(&request.question.inputs);
        }
        self.backend.evaluate(&self.joint.inputs, &mut self.joint.outputs)?;
        let outputs = &self.joint.outputs;
        let squares = outputs.policy.len() / self.joint.inputs.len().max(1);
        let mut start = 0;
        for Request { question, .. } in &mut self.group {
            let end = start + question.inputs.len();
            question.outputs.policy.clear();
            question.outputs.policy.extend(&outputs.policy[start * squares..end * squares]);
            question.outputs.value.clear();
            question.outputs.value.extend(&outputs.value[start..end]);
            question.outputs.score.clear();
            question.outputs.score.extend(&outputs.score[start..end]);
            start = end;
        }
        Ok(())
    }

    fn answer(&mut self) {
        for request in self.group.drain(..) {
            // An asker who has gone needs no answer.
            let _ = request.reply.send(Ok(request.question));
        }
    }
}

/// Asks a [`Server`].
pub struct Client {
    requests: Sender<Request>,
    shared: Arc<Shared>,
    slots: Vec<Option<Receiver<Result<Query, InferenceError>>>>,
}

impl Predictor for Client {
    fn submit(&mut self, slot: usize, question: Query) -> Result<(), InferenceError> {
        // A channel for one answer, so that a worker never blocks on it and its end is seen.
        let (reply, answer) = bounded(1);
        let request = Request { question, reply };
        self.requests.send(request).map_err(|_| InferenceError::ServerEnded)?;
        if self.slots.len() <= slot {
            self.slots.resize_with(slot + 1, || None);
        }
        self.slots[slot] = Some(answer);
        Ok(())
    }

    fn collect(&mut self, slot: usize) -> Result<Query, InferenceError> {
        let taken = self.slots.get_mut(slot).and_then(Option::take);
        let answer = taken.ok_or(InferenceError::NothingAsked { slot })?;
        loop {
            // The channel of questions keeps those that nobody has taken when the last worker ends,
            // and with them their ways back.
            let ended = self.shared.workers.load(Ordering::Relaxed) == 0;
            match answer.recv_timeout(LOOK_AROUND) {
                Ok(answered) => return answered,
                Err(RecvTimeoutError::Timeout) if !ended => {}
                Err(_) => return Err(InferenceError::ServerEnded),
            }
        }
    }

    fn load(&mut self, weights: &Arc<Weights>, version: u64) -> Result<(), InferenceError> {
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
