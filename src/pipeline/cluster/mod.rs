//! Self-play on many machines: workers that play for one learner, over NATS JetStream.
//!
//! ```text
//! worker: actors ──> outbox on disk ──games──> stream on the server ──> checker ──> coordinator
//!            ^                └───────────── numbers of stored games ───────────────────┘
//!            └──nets, allowance, leases of game numbers── learner
//! ```
//!
//! A game is safe at any time: it is in the worker's outbox until the learner says that it is on the
//! learner's disk. So a game may arrive twice, and the learner counts its number once. Numbers are
//! leased in ranges, and a range is given to one worker only.
//!
//! `names` has the subjects, `wire` the messages, `link` the connection. `serve` is the learner's
//! side, a transport around that of the own process. `worker` is a whole worker.
//!
//! No clock is compared with another machine's.

mod link;
mod names;
pub(super) mod serve;
pub mod trust;
mod wire;
mod worker;

use std::time::SystemTime;

pub use link::{LinkError, Login, ServerOptions};
pub use names::Name;
pub use serve::ServeOptions;
pub use worker::{WorkerEnd, WorkerOptions, work};

/// Milliseconds of the machine's clock, for logs: `scripts/cluster_measure.py` compares the logs of
/// several processes of one machine.
fn milliseconds() -> u128 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |time| time.as_millis())
}
