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

use crossbeam_channel::{Receiver, Sender, bounded};

use super::encode::Input;
use super::inference::{Backend, InferenceError, Outputs};
use super::weights::Weights;

/// How long a worker waits for its batch to fill while another batch is in flight.
const PATIENCE: Duration = Duration::from_micros(500);

/// Positions, and room for what the net says about them.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Question {
    /// The positions.
    pub inputs: Vec<Input>,
    /// The answer, once collected.
    pub outputs: Outputs,
}

/// Answers questions about positions, possibly several at the same time.
///
/// Each slot holds one question: submit it, do something else, collect it.
pub trait Evaluate: Send {
    /// Puts a question into `slot`, which must be free. May block while the device is busy.
    ///
    /// # Errors
    ///
    /// The net fails, or its server has ended.
    fn submit(&mut self, slot: usize, question: Question) -> Result<(), InferenceError>;

    /// Takes the question back from `slot` with its answer. Blocks until the answer is there.
    ///
    /// # Errors
    ///
    /// The net fails, its server has ended, or the slot is empty.
    fn collect(&mut self, slot: usize) -> Result<Question, InferenceError>;

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
    answered: Vec<Option<Question>>,
}

impl Local {
    /// Answers with `backend`.
    pub fn new(backend: Box<dyn Backend>) -> Local {
        Local { backend, version: 0, answered: Vec::new() }
    }
}

impl Evaluate for Local {
    fn submit(&mut self, slot: usize, mut question: Question) -> Result<(), InferenceError> {
        self.backend.evaluate(&question.inputs, &mut question.outputs)?;
        if self.answered.len() <= slot {
            self.answered.resize_with(slot + 1, || None);
        }
        self.answered[slot] = Some(question);
        Ok(())
    }

    fn collect(&mut self, slot: usize) -> Result<Question, InferenceError> {
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
    question: Question,
    reply: Sender<Result<Question, InferenceError>>,
}

/// What a server's workers and clients share.
struct Shared {
    /// Batches that are being computed.
    in_flight: AtomicUsize,
    newest: Mutex<(u64, Arc<Weights>)>,
}

/// Threads that answer for a device. They end when the server and all its clients are dropped,
/// or when the device fails.
pub struct Server {
    requests: Sender<Request>,
    shared: Arc<Shared>,
    workers: Vec<JoinHandle<()>>,
}

impl Server {
    /// Starts a worker for each of `backends`, all copies of one net with `weights` on one
    /// device. Two keep two batches in flight, each of up to `batch` positions unless a single
    /// question is larger.
    ///
    /// # Errors
    ///
    /// The system refuses a thread.
    pub fn start(
        backends: Vec<Box<dyn Backend>>,
        weights: Arc<Weights>,
        batch: usize,
    ) -> std::io::Result<Server> {
        // Whoever finds the channel full waits in `submit`, which is where an actor that is
        // faster than the device ought to wait. The room lets a worker fill a batch at once.
        let (sender, receiver) = bounded(64);
        let shared =
            Arc::new(Shared { in_flight: AtomicUsize::new(0), newest: Mutex::new((0, weights)) });
        let mut workers = Vec::new();
        for (index, backend) in backends.into_iter().enumerate() {
            let mut worker = Worker {
                requests: receiver.clone(),
                shared: shared.clone(),
                batch,
                backend,
                version: 0,
                group: Vec::new(),
                joint: Question::default(),
            };
            let builder = std::thread::Builder::new().name(format!("inference-{index}"));
            workers.push(builder.spawn(move || while worker.serve() {})?);
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
    joint: Question,
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
                // One asker learns what went wrong; the others see that the server has ended.
                if let Some(request) = self.group.pop() {
                    let _ = request.reply.send(Err(error));
                }
                false
            }
        }
    }

