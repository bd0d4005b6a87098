//! Several copies of a net, each on a thread of its own.
//!
//! One copy computes on the thread that asks; each of the others has a thread that lives as
//! long as the crew, since libtorch makes much ready on a thread's first call. They share out a
//! batch, or each helper is given a question of its own while the asker goes on.

use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvError, Sender, TryRecvError, bounded};

use crate::net::Input;
use crate::net::inference::{Backend, InferenceError, Outputs};
use crate::net::weights::Weights;

/// Positions for which another thread is worth the way to it.
const WORTH_A_THREAD: usize = 2;
/// How long a thread without work looks out for it before it goes to sleep: somewhat longer than
/// a search takes to gather a batch, since waking up takes as long as computing a few positions.
const PATIENCE: Duration = Duration::from_micros(200);

/// Copies of one net that answer as one, faster.
pub struct NetCopies {
    own: Box<dyn Backend>,
    helpers: Vec<Helper>,
}

/// What a helper is to do.
enum Task {
    Predictor(Vec<Input>, Outputs),
    Load(Weights),
}

type Done = Result<(Vec<Input>, Outputs), InferenceError>;

/// A copy on a thread of its own, which ends with the helper. Never more than one task is under
/// way, so neither channel is ever full.
struct Helper {
    /// Gone only while the helper is dropped.
    tasks: Option<Sender<Task>>,
    done: Receiver<Done>,
    thread: Option<JoinHandle<()>>,
    /// Memory that travels with the tasks; between them the last answers.
    spare: (Vec<Input>, Outputs),
}

impl Helper {
    fn new(mut copy: Box<dyn Backend>) -> Helper {
        let (tasks, todo) = bounded(1);
        let (sender, done) = bounded(1);
        let thread = std::thread::spawn(move || {
            while let Ok(task) = receive(&todo) {
                let result = match task {
                    Task::Load(weights) => copy.load(&weights).map(|()| Default::default()),
                    Task::Predictor(inputs, mut outputs) => {
                        copy.evaluate(&inputs, &mut outputs).map(|()| (inputs, outputs))
                    }
                };
                if sender.send(result).is_err() {
                    return;
                }
            }
        });
        let (tasks, thread) = (Some(tasks), Some(thread));
        Helper { tasks, done, thread, spare: Default::default() }
    }

    /// Hands over a task; `finish` must follow.
    fn begin(&self, task: Task) {
        // A thread that is gone has panicked, which `finish` tells.
        let _ = self.tasks.as_ref().map(|tasks| tasks.send(task));
    }

    fn ask(&mut self, inputs: &[Input]) {
        let (mut memory, answers) = std::mem::take(&mut self.spare);
        memory.clear();
        memory.extend_from_slice(inputs);
        self.begin(Task::Predictor(memory, answers));
    }

    fn finish(&mut self) -> Result<(), InferenceError> {
        let done = receive(&self.done);
        self.spare = done.unwrap_or_else(|_| panic!("a thread that computes a net panicked"))?;
        Ok(())
    }
}

