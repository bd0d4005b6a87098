//! Several copies of a net, each on a thread of its own.
//!
//! One copy computes on the caller's thread. Each other copy has a helper thread that lives as long
//! as [`NetCopies`], since libtorch's first call on a thread is slow. The copies divide a batch
//! among them, or each helper gets a batch of its own while the caller continues.

use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvError, Sender, TryRecvError, bounded};

use crate::model::weights::Weights;
use crate::predict::Input;
use crate::predict::{Backend, PredictError, Predictions};

/// The least number of positions for each thread. For fewer the transfer to a thread costs more
/// than it saves.
const MIN_POSITIONS_PER_THREAD: usize = 2;
/// How long an idle thread polls for work before it sleeps. It is somewhat longer than a search
/// takes to gather a batch, since waking up takes as long as computing a few positions.
const POLL_TIME: Duration = Duration::from_micros(200);

/// Copies of one net that compute a batch together.
pub struct NetCopies {
    own: Box<dyn Backend>,
    helpers: Vec<Helper>,
}

/// A task for a helper.
enum Task {
    Predict(Vec<Input>, Predictions),
    Load(Weights),
}

type TaskResult = Result<(Vec<Input>, Predictions), PredictError>;

/// A copy on a thread of its own. The thread ends with the helper. There is at most one task at a
/// time, so neither channel is ever full.
struct Helper {
    /// `None` only while the helper is dropped.
    tasks: Option<Sender<Task>>,
    done: Receiver<TaskResult>,
    thread: Option<JoinHandle<()>>,
    /// Buffers that are sent with a task and come back. Between tasks: the last result.
    buffers: (Vec<Input>, Predictions),
}

impl Helper {
    fn new(mut copy: Box<dyn Backend>) -> Helper {
        let (tasks, received) = bounded(1);
        let (sender, done) = bounded(1);
        let thread = std::thread::spawn(move || {
            while let Ok(task) = receive(&received) {
                let result = match task {
                    Task::Load(weights) => copy.load(&weights).map(|()| Default::default()),
                    Task::Predict(inputs, mut predictions) => {
                        copy.predict(&inputs, &mut predictions).map(|()| (inputs, predictions))
                    }
                };
                if sender.send(result).is_err() {
                    return;
                }
            }
        });
        let (tasks, thread) = (Some(tasks), Some(thread));
        Helper { tasks, done, thread, buffers: Default::default() }
    }

    /// Sends a task. `finish` must follow.
    fn begin(&self, task: Task) {
        // If the thread is gone, it has panicked. `finish` reports that.
        let _ = self.tasks.as_ref().map(|tasks| tasks.send(task));
    }

    fn begin_batch(&mut self, batch: &[Input]) {
        let (mut inputs, predictions) = std::mem::take(&mut self.buffers);
        inputs.clear();
        inputs.extend_from_slice(batch);
        self.begin(Task::Predict(inputs, predictions));
    }

    /// Waits for the result of a task.
    fn finish(&mut self) -> Result<(), PredictError> {
        let done = receive(&self.done);
        self.buffers = done.unwrap_or_else(|_| panic!("a thread that computes a net panicked"))?;
        Ok(())
    }
}

