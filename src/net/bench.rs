//! Measures the speed of nets on this machine, for the `bench` command and `benches/net.rs`.

#[cfg(feature = "torch")]
mod training;

use std::time::{Duration, Instant};

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::game::{Geometry, Position, Shape};
#[cfg(feature = "torch")]
pub use training::training_positions_per_second;

use crate::predict::{Backend, Input, PredictError, Predictions};

/// Positions of random games on `shape`. The same seed gives the same positions.
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
        position = next.map_or(position, Position::pass_if_forced);
    }
    inputs
}

/// Positions per second of `backend`, in batches of `batch`, measured for about `time`.
///
/// The result is the best of several measurements, because other programs on the machine can only
/// slow a measurement down. Time in which another program had the core is not counted. A backend
/// that works on another thread or device can be measured only on a machine without other load.
///
/// # Errors
///
/// The backend fails.
pub fn predictions_per_second(
    backend: &mut dyn Backend,
    shape: Shape,
    batch: usize,
    time: Duration,
) -> Result<f64, PredictError> {
    let inputs = positions(shape, batch, 1);
    let mut outputs = Predictions::default();
    best_rate(batch, time, || backend.predict(&inputs, &mut outputs))
}

fn best_rate<E>(
    batch: usize,
    time: Duration,
    mut call: impl FnMut() -> Result<(), E>,
) -> Result<f64, E> {
    call()?;
    let (start, mut best) = (Instant::now(), 0.0f64);
    while start.elapsed() < time || best == 0.0 {
        let (timer, mut calls) = (CpuTimer::start(), 0);
        while timer.started.elapsed() < time / 8 {
            call()?;
            calls += 1;
        }
        best = best.max((calls * batch) as f64 / timer.seconds());
    }
    Ok(best)
}

/// A timer that leaves out the time in which other programs had the core.
struct CpuTimer {
    started: Instant,
    cpu_time: Option<u64>,
}

impl CpuTimer {
    fn start() -> CpuTimer {
        CpuTimer { cpu_time: thread_cpu_nanoseconds(), started: Instant::now() }
    }

    /// Seconds since the start in which this thread had a core. Where the system does not report
    /// that: all seconds since the start.
    fn seconds(&self) -> f64 {
        let all = self.started.elapsed().as_secs_f64();
        match (self.cpu_time, thread_cpu_nanoseconds()) {
            (Some(start), Some(end)) if end > start => ((end - start) as f64 * 1e-9).min(all),
            _ => all,
        }
    }
}

/// Nanoseconds for which this thread has had a core. `None` where the system does not report it.
fn thread_cpu_nanoseconds() -> Option<u64> {
    let line = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    line.split_whitespace().next()?.parse().ok()
}