impl Drop for Helper {
    fn drop(&mut self) {
        self.tasks = None;
        // The copy is freed on its thread. A process that ends meanwhile would free libtorch's own
        // data at the same time. A panic of the thread was reported when it happened.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

/// Receives what comes, without sleeping if it comes soon.
fn receive<T>(channel: &Receiver<T>) -> Result<T, RecvError> {
    let begun = Instant::now();
    while begun.elapsed() < PATIENCE {
        match channel.try_recv() {
            Err(TryRecvError::Empty) => std::hint::spin_loop(),
            Err(TryRecvError::Disconnected) => return Err(RecvError),
            Ok(received) => return Ok(received),
        }
    }
    channel.recv()
}

impl NetCopies {
    /// A crew of one copy and some others of the same net.
    pub fn new(own: Box<dyn Backend>, others: Vec<Box<dyn Backend>>) -> NetCopies {
        NetCopies { own, helpers: others.into_iter().map(Helper::new).collect() }
    }

    /// How many copies have a thread of their own; they are numbered from 0.
    pub fn helpers(&self) -> usize {
        self.helpers.len()
    }

    /// Asks a helper that has nothing to do. `collect` must follow before the crew is asked for
    /// anything else but through `submit` and `evaluate_here`.
    pub fn submit(&mut self, helper: usize, inputs: &[Input]) {
        self.helpers[helper].ask(inputs);
    }

    /// Whether a helper that was asked has answered.
    pub fn is_done(&self, helper: usize) -> bool {
        !self.helpers[helper].done.is_empty()
    }

    /// Waits for the answer of a helper that was asked.
    ///
    /// # Errors
    ///
    /// The device fails.
    pub fn collect(&mut self, helper: usize) -> Result<&Outputs, InferenceError> {
        let helper = &mut self.helpers[helper];
        helper.finish()?;
        Ok(&helper.spare.1)
    }

    /// Has the copy on this thread alone answer, whatever the helpers are at.
    ///
    /// # Errors
    ///
    /// The device fails.
    pub fn evaluate_here(
        &mut self,
        inputs: &[Input],
        outputs: &mut Outputs,
    ) -> Result<(), InferenceError> {
        self.own.evaluate(inputs, outputs)
    }
}

impl Backend for NetCopies {
    fn evaluate(&mut self, inputs: &[Input], outputs: &mut Outputs) -> Result<(), InferenceError> {
        let most = inputs.len() / WORTH_A_THREAD;
        let shares = (self.helpers.len() + 1).min(most).max(1);
        let mut parts = inputs.chunks(inputs.len().div_ceil(shares).max(1));
        let first = parts.next().unwrap_or_default();
        let mut asked = 0;
        for (helper, part) in self.helpers.iter_mut().zip(parts) {
            helper.ask(part);
            asked += 1;
        }
        let own = self.own.evaluate(first, outputs);
        // All are waited for, whatever goes wrong: an answer left over would be taken for the
        // next one.
        let mut result = own;
        for helper in &mut self.helpers[..asked] {
            result = helper.finish().and(result);
            let (_, answers) = &helper.spare;
            outputs.policy.extend_from_slice(&answers.policy);
            outputs.value.extend_from_slice(&answers.value);
            outputs.score.extend_from_slice(&answers.score);
        }
        result
    }

    fn load(&mut self, weights: &Weights) -> Result<(), InferenceError> {
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

    /// Says of each position its number of own discs.
    struct Counter;

    impl Backend for Counter {
        fn evaluate(
            &mut self,
            inputs: &[Input],
            outputs: &mut Outputs,
        ) -> Result<(), InferenceError> {
            outputs.value = inputs.iter().map(|input| input.mine.count_ones() as f32).collect();
            outputs.score = outputs.value.clone();
            outputs.policy = outputs.value.iter().flat_map(|&value| [value; 3]).collect();
            Ok(())
        }

        fn load(&mut self, _: &Weights) -> Result<(), InferenceError> {
            Ok(())
        }

        fn describe(&self) -> String {
            "counter".into()
        }
    }

    #[test]
    fn answers_come_back_in_the_order_of_the_questions() {
        let others = (0..2).map(|_| Box::new(Counter) as Box<dyn Backend>).collect();
        let mut net_copies = NetCopies::new(Box::new(Counter), others);
        let (mut outputs, mut wanted) = (Outputs::default(), Outputs::default());
        for count in [0, 1, 2, 3, 5, 7, 8, 64, 4] {
            let input = |mine: u128| Input { mine: (1 << mine) - 1, ..Input::default() };
            let inputs: Vec<_> = (0..count).map(input).collect();
            net_copies.evaluate(&inputs, &mut outputs).expect("it counts");
            Counter.evaluate(&inputs, &mut wanted).expect("it counts");
            assert_eq!(outputs, wanted, "{count} positions");
        }
    }
}