impl Drop for Helper {
    fn drop(&mut self) {
        self.tasks = None;
        // The thread frees the copy. Without this wait the process could end at the same time and
        // free libtorch's own data. A panic of the thread was reported when it happened.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

/// Receives a message. Polls first, and sleeps only if none comes within [`POLL_TIME`].
fn receive<T>(channel: &Receiver<T>) -> Result<T, RecvError> {
    let begun = Instant::now();
    while begun.elapsed() < POLL_TIME {
        match channel.try_recv() {
            Err(TryRecvError::Empty) => std::hint::spin_loop(),
            Err(TryRecvError::Disconnected) => return Err(RecvError),
            Ok(received) => return Ok(received),
        }
    }
    channel.recv()
}

impl NetCopies {
    /// The copy for the caller's thread and some others of the same net.
    pub fn new(own: Box<dyn Backend>, others: Vec<Box<dyn Backend>>) -> NetCopies {
        NetCopies { own, helpers: others.into_iter().map(Helper::new).collect() }
    }

    /// The number of helpers; they are numbered from 0.
    pub fn helpers(&self) -> usize {
        self.helpers.len()
    }

    /// Gives a batch to an idle helper. `collect` must follow. Until then only `submit` to other
    /// helpers, `is_done` and `evaluate_here` may be called.
    pub fn submit(&mut self, helper: usize, inputs: &[Input]) {
        self.helpers[helper].begin_batch(inputs);
    }

    /// Whether a helper has finished its batch.
    pub fn is_done(&self, helper: usize) -> bool {
        !self.helpers[helper].done.is_empty()
    }

    /// Waits for a helper to finish its batch.
    ///
    /// # Errors
    ///
    /// The device fails.
    pub fn collect(&mut self, helper: usize) -> Result<&Predictions, PredictError> {
        let helper = &mut self.helpers[helper];
        helper.finish()?;
        Ok(&helper.buffers.1)
    }

    /// Computes a batch with the copy of this thread only. Helpers may be computing.
    ///
    /// # Errors
    ///
    /// The device fails.
    pub fn evaluate_here(
        &mut self,
        inputs: &[Input],
        predictions: &mut Predictions,
    ) -> Result<(), PredictError> {
        self.own.predict(inputs, predictions)
    }
}

impl Backend for NetCopies {
    fn predict(
        &mut self,
        inputs: &[Input],
        predictions: &mut Predictions,
    ) -> Result<(), PredictError> {
        let most = inputs.len() / MIN_POSITIONS_PER_THREAD;
        let shares = (self.helpers.len() + 1).min(most).max(1);
        let mut parts = inputs.chunks(inputs.len().div_ceil(shares).max(1));
        let first = parts.next().unwrap_or_default();
        let mut used = 0;
        for (helper, part) in self.helpers.iter_mut().zip(parts) {
            helper.begin_batch(part);
            used += 1;
        }
        let own = self.own.predict(first, predictions);
        // Wait for all helpers even after an error. A result that is not taken here would be taken
        // for that of the next batch.
        let mut result = own;
        for helper in &mut self.helpers[..used] {
            result = helper.finish().and(result);
            let (_, part) = &helper.buffers;
            predictions.policy.extend_from_slice(&part.policy);
            predictions.value.extend_from_slice(&part.value);
            predictions.score.extend_from_slice(&part.score);
        }
        result
    }

    fn load(&mut self, weights: &Weights) -> Result<(), PredictError> {
        self.helpers.iter().for_each(|helper| helper.begin(Task::Load(weights.clone())));
        let own = self.own.load(weights);
        self.helpers.iter_mut().fold(own, |result, helper| helper.finish().and(result))
    }

    fn describe(&self) -> String {
        format!("{} in {} threads", self.own.describe(), self.helpers.len() + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Predicts for each position its number of own discs.
    struct DiscCounter;

    impl Backend for DiscCounter {
        fn predict(
            &mut self,
            inputs: &[Input],
            predictions: &mut Predictions,
        ) -> Result<(), PredictError> {
            predictions.value = inputs.iter().map(|input| input.mine.count_ones() as f32).collect();
            predictions.score = predictions.value.clone();
            predictions.policy = predictions.value.iter().flat_map(|&value| [value; 3]).collect();
            Ok(())
        }

        fn load(&mut self, _: &Weights) -> Result<(), PredictError> {
            Ok(())
        }

        fn describe(&self) -> String {
            "counter".into()
        }
    }

    #[test]
    fn predictions_are_in_the_order_of_the_inputs() {
        let others = (0..2).map(|_| Box::new(DiscCounter) as Box<dyn Backend>).collect();
        let mut net_copies = NetCopies::new(Box::new(DiscCounter), others);
        let (mut predictions, mut wanted) = (Predictions::default(), Predictions::default());
        for count in [0, 1, 2, 3, 5, 7, 8, 64, 4] {
            let input = |mine: u128| Input { mine: (1 << mine) - 1, ..Input::default() };
            let inputs: Vec<_> = (0..count).map(input).collect();
            net_copies.predict(&inputs, &mut predictions).expect("it counts");
            DiscCounter.predict(&inputs, &mut wanted).expect("it counts");
            assert_eq!(predictions, wanted, "{count} positions");
        }
    }
}
