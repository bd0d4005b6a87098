//! Speeds of nets on this machine, for the `bench` command and `benches/net.rs`.

use std::time::{Duration, Instant};

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use tch::{Kind, Tensor};

use super::encode::Input;
use super::inference::{Backend, InferenceError, Outputs};
use super::optimizer::{Optimizer, UpdateRule};
use super::tower::{Net, Pass};
use crate::game::{Geometry, Position, Shape};

/// Positions of random games on `shape`, the same for the same seed.
pub fn positions(shape: Shape, count: usize, seed: u64) -> Vec<Input> {
    dispatch!(shape, G => positions_of::<G>(count, seed))
}

fn positions_of<G: Geometry>(count: usize, seed: u64) -> Vec<Input> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut position = Position::<G>::start();
    let mut inputs = Vec::new();
    while inputs.len() < count {
        let legal = position.board.legal();
        if legal.is_empty() {
            position = Position::start();
            continue;
        }
        inputs.push(Input::new(position.board, legal));
        let chosen = random.random_range(0..legal.len());
        let next = legal.into_iter().nth(chosen).and_then(|square| position.play(square));
        position = next.map_or(position, Position::settled);
    }
    inputs
}

/// Positions that `backend` evaluates in a second, asked for `batch` at a time during `time`.
///
/// Time in which other programs had the core does not count, and the best of several stretches
/// is taken: a shared machine only ever slows a stretch down. A backend that works on another
/// thread or device must have the machine to itself to be measured.
///
/// # Errors
///
/// The backend fails.
pub fn evaluations_per_second(
    backend: &mut dyn Backend,
    shape: Shape,
    batch: usize,
    time: Duration,
) -> Result<f64, InferenceError> {
    let inputs = positions(shape, batch, 1);
    let mut outputs = Outputs::default();
    best_rate(batch, time, || backend.evaluate(&inputs, &mut outputs))
}

/// Positions that a net learns from in a second with all its heads, `batch` a step, in `kind`:
/// forward, losses, backward and a step of SGD, without the gathering of the batch.
pub fn learnt_per_second(net: &Net, batch: usize, kind: Kind, time: Duration) -> f64 {
    let planes = net.planes(&positions(net.spec().shape, batch, 1), kind);
    let mut optimizer = Optimizer::new(net, UpdateRule::Sgd { momentum: 0.9 }, 1e-4);
    let policy = planes.select(1, 2).flatten(1, -1).to_kind(Kind::Float);
    let squares: Vec<i64> =
        net.spec().shape.layout().cell_of.iter().map(|&cell| cell as i64).collect();
    let policy = policy.index_select(1, &Tensor::from_slice(&squares).to_device(net.device()));
    let policy = &policy / policy.sum_dim_intlist(1, true, Kind::Float);
    let rate = best_rate(batch, time, || {
        let heads = net.forward(&planes, Pass::train(kind));
        let mut loss = -(heads.policy.log_softmax(-1, Kind::Float) * &policy).sum(Kind::Float)
            / batch as f64
            + heads.value.square().mean(Kind::Float);
        for extra in [heads.score, heads.owner].into_iter().flatten() {
            loss += (extra - 0.1).square().mean(Kind::Float) * 0.25;
        }
        let gradients = net.gradients(&loss);
        optimizer.step(net, &gradients, 1e-4);
        Ok::<(), std::convert::Infallible>(())
    });
    match rate {
        Ok(rate) => rate,
        Err(never) => match never {},
    }
}

fn best_rate<E>(
    batch: usize,
    time: Duration,
    mut call: impl FnMut() -> Result<(), E>,
) -> Result<f64, E> {
    call()?;
    let (start, mut best) = (Instant::now(), 0.0f64);
    while start.elapsed() < time || best == 0.0 {
        let (stretch, mut calls) = (Stretch::start(), 0);
        while stretch.begun.elapsed() < time / 8 {
            call()?;
            calls += 1;
        }
        best = best.max((calls * batch) as f64 / stretch.seconds());
    }
    Ok(best)
}

/// A span of time in which other programs do not count.
struct Stretch {
    begun: Instant,
    on_processor: Option<u64>,
}

impl Stretch {
    fn start() -> Stretch {
        Stretch { on_processor: nanoseconds_on_processor(), begun: Instant::now() }
    }

    /// Seconds that this thread has had a core since the start where the system tells, else all.
    fn seconds(&self) -> f64 {
        let all = self.begun.elapsed().as_secs_f64();
        match (self.on_processor, nanoseconds_on_processor()) {
            (Some(start), Some(end)) if end > start => ((end - start) as f64 * 1e-9).min(all),
            _ => all,
        }
    }
}

/// How long this thread has had a core in its life; none where the system does not tell.
fn nanoseconds_on_processor() -> Option<u64> {
    let line = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    line.split_whitespace().next()?.parse().ok()
}
