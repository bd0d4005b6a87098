//! What the learner does at the server, as tasks of the network thread.
//!
//! There are five: the desk takes messages with games, publishes nets and states, and answers
//! requests for numbers and reports. A task that fails tries again after a pause, so a server may go
//! away and come back at any time, also without its data.

use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_nats::Client;
use async_nats::jetstream::consumer::{AckPolicy, pull};
use async_nats::jetstream::message::Acker;
use async_nats::jetstream::object_store::ObjectStore;
use async_nats::jetstream::stream::{Config, DiscardPolicy, RetentionPolicy, StorageType};
use async_nats::jetstream::{AckKind, Context, kv, object_store};
use crossbeam_channel::{Sender, TrySendError};
use futures_util::StreamExt as _;
use tokio::sync::{Notify, watch};

use super::Receipt;
use super::shared::Shared;
use crate::model::weights::Metadata;
use crate::pipeline::cluster::link::LinkError;
use crate::pipeline::cluster::names::{self, NETS_BUCKET, Name, RUNS_BUCKET};
use crate::pipeline::cluster::wire::{
    LeaseReply, LeaseRequest, NetId, NetNotice, Report, State, Stored, parse,
};
use crate::pipeline::messages::NewNet;

/// Time between two states without news.
const STATE_EVERY: Duration = Duration::from_millis(250);
/// The shortest time between two nets. Nets in between are skipped.
const NETS_EVERY: Duration = Duration::from_millis(500);
/// Nets take at most this many bytes a second.
const NET_BYTES_A_SECOND: u64 = 4 << 20;
/// A net is on the server for this long. The newest one is put there again before.
const NET_AGE: Duration = Duration::from_secs(60);
const REFRESH_NET: Duration = Duration::from_secs(20);
/// A message that is not acknowledged for this long is delivered again.
const ACK_WAIT: Duration = Duration::from_secs(60);
/// Messages that are delivered and not yet acknowledged, at most.
const UNACKNOWLEDGED: i64 = 256;
/// The stream of games holds at most this many bytes; then workers keep their games.
const STREAM_BYTES: i64 = 1 << 30;
const PAUSE: Duration = Duration::from_secs(1);
/// Numbers in one confirmation, at most.
const NUMBERS_A_MESSAGE: usize = 5_000;

/// A message with games.
pub(super) struct Message {
    /// Its number in this process.
    pub number: u64,
    pub worker: Name,
    pub bytes: Vec<u8>,
}

/// A message that is not yet acknowledged.
struct Pending {
    acker: Acker,
    worker: Name,
    /// Games that are stored or refused.
    done: usize,
}

/// What the tasks share.
pub(super) struct Desk {
    shared: Arc<Shared>,
    client: Client,
    jetstream: Context,
    pending: Mutex<HashMap<u64, Pending>>,
    notice: Mutex<Option<NetNotice>>,
    /// There is a new state to send.
    news: Notify,
}

impl Desk {
    pub fn new(shared: Arc<Shared>, client: Client, jetstream: Context) -> Desk {
        Desk {
            shared,
            client,
            jetstream,
            pending: Mutex::default(),
            notice: Mutex::default(),
            news: Notify::new(),
        }
    }

    /// Waits until all messages so far are at the server.
    pub async fn flush(&self) {
        // The server may be gone: then there is nobody to tell.
        let _ = self.client.flush().await;
    }

    /// Makes the stream, the buckets and the announcement, where they are missing.
    pub async fn prepare(&self) -> Result<(pull::Config, ObjectStore), LinkError> {
        let (jetstream, run) = (&self.jetstream, &self.shared.run);
        let stream = jetstream.get_or_create_stream(Config {
            name: names::games_stream(run),
            subjects: vec![names::games(run, "*")],
            retention: RetentionPolicy::WorkQueue,
            discard: DiscardPolicy::New,
            max_bytes: STREAM_BYTES,
            storage: StorageType::File,
            ..Config::default()
        });
        stream.await.map_err(LinkError::request("the stream of games"))?;
        let runs = kv::Config { bucket: RUNS_BUCKET.into(), history: 1, ..kv::Config::default() };
        let runs = match jetstream.get_key_value(RUNS_BUCKET).await {
            Ok(runs) => runs,
            Err(_) => {
                let made = jetstream.create_key_value(runs).await;
                made.map_err(LinkError::request("the list of runs"))?
            }
        };
        let announcement = serde_json::to_vec(&self.shared.announcement).unwrap_or_default();
        let put = runs.put(run.as_str(), announcement.into()).await;
        put.map_err(LinkError::request("the announcement of the run"))?;
        let nets = match jetstream.get_object_store(NETS_BUCKET).await {
            Ok(nets) => nets,
            Err(_) => {
                let config = object_store::Config {
                    bucket: NETS_BUCKET.into(),
                    max_age: NET_AGE,
                    storage: StorageType::Memory,
                    ..object_store::Config::default()
                };
                let made = jetstream.create_object_store(config).await;
                made.map_err(LinkError::request("the bucket of nets"))?
            }
        };
        let consumer = pull::Config {
            durable_name: Some("learner".into()),
            ack_policy: AckPolicy::Explicit,
            ack_wait: ACK_WAIT,
            max_ack_pending: UNACKNOWLEDGED,
            ..pull::Config::default()
        };
        Ok((consumer, nets))
    }