    /// Waits for requests until the batch is full, or the device would be idle, or patience ends.
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
        let (version, weights) = {
            let newest = self.shared.newest.lock().unwrap_or_else(PoisonError::into_inner);
            (newest.0, newest.1.clone())
        };
        if version > self.version {
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
    slots: Vec<Option<Receiver<Result<Question, InferenceError>>>>,
}

impl Evaluate for Client {
    fn submit(&mut self, slot: usize, question: Question) -> Result<(), InferenceError> {
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

    fn collect(&mut self, slot: usize) -> Result<Question, InferenceError> {
        let taken = self.slots.get_mut(slot).and_then(Option::take);
        let answer = taken.ok_or(InferenceError::NothingAsked { slot })?;
        answer.recv().map_err(|_| InferenceError::ServerEnded)?
    }

    fn load(&mut self, weights: &Arc<Weights>, version: u64) -> Result<(), InferenceError> {
        let mut newest = self.shared.newest.lock().unwrap_or_else(PoisonError::into_inner);
        if version > newest.0 {
            *newest = (version, weights.clone());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::Shape;
    use crate::net::fixtures::{positions, resnet, trained};
    use crate::net::inference::{Options, Precision, open};

    fn setting() -> (Vec<Input>, [Arc<Weights>; 2], impl Fn() -> Box<dyn Backend>) {
        let spec = resnet(Shape::Square6, 1, 16);
        let weights = [1, 2].map(|seed| Arc::new(trained(&spec, seed)));
        let options = Options { precision: Precision::F32, ..Options::default() };
        let first = weights[0].clone();
        let make = move || open(&spec, &first, &options, "cpu").unwrap();
        (positions(Shape::Square6, 60, 3), weights, make)
    }

    fn close(left: &Outputs, right: &Outputs) -> bool {
        left.policy.len() == right.policy.len()
            && (left.policy.iter().zip(&right.policy)).all(|(a, b)| (a - b).abs() < 1e-4)
            && left.value.iter().zip(&right.value).all(|(a, b)| (a - b).abs() < 1e-4)
    }

    fn ask(evaluate: &mut dyn Evaluate, slot: usize, inputs: &[Input]) {
        let question = Question { inputs: inputs.to_vec(), outputs: Outputs::default() };
        evaluate.submit(slot, question).unwrap();
    }

    #[test]
    fn many_clients_get_their_own_answers() {
        let (inputs, [weights, _], make) = setting();
        let server = Server::start(vec![make(), make()], weights, 32).unwrap();
        std::thread::scope(|scope| {
            for number in 0..4 {
                let (mut client, mut local) = (server.client(), Local::new(make()));
                let inputs = &inputs[number * 15..][..15];
                scope.spawn(move || {
                    for round in 0..20 {
                        let parts = inputs.split_at(1 + round % 14);
                        ask(&mut client, 0, parts.0);
                        ask(&mut client, 1, parts.1);
                        for (slot, part) in [(1, parts.1), (0, parts.0)] {
                            let found = client.collect(slot).unwrap();
                            ask(&mut local, slot, part);
                            let wanted = local.collect(slot).unwrap();
                            assert_eq!(found.inputs, part);
                            assert!(close(&found.outputs, &wanted.outputs));
                        }
                    }
                });
            }
        });
        server.join();
    }

    #[test]
    fn newer_weights_count_and_older_do_not() {
        let (inputs, [old, new], make) = setting();
        let server = Server::start(vec![make()], old.clone(), 64).unwrap();
        let (mut client, mut local) = (server.client(), Local::new(make()));
        for evaluate in [&mut client as &mut dyn Evaluate, &mut local] {
            ask(evaluate, 0, &inputs);
            let before = evaluate.collect(0).unwrap().outputs;
            evaluate.load(&new, 2).unwrap();
            evaluate.load(&old, 1).unwrap();
            ask(evaluate, 0, &inputs);
            let after = evaluate.collect(0).unwrap().outputs;
            assert!(!close(&before, &after));
        }
        drop(client);
        server.join();
    }

    #[test]
    fn an_end_is_an_error_and_not_a_wait() {
        let (inputs, [weights, _], make) = setting();
        let server = Server::start(vec![make(), make()], weights, 64).unwrap();
        let mut client = server.client();
        assert!(matches!(client.collect(0), Err(InferenceError::NothingAsked { slot: 0 })));
        client.load(&Arc::new(Weights::default()), 1).unwrap();
        for _ in 0..2 {
            ask(&mut client, 0, &inputs);
            assert!(matches!(client.collect(0), Err(InferenceError::Weights(_))));
        }
        server.join();
        let question = Question { inputs, outputs: Outputs::default() };
        assert!(matches!(client.submit(0, question), Err(InferenceError::ServerEnded)));
    }
}