    /// Gives messages with games to the checker.
    pub async fn take_messages(self: Arc<Self>, to_checker: Sender<Message>) {
        let mut number = 0;
        loop {
            if let Err(error) = self.take_from_stream(&to_checker, &mut number).await {
                tracing::warn!("{error}; tries again");
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    async fn take_from_stream(
        &self,
        to_checker: &Sender<Message>,
        number: &mut u64,
    ) -> Result<(), LinkError> {
        let what = "the stream of games";
        let (config, _) = self.prepare().await?;
        let stream = self.jetstream.get_stream(names::games_stream(&self.shared.run)).await;
        let stream = stream.map_err(LinkError::request(what))?;
        let consumer = stream.get_or_create_consumer("learner", config).await;
        let consumer = consumer.map_err(LinkError::request(what))?;
        let messages =
            consumer.stream().max_messages_per_batch(32).expires(Duration::from_secs(10));
        let messages = messages.heartbeat(Duration::from_secs(2)).messages().await;
        let mut messages = messages.map_err(LinkError::request(what))?;
        while let Some(message) = messages.next().await {
            let message = message.map_err(LinkError::request(what))?;
            let (message, acker) = message.split();
            let Some(worker) = names::worker_of(&message.subject) else {
                let _ = acker.ack_with(AckKind::Term).await;
                continue;
            };
            *number += 1;
            let pending = Pending { acker, worker: worker.clone(), done: 0 };
            self.pending().insert(*number, pending);
            let mut message = Message { number: *number, worker, bytes: message.payload.to_vec() };
            loop {
                match to_checker.try_send(message) {
                    Ok(()) => break,
                    Err(TrySendError::Full(back)) => message = back,
                    Err(TrySendError::Disconnected(_)) => return Ok(()),
                }
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        }
        Ok(())
    }

    /// Puts the newest net on the server, and says so.
    pub async fn put_nets(self: Arc<Self>, mut nets: watch::Receiver<Option<NewNet>>) {
        let mut bucket = None;
        loop {
            let net = nets.borrow_and_update().clone();
            if let Some(net) = net {
                let bytes = net.weights.to_bytes(&Metadata::new());
                let length = bytes.len() as u64;
                if let Err(error) = self.put_net(&mut bucket, &net, bytes).await {
                    tracing::warn!("{error}; tries again");
                    bucket = None;
                    tokio::time::sleep(PAUSE).await;
                    nets.mark_changed();
                    continue;
                }
                let pause = Duration::from_secs_f64(length as f64 / NET_BYTES_A_SECOND as f64);
                tokio::time::sleep(pause.max(NETS_EVERY)).await;
            }
            if let Ok(Err(_)) = tokio::time::timeout(REFRESH_NET, nets.changed()).await {
                return;
            }
        }
    }

    async fn put_net(
        &self,
        bucket: &mut Option<ObjectStore>,
        net: &NewNet,
        bytes: Vec<u8>,
    ) -> Result<(), LinkError> {
        let bucket = match bucket {
            Some(bucket) => bucket,
            none => none.insert(self.prepare().await?.1),
        };
        let id = NetId { start: self.shared.start, version: net.version };
        let checksum = crc32fast::hash(&bytes);
        let put =
            bucket.put(names::net(&self.shared.run, id).as_str(), &mut bytes.as_slice()).await;
        put.map_err(LinkError::request("a net"))?;
        let notice = NetNotice { id, positions: net.positions, checksum };
        *self.notice.lock().unwrap_or_else(PoisonError::into_inner) = Some(notice);
        self.news.notify_one();
        Ok(())
    }

    pub async fn send_states(self: Arc<Self>) {
        loop {
            self.send_state().await;
            let _ = tokio::time::timeout(STATE_EVERY, self.news.notified()).await;
        }
    }

    async fn send_state(&self) {
        let shared = &self.shared;
        let state = State {
            net: self.notice.lock().unwrap_or_else(PoisonError::into_inner).clone(),
            announcement: shared.announcement.checksum(),
            positions: shared.counters.positions.load(Ordering::Relaxed),
            wanted: shared.schedule.positions_allowed(shared.newest.load(Ordering::Relaxed)),
            starved: shared.counters.learner_starved.load(Ordering::Relaxed),
            ended: shared.has_ended.load(Ordering::Relaxed),
            excluded: shared.excluded(),
        };
        self.publish(names::state(&shared.run), &state).await;
    }

    /// Answers requests for numbers of games.
    pub async fn lease_numbers(self: Arc<Self>) {
        let Ok(mut requests) = self.client.subscribe(names::lease(&self.shared.run, "*")).await
        else {
            return;
        };
        while let Some(message) = requests.next().await {
            let (Some(worker), Some(reply)) = (names::worker_of(&message.subject), message.reply)
            else {
                continue;
            };
            let answer = match parse::<LeaseRequest>(&message.payload) {
                Err(error) => LeaseReply::Refused(format!("the request is not valid: {error}")),
                Ok(request) => self.lease(&worker, request.count),
            };
            self.publish(reply.to_string(), &answer).await;
        }
    }

    fn lease(&self, worker: &Name, count: u64) -> LeaseReply {
        if !self.shared.is_heard(worker) {
            return LeaseReply::Refused("it is excluded, or there are too many workers".into());
        }
        match self.shared.lease(worker, count) {
            Ok(numbers) => LeaseReply::Numbers(numbers.start, numbers.end),
            Err(error) => {
                tracing::warn!("no numbers for worker {worker}: {error}");
                LeaseReply::Numbers(0, 0)
            }
        }
    }

    pub async fn take_reports(self: Arc<Self>) {
        let Ok(mut reports) = self.client.subscribe(names::report(&self.shared.run, "*")).await
        else {
            return;
        };
        while let Some(message) = reports.next().await {
            let Some(worker) = names::worker_of(&message.subject) else { continue };
            match parse::<Report>(&message.payload) {
                Ok(report) => self.shared.note_report(&worker, report),
                Err(error) => tracing::debug!("a report of worker {worker}: {error}"),
            }
        }
    }

    /// Acknowledges messages of which all games are done with, and tells the workers.
    pub async fn done(&self, receipts: Vec<Receipt>) {
        let (mut tell, mut finished) = (HashMap::<Name, Stored>::new(), Vec::new());
        {
            let mut pending = self.pending();
            for receipt in receipts {
                let Some(message) = pending.get_mut(&receipt.message) else { continue };
                let told = tell.entry(message.worker.clone()).or_default();
                match receipt.refused {
                    None => told.games.push(receipt.number),
                    Some(why) => told.refused.push((receipt.number, why.into())),
                }
                message.done += 1;
                if message.done >= receipt.of {
                    finished.extend(pending.remove(&receipt.message));
                }
            }
        }
        for message in finished {
            // Without the acknowledgement the message comes again, and its games are not counted twice.
            let _ = message.acker.ack().await;
        }
        for (worker, stored) in tell {
            let subject = names::stored(&self.shared.run, &worker);
            for games in stored.games.chunks(NUMBERS_A_MESSAGE) {
                let part = Stored { games: games.to_vec(), refused: Vec::new() };
                self.publish(subject.clone(), &part).await;
            }
            for refused in stored.refused.chunks(NUMBERS_A_MESSAGE / 10) {
                let part = Stored { games: Vec::new(), refused: refused.to_vec() };
                self.publish(subject.clone(), &part).await;
            }
        }
    }

    /// A message that cannot be read does not come again.
    pub async fn refuse(&self, message: u64) {
        let removed = self.pending().remove(&message);
        if let Some(message) = removed {
            let _ = message.acker.ack_with(AckKind::Term).await;
        }
    }

    async fn publish<T: serde::Serialize>(&self, subject: String, message: &T) {
        let bytes = serde_json::to_vec(message).unwrap_or_default();
        // Without a connection the client keeps messages for a while; states and reports may be lost.
        let _ = self.client.publish(subject, bytes.into()).await;
    }

    fn pending(&self) -> std::sync::MutexGuard<'_, HashMap<u64, Pending>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
